/**
 * What the same work costs as uploads, catalogue and sellers grow.
 *
 *   deno run -A tests/bench/growth.ts [most products]     (2,000,000; 2 GB)
 */
import { join } from "node:path";
import { systemClock, systemIds } from "../../src/deps.ts";
import type { Db } from "../../src/database/db.ts";
import { writeProducts } from "../../src/catalogue/product_rows.ts";
import type { Seller } from "../../src/sellers/seller.ts";
import { addSeller, sellerByName } from "../../src/sellers/seller_rows.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { chair } from "./chair.ts";
import { load } from "./load.ts";
import { BenchService, document } from "./service.ts";
import { Table } from "./table.ts";

const MOST = Number(Deno.args[0] ?? 2_000_000);
const UPLOADS = 16;
const ROUNDS = 5;
const table = new Table();

/** Spreads so many products over so many sellers, "bench" the first of them. */
async function fill(
  db: Db,
  products: number,
  sellers: number,
): Promise<void> {
  const deps = { clock: systemClock, ids: systemIds };
  const chosen: Seller[] = [];
  await db.write(async (tx) => {
    chosen.push(await sellerByName(tx, "bench"));
    while (chosen.length < sellers) {
      const { seller } = await addSeller(tx, deps, `seller-${chosen.length}`);
      chosen.push(seller);
    }
  });
  const each = Math.ceil(products / sellers);
  const size = Math.min(each, 1_000);
  for (let first = 0; first < each; first += size) {
    for (const seller of chosen) {
      const skus = Array.from({ length: size }, (_, n) => `p-${first + n}`);
      const created = skus.map((sku) => ({
        before: null,
        after: chair(sku),
      }));
      await db.write((tx) => writeProducts(tx, seller, created));
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

/** What uploads of few and of many products take, in turns. */
async function bySize(): Promise<void> {
  await using service = await BenchService.start({
    roles: "api",
    sellers: ["bench"],
  });
  await uploads(service, "warm");
  for (let round = 0; round < ROUNDS; round++) {
    for (const products of [10, 50, 250]) {
      const name = `upload of ${products} products`;
      const before = await service.memoryMiB();
      const ms = await uploads(service, `r${round}-${products}`, products);
      table.note(name, "ms", ms);
      table.note(`${name}: each product`, "µs", ms * 1_000 / products);
      table.note(`${name}: memory after`, "MiB", await service.memoryMiB());
      table.note(
        `${name}: memory gained`,
        "MiB",
        await service.memoryMiB() - before,
      );
    }
  }
}

/** A catalogue that is there before the work begins. */
interface Stock {
  products: number;
  sellers: number;
}

function stocked({ products, sellers }: Stock): Promise<BenchService> {
  return BenchService.start({
    roles: "api",
    sellers: ["bench"],
    fill: async (dataDir) => {
      const db = await openSqlite(join(dataDir, "seller.db"));
      await fill(db, products, sellers);
      await db.close();
    },
  });
}

/** What requests take beside so many products of so many sellers. */
async function byStock(
  service: BenchService,
  { products, sellers }: Stock,
  round: number,
): Promise<void> {
  const beside = `beside ${products} products of ${sellers} sellers`;
  const ms = await uploads(service, `r${round}`);
  table.note(`upload of 250, ${beside}`, "ms", ms);
  const final = document(`status-${round}`);
  const id = await service.transactionOf("bench", final);
  const each = Math.ceil(products / sellers);
  const requests: [string, number, (n: number) => Uint8Array][] = [
    // By a step that visits them in an order of no use to any cache.
    ["attribute updates", 204, (n) => {
      const path = `products/p-${(n * 7_919) % each}/attribute/quantity/${n}`;
      return service.request("bench", "PUT", path);
    }],
    [
      "status of 250 products",
      200,
      () => service.request("bench", "GET", `bulk_products/${id}`),
    ],
    [
      "a page of 20 products",
      200,
      () => service.request("bench", "GET", "products?limit=20"),
    ],
  ];
  for (const [name, expect, request] of requests) {
    const { url } = service;
    const { rate } = await load({
      url,
      connections: 16,
      ms: 700,
      request,
      expect,
    });
    table.note(`${name}, ${beside}`, "/s", rate);
  }
  table.note(`memory, ${beside}`, "MiB", await service.memoryMiB());
}

await bySize();
await using stack = new AsyncDisposableStack();
const services: [BenchService, Stock][] = [];
for (
  const stock of [
    { products: 1_000, sellers: 10 },
    { products: 100_000, sellers: 10 },
    { products: MOST, sellers: 10 },
    { products: 100_000, sellers: 1_000 },
  ]
) {
  const service = stack.use(await stocked(stock));
  await uploads(service, "warm");
  services.push([service, stock]);
}
for (let round = 0; round < ROUNDS; round++) {
  for (const [service, stock] of services) await byStock(service, stock, round);
}
table.print();
await table.keep("growth");
