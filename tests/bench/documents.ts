/**
 * Reading one document of 250 products: the strict reader of JSON beside
 * `JSON.parse`, and the reader of XML beside both.
 *
 *     deno run -A tests/bench/documents.ts [rounds]
 */
import { DOCUMENTS } from "../../src/contracts/documents.ts";
import { jsonWriter } from "../../src/json/encode.ts";
import { instanceOf } from "../../src/json/instance.ts";
import { jsonOf } from "../../src/json/reader.ts";
import { readXml } from "../../src/xml/decode.ts";
import type { XmlNode } from "../../src/xml/encode.ts";
import { one } from "../../src/xml/shapes.ts";
import { document } from "./service.ts";
import { Table } from "./table.ts";

const rounds = Number(Deno.args[0] ?? 100);
const table = new Table();
const shape = DOCUMENTS.products;
const handlers = { open() {}, text() {}, close() {}, any() {} };

const xml = document("DOC");
const write = jsonWriter({ content: [one("products", shape)] });
const products = instanceOf(xml, shape);
const json = new TextEncoder().encode(write({ products } as XmlNode));

const readers: [string, Uint8Array, () => void][] = [
  ["JSON.parse", json, () => JSON.parse(new TextDecoder().decode(json))],
  [
    "strict reader of JSON",
    json,
    () =>
      readXml([json], handlers, { begin: jsonOf({ name: "products", shape }) }),
  ],
  ["reader of XML", xml, () => readXml([xml], handlers)],
];

for (let round = -rounds; round < rounds; round++) {
  for (const [name, { length }, read] of readers) {
    const started = performance.now();
    read();
    const ms = performance.now() - started;
    const title = `${name}, ${Math.round(length / 1_000)} KB`;
    // The first half compiles the code.
    if (round >= 0) table.note(title, "ms", ms);
  }
}
table.print();
