/**
 * Counters, gauges and histograms with labels, cheap enough to be used for every
 * request: a value costs a look-up for each label and an addition.
 */

export type LabelValue = string | number;

/** A value for each name, in the order of the names. */
type Values<L extends readonly string[]> = { [K in keyof L]: LabelValue };

/** One line of the exposition. */
export interface Sample {
  /** Appended to the metric's name: "", `_bucket`, `_sum` or `_count`. */
  suffix: string;
  labels: Record<string, LabelValue>;
  value: number;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** Names of its labels. */
  readonly labels: readonly string[];
  samples(): Sample[];
}

/** A cell, such as a counter, for each combination of label values. */
class Cells<T> {
  readonly #names: readonly string[];
  readonly #make: () => T;
  readonly #root = new Map<LabelValue, unknown>();
  readonly list: { labels: Record<string, LabelValue>; cell: T }[] = [];

  constructor(names: readonly string[], make: () => T) {
    this.#names = names;
    this.#make = make;
    if (names.length === 0) this.at([]);
  }

  /** The cell for these label values, in the order of the labels. */
  at(values: readonly LabelValue[]): T {
    let map = this.#root;
    for (let i = 0; i < values.length - 1; i++) {
      let next = map.get(values[i]);
      if (next === undefined) map.set(values[i], next = new Map());
      map = next as Map<LabelValue, unknown>;
    }
    const last = values.length === 0 ? "" : values[values.length - 1];
    const existing = map.get(last);
    if (existing !== undefined) return existing as T;
    const cell = this.#make();
    map.set(last, cell);
    const labels = Object.fromEntries(
      this.#names.map((name, i) => [name, values[i]]),
    );
    this.list.push({ labels, cell });
    return cell;
  }
}

export class Counter<const L extends readonly string[]> implements Metric {
  readonly type = "counter";
  readonly #cells: Cells<{ n: number }>;

  /** @param labels the names of the labels; values are given in their order */
  constructor(
    readonly name: string,
    readonly help: string,
    readonly labels: L,
  ) {
    this.#cells = new Cells(labels, () => ({ n: 0 }));
  }

  add(n: number, ...labels: Values<L>): void {
    this.#cells.at(labels).n += n;
  }

  samples(): Sample[] {
    return this.#cells.list.map(({ labels, cell }) => (
      { suffix: "", labels, value: cell.n }
    ));
  }
}

/** A value that is read at each export; null omits it. */
export class Gauge<const L extends readonly string[]> implements Metric {
  readonly type: "gauge" | "counter";
  readonly #cells: Cells<{ read: () => number | null }>;

  constructor(
    readonly name: string,
    readonly help: string,
    readonly labels: L,
    type: "gauge" | "counter" = "gauge",
  ) {
    this.type = type;
    this.#cells = new Cells(labels, () => ({ read: () => null }));
  }

  set(value: number | null, ...labels: Values<L>): void {
    this.#cells.at(labels).read = () => value;
  }

  /** Registers a function that returns the value; it must be cheap. */
  watch(read: () => number | null, ...labels: Values<L>): void {
    this.#cells.at(labels).read = read;
  }

  samples(): Sample[] {
    return this.#cells.list.flatMap(({ labels, cell }) => {
      const value = cell.read();
      return value === null ? [] : [{ suffix: "", labels, value }];
    });
  }
}

/** How often values of each size were seen. */
interface Distribution {
  /** By bucket; the last counts values beyond all bounds. */
  counts: number[];
  sum: number;
}

export class Histogram<const L extends readonly string[]> implements Metric {
  readonly type = "histogram";
  readonly #bounds: readonly number[];
  readonly #cells: Cells<Distribution>;

  /** @param bounds the upper bounds of the buckets, ascending */
  constructor(
    readonly name: string,
    readonly help: string,
    bounds: readonly number[],
    readonly labels: L,
  ) {
    this.#bounds = bounds;
    const counts = () => Array<number>(bounds.length + 1).fill(0);
    this.#cells = new Cells(labels, () => ({ counts: counts(), sum: 0 }));
  }

  observe(value: number, ...labels: Values<L>): void {
    const cell = this.#cells.at(labels);
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) bucket++;
    cell.counts[bucket]++;
    cell.sum += value;
  }

  samples(): Sample[] {
    return this.#cells.list.flatMap(({ labels, cell }) => {
      let count = 0;
      const buckets = [...this.#bounds, "+Inf"].map((le, i) => ({
        suffix: "_bucket",
        labels: { ...labels, le },
        value: count += cell.counts[i],
      }));
      return [
        ...buckets,
        { suffix: "_sum", labels, value: cell.sum },
        { suffix: "_count", labels, value: count },
      ];
    });
  }
}
