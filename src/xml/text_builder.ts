/** How many pieces are joined at a time. */
const JOINED = 1_024;

/**
 * A text that arrives in pieces, possibly millions of them. With plain
 * concatenation, V8 would keep an object of 32 bytes for each concatenation,
 * and another one for a short piece, until the text is read. Here at most
 * `JOINED` pieces wait to be joined.
 */
export class TextBuilder {
  /** The joined pieces; most texts arrive in one piece. */
  #text = "";
  #pieces: string[] = [];

  append(piece: string): void {
    if (this.#text === "") this.#text = piece;
    else if (this.#pieces.push(piece) === JOINED) this.#join();
  }

  /** Returns the whole text and empties the builder. */
  take(): string {
    if (this.#pieces.length > 0) this.#join();
    const text = this.#text;
    this.#text = "";
    return text;
  }

  clear(): void {
    this.#text = "";
    if (this.#pieces.length > 0) this.#pieces = [];
  }

  #join(): void {
    this.#text += this.#pieces.join("");
    this.#pieces = [];
  }
}
