/** What a judge found missing. */
import type { Run } from "./world.ts";

export class Findings {
  readonly missing: string[] = [];

  /** Adds `what` unless `holds`. */
  expect(holds: boolean, what: string): void {
    if (!holds) this.missing.push(what);
  }

  /** Adds a difference of two values that are equal as JSON. */
  equal(actual: unknown, expected: unknown, what: string): void {
    const [a, b] = [actual, expected].map((value) => JSON.stringify(value));
    this.expect(a === b, `${what}: ${a}, expected ${b}`);
  }

  /** Whether the program printed the line, whatever else it printed. */
  printed({ lines }: Run, line: string): void {
    const last = lines.slice(-8).join(" | ");
    this.expect(
      lines.includes(line),
      `the line "${line}" was not printed; the last lines are: ${last}`,
    );
  }

  /** Whether the program ended with success. */
  ended({ code, errors }: Run): void {
    this.expect(code === 0, `exit code ${code}: ${errors.slice(-1_000)}`);
  }
}
