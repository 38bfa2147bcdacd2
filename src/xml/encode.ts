/**
 * Writes answers: an XML declaration and the root `<service>`, without white
 * space.
 *
 * Written by hand, because `@libs/xml` took most of the time of reading a list
 * (ten webhooks: 60 µs). The tests compare both writers.
 */

import { Buffer } from "node:buffer";
import { joinBlocks } from "../lib/blocks.ts";
import {
  element,
  EncodedList,
  isoTime,
  type XmlNode,
  type XmlValue,
} from "./element.ts";

export {
  element,
  isoTime,
  type XmlNode,
  xmlText,
  type XmlValue,
} from "./element.ts";

/** Like `isoTime`; null for no time, which is written as an empty element. */
export function isoTimeOrNone(milliseconds: number | null): string | null {
  return milliseconds === null ? null : isoTime(milliseconds);
}

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';

/**
 * The placeholder of a long list in the surrounding text; this character is in
 * neither XML nor JSON.
 */
const LIST = "\0";
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Blocks of UTF-8. They are shared and must not be changed. */
export type EncodedBlocks = readonly Uint8Array<ArrayBuffer>[];

/**
 * The document `<service>…</service>` with its declaration; if it contains a
 * long list, as blocks of UTF-8.
 */
export function serviceDocument(content: XmlNode): string | EncodedBlocks {
  return documentOf((long) => DECLARATION + element("service", content, long));
}

/**
 * The text that `write` returns, with the long lists inserted in place of their
 * placeholders.
 */
export function documentOf(
  write: (long: ElementList[]) => string,
): string | EncodedBlocks {
  const long: ElementList[] = [];
  const text = write(long);
  return long.length === 0 ? text : withLists(text, long);
}

/** A document in one block of UTF-8. */
export function inOneBlock(
  document: string | EncodedBlocks,
): Uint8Array<ArrayBuffer> {
  return typeof document === "string"
    ? encoder.encode(document)
    : joinBlocks(document);
}

function withLists(
  text: string,
  lists: readonly ElementList[],
): EncodedBlocks {
  return text.split(LIST).flatMap((part, i) => [
    encoder.encode(part),
    ...(i < lists.length ? lists[i].blocks : []),
  ]);
}

/** An encoded element; in XML, with its tags. */
export class EncodedElement {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The most characters of a list that are kept as text. */
const TEXT_LENGTH = 64 * 1_024;

/**
 * Elements with the same name, encoded one after the other up to a number of
 * bytes. In a node it replaces the array of those elements. `write` encodes one
 * element; `separator` is inserted between two. A long list is converted to
 * UTF-8 as it grows, because 4 MiB at once would take 30 ms and more.
 */
export class ElementList<V extends XmlValue = XmlValue> extends EncodedList {
  /**
   * Only for the compiler: distinguishes the types of lists by their elements.
   */
  declare readonly holds: V;
  readonly #limit: number;
  readonly #write: (value: XmlValue) => string;
  readonly #separator: string;
  /** The encoded beginning of the list, before `#text`. */
  readonly #blocks: Uint8Array<ArrayBuffer>[] = [];
  #text = "";
  #bytes = 0;
  #count = 0;

  /** `limit` in bytes of UTF-8; the first element is accepted at any size. */
  constructor(
    limit: number,
    write: (value: XmlValue) => string,
    separator = "",
  ) {
    super();
    this.#limit = limit;
    this.#write = write;
    this.#separator = separator;
  }

  /**
   * Appends an element; returns false, without appending it, if it does not
   * fit.
   */
  add(value: V | EncodedElement): boolean {
    const written = value instanceof EncodedElement
      ? value.text
      : this.#write(value);
    const text = this.#count === 0 ? written : this.#separator + written;
    const bytes = Buffer.byteLength(text);
    if (this.#count > 0 && this.#bytes + bytes > this.#limit) return false;
    this.#text += text;
    this.#bytes += bytes;
    this.#count++;
    if (this.#text.length > TEXT_LENGTH) this.#encode();
    return true;
  }

  #encode(): void {
    this.#blocks.push(encoder.encode(this.#text));
    this.#text = "";
  }

  /**
   * The text of the list. A list with blocks is added to `long`, if given, and
   * returns the placeholder `LIST`.
   */
  textIn(long?: ElementList[]): string {
    if (this.#blocks.length === 0) return this.#text;
    if (long === undefined) {
      const blocks = this.#blocks.map((block) => decoder.decode(block));
      return blocks.join("") + this.#text;
    }
    long.push(this);
    return LIST;
  }

  get blocks(): EncodedBlocks {
    if (this.#text !== "") this.#encode();
    return this.#blocks;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#count;
  }
}
