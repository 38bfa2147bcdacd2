/**
 * The tokenizer of untrusted JSON (RFC 8259). It checks the grammar and decodes
 * strings and numbers; a derived class interprets the values.
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

/** A run of characters that a string may contain without an escape. */
const UNESCAPED_RUN = /[ !#-[\]-\uffff]*/y;
/** The rest of a string, with its closing quote. */
const REST_OF_STRING = /[^"\\]*(?:\\[^][^"\\]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const NUMBER_CHARACTER = /[-+.0-9eE]/;
/** The longest escape represents a character of two UTF-16 units. */
const LONGEST_ESCAPE_LENGTH = "\\ud83d\\ude00".length;
/** One character's escape; a character of two UTF-16 units has two escapes. */
const CHARACTER_ESCAPE =
  /\\(?:["\\/bfnrt]|u(?![dD][89abAB])[0-9a-fA-F]{4}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})/y;
/** The escape of one UTF-16 unit. */
const UNIT_ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The tokens that the grammar allows next. */
enum Expected {
  Value,
  ValueOrEnd,
  MemberName,
  MemberNameOrEnd,
  Colon,
  CommaOrEnd,
  EndOfDocument,
}

/** Reads a document token by token and calls a method for each value. */
export abstract class JsonTokenizer extends WindowReader {
  protected override readonly tooLong =
    "A name or number has more characters than";
  protected override readonly emptyBody =
    "The body is empty; a JSON document is expected.";
  protected override readonly errorAt = malformedJsonError;
  #expected = Expected.Value;
  /** Whether the next character is inside a string reported in chunks. */
  #isInString = false;
  /** The last string that ended, if it needs no decoding; null otherwise. */
  #plainString: string | null = null;

  /** The innermost open object or array. */
  protected abstract readonly frame: { readonly isArray: boolean } | null;
  /** Called at the first character of an object or array. */
  protected abstract begin(at: number, isArray: boolean): void;
  /** Called at the last character of an object or array. */
  protected abstract end(at: number): void;
  /**
   * Called with the name of the next value; throws if the object already has
   * this name.
   */
  protected abstract name(name: string, at: number): void;
  /** Called with a whole string, a boolean or null. */
  protected abstract scalar(kind: Kind, at: number, text: string | null): void;
  /** Called with the source text of a number and its value. */
  protected abstract number(at: number, text: string, value: number): void;
  /** Called at the start of a string that is reported in chunks. */
  protected abstract beginText(at: number): void;
  protected abstract textChunk(chunk: string): void;
  protected abstract endText(): void;

  override *read(): Generator<void, void> {
    let from = 0;
    while (this.refill(from)) {
      from = this.readWindow(0);
      yield;
    }
    if (
      this.source.fault === null && this.#expected === Expected.EndOfDocument
    ) return;
    throw this.endsEarly();
  }

  protected override token(start: number): number {
    if (this.#isInString) return this.#readChunk(start);
    let at = start;
    let code = this.window.charCodeAt(at);
    while (code === SPACE || code === LINE_FEED || code === TAB) {
      code = this.window.charCodeAt(++at);
    }
    if (at > start) return at;
    this.isBlank = false;
    switch (this.#expected) {
      case Expected.ValueOrEnd:
        if (code === CLOSE_BRACKET) return this.#end(at);
        return this.#value(at, code);
      case Expected.Value:
        return this.#value(at, code);
      case Expected.MemberNameOrEnd:
        if (code === CLOSE_BRACE) return this.#end(at);
        return this.#memberName(at, code);
      case Expected.MemberName:
        return this.#memberName(at, code);
      case Expected.Colon:
        if (code !== COLON) throw this.#unexpected(at, 'a ":"');
        this.#expected = Expected.Value;
        return at + 1;
      case Expected.CommaOrEnd:
        return this.#commaOrEnd(at, code);
      case Expected.EndOfDocument:
        throw this.malformed(
          "There is text after the end of the document; remove it.",
          at,
        );
    }
  }

  #commaOrEnd(at: number, code: number): number {
    const { isArray } = this.frame!;
    if (code === COMMA) {
      this.#expected = isArray ? Expected.Value : Expected.MemberName;
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
    this.name(this.#decode(at + 1, end), at);
    // Usually the colon follows without white space.
    if (this.window.charCodeAt(end + 1) === COLON) {
      this.#expected = Expected.Value;
      return end + 2;
    }
    this.#expected = Expected.Colon;
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
    this.#expected = isArray ? Expected.ValueOrEnd : Expected.MemberNameOrEnd;
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
    if (end < window.length && NUMBER_CHARACTER.test(window[end])) {
      const mayContinue = end + 2 >= window.length && !this.isLast;
      if (mayContinue) throw INCOMPLETE;
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
      this.#isInString = true;
      return at + 1;
    }
    const kind = end === at + 1 ? "an empty string" : "a string";
    this.scalar(kind, at, this.#decode(at + 1, end));
    return this.#afterValue(end + 1);
  }

  /** The index of the closing quote; -1 if the window has none. */
  #stringEnd(start: number): number {
    const window = this.window;
    const quote = window.indexOf('"', start);
    if (quote === -1) return -1;
    const raw = window.slice(start, quote);
    const isEscaped = raw.includes("\\");
    // `XmlSource` refuses all other control characters.
    const isPlain = !isEscaped && !raw.includes("\n") && !raw.includes("\t");
    this.#plainString = isPlain ? raw : null;
    if (!isEscaped) return quote;
    REST_OF_STRING.lastIndex = start;
    return REST_OF_STRING.test(window) ? REST_OF_STRING.lastIndex - 1 : -1;
  }

  /** Decodes the string from `start` to the `end` that `#stringEnd` found. */
  #decode(start: number, end: number): string {
    if (this.#plainString !== null) return this.#plainString;
    const raw = this.window.slice(start, end);
    const text = decodedString(raw);
    if (text !== null) return text;
    // This loop throws at the first invalid character or escape.
    for (let at = start; at < end;) at = this.#readRunOrEscape(at, () => {});
    throw this.malformed("The string is not valid JSON.", start);
  }

  /** Reports the string's next characters that the window contains. */
  #readChunk(at: number): number {
    if (this.window.charCodeAt(at) === QUOTE) {
      this.#isInString = false;
      this.endText();
      return this.#afterValue(at + 1);
    }
    const end = endOfCompleteCharacters(this.window, at);
    const text = decodedString(this.window.slice(at, end));
    if (end === at) {
      return this.#readRunOrEscape(at, (text) => this.textChunk(text));
    }
    if (text !== null) this.textChunk(text);
    else {
      // This loop throws at an invalid escape.
      for (let next = at; next < end;) {
        next = this.#readRunOrEscape(next, () => {});
      }
    }
    return end;
  }

  /**
   * Reports a run of unescaped characters, or the character of one escape.
   * Returns the index after the run or the escape.
   */
  #readRunOrEscape(at: number, report: (text: string) => void): number {
    const window = this.window;
    UNESCAPED_RUN.lastIndex = at;
    UNESCAPED_RUN.test(window);
    const runEnd = UNESCAPED_RUN.lastIndex;
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
    if (window.length - at < LONGEST_ESCAPE_LENGTH && !this.isLast) {
      throw INCOMPLETE;
    }
    UNIT_ESCAPE.lastIndex = at;
    if (!UNIT_ESCAPE.test(window)) {
      throw this.malformed(
        'A "\\" is not followed by a valid escape; write "\\\\" for the ' +
          "character itself.",
        at,
      );
    }
    let end = UNIT_ESCAPE.lastIndex;
    let text = decodedString(window.slice(at, end));
    if (text === null && UNIT_ESCAPE.test(window)) {
      end = UNIT_ESCAPE.lastIndex;
      text = decodedString(window.slice(at, end));
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

  /**
   * Sets which tokens may follow the value that ends at `end`. Reads a comma at
   * once, because it is the most common token there. Returns the next index.
   */
  #afterValue(end: number): number {
    const frame = this.frame;
    this.#expected = frame === null
      ? Expected.EndOfDocument
      : Expected.CommaOrEnd;
    if (frame === null || this.window.charCodeAt(end) !== COMMA) return end;
    this.#expected = frame.isArray ? Expected.Value : Expected.MemberName;
    return end + 1;
  }

  protected override unfinished(): string {
    return this.#isInString
      ? "The document ends inside a string."
      : "The document ends before it is complete.";
  }

  #unexpected(at: number, expected: string): ServiceError {
    const point = this.window.codePointAt(at);
    const found = point === undefined ? "" : String.fromCodePoint(point);
    const isRoot = this.frame === null && this.#expected === Expected.Value;
    const hint = isRoot && found === "<"
      ? " To send XML, set Content-Type: text/xml."
      : "";
    return this.malformed(
      `"${found}" stands where ${expected} is expected.${hint}`,
      at,
    );
  }
}

function malformedJsonError(
  message: string,
  place: TextPosition,
  code: "syntax" | "limit" = "syntax",
): ServiceError {
  return new ServiceError("malformed_json", "The body is not usable JSON.", {
    details: [{ ...place, code, message }],
  });
}

/**
 * The index after the last complete character or escape from `start` on. An
 * incomplete escape may follow.
 */
function endOfCompleteCharacters(window: string, start: number): number {
  CHARACTER_ESCAPE.lastIndex = start;
  do {
    UNESCAPED_RUN.lastIndex = CHARACTER_ESCAPE.lastIndex;
    UNESCAPED_RUN.test(window);
    CHARACTER_ESCAPE.lastIndex = UNESCAPED_RUN.lastIndex;
  } while (CHARACTER_ESCAPE.test(window));
  return UNESCAPED_RUN.lastIndex;
}

/**
 * Decodes a JSON string, given without its quotes; null if the string is
 * invalid.
 */
function decodedString(raw: string): string | null {
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
