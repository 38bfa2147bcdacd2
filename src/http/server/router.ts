/**
 * Finds the route of a request. The path is split as it was sent and then
 * percent-decoded segment by segment, so that a segment may hold `/`, `.` or
 * anything else that a URL parser would normalise away.
 */
import { notFound, ServiceError } from "../../lib/errors.ts";
import { readId } from "../../lib/ids.ts";
import { PATH_PARAMETERS } from "../../contracts/endpoint.ts";
import type { Route } from "./route.ts";
import { quote } from "../../lib/values.ts";

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
  const sent = pathStart === -1 ? "/" : url.slice(pathStart);
  // A fragment is not part of a target. If it were dropped, "A#1" would be
  // product A.
  if (sent.includes("#")) {
    throw new ServiceError(
      "malformed_request",
      'The request target has a "#", which must be written as "%23".',
    );
  }
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
      `The path has ${quote(segment)}, which is not percent-encoded UTF-8; ` +
        'the character "%" is written as "%25".',
    );
  }
}

/** A literal segment, or a parameter. */
type PathPattern = string | Parameter;

interface Parameter {
  name: string;
  mayBeEmpty: boolean;
  idOf?: string;
}

interface Path {
  parts: PathPattern[];
  /** By method. */
  routes: Map<string, Route>;
}

export class Router {
  readonly #bySize: Map<number, Path[]>;

  constructor(routes: readonly Route[]) {
    const paths = [...Map.groupBy(routes, ({ path }) => path)].map(compiled);
    paths.sort((a, b) => parametersOf(a) - parametersOf(b));
    this.#bySize = Map.groupBy(paths, ({ parts }) => parts.length);
  }

  /**
   * A literal path hides one with a parameter for every method, as in OpenAPI.
   * HEAD uses the route of GET.
   */
  match(method: string, segments: readonly string[]): Match {
    const path = this.#bySize.get(segments.length)
      ?.find(({ parts }) => matchesPath(parts, segments));
    if (path === undefined) return null;
    const { parts, routes } = path;
    const route = routes.get(method === "HEAD" ? "GET" : method);
    return route === undefined
      ? { allow: allowed(routes) }
      : { route, params: () => paramsOf(parts, segments) };
  }
}

function compiled([path, routes]: [string, Route[]]): Path {
  return {
    parts: path.slice(1).split("/").map(patternOf),
    routes: new Map(routes.map((route) => [route.method, route])),
  };
}

function parametersOf({ parts }: Path): number {
  return parts.filter((part) => typeof part !== "string").length;
}

function patternOf(segment: string): PathPattern {
  if (segment[0] !== ":") return segment;
  const name = segment.slice(1);
  const { idOf, mayBeEmpty = false } = PATH_PARAMETERS[name];
  return { name, mayBeEmpty, idOf };
}

function matchesPath(
  parts: readonly PathPattern[],
  segments: readonly string[],
): boolean {
  return parts.every((part, i) =>
    typeof part === "string"
      ? part === segments[i]
      : segments[i] !== "" || part.mayBeEmpty
  );
}

function paramsOf(
  parts: readonly PathPattern[],
  segments: readonly string[],
): Record<string, string> {
  const params: Record<string, string> = {};
  parts.forEach((part, i) => {
    if (typeof part === "string") return;
    const { name, idOf } = part;
    const value = decodeSegment(segments[i]);
    const read = idOf === undefined ? value : readId(value);
    if (read === null) throw notFound(idOf!);
    params[name] = read;
  });
  return params;
}

function allowed(routes: ReadonlyMap<string, Route>): string[] {
  return [...routes.keys()].flatMap((method) =>
    method === "GET" ? ["GET", "HEAD"] : [method]
  );
}
