/** This program reads the databases of all releases. */
import { assertEquals, assertGreater } from "@std/assert";
import { gunzipSync } from "node:zlib";
import type { Db } from "../../src/database/db.ts";
import { SCHEMA } from "../../src/database/schema.ts";
import { systemClock } from "../../src/deps.ts";
import { boot } from "../support/app.ts";
import { sharedServer } from "../support/postgres.ts";
import { RELEASED, type Sample } from "./sample.ts";

/** A kept database, such as `1.0.0.db`. */
const samples = [...Deno.readDirSync(RELEASED)]
  .filter(({ name }) => name.endsWith(".gz"))
  .map(({ name }) => name.replace(".gz", "")).sort();

Deno.test("there is a database of a release", () => {
  assertGreater(samples.length, 0);
});

/** Restores a kept database; returns its URL if it is of PostgreSQL. */
async function restore(name: string, dataDir: string): Promise<string | null> {
  const packed = await Deno.readFile(new URL(`${name}.gz`, RELEASED));
  const content = gunzipSync(packed);
  if (name.endsWith(".db")) {
    await Deno.writeFile(`${dataDir}/seller.db`, content, { mode: 0o600 });
    return null;
  }
  const server = await sharedServer();
  const url = await server.database({ empty: true });
  const database = new URL(url).pathname.slice(1);
  await server.sql(database, new TextDecoder().decode(content));
  return url;
}

/** Tables whose rows go within seconds, or come after minutes. */
const FLEETING = [
  "changed_images",
  "import_keys",
  "maintenance_positions",
  "notices",
];

/** The tables without a row in which the sample has rows. */
async function emptyTables(db: Db): Promise<string[]> {
  const empty: string[] = [];
  for (const { name } of SCHEMA) {
    if (FLEETING.includes(name)) continue;
    const row = await db.read((sql) =>
      sql.get(`SELECT 1 FROM ${name} LIMIT 1`)
    );
    if (row === undefined) empty.push(name);
  }
  return empty;
}

for (const name of samples) {
  Deno.test(`the database ${name} is upgraded, with everything in it`, async () => {
    // The application removes it.
    const dataDir = await Deno.makeTempDir();
    const databaseUrl = await restore(name, dataDir);
    const { sellerId: id, key, madeAt }: Sample = JSON.parse(
      await Deno.readTextFile(new URL(`${name}.seller`, RELEASED)),
    );
    // Then nothing is old enough to be deleted.
    const age = systemClock.now() - madeAt;
    const clock = { ...systemClock, now: () => systemClock.now() - age };
    await using app = await boot({
      deps: { clock },
      config: { dataDir, databaseUrl },
      seller: { id, key },
    });
    const client = app.client();
    assertEquals((await client.account.get()).account.id, id);
    assertEquals(await emptyTables(app.app.db), []);
    const found: string[] = [];
    for await (const one of client.products.list()) {
      const { sku, title, price, quantity, sale, manufacturer } = one;
      found.push([
        ...[sku, title, price?.amount, quantity],
        ...[sale?.price, manufacturer],
      ].join());
    }
    assertEquals(found, [
      "A,Mug A,99,12,89,",
      "B,Mug B,149,12,79,",
      "E,Mug A,149,12,69,kockums",
      "D,Mug A,149,12,,",
    ]);
    const { product: mug } = await client.products.get({ sku_or_id: "E" });
    assertEquals(mug.safety_text, "Hot when filled.");
    assertEquals(mug.images!.map(({ status }) => status), [
      "stored",
      "stored",
      "failed",
    ]);
    const { contacts } = await client.contacts.list();
    assertEquals(contacts.map(({ name }) => name), ["kockums"]);
    const { mappings } = await client.mappings.list();
    assertEquals(mappings.map(({ name }) => name), ["prices"]);
    const uploads = await Array.fromAsync(client.uploads.list());
    assertEquals(uploads.filter(({ undoes }) => undoes).length, 1);
    const imports = await Array.fromAsync(client.imports.list());
    assertEquals(imports.map(({ status }) => status), [
      "completed",
      "completed_with_errors",
    ]);
    const { changes } = await client.products.history({
      sku_or_id: "A",
      attribute: "price",
    });
    const prices = Array.from({ length: 31 }, (_, n) => `${99 + n}`);
    assertEquals(changes.map(({ from }) => from), [
      ...["89", ...prices],
      "149",
    ]);
    const { webhook } = await client.webhooks.list();
    assertEquals(webhook.map(({ trigger }) => trigger), [
      "order_created",
      "order_paid",
    ]);
    const { deliveries } = await client.deliveries.list({
      trigger: "order_paid",
    });
    const attempts = deliveries.map(({ attempts }) => attempts.at(-1)!.status);
    assertEquals(attempts, [500]);
    // What was undone or deleted then can be changed now.
    const { transaction_id } = await client.uploads.create({
      products: [{ sku: "B", quantity: 1 }],
    });
    const { products } = await client.uploads.waitFor({ transaction_id });
    assertEquals(products.updated, 1);
  });
}
