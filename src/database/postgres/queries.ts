/** The queries of read and write transactions. */
import type { Clock } from "../../deps.ts";
import { NUMBERS, POSTGRES_CHANGES } from "../change_numbers.ts";
import {
  type Change,
  type ChangeHorizon,
  ended,
  type EngineQuery,
  type Insert,
  isInsert,
  type Param,
  type Query,
  type Sql,
  type Tx,
} from "../db.ts";
import type { Answer, Connection } from "./connection.ts";
import { type Statement, toStatement } from "./dialect.ts";

/**
 * Rows of one INSERT at most; a prepared statement takes memory for each value.
 */
const ROWS_LIMIT = 64;

/** Is held until the transaction ends. */
export const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))";

/** A read transaction. */
export class PostgresSql implements Sql {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The text of a query in a transaction of this kind. */
  protected textOf(query: EngineQuery): string {
    return query.postgresRead ?? query.postgres;
  }

  protected send(query: Query, params: readonly Param[]): Promise<Answer> {
    const text = typeof query === "string" ? query : this.textOf(query);
    return this.#connection.send(toStatement(text), params);
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

  /** There is one server. */
  ofPart(): string {
    return "";
  }

  async changeHorizon(): Promise<ChangeHorizon> {
    const horizon = await this.get<Omit<ChangeHorizon, "missing">>(
      POSTGRES_CHANGES.horizon,
    );
    return { ...horizon!, missing: [] };
  }
}

/** What the writes of a transaction share. */
export class Transaction {
  readonly connection: Connection;
  /** The change of all its writes. */
  change: Promise<Change> | null = null;
  /** The first statement that failed, and the write that sent it, if one did. */
  failure: { error: unknown; tx: PostgresTx | null } | null = null;
  /** Resolves when the server has carried out what was sent, or refused it. */
  done: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection) {
    this.connection = connection;
  }

  send(statement: Statement, params: readonly Param[] = []): void {
    this.watch(this.connection.send(statement, params), null);
  }

  /** The answer of a failed statement is the first one that rejects. */
  watch(answer: Promise<Answer>, tx: PostgresTx | null): void {
    this.done = answer.catch((error) => this.failure ??= { error, tx });
  }
}

/** One write of a transaction. */
export class PostgresTx extends PostgresSql implements Tx {
  readonly isOnlyWriter = false;
  readonly beside = 0;
  readonly #transaction: Transaction;
  readonly #clock: Clock;
  readonly afterCommit: (() => void)[] = [];
  /** The time of its changes, in Unix milliseconds; null: it took none. */
  changedAt: number | null = null;
  /** Whether it may have changed something. */
  hasWritten = false;
  /** From then on it refuses everything: the transaction goes on without it. */
  hasEnded = false;

  constructor(transaction: Transaction, clock: Clock) {
    super(transaction.connection);
    this.#transaction = transaction;
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  #refuseLate(): void {
    if (this.hasEnded) throw ended();
  }

  protected override textOf({ postgres }: EngineQuery): string {
    return postgres;
  }

  protected override send(
    query: Query,
    params: readonly Param[],
  ): Promise<Answer> {
    this.#refuseLate();
    const answer = super.send(query, params);
    this.#transaction.watch(answer, this);
    return answer;
  }

  /** Sends a statement that changes rows. */
  #write(query: Query, params: readonly Param[]): Promise<Answer> {
    this.hasWritten = true;
    return this.send(query, params);
  }

  async takeChanges(count: number): Promise<Change> {
    this.#refuseLate();
    if (count > NUMBERS) throw new RangeError(`${count} changes`);
    const change = await (this.#transaction.change ??= this.#takeChanges());
    this.changedAt = change.at;
    return change;
  }

  async #takeChanges(): Promise<Change> {
    const taken = await this.get<{ number: number; notBefore: number }>(
      POSTGRES_CHANGES.take,
    );
    const { number, notBefore } = taken!;
    return { number, at: Math.max(this.now(), notBefore) };
  }

  run(query: Query, params: readonly Param[] = []): Promise<number> {
    const changed = Promise.try(() => this.#write(query, params))
      .then(changedBy);
    changed.catch(() => {}); // The write fails, too.
    return changed;
  }

  async returning<T>(
    query: Query,
    params: readonly Param[] = [],
  ): Promise<T[]> {
    return (await this.#write(query, params)).rows as T[];
  }

  runMany(
    query: Query | Insert,
    rows: readonly (readonly Param[])[],
  ): Promise<void> {
    return Promise.try(() => this.#sendMany(query, rows));
  }

  #sendMany(
    query: Query | Insert,
    rows: readonly (readonly Param[])[],
  ): void {
    if (!isInsert(query)) {
      for (const row of rows) this.#write(query, row);
      return;
    }
    let start = 0;
    for (let size = ROWS_LIMIT; size >= 1; size /= 2) {
      for (; rows.length - start >= size; start += size) {
        this.#write(query.of(size), rows.slice(start, start + size).flat());
      }
    }
  }

  lock(name: string): Promise<void> {
    return Promise.try(() => void this.send(LOCK, [name]));
  }

  onCommit(fn: () => void): void {
    this.#refuseLate();
    this.afterCommit.push(fn);
  }
}

/** How many rows a statement changed. */
function changedBy({ tag }: Answer): number {
  return Number(tag.slice(tag.lastIndexOf(" ") + 1)) || 0;
}
