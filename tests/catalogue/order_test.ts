/**
 * Products of one upload have the order of the document, in lists and in the
 * feed.
 */
import { assertEquals } from "@std/assert";
import { boot, product, type TestApp, textAt } from "../support/app.ts";
import { readAll } from "../support/read_out.ts";
import { contract } from "../support/forms.ts";

async function skus(app: TestApp, path: string, key?: string) {
  const { entries } = await readAll(app, path, "products", { key });
  return entries.map((entry) => textAt(entry, "sku"));
}

contract.test("lists and feed keep the order of the upload", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const names = Array.from({ length: 60 }, (_, i) => `S-${(i * 37) % 60}`);
  await app.upload(names.map((sku) => product(sku)).join(""));
  assertEquals(await skus(app, "/seller_api/products?limit=7"), names);
  assertEquals(await skus(app, "/operator_api/products?limit=7", "op"), names);

  // New products among changed and unchanged ones.
  const mixed = ["N-2", "S-5", "N-1", "S-0", "S-59", "N-0"];
  await app.upload(
    mixed.map((sku) => product(sku, "<brand>x</brand>")).join("") +
      product("S-1"),
  );
  assertEquals(await skus(app, "/operator_api/products?limit=7", "op"), [
    ...names.filter((sku) => !mixed.includes(sku)),
    ...mixed,
  ]);
  assertEquals(await skus(app, "/seller_api/products"), [
    ...names,
    "N-2",
    "N-1",
    "N-0",
  ]);
});
