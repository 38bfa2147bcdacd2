/**
 * A connection to PostgreSQL, on top of the driver (`pg`).
 *
 * Statements that are sent in the same turn of the event loop, or while others
 * are in flight, form a batch with one Sync at its end, so that the server
 * answers with few packets, not with one for each statement. To the driver, a
 * batch is one query of a custom class, as in `pg-cursor`.
 */
import { nextTick } from "node:process";
import pg from "pg";
import { DbError, type DbErrorKind, type Param, type Row } from "../db.ts";
import { columnReader, errorKind, type Statement, toText } from "./dialect.ts";

/** The server's answer to one statement. */
export interface Answer {
  rows: Row[];
  /** The command tag, such as `COMMIT`, `SELECT 2` or `INSERT 0 1`. */
  tag: string;
}

/** A column, with the parser of its values. */
interface Column {
  name: string;
  read: (text: string) => unknown;
}

/**
 * The columns of the statements prepared on a connection, by statement name.
 */
type Prepared = Map<string, Column[]>;

/** Throws if an answer does not meet the requirement. */
export type Check = (answer: Answer) => void;

interface Sent {
  statement: Statement;
  check: Check | null;
  values: readonly ReturnType<typeof toText>[];
  /** The columns of the statement's rows, once they are known. */
  columns: Column[];
  /** Whether this batch prepares the statement. */
  isNew: boolean;
  rows: Row[];
  answered: PromiseWithResolvers<Answer>;
}

/** Sends statements on one connection of the driver. */
export class Connection {
  readonly client: pg.PoolClient;
  readonly #prepared: Prepared = new Map();
  /**
   * Batches that are not answered. The first has been sent, unless it was
   * created in this turn of the event loop.
   */
  readonly #batches: Batch[] = [];

  constructor(client: pg.PoolClient) {
    this.client = client;
  }

  /**
   * Sends a statement; its result may be awaited later or ignored. If the
   * statement fails, later statements of its batch also fail; if only its
   * `check` fails, the other statements are not affected.
   */
  send(
    statement: Statement,
    params: readonly Param[] = [],
    check: Check | null = null,
  ): Promise<Answer> {
    const values = params.map(toText);
    let batch = this.#batches.at(-1);
    if (batch === undefined || batch.isSent || statement.isFirst) {
      batch = new Batch(this.#prepared, () => this.#next());
      if (this.#batches.push(batch) === 1) nextTick(() => this.#submit());
    }
    return batch.add(statement, values, check);
  }

  #next(): void {
    this.#batches.shift();
    this.#submit();
  }

  #submit(): void {
    const [batch] = this.#batches;
    if (batch !== undefined) this.client.query(batch);
  }
}

/** Statements that the driver sends and awaits as one query. */
class Batch implements pg.Submittable {
  readonly #prepared: Prepared;
  readonly #sent: Sent[] = [];
  isSent = false;
  /** The number of statements that the server has executed. */
  #done = 0;
  /** The driver wraps this callback in a time limit. */
  callback: (error: Error | null) => void;

  /** @param ended is called when the connection is free again. */
  constructor(prepared: Prepared, ended: () => void) {
    this.#prepared = prepared;
    this.callback = (error) => {
      if (error !== null) this.#fail(postgresDbError(error));
      ended();
    };
  }

  add(
    statement: Statement,
    values: Sent["values"],
    check: Check | null,
  ): Promise<Answer> {
    const answered = Promise.withResolvers<Answer>();
    answered.promise.catch(() => {});
    const more = { columns: [], isNew: false, rows: [], answered };
    this.#sent.push({ statement, values, check, ...more });
    return answered.promise;
  }

  submit(connection: pg.Connection): void {
    const { stream } = connection;
    this.isSent = true;
    stream.cork();
    for (const sent of this.#sent) this.#send(sent, connection);
    connection.sync();
    stream.uncork();
  }

  #send(sent: Sent, connection: pg.Connection): void {
    const { statement: { name, text, flushesFirst }, values } = sent;
    if (flushesFirst) connection.flush();
    sent.isNew = !this.#prepared.has(name);
    if (sent.isNew) {
      this.#prepared.set(name, []);
      // If only its first execution failed, the server still has the statement.
      connection.close({ type: "S", name });
      connection.parse({ name, text });
      connection.describe({ type: "S", name });
    }
    sent.columns = this.#prepared.get(name)!;
    connection.bind({ statement: name, values });
    connection.execute();
  }

  handleRowDescription({ fields }: pg.RowDescription): void {
    for (const { name, dataTypeID } of fields) {
      const read = columnReader(dataTypeID);
      this.#sent[this.#done].columns.push({ name, read });
    }
  }

  handleDataRow({ fields }: pg.DataRow): void {
    const { columns, rows } = this.#sent[this.#done];
    const row: Row = {};
    for (let n = 0; n < columns.length; n++) {
      const { name, read } = columns[n];
      const text = fields[n];
      row[name] = text === null ? null : read(text);
    }
    rows.push(row);
  }

  handleCommandComplete({ text: tag }: pg.CommandComplete): void {
    const { rows, answered, check } = this.#sent[this.#done++];
    const answer = { rows, tag };
    try {
      check?.(answer);
      answered.resolve(answer);
    } catch (error) {
      answered.reject(error);
    }
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  #fail(error: PostgresError): void {
    for (const { statement, isNew, answered } of this.#sent.slice(this.#done)) {
      if (isNew) this.#prepared.delete(statement.name);
      answered.reject(error);
    }
  }
}

/** Whether the connection broke, or the server was silent. */
export function isLost(error: unknown): boolean {
  return error instanceof DbError && error.kind === "away";
}

/** A `DbError` after which the engine itself may retry. */
export class PostgresError extends DbError {
  /** Whether the same transaction may succeed next time. */
  readonly again: boolean;

  constructor(kind: ReturnType<typeof errorKind>, cause: Error) {
    super(
      kind === "retry" ? "busy" : kind as DbErrorKind,
      cause.message,
      cause,
    );
    this.again = kind === "retry";
  }
}

/** An error of the driver; without an SQLSTATE the connection failed. */
export function postgresDbError(error: unknown): PostgresError {
  if (!(error instanceof Error)) throw error;
  if (!(error instanceof pg.DatabaseError) || error.code === undefined) {
    return new PostgresError("away", error);
  }
  const isMoving = error.hint === MOVING_HINT;
  return new PostgresError(isMoving ? "retry" : errorKind(error.code), error);
}

/**
 * The hint of an error without its own code: a statement met shards that were
 * being split.
 */
const MOVING_HINT = "Retry the query.";

/** Runs one or more statements without parameters. */
export async function queryClient<R>(
  client: pg.Client,
  text: string,
): Promise<R[]> {
  try {
    return (await client.query(text)).rows as R[];
  } catch (error) {
    throw postgresDbError(error);
  }
}
