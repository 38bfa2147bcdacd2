/**
 * Limits of what a client accepts, so that a broken or hostile service cannot
 * occupy a program for ever or fill its memory.
 */
export interface Limits {
  /** Bytes of an answer, decompressed; 67,108,864 by default. */
  answerBytes: number;
  /** Characters of one server-sent event; 65,536 by default. */
  eventLength: number;
  /** Pages of one list; 100,000 by default. */
  pages: number;
  /**
   * Milliseconds for which `waitFor` and `follow` wait for the end of an upload
   * or import; 86,400,000 (a day) by default.
   */
  followFor: number;
}

export const LIMITS: Limits = {
  answerBytes: 64 * 1024 * 1024,
  eventLength: 64 * 1024,
  pages: 100_000,
  followFor: 24 * 3_600_000,
};

/** An answer, a list, an upload or an import exceeded one of the limits. */
export class LimitError extends Error {
  override readonly name = "LimitError";
}

/** Reads the whole body; throws if it has more bytes than the limit. */
export async function bodyOf(
  { body, headers }: Response,
  { answerBytes }: Limits,
): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = body?.getReader();
  for (let left = answerBytes;;) {
    const { done, value } = await reader?.read() ?? { done: true };
    if (done) break;
    chunks.push(value!);
    left -= value!.length;
    if (left >= 0) continue;
    reader!.cancel().catch(() => {});
    throw new LimitError(`The answer has more than ${answerBytes} bytes.`);
  }
  return new Blob(chunks, { type: headers.get("Content-Type") ?? "" });
}

/** Counts the pages of a list; throws if the list does not end. */
export class PageCount {
  readonly #limit: number;
  #pages = 0;
  /** The cursor of an earlier page; if a later page has it, pages repeat. */
  #earlierCursor: string | undefined;
  /** The page whose cursor replaces `#earlierCursor`. */
  #replaceAt = 1;

  constructor({ pages }: Limits) {
    this.#limit = pages;
  }

  /** Counts a page; `next` is the cursor of the following page. */
  add(next: string): void {
    this.#pages++;
    if (next === this.#earlierCursor) {
      throw new LimitError(
        `The list does not end: two pages have the cursor ${next}.`,
      );
    }
    if (this.#pages >= this.#limit) {
      throw new LimitError(`The list has more than ${this.#limit} pages.`);
    }
    // A cycle of n pages is found once a cursor is kept for n pages, so each
    // cursor is kept twice as long as the one before.
    if (this.#pages < this.#replaceAt) return;
    this.#earlierCursor = next;
    this.#replaceAt *= 2;
  }
}
