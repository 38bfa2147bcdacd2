/**
 * The size of rows on PostgreSQL: bytes of each table and its indexes by row,
 * and bytes of the log (WAL) for each kind of write, with real products.
 *
 * deno run -A tests/bench/rows.ts [products]
 */
import type { ScalarField } from "../../src/catalogue/fields.ts";
import { readScalar } from "../../src/catalogue/product.ts";
import { readCorpus } from "../support/corpus.ts";
import { until } from "../support/clock.ts";
import { PostgresServer } from "../support/postgres.ts";
import { load } from "./load.ts";
import { BenchHost, BenchService } from "./service.ts";
import { Table } from "./table.ts";

const PRODUCTS = Number(Deno.args[0] ?? 4_000);
const IN_ONE = 250;
const IMAGES = 3;
const EVENTS = 2_000;
const UPDATES = 2_000;
const SELLER = "rows";
const table = new Table();

interface CorpusProduct {
  title: string | null;
  description: string | null;
  price: string | null;
  currency: string | null;
  brand: string | null;
  gtin: string | null;
  quantity: string | null;
  category: string | null;
  attributes: Record<string, string>;
}

function escaped(text: string): string {
  return text.replace(/[^\P{Cc}\s]/gu, "")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** An element, unless the service would refuse its value. */
function element(field: ScalarField, text: string | null): string {
  if (text === null || "problem" in readScalar(field, text)) return "";
  return `<${field}>${escaped(text)}</${field}>`;
}

/** As in its source as far as possible, with our own SKU and images. */
function xmlOf(product: CorpusProduct, sku: string, images: string): string {
  const { title, description, price, currency, category } = product;
  const urls = Array.from(
    { length: IMAGES },
    (_, n) =>
      `<image>${images}/${sku}-${n}/media/catalog/product/full-size.png</image>`,
  );
  const attributes = Object.entries(product.attributes)
    .filter(([, value]) => /^[^\n\r\t]{1,255}$/.test(value))
    .map(([name, value]) =>
      `<attribute name="${name}">${escaped(value)}</attribute>`
    );
  const categories = (category ?? "").split(",").slice(0, 5)
    .map((one) => one.trim()).filter((one, n, all) =>
      one !== "" && all.indexOf(one) === n
    );
  return `<product><sku>${sku}</sku>` +
    `<title>${escaped((title ?? "").trim().slice(0, 100))}</title>` +
    `<description>${
      escaped((description ?? "").slice(0, 4_000))
    }</description>` +
    `<price currency="${currency ?? "EUR"}">${price}</price>` +
    `<quantity>${Number(product.quantity) || 0}</quantity>` +
    element("brand", product.brand) + element("gtin", product.gtin) +
    `<categories>${
      categories.map((one) => `<category>${escaped(one)}</category>`).join("")
    }</categories>` +
    `<attributes>${attributes.join("")}</attributes>` +
    `<images>${urls.join("")}</images></product>`;
}

function isUsable({ title, price, currency }: CorpusProduct): boolean {
  return title !== null && title.trim() !== "" && price !== null &&
    !("problem" in readScalar("price", price)) &&
    /^[A-Z]{3}$/.test(currency ?? "EUR") && !/[\n\r\t]/.test(title.trim());
}

/** Bytes of log that `doing` wrote, for each item. */
async function logged(
  name: string,
  pieces: number,
  doing: () => Promise<unknown>,
): Promise<void> {
  const at = async () =>
    (await server.sql("postgres", "SELECT pg_current_wal_insert_lsn() AS at"))
      .map((row) => (row as { at: string }).at)[0];
  const before = await at();
  await doing();
  const [row] = await server.sql(
    "postgres",
    `SELECT '${await at()}'::pg_lsn - '${before}'::pg_lsn AS bytes`,
  );
  const { bytes } = row as { bytes: string };
  table.note(`log of ${name}`, "bytes", Number(bytes) / pieces);
}

async function sizes(database: string): Promise<void> {
  await server.sql(database, "VACUUM ANALYZE");
  const names = await server.sql(
    database,
    "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND " +
      "relnamespace = 'public'::regnamespace ORDER BY relname",
  ) as { name: string }[];
  for (const { name } of names) {
    const [row] = await server.sql(
      database,
      `SELECT (SELECT COUNT(*) FROM ${name})::int AS rows,
         pg_table_size('${name}')::int AS heap,
         pg_indexes_size('${name}')::int AS indexes`,
    ) as { rows: number; heap: number; indexes: number }[];
    if (row.rows < 1_000 && name !== "transactions") continue;
    table.note(`${name}, a row`, "bytes", row.heap / row.rows);
    table.note(`${name}, its indexes`, "bytes", row.indexes / row.rows);
  }
}

const corpus = readCorpus("products.jsonl");
if (corpus === null) throw new Error("corpora/products.jsonl is missing");
const products = new TextDecoder().decode(corpus).trim().split("\n")
  .map((line): CorpusProduct => JSON.parse(line)).filter(isUsable);
await using server = await PostgresServer.start();
await using host = await BenchHost.start();
const databaseUrl = await server.database();
const database = new URL(databaseUrl).pathname.slice(1);
await using service = await BenchService.start({
  roles: "api,images,webhooks",
  sellers: [SELLER],
  databaseUrl,
});

async function uploadAll(
  xml: (product: CorpusProduct, sku: string) => string,
): Promise<void> {
  for (let first = 0; first < PRODUCTS; first += IN_ONE) {
    await upload(Array.from({ length: IN_ONE }, (_, n) => {
      const product = products[(first + n) % products.length];
      return xml(product, `SKU-${first + n}`);
    }));
  }
}

async function upload(rows: readonly string[]): Promise<void> {
  const body = new TextEncoder().encode(
    `<products>${rows.join("")}</products>`,
  );
  const id = await service.transactionOf(SELLER, body);
  for (let status = ""; !status.includes("completed");) {
    const path = `bulk_products/${id}?wait=30`;
    status = await service.ask(service.request(SELLER, "GET", path));
  }
}

/** An order with a few lines. */
const ORDER = "<order><customer><name>Jane Doe</name><street>High Street 1" +
  "</street><city>Malmö</city></customer>" +
  "<line><sku>SKU-100</sku><quantity>1</quantity><price>149.00</price></line>"
    .repeat(3) +
  "</order>";

async function deliver(): Promise<void> {
  await load({
    url: service.url,
    connections: 8,
    count: EVENTS,
    request: (n) => service.event(SELLER, `order-${n}`, ORDER),
    expect: 200,
  });
  await until(async () => {
    const [row] = await server.sql(
      database,
      "SELECT COUNT(*)::int AS n FROM deliveries WHERE state <> 'delivered'",
    );
    return (row as { n: number }).n === 0;
  }, "every delivery");
}

await logged(
  "a new product with its images",
  PRODUCTS,
  () => uploadAll((product, sku) => xmlOf(product, sku, host.url)),
);
await service.addWebhooks(SELLER, host.url);
await logged("an event, delivered", EVENTS, deliver);
await sizes(database);
await logged("an attribute update", UPDATES, () =>
  load({
    url: service.url,
    connections: 8,
    count: UPDATES,
    request: (n) => {
      const path = `products/SKU-${n % PRODUCTS}/attribute/quantity/7${n}`;
      return service.request(SELLER, "PUT", path);
    },
    expect: 204,
  }));
await logged(
  "a product uploaded with another price, without images",
  PRODUCTS,
  () =>
    uploadAll(({ currency }, sku) =>
      `<product><sku>${sku}</sku>` +
      `<price currency="${currency ?? "EUR"}">17.25</price></product>`
    ),
);
table.print();
