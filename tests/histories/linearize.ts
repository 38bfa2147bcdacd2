/**
 * Whether concurrent calls can be put into one order in which each takes effect
 * at one moment between its invocation and its answer, by the search of Wing
 * and Gong with the just-in-time rule of Lowe: a call takes effect in the
 * search only when another one has been answered that needs it.
 */

export interface Call {
  invoked: number;
  /** Infinity if the outcome is unknown: it takes effect later, or never. */
  ended: number;
}

/** The rules of what is called. States are equal if they are identical. */
export interface Model<S, C extends Call> {
  initial: S;
  /** The state after the call, or null if it cannot have been answered so. */
  apply(call: C, state: S): S | null;
  /** Whether the call changes nothing in any state. */
  isRead(call: C): boolean;
}

export type Verdict<S, C> =
  | { is: "linearizable"; configurations: number }
  /** `states`: those in which `call` cannot have taken effect. */
  | { is: "wrong"; call: C; states: S[] }
  /** More configurations than the search may hold. */
  | { is: "undecided"; call: C };

/** A state, and those pending calls that have led to it or have read it. */
interface Configuration<S> {
  state: S;
  done: ReadonlySet<number>;
}

/** Configurations that are looked at because of one answer. */
const LIMIT = 200_000;

export function linearize<S, C extends Call>(
  calls: readonly C[],
  model: Model<S, C>,
  limit = LIMIT,
): Verdict<S, C> {
  const search = new Search(calls, model, limit);
  for (const { n, isEnd } of eventsOf(calls)) {
    if (!isEnd) {
      search.begin(n);
      continue;
    }
    const before = search.configurations;
    search.end(n);
    if (search.isFull) return { is: "undecided", call: calls[n] };
    if (search.configurations.length === 0) {
      const states = [...new Set(before.map(({ state }) => state))];
      return { is: "wrong", call: calls[n], states };
    }
  }
  return { is: "linearizable", configurations: search.most };
}

/** Begins and ends in the order of time; at the same time, begins first. */
function eventsOf(calls: readonly Call[]): { n: number; isEnd: boolean }[] {
  const events = calls.flatMap(({ invoked, ended }, n) => [
    { n, isEnd: false, at: invoked },
    ...(ended === Infinity ? [] : [{ n, isEnd: true, at: ended }]),
  ]);
  return events.sort((a, b) =>
    a.at - b.at || Number(a.isEnd) - Number(b.isEnd)
  );
}

class Search<S, C extends Call> {
  configurations: Configuration<S>[];
  /** The most configurations that were held at once. */
  most = 1;
  isFull = false;
  readonly #calls: readonly C[];
  readonly #model: Model<S, C>;
  readonly #limit: number;
  readonly #pending = new Set<number>();
  readonly #names = new Map<S, number>();

  constructor(calls: readonly C[], model: Model<S, C>, limit: number) {
    this.#limit = limit;
    this.#calls = calls;
    this.#model = model;
    this.configurations = [{ state: model.initial, done: new Set() }];
  }

  begin(n: number): void {
    this.#pending.add(n);
  }

  /** Keeps the configurations in which call `n` has taken effect. */
  end(n: number): void {
    const found: Configuration<S>[] = [];
    const seen = new Set<string>();
    const stack = this.configurations.map((one) => this.#withReads(one));
    while (stack.length > 0 && !this.isFull) {
      const one = stack.pop()!;
      const name = this.#nameOf(one);
      if (seen.has(name)) continue;
      seen.add(name);
      this.isFull = seen.size > this.#limit;
      if (one.done.has(n)) {
        const done = new Set(one.done);
        done.delete(n);
        found.push({ state: one.state, done });
        continue;
      }
      for (const other of this.#pending) {
        if (one.done.has(other)) continue;
        const state = this.#model.apply(this.#calls[other], one.state);
        if (state === null) continue;
        const done = new Set(one.done).add(other);
        stack.push(this.#withReads({ state, done }));
      }
    }
    this.#pending.delete(n);
    this.configurations = this.#undominated(found);
    this.most = Math.max(this.most, this.configurations.length);
  }

  /**
   * A pending read takes effect as soon as it can: this excludes nothing that
   * may follow.
   */
  #withReads({ state, done }: Configuration<S>): Configuration<S> {
    const more = new Set(done);
    for (const n of this.#pending) {
      if (done.has(n) || !this.#isRead(n)) continue;
      if (this.#model.apply(this.#calls[n], state) === state) more.add(n);
    }
    return { state, done: more };
  }

  #isUnknown(n: number): boolean {
    return this.#calls[n].ended === Infinity;
  }

  #isRead(n: number): boolean {
    return this.#model.isRead(this.#calls[n]);
  }

  #nameOf({ state, done }: Configuration<S>): string {
    let name = this.#names.get(state);
    if (name === undefined) this.#names.set(state, name = this.#names.size);
    return `${name}:${[...done].sort((a, b) => a - b)}`;
  }

  /**
   * Leaves out configurations to which another one is equal but for more reads
   * and fewer unknown calls: whatever may follow them may follow the other one.
   */
  #undominated(all: readonly Configuration<S>[]): Configuration<S>[] {
    const byState = Map.groupBy(all, ({ state }) => state);
    return [...byState.values()].flatMap((same) =>
      same.filter((one, n) =>
        !same.some((other, m) =>
          m !== n && this.#dominates(other, one) &&
          (m < n || !this.#dominates(one, other))
        )
      )
    );
  }

  #dominates(a: Configuration<S>, b: Configuration<S>): boolean {
    const more = a.done.difference(b.done);
    const fewer = b.done.difference(a.done);
    return [...more].every((n) => this.#isRead(n)) &&
      [...fewer].every((n) => this.#isUnknown(n));
  }
}
