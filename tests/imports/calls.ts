/** Requests about imports, as tests send and read them. */
import { assertEquals } from "@std/assert";
import type { XmlElement } from "../../src/xml/decode.ts";
import {
  type Answer,
  child,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";

export const IMPORTS = "/seller_api/imports";

/** Posts a document of products; `query` is, for example, `&dry_run=true`. */
export function post(
  app: TestApp,
  products: string,
  query = "",
  headers: Record<string, string> = {},
): Promise<Answer> {
  return app.call(`${IMPORTS}?v=1.1${query}`, {
    method: "POST",
    body: `<products>\n${products}\n</products>`,
    headers,
  });
}

export function idOf(begun: Answer): string {
  assertEquals(begun.status, 200, begun.text);
  return textAt(begun.xml, "import_id");
}

/** The record once it is final. */
export async function ended(app: TestApp, id: string): Promise<XmlElement> {
  for (;;) {
    const answer = await app.call(`${IMPORTS}/${id}?wait=30`);
    assertEquals(answer.status, 200, answer.text);
    const record = child(answer.xml, "import");
    if (textAt(record, "finished_at") !== "") return record;
  }
}

/** `status total/created/updated/unchanged` and other counts. */
export function summaryOf(record: XmlElement): string {
  const counts = child(record, "products").children
    .map(({ name, text }) => `${name} ${text}`)
    .filter((count) => !count.endsWith(" 0"));
  return [textAt(record, "status"), ...counts].join(", ");
}

/** `product sku line field code` of each problem. */
export function problemsOf(record: XmlElement): string[] {
  return child(record, "problems").children
    .filter(({ name }) => name === "detail")
    .map((detail) =>
      ["product", "sku", "line", "field", "code"].map((name) =>
        detail.children.find((one) => one.name === name)?.text ?? "-"
      ).join(" ")
    );
}

/** `sku result` of each product, read in pages of `limit`. */
export async function resultsOf(
  app: TestApp,
  id: string,
  query = "",
  limit = 100,
): Promise<string[]> {
  const results: string[] = [];
  for (let after = "";;) {
    const answer = await app.call(
      `${IMPORTS}/${id}/results?limit=${limit}${query}${after}`,
    );
    assertEquals(answer.status, 200, answer.text);
    for (const each of child(answer.xml, "results").children) {
      results.push(`${textAt(each, "sku")} ${textAt(each, "result")}`);
    }
    const next = answer.xml.children.find(({ name }) => name === "next");
    if (next === undefined) return results;
    after = `&after=${next.text}`;
  }
}

export async function storedCount(app: TestApp): Promise<number> {
  const row = await app.app.db.read((sql) =>
    sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM products")
  );
  return row!.n;
}

export function products(count: number, from = 0): string {
  return Array.from({ length: count }, (_, n) => product(`S-${from + n}`))
    .join("\n");
}
