/** Parses the query of a request and checks it against the route. */
import { PAGE_LIMIT } from "../../lib/request_limits.ts";
import {
  type Detail,
  type DetailCode,
  recordInvalid,
  ServiceError,
} from "../../lib/errors.ts";
import { isNear, nearestName } from "../../lib/nearest_name.ts";
import { quote } from "../../lib/values.ts";
import { type Cursor, ID_CURSOR } from "./cursor.ts";
import {
  AFTER,
  PAGE_SIZE,
  parseText,
  type QueryParameter,
} from "./parameters.ts";
import type { Route } from "./route.ts";

/** Parses a query; throws 400 for an invalid `%` instead of guessing. */
export function parseQuery(query: string): URLSearchParams {
  if (query.includes("%")) {
    try {
      decodeURIComponent(query);
    } catch {
      throw new ServiceError(
        "malformed_request",
        "The query is not percent-encoded UTF-8; the character " +
          '"%" is written as "%25".',
      );
    }
  }
  return new URLSearchParams(query);
}

/**
 * Throws 400 for a parameter that the route does not accept, and for a parameter
 * with two different values: a misspelt `dry_run` must not become a real upload.
 * A route that needs no key ignores unknown parameters.
 */
export function checkQuery(
  { access, documentation }: Route,
  query: URLSearchParams,
): void {
  if (access === "public") return;
  const known = (documentation?.parameters ?? []).filter((parameter) =>
    parameter.in !== "header"
  )
    .map(({ name }) => name);
  const values = new Map<string, string>();
  for (const [name, value] of query) {
    if (!known.includes(name)) throw unknownParameter(name, known);
    const first = values.get(name) ?? value;
    if (first !== value) throw contradiction(name, first, value);
    values.set(name, value);
  }
}

function unknownParameter(
  name: string,
  known: readonly string[],
): ServiceError {
  const written = name.toLowerCase();
  const near = known.length === 0 ? null : nearestName(written, known);
  const question = near !== null && isNear(written, near)
    ? `did you mean "${near}"? This`
    : "this";
  const about = `${question} request takes ${known.join(", ") || "none"}.`;
  return new ServiceError(
    "malformed_request",
    `The query parameter ${quote(name)} is unknown; ${about}`,
  );
}

function contradiction(
  name: string,
  first: string,
  second: string,
): ServiceError {
  return new ServiceError(
    "malformed_request",
    `The query parameter ${name} occurs twice, as ${quote(first)} and as ${
      quote(second)
    }; send it once.`,
  );
}

/** Reads query parameters and collects their errors. */
export class QueryReader {
  readonly #query: URLSearchParams;
  readonly #details: Detail[] = [];

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /** A parameter's value; null if it is missing or invalid. */
  read<T>(parameter: QueryParameter<T>): T | null {
    return readParameter(
      this.#query,
      parameter,
      (code, problem) => this.addProblem(parameter.name, code, problem),
    );
  }

  /** Records an error if a parameter is missing. */
  require({ name, expected }: QueryParameter<unknown>): void {
    if (!this.#query.has(name)) {
      this.addProblem(name, "required", `is missing; it must be ${expected}.`);
    }
  }

  /** Records an error. `message` continues after the parameter's name. */
  addProblem(name: string, code: Detail["code"], message: string): void {
    this.#details.push({ field: name, code, message: `${name} ${message}` });
  }

  /** How many entries a page may have. */
  limit(): number {
    return this.read(PAGE_SIZE) ?? PAGE_LIMIT.default;
  }

  /** The cursor of a list whose cursors are ids. */
  idCursor(): string | null {
    return this.cursor(ID_CURSOR);
  }

  /**
   * The cursor (null: from the start) and the limit of a page, for a list whose
   * cursors are ids. Throws 422 if an error was recorded.
   */
  idPlace(): { after: string | null; limit: number } {
    const place = { after: this.idCursor(), limit: this.limit() };
    this.finish();
    return place;
  }

  /**
   * The cursor; null for the first page, which scripts may request with an empty
   * cursor.
   */
  cursor<T>({ parse }: Cursor<T>): T | null {
    if (this.#query.get(AFTER.name) === "") return null;
    return this.read({ ...AFTER, parse });
  }

  /** Throws 422 if an error was recorded. */
  finish(): void {
    if (this.#details.length > 0) throw recordInvalid(this.#details);
  }
}

/**
 * The value of a parameter that decides what the request does; null if it is
 * missing. Throws 400 for an invalid value: `dry_run=tru` must not become an
 * upload.
 */
export function readOption<T>(
  query: URLSearchParams,
  parameter: QueryParameter<T>,
): T | null {
  return readParameter(query, parameter, (_, problem) => {
    throw new ServiceError("malformed_request", `${parameter.name} ${problem}`);
  });
}

function readParameter<T>(
  query: URLSearchParams,
  parameter: QueryParameter<T>,
  refuse: (code: DetailCode, problem: string) => void,
): T | null {
  const text = query.get(parameter.name);
  if (text === null) return null;
  const { code } = parameter;
  return parseText(
    text,
    parameter,
    (problem) => refuse(typeof code === "string" ? code : code(text), problem),
  );
}
