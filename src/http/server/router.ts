/**
 * Finds the route of a request. The path is split as it was sent and then
 * percent-decoded segment by segment, so that a segment may contain `/`, `.` or
 * anything else that a URL parser would change.
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
  /** `params` decodes the path; throws 400, or 404 for a text that is no id. */
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
  const target = pathStart === -1 ? "/" : url.slice(pathStart);
  // A target has no fragment. If it were dropped, "A#1" would be product A.
  if (target.includes("#")) {
    throw new ServiceError(
      "malformed_request",
      'The request target has a "#", which must be written as "%23".',
    );
  }
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  return {
    segments: path.slice(1).split("/"),
    query: mark === -1 ? "" : target.slice(mark + 1),
  };
}

/** Percent-decodes a segment; throws 400 if it is not valid. */
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
  patterns: PathPattern[];
  /** By method. */
  routes: Map<string, Route>;
}

export class Router {
  /** The paths, by their number of segments. */
  readonly #byDepth: Map<number, Path[]>;

  constructor(routes: readonly Route[]) {
    const paths = [...Map.groupBy(routes, ({ path }) => path)].map(toPath);
    paths.sort((a, b) => parameterCount(a) - parameterCount(b));
    this.#byDepth = Map.groupBy(paths, ({ patterns }) => patterns.length);
  }

  /**
   * A literal path takes precedence over a path with a parameter, for every
   * method, as in OpenAPI. HEAD uses the route of GET.
   */
  match(method: string, segments: readonly string[]): Match {
    const path = this.#byDepth.get(segments.length)
      ?.find(({ patterns }) => matchesPath(patterns, segments));
    if (path === undefined) return null;
    const { patterns, routes } = path;
    const route = routes.get(method === "HEAD" ? "GET" : method);
    return route === undefined
      ? { allow: allowedMethods(routes) }
      : { route, params: () => paramsOf(patterns, segments) };
  }
}

function toPath([path, routes]: [string, Route[]]): Path {
  return {
    patterns: path.slice(1).split("/").map(patternOf),
    routes: new Map(routes.map((route) => [route.method, route])),
  };
}

function parameterCount({ patterns }: Path): number {
  return patterns.filter((pattern) => typeof pattern !== "string").length;
}

function patternOf(segment: string): PathPattern {
  if (segment[0] !== ":") return segment;
  const name = segment.slice(1);
  const { idOf, mayBeEmpty = false } = PATH_PARAMETERS[name];
  return { name, mayBeEmpty, idOf };
}

function matchesPath(
  patterns: readonly PathPattern[],
  segments: readonly string[],
): boolean {
  return patterns.every((pattern, i) =>
    typeof pattern === "string"
      ? pattern === segments[i]
      : segments[i] !== "" || pattern.mayBeEmpty
  );
}

function paramsOf(
  patterns: readonly PathPattern[],
  segments: readonly string[],
): Record<string, string> {
  const params: Record<string, string> = {};
  patterns.forEach((pattern, i) => {
    if (typeof pattern === "string") return;
    const { name, idOf } = pattern;
    const text = decodeSegment(segments[i]);
    const value = idOf === undefined ? text : readId(text);
    if (value === null) throw notFound(idOf!);
    params[name] = value;
  });
  return params;
}

function allowedMethods(routes: ReadonlyMap<string, Route>): string[] {
  return [...routes.keys()].flatMap((method) =>
    method === "GET" ? ["GET", "HEAD"] : [method]
  );
}
