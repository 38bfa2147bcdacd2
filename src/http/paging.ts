/** The common query parameters of lists: cursor and limit. */
import { type Detail, recordInvalid } from "../lib/errors.ts";
import { readId } from "../lib/ids.ts";
import { parseTime, quote } from "../lib/values.ts";

/** Entries of a page, by default and at most. */
export const PAGE_LIMIT = { default: 50, maximum: 250 };

/** Reads query parameters and collects their errors. */
export class QueryReader {
  readonly #query: URLSearchParams;
  readonly #details: Detail[] = [];

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  /**
   * A parameter's value; null if it is missing, or if `read` returns null,
   * which is recorded as an error.
   */
  read<T>(
    name: string,
    read: (text: string) => T | null,
    code: Detail["code"],
    expected: string,
  ): T | null {
    const text = this.#query.get(name);
    if (text === null) return null;
    const value = read(text);
    if (value === null) {
      this.complain(name, code, `is ${quote(text)}; it must be ${expected}.`);
    }
    return value;
  }

  /** One of the words. */
  word<W extends string>(name: string, words: readonly W[]): W | null {
    return this.read(
      name,
      (text) => words.find((word) => word === text) ?? null,
      "not_in_list",
      `one of ${words.join(", ")}`,
    );
  }

  /** A time in Unix milliseconds; an unescaped "+" arrives as a space. */
  time(name: string): number | null {
    return this.read(
      name,
      (text) => parseTime(text.replace(" ", "+")),
      "not_a_date",
      'a time in ISO 8601 with its zone, as in "2026-12-01T08:00:00Z"',
    );
  }

  /** Records an error if a parameter is missing. */
  require(name: string): void {
    if (!this.#query.has(name)) {
      this.complain(name, "required", "is missing.");
    }
  }

  /** `message` starts without the parameter's name. */
  complain(name: string, code: Detail["code"], message: string): void {
    this.#details.push({ field: name, code, message: `${name} ${message}` });
  }

  /** The most entries of a page. */
  limit(): number {
    return this.read(
      "limit",
      (text) => {
        const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
        return limit >= 1 && limit <= PAGE_LIMIT.maximum ? limit : null;
      },
      "out_of_range",
      `a whole number from 1 to ${PAGE_LIMIT.maximum}`,
    ) ?? PAGE_LIMIT.default;
  }

  /** The cursor of a list whose cursors are ids. */
  idCursor(): string | null {
    return this.cursor(readId);
  }

  /**
   * The cursor (null: from the start) and the most entries of a page of a list
   * whose cursors are ids; throws 422 if there was any error.
   */
  idPlace(): { after: string | null; limit: number } {
    const place = { after: this.idCursor(), limit: this.limit() };
    this.finish();
    return place;
  }

  cursor<T>(read: (text: string) => T | null): T | null {
    return this.read(
      "after",
      read,
      "not_allowed",
      "what the <next> of this list held",
    );
  }

  /** Throws 422 if there was any error. */
  finish(): void {
    if (this.#details.length > 0) throw recordInvalid(this.#details);
  }
}

/**
 * A page of the rows found, of which up to `limit + 1` were read, and the
 * cursor of the next page.
 */
export function pageOf<R extends { id: string }>(
  found: readonly R[],
  limit: number,
): { page: R[]; next: string | undefined } {
  const page = found.slice(0, limit);
  return { page, next: found.length > limit ? page[limit - 1].id : undefined };
}
