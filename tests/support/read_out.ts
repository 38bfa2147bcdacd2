/** Reading lists to their end, as a client does. */
import type { XmlElement } from "../../src/xml/decode.ts";
import { child, type TestApp } from "./app.ts";

/** Text of `<next>`; null at the end of a list. */
export function nextOf(service: XmlElement): string | null {
  return service.children.find(({ name }) => name === "next")?.text ?? null;
}

/** Entries of a list, page after page, behind `after`. */
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
 * The elements of a product as text, but those of `leftOut` and the lowest of
 * its former prices: an undo restores a product, not what it cost before.
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

/** Text of a child, or of an XML attribute as in `@status`; null for none. */
export function valueOf(element: XmlElement, name: string): string | null {
  if (name.startsWith("@")) return element.attributes[name.slice(1)] ?? null;
  return element.children.find((one) => one.name === name)?.text ?? null;
}
