/**
 * The running service over HTTP and its upper bounds, in one run: a bare
 * `Deno.serve`, bare `node:sqlite` with the same rows and durability, a SAX
 * pass over the same document, and a service of only these parts.
 *
 * deno task bench [rounds]
 *
 * The service runs in its own process. The workloads take turns in each round,
 * so that a machine that slows down slows all of them. Medians are printed.
 */
import { SaxesParser } from "saxes";
import { BareSqlite } from "./bare_sqlite.ts";
import { type Load, load } from "./load.ts";
import { BenchHost, BenchService, document } from "./service.ts";
import { Table } from "./table.ts";

const ROUNDS = Number(Deno.args[0] ?? 5);
/** Products whose prices and quantities are sent. */
const STOCK = 10_000;
const table = new Table();

function saxPass(bytes: Uint8Array): number {
  const started = performance.now();
  const parser = new SaxesParser();
  parser.on("opentag", () => {});
  parser.on("text", () => {});
  parser.on("cdata", () => {});
  parser.write(new TextDecoder().decode(bytes)).close();
  return performance.now() - started;
}

function limits(round: number, example: Uint8Array): void {
  table.note("SAX pass over 300 KB", "ms", saxPass(example));
  table.note("bare SQLite, 250 upserts", "ms", sqlite.upserts(round));
  table.note("bare SQLite, one-row commits", "/s", sqlite.oneRowCommits(500));
}

/** Repeats one request on 16 connections. */
async function steady(
  name: string,
  url: string,
  request: Uint8Array,
): Promise<void> {
  const found = await load({
    url,
    connections: 16,
    ms: 500,
    request: () => request,
    expect: 200,
  });
  noteLoad(name, found);
}

function noteLoad(name: string, { rate, p50, p99 }: Load): void {
  table.note(name, "/s", rate);
  table.note(`${name}: p50`, "ms", p50);
  table.note(`${name}: p99`, "ms", p99);
}

/** Uploads these documents, this many at once. */
async function bulk(
  name: string,
  bodies: Uint8Array[],
  connections = 1,
  { url }: { url: string } = service,
): Promise<void> {
  const requests = bodies.map((body) => service.upload("bench", body));
  const started = performance.now();
  const { p50, p99 } = await load({
    url,
    connections,
    count: requests.length,
    request: (n) => requests[n],
    expect: 200,
  });
  const seconds = (performance.now() - started) / 1_000;
  table.note(`${name}: each`, "ms", p50);
  table.note(`${name}: each, p99`, "ms", p99);
  table.note(name, "products/s", requests.length * 250 / seconds);
}

function putAttribute(n: number): Uint8Array {
  const path = `products/warm-${n % 250}/attribute/quantity/${n % 1_000}`;
  return service.request("bench", "PUT", path);
}

function updates(
  connections: number,
  ms: number,
  { url }: { url: string } = service,
): Promise<Load> {
  return load({ url, connections, ms, request: putAttribute, expect: 204 });
}

/**
 * Attribute updates of one seller, while another uploads on four connections.
 */
async function updatesBesideUploads(round: number): Promise<void> {
  const bodies = Array.from(
    { length: 40 },
    (_, i) => service.upload("beside", document(`b${round}-${i}`)),
  );
  const [besides] = await Promise.all([
    updates(4, 1_000),
    load({
      url: service.url,
      connections: 4,
      ms: 1_000,
      request: (n) => bodies[n % bodies.length],
      expect: 200,
    }),
  ]);
  noteLoad("PUT attribute beside four uploads", besides);
}

/**
 * Prices and quantities of 10,000 products in each request, and updates of
 * another seller meanwhile.
 */
async function attributes(round: number): Promise<void> {
  const name = "attributes of 10,000 products";
  const requests = Array.from({ length: 5 }, (_, i) => {
    const body = stockDocument(10 * round + i);
    return service.request("stock", "POST", "bulk_attributes?v=1.1", body);
  });
  const send = () =>
    load({
      url: service.url,
      connections: 1,
      count: requests.length,
      request: (n) => requests[n],
      expect: 200,
    });
  const before = await service.cpuSeconds();
  const { p50 } = await send();
  const used = await service.cpuSeconds() - before;
  table.note(`${name}: each`, "ms", p50);
  table.note(`${name}: processor`, "ms", used * 1_000 / requests.length);
  const [beside] = await Promise.all([updates(4, 1_000), send()]);
  noteLoad("PUT attribute beside them", beside);
}

