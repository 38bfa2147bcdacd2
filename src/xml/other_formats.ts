/** Recognizes bodies that are not XML by how they begin. */

/** Characters of a body that are looked at. */
const LOOKED_AT = 1_000;
const HTML = /^<(?:!doctype\s+)?html[\s>/]/i;

/** What a body is, by how it begins; null where that is not known. */
function otherFormat(body: string): string | null {
  const start = body.slice(0, LOOKED_AT).trimStart();
  if (HTML.test(start)) return "an HTML page";
  if (/^[{[]/.test(start)) return "JSON";
  if (start.startsWith("PK")) return "a ZIP archive, perhaps of a spreadsheet";
  const [line] = start.split("\n", 1);
  return /[,;\t]/.test(line) ? "CSV, or another kind of text" : null;
}

/** What to tell of a body that is no XML; null where it may be meant as XML. */
export function otherFormatMessage(body: string): string | null {
  const format = otherFormat(body);
  return format && `The body is ${format}; send XML.`;
}

/** What to tell of a root element with another name than `expected`. */
export function otherRootMessage(name: string, expected: string): string {
  const page = name.toLowerCase() === "html"
    ? " The body is an HTML page, perhaps an error page of another server."
    : "";
  return `The root element is <${name}>; it must be <${expected}>.${page}`;
}
