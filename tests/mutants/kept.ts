/**
 * Stores the findings about a commit in the folder for temporary files, so that
 * an interrupted run can continue.
 */
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";

export class Kept {
  readonly #folder: string;

  constructor(commit: string) {
    this.#folder = `${tmpdir()}/mutants-${commit}`;
  }

  /** The finding stored under a name; computes it if there is none. */
  async get<T>(name: string, find: () => Promise<T>): Promise<T> {
    const hash = createHash("sha256").update(name).digest("hex").slice(0, 32);
    const file = `${this.#folder}/${hash}.json`;
    try {
      return JSON.parse(await Deno.readTextFile(file));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    const found = await find();
    await Deno.mkdir(this.#folder, { recursive: true });
    await Deno.writeTextFile(file, JSON.stringify(found));
    return found;
  }
}
