/** This program reads the databases of all releases. */
import { assertEquals, assertGreater } from "@std/assert";
import { gunzipSync } from "node:zlib";
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

for (const name of samples) {
  Deno.test(`the database ${name} is upgraded, with everything in it`, async () => {
    // The application removes it.
    const dataDir = await Deno.makeTempDir();
    const databaseUrl = await restore(name, dataDir);
    const { sellerId: id, key }: Sample = JSON.parse(
      await Deno.readTextFile(new URL(`${name}.seller`, RELEASED)),
    );
    await using app = await boot({
      config: { dataDir, databaseUrl },
      seller: { id, key },
    });
    const client = app.client();
    assertEquals((await client.account.get()).account.id, id);
    const found: string[] = [];
    for await (const one of client.products.list()) {
      found.push([one.sku, one.title, one.price?.amount, one.quantity].join());
    }
    assertEquals(found, [
      "A,Mug A,99,12",
      "B,Mug B,149,12",
      "D,Mug A,149,12",
    ]);
    const uploads = await Array.fromAsync(client.uploads.list());
    assertEquals(uploads.filter(({ undoes }) => undoes).length, 1);
    const [imported] = await Array.fromAsync(client.imports.list());
    assertEquals(imported.status, "completed");
    const { changes } = await client.products.history({
      sku_or_id: "A",
      attribute: "price",
    });
    assertEquals(changes.map(({ from, to }) => [from, to]), [
      ["149", "99"],
    ]);
    const { webhook } = await client.webhooks.list();
    assertEquals(webhook.map(({ trigger }) => trigger), ["order_created"]);
    // What was undone or deleted then can be changed now.
    const { transaction_id } = await client.uploads.create({
      products: [{ sku: "B", quantity: 1 }],
    });
    const { products } = await client.uploads.waitFor({ transaction_id });
    assertEquals(products.updated, 1);
  });
}
