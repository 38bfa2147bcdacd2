/**
 * Finds elements and problems in the source text of a document. The page edits
 * this text, so the page needs offsets, even in malformed documents.
 */
import type { Detail } from "../../client/mod.ts";
import { runUninterrupted, type SlicedWork } from "./slices.ts";

/** An element of the document. All positions are offsets into the text. */
export interface ElementPosition {
  name: string;
  /** The path below the product, or below the root: `images/image`. */
  path: string;
  /** The position of the element's product, from 1; missing outside products. */
  product?: number;
  /** The position among siblings of the same name, from 1. */
  index: number;
  start: number;
  /** Where the content starts; equal to `contentEnd` if it is empty. */
  contentStart: number;
  contentEnd: number;
  end: number;
}

/** A line with more characters and more tags than these is hard to read. */
const LONG_LINE = 300;
const MANY_TAGS = 6;

/** An element without its end tag so far, and the counts of its children. */
interface OpenElement {
  element: ElementPosition;
  counts: Map<string, number>;
}

/** A tag, a comment, a CDATA section, an instruction or a declaration. */
interface Token {
  start: number;
  end: number;
  /** The name of a tag; null for other tokens. */
  name: string | null;
  kind: "start" | "end" | "empty" | "other";
}

/** The start and end of comments, CDATA, instructions and declarations. */
const NON_TAG_DELIMITERS: readonly (readonly [string, string])[] = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
  ["<!", ">"],
];

/** The tokens of a document; malformed ones are skipped. */
export function* markupTokens(text: string): Generator<Token> {
  for (let at = text.indexOf("<"); at >= 0; at = text.indexOf("<", at)) {
    const start = at;
    const other = NON_TAG_DELIMITERS.find(([begin]) =>
      text.startsWith(begin, start)
    );
    if (other !== undefined) {
      const [begin, last] = other;
      const end = text.indexOf(last, start + begin.length);
      if (end < 0) return;
      at = end + last.length;
      yield { start, end: at, name: null, kind: "other" };
      continue;
    }
    at = endOfTag(text, start);
    if (text[at - 1] === ">") yield tagOf(text, start, at);
  }
}

/** The offset after a tag; a malformed tag ends before the next `<`. */
function endOfTag(text: string, start: number): number {
  let quote = "";
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at];
    if (char === "<") return at;
    if (quote !== "") {
      if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === ">") return at + 1;
  }
  return text.length;
}

function tagOf(text: string, start: number, end: number): Token {
  const isEnd = text[start + 1] === "/";
  const inside = text.slice(start + (isEnd ? 2 : 1), end - 1);
  const [name] = inside.split(/[\s/]/, 1);
  const kind = isEnd ? "end" : inside.endsWith("/") ? "empty" : "start";
  return { start, end, name, kind };
}

/** The elements of a document, in the order of their start tags. */
export function elementsOf(text: string): ElementPosition[] {
  return runUninterrupted(findElements(text));
}

/** The number of tags that are read between two pauses. */
const TAGS_PER_SLICE = 250;

function* findElements(text: string): SlicedWork<ElementPosition[]> {
  let read = 0;
  const elements: ElementPosition[] = [];
  const opened = new OpenElements();
  const top = new Map<string, number>();
  for (const { start, end, name, kind } of markupTokens(text)) {
    if (++read % TAGS_PER_SLICE === 0) yield;
    if (name === null) continue;
    if (kind === "end") {
      opened.close(name, start, end);
      continue;
    }
    const parent = opened.last;
    const counts = parent?.counts ?? top;
    const index = (counts.get(name) ?? 0) + 1;
    counts.set(name, index);
    const isProduct = opened.depth === 1 && name === "product";
    const element: ElementPosition = {
      name,
      path: pathBelow(parent?.element, name, opened.depth),
      product: isProduct ? index : parent?.element.product,
      index,
      start,
      contentStart: end,
      contentEnd: end,
      end,
    };
    elements.push(element);
    if (kind === "start") opened.open(element);
  }
  return elements;
}

/** The path of an element; empty for the root and for a product. */
function pathBelow(
  parent: ElementPosition | undefined,
  name: string,
  depth: number,
): string {
  if (depth === 0 || (depth === 1 && name === "product")) return "";
  return parent === undefined || parent.path === ""
    ? name
    : `${parent.path}/${name}`;
}

/** The open elements, the outermost first. */
class OpenElements {
  readonly #stack: OpenElement[] = [];
  /** The number of open elements of each name. */
  readonly #byName = new Map<string, number>();

  get depth(): number {
    return this.#stack.length;
  }

  get last(): OpenElement | undefined {
    return this.#stack.at(-1);
  }

  open(element: ElementPosition): void {
    this.#stack.push({ element, counts: new Map() });
    this.#count(element.name, 1);
  }

