/**
 * What a start costs beside many products and images, on SQLite.
 *
 *   deno run -A tests/bench/start.ts [products]
 *
 * 2,000,000 unless told, which take 4 GB of the temporary folder and as many
 * hard links; each product shows one image.
 */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { systemClock, systemIds } from "../../src/deps.ts";
import { FolderStore } from "../../src/images/storage/folder.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { type Program, startProgram } from "../support/process.ts";
import { Table } from "./table.ts";

const MOST = Number(Deno.args[0] ?? 2_000_000);
const ROUNDS = 2;
/** How long the processor time after a start is counted. */
const AFTER_MS = 10_000;
/** Names that one file may have on ext4, with a margin. */
const LINKS = 60_000;
const table = new Table();

/** SHA-256 of the n-th image, spread over all first digits. */
const SHA256 = "printf('%08x%056x', (i * 2654435761) % 4294967296, i)";
const ID = "printf('01a1f8b7-0000-7000-8000-%012x', i)";

async function fill(dataDir: string, products: number): Promise<void> {
  const file = join(dataDir, "seller.db");
  const db = await openSqlite(file);
  const deps = { clock: systemClock, ids: systemIds };
  await db.write((tx) => addSeller(tx, deps, "bench"));
  await db.close();
  const raw = new DatabaseSync(file);
  raw.exec("PRAGMA synchronous = OFF");
  const all = `WITH RECURSIVE n (i) AS (
    SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${products})`;
  if (products > 0) {
    raw.exec(`BEGIN;
      INSERT INTO products (seller_no, id, sku, change_no, status, created_at,
          updated_at, quantity, availability, price, currency, condition, title,
          categories, images, attributes, description)
        ${all} SELECT (SELECT seller_no FROM sellers), ${ID}, 'p-' || i, i,
          'active', 1, 1, 1, 'in_stock', '100.50', 'SEK', 'new', 'Chair ' || i,
          '[]', '[{"url":"http://images.example/' || i || '.png","alt":null}]',
          '[]', printf('%.300c', 'x') FROM n;
      INSERT INTO images (id, url, origin, state, attempts, crashes, created_at,
          sha256, type, bytes, width, height, stored_at)
        ${all} SELECT ${ID}, 'http://images.example/' || i || '.png',
          'http://images.example', 'stored', 1, 0, 1, ${SHA256}, 'png', 1, 1, 1, 1 FROM n;
      INSERT INTO product_images (image_id, seller_no, product_id)
        ${all} SELECT ${ID}, (SELECT seller_no FROM sellers), ${ID} FROM n;
      COMMIT`);
  }
  const files = raw.prepare("SELECT sha256 FROM images ORDER BY sha256");
  linkAll(join(dataDir, "images"), files.iterate());
  raw.close();
}

/** Makes an image file of each name. */
function linkAll(folder: string, rows: Iterable<Record<string, unknown>>) {
  new FolderStore(folder).prepare();
  let n = 0;
  for (const { sha256 } of rows) {
    const original = `${folder}/original-${Math.floor(n / LINKS)}`;
    if (n++ % LINKS === 0) Deno.writeTextFileSync(original, "x");
    Deno.linkSync(
      original,
      `${folder}/${String(sha256).slice(0, 2)}/${sha256}.png`,
    );
  }
}

/** User and system seconds so far. */
function processorSeconds({ pid }: Program): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function answers(url: string): Promise<void> {
  for (;;) {
    const { status, body } = await fetch(url);
    await body?.cancel();
    if (status === 200) return;
    await new Promise((done) => setTimeout(done, 5));
  }
}

async function measure(dataDir: string, products: number): Promise<void> {
  const name = (what: string) => `${what}, ${products} products and images`;
  const began = performance.now();
  const args = ["serve", "--port", "0", "--data", dataDir, "--log", "error"];
  await using program = await startProgram(args);
  await answers(`${program.url}/healthz`);
  table.note(name("/healthz is 200"), "ms", performance.now() - began);
  await answers(`${program.url}/readyz`);
  table.note(name("/readyz is 200"), "ms", performance.now() - began);
  const before = processorSeconds(program);
  await new Promise((done) => setTimeout(done, AFTER_MS));
  const used = processorSeconds(program) - before;
  table.note(name("processor in the next 10 s"), "ms", used * 1_000);
}

await using stack = new AsyncDisposableStack();
const stocks: [string, number][] = [];
for (const products of [1_000, MOST]) {
  const dataDir = await Deno.makeTempDir({ prefix: "seller-start-" });
  stack.defer(() => Deno.remove(dataDir, { recursive: true }));
  await fill(dataDir, products);
  console.log(`filled ${products}`);
  stocks.push([dataDir, products]);
}
for (let round = 0; round < ROUNDS; round++) {
  for (const [dataDir, products] of stocks) await measure(dataDir, products);
}
table.print();
await table.keep("start");
