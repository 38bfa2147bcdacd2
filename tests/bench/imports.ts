/**
 * An import of 50,000 products without images, by the program itself: new, then
 * unchanged, then with other quantities; once unless told.
 *
 *   deno run -A tests/bench/imports.ts [ROUNDS]
 */
import { createClient } from "../../src/client/mod.ts";
import { temporaryFolder } from "../support/process.ts";
import { Service } from "../support/service.ts";
import { cpuSecondsOf } from "../support/cpu.ts";
import { residentMiB } from "../support/vitals.ts";
import { Table } from "./table.ts";

const PRODUCTS = 50_000;
/** What an import may take. */
const LIMIT_S = 20;
const ROUNDS = Number(Deno.args[0] ?? 1);
const DESCRIPTION = "A sturdy chair of oiled oak with a woven seat. ".repeat(5);

function documentOf(round: number, quantity: number): string {
  const rows = Array.from(
    { length: PRODUCTS },
    (_, n) =>
      `<product><sku>N-${round}-${n}</sku><title>Chair ${n}</title>` +
      `<description>${DESCRIPTION}</description>` +
      '<price currency="SEK">100</price>' +
      `<quantity>${quantity}</quantity></product>`,
  );
  return `<products>${rows.join("")}</products>`;
}

const table = new Table();
await using folder = await temporaryFolder();
await using service = await Service.start(folder.path, {
  env: { SELLER_LOG: "error" },
});
const { pid } = service.program;
const client = createClient({
  url: service.url,
  key: service.keys.get("acme")!,
});
let slowest = 0;
for (let round = 0; round < ROUNDS; round++) {
  const cases = [["new", 1], ["unchanged", 1], ["quantities", 2]] as const;
  for (const [name, quantity] of cases) {
    const products = documentOf(round, quantity);
    const began = performance.now();
    const cpu = await cpuSecondsOf(pid);
    const begun = await client.beginImport({ products });
    const { status } = await client.waitFor(begun);
    if (status !== "completed") throw new Error(`the import is ${status}`);
    const seconds = (performance.now() - began) / 1_000;
    slowest = Math.max(slowest, seconds);
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
console.log(`${slowest.toFixed(1)} s at most, of ${LIMIT_S} s`);
