/** The queries of read and write transactions. */
import type { Clock } from "../../deps.ts";
import {
  NUMBERS_PER_TRANSACTION,
  POSTGRES_CHANGES,
} from "../change_numbers.ts";
import {
  type Change,
  type ChangeHorizon,
  conflictError,
  DbError,
  type DialectQuery,
  type Expected,
  expectedTimes,
  type Param,
  type Query,
  queryText,
  type Reach,
  type ReadOptions,
  type Sql,
  textOfRows,
  type Tx,
} from "../db.ts";
import { OpenTransaction } from "../open_transaction.ts";

import { changesEverywhere, PLACES_NOW, TAKE_CHANGE } from "./citus.ts";
import type { Answer, Check, Connection } from "./connection.ts";
import { type Statement, toStatement } from "./dialect.ts";

/**
 * The most rows of one INSERT; a prepared statement takes memory for each
 * value.
 */
const ROWS_LIMIT = 64;

/** Takes a lock, which is held until the transaction ends. */
export const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))";

/**
 * The sellers that a transaction includes, if sellers are on several servers.
 */
export interface SellersInReach extends Reach {
  /** The sellers' numbers as a PostgreSQL array; null: all sellers. */
  readonly numbers: string | null;
  /** See `Tx`. */
  readonly localSellerNo: number;
  /** Names of all unreachable servers. */
  readonly away: readonly string[];
  /** The last known places of the shards; see `PLACES_NOW`. */
  readonly places: string;
  /**
   * The change horizon of all reachable servers; undefined in a transaction on
   * one server.
   */
  horizon?(): Promise<ChangeHorizon>;
}

/** Options of a transaction on one of several servers. */
export interface Reaching {
  /**
   * Called on each run once the transaction has a connection, because a server
   * may have become silent, or have broken a connection, since the previous
   * run.
   */
  reach?: () => SellersInReach;
}

/** A read transaction. */
export class PostgresSql extends OpenTransaction implements Sql {
  readonly #connection: Connection;
  /** Undefined where all sellers are on one server. */
  readonly reach: SellersInReach | undefined;

  constructor(connection: Connection, options: ReadOptions & Reaching) {
    super(options);
    this.#connection = connection;
    const reach = options.reach?.();
    this.reach = reach?.horizon === undefined ? reach : {
      ...reach,
      horizon: async () => {
        this.use();
        return await reach.horizon!();
      },
    };
  }

  /** The text of a query in a transaction of this kind. */
  protected textOf(query: DialectQuery): string {
    return query.postgresRead ?? query.postgres;
  }

  /** Sends a statement, with the sellers' numbers if it takes them. */
  protected send(
    query: Query,
    params: readonly Param[],
    check: Check | null = null,
  ): Promise<Answer> {
    this.use();
    const text = typeof query === "string"
      ? query
      : (this.reach && query.spread) ?? this.textOf(query);
    const numbers = this.reach?.numbers ?? null;
    const statement = toStatement(text, numbers !== null);
    const all = statement.takesSellers ? [...params, numbers] : params;
    return this.#connection.send(statement, all, check);
  }

  async all<T>(query: Query, params: readonly Param[] = []): Promise<T[]> {
    return (await this.send(query, params)).rows as T[];
  }

  async get<T>(
    query: Query,
    params: readonly Param[] = [],
  ): Promise<T | undefined> {
    return (await this.send(query, params)).rows[0] as T | undefined;
  }
}

/** The state that the writes of a transaction share. */
export class Transaction {
  readonly connection: Connection;
  /** The change number that all writes of the transaction share. */
  change: Promise<Change> | null = null;
  /** The first statement that failed, and the write that sent it, if one did. */
  failure: { error: unknown; tx: PostgresTx | null } | null = null;
  /** Resolves when the server has executed or refused all that was sent. */
  done: Promise<unknown> = Promise.resolve();
  /** How many statements whose changes are checked are not yet answered. */
  uncounted = 0;
  /**
   * The shard places when a statement ran that changed no row and was allowed
   * to change none; null if there is no such statement. See `Expected`.
   */
  places: string | null = null;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  send(statement: Statement, params: readonly Param[] = []): void {
    this.watch(this.connection.send(statement, params), null);
  }

  /**
   * Called before the commit: resolves once all statements are answered and
   * none has changed too few rows. A statement that changed nothing may have
   * reached outdated shards, even if it was allowed to change nothing.
   */
  async settle(): Promise<void> {
    await this.done;
    const { places } = this;
    if (places === null || this.failure !== null) return;
    const now = this.connection.send(
      toStatement(PLACES_NOW),
      [],
      ({ rows: [now] }) => {
        if (now.places === places) return;
        throw new DbError("conflict", "Shards have moved during a statement.");
      },
    );
    this.watch(now, null);
    await this.done;
  }

  /**
   * Watches the answer to a statement. The first answer that rejects is the
   * answer to the failed statement.
   */
  watch(answer: Promise<Answer>, tx: PostgresTx | null): void {
    this.done = answer.catch((error) => this.failure ??= { error, tx });
  }
}

