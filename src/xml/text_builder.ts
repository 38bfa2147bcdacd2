/** Pieces that are joined in one go. */
const JOINED = 1_024;

/**
 * A text that comes in pieces, perhaps millions of them. V8 would keep an
 * object of its own for each (32 bytes, and as many for a short piece) until
 * somebody looks at the text; here at most `JOINED` wait to be joined.
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

  /** The whole text; the builder is empty afterwards. */
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
