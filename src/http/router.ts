/**
 * Finds the route of a request. The path is split as it was sent and then
 * percent-decoded segment by segment, so that a segment may hold `/`, `.` or
 * anything else that a URL parser would normalise away.
 */
import { validate } from "@std/uuid/common";
import { notFound, ServiceError } from "../lib/errors.ts";
import {
  type Address,
  type Documentation,
  PATH_PARAMETERS,
} from "../contracts/endpoint.ts";
import type { AnswerName } from "../contracts/answers.ts";
import type { Handler } from "./context.ts";

/** A handler and the documentation of its answers, of the same kinds. */
type Documented<A extends AnswerName> = {
  handler: Handler<A>;
  documentation: Documentation & { answers: readonly A[] };
};

type EachDocumented<A extends AnswerName> = A extends AnswerName ? Documented<A>
  : never;

/** A route without XML answers, or for browsers only. */
interface Plain {
  handler: Handler;
  documentation:
    | Documentation & { answers: { type: string } | null }
    | null;
}

export type Route =
  & RouteAddress
  & (
    | Plain
    | EachDocumented<AnswerName>
    | Documented<"upload" | "dry_run">
    | Documented<"upload" | "undo_dry_run">
  );

interface RouteAddress extends Address {
  /** Expensive: limited for each seller and in total. */
  upload?: boolean;
  /** Waits on purpose, so a slow answer is not logged. */
  waits?: boolean;
}

/** A request target, split but not yet decoded. */
export interface Target {
  /** Segments as sent, without the leading slash. */
  segments: string[];
  /** Without the question mark. */
  query: string;
}

export type Match =
  /** `params` decodes the path; throws 400, or 404 for an impossible id. */
  | { route: Route; params: () => Record<string, string> }
  /** The path exists, but not for this method. */
  | { allow: string[] }
  | null;

const AUTHORITY = /^https?:\/\/[A-Za-z0-9.\-_]+(:\d{1,5})?$/;

/**
 * Splits `Request.url`, in which Deno keeps the target as it was sent, after
 * scheme and Host. Throws 400 if Host or target are not valid in a URL.
 */
export function parseTarget(url: string): Target {
  const pathStart = url.indexOf("/", url.indexOf("://") + 3);
  const origin = pathStart === -1 ? url : url.slice(0, pathStart);
  if (!AUTHORITY.test(origin) && !URL.canParse(origin)) {
    throw new ServiceError(
      "malformed_request",
      "The Host header or the request target is invalid.",
    );
  }
  const rest = pathStart === -1 ? "/" : url.slice(pathStart);
  const fragment = rest.indexOf("#");
  const sent = fragment === -1 ? rest : rest.slice(0, fragment);
  const mark = sent.indexOf("?");
  const path = mark === -1 ? sent : sent.slice(0, mark);
  return {
    segments: path.slice(1).split("/"),
    query: mark === -1 ? "" : sent.slice(mark + 1),
  };
}

/** Percent-decodes, or throws 400. */
function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ServiceError(
      "malformed_request",
      "The path is not percent-encoded UTF-8.",
    );
  }
}

interface Compiled {
  route: Route;
  segments: string[];
}

export class Router {
  readonly #bySize = new Map<number, Compiled[]>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      const segments = route.path.slice(1).split("/");
      const same = this.#bySize.get(segments.length) ?? [];
      this.#bySize.set(segments.length, [...same, { route, segments }]);
    }
  }

  /** HEAD uses the route of GET. */
  match(method: string, segments: readonly string[]): Match {
    const wanted = method === "HEAD" ? "GET" : method;
    const others: Compiled[] = [];
    for (const candidate of this.#bySize.get(segments.length) ?? []) {
      if (!fits(candidate.segments, segments)) continue;
      const { route, segments: pattern } = candidate;
      if (route.method === wanted) {
        return { route, params: () => paramsOf(pattern, segments) };
      }
      others.push(candidate);
    }
    return others.length === 0 ? null : { allow: allowed(others) };
  }
}

function fits(pattern: readonly string[], segments: readonly string[]) {
  return pattern.every((part, i) =>
    part[0] === ":"
      ? segments[i] !== "" || part.endsWith("?")
      : part === segments[i]
  );
}

function paramsOf(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> {
  const params: Record<string, string> = {};
  pattern.forEach((part, i) => {
    if (part[0] !== ":") return;
    const name = part.slice(1).replace(/\?$/, "");
    params[name] = decodeSegment(segments[i]);
    const idOf = PATH_PARAMETERS[name]?.idOf;
    if (idOf !== undefined && !validate(params[name])) throw notFound(idOf);
  });
  return params;
}

function allowed(candidates: readonly Compiled[]): string[] {
  const methods = candidates.map(({ route }) => route.method);
  return methods.flatMap((method) =>
    method === "GET" ? ["GET", "HEAD"] : [method]
  );
}
