/**
 * JSON compared with XML. Reading one document of 250 products: the strict
 * reader of JSON compared with `JSON.parse`, and the reader of XML compared
 * with both; then upload and status over HTTP, with the processor time of the
 * service.
 *
 * deno run -A tests/bench/documents.ts [rounds]
 */
import { DOCUMENTS } from "../../src/contracts/documents.ts";
import { jsonWriter } from "../../src/json/encode.ts";
import { valueFromXml } from "../../src/json/instance.ts";
import { jsonReaderFor } from "../../src/json/reader.ts";
import { readXml } from "../../src/xml/decode.ts";
import type { XmlNode } from "../../src/xml/encode.ts";
import { one } from "../../src/xml/shapes.ts";
import { Connection, requestBytes } from "./load.ts";
import { BenchService, document } from "./service.ts";
import { quantile, Table } from "./table.ts";

const rounds = Number(Deno.args[0] ?? 100);
const table = new Table();
const shape = DOCUMENTS.products;
const handlers = { open() {}, text() {}, close() {}, any() {} };

const write = jsonWriter({ content: [one("products", shape)] });

/** The same document in JSON. */
function asJson(document: Uint8Array): Uint8Array {
  const products = valueFromXml(document, shape);
  return new TextEncoder().encode(write({ products } as XmlNode));
}

const xml = document("DOC");
const json = asJson(xml);

const readers: [string, Uint8Array, () => void][] = [
  ["JSON.parse", json, () => JSON.parse(new TextDecoder().decode(json))],
  [
    "strict reader of JSON",
    json,
    () =>
      readXml([json], handlers, {
        begin: jsonReaderFor({ name: "products", shape }),
      }),
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

const FORMS = ["XML", "JSON"] as const;
/** Uploads, or reads of a status, in succession. */
const IN_A_ROW = 10;

await using service = await BenchService.start({
  roles: "api",
  sellers: ["bench"],
});
const TYPES = { XML: "text/xml", JSON: "application/json" };
const ask = (form: keyof typeof TYPES, path: string, body?: Uint8Array) =>
  requestBytes(
    body === undefined ? "GET" : "POST",
    `/seller_api/bulk_products${path}`,
    {
      "X-Service-Auth": service.keyOf("bench"),
      Accept: TYPES[form],
      ...(body && { "Content-Type": TYPES[form] }),
    },
    body,
  );
const id = await service.transactionOf("bench", document("status"));

/** Milliseconds of the answers of each kind. */
const latencies = new Map<string, number[]>();

/** Sends these requests one after the other. */
async function measure(
  name: string,
  requests: Uint8Array[],
  isCounted: boolean,
): Promise<void> {
  const before = await service.cpuSeconds();
  const started = performance.now();
  const ms: number[] = [];
  const connection = await Connection.open(service.url);
  for (const request of requests) {
    const sent = performance.now();
    const status = await connection.send(request);
    if (status !== 200) throw new Error(`${status}: ${connection.answer}`);
    ms.push(performance.now() - sent);
  }
  connection.close();
  const seconds = (performance.now() - started) / 1_000;
  const used = await service.cpuSeconds() - before;
  if (!isCounted) return;
  latencies.set(name, [...latencies.get(name) ?? [], ...ms]);
  table.note(name, "a second", requests.length / seconds);
  table.note(`${name}: processor`, "ms", used * 1_000 / requests.length);
}

const turns = Math.max(1, rounds / 10);
for (let turn = -turns; turn < turns; turn++) {
  // The order of the two forms alternates.
  for (const form of turn % 2 === 0 ? FORMS : FORMS.toReversed()) {
    const uploads = Array.from({ length: IN_A_ROW }, (_, n) => {
      const sent = document(`${form}-${turn}-${n}`);
      return ask(form, "?v=1.1", form === "JSON" ? asJson(sent) : sent);
    });
    const isCounted = turn >= 0;
    await measure(`upload of 250 in ${form}`, uploads, isCounted);
    const reads = Array.from(
      { length: 5 * IN_A_ROW },
      () => ask(form, `/${id}`),
    );
    await measure(`status of 250 in ${form}`, reads, isCounted);
  }
}
for (const [name, ms] of latencies) {
  table.note(`${name}: p50`, "ms", quantile(ms, 0.5));
  table.note(`${name}: p99`, "ms", quantile(ms, 0.99));
}
table.print();
