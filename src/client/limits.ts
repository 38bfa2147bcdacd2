/**
 * Limits of what a client accepts, so that a broken or hostile service cannot
 * occupy a program for ever or fill its memory.
 */
export interface Limits {
  /** Bytes of an answer, decompressed; 67,108,864 by default. */
  answerBytes: number;
  /** Characters of one event of a stream; 65,536 by default. */
  eventLength: number;
  /** Pages of one list; 100,000 by default. */
  pages: number;
  /**
   * Milliseconds for which `waitFor` and `follow` wait for the end of an
   * upload; 86,400,000 (a day) by default.
   */
  followFor: number;
}

export const LIMITS: Limits = {
  answerBytes: 64 * 1024 * 1024,
  eventLength: 64 * 1024,
  pages: 100_000,
  followFor: 24 * 3_600_000,
};

/** An answer, a list or an upload exceeded one of the limits. */
export class LimitError extends Error {
  override readonly name = "LimitError";
}

/** The whole body; throws if it has more bytes than the limit. */
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

/** Throws if the pages of a list do not end. */
export class PageCount {
  readonly #limit: number;
  #pages = 0;
  /** The cursor of an earlier page; a page that has it again closes a cycle. */
  #earlierCursor: string | undefined;
  /** The number of pages after which `#earlierCursor` is replaced. */
  #replaceAt = 1;

  constructor({ pages }: Limits) {
    this.#limit = pages;
  }

  /** Counts a page; `next` is the cursor of the following one. */
  add(next: string): void {
    this.#pages++;
    if (next === this.#earlierCursor) {
      throw new LimitError(`The list has no end: it comes to ${next} again.`);
    }
    if (this.#pages >= this.#limit) {
      throw new LimitError(`The list has more than ${this.#limit} pages.`);
    }
    // A cycle of any length is found once a cursor is kept for that many pages.
    if (this.#pages < this.#replaceAt) return;
    this.#earlierCursor = next;
    this.#replaceAt *= 2;
  }
}
