/**
 * The cost of the keys of products: inserts and attribute updates, without
 * HTTP, with 20,000 stored products or the given number.
 *
 * deno run -A tests/bench/keys.ts [sqlite|postgres] [products]
 *
 * Processor seconds are those of this process; with SQLite, that is all of the
 * work. Flushing to a disk takes longer.
 */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import process from "node:process";
import { updateAttribute } from "../../src/catalogue/attribute.ts";
import { rowChange, writeProducts } from "../../src/catalogue/product_rows.ts";
import type { Db } from "../../src/database/db.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { systemClock, systemIds } from "../../src/deps.ts";
import type { Seller } from "../../src/sellers/seller.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import type { Services } from "../../src/services.ts";
import { PostgresServer } from "../support/postgres.ts";
import { chair } from "./chair.ts";
import { fillPostgres, fillSqlite, type Stock } from "./stock.ts";
import { Table } from "./table.ts";

const STOCK = Number(Deno.args[1] ?? 20_000);
const SELLERS = 10;
const IN_ONE = 250;
const MORE = 5_000;
const UPDATES = 600;
const ROUNDS = 3;
const table = new Table();

/** An engine: opens its database, and reports what it has written. */
interface Engine {
  open(): Promise<Db>;
  /** Adds the stock to a database that has its sellers. */
  fill(stock: Stock): Promise<void>;
  /** Bytes of its log so far; starts a new log if it can. */
  beginLog(): Promise<number>;
  logged(): Promise<number>;
  size(db: Db): Promise<number>;
  /**
   * Bytes of a page in its log, with a header; null: it does not write whole
   * pages.
   */
  frame: number | null;
}

/** A page of 4 KiB and its header. */
const FRAME = 4_120;

/** Pages in the log before it is checkpointed; the file may be longer. */
function framesOf(file: string, mode: "PASSIVE" | "TRUNCATE"): number {
  using connection = new DatabaseSync(file);
  const row = connection.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
  return Number(row!.log);
}

function sqlite(folder: string): Engine {
  const file = join(folder, "seller.db");
  return {
    open: () => openSqlite(file),
    fill: (stock) => Promise.resolve(fillSqlite(file, stock, false)),
    beginLog: () => Promise.resolve(FRAME * framesOf(file, "TRUNCATE")),
    logged: () => Promise.resolve(FRAME * framesOf(file, "PASSIVE")),
    size: async () => (await Deno.stat(file)).size,
    frame: FRAME,
  };
}

async function postgres(server: PostgresServer): Promise<Engine> {
  const name = `keys${crypto.randomUUID().replaceAll("-", "")}`;
  await server.sql("postgres", `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = server.url(name);
  const logged = async () => {
    const [row] = await server.sql(
      name,
      "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes",
    );
    return Number((row as { bytes: string }).bytes);
  };
  return {
    open: () => openPostgres({ url }),
    fill: (stock) => fillPostgres(url, stock, false),
    beginLog: logged,
    logged,
    size: async (db) => (await db.sizes()).database,
    frame: null,
  };
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * Records how many operations a second `doing` did, and the bytes of log for
 * each.
 */
async function measure(
  engine: Engine,
  name: string,
  pieces: number,
  doing: (db: Db) => Promise<void>,
): Promise<void> {
  const db = await engine.open();
  const before = await engine.beginLog();
  const [begun, busy] = [performance.now(), cpuSeconds()];
  await doing(db);
  const spent = cpuSeconds() - busy;
  const ms = performance.now() - begun;
  const bytes = await engine.logged() - before;
  table.note(name, "/s", pieces * 1_000 / ms);
  table.note(`${name}, of the processor`, "/s", pieces / spent);
  table.note(`${name}: log`, "bytes", bytes / pieces);
  if (engine.frame !== null) {
    table.note(`${name}: pages of it`, "", bytes / pieces / engine.frame);
  }
  await db.close();
}

async function insert(db: Db, sellers: readonly Seller[]): Promise<void> {
  for (let first = 0; first < MORE; first += IN_ONE) {
    const created = Array.from({ length: IN_ONE }, (_, n) => ({
      before: null,
      after: chair(`new-${first + n}`),
    }));
    const seller = sellers[first / IN_ONE % SELLERS];
    await db.write((tx) =>
      writeProducts(tx, seller, created.map(rowChange), null)
    );
  }
}

async function update(
  db: Db,
  sellers: readonly Seller[],
  nth: (n: number) => number,
): Promise<void> {
  for (let n = 0; n < UPDATES; n++) {
    const product = nth(n);
    await updateAttribute({ db } as Services, {
      seller: { ...sellers[product % SELLERS], keyId: "" },
      skuOrId: `p-${Math.floor(product / SELLERS)}`,
      priceJump: null,
      attribute: "quantity",
      value: `${n + 2}`,
    });
  }
}

async function writes(engine: Engine): Promise<void> {
  const db = await engine.open();
  const sellers = await db.write(async (tx) => {
    const made: Seller[] = [];
    while (made.length < SELLERS) {
      const deps = { clock: systemClock, ids: systemIds };
      made.push((await addSeller(tx, deps, `s-${made.length}`)).seller);
    }
    return made;
  });
  await db.close();
  await engine.fill({ products: STOCK, sellers: SELLERS });
  await measure(
    engine,
    "new products",
    MORE,
    (db) => insert(db, sellers),
  );
  await measure(
    engine,
    "updates of 250 products",
    UPDATES,
    (db) => update(db, sellers, (n) => n % IN_ONE),
  );
  await measure(
    engine,
    "updates of any product",
    UPDATES,
    (db) => update(db, sellers, (n) => n * 7_919 % STOCK),
  );
  const last = await engine.open();
  table.note(
    "size, a product",
    "bytes",
    await engine.size(last) / (STOCK + MORE),
  );
  await last.close();
}

async function onSqlite(fn: (engine: Engine) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  await fn(sqlite(folder));
  await Deno.remove(folder, { recursive: true });
}

if (Deno.args[0] === "postgres") {
  await using server = await PostgresServer.start();
  for (let n = 0; n < ROUNDS; n++) await writes(await postgres(server));
} else {
  for (let n = 0; n < ROUNDS; n++) await onSqlite(writes);
}
table.print();
