/** `DELETE /seller_api/products/:sku_or_id`, and its effect on the feed. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { boot, codeOf, product, type TestApp, textAt } from "../support/app.ts";
import { ImageHost } from "../support/image_host.ts";
import { readAll, valueOf } from "../support/read_out.ts";
import { contract } from "../support/forms.ts";

const FEED = "/operator_api/products";
const PRODUCTS = "/seller_api/products";

function remove(app: TestApp, skuOrId: string, key?: string) {
  const path = `${PRODUCTS}/${encodeURIComponent(skuOrId)}`;
  return app.call(path, { method: "DELETE", key });
}

async function idOf(app: TestApp, sku: string): Promise<string> {
  const answer = await app.call(`${PRODUCTS}/${encodeURIComponent(sku)}`);
  return textAt(answer.xml, "product/id");
}

async function skus(app: TestApp): Promise<string[]> {
  const { entries } = await readAll(app, PRODUCTS, "products");
  return entries.map((entry) => textAt(entry, "sku"));
}

/**
 * The SKUs in the feed after `after`, with a minus before those of tombstones.
 */
async function follow(app: TestApp, after: string | null = null, limit = 2) {
  const path = `${FEED}?limit=${limit}`;
  const { entries, last } = await readAll(app, path, "products", {
    after,
    key: "op",
  });
  const changes = entries.map((entry) =>
    (valueOf(entry, "@deleted_at") === null ? "" : "-") + textAt(entry, "sku")
  );
  return { changes, entries, last };
}

contract.test("a deleted product is gone, and its SKU is free at once", async () => {
  await using app = await boot({ config: { productLimit: 3 } });
  await app.upload(
    product("A/1") + product("B") +
      product("C", "<parent_sku>A/1</parent_sku>"),
  );
  const former = await idOf(app, "A/1");
  const answer = await remove(app, "A/1");
  assertEquals([answer.status, textAt(answer.xml, "success")], [200, "true"]);
  assertEquals((await app.call(`${PRODUCTS}/${former}`)).status, 404);
  assertEquals(await skus(app), ["B", "C"], "variants stay");
  for (const gone of ["A/1", former, "nothing"]) {
    const again = await remove(app, gone);
    assertEquals([again.status, codeOf(again)], [404, "not_found"], gone);
  }

  const made = await app.upload(product("A/1"));
  assertEquals(made.status, 200, "the limit counts what there is");
  assert(await idOf(app, "A/1") !== former, "it is another product");
  assertEquals((await app.upload(product("D"))).status, 422);
  assertEquals((await remove(app, await idOf(app, "B"))).status, 200, "by id");
  assertEquals((await app.upload(product("D"))).status, 200);
});

contract.test("a product of another seller cannot be deleted", async () => {
  await using app = await boot();
  const other = await app.addSeller("other");
  await app.upload(product("A"));
  const id = await idOf(app, "A");
  assertEquals((await remove(app, id, other)).status, 404);
  assertEquals(await skus(app), ["A"]);
});

contract.test("the feed shows tombstones forever, in the order of change", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  await app.upload(product("A") + product("B") + product("C"));
  const id = await idOf(app, "B");
  const before = await follow(app);
  assertEquals(before.changes, ["A", "B", "C"]);
  await remove(app, "B");
  await app.upload(product("A", "<brand>x</brand>"));
  await app.upload(product("B"));

  const all = ["C", "-B", "A", "B"];
  for (const limit of [1, 2, 250]) {
    assertEquals((await follow(app, null, limit)).changes, all);
  }
  assertEquals((await follow(app, before.last)).changes, all.slice(1));
  const { entries } = await follow(app, before.last);
  const tombstone = entries[0];
  assertEquals(tombstone.children.map(({ name }) => name), ["id", "sku"]);
  assertEquals(textAt(tombstone, "id"), id);
  assertEquals(valueOf(tombstone, "@seller"), "acme");
  assertMatch(valueOf(tombstone, "@deleted_at")!, /^\d{4}-.*Z$/);

  // Reads the feed from each of its positions.
  let after: string | null = null;
  for (const left of [4, 3, 2, 1]) {
    const path: string = `${FEED}?limit=1${after ? `&after=${after}` : ""}`;
    const page = await app.call(path, { key: "op" });
    assertEquals((await follow(app, after)).changes.length, left);
    after = textAt(page.xml, "next");
  }
  await remove(app, "B");
  assertEquals((await follow(app, null)).changes, ["C", "-B", "A", "-B"]);
});

contract.test("images stay while another product shows them", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const images = `<images><image>${host.url}/good/a.png</image></images>`;
  await app.status(
    await app.upload(product("A", images) + product("B", images)),
    "?wait=10",
  );
  const shown = () =>
    app.app.db.read(async (sql) =>
      (await sql.all("SELECT product_id FROM product_images")).length
    );
  assertEquals(await shown(), 2);
  await remove(app, "A");
  assertEquals(await shown(), 1);
  const left = await app.call(`${PRODUCTS}/B`);
  const [image] =
    left.xml.children[0].children.find(({ name }) => name === "images")!
      .children;
  const href = image.attributes.href;
  assertEquals((await app.call(href, { key: null })).status, 200);
  await remove(app, "B");
  assertEquals(await shown(), 0);
});
