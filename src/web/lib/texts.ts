/**
 * Texts of the first view. The page draws this view before it loads the tables
 * of fields and codes, so this module does not import the tables.
 */

/** Names of states for people who do not program. */
const STATES: Readonly<Record<string, string>> = {
  completed: "complete",
  completed_with_errors: "complete, images missing",
  exhausted: "given up",
  held: "on hold",
  images: "downloading images",
  in_flight: "in progress",
  pending: "waiting",
  processing: "downloading images",
  retrying: "trying again",
};

/** The name of a state, for people. */
export function stateLabel(state: string): string {
  return STATES[state] ?? state.replaceAll("_", " ");
}

/** The message if the browser cannot load code of the page. */
export const STALE_PAGE =
  "Part of this page could not be loaded. Reload the page: there may be a newer version.";

/** Turns `in_stock` into `In stock`. */
export function readableName(word: string): string {
  return capitalised(word.replaceAll("_", " "));
}

export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
