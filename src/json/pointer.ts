/** JSON pointers to problems of a document (RFC 6901). */
import type { Detail } from "../lib/errors.ts";

/** A segment of a field's path that is an entry of a list. */
const ENTRY = /^\w+\[(\d+)\]$/;

/**
 * The pointer of a problem, from the path of its field in XML. `list` is the
 * member with the products or other entries of the document.
 */
function pointerTo(
  { product, field = "", code }: Detail,
  list: string | null,
): string {
  const isProductOfWrongType = product !== undefined && field === "product" &&
    code === "wrong_type";
  const hasNoField = field === "" && code !== "unknown_element";
  const path = hasNoField || isProductOfWrongType ? [] : field.split("/");
  const isEntry = ENTRY.test(path[0] ?? "");
  const isOfWholeList = product === undefined && code !== "unknown_element";
  if (list !== null && isOfWholeList && !isEntry) return `/${list}`;
  const tokens = path.map((segment) => {
    const entry = ENTRY.exec(segment);
    if (entry !== null) return Number(entry[1]) - 1;
    return code === "unknown_element" ? segment : segment.replace(/^@/, "");
  });
  const place = product === undefined
    ? isEntry ? [list] : []
    : [list, product - 1];
  return [...place, ...tokens].map((token) => `/${token}`).join("");
}

/**
 * The problems with their pointers, and with the terms of JSON in their
 * messages.
 */
export function withPointers(
  details: readonly Detail[],
  list: string | null,
): Detail[] {
  return details.map((detail) =>
    // A malformed document has a line and a column instead.
    detail.column !== undefined || detail.pointer !== undefined ? detail : {
      ...detail,
      pointer: pointerTo(detail, list),
      message: inJson(detail.message),
    }
  );
}

/**
 * Replaces elements by names of members in a message, and empty elements by
 * members with null, except in quoted text.
 */
function inJson(message: string): string {
  const at = message.lastIndexOf('"') + 1;
  const replaced = message.slice(at)
    .replace(/<(\w+)>/g, '"$1"')
    .replace(/(?:an empty )?<(\w+)\/>/g, '"$1": null');
  return message.slice(0, at) + replaced;
}

/** Encodes a name as a token of a pointer. */
export function pointerToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Decodes a token of a pointer to a name. */
export function nameOfToken(token: string): string {
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}
