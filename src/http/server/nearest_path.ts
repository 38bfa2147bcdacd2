/** Suggests a path to a client that misspelt one. */
import { closestString } from "@std/text/closest-string";
import { isNear } from "../../lib/nearest_name.ts";
import type { Route } from "./route.ts";

/** Longer paths are not compared: the time of a comparison grows with them. */
const MAX_LENGTH = 150;

/**
 * The path of a route that the client probably meant: a path that differs only
 * in slashes, "_", "-" or case; or, if `thorough` (for clients with a key), the
 * closest path with the same number of segments, if each segment is near. Null:
 * no path is similar.
 */
export function nearestPath(
  segments: readonly string[],
  routes: readonly Pick<Route, "path">[],
  thorough: boolean,
): string | null {
  const sent = `/${segments.join("/")}`;
  if (sent.length > MAX_LENGTH) return null;
  const paths = [...new Set(routes.map(({ path }) => path))];
  const normalized = withoutSeparators(sent);
  const equal = paths.filter((path) => matchesLiterals(path, normalized))
    .sort((a, b) =>
      literalsOf(b).join("").length -
      literalsOf(a).join("").length
    );
  if (equal.length > 0) return equal[0];
  if (!thorough) return null;
  const sameDepth = paths.filter((path) =>
    path.split("/").length === segments.length + 1
  );
  if (sameDepth.length === 0) return null;
  const filled = new Map(sameDepth.map((path) => [fill(path, segments), path]));
  const closest = closestString(sent, [...filled.keys()]);
  const names = closest.split("/").slice(1);
  return names.every((name, i) =>
      name === segments[i] || isNear(segments[i], name)
    )
    ? filled.get(closest) ?? null
    : null;
}

function withoutSeparators(text: string): string {
  return text.toLowerCase().replace(/[/_-]/g, "");
}

/** The literal texts of a path between its parameters, normalized. */
function literalsOf(path: string): string[] {
  const literals = [""];
  for (const segment of path.split("/")) {
    if (segment.startsWith(":")) literals.push("");
    else literals[literals.length - 1] += withoutSeparators(segment);
  }
  return literals;
}

/** Whether a text consists of the path's literals, with text between them. */
function matchesLiterals(path: string, normalized: string): boolean {
  const [first, ...others] = literalsOf(path);
  if (others.length === 0) return normalized === first;
  if (first === "" || !normalized.startsWith(first)) return false;
  let end = first.length;
  for (const literal of others) {
    if (end >= normalized.length) return false;
    const at = normalized.indexOf(literal, end + 1);
    if (at === -1) return false;
    end = at + literal.length;
  }
  return others.at(-1) === "" || end === normalized.length;
}

/** A path with the sent values in place of its parameters. */
function fill(path: string, segments: readonly string[]): string {
  return path.split("/")
    .map((name, i) => name.startsWith(":") ? segments[i - 1] : name)
    .join("/");
}
