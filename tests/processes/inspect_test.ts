/** The checks after a run find what they are there for. */
import { assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "../support/process.ts";
import { Processes } from "./processes.ts";
import { SqliteStore } from "./store.ts";
import { Traffic } from "./traffic.ts";

const SETTLE_MS = 60_000;

/** Rows that break a promise, with the message of `Traffic.look`. */
const BROKEN: Readonly<Record<string, [statement: string, message: RegExp]>> = {
  "a lost update": [
    "UPDATE products SET quantity = quantity - 1 WHERE sku = 'acme-set1'",
    /acme-set1 quantity is at \d+, was acknowledged \d+ and sent \d+/,
  ],
  "an update that was not sent": [
    "UPDATE products SET quantity = quantity + 1 WHERE sku = 'acme-set1'",
    /acme-set1 quantity is at/,
  ],
  "half an upload": [
    "UPDATE products SET title = 'v0' WHERE sku = 'acme-up1-0'",
    /half an upload of acme-up1/,
  ],
  "an upload without its record": [
    "UPDATE transactions SET id = '0' WHERE id = (SELECT MAX(id) FROM transactions)",
    /is lost: SELECT id FROM transactions/,
  ],
  "a lost event": ["DELETE FROM deliveries", /is lost: SELECT event_id/],
  "a wrong counter": [
    "UPDATE transactions SET images_stored = images_stored + 1",
    /images_stored/,
  ],
};

/** Rows that `Traffic.figures` refuses. */
const DONE_TWICE: readonly string[] = [
  "UPDATE hourly_counts SET n = n + 1 WHERE name = 'uploads'",
  "UPDATE hourly_counts SET n = n + 1 WHERE name = 'images_stored'",
  "UPDATE hourly_counts SET n = n + 1 WHERE name = 'deliveries_delivered'",
  "UPDATE images SET state = 'failed', code = 'image_not_found'",
];

Deno.test("the checks after a run find each broken promise", async (t) => {
  await using folder = await temporaryFolder();
  const store = new SqliteStore(folder.path);
  await using processes = await Processes.start(store);
  await using traffic = new Traffic(processes, {
    uploaders: 1,
    skus: 1,
    emitters: 1,
    kinds: ["good"],
  });
  await traffic.during(() => traffic.wentOn(), SETTLE_MS);
  const [service] = processes.services;
  assertEquals((await service.stop()).code, 0);
  const file = `${folder.path}/seller.db`;
  const sound = await Deno.readFile(file);
  const restore = async () => {
    await Deno.writeFile(file, sound);
    for (const log of ["-wal", "-shm"]) {
      await Deno.remove(file + log).catch(() => {});
    }
  };
  const without = async (statement: string) => {
    await restore();
    using database = new DatabaseSync(file);
    database.exec(`PRAGMA foreign_keys = OFF; ${statement}`);
  };
  for (const [name, [statement, message]] of Object.entries(BROKEN)) {
    await t.step(name, async () => {
      await without(statement);
      const error = await assertRejects(() => traffic.look(), Error);
      if (!message.test(error.message)) throw error;
    });
  }
  for (const statement of DONE_TWICE) {
    await t.step(statement, async () => {
      await without(statement);
      await assertRejects(() => traffic.figures(), Error);
    });
  }
  await t.step("a damaged image", async () => {
    await restore();
    await traffic.look();
    await traffic.figures();
    const [prefix] = [...Deno.readDirSync(store.images)]
      .filter(({ isDirectory }) => isDirectory);
    const [image] = [...Deno.readDirSync(`${store.images}/${prefix.name}`)];
    const path = `${store.images}/${prefix.name}/${image.name}`;
    await Deno.writeFile(path, new Uint8Array([0]), { append: true });
    await assertRejects(() => traffic.figures(), Error, image.name);
  });
});
