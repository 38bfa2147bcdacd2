/** Recognizes a file by its content: a document, a table, or neither. */

import { HEADER_ROWS, namedDelimiter } from "./csv.ts";
import { type DecodedText, decodeText, latin1 } from "./encodings.ts";
import { isFeed } from "./feed.ts";
import { isJson } from "../../lib/markup.ts";

/** A file that cannot be opened. */
export interface UnusableFile {
  name: string;
  /** The kind of file, which completes the sentence "This is …". */
  what: string;
  /** What the user can do instead, as sentences. */
  remedy: string;
}

export type FileContentKind =
  /** Products in XML or JSON. */
  | { name: "document" }
  /** A product feed for Google Merchant, in XML. */
  | { name: "feed"; decoded: DecodedText }
  | { name: "table"; decoded: DecodedText }
  /** A workbook of Excel or LibreOffice. */
  | { name: "workbook" }
  | { name: "refused"; refused: UnusableFile };

const AS_WORKBOOK =
  "Open it in your spreadsheet program, save it as an Excel workbook (.xlsx) without a password, and drop that file here. Or copy the rows, and paste them here.";
const AS_TEXT = "Send products as XML, JSON or a table (CSV, Excel).";
const UNPACK = "Unpack it, and drop the file inside.";

/** A kind of file that cannot be opened. */
interface UnusableKind {
  /** The possible first characters, in `latin1`. */
  begins: readonly string[];
  /** A text near the start or the end. */
  contains?: string;
  what: string;
  remedy: string;
}

/**
 * The start of ZIP archives. A workbook is an archive with known file names near
 * its start or end.
 */
const ZIP = ["PK\x03\x04"];
const WORKBOOK = ["xl/workbook", "opendocument.spreadsheet"];

/** The kinds that cannot be opened; the first that matches is used. */
const UNUSABLE_KINDS: readonly UnusableKind[] = [
  { begins: ZIP, contains: "word/", what: "a Word document", remedy: AS_TEXT },
  { begins: ZIP, what: "a ZIP archive", remedy: UNPACK },
  { begins: ["\x1f\x8b"], what: "a gzip archive", remedy: UNPACK },
  {
    begins: ["\xd0\xcf\x11\xe0"],
    what: "an old Excel or Word file, or one with a password",
    remedy: AS_WORKBOOK,
  },
  { begins: ["%PDF"], what: "a PDF", remedy: AS_TEXT },
  { begins: ["{\\rtf"], what: "a text document (RTF)", remedy: AS_TEXT },
  {
    begins: ["["],
    what: "a list in JSON",
    remedy: 'Write {"products": before the list, and } after it.',
  },
  {
    begins: ["<!doctype html", "<html"],
    what: "a web page",
    remedy: AS_TEXT,
  },
];
/** The number of bytes that are examined at the start, and at the end. */
const BYTES_READ = 16_384;

/** The kind of a file, by its content. A refusal shows the name. */
export function fileKindOf(name: string, bytes: ArrayBuffer): FileContentKind {
  const refused = (what: string, remedy: string): FileContentKind => ({
    name: "refused",
    refused: { name, what, remedy },
  });
  if (bytes.byteLength === 0) return refused("an empty file", AS_TEXT);
  const start = latin1(bytes.slice(0, BYTES_READ)).replace("\xef\xbb\xbf", "");
  const lower = start.trimStart().toLowerCase();
  const ends = start + latin1(bytes.slice(-BYTES_READ));
  const isZip = ZIP.some((begin) => start.startsWith(begin));
  if (isZip && WORKBOOK.some((part) => ends.includes(part))) {
    return { name: "workbook" };
  }
  const other = UNUSABLE_KINDS.find(({ begins, contains = "" }) =>
    begins.some((text) => lower.startsWith(text.toLowerCase())) &&
    ends.includes(contains)
  );
  if (other !== undefined) return refused(other.what, other.remedy);
  const decoded = decodeText(bytes);
  const { text } = decoded;
  if (text.trimStart().startsWith("<")) {
    return isFeed(text) ? { name: "feed", decoded } : { name: "document" };
  }
  if (isJson(text)) return { name: "document" };
  if (text.includes("\0")) return refused("a file of another kind", AS_TEXT);
  return hasColumns(text)
    ? { name: "table", decoded }
    : refused("text without columns", AS_TEXT);
}

/** Whether a text has several lines, one of them with several columns. */
export function isTable(text: string): boolean {
  return hasColumns(text) && /[\r\n]/.test(text.trim());
}

function hasColumns(text: string): boolean {
  return namedDelimiter(text) !== null ||
    text.split(/[\r\n]+/, HEADER_ROWS).some((line) => /[,;\t|]/.test(line));
}
