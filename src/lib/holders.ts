/** A register of everything that is in use while work is in progress. */

/** Counts by name; all zero when nothing is in progress. */
export type InUse = Readonly<Record<string, number>>;

/** A queue, limit, budget or role that has something in use during work. */
export interface Holder {
  inUse(): InUse;
  /**
   * For how many milliseconds the oldest waiter has waited although it could
   * run; 0 if there is none. Undefined for holders without waiters.
   */
  oldestWaitMs?(): number;
}

/**
 * Every holder of one service is added where it is created, so that monitoring
 * finds what makes no progress, and a test finds what is not released.
 */
export class Holders {
  /** Holders with the same name are counted together. */
  readonly #byName = new Map<string, Holder[]>();

  /** Returns the holder. */
  add<H extends Holder>(name: string, holder: H): H {
    const holders = this.#byName.get(name);
    if (holders === undefined) this.#byName.set(name, [holder]);
    else holders.push(holder);
    return holder;
  }

  get names(): string[] {
    return [...this.#byName.keys()];
  }

  /** The holders in which work may wait. */
  get queues(): string[] {
    return this.names.filter((name) =>
      this.#byName.get(name)!.some((holder) => "oldestWaitMs" in holder)
    );
  }

  /** All counts above zero, with names such as `uploads.waiting`. */
  inUse(): InUse {
    const all: Record<string, number> = {};
    for (const [name, holders] of this.#byName) {
      for (const holder of holders) {
        for (const [what, count] of Object.entries(holder.inUse())) {
          const key = `${name}.${what}`;
          if (count !== 0) all[key] = (all[key] ?? 0) + count;
        }
      }
    }
    return all;
  }

  /** See `oldestWaitMs` of a holder. */
  oldestWaitMs(name: string): number {
    let oldest = 0;
    for (const holder of this.#byName.get(name) ?? []) {
      oldest = Math.max(oldest, holder.oldestWaitMs?.() ?? 0);
    }
    return oldest;
  }
}
