/** This program reads the databases of all releases. */
import { assertEquals, assertGreater } from "@std/assert";
import { gunzipSync } from "node:zlib";
import { boot } from "../support/app.ts";
import { RELEASED, type Sample } from "./sample.ts";

const versions = [...Deno.readDirSync(RELEASED)]
  .filter(({ name }) => name.endsWith(".db.gz"))
  .map(({ name }) => name.replace(".db.gz", ""));

Deno.test("there is a database of a release", () => {
  assertGreater(versions.length, 0);
});

for (const version of versions) {
  Deno.test(`the database of ${version} is upgraded, with everything in it`, async () => {
    // The application removes it.
    const dataDir = await Deno.makeTempDir();
    const packed = await Deno.readFile(new URL(`${version}.db.gz`, RELEASED));
    const options = { mode: 0o600 };
    await Deno.writeFile(
      `${dataDir}/seller.db`,
      gunzipSync(packed),
      options,
    );
    const { sellerId: id, key }: Sample = JSON.parse(
      await Deno.readTextFile(new URL(`${version}.seller`, RELEASED)),
    );
    await using app = await boot({
      config: { dataDir, databaseUrl: null },
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
