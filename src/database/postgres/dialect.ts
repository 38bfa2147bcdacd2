/**
 * What PostgreSQL says otherwise than SQLite: the whole list. The queries are
 * written once, for both; this file turns them and the error codes into what
 * PostgreSQL knows. `table.ts` writes the schema.
 *
 * - `?` is `$1`, `$2`, …
 * - A row lock stands in a query as a comment, `/` + `* FOR UPDATE *` + `/` or
 *   `/` + `* ORDER BY sku FOR UPDATE *` + `/`, which SQLite, with its single
 *   writer, reads as one; so does a read on PostgreSQL.
 * - `0 /` + `* SHARD *` + `/` is one of 16 numbers for each connection: counters
 *   that many writes change have a row for each, so that no write waits for
 *   another.
 * - U+0000, which no PostgreSQL text can hold, becomes U+FFFE: no XML holds
 *   either of them, so both are found nowhere and shown nowhere.
 * - A seller's products with SKUs of a list are looked up one by one: with old
 *   statistics PostgreSQL takes the products of a growing seller for few, and
 *   would read all of them.
 */
import { Buffer } from "node:buffer";
import type { DbErrorKind, Param } from "../db.ts";

/** A query for PostgreSQL, prepared under its name. */
export interface Statement {
  name: string;
  text: string;
  /** It does not depend on what was sent before. */
  isFirst?: true;
  /** What was sent before it is answered before it is carried out. */
  flushesFirst?: true;
}

const statements = new Map<string, Statement>();

/** The statement of a portable query in a write; created once. */
export function toStatement(sql: string): Statement {
  return statementOf(sql, (text) => text.replace(LOCK, "$1"));
}

/** The statement of a portable query in a read, which locks nothing. */
export function toReadStatement(sql: string): Statement {
  if (sql.search(LOCK) === -1) return toStatement(sql);
  return statementOf(`${sql} -- read`, (text) => text.replace(LOCK, ""));
}

function statementOf(
  sql: string,
  translateLocks: (sql: string) => string,
): Statement {
  let statement = statements.get(sql);
  if (statement === undefined) {
    const text = toPostgres(translateLocks(sql));
    statement = { name: `s${statements.size}`, text };
    statements.set(sql, statement);
  }
  return statement;
}

const LOCK =
  /\/\* ((?:ORDER BY [a-z_, ]+ )?FOR (?:UPDATE|SHARE|KEY SHARE|NO KEY UPDATE)[A-Za-z_ ]*) \*\//g;
const QUOTED_OR_MARK = /'(?:[^']|'')*'|"[^"]*"|\?/g;

const BY_SKUS = " AND sku IN (";
const IN_ORDER = "ORDER BY sku FOR UPDATE";

/** A query for a seller's products with SKUs of a list, in their order. */
function oneByOne(sql: string): string {
  const [select, list, ...more] = sql.split(BY_SKUS);
  if (list === undefined || more.length > 0) return sql;
  if (!select.endsWith(" FROM products WHERE seller_no = ?")) return sql;
  const [marks, rest] = list.split(")", 2);
  const isLocked = rest.trim() === IN_ORDER;
  if (!isLocked && rest.trim() !== "") return sql;
  const keys = marks.split(",").map((_, i) => `($${i + 2}::text)`);
  return `SELECT product.* FROM (VALUES ${keys}) AS wanted (key)
    CROSS JOIN LATERAL (${select.slice(0, -1)}$1 AND sku = wanted.key
      LIMIT 1${isLocked ? " FOR UPDATE" : ""}) AS product`;
}

function toPostgres(sql: string): string {
  let n = 0;
  return oneByOne(sql)
    .replaceAll("0 /* SHARD */", "pg_backend_pid() % 16")
    .replace(QUOTED_OR_MARK, (part) => part === "?" ? `$${++n}` : part);
}

/** A value as it is sent; throws for values that would be bound wrongly. */
export function toText(param: Param): string | Buffer | null {
  if (typeof param === "string") {
    return param.includes("\0") ? param.replaceAll("\0", "\uFFFE") : param;
  }
  if (typeof param === "number" || typeof param === "bigint") return `${param}`;
  if (param === null) return null;
  if (param instanceof Uint8Array) {
    return Buffer.from(param.buffer, param.byteOffset, param.byteLength);
  }
  throw new TypeError(`cannot bind ${Object.prototype.toString.call(param)}`);
}

const READERS = new Map<number, (text: string) => unknown>([
  [16, (text) => text === "t" ? 1 : 0], // boolean
  [17, bytesOf], // bytea
  [20, Number], // bigint
  [23, Number], // integer
  [1700, Number], // numeric
]);

/** How the text of a column with this type (OID) is parsed. */
export function readerOf(type: number): (text: string) => unknown {
  return READERS.get(type) ?? ((text) => text);
}

/** From `\x00ff…`. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.fromHex(text.slice(2));
}

/**
 * SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) as
 * a `DbErrorKind`; `retry` if the same transaction may succeed next time.
 */
export function errorKind(code: string): DbErrorKind | "retry" {
  switch (code) {
    case "23505":
      return "unique";
    case "40001": // serialization_failure
    case "40P01": // deadlock_detected
      return "retry";
    case "53100": // disk_full
    case "58030": // io_error
      return "full";
    case "25006": // read_only_sql_transaction: a standby
    case "42501": // insufficient_privilege
      return "readonly";
    case "55P03": // lock_not_available
    case "57014": // query_canceled: the statement took too long
      return "busy";
    case "25P03": // idle_in_transaction_session_timeout
    case "25P04": // transaction_timeout
    case "3D000": // no such database
      return "away";
    case "XX001": // data_corrupted
    case "XX002": // index_corrupted
      return "corrupt";
  }
  switch (code.slice(0, 2)) {
    case "23":
      return "constraint";
    case "08": // connection_exception
    case "28": // invalid_authorization
    case "53": // insufficient_resources: connections, memory
    case "57": // operator_intervention: shutting down, starting up
      return "away";
    default:
      return "other";
  }
}
