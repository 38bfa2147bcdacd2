/**
 * The results of a benchmark: many values of each figure, of which the median
 * counts, printed with their spread and appended to `history.jsonl`.
 */

/** Values of one figure, in the order in which they were taken. */
export interface Measure {
  name: string;
  unit: string;
  values: number[];
}

export class Table {
  readonly #measures = new Map<string, Measure>();

  note(name: string, unit: string, value: number): void {
    const measure = this.#measures.get(name) ?? { name, unit, values: [] };
    measure.values.push(value);
    this.#measures.set(name, measure);
  }

  /** Drops figures whose names begin with this. */
  forget(prefix: string): void {
    for (const name of this.#measures.keys()) {
      if (name.startsWith(prefix)) this.#measures.delete(name);
    }
  }

  median(name: string): number {
    return median(this.#measures.get(name)?.values ?? []);
  }

  print(): void {
    for (const { name, unit, values } of this.#measures.values()) {
      const low = Math.min(...values);
      const high = Math.max(...values);
      console.log(
        `${name.padEnd(54)} ${short(median(values)).padStart(9)} ` +
          `${unit.padEnd(10)} (${short(low)} – ${short(high)})`,
      );
    }
  }

  /**
   * Appends a line with the medians, the machine's cores and Deno's version.
   */
  async keep(benchmark: string): Promise<void> {
    const figures = Object.fromEntries(
      Array.from(this.#measures.values(), ({ name, unit, values }) => [
        `${name} [${unit}]`,
        [median(values), Math.min(...values), Math.max(...values)].map(rounded),
      ]),
    );
    const line = {
      at: new Date().toISOString().slice(0, 16),
      benchmark,
      cores: navigator.hardwareConcurrency,
      deno: Deno.version.deno,
      figures,
    };
    const file = new URL("./history.jsonl", import.meta.url);
    await Deno.writeTextFile(file, JSON.stringify(line) + "\n", {
      append: true,
    });
  }
}

/** The middle one, or the upper of the two in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value at the quantile `q`. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

function short(value: number): string {
  return value < 100 ? value.toFixed(1) : value.toFixed(0);
}
