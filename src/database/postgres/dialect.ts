/**
 * Queries, values and error codes in the form of PostgreSQL. `?` becomes `$1`,
 * `$2`, …; a statement for some sellers has one more parameter, their numbers.
 *
 * U+0000, which PostgreSQL cannot store in a text, becomes U+FFFE. XML allows
 * neither, so no document contains either of them.
 */
import { Buffer } from "node:buffer";
import { type DbErrorKind, IN_REACH, type Param } from "../db.ts";

/** A query for PostgreSQL, prepared under this name. */
export interface Statement {
  name: string;
  text: string;
  /** The last parameter is the list of sellers' numbers, for `inReach`. */
  takesSellers?: boolean;
  /** The statement does not depend on those sent before. */
  isFirst?: true;
  /** The answers to earlier statements are awaited before it is executed. */
  flushesFirst?: true;
}

/** Statements by their texts: for all sellers, and for some of them. */
const ofAll = new Map<string, Statement>();
const ofSome = new Map<string, Statement>();

/**
 * The statement of a text, created once. Without `takesSellers`, the condition
 * `inReach` is removed from it.
 */
export function toStatement(sql: string, takesSellers = false): Statement {
  const known = takesSellers ? ofSome : ofAll;
  let statement = known.get(sql);
  if (statement === undefined) {
    statement = makeStatement(sql, takesSellers);
    // Without the condition, both kinds of transactions share one statement.
    if (takesSellers && !statement.takesSellers) statement = toStatement(sql);
    known.set(sql, statement);
  }
  return statement;
}

function makeStatement(sql: string, takesSellers: boolean): Statement {
  let n = 0;
  const numbered = (part: string) => part === "?" ? `$${++n}` : part;
  const positional = sql.replace(QUOTED_OR_MARK, numbered);
  const text = positional.replace(
    IN_REACH,
    (_, column) =>
      takesSellers ? `AND ${column} = ANY ($${n + 1}::bigint[])` : "",
  );
  const name = `s${ofAll.size + ofSome.size}`;
  return { name, text, takesSellers: takesSellers && text !== positional };
}

const QUOTED_OR_MARK = /'(?:[^']|'')*'|"[^"]*"|\?/g;

/** Encodes a parameter; throws for values that would be bound wrongly. */
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

/** The parser for values of a column type (OID). */
export function columnReader(type: number): (text: string) => unknown {
  return READERS.get(type) ?? ((text) => text);
}

/** Parses `\x00ff…`. */
function bytesOf(text: string): Uint8Array {
  return Uint8Array.fromHex(text.slice(2));
}

/**
 * The `DbErrorKind` of an SQLSTATE
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html); `retry` if
 * the same transaction may succeed next time.
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
