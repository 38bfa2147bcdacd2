/** Pieces that are joined at once. */
const JOINED = 1_024;

/**
 * A text that arrives in pieces, possibly millions of them. V8 would keep an
 * object for each (32 bytes, and as many for a short piece) until the text is
 * read; here at most `JOINED` pieces wait to be joined.
 */
export class TextBuilder {
  /** Most texts come in one piece. */
  #first = "";
  #pieces: string[] = [];
  #joined: string[] = [];

  append(piece: string): void {
    if (this.#first === "") this.#first = piece;
    else if (this.#pieces.push(piece) === JOINED) this.#join();
  }

  /** Returns the whole text and empties the builder. */
  take(): string {
    if (this.#pieces.length > 0) this.#join();
    const text = this.#joined.length === 0
      ? this.#first
      : this.#joined.join("");
    this.clear();
    return text;
  }

  clear(): void {
    this.#first = "";
    if (this.#pieces.length > 0) this.#pieces = [];
    if (this.#joined.length > 0) this.#joined = [];
  }

  #join(): void {
    if (this.#joined.length === 0) this.#joined.push(this.#first);
    this.#joined.push(this.#pieces.join(""));
    this.#pieces = [];
  }
}
