/**
 * The cost of a start with many products and images, on SQLite or PostgreSQL.
 *
 * deno run -A tests/bench/start.ts [products] [postgres]
 *
 * By default 2,000,000 products, which take 4 GB of the temporary folder and as
 * many hard links; each product shows one image.
 */
import { join } from "node:path";
import type { Db } from "../../src/database/db.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { systemClock, systemIds } from "../../src/deps.ts";
import { FolderStore } from "../../src/images/storage/folder.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { installedPostgres, PostgresServer } from "../support/postgres.ts";
import { type Program, startProgram } from "../support/process.ts";
import {
  fillPostgres,
  fillSqlite,
  SERVER_SETTINGS,
  sha256Of,
} from "./stock.ts";
import { Table } from "./table.ts";

const MOST = Number(Deno.args[0] ?? 2_000_000);
const ROUNDS = 3;
/** For how long after a start processor time is counted. */
const AFTER_MS = 12_000;
/** How many names one file may have on ext4, with a margin. */
const LINKS = 60_000;
const table = new Table();

await using stack = new AsyncDisposableStack();
const server = Deno.args[1] === "postgres"
  ? stack.use(
    await PostgresServer.start({}, SERVER_SETTINGS, {
      installation: await installedPostgres() ?? undefined,
    }),
  )
  : null;

/** The files and rows of a service. */
interface Place {
  dataDir: string;
  /** null: SQLite. */
  databaseUrl: string | null;
}

/** Adds a seller with the number 1. */
async function addOne(db: Db): Promise<void> {
  const deps = { clock: systemClock, ids: systemIds };
  await db.write((tx) => addSeller(tx, deps, "bench"));
  await db.close();
}

async function fill(products: number): Promise<Place> {
  const stock = { products, sellers: 1 };
  const dataDir = await Deno.makeTempDir({ prefix: "seller-start-" });
  stack.defer(() => Deno.remove(dataDir, { recursive: true }));
  linkAll(join(dataDir, "images"), products);
  if (server !== null) {
    const databaseUrl = await server.database();
    await addOne(await openPostgres({ url: databaseUrl }));
    await fillPostgres(databaseUrl, stock, true);
    return { dataDir, databaseUrl };
  }
  const file = join(dataDir, "seller.db");
  await addOne(await openSqlite(file));
  fillSqlite(file, stock, true);
  return { dataDir, databaseUrl: null };
}

/** Creates an image file for each name. */
function linkAll(folder: string, images: number): void {
  new FolderStore(folder).prepare(true);
  const names = Array.from({ length: images }, (_, n) => sha256Of(n)).sort();
  for (const [n, name] of names.entries()) {
    const original = `${folder}/original-${Math.floor(n / LINKS)}`;
    if (n % LINKS === 0) Deno.writeTextFileSync(original, "x");
    Deno.linkSync(original, `${folder}/${name.slice(0, 2)}/${name}.png`);
  }
}

/** User and system seconds so far. */
function processorSeconds({ pid }: Program): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentMiB({ pid }: Program): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024;
}

async function answers(url: string): Promise<void> {
  for (;;) {
    const { status, body } = await fetch(url);
    await body?.cancel();
    if (status === 200) return;
    await new Promise((done) => setTimeout(done, 5));
  }
}

async function measure(place: Place, products: number): Promise<void> {
  const { dataDir, databaseUrl } = place;
  const engine = server === null ? "SQLite" : "PostgreSQL";
  const name = (what: string) => `${what}, ${products} on ${engine}`;
  const args = ["serve", "--port", "0", "--data", dataDir, "--log", "error"];
  const env = { SELLER_DATABASE_URL: databaseUrl ?? "" };
  const serverBefore = await server?.cpuSeconds() ?? 0;
  const began = performance.now();
  await using program = await startProgram(args, { env });
  await answers(`${program.url}/healthz`);
  table.note(name("/healthz is 200"), "ms", performance.now() - began);
  await answers(`${program.url}/readyz`);
  table.note(name("/readyz is 200"), "ms", performance.now() - began);
  const before = processorSeconds(program);
  table.note(name("processor until then"), "ms", before * 1_000);
  await new Promise((done) => setTimeout(done, AFTER_MS));
  const used = processorSeconds(program) - before;
  table.note(name("processor in the next 12 s"), "ms", used * 1_000);
  table.note(name("resident memory"), "MiB", residentMiB(program));
  if (server === null) return;
  const ofServer = await server.cpuSeconds() - serverBefore;
  table.note(name("processor of the server in all"), "ms", ofServer * 1_000);
}

const stocks: [Place, number][] = [];
for (const products of [1_000, MOST]) {
  stocks.push([await fill(products), products]);
  console.log(`filled ${products}`);
}
for (let round = 0; round < ROUNDS; round++) {
  for (const [place, products] of stocks) await measure(place, products);
}
table.print();
await table.keep("start");
