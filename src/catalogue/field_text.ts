/** Collects the text of a field; keeps a bounded part of it. */
import { isSpace, LONGEST_TEXT } from "../lib/values.ts";
import { TextBuilder } from "../xml/text_builder.ts";

const NOT_SPACE = /[^ \t\n\r]/;

/**
 * Collects a text that arrives in pieces. Keeps up to `LONGEST_TEXT` code units
 * of the leading white space, and as many of the text after it. Of the
 * remaining text, it keeps one character that is not white space, so that a
 * text that is too long is still too long after trimming.
 */
export class FieldText {
  readonly #text = new TextBuilder();
  #spaceRoom = LONGEST_TEXT;
  #room = LONGEST_TEXT;
  #isBlank = true;
  #isOver = false;

  append(piece: string): void {
    if (this.#isOver) return;
    const rest = this.#isBlank ? this.#leadingSpace(piece) : piece;
    if (this.#isBlank) return;
    this.#text.append(rest.slice(0, this.#room));
    if (rest.length > this.#room) this.#keepOne(rest.slice(this.#room));
    this.#room = Math.max(0, this.#room - rest.length);
  }

  /** Keeps leading white space while there is room; returns what follows it. */
  #leadingSpace(piece: string): string {
    let end = 0;
    while (end < piece.length && isSpace(piece.charCodeAt(end))) end++;
    this.#text.append(piece.slice(0, Math.min(end, this.#spaceRoom)));
    this.#spaceRoom = Math.max(0, this.#spaceRoom - end);
    if (end < piece.length) this.#isBlank = false;
    return piece.slice(end);
  }

  #keepOne(rest: string): void {
    const found = NOT_SPACE.exec(rest);
    if (found === null) return;
    this.#isOver = true;
    this.#text.append(found[0]);
  }

  /** Returns the text and clears it. */
  take(): string {
    const text = this.#text.take();
    this.clear();
    return text;
  }

  clear(): void {
    this.#text.clear();
    this.#spaceRoom = this.#room = LONGEST_TEXT;
    this.#isBlank = true;
    this.#isOver = false;
  }
}