/** One write of a transaction. */
export class PostgresTx extends PostgresSql implements Tx {
  readonly isOnlyWriter = false;
  readonly #transaction: Transaction;
  readonly #clock: Clock;
  readonly afterCommit: (() => void)[] = [];
  /** The change numbers by seller, if sellers are on several servers. */
  readonly #changes = new Map<number, Promise<Change>>();
  /**
   * The time of the write's changes, in Unix milliseconds; null without
   * changes.
   */
  changedAt: number | null = null;
  /** Whether the write may have changed rows. */
  hasWritten = false;
  /**
   * The shard places when the write began; undefined if there is one server.
   */
  readonly #places: string | undefined;

  constructor(transaction: Transaction, clock: Clock, options: Reaching) {
    super(transaction.connection, options);
    this.#places = this.reach?.places;
    this.#transaction = transaction;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  get localSellerNo(): number {
    return this.reach?.localSellerNo ?? 0;
  }

  protected override textOf({ postgres }: DialectQuery): string {
    return postgres;
  }

  protected override send(
    query: Query,
    params: readonly Param[],
    check: Check | null = null,
  ): Promise<Answer> {
    const answer = super.send(query, params, check);
    this.#transaction.watch(answer, this);
    return answer;
  }

  /** Sends a statement that changes rows. */
  #write(
    query: Query,
    params: readonly Param[],
    expected: Expected,
  ): Promise<Answer> {
    this.hasWritten = true;
    this.#requireAllServers(query);
    const places = this.#places;
    if (expected === "any" && places === undefined) {
      return this.send(query, params);
    }
    const transaction = this.#transaction;
    transaction.uncounted++;
    return this.send(query, params, (answer) => {
      transaction.uncounted--;
      const changed = changedBy(answer);
      if (changed === 0) transaction.places ??= places ?? null;
      const text = queryText(query, "postgres");
      const conflict = conflictError(text, changed, expected);
      if (conflict !== null) throw conflict;
    });
  }

  /**
   * Throws for a change of a table that is copied to all servers while a server
   * is unreachable, because the statement would wait for that server.
   */
  #requireAllServers(query: Query): void {
    const [away] = this.reach?.away ?? [];
    if (away === undefined) return;
    if (!changesEverywhere(queryText(query, "postgres"))) return;
    throw new DbError(
      "away",
      `server ${away} cannot be reached, and all servers are needed`,
    );
  }

  async takeChanges(count: number, sellerNo: number): Promise<Change> {
    this.use();
    if (this.reach !== undefined) return await this.#changeOf(sellerNo);
    if (count > NUMBERS_PER_TRANSACTION) {
      throw new RangeError(`${count} changes`);
    }
    const change = await (this.#transaction.change ??= this.#takeChange());
    this.changedAt = change.at;
    return change;
  }

  async #takeChange(): Promise<Change> {
    const taken = await this.get<{ number: number; notBefore: number }>(
      POSTGRES_CHANGES.take,
    );
    const { number, notBefore } = taken!;
    return { number, at: Math.max(this.now(), notBefore) };
  }

  /**
   * All changes of a seller in a transaction have the same number. Changes of
   * several sellers may differ, because sellers can move to different servers.
   */
  #changeOf(sellerNo: number): Promise<Change> {
    const change = this.#changes.get(sellerNo) ?? this.#takeChangeOf(sellerNo);
    this.#changes.set(sellerNo, change);
    return change;
  }

  async #takeChangeOf(sellerNo: number): Promise<Change> {
    const taken = await this.get<{ number: number }>(TAKE_CHANGE, [sellerNo]);
    if (taken === undefined) throw new DbError("other", "No such seller.");
    const { number } = taken;
    return { number, at: Math.max(this.now(), Math.floor(number / 1_000)) };
  }

  run(
    query: Query,
    params: readonly Param[],
    expected: Expected,
  ): Promise<number> {
    const changed = Promise.try(() => this.#write(query, params, expected))
      .then(changedBy);
    changed.catch(() => {}); // The write fails as well, so this rejection needs no handler.
    return changed;
  }

  async returning<T>(
    query: Query,
    params: readonly Param[],
    expected: Expected,
  ): Promise<T[]> {
    return (await this.#write(query, params, expected)).rows as T[];
  }

  runMany(
    query: Query,
    rows: readonly (readonly Param[])[],
    expected: Expected,
  ): Promise<void> {
    return Promise.try(() => this.#sendMany(query, rows, expected));
  }

  #sendMany(
    query: Query,
    rows: readonly (readonly Param[])[],
    expected: Expected,
  ): void {
    const ofRows = textOfRows(query);
    if (ofRows === null) {
      for (const row of rows) void this.#write(query, row, expected);
      return;
    }
    let start = 0;
    for (let size = ROWS_LIMIT; size >= 1; size /= 2) {
      const ofAll = expectedTimes(expected, size);
      for (; rows.length - start >= size; start += size) {
        const some = rows.slice(start, start + size).flat();
        void this.#write(ofRows(size), some, ofAll);
      }
    }
  }

  lock(name: string): Promise<void> {
    return Promise.try(() => void this.send(LOCK, [name]));
  }

  onCommit(fn: () => void): void {
    this.use();
    this.afterCommit.push(fn);
  }
}

/** How many rows a statement changed. */
function changedBy({ tag }: Answer): number {
  return Number(tag.slice(tag.lastIndexOf(" ") + 1)) || 0;
}
