/**
 * Prints, as JSON, the bytes that stay on the heap of each read and each write
 * of the PostgreSQL database at a URL:
 *
 *   deno run -A --v8-flags=--expose-gc tests/database/postgres/growth.ts URL
 */
import { openPostgres } from "../../../src/database/postgres/engine.ts";

/** Warms up connections, statements and compiled code. */
const BEFORE = 1_000;
const MEASURED = 2_000;
const AT_ONCE = 50;

declare global {
  /** With `--expose-gc`. */
  var gc: () => void;
}

async function heapBytes(): Promise<number> {
  for (let n = 0; n < 3; n++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return Deno.memoryUsage().heapUsed;
}

async function growth(use: () => Promise<unknown>): Promise<number> {
  const useAll = async (count: number) => {
    for (let n = 0; n < count; n += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, use));
    }
  };
  await useAll(BEFORE);
  const before = await heapBytes();
  await useAll(MEASURED);
  return Math.round((await heapBytes() - before) / MEASURED);
}

const db = await openPostgres({ url: Deno.args[0] });
const read = await growth(() => db.read((sql) => sql.get("SELECT 1")));
const write = await growth(() => db.write((tx) => tx.get("SELECT 1")));
await db.close();
console.log(JSON.stringify({ read, write }));
Deno.exit();
