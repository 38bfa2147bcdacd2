/** Suggests a path for a misspelt one. */
import { closestString } from "@std/text/closest-string";
import { isNear } from "../../lib/nearest_name.ts";
import type { Route } from "./route.ts";

/**
 * Longer paths are not compared, because comparing costs time per character.
 */
const COMPARED = 150;

/**
 * The path of the table that the client probably meant. It differs only in
 * slashes, "_", "-" or case; or, if `thorough` (for clients with a key), it is
 * the closest one with the same number of segments, if each segment is near.
 * Null if there is none.
 */
export function nearestPath(
  segments: readonly string[],
  routes: readonly Pick<Route, "path">[],
  thorough: boolean,
): string | null {
  const sent = `/${segments.join("/")}`;
  if (sent.length > COMPARED) return null;
  const paths = [...new Set(routes.map(({ path }) => path))];
  const squeezed = withoutSeparators(sent);
  const alike = paths.filter((path) => leadsAlong(path, squeezed))
    .sort((a, b) =>
      literalsOf(b).join("").length -
      literalsOf(a).join("").length
    );
  if (alike.length > 0) return alike[0];
  if (!thorough) return null;
  const asLong = paths.filter((path) =>
    path.split("/").length === segments.length + 1
  );
  if (asLong.length === 0) return null;
  const filled = new Map(asLong.map((path) => [fill(path, segments), path]));
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

/** The literal parts of a path, between its parameters, normalised. */
function literalsOf(path: string): string[] {
  const literals = [""];
  for (const segment of path.split("/")) {
    if (segment.startsWith(":")) literals.push("");
    else literals[literals.length - 1] += withoutSeparators(segment);
  }
  return literals;
}

/** Whether `squeezed` contains the path's literals, with text between them. */
function leadsAlong(path: string, squeezed: string): boolean {
  const [first, ...others] = literalsOf(path);
  if (others.length === 0) return squeezed === first;
  if (first === "" || !squeezed.startsWith(first)) return false;
  let end = first.length;
  for (const literal of others) {
    if (end >= squeezed.length) return false;
    const at = squeezed.indexOf(literal, end + 1);
    if (at === -1) return false;
    end = at + literal.length;
  }
  return others.at(-1) === "" || end === squeezed.length;
}

/** A path with the sent values in place of its parameters. */
function fill(path: string, segments: readonly string[]): string {
  return path.split("/")
    .map((part, i) => part.startsWith(":") ? segments[i - 1] : part)
    .join("/");
}
