/** Collects the problems of a document, of which there can be millions. */
import { type Detail, DETAIL_LIMIT } from "../lib/errors.ts";

/**
 * Counts of the problems of one product, or of the problems outside of
 * products.
 */
export interface Tally {
  /** Problems in the list. */
  listed: number;
  /** Further problems. */
  unlisted: number;
}

/** Suggestions that are computed without a pause; each takes up to 50 µs. */
const SUGGESTED_AT_ONCE = 64;
/**
 * The number of problems of each product that are listed even beyond the
 * document's limit.
 */
const LISTED_OF_EACH = 4;

/** A bounded list of problems; further ones are only counted. */
export class DocumentProblems {
  readonly list: Detail[] = [];
  /** Counts of the problems outside of any product. */
  readonly outside: Tally = { listed: 0, unlisted: 0 };
  /**
   * Suggestions to append to messages; computed after the document was read.
   */
  readonly #suggestions: [problem: Detail, suggest: () => string][] = [];

  get lacksSuggestions(): boolean {
    return this.#suggestions.length > 0;
  }

  /**
   * Computes some of the suggestions; called after the whole document was read.
   */
  suggestSome(): void {
    const some = this.#suggestions.splice(0, SUGGESTED_AT_ONCE);
    for (const [problem, suggest] of some) problem.message += suggest();
  }

  /** Counts a problem and returns true if the list has no room for it. */
  isFull(tally: Tally): boolean {
    const hasRoom = this.list.length < DETAIL_LIMIT ||
      tally.listed < LISTED_OF_EACH;
    if (!hasRoom) tally.unlisted++;
    return !hasRoom;
  }

  /** `suggest` returns a suggestion to append to the message. */
  add(tally: Tally, detail: Detail, suggest?: () => string): void {
    tally.listed++;
    this.list.push(detail);
    if (suggest !== undefined) this.#suggestions.push([detail, suggest]);
  }
}
