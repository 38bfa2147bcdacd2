/** Recognizes bodies that are not XML by their first characters. */

/** Characters of a body that are examined. */
const LENGTH_READ = 1_000;
const HTML = /^<(?:!doctype\s+)?html[\s>/]/i;

/** The format of a body, by its first characters; null if it is unknown. */
function otherFormat(body: string): string | null {
  const start = body.slice(0, LENGTH_READ).trimStart();
  if (HTML.test(start)) return "an HTML page";
  if (/^[{[]/.test(start)) return "JSON";
  if (start.startsWith("PK")) return "a ZIP archive, perhaps of a spreadsheet";
  const [line] = start.split("\n", 1);
  return /[,;\t]/.test(line) ? "CSV, or another kind of text" : null;
}

/** The message for a body that is not XML; null if it may be meant as XML. */
export function otherFormatMessage(body: string): string | null {
  const format = otherFormat(body);
  if (format === "JSON") {
    return "The body is JSON; send it with Content-Type: application/json.";
  }
  return format && `The body is ${format}; send XML.`;
}

/** The message for a root element with another name than `expected`. */
export function otherRootMessage(name: string, expected: string): string {
  const page = name.toLowerCase() === "html"
    ? " The body is an HTML page, perhaps an error page of another server."
    : "";
  return `The root element is <${name}>; it must be <${expected}>.${page}`;
}
