/**
 * An import of 50,000 products without images, by the program itself: new, then
 * unchanged, then with other quantities; once by default. Meanwhile, requests
 * of another seller; and the same requests without an import.
 *
 * deno run -A tests/bench/imports.ts [ROUNDS]
 */
import { createClient } from "../../src/client/mod.ts";
import { temporaryFolder } from "../support/process.ts";
import { Service } from "../processes/service.ts";
import { cpuSecondsOf } from "../support/cpu.ts";
import { residentMiB } from "../support/vitals.ts";
import { Connection, requestBytes } from "./load.ts";
import { quantile, Table } from "./table.ts";

const PRODUCTS = 50_000;
/** The time limit of an import. */
const LIMIT_S = 20;
/** The limit of the p99 of another seller's requests meanwhile. */
const LIMIT_MS = 100;
const ROUNDS = Number(Deno.args[0] ?? 1);
const DESCRIPTION = "A sturdy chair of oiled oak with a woven seat. ".repeat(5);
/**
 * Connections of the other seller, and the pause between two requests of each.
 */
const CONNECTIONS = 2;
const PAUSE_MS = 20;
const ALONE_MS = 5_000;
const STOCK = 250;

/** Bytes, so that sending takes no time of the measuring process. */
function documentOf(round: number, quantity: number): Uint8Array<ArrayBuffer> {
  return documentWith(PRODUCTS, `N-${round}`, quantity);
}

function documentWith(
  products: number,
  prefix: string,
  quantity: number,
): Uint8Array<ArrayBuffer> {
  const rows = Array.from(
    { length: products },
    (_, n) =>
      `<product><sku>${prefix}-${n}</sku><title>Chair ${n}</title>` +
      `<description>${DESCRIPTION}</description>` +
      '<price currency="SEK">100</price>' +
      `<quantity>${quantity}</quantity></product>`,
  );
  return new TextEncoder().encode(`<products>${rows.join("")}</products>`);
}

const table = new Table();
await using folder = await temporaryFolder();
await using service = await Service.start(folder.path, {
  sellers: ["acme", "other"],
  env: { SELLER_LOG: "error", SELLER_RATE_LIMIT: "0" },
  preload: Deno.env.get("PRE"),
});
const { pid } = service.program;
const clientOf = (seller: string) =>
  createClient({ url: service.url, key: service.keys.get(seller)! });
const client = clientOf("acme");
const stock = documentWith(STOCK, "other", 1);
await clientOf("other").uploads.create({
  products: new TextDecoder().decode(stock),
});

/** Updates and reads of the other seller until `end` is resolved. */
async function beside(name: string, end: Promise<void>): Promise<number> {
  let isOver = false;
  const over = end.finally(() => isOver = true);
  const took: number[] = [];
  const headers = { "X-Service-Auth": service.keys.get("other")! };
  const lane = async (_: unknown, index: number) => {
    const connection = await Connection.open(service.url);
    for (let n = index; !isOver; n++) {
      const product = `/seller_api/products/other-${n % STOCK}`;
      const request = n % 2 === 0
        ? requestBytes("PUT", `${product}/attribute/quantity/${n}`, headers)
        : requestBytes("GET", product, headers);
      const began = performance.now();
      const status = await connection.send(request);
      took.push(performance.now() - began);
      if (status >= 300) throw new Error(`answered ${status}`);
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
    connection.close();
  };
  await Promise.all([over, ...Array.from({ length: CONNECTIONS }, lane)]);
  const p99 = quantile(took, 0.99);
  table.note(`another seller, ${name}: p50`, "ms", quantile(took, 0.5));
  table.note(`another seller, ${name}: p99`, "ms", p99);
  table.note(`another seller, ${name}: slowest`, "ms", quantile(took, 1));
  return p99;
}

async function importOf(body: Uint8Array<ArrayBuffer>): Promise<void> {
  const response = await fetch(`${service.url}/seller_api/imports?v=1.1`, {
    method: "POST",
    headers: {
      "X-Service-Auth": service.keys.get("acme")!,
      "Content-Type": "text/xml",
    },
    body,
  });
  const [, importId = ""] = /<import_id>(.*?)</.exec(await response.text()) ??
    [];
  const { status } = await client.imports.waitFor({ import_id: importId });
  if (status !== "completed") throw new Error(`the import is ${status}`);
}

let slowest = 0;
let highest = 0;
const pause = () => new Promise<void>((done) => setTimeout(done, ALONE_MS));
await beside("warm", pause());
for (let round = 0; round < ROUNDS; round++) {
  await beside("alone", pause());
  const cases = [["new", 1], ["unchanged", 1], ["quantities", 2]] as const;
  for (const [name, quantity] of cases) {
    const body = documentOf(round, quantity);
    const began = performance.now();
    const cpu = await cpuSecondsOf(pid);
    const p99 = await beside(`beside ${name}`, importOf(body));
    const seconds = (performance.now() - began) / 1_000;
    slowest = Math.max(slowest, seconds);
    highest = Math.max(highest, p99);
    table.note(`50,000 products, ${name}`, "s", seconds);
    table.note(
      `50,000 products, ${name}: processor`,
      "s",
      await cpuSecondsOf(pid) - cpu,
    );
    table.note(
      `50,000 products, ${name}: resident`,
      "MiB",
      await residentMiB(pid),
    );
  }
}
table.print();
console.log(
  `${slowest.toFixed(1)} s at most, of ${LIMIT_S} s; ` +
    `p99 of another seller ${highest.toFixed(0)} ms at most, of ${LIMIT_MS} ms`,
);
