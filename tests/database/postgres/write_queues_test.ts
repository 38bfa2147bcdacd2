/**
 * Random interleavings of writes, connections and transactions that end in
 * every possible way, checked against the properties of the write queues. There
 * is no server: each seed is a separate world, and thousands of them take
 * seconds.
 */
import { assert, assertEquals, AssertionError } from "@std/assert";
import { DbError, NO_METER } from "../../../src/database/db.ts";
import type { EngineWriteOptions } from "../../../src/database/of_seller.ts";
import { PostgresError } from "../../../src/database/postgres/connection.ts";
import {
  type Undone,
  type WaitingWrite,
  WriteQueues,
} from "../../../src/database/postgres/write_queues.ts";
import { TestClock } from "../../support/clock.ts";
import { Random, seedFrom } from "../../support/random.ts";

/** The outcome of a write in a transaction that is still open. */
interface Called {
  write: WaitingWrite;
  /** The error that it throws. */
  error?: unknown;
  /** Whether it has written, or a statement has failed. */
  spoils: boolean;
}

const SEEDS = 500;
const STEPS = 80;
/** Connections. */
const LIMIT = 4;
/** The most runs of a write: once for each write that may undo it, and 6. */
const MOST_RUNS = 70;

/** The behaviour of a write in each run. */
type Habit =
  | "fine"
  | "refuses" // throws before it has written
  | "fails" // throws after it has written
  | "careless" // a statement fails whose result is not awaited
  | "constraint" // a statement fails
  | "busy" // waits too long for a lock
  | "deadlock" // a few times; then it succeeds
  | "taken" // a few times; then it succeeds
  | "passed over"; // its failure only becomes known at the commit

const HABITS: readonly Habit[] = [
  "refuses",
  "fails",
  "careless",
  "constraint",
  "busy",
  "deadlock",
  "taken",
  "passed over",
];

const failure = (kind: ConstructorParameters<typeof PostgresError>[0]) =>
  new PostgresError(kind, new Error(kind));

/** A write and its outcome. */
class Asked {
  readonly name: number;
  readonly habit: Habit;
  readonly options: EngineWriteOptions;
  readonly waiting: WaitingWrite;
  runs = 0;
  isRunning = false;
  /** Whether it was part of a transaction. */
  hasBegun = false;
  settled: "fulfilled" | "rejected" | null = null;
  error: unknown = null;
  /** How often a passing failure is still to occur. */
  faults: number;

  constructor(
    name: number,
    habit: Habit,
    options: EngineWriteOptions,
    at: { now: number; waitMs: number; faults: number },
  ) {
    this.name = name;
    this.habit = habit;
    this.options = options;
    this.faults = at.faults;
    const settle = (how: "fulfilled" | "rejected") => {
      assertEquals(this.settled, null, `write ${name} is settled twice`);
      this.settled = how;
    };
    this.waiting = {
      fn: () => Promise.resolve(),
      resolve: () => settle("fulfilled"),
      reject: (error) => {
        settle("rejected");
        this.error = error;
      },
      key: options.shared?.key ?? "",
      askedAt: at.now,
      until: at.now + at.waitMs,
    };
  }

  /** Writes with the same line run one at a time, in the order of the calls. */
  get line(): string | null {
    const { shared, order } = this.options;
    return shared ? `${shared.kind} ${shared.key}` : order ?? null;
  }

  call(): Called {
    this.runs++;
    assert(this.runs <= MOST_RUNS, `write ${this.name} runs for ever`);
    const write = this.waiting;
    const fine = { write, spoils: false };
    const fails = (error: unknown) => ({ write, error, spoils: true });
    const passes = this.faults > 0;
    switch (this.habit) {
      case "fine":
      case "passed over":
        return fine;
      case "refuses":
        return { write, error: new Error("no"), spoils: false };
      case "fails":
        return fails(new Error("no"));
      case "careless":
        return fails(failure("constraint"));
      case "constraint":
      case "busy":
        return fails(failure(this.habit));
      case "deadlock":
      case "taken":
        this.faults--;
        if (!passes) return fine;
        return fails(failure(this.habit === "taken" ? "unique" : "retry"));
    }
  }
}