function stockDocument(version: number): Uint8Array {
  const products = Array.from({ length: STOCK }, (_, i) => {
    const n = i + version;
    return `<product><sku>${stockPrefix(i)}-${i % 250}</sku>` +
      `<price currency="SEK">${100 + n % 900}.50</price>` +
      `<quantity>${n % 1_000}</quantity></product>`;
  });
  return new TextEncoder().encode(`<products>${products.join("")}</products>`);
}

/** Of the document with the product of this number. */
function stockPrefix(n: number): string {
  return `s${Math.floor(n / 250)}`;
}

async function round(n: number): Promise<void> {
  const fresh = documents(`r${n}`, 8);
  limits(n, fresh[0]);
  await steady("bare Deno.serve, 16 connections", bareUrl, list);
  await bulk("bare service: 300 KB read, 250 rows written", fresh, 1, parts);
  await bulk("bulk, 250 new products, 300 KB", fresh);
  await bulk("bulk, the same again", fresh);
  const changed = fresh.map((_, i) => document(`r${n}-${i}`, { version: "2" }));
  await bulk("bulk, the same, most fields changed", changed);
  await bulk("bulk, four at once", documents(`f${n}`, 12), 4);
  await attributes(n);
  const { rate } = await updates(1, 1_000, parts);
  table.note("bare service: one-row commits, 1 connection", "/s", rate);
  for (const connections of [1, 16, 64]) {
    const found = await updates(connections, 1_000);
    noteLoad(`PUT attribute, ${connections} connections`, found);
  }
  await updatesBesideUploads(n);
  for (const [ms, { url }] of hosts) {
    const images = (prefix: string) => (i: number) => [`${url}/${prefix}-${i}`];
    await bulk(
      `bulk with an image each, host at ${ms} ms`,
      Array.from({ length: 4 }, (_, i) => `i${ms}-${n}-${i}`)
        .map((prefix) => document(prefix, { images: images(prefix) })),
    );
  }
  await steady("status of 250 products, 16 connections", service.url, status);
  await steady("list of ten webhooks, 16 connections", service.url, list);
  await steady("page of 20 products, 16 connections", service.url, page);
}

function documents(prefix: string, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => document(`${prefix}-${i}`));
}

// Downloads have their own benchmark, images.ts.
await using service = await BenchService.start({
  roles: "api",
  sellers: ["bench", "beside", "stock"],
});
table.note("start to `listening on`", "ms", service.startMs);
const bare = Deno.serve(
  { port: 0, hostname: "127.0.0.1", onListen: () => {} },
  () => new Response("<service/>"),
);
const bareUrl = `http://127.0.0.1:${bare.addr.port}`;
await using parts = await BenchHost.startBare(`${service.folder}/parts.db`);
const sqlite = new BareSqlite(`${service.folder}/bare.db`);
await using slow = await BenchHost.start(20);
await using prompt = await BenchHost.start(0);
const hosts: [number, BenchHost][] = [[0, prompt], [20, slow]];

await bulk("warm-up", [document("warm"), ...documents("w", 5)]);
await bulk("warm-up", documents("w", 6), 1, parts);
await service.addWebhooks("bench", prompt.url);
const final = await service.transactionOf("bench", document("final"));
const status = service.request("bench", "GET", `bulk_products/${final}`);
const list = service.request("bench", "GET", "webhooks");
const page = service.request("bench", "GET", "products?limit=20");
for (let n = 0; n < STOCK; n += 250) {
  await service.transactionOf("stock", document(stockPrefix(n)));
}
for (let n = 0; n < ROUNDS; n++) await round(n);
table.note("memory after all of it", "MiB", await service.memoryMiB());
table.forget("warm-up");

table.print();
await table.keep("api");
sqlite.close();
await bare.shutdown();
