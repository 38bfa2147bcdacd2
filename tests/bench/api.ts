/**
 * The running service over HTTP beside its limits, in one run: a bare
 * `Deno.serve`, bare `node:sqlite` with the same rows and durability, a SAX
 * pass over the same document.
 *
 *   deno task bench
 *
 * The service is a process of its own; rounds of all workloads take turns, so
 * that a machine that slows down slows all of them. Medians are quoted.
 */
import { DatabaseSync } from "node:sqlite";
import { SaxesParser } from "saxes";
import {
  runProgram,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";
import { Connection, load, requestBytes } from "./load.ts";

const ROUNDS = Number(Deno.args[0] ?? 5);
const XML = { "Content-Type": "text/xml" };

/** A document of about `bytes` bytes with 250 products. */
function document(
  prefix: string,
  images: string | null = null,
  products = 250,
  bytes = 300_000,
): Uint8Array {
  const words = "A sturdy chair of oiled oak with a woven seat. ";
  const text = words.repeat(Math.ceil(bytes / products / words.length))
    .slice(0, Math.floor(bytes / products) - 560);
  const rows = Array.from({ length: products }, (_, i) =>
    `<product>
  <sku>${prefix}-${i}</sku>
  <title>Chair number ${i} of ${prefix}</title>
  <description><![CDATA[<p>${text}</p>]]></description>
  <price currency="SEK">${100 + i}.50</price>
  <vat_rate>25</vat_rate>
  <quantity>${i}</quantity>
  <gtin>4006381333931</gtin>
  <brand>Chairs &amp; Co</brand>
  <categories><category>Home &gt; Chairs</category></categories>
  <attributes><attribute name="color">Oak</attribute><attribute name="size">M</attribute></attributes>${
      images === null
        ? ""
        : `<images><image>${images}/${prefix}-${i}.png</image></images>`
    }
</product>`);
  return new TextEncoder().encode(`<products>${rows.join("\n")}</products>`);
}

interface Measure {
  name: string;
  unit: string;
  values: number[];
}

const measures = new Map<string, Measure>();

function note(name: string, unit: string, value: number): void {
  const measure = measures.get(name) ?? { name, unit, values: [] };
  measure.values.push(value);
  measures.set(name, measure);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function saxPass(bytes: Uint8Array): number {
  const started = performance.now();
  const parser = new SaxesParser();
  parser.on("opentag", () => {});
  parser.on("text", () => {});
  parser.on("cdata", () => {});
  parser.write(new TextDecoder().decode(bytes)).close();
  return performance.now() - started;
}

/** Bare SQLite: 250 upserts in a commit, and one-row commits. */
class BareSqlite {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    const database = new DatabaseSync(file);
    database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
    database.exec(
      "CREATE TABLE p (id TEXT PRIMARY KEY, seller TEXT, sku TEXT, title TEXT, " +
        "description TEXT, price TEXT, quantity INTEGER, rest TEXT, " +
        "UNIQUE (seller, sku)) STRICT",
    );
    this.#database = database;
  }

  upserts(round: number): number {
    const statement = this.#database.prepare(
      "INSERT INTO p VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (seller, sku) " +
        "DO UPDATE SET title = excluded.title, quantity = excluded.quantity",
    );
    const description = "x".repeat(700);
    const started = performance.now();
    this.#database.exec("BEGIN IMMEDIATE");
    for (let i = 0; i < 250; i++) {
      const id = crypto.randomUUID();
      statement.run(id, "s", `${round}-${i}`, "t", description, "1", i, "[]");
    }
    this.#database.exec("COMMIT");
    return performance.now() - started;
  }

  oneRowCommits(ms: number): number {
    const statement = this.#database.prepare(
      "UPDATE p SET quantity = quantity + 1 WHERE seller = 's' AND sku = '0-1'",
    );
    const started = performance.now();
    let commits = 0;
    while (performance.now() - started < ms) {
      statement.run();
      commits++;
    }
    return commits * 1_000 / (performance.now() - started);
  }

  close(): void {
    this.#database.close();
  }
}

async function memoryMiB(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024;
}

await using folder = await temporaryFolder();
const env = {
  SELLER_DATA_DIR: folder.path,
  SELLER_PORT: "0",
  SELLER_RATE_LIMIT: "0",
  SELLER_LOG: "warn",
  SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
  // Downloads have a benchmark of their own, images.ts.
  SELLER_ROLES: "api",
};
async function addSeller(name: string): Promise<string> {
  const { stdout } = await runProgram(["seller", "add", name], { env });
  return /api_key: (\S+)/.exec(stdout)![1];
}

const key = await addSeller("bench");
const otherKey = await addSeller("beside");
const auth = { "X-Service-Auth": key };
const startedAt = performance.now();
await using service = await startProgram(["serve"], { env });
note("start to `listening on`", "ms", performance.now() - startedAt);

const bare = Deno.serve(
  { port: 0, hostname: "127.0.0.1", onListen: () => {} },
  () => new Response("<service/>"),
);
const bareUrl = `http://127.0.0.1:${bare.addr.port}`;
const sqlite = new BareSqlite(`${folder.path}/bare.db`);

const upload = (body: Uint8Array) =>
  requestBytes("POST", "/seller_api/bulk_products?v=1.1", {
    ...auth,
    ...XML,
  }, body);
