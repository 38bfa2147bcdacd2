/** The problems of a document: a document can have millions. */
import { type Detail, DETAIL_LIMIT } from "../lib/errors.ts";

/** Counts of the problems of one product, or of those outside of any. */
export interface Tally {
  /** Those in the list. */
  listed: number;
  /** The others. */
  unlisted: number;
}

/** Suggestions that are computed in one piece: each takes up to 50 µs. */
const SUGGESTED_AT_ONCE = 64;
/** Problems listed of each product, even beyond the limit of the document. */
const LISTED_OF_EACH = 4;

/** A bounded list of problems; further ones are only counted. */
export class DocumentProblems {
  readonly list: Detail[] = [];
  /** Counts of the problems outside of any product. */
  readonly outside: Tally = { listed: 0, unlisted: 0 };
  /** The ends of messages; computed after the document was read. */
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

  /** Whether there is no room for one more; counts it if there is none. */
  isFull(tally: Tally): boolean {
    const hasRoom = this.list.length < DETAIL_LIMIT ||
      tally.listed < LISTED_OF_EACH;
    if (!hasRoom) tally.unlisted++;
    return !hasRoom;
  }

  /** `suggest` returns the end of its message. */
  add(tally: Tally, detail: Detail, suggest?: () => string): void {
    tally.listed++;
    this.list.push(detail);
    if (suggest !== undefined) this.#suggestions.push([detail, suggest]);
  }
}
