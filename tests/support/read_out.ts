/** Reading lists to their end, as a client does. */
import type { XmlElement } from "../../src/xml/decode.ts";
import { child, type TestApp } from "./app.ts";

/** The text of `<next>`; null at the end of a list. */
export function nextOf(service: XmlElement): string | null {
  return service.children.find(({ name }) => name === "next")?.text ?? null;
}

/** The entries of a list after `after`, page by page. */
export async function readAll(
  app: TestApp,
  path: string,
  list: string,
  options: { after?: string | null; key?: string } = {},
): Promise<{ entries: XmlElement[]; last: string | null; pages: number }> {
  const entries: XmlElement[] = [];
  let last = options.after ?? null;
  for (let pages = 1;; pages++) {
    const mark = path.includes("?") ? "&" : "?";
    const after = last === null ? "" : `${mark}after=${last}`;
    const answer = await app.call(path + after, { key: options.key });
    if (answer.status !== 200) throw new Error(answer.text);
    entries.push(...child(answer.xml, list).children);
    const next = nextOf(answer.xml);
    if (next === null) return { entries, last, pages };
    last = next;
  }
}

/**
 * The elements of a product as text, except those in `leftOut` and the lowest
 * former price: an undo restores a product, but not its price history.
 */
export function fieldsText(
  product: XmlElement,
  leftOut: readonly string[] = [],
): string {
  return product.children
    .filter(({ name }) => name !== "lowest_price" && !leftOut.includes(name))
    .map(({ name, attributes, source }) =>
      `<${[name, ...Object.values(attributes)].join(" ")}>${source}</${name}>`
    ).join("");
}

/**
 * The text of a child, or of an XML attribute as in `@status`; null if it is
 * missing.
 */
export function valueOf(element: XmlElement, name: string): string | null {
  if (name.startsWith("@")) return element.attributes[name.slice(1)] ?? null;
  return element.children.find((one) => one.name === name)?.text ?? null;
}
