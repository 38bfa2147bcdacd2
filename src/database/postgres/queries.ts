/** The queries of read and write transactions. */
import type { Clock } from "../../deps.ts";
import { NUMBERS, POSTGRES_CHANGES } from "../change_numbers.ts";
import {
  type Change,
  type ChangeHorizon,
  ended,
  type Later,
  type Param,
  type Sql,
  type Tx,
} from "../db.ts";
import { insertOf, ROWS_LIMIT } from "../insert.ts";
import { SharedValues } from "../shared_values.ts";
import type { Answer, Connection } from "./connection.ts";
import { type Statement, toReadStatement, toStatement } from "./dialect.ts";

/** A read transaction. */
export class PostgresSql implements Sql {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  protected statement(sql: string): Statement {
    return toReadStatement(sql);
  }

  protected send(sql: string, params: readonly Param[]): Promise<Answer> {
    return this.#connection.send(this.statement(sql), params);
  }

  async all<T>(sql: string, params: readonly Param[] = []): Promise<T[]> {
    return (await this.send(sql, params)).rows as T[];
  }

  async get<T>(
    sql: string,
    params: readonly Param[] = [],
  ): Promise<T | undefined> {
    return (await this.send(sql, params)).rows[0] as T | undefined;
  }

  async changeHorizon(): Promise<ChangeHorizon> {
    return (await this.get<ChangeHorizon>(POSTGRES_CHANGES.horizon))!;
  }
}

/** What the writes of a transaction share. */
export class Transaction {
  readonly connection: Connection;
  readonly values = new SharedValues();
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

  protected override statement(sql: string): Statement {
    return toStatement(sql);
  }

  protected override send(
    sql: string,
    params: readonly Param[],
  ): Promise<Answer> {
    this.#refuseLate();
    const answer = super.send(sql, params);
    this.#transaction.watch(answer, this);
    return answer;
  }

  /** Sends a statement that changes rows. */
  #write(sql: string, params: readonly Param[]): Promise<Answer> {
    this.hasWritten = true;
    return this.send(sql, params);
  }

  async takeChanges(count: number): Promise<Change> {
    if (count > NUMBERS) throw new RangeError(`${count} changes`);
    const change = await this.once("change numbers", () => this.#takeChanges());
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

  async run(sql: string, params: readonly Param[] = []): Promise<number> {
    return changedBy(await this.#write(sql, params));
  }

  lock(sql: string, params: readonly Param[] = []): Promise<void> {
    return Promise.try(() => void this.send(sql, params));
  }

  exec(sql: string, params: readonly Param[] = []): Promise<void> {
    return Promise.try(() => void this.#write(sql, params));
  }

  runLater(sql: string, params: readonly Param[] = []): Promise<Later> {
    return Promise.try(() => {
      const later: Later = { changed: 0 };
      this.#write(sql, params).then(
        (answer) => void (later.changed = changedBy(answer)),
        () => {}, // The commit fails, too.
      );
      return later;
    });
  }

  runMany(sql: string, rows: readonly (readonly Param[])[]): Promise<void> {
    return Promise.try(() => this.#sendMany(sql, rows));
  }

  #sendMany(sql: string, rows: readonly (readonly Param[])[]): void {
    let start = 0;
    for (let size = ROWS_LIMIT; size > 1; size /= 2) {
      const insert = insertOf(sql, size);
      if (insert === null) break;
      for (; rows.length - start >= size; start += size) {
        this.#write(insert, rows.slice(start, start + size).flat());
      }
    }
    for (const row of rows.slice(start)) this.#write(sql, row);
  }

  async once<T>(name: string, make: () => Promise<T>): Promise<T> {
    this.#refuseLate();
    return await this.#transaction.values.once(name, make);
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
