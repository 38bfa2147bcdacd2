/**
 * The base of the readers of XML and JSON: reads a document through a window.
 */
import type { ServiceError } from "../lib/errors.ts";
import { codePoints } from "../lib/values.ts";
import type { TagPosition, XmlHandlers, XmlLimits } from "./handlers.ts";
import type { TextPosition } from "./position.ts";
import type { XmlSource } from "./source.ts";

/** Thrown if a token continues after the window; `readWindow` catches it. */
export const INCOMPLETE = new Error("the token is not complete");

/** Reads tokens at ascending indices of a window that moves forward. */
export abstract class WindowReader implements TagPosition {
  protected readonly source: XmlSource;
  protected readonly handlers: XmlHandlers;
  protected readonly limits: XmlLimits;
  protected window = "";
  /** Characters before the window. */
  protected before = 0;
  protected isLast = false;
  /** Whether nothing but white space was read so far. */
  protected isBlank = true;
  /** The index of the last tag in the window. */
  protected markup = 0;
  protected markupEnd = 0;
  /**
   * The current line. It ends at index `#nextLineEnd` of the window; -1: after
   * the window.
   */
  #line = 1;
  #nextLineEnd = -1;
  /** Code points of the window's first line that precede the window. */
  #column = 0;

  constructor(source: XmlSource, handlers: XmlHandlers, limits: XmlLimits) {
    this.source = source;
    this.handlers = handlers;
    this.limits = limits;
  }

  /** Reads the document; the caller may pause between two windows. */
  abstract read(): Generator<void, void>;

  /** Reads the token at an index of the window and returns its end. */
  protected abstract token(at: number): number;

  /** The error for a document that cannot be read from this index on. */
  protected abstract errorAt(
    message: string,
    place: TextPosition,
    code?: "limit",
  ): ServiceError;

  /** The beginning of the message about a token longer than allowed. */
  protected abstract readonly tooLong: string;
  protected abstract readonly emptyBody: string;
  /** What is missing where the document ends. */
  protected abstract unfinished(): string;

  get tagStart(): number {
    return this.before + this.markup;
  }

  get tagEnd(): number {
    return this.before + this.markupEnd;
  }

  /** Index in the document at which the window starts. */
  get position(): number {
    return this.before;
  }

  /**
   * Moves the window forward; the characters before `from` are dropped. Returns
   * false at the end of the document.
   */
  protected refill(from: number): boolean {
    if (this.isLast) return false;
    const rest = this.window.slice(from);
    if (rest.length > this.limits.tag) {
      throw this.overLimit(this.tooLong, "tag", from);
    }
    this.lineOf(from);
    this.#column = this.#columnAt(from);
    this.before += from;
    let next = this.source.next();
    // Doubles the window each time, so that a long token is not scanned too
    // often.
    while (next !== null && next.length < rest.length) {
      const more = this.source.next();
      if (more === null) break;
      next += more;
    }
    this.isLast = next === null;
    this.window = rest + (next ?? "");
    this.#nextLineEnd = this.window.indexOf("\n");
    return true;
  }

  /**
   * Reads as much of the window as possible; returns where the next one starts.
   */
  protected readWindow(from: number): number {
    let at = from;
    try {
      while (at < this.window.length) at = this.token(at);
    } catch (error) {
      if (error !== INCOMPLETE) throw error;
      if (this.isLast) throw this.endsEarly();
    }
    return at;
  }

  protected startsWith(what: string, at: number): boolean {
    if (this.window.startsWith(what, at)) return true;
    if (what.startsWith(this.window.slice(at, at + what.length))) {
      throw INCOMPLETE;
    }
    return false;
  }

  /** The line of an index; the caller must pass indices in ascending order. */
  protected lineOf(at: number): number {
    while (this.#nextLineEnd !== -1 && this.#nextLineEnd < at) {
      this.#line++;
      this.#nextLineEnd = this.window.indexOf("\n", this.#nextLineEnd + 1);
    }
    return this.#line;
  }

  /** Code points of the line before an index. */
  #columnAt(at: number): number {
    const window = this.window;
    const lineStart = at === 0 ? 0 : window.lastIndexOf("\n", at - 1) + 1;
    const points = codePoints(window.slice(lineStart, at));
    return lineStart === 0 ? this.#column + points : points;
  }

  /** The error for a document that ends, or becomes unreadable, too early. */
  protected endsEarly(): ServiceError {
    const end = this.window.length;
    const { fault } = this.source;
    if (fault !== null) return this.malformed(fault, end);
    return this.isBlank
      ? this.errorAt(this.emptyBody, { line: 1, column: 1 })
      : this.malformed(this.unfinished(), end);
  }

  protected overLimit(
    message: string,
    limit: keyof XmlLimits,
    at: number,
  ): ServiceError {
    return this.malformed(
      `${message} the ${this.limits[limit]} allowed (${limit}).`,
      at,
      "limit",
    );
  }

  protected malformed(message: string, at: number, code?: "limit") {
    const column = this.#columnAt(at) + 1;
    return this.errorAt(message, { line: this.lineOf(at), column }, code);
  }
}

/** A name, shortened for a message. */
export function shown(name: string): string {
  return name.slice(0, 100);
}
