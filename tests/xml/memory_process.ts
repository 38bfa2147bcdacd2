/**
 * Reads the largest possible document of one kind; prints the number of pieces.
 */
import { decodeProductsInPieces } from "../../src/catalogue/document.ts";
import { ServiceError } from "../../src/lib/errors.ts";

const SIZE = 16 * 1024 * 1024;
const BLOCK = 64 * 1024;

const LIST = ["<products>", "</products>"] as const;
const TEXT = [
  "<products><product><description>",
  "</description></product></products>",
] as const;

/** What is repeated, between what. */
const KINDS: Record<string, readonly [string, readonly [string, string]]> = {
  "line ends": ["\r", LIST],
  "line ends in a text": ["x\r", TEXT],
  references: ["&#65;", TEXT],
  "empty comments": ["<!---->", LIST],
  "comments in a text": ["xy<!---->", TEXT],
  "hyphens in a comment": ["- ", ["<products><!--", "--></products>"]],
  "one text": ["x", TEXT],
  "wide characters": [`${"x".repeat(50_000)}\u20ac`, TEXT],
  "CDATA pieces": ["<![CDATA[a]]>", TEXT],
  "brackets in CDATA": ["] ", [TEXT[0] + "<![CDATA[", "]]>" + TEXT[1]]],
  elements: [`<p>${"z".repeat(330)}</p>`, LIST],
  attributes: [`<p ${attributes(64)}/>`, LIST],
};

function attributes(count: number): string {
  return Array.from({ length: count }, (_, n) => `a${n}='&lt;'`).join(" ");
}

/** A document of the largest size, in blocks as it would arrive. */
function documentOf(kind: string): Uint8Array[] {
  const encode = (text: string) => new TextEncoder().encode(text);
  const [unit, [head, tail]] = KINDS[kind];
  const [start, repeated, end] = [head, unit, tail].map(encode);
  const bytes = new Uint8Array(SIZE).fill(32);
  bytes.set(start);
  const last = SIZE - end.length - repeated.length;
  for (let at = start.length; at <= last; at += repeated.length) {
    bytes.set(repeated, at);
  }
  bytes.set(end, SIZE - end.length);
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < SIZE; at += BLOCK) {
    blocks.push(bytes.slice(at, at + BLOCK));
  }
  return blocks;
}

let pieces = 0;
try {
  await decodeProductsInPieces(documentOf(Deno.args[0]), (piece) => {
    pieces++;
    return piece();
  });
} catch (error) {
  if (!(error instanceof ServiceError)) throw error;
}
console.log(pieces);
