/**
 * What the same work costs as uploads, catalogue and sellers grow.
 *
 *   deno run -A tests/bench/growth.ts [most products]     (2,000,000; 2 GB)
 */
import { join } from "node:path";
import { systemClock, systemIds } from "../../src/deps.ts";
import type { Product } from "../../src/domain/product.ts";
import type { Db } from "../../src/store/db.ts";
import { insertProducts } from "../../src/store/products.ts";
import { addSeller, sellerByName } from "../../src/store/sellers.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { load } from "./load.ts";
import { BenchService, document } from "./service.ts";
import { Table } from "./table.ts";

const MOST = Number(Deno.args[0] ?? 2_000_000);
const UPLOADS = 16;
const table = new Table();

function product(sku: string): Product {
  const now = systemClock.now();
  return {
    id: systemIds.uuid(),
    sku,
    title: `Chair ${sku}`,
    description: "A sturdy chair of oiled oak with a woven seat. ".repeat(6),
    price: "100.50",
    currency: "SEK",
    compare_at_price: null,
    vat_rate: "25",
    quantity: 1,
    availability: "in_stock",
    available_at: null,
    gtin: "4006381333931",
    brand: "Chairs & Co",
    mpn: null,
    condition: "new",
    status: "active",
    parent_sku: null,
    categories: ["Home > Chairs"],
    attributes: [],
    images: [],
    created_at: now,
    updated_at: now,
  };
}

/** Spreads so many products over so many sellers, "bench" the first of them. */
async function fill(
  db: Db,
  products: number,
  sellers: number,
): Promise<void> {
  const deps = { clock: systemClock, ids: systemIds };
  const ids: string[] = [];
  await db.write(async (tx) => {
    ids.push((await sellerByName(tx, "bench")).id);
    while (ids.length < sellers) {
      const { seller } = await addSeller(tx, deps, `seller-${ids.length}`);
      ids.push(seller.id);
    }
  });
  const each = Math.ceil(products / sellers);
  const size = Math.min(each, 1_000);
  for (let first = 0; first < each; first += size) {
    for (const id of ids) {
      const skus = Array.from({ length: size }, (_, n) => `p-${first + n}`);
      await db.write((tx) => insertProducts(tx, id, skus.map(product)));
    }
  }
}

/** Milliseconds of each of so many uploads, one after the other. */
async function uploads(
  service: BenchService,
  prefix: string,
  products = 250,
): Promise<number> {
  const bytes = products * 1_200;
  const requests = Array.from(
    { length: UPLOADS },
    (_, n) =>
      service.upload("bench", document(`${prefix}-${n}`, { products, bytes })),
  );
  const { p50 } = await load({
    url: service.url,
    connections: 1,
    count: UPLOADS,
    request: (n) => requests[n],
    expect: 200,
  });
  return p50;
}

/** What an upload of so many products takes. */
async function bySize(): Promise<void> {
  for (const products of [10, 50, 250]) {
    await using service = await BenchService.start({
      roles: "api",
      sellers: ["bench"],
    });
    await uploads(service, "warm");
    const before = await service.memoryMiB();
    const name = `upload of ${products} products`;
    for (let round = 0; round < 5; round++) {
      const ms = await uploads(service, `r${round}`, products);
      table.note(name, "ms", ms);
      table.note(`${name}: a product`, "µs", ms * 1_000 / products);
    }
    const more = await service.memoryMiB() - before;
    table.note(`${name}: memory gained by ${5 * UPLOADS}`, "MiB", more);
  }
}

/** What requests take beside so many products of so many sellers. */
async function byStock(products: number, sellers: number): Promise<void> {
  const beside = `beside ${products} products of ${sellers} sellers`;
  await using service = await BenchService.start({
    roles: "api",
    sellers: ["bench"],
    fill: async (dataDir) => {
      const db = openSqlite(join(dataDir, "seller.db"));
      await fill(db, products, sellers);
      await db.close();
    },
  });
  table.note(`start, ${beside}`, "ms", service.startMs);
  await uploads(service, "warm");
  const id = await service.transactionOf("bench", document("status"));
  const each = Math.ceil(products / sellers);
  const requests = {
    "attribute updates, 16 connections": (n: number) => {
      // A step that visits them in an order of no use to any cache.
      const sku = `p-${(n * 7_919) % each}`;
      const path = `products/${sku}/attribute/quantity/${n % 1_000}`;
      return service.request("bench", "PUT", path);
    },
    "status of 250 products, 16 connections": () =>
      service.request("bench", "GET", `bulk_products/${id}`),
    "first page of products, 16 connections": () =>
      service.request("bench", "GET", "products?limit=20"),
  };
  for (let round = 0; round < 3; round++) {
    const ms = await uploads(service, `r${round}`);
    table.note(`upload of 250, ${beside}`, "ms", ms);
    for (const [name, request] of Object.entries(requests)) {
      const { rate } = await load({
        url: service.url,
        connections: 16,
        ms: 700,
        request,
        expect: name.startsWith("attribute") ? 204 : 200,
      });
      table.note(`${name}, ${beside}`, "/s", rate);
    }
  }
  table.note(`memory, ${beside}`, "MiB", await service.memoryMiB());
}

await bySize();
for (const products of [1_000, 100_000, MOST]) await byStock(products, 10);
await byStock(100_000, 1_000);
table.print();
await table.keep("growth");
