/** The query of a request: parsed strictly, and checked against its route. */
import { ServiceError } from "../lib/errors.ts";
import { nearestName } from "../lib/nearest_name.ts";
import { quote } from "../lib/values.ts";
import type { Route } from "./router.ts";

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
 * Throws 400 for a parameter that the route does not accept and for one with
 * two different values: a misspelt `dry_run` must not become a real upload. A
 * route that needs no key ignores unknown ones.
 */
export function checkQuery(
  { access, parameters = [] }: Pick<Route, "access" | "parameters">,
  query: URLSearchParams,
): void {
  if (access === "public") return;
  const known = parameters.filter((parameter) => parameter.in !== "header")
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
  const about = known.length === 0
    ? "this request takes none."
    : `did you mean "${
      nearestName(name.toLowerCase(), known)
    }"? This request takes ${known.join(", ")}.`;
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
    `The query parameter ${name} is given twice, as ${quote(first)} and as ` +
      `${quote(second)}; give it once.`,
  );
}
