/** JSON pointers (RFC 6901) to the problems of a document. */
import type { Detail } from "../lib/errors.ts";

/** A path segment that names an entry of a list, such as `image[2]`. */
const ENTRY_SEGMENT = /^\w+\[(\d+)\]$/;

/**
 * Converts the XML path of a problem's field to a JSON pointer. `list` is the
 * name of the member with the products or other entries of the document; null
 * if the document has none.
 */
function pointerTo(
  { product, field = "", code }: Detail,
  list: string | null,
): string {
  const isProductOfWrongType = product !== undefined && field === "product" &&
    code === "wrong_type";
  // The name of an unknown member may be empty.
  const hasNoField = field === "" && code !== "unknown_element";
  const path = hasNoField || isProductOfWrongType ? [] : field.split("/");
  const isEntry = ENTRY_SEGMENT.test(path[0] ?? "");
  const isOfWholeList = product === undefined && code !== "unknown_element";
  if (list !== null && isOfWholeList && !isEntry) return `/${list}`;
  const tokens = path.map((segment) => {
    const entry = ENTRY_SEGMENT.exec(segment);
    if (entry !== null) return Number(entry[1]) - 1;
    return code === "unknown_element" ? segment : segment.replace(/^@/, "");
  });
  const prefix = product === undefined
    ? isEntry ? [list] : []
    : [list, product - 1];
  return [...prefix, ...tokens].map((token) => `/${token}`).join("");
}

/**
 * Adds a JSON pointer to each problem, and replaces the terms of XML in its
 * message.
 */
export function withJsonPointers(
  details: readonly Detail[],
  list: string | null,
): Detail[] {
  return details.map((detail) =>
    // A syntax error has a line and a column instead of a pointer.
    detail.column !== undefined || detail.pointer !== undefined ? detail : {
      ...detail,
      pointer: pointerTo(detail, list),
      message: messageInJson(detail.message),
    }
  );
}

/**
 * Replaces `<name>` by `"name"` in a message, and `<name/>` by `"name": null`.
 * Text up to the last quotation mark may quote the request and stays unchanged.
 */
function messageInJson(message: string): string {
  const quotedEnd = message.lastIndexOf('"') + 1;
  const replaced = message.slice(quotedEnd)
    .replace(/<(\w+)>/g, '"$1"')
    .replace(/(?:an empty )?<(\w+)\/>/g, '"$1": null');
  return message.slice(0, quotedEnd) + replaced;
}

/** Escapes a name as a token of a JSON pointer. */
export function pointerToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Returns the name that a token of a JSON pointer represents. */
export function nameOfPointerToken(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}
