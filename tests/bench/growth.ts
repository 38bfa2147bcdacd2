/**
 * The cost of the same work as uploads and catalogue grow, on SQLite or
 * PostgreSQL.
 *
 * deno run -A tests/bench/growth.ts [most products] [postgres]
 *
 * By default 1,000,000 products, which take 1 GB.
 */
import { join } from "node:path";
import { PostgresServer } from "../support/postgres.ts";
import { load } from "./load.ts";
import { BenchService, document } from "./service.ts";
import {
  fillPostgres,
  fillSqlite,
  SERVER_SETTINGS,
  type Stock,
} from "./stock.ts";
import { Table } from "./table.ts";

const MOST = Number(Deno.args[0] ?? 1_000_000);
const SELLERS = ["bench", ...Array.from({ length: 9 }, (_, n) => `s-${n}`)];
const UPLOADS = 16;
const ROUNDS = 5;
const table = new Table();

await using stack = new AsyncDisposableStack();
const server = Deno.args[1] === "postgres"
  ? stack.use(
    await PostgresServer.start({}, SERVER_SETTINGS),
  )
  : null;

/**
 * Milliseconds of each of this many uploads, one after the other; `again`: when
 * all products exist already.
 */
async function uploads(
  service: BenchService,
  prefix: string,
  products = 250,
): Promise<{ created: number; again: number }> {
  const bytes = products * 1_200;
  const requests = Array.from(
    { length: UPLOADS },
    (_, n) =>
      service.upload("bench", document(`${prefix}-${n}`, { products, bytes })),
  );
  const send = () =>
    load({
      url: service.url,
      connections: 1,
      count: UPLOADS,
      request: (n) => requests[n],
      expect: 200,
    });
  return { created: (await send()).p50, again: (await send()).p50 };
}

/** How long uploads of few and of many products take, alternating. */
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
      const { created: ms } = await uploads(
        service,
        `r${round}-${products}`,
        products,
      );
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

/** A service with a catalogue that exists before the work begins. */
async function stocked(stock: Stock): Promise<BenchService> {
  const databaseUrl = await server?.database();
  return await BenchService.start({
    roles: "api",
    sellers: SELLERS,
    databaseUrl,
    fill: (dataDir) =>
      databaseUrl === undefined
        ? Promise.resolve(fillSqlite(join(dataDir, "seller.db"), stock, false))
        : fillPostgres(databaseUrl, stock, false),
  });
}

/** How long requests take with this many products of this many sellers. */
async function byStock(
  service: BenchService,
  { products, sellers }: Stock,
  round: number,
): Promise<void> {
  const setting = `beside ${products} products`;
  const { created, again } = await uploads(service, `r${round}`);
  table.note(`upload of 250 new products, ${setting}`, "ms", created);
  table.note(`upload of 250 unchanged products, ${setting}`, "ms", again);
  const final = document(`status-${round}`);
  const id = await service.transactionOf("bench", final);
  const each = Math.ceil(products / sellers);
  const requests: [string, number, (n: number) => Uint8Array][] = [
    // By a step that visits them in an order that defeats every cache.
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
      (n) => {
        const after = idOf((n * 7_919) % products);
        const path = `products?limit=20&after=${after}`;
        return service.request("bench", "GET", path);
      },
    ],
    [
      "a page of 20 changes",
      200,
      (n) => service.changes((n * 7_919) % products, 20),
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
    table.note(`${name}, ${setting}`, "/s", rate);
  }
  table.note(`memory, ${setting}`, "MiB", await service.memoryMiB());
}

/** The id of the n-th product of the stock. */
function idOf(n: number): string {
  return `01a1f8b7-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

await bySize();
const services: [BenchService, Stock][] = [];
for (const products of [10_000, 100_000, MOST]) {
  const stock = { products, sellers: SELLERS.length };
  const service = stack.use(await stocked(stock));
  await uploads(service, "warm");
  services.push([service, stock]);
}
for (let round = 0; round < ROUNDS; round++) {
  for (const [service, stock] of services) await byStock(service, stock, round);
}
table.print();
await table.keep(server === null ? "growth" : "growth on PostgreSQL");
