/** Change numbers of a database with rows from another engine or server. */
import { assert } from "@std/assert";
import { boot, product, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";

/** Greater than the next number of either engine by far. */
const FOREIGN = 8_000_000_000_000_000;

async function newestNumber(app: TestApp): Promise<number> {
  const row = await app.app.db.read((sql) =>
    sql.get<{ n: number }>("SELECT MAX(change_no) AS n FROM products")
  );
  return Number(row!.n);
}

bothEngines.test("after a start a change has a greater number than all rows", async () => {
  const early = await boot();
  const { config: { dataDir }, sellerId: id, key } = early;
  await early.upload(product("A"));
  await early.app.db.write((tx) =>
    tx.run("UPDATE products SET change_no = ?", [FOREIGN], 1)
  );
  await early.app.close();
  await using app = await boot({ config: { dataDir }, seller: { id, key } });
  await app.upload(product("B"));
  assert(await newestNumber(app) > FOREIGN);
});
