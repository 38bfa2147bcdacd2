/** The current view: the part of the address after `#`. */
import { session } from "./session.ts";
import { Store } from "../lib/store.ts";

/**
 * `#/products/0193…` is the view `products` with that id. For an operator,
 * `#/of/acme/products/0193…` is the same view of the seller acme.
 */
export interface Route {
  view: string;
  id: string | null;
  /** The seller after `of`. */
  of: string | null;
  /** The parameters after `?`. */
  query: URLSearchParams;
}

export const route = new Store<Route>(readRoute());

globalThis.addEventListener("hashchange", () => route.set(readRoute()));

/** The seller whose views an operator reads; null if there is none. */
export function viewedSeller(): string | null {
  return session.value.role === "operator" ? route.value.of : null;
}

/** The link to a view of the same seller. Empty parameters are left out. */
export function linkTo(
  view: string,
  id?: string,
  query: Readonly<Record<string, string>> = {},
  of = viewedSeller(),
): string {
  const filled = Object.entries(query).filter(([, value]) => value !== "");
  const whose = of === null ? "" : `of/${encodeURIComponent(of)}/`;
  return `#/${whose}${view}${
    id === undefined ? "" : `/${encodeURIComponent(id)}`
  }` +
    (filled.length === 0 ? "" : `?${new URLSearchParams(filled)}`);
}

/** Opens a view, as a click on its link does. */
export function goTo(
  view: string,
  id?: string,
  query?: Readonly<Record<string, string>>,
): void {
  location.hash = linkTo(view, id, query);
}

function readRoute(): Route {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const segments = path.split("/");
  const [, of = null] = segments[0] === "of" ? segments.splice(0, 2) : [];
  const [view = "", id] = segments;
  return {
    of: of === null ? null : decoded(of),
    view,
    id: id ? decoded(id) : null,
    query: new URLSearchParams(query),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
