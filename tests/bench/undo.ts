/**
 * What the ability to undo costs an upload: the same uploads, alternating
 * between a service that keeps undo records and one that keeps none.
 *
 * deno run -A tests/bench/undo.ts [ROUNDS]
 */
import process from "node:process";
import { assertEquals } from "@std/assert";
import { boot, type TestApp } from "../support/app.ts";
import { quantile, Table } from "./table.ts";

const ROUNDS = Number(Deno.args[0] ?? 150);
const PRODUCTS = 250;
const DESCRIPTION = "A sturdy chair of oiled oak with a woven seat. ".repeat(
  20,
);

const table = new Table();
await using keeping = await boot({ config: { undoDays: 30 } });
await using none = await boot({ config: { undoDays: 0 } });

function document(product: (n: number) => string): Uint8Array<ArrayBuffer> {
  const rows = Array.from({ length: PRODUCTS }, (_, n) => product(n));
  return new TextEncoder().encode(`<products>${rows.join("")}</products>`);
}

interface Cost {
  /** Milliseconds. */
  wall: number;
  /** Milliseconds of processor time of this process, client and service. */
  processor: number;
}

async function costOf(
  app: TestApp,
  body: Uint8Array<ArrayBuffer>,
): Promise<Cost> {
  const begun = performance.now();
  const used = process.cpuUsage();
  const { status } = await app.upload(body);
  const { user, system } = process.cpuUsage(used);
  assertEquals(status, 200);
  const wall = performance.now() - begun;
  return { wall, processor: (user + system) / 1_000 };
}

/** The two alternate in being first. */
async function compare(
  name: string,
  rounds: number,
  bodyOf: (round: number) => Uint8Array<ArrayBuffer>,
): Promise<void> {
  const costs = new Map<TestApp, Cost[]>([[keeping, []], [none, []]]);
  for (let round = 0; round < rounds; round++) {
    const body = bodyOf(round);
    const order = round % 2 === 0 ? [keeping, none] : [none, keeping];
    for (const app of order) costs.get(app)!.push(await costOf(app, body));
  }
  for (const kind of ["wall", "processor"] as const) {
    const [kept, without] = [keeping, none].map((app) =>
      costs.get(app)!.map((cost) => cost[kind])
    );
    for (const value of kept) table.note(`${name}, ${kind}, undo`, "ms", value);
    for (const value of without) table.note(`${name}, ${kind}`, "ms", value);
    // Other programs disturb the fastest quarter least.
    const more = quantile(kept, 0.25) / quantile(without, 0.25) - 1;
    console.log(`${name}: ${(more * 100).toFixed(1)} % more ${kind} time`);
  }
}

await compare(
  "250 new products",
  Math.ceil(ROUNDS / 5),
  (round) =>
    document((n) =>
      `<product><sku>N-${round}-${n}</sku><title>Chair ${n}</title>` +
      `<description>${DESCRIPTION}</description>` +
      `<price currency="SEK">100</price><quantity>1</quantity></product>`
    ),
);
await compare(
  "250 quantities",
  ROUNDS,
  (round) =>
    document((n) =>
      `<product><sku>N-0-${n}</sku><quantity>${round + 2}</quantity></product>`
    ),
);
await compare(
  "250 unchanged products",
  ROUNDS,
  () =>
    document((n) =>
      `<product><sku>N-0-${n}</sku><quantity>${ROUNDS + 1}</quantity></product>`
    ),
);
table.print();
