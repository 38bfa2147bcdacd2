/** Reads product feeds for Google Merchant (RSS or Atom) as tables. */
import { parseXml, type XmlElement } from "./xml.ts";
import type { Table } from "./csv.ts";

/** Whether an XML document is a feed, judged by its start. */
export function isFeed(text: string): boolean {
  return /<(?:rss|feed)[\s>]/.test(text.slice(0, 2_000)) &&
    text.includes("base.google.com/ns/1.0");
}

/** The table of a feed; null if it is not well-formed, or has no products. */
export function tableOfFeed(text: string): Table | null {
  const root = parseXml(text);
  const [channel = root] = root?.children
    .filter(({ name }) => name === "channel") ?? [];
  const items = channel?.children
    .filter(({ name }) => name === "item" || name === "entry") ?? [];
  if (items.length === 0) return null;
  const rows = items.map(cellsOf);
  const header = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  return {
    header,
    rows: rows.map((row) => header.map((name) => row.get(name) ?? "")),
    numbers: rows.map((_, i) => i + 1),
    delimiter: "\t",
    flaw: null,
  };
}

/** The texts of an item by name; repeated elements share a cell. */
function cellsOf({ children }: XmlElement): Map<string, string> {
  const cells = new Map<string, string>();
  const ofGoogle = new Set(
    children.flatMap(({ name }) => name.split(":").slice(1)),
  );
  for (const { name, text, attributes, children: parts } of children) {
    // Elements with children, such as shipping costs, are not sent.
    if (parts.length > 0) continue;
    // Elements of Google's namespace replace other elements of the same name.
    if (ofGoogle.has(name)) continue;
    const key = name.replace(/^\w+:/, "");
    const value = text.trim() || (attributes.href ?? "");
    const before = cells.get(key);
    const between = key === "additional_image_link" ? " " : " | ";
    if (before === undefined || key === "link") cells.set(key, value);
    else if (value !== "" && value !== before) {
      cells.set(key, before + between + value);
    }
  }
  return cells;
}