const put = (n: number) =>
  requestBytes(
    "PUT",
    `/seller_api/products/warm-${n % 250}/attribute/quantity/${n % 1_000}`,
    auth,
  );
const get = requestBytes("GET", "/seller_api/webhooks", auth);

/** A host whose images answer a HEAD after `delay` ms; its process and URL. */
async function imageHost(delay: number) {
  const script = `Deno.serve({ port: 0, hostname: "127.0.0.1",
    onListen: ({ port }) => console.log(port) }, async () => {
      if (${delay} > 0) await new Promise((done) => setTimeout(done, ${delay}));
      return new Response(null, { headers: { etag: '"1"' } });
    });`;
  const file = `${folder.path}/host-${delay}.ts`;
  await Deno.writeTextFile(file, script);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--allow-net", file],
    stdout: "piped",
  }).spawn();
  const { value } = await child.stdout.getReader().read();
  const port = new TextDecoder().decode(value).trim();
  return { child, url: `http://127.0.0.1:${port}` };
}

/** The id of the transaction that an upload was answered with. */
async function transactionOf(body: Uint8Array): Promise<string> {
  const connection = await Connection.open(service.url);
  await connection.send(upload(body));
  connection.close();
  return /<transaction_id>(.*?)</.exec(connection.answer)![1];
}

/** Attribute updates of one seller while another uploads on four connections. */
async function updatesBesideUploads(round: number): Promise<void> {
  const bodies = Array.from(
    { length: 40 },
    (_, i) => document(`b${round}-${i}`),
  );
  const beside = requestBytes.bind(null, "POST", "/seller_api/bulk_products", {
    ...XML,
    "X-Service-Auth": otherKey,
  });
  const [updates] = await Promise.all([
    load({
      url: service.url,
      connections: 4,
      ms: 1_000,
      request: put,
      expect: 204,
    }),
    load({
      url: service.url,
      connections: 4,
      ms: 1_000,
      request: (n) => beside(bodies[n % bodies.length]),
      expect: 200,
    }),
  ]);
  note("PUT attribute beside four uploads: p99", "ms", updates.p99);
}

/** Time of one upload on a connection of its own. */
async function bulk(name: string, bodies: Uint8Array[], connections = 1) {
  const requests = bodies.map(upload);
  const started = performance.now();
  const { p50 } = await load({
    url: service.url,
    connections,
    count: requests.length,
    request: (n) => requests[n],
    expect: 200,
  });
  const seconds = (performance.now() - started) / 1_000;
  note(`${name}: each`, "ms", p50);
  note(`${name}`, "products/s", requests.length * 250 / seconds);
}

await bulk("warm-up", [document("warm")]);
for (let round = 0; round < 5; round++) {
  await bulk("warm-up", [document(`w${round}`)]);
}
const hosts = [await imageHost(0), await imageHost(20)];
const final = await transactionOf(document("final"));
const status = requestBytes("GET", `/seller_api/bulk_products/${final}`, auth);
for (let round = 0; round < ROUNDS; round++) {
  const fresh = Array.from({ length: 8 }, (_, i) => document(`r${round}-${i}`));
  note("SAX pass over 300 KB", "ms", saxPass(fresh[0]));
  note("bare SQLite, 250 upserts in a commit", "ms", sqlite.upserts(round));
  note("bare SQLite, one-row commits", "/s", sqlite.oneRowCommits(500));
  const served = await load({
    url: bareUrl,
    connections: 16,
    ms: 500,
    request: () => get,
    expect: 200,
  });
  note("bare Deno.serve, 16 connections", "/s", served.rate);
  await bulk("bulk, 250 new products, 300 KB", fresh);
  await bulk("bulk, the same again", fresh);
  await bulk(
    "bulk, four at once",
    Array.from({ length: 12 }, (_, i) => document(`f${round}-${i}`)),
    4,
  );
  for (const connections of [1, 16, 64]) {
    const result = await load({
      url: service.url,
      connections,
      ms: 1_000,
      request: put,
      expect: 204,
    });
    note(`PUT attribute, ${connections} connections`, "/s", result.rate);
    note(`PUT attribute, ${connections} connections: p99`, "ms", result.p99);
  }
  await updatesBesideUploads(round);
  for (const [index, ms] of [0, 20].entries()) {
    await bulk(
      `bulk with an image each, host at ${ms} ms`,
      Array.from(
        { length: 4 },
        (_, i) => document(`i${ms}-${round}-${i}`, hosts[index].url),
      ),
    );
  }
  const polled = await load({
    url: service.url,
    connections: 16,
    ms: 500,
    request: () => status,
    expect: 200,
  });
  note("status of 250 products, 16 connections", "/s", polled.rate);
  const listed = await load({
    url: service.url,
    connections: 16,
    ms: 500,
    request: () => get,
    expect: 200,
  });
  note("list of webhooks, 16 connections", "/s", listed.rate);
}
note("memory after all of it", "MiB", await memoryMiB(service.pid));

console.log(`${navigator.hardwareConcurrency} cores, ${ROUNDS} rounds`);
for (const { name, unit, values } of measures.values()) {
  const low = Math.min(...values).toFixed(1);
  const high = Math.max(...values).toFixed(1);
  console.log(
    `${name.padEnd(52)} ${median(values).toFixed(1).padStart(10)} ${
      unit.padEnd(10)
    } (${low} – ${high})`,
  );
}
sqlite.close();
for (const { child } of hosts) child.kill();
await bare.shutdown();
