/**
 * `complete=quantity` of a seller with 1,000,000 products, as a dry run, and
 * the updates of another seller meanwhile.
 *
 * deno run -A tests/bench/complete.ts [rounds]
 */
import { join } from "node:path";
import { load } from "./load.ts";
import { BenchService, document } from "./service.ts";
import { fillSqlite } from "./stock.ts";
import { Table } from "./table.ts";

const ROUNDS = Number(Deno.args[0] ?? 3);
/** One more upload reaches the seller's limit. */
const PRODUCTS = 1_000_000 - 250;
const table = new Table();

await using service = await BenchService.start({
  roles: "api",
  sellers: ["large", "other"],
  fill: (dataDir) => {
    const stock = { products: PRODUCTS, sellers: 1 };
    fillSqlite(join(dataDir, "seller.db"), stock, false);
    return Promise.resolve();
  },
});
const { url } = service;
await load({
  url,
  connections: 1,
  count: 1,
  request: () => service.upload("other", document("other")),
  expect: 200,
});

/** Updates of the other seller during this many milliseconds. */
async function updates(name: string, ms: number): Promise<void> {
  const { p50, p99 } = await load({
    url,
    connections: 4,
    ms,
    request: (n) => {
      const path = `products/other-${n % 250}/attribute/quantity/${n % 1_000}`;
      return service.request("other", "PUT", path);
    },
    expect: 204,
  });
  table.note(`${name}: p50`, "ms", p50);
  table.note(`${name}: p99`, "ms", p99);
}

/**
 * How many milliseconds a dry run takes if all products but one are missing.
 */
async function dryRun(): Promise<number> {
  const path = "bulk_attributes?v=1.1&complete=quantity&dry_run=true";
  const body = new TextEncoder().encode(
    "<products><product><sku>p-1</sku><quantity>2</quantity></product></products>",
  );
  const request = service.request("large", "POST", path, body);
  const begun = performance.now();
  await load({
    url,
    connections: 1,
    count: 1,
    request: () => request,
    expect: 422,
  });
  return performance.now() - begun;
}

await updates("warm", 1_000);
for (let round = 0; round < ROUNDS; round++) {
  await updates("PUT attribute, alone", 2_000);
  table.note("complete=quantity, dry run, alone", "ms", await dryRun());
  await Promise.all([
    updates("PUT attribute beside complete=quantity", 2_000),
    dryRun(),
  ]);
}
table.print();
