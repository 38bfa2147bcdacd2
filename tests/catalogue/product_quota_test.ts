/** How many products and bytes of images a seller may have. */
import { assert, assertEquals } from "@std/assert";
import {
  boot,
  child,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { ImageHost } from "../support/image_host.ts";
import { contract } from "../support/forms.ts";

/** The counters, and the counts of the rows. */
async function counted(app: TestApp): Promise<{ used: number; rows: number }> {
  return await app.app.db.read(async (sql) => {
    const used = await sql.get<{ used: number }>(
      "SELECT SUM(used) AS used FROM seller_usage WHERE seller_no = ? AND resource = 'products'",
      [app.sellerNo],
    );
    const rows = await sql.get<{ n: number }>(
      "SELECT COUNT(*) AS n FROM products WHERE seller_no = ?",
      [app.sellerNo],
    );
    return { used: used?.used ?? 0, rows: rows!.n };
  });
}

async function setLimit(app: TestApp, limit: number | null): Promise<void> {
  await app.app.db.write((tx) =>
    tx.run("UPDATE sellers SET product_limit = ? WHERE id = ?", [
      limit,
      app.sellerId,
    ], "any")
  );
}

const products = (...skus: string[]) =>
  skus.map((sku) => product(sku)).join("\n");

contract.test("beyond its product limit a seller can update products but not add any", async () => {
  await using app = await boot({ config: { productLimit: 3 } });
  assertEquals((await app.upload(products("A", "B"))).status, 200);

  const refused = await app.upload(
    `${products("A")}\n${products("C", "D")}`,
  );
  assertEquals([refused.status, codeOf(refused)], [422, "record_invalid"]);
  assertEquals(
    detailsOf(refused).map(({ product, sku, line, field, code }) => ({
      product,
      sku,
      line,
      field,
      code,
    })),
    ["C", "D"].map((sku, n) => ({
      product: `${n + 2}`,
      sku,
      line: `${n + 2}`,
      field: "sku",
      code: "quota_exceeded",
    })),
  );
  assertEquals(
    detailsOf(refused)[0].message,
    "The product would be new. You have 2 products, this upload has 2 new " +
      "products, and your limit is 3; ask the operator for a higher one.",
  );
  assertEquals(
    (await app.upload(products("C", "D"), "&dry_run=true")).status,
    422,
  );
  assertEquals((await app.upload(products("A", "C"))).status, 200);
  assertEquals((await app.upload(products("D"))).status, 422);
  const price = "/seller_api/products/A/attribute/price/5";
  assertEquals((await app.call(price, { method: "PUT" })).status, 204);
  assertEquals((await app.upload(products("A", "B", "C"))).status, 200);
  assertEquals(await counted(app), { used: 3, rows: 3 });
});

contract.test("a seller's own product limit overrides the default", async () => {
  await using app = await boot({ config: { productLimit: 1 } });
  await setLimit(app, 2);
  assertEquals((await app.upload(products("A", "B"))).status, 200);
  await setLimit(app, 0);
  assertEquals((await app.upload(products("C"))).status, 422);
  assertEquals((await app.upload(products("A"))).status, 200);
  await setLimit(app, null);
  assertEquals((await app.upload(products("C"))).status, 422);
});

contract.test("uploads at the same time stay within the limit together", async () => {
  await using app = await boot({ config: { productLimit: 10 } });
  const answers = await Promise.all(
    Array.from(
      { length: 8 },
      (_, n) => app.upload(products(`${n}-1`, `${n}-2`, `${n}-3`)),
    ),
  );
  const stored = answers.filter(({ status }) => status === 200).length;
  assertEquals(stored, 3);
  assertEquals(await counted(app), { used: 9, rows: 9 });
});

const imagesOf = (...urls: string[]) =>
  `<images>${urls.map((url) => `<image>${url}</image>`).join("")}</images>`;

/** Uploads a product with these images; returns their outcomes. */
async function fetched(
  app: TestApp,
  sku: string,
  urls: readonly string[],
): Promise<{ stored: string; failed: string; codes: string[] }> {
  const answer = await app.upload(product(sku, imagesOf(...urls)));
  const status = await app.status(answer, "?wait=20");
  const images = child(status, "images");
  const [shown] = child(status, "results").children;
  const codes = shown.children.filter(({ name }) => name === "image")
    .map((image) => textAt(image, "code"));
  return {
    stored: textAt(images, "stored"),
    failed: textAt(images, "failed"),
    codes,
  };
}

contract.test("images beyond the quota fail before their bytes are read", async () => {
  await using host = new ImageHost();
  const path = "/good/a.png";
  const { length } = await (await fetch(host.url + path)).bytes();
  await using app = await boot({
    config: { roles: ["api", "images"], imageQuota: length + 10 },
  });
  assertEquals(await fetched(app, "A", [host.url + path]), {
    stored: "1",
    failed: "0",
    codes: [],
  });
  const beyond = [`${host.url}/good/b.png`, `${host.url}/oversized/c.png`];
  assertEquals(await fetched(app, "B", beyond), {
    stored: "0",
    failed: "2",
    codes: ["image_quota_exceeded", "image_quota_exceeded"],
  });
  const files: string[] = [];
  for await (const folder of Deno.readDir(`${app.config.dataDir}/images`)) {
    if (!folder.isDirectory) continue;
    const path = `${app.config.dataDir}/images/${folder.name}`;
    for await (const { name } of Deno.readDir(path)) files.push(name);
  }
  assert(files.length === 1, `stored: ${files.join(", ")}`);
});
