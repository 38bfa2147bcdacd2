/**
 * Reads the tokens of untrusted JSON (RFC 8259): the grammar, strings, numbers
 * and words. A derived class gives them their meaning.
 */
import { ServiceError } from "../lib/errors.ts";
import { FORBIDDEN_IN_XML } from "../lib/markup.ts";
import type { Kind } from "../xml/handlers.ts";
import type { TextPosition } from "../xml/position.ts";
import { INCOMPLETE, shown, WindowReader } from "../xml/window_reader.ts";

const TAB = 9;
const LINE_FEED = 10;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const DIGIT_0 = 48;
const DIGIT_9 = 57;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Characters that a string may contain without an escape. */
const PLAIN = /[ !#-[\]-\uffff]*/y;
/** The rest of a string, with its closing quote. */
const REST_OF_STRING = /[^"\\]*(?:\\[^][^"\\]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const IN_NUMBER = /[-+.0-9eE]/;
/** The longest escape, of a character with two UTF-16 units. */
const LONGEST_ESCAPE = "\\ud83d\\ude00".length;
/** An escape, or both escapes of a character beyond the first plane. */
const WHOLE_ESCAPE =
  /\\(?:["\\/bfnrt]|u(?![dD][89abAB])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** What may come next. */
enum Next {
  Value,
  ValueOrEnd,
  Name,
  NameOrEnd,
  Colon,
  CommaOrEnd,
  Nothing,
}

/** Reads a document token by token, and reports what it finds. */
export abstract class JsonTokens extends WindowReader {
  protected override readonly tooLong =
    "A name or number has more characters than";
  protected override readonly emptyBody =
    "The body is empty; a JSON document is expected.";
  protected override readonly errorAt = malformedJson;
  #next = Next.Value;
  /** Whether the window begins inside a string. */
  #inText = false;
  /** The last string, if it needs no decoding; null otherwise. */
  #plainString: string | null = null;

  /** The innermost open object or array. */
  protected abstract readonly frame: { readonly isArray: boolean } | null;
  /** An object or array begins, or ends, with the character at an index. */
  protected abstract begin(at: number, isArray: boolean): void;
  protected abstract end(at: number): void;
  /** The name of the next value; throws if the object already has it. */
  protected abstract name(name: string, at: number): void;
  /** A string, a boolean or null. */
  protected abstract scalar(kind: Kind, at: number, text: string | null): void;
  protected abstract number(at: number, text: string, value: number): void;
  /** A string that is reported in chunks. */
  protected abstract beginText(at: number): void;
  protected abstract textChunk(chunk: string): void;
  protected abstract endText(): void;

  override *read(): Generator<void, void> {
    let from = 0;
    while (this.refill(from)) {
      from = this.readWindow(0);
      yield;
    }
    if (this.source.fault === null && this.#next === Next.Nothing) return;
    throw this.endsEarly();
  }

  protected override token(start: number): number {
    if (this.#inText) return this.#readChunk(start);
    let at = start;
    let code = this.window.charCodeAt(at);
    while (code === SPACE || code === LINE_FEED || code === TAB) {
      code = this.window.charCodeAt(++at);
    }
    if (at > start) return at;
    this.isBlank = false;
    switch (this.#next) {
      case Next.ValueOrEnd:
        if (code === CLOSE_BRACKET) return this.#end(at);
        return this.#value(at, code);
      case Next.Value:
        return this.#value(at, code);
      case Next.NameOrEnd:
        if (code === CLOSE_BRACE) return this.#end(at);
        return this.#memberName(at, code);
      case Next.Name:
        return this.#memberName(at, code);
      case Next.Colon:
        if (code !== COLON) throw this.#unexpected(at, 'a ":"');
        this.#next = Next.Value;
        return at + 1;
      case Next.CommaOrEnd:
        return this.#commaOrEnd(at, code);
      case Next.Nothing:
        throw this.malformed(
          "There is text after the end of the document; remove it.",
          at,
        );
    }
  }

  #commaOrEnd(at: number, code: number): number {
    const { isArray } = this.frame!;
    if (code === COMMA) {
      this.#next = isArray ? Next.Value : Next.Name;
      return at + 1;
    }
    if (code === (isArray ? CLOSE_BRACKET : CLOSE_BRACE)) return this.#end(at);
    throw this.#unexpected(at, `a "," or a "${isArray ? "]" : "}"}"`);
  }

  #memberName(at: number, code: number): number {
    if (code !== QUOTE) {
      throw this.#unexpected(at, "a name in double quotes");
    }
    const end = this.#stringEnd(at + 1);
    if (end === -1) throw INCOMPLETE;
    this.name(this.#unescaped(at + 1, end), at);
    // Usually the colon follows at once.
    if (this.window.charCodeAt(end + 1) === COLON) {
      this.#next = Next.Value;
      return end + 2;
    }
    this.#next = Next.Colon;
    return end + 1;
  }

  #value(at: number, code: number): number {
    switch (code) {
      case QUOTE:
        return this.#string(at);
      case OPEN_BRACE:
        return this.#begin(at, false);
      case OPEN_BRACKET:
        return this.#begin(at, true);
    }
    if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) {
      return this.#number(at);
    }
    for (const word of ["true", "false", "null"]) {
      if (!this.startsWith(word, at)) continue;
      const isNull = word === "null";
      this.scalar(isNull ? "null" : "a boolean", at, isNull ? null : word);
      return this.#afterValue(at + word.length);
    }
    throw this.#unexpected(at, "a value");
  }

  #begin(at: number, isArray: boolean): number {
    this.begin(at, isArray);
    this.#next = isArray ? Next.ValueOrEnd : Next.NameOrEnd;
    return at + 1;
  }

  #end(at: number): number {
    this.end(at);
    return this.#afterValue(at + 1);
  }

  #number(at: number): number {
    const window = this.window;
    NUMBER.lastIndex = at;
    if (!NUMBER.test(window)) {
      if (window.length - at < 2 && !this.isLast) throw INCOMPLETE;
      throw this.#unexpected(at + 1, "a digit");
    }
    const end = NUMBER.lastIndex;
    if (end === window.length && !this.isLast) throw INCOMPLETE;
    if (end < window.length && IN_NUMBER.test(window[end])) {
      const isCut = end + 2 >= window.length && !this.isLast;
      if (isCut) throw INCOMPLETE;
      throw this.malformed("The number is not valid JSON.", at);
    }
    const text = window.slice(at, end);
    const value = Number(text);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) {
      throw this.malformed(
        `The number ${shown(text)} is beyond 2^53; write it as a string.`,
        at,
      );
    }
    this.number(at, text, value);
    return this.#afterValue(end);
  }

  #string(at: number): number {
    const end = this.#stringEnd(at + 1);
    if (end === -1) {
      // `beginText` must not be called for an empty string, so the next
      // character is needed.
      if (at + 1 === this.window.length && !this.isLast) throw INCOMPLETE;
      this.beginText(at);
      this.#inText = true;
      return at + 1;
    }
    const kind = end === at + 1 ? "an empty string" : "a string";
    this.scalar(kind, at, this.#unescaped(at + 1, end));
    return this.#afterValue(end + 1);
  }

  /** The index of the closing quote; -1 if the window has none. */
  #stringEnd(start: number): number {
    const window = this.window;
    const quote = window.indexOf('"', start);
    if (quote === -1) return -1;
    const raw = window.slice(start, quote);
    const isEscaped = raw.includes("\\");
    // The source has refused all other control characters.
    const isPlain = !isEscaped && !raw.includes("\n") && !raw.includes("\t");
    this.#plainString = isPlain ? raw : null;
    if (!isEscaped) return quote;
    REST_OF_STRING.lastIndex = start;
    return REST_OF_STRING.test(window) ? REST_OF_STRING.lastIndex - 1 : -1;
  }

  /** The text of a string from `start` to `end`, which was just found as its end. */
  #unescaped(start: number, end: number): string {
    if (this.#plainString !== null) return this.#plainString;
    const raw = this.window.slice(start, end);
    const text = parsedString(raw);
    if (text !== null) return text;
    // Throws at the place of the first invalid character or escape.
    for (let at = start; at < end;) at = this.#readRun(at, () => {});
    throw this.malformed("The string is not valid JSON.", start);
  }

  /** Reports the rest of the string, as far as the window has it. */
  #readChunk(at: number): number {
    if (this.window.charCodeAt(at) === QUOTE) {
      this.#inText = false;
      this.endText();
      return this.#afterValue(at + 1);
    }
    const end = endOfWholeCharacters(this.window, at);
    const text = parsedString(this.window.slice(at, end));
    if (end === at) return this.#readRun(at, (text) => this.textChunk(text));
    if (text !== null) this.textChunk(text);
    // Throws at the place of an invalid escape.
    else for (let next = at; next < end;) next = this.#readRun(next, () => {});
    return end;
  }

  /**
   * Reports a run of characters without escapes, or one escape; returns its end.
   */
  #readRun(at: number, report: (text: string) => void): number {
    const window = this.window;
    PLAIN.lastIndex = at;
    PLAIN.test(window);
    const runEnd = PLAIN.lastIndex;
    if (runEnd > at) {
      report(window.slice(at, runEnd));
      return runEnd;
    }
    if (window.charCodeAt(at) !== BACKSLASH) {
      const code = window.charCodeAt(at).toString(16).padStart(4, "0");
      throw this.malformed(
        `A string contains a control character; write it as \\u${code}.`,
        at,
      );
    }
    if (window.length - at < LONGEST_ESCAPE && !this.isLast) throw INCOMPLETE;
    ESCAPE.lastIndex = at;
    if (!ESCAPE.test(window)) {
      throw this.malformed(
        'A "\\" is not followed by a valid escape; write "\\\\" for the ' +
          "character itself.",
        at,
      );
    }
    let end = ESCAPE.lastIndex;
    let text = parsedString(window.slice(at, end));
    if (text === null && ESCAPE.test(window)) {
      end = ESCAPE.lastIndex;
      text = parsedString(window.slice(at, end));
    }
    if (text === null) {
      throw this.malformed(
        `The escape ${window.slice(at, at + 6)} is not an allowed ` +
          "character; remove it.",
        at,
      );
    }
    report(text);
    return end;
  }

  /** Handles what follows a value that ends at `end`: most often a comma. */
  #afterValue(end: number): number {
    const frame = this.frame;
    this.#next = frame === null ? Next.Nothing : Next.CommaOrEnd;
    if (frame === null || this.window.charCodeAt(end) !== COMMA) return end;
    this.#next = frame.isArray ? Next.Value : Next.Name;
    return end + 1;
  }

  protected override unfinished(): string {
    return this.#inText
      ? "The document ends inside a string."
      : "The document ends before it is complete.";
  }

  #unexpected(at: number, expected: string): ServiceError {
    const point = this.window.codePointAt(at);
    const found = point === undefined ? "" : String.fromCodePoint(point);
    const isRoot = this.frame === null && this.#next === Next.Value;
    const hint = isRoot && found === "<"
      ? " To send XML, set Content-Type: text/xml."
      : "";
    return this.malformed(
      `"${found}" stands where ${expected} is expected.${hint}`,
      at,
    );
  }
}

function malformedJson(
  message: string,
  place: TextPosition,
  code: "syntax" | "limit" = "syntax",
): ServiceError {
  return new ServiceError("malformed_json", "The body is not usable JSON.", {
    details: [{ ...place, code, message }],
  });
}

/**
 * Where the complete characters and escapes from `start` on end; an incomplete one
 * may follow.
 */
function endOfWholeCharacters(window: string, start: number): number {
  WHOLE_ESCAPE.lastIndex = start;
  do {
    PLAIN.lastIndex = WHOLE_ESCAPE.lastIndex;
    PLAIN.test(window);
    WHOLE_ESCAPE.lastIndex = PLAIN.lastIndex;
  } while (WHOLE_ESCAPE.test(window));
  return PLAIN.lastIndex;
}

/**
 * The decoded text of a string in JSON, without its quotes; null if it is
 * invalid.
 */
function parsedString(raw: string): string | null {
  try {
    const text: string = JSON.parse(`"${raw}"`);
    // An escape may represent a character that XML does not allow.
    const isAllowed = !raw.includes("\\") ||
      text.search(FORBIDDEN_IN_XML) === -1;
    return isAllowed ? text : null;
  } catch {
    return null;
  }
}