class World {
  readonly #random: Random;
  readonly #clock = new TestClock(0);
  readonly #queues: WriteQueues;
  readonly #asked = new Map<WaitingWrite, Asked>();
  readonly #unsettled = new Set<Asked>();
  /** Events that may happen next, in any order. */
  readonly #pending: (() => void)[] = [];
  #connecting = 0;
  #connections = 0;
  /** Callers that wait for a connection. */
  readonly #waiting: (() => void)[] = [];
  /** Running transactions by the name of their queue. */
  readonly #transactions = new Map<string, number>();
  /**
   * A violation inside a transaction, whose errors would otherwise be ignored.
   */
  #broken: AssertionError | null = null;
  /** Errors that reject writes which did not cause them. */
  readonly #outages = new Set<unknown>();
  /** Names of committed writes, by line. */
  readonly #committed = new Map<string, number[]>();

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#queues = new WriteQueues({
      transact: (order, take) =>
        this.#transact(order, take).catch((error) => {
          if (error instanceof AssertionError) this.#broken = error;
          throw error;
        }),
      limit: LIMIT,
      clock: this.#clock,
      meter: NO_METER,
    });
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) await this.#step();
    while (this.#pending.length > 0 || this.#clock.waiting > 0) {
      if (this.#pending.length > 0) this.#happen();
      else this.#clock.advance(1);
      await turn();
      this.#check();
    }
    this.#checkEnd();
  }

  async #step(): Promise<void> {
    const roll = this.#random.below(10);
    if (roll < 4) {
      for (let n = this.#random.below(12) ** 2; n >= 0; n -= 10) this.#add();
    } else if (roll < 8 && this.#pending.length > 0) this.#happen();
    else this.#clock.advance(this.#random.below(4));
    if (this.#random.below(4) === 0) return;
    await turn();
    this.#check();
  }

  #add(): void {
    const habit = this.#random.below(4) === 0 ? this.#pick(HABITS) : "fine";
    const key = `${this.#random.below(this.#pick([2, 100]))}`;
    const options = this.#pick<EngineWriteOptions>([
      { shared: { kind: "one", key } },
      { shared: { kind: "one", key } },
      { shared: { kind: "other", key } },
      { order: this.#pick(["first", "second"]) },
      { owner: "acme" },
      {},
    ]);
    const asked = new Asked(this.#asked.size, habit, options, {
      now: this.#clock.monotonic(),
      waitMs: this.#pick([2, 1_000]),
      faults: this.#random.below(9),
    });
    this.#asked.set(asked.waiting, asked);
    this.#unsettled.add(asked);
    this.#queues.add(asked.waiting, options);
  }

  /** One pending event happens. */
  #happen(): void {
    const at = this.#random.below(this.#pending.length);
    this.#pending.splice(at, 1)[0]();
  }

  #later(): Promise<void> {
    return new Promise((resolve) => this.#pending.push(resolve));
  }

  async #connect(): Promise<void> {
    this.#connecting++;
    await this.#later();
    if (this.#connections < LIMIT) this.#connections++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#connecting--;
    if (this.#random.below(40) === 0) {
      this.#giveBack();
      throw this.#outage(failure("away"));
    }
  }

  /** Gives the connection to the next caller that waits for one. */
  #giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#connections--;
    else next();
  }

  async #transact(
    order: string | null,
    take: () => readonly WaitingWrite[],
  ): Promise<Undone | null> {
    await this.#connect();
    const writes = take().map((write) => this.#asked.get(write)!);
    if (writes.length === 0) {
      this.#giveBack();
      return null;
    }
    this.#begin(order, writes);
    await this.#later();
    const called: Called[] = [];
    for (const write of writes) {
      const one = write.call();
      called.push(one);
      // Writes that waited too long behind it are rejected as well.
      if (write.habit === "busy") this.#outage(one.error);
      // The writes after it cannot do anything.
      if (called.at(-1)!.spoils) break;
    }
    const spoils = called.find(({ spoils }) => spoils);
    try {
      if (spoils !== undefined) return spoils as Undone;
      await this.#commit(writes);
    } finally {
      this.#count(writes, -1);
      for (const write of writes) write.isRunning = false;
      this.#giveBack();
    }
    for (const one of called) {
      if (one.error === undefined) this.#settle(one.write);
      else one.write.reject(one.error);
    }
    return null;
  }

  /** Writes share a transaction only if that is allowed. */
  #begin(order: string | null, writes: readonly Asked[]): void {
    assertEquals(writes.map((write) => write.options.order ?? null)[0], order);
    assert(writes.length <= 64);
    const lines = Map.groupBy(writes, ({ line }) => line);
    for (const [line, { length }] of lines) {
      assert(length <= (line === null || order !== null ? 1 : 8));
      const others = this.#running().filter((one) => one.line === line);
      assert(line === null || others.length === 0, `two at once: ${line}`);
    }
    if (writes.length > 1) {
      const kinds = new Set(writes.map(({ options }) => options.shared?.kind));
      assertEquals(kinds.size, 1);
    }
    for (const write of writes) write.isRunning = write.hasBegun = true;
    this.#count(writes, 1);
  }

  #count([write]: readonly Asked[], by: number): void {
    const name = queueOf(write);
    const transactions = (this.#transactions.get(name) ?? 0) + by;
    assert(transactions <= limitOf(write), `${name}: ${transactions}`);
    this.#transactions.set(name, transactions);
  }

  async #commit(writes: readonly Asked[]): Promise<void> {
    await this.#later();
    const roll = this.#random.below(60);
    if (roll === 0) throw this.#outage(failure("away"));
    if (roll === 1) throw this.#outage(new DbError("unsure", "It broke."));
    if (writes.some(({ habit }) => habit === "passed over")) {
      throw new DbError("other", "A failed statement was passed over.");
    }
  }

  #outage<E>(error: E): E {
    this.#outages.add(error);
    return error;
  }

  #settle(write: WaitingWrite): void {
    const { line, name } = this.#asked.get(write)!;
    if (line !== null) {
      const before = this.#committed.get(line) ?? [];
      assert(name > (before.at(-1) ?? -1), `${line}: ${name} came too late`);
      this.#committed.set(line, [...before, name]);
    }
    write.resolve(undefined);
  }

  #running(): Asked[] {
    return [...this.#unsettled].filter(({ isRunning }) => isRunning);
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)];
  }

  /** No write that may begin waits while a slot is free. */
  #check(): void {
    if (this.#broken !== null) throw this.#broken;
    assertEquals(this.#queues.oldestWaitMs(), 0);
    assert(this.#connections <= LIMIT);
    // It is unknown for which of them a connection is being opened.
    if (this.#connecting > 0) return;
    for (const one of this.#unsettled) {
      if (one.settled !== null) this.#unsettled.delete(one);
    }
    // The write that is next may have no free slot.
    const total = this.#transactions.values().reduce((sum, n) => sum + n, 0);
    if (total === LIMIT) return;
    for (const [name, all] of Map.groupBy(this.#unsettled, queueOf)) {
      const begun = all.filter(({ hasBegun }) => hasBegun);
      const lines = new Set(begun.map(({ line }) => line));
      const first = all.find(({ hasBegun, line }) =>
        !hasBegun && (line === null || !lines.has(line))
      );
      const transactions = this.#transactions.get(name) ?? 0;
      if (first === undefined || transactions >= limitOf(first)) continue;
      throw new Error(`write ${first.name} waits beside a free place`);
    }
  }

  #checkEnd(): void {
    assertEquals(this.#connections, 0, "a connection is not given back");
    const nothing = { transactions: 0, transactionsWaiting: 0, shared: 0 };
    assertEquals(this.#queues.inUse(), nothing);
    for (const one of this.#asked.values()) {
      const what = `write ${one.name}, ${one.habit}`;
      assert(one.settled !== null, `${what}, is forgotten`);
      if (one.settled === "fulfilled") {
        assert(ENDS_WELL.has(one.habit), `${what}, is committed`);
      } else if (!this.#outages.has(one.error)) {
        assert(isOwn(one), `${what}, is rejected: ${one.error}`);
      }
    }
  }
}

/** Behaviours of writes that can be committed. */
const ENDS_WELL: ReadonlySet<Habit> = new Set(["fine", "deadlock", "taken"]);

/**
 * The name of a write's queue; writes of one queue take turns, or share
 * transactions.
 */
function queueOf({ options: { shared, order, owner } }: Asked): string {
  return shared ? `shared ${shared.kind}` : order ?? `owner ${owner}`;
}

/** How many transactions of a queue may run. */
function limitOf({ options: { shared, order, owner } }: Asked): number {
  if (order !== undefined) return 1;
  return shared !== undefined || owner !== undefined ? LIMIT / 2 : LIMIT;
}

/** Whether a write is rejected with its own error. */
function isOwn({ habit, error }: Asked): boolean {
  const kind = error instanceof DbError ? error.kind : "no";
  switch (habit) {
    case "fine":
      return false;
    case "refuses":
    case "fails":
      return kind === "no";
    case "careless":
    case "constraint":
      return kind === "constraint";
    case "busy":
    case "deadlock":
      return kind === "busy";
    case "taken":
      return kind === "unique";
    case "passed over":
      return kind === "other";
  }
}

/** Lets everything run that is ready. */
async function turn(): Promise<void> {
  for (let n = 0; n < 30; n++) await null;
}

Deno.test("whatever happens to transactions, every write soon gets the right result", async () => {
  const first = seedFrom(Deno.env.get("WRITES_SEED"));
  for (let seed = first; seed < first + SEEDS; seed++) {
    try {
      await new World(seed).run();
    } catch (error) {
      console.error(`failed with WRITES_SEED=${seed}`);
      throw error;
    }
  }
});
