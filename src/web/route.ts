/** The current view: the part of the address after `#`. */
import { Store } from "./store.ts";

/** `#/products/0193…` is the view `products` with that id. */
export interface Route {
  view: string;
  id: string | null;
}

export const route = new Store<Route>(readRoute());

globalThis.addEventListener("hashchange", () => route.set(readRoute()));

/** The link to a view. */
export function linkTo(view: string, id?: string): string {
  return id === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
}

/** Opens a view as a link would. */
export function goTo(view: string, id?: string): void {
  location.hash = linkTo(view, id);
}

function readRoute(): Route {
  const [view = "", id] = location.hash.replace(/^#\/?/, "").split("/");
  return { view, id: id ? decoded(id) : null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
