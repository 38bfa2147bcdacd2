/** The current view: the part of the address after `#`. */
import { Store } from "./store.ts";

/** `#/products/0193…` is the view `products` with that id. */
export interface Route {
  view: string;
  id: string | null;
  /** What stands behind `?`. */
  query: URLSearchParams;
}

export const route = new Store<Route>(readRoute());

globalThis.addEventListener("hashchange", () => route.set(readRoute()));

/** The link to a view. Empty parameters are left out. */
export function linkTo(
  view: string,
  id?: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const filled = Object.entries(query).filter(([, value]) => value !== "");
  return `#/${view}${id === undefined ? "" : `/${encodeURIComponent(id)}`}` +
    (filled.length === 0 ? "" : `?${new URLSearchParams(filled)}`);
}

/** Opens a view as a link would. */
export function goTo(
  view: string,
  id?: string,
  query?: Readonly<Record<string, string>>,
): void {
  location.hash = linkTo(view, id, query);
}

function readRoute(): Route {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", id] = path.split("/");
  return {
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