  /** Closes the element of an end tag, and unclosed elements inside it. */
  close(name: string, start: number, end: number): void {
    if ((this.#byName.get(name) ?? 0) === 0) return;
    for (;;) {
      const { element } = this.#stack.pop()!;
      this.#count(element.name, -1);
      element.contentEnd = start;
      element.end = end;
      if (element.name === name) return;
    }
  }

  #count(name: string, more: number): void {
    this.#byName.set(name, (this.#byName.get(name) ?? 0) + more);
  }
}

/**
 * Indents a document if it has lines that are too long to read. This changes
 * only white space between tags, which has no meaning.
 */
export function indentLongLines(text: string): string {
  return text.split("\n").some(isUnreadable) ? indented(text) : text;
}

/** Indents a document, with each element on a line of its own. */
export function indented(text: string): string {
  let result = "";
  let depth = 0;
  let last = 0;
  let opened = false;
  let tag = "";
  for (const { start, end, name, kind } of markupTokens(text)) {
    const between = text.slice(last, start);
    const isBehindCdata = tag.endsWith("]]>");
    tag = text.slice(start, end);
    if (kind === "end") depth = Math.max(0, depth - 1);
    // Comments and CDATA may be inside a value.
    const isInline = name === null || between.trim() !== "" ||
      isBehindCdata || (kind === "end" && opened) || result === "";
    result += isInline ? between + tag : `\n${"  ".repeat(depth)}${tag}`;
    opened = kind === "start";
    if (opened) depth++;
    last = end;
  }
  return result + text.slice(last);
}

/** Whether a document of products is in JSON. */
export function isJson(text: string): boolean {
  return /^\s*\{/.test(text);
}

function isUnreadable(line: string): boolean {
  return line.length > LONG_LINE && line.split("<").length > MANY_TAGS;
}

/** A range of characters in a text. */
export interface TextRange {
  start: number;
  end: number;
}

/** The lines of a document in which these problems are. */
export function* linesWithProblems(
  text: string,
  problems: readonly Detail[],
): SlicedWork<Set<number>> {
  const finder = new ProblemFinder(text, yield* findElements(text));
  const lines = new Set<number>();
  for (const [i, problem] of problems.entries()) {
    if (i % TAGS_PER_SLICE === 0) yield;
    const found = finder.find(problem);
    if (found !== null) lines.add(finder.lineOf(found.start));
  }
  return lines;
}

/** Finds the ranges of problems in one document. */
export class ProblemFinder {
  readonly #text: string;
  readonly #byProduct = new Map<number | undefined, ElementPosition[]>();
  readonly #lines: number[] = [0];

  constructor(
    text: string,
    elements: readonly ElementPosition[] = elementsOf(text),
  ) {
    this.#text = text;
    for (const element of elements) {
      const group = this.#byProduct.get(element.product);
      if (group === undefined) this.#byProduct.set(element.product, [element]);
      else group.push(element);
    }
    for (
      let at = text.indexOf("\n");
      at >= 0;
      at = text.indexOf("\n", at + 1)
    ) {
      this.#lines.push(at + 1);
    }
  }

  /** The line of an offset, from 1. */
  lineOf(offset: number): number {
    let low = 0;
    let high = this.#lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#lines[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  /** The offset at which a line starts; the first line is 1. */
  startOf(line: number): number {
    return this.#lines[Math.min(line, this.#lines.length) - 1];
  }

  /** The range of a problem in the text; null if the problem has no place. */
  find(problem: Detail): TextRange | null {
    const { product, field, line, column } = problem;
    if (field === undefined && column !== undefined && line !== undefined) {
      return this.#characterAt(line, column);
    }
    const [path, attribute] = (field ?? "").split(/\/?@/);
    const element = this.#elementAt(product, path, line);
    if (element !== undefined) {
      return this.#rangeIn(element, attribute, problem);
    }
    const whole = product === undefined
      ? undefined
      : this.#byProduct.get(product)?.[0];
    // The user adds a missing element after the product's start tag.
    if (whole !== undefined) {
      return { start: whole.contentStart, end: whole.contentStart };
    }
    return line === undefined ? null : this.#lineAt(line);
  }

  #elementAt(
    product: number | undefined,
    field: string,
    line: number | undefined,
  ): ElementPosition | undefined {
    const path = field.replace(/\[\d+\]/g, "");
    const index = /\[(\d+)\]$/.exec(field);
    const found = (this.#byProduct.get(product) ?? [])
      .filter((element) => element.path === path);
    const numbered = index === null
      ? undefined
      : found.find((element) => element.index === Number(index[1]));
    return numbered ??
      found.find(({ start }) => this.lineOf(start) === line) ?? found[0];
  }

  #rangeIn(
    { name, start, contentStart, contentEnd, path }: ElementPosition,
    attribute: string | undefined,
    { code }: Detail,
  ): TextRange {
    const nameRange = { start: start + 1, end: start + 1 + name.length };
    if (attribute !== undefined) {
      return this.#attributeIn(start, contentStart, attribute) ?? nameRange;
    }
    if (code === "unknown_element") return nameRange;
    if (path === "") return { start, end: contentStart };
    if (contentEnd === contentStart) {
      return { start: contentStart, end: contentStart };
    }
    const content = this.#text.slice(contentStart, contentEnd);
    const before = content.length - content.trimStart().length;
    const value = content.trim();
    // The content may be other elements instead of a value.
    if (value === "" || value.includes("\n")) {
      return { start: contentStart, end: contentStart };
    }
    return {
      start: contentStart + before,
      end: contentStart + before + value.length,
    };
  }

  #attributeIn(start: number, end: number, name: string): TextRange | null {
    const tag = this.#text.slice(start, end);
    for (let from = 0;;) {
      const at = tag.slice(from).search(/["']/) + from;
      const last = tag.indexOf(tag[at], at + 1);
      if (at < from || last < 0) return null;
      const before = tag.slice(from, at).split(/[\s=]/).filter(Boolean);
      if (before.at(-1) === name) {
        return { start: start + at + 1, end: start + last };
      }
      from = last + 1;
    }
  }

  /** The range of a character; `column` counts code points. */
  #characterAt(line: number, column: number): TextRange {
    const { start, end } = this.#lineAt(line);
    const points = [...this.#text.slice(start, end)];
    const before = points.slice(0, column - 1).join("").length;
    const length = points[column - 1]?.length ?? 0;
    return { start: start + before, end: start + before + length };
  }

  #lineAt(line: number): TextRange {
    const start = this.startOf(line);
    const end = this.#text.indexOf("\n", start);
    return { start, end: end < 0 ? this.#text.length : end };
  }
}
