/** Everything that causes a notice is found, however much happens at once. */
import { assertEquals, assertLess } from "@std/assert";
import { insertInto, type Param } from "../../src/database/db.ts";
import { systemDeps } from "../../src/deps.ts";
import { newSignals } from "../../src/jobs/signals.ts";
import { SEARCH_LIMIT } from "../../src/notices/kinds.ts";
import { NoticeSearch } from "../../src/notices/search.ts";
import { addUsage } from "../../src/sellers/usage_rows.ts";
import { boot, product } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { copyFirstSeller } from "../support/many_sellers.ts";

bothEngines.test("a notice comes also for events beyond what one read finds", async () => {
  await using app = await boot();
  const { db } = app.app;
  await app.upload(product("A"));
  await app.addSeller("globex");
  const deps = systemDeps("error");
  await db.write(async (tx) => {
    await tx.run(
      "UPDATE sellers SET email = 'a@acme.example', email_since = 0",
      [],
      "any",
    );
    const row = await tx.get<Record<string, Param>>("SELECT * FROM products");
    const rejected = Array.from({ length: SEARCH_LIMIT + 2 }, (_, n) => ({
      ...row,
      id: deps.ids.uuid(),
      sku: `B-${n}`,
      // The last one belongs to another seller.
      seller_no: n > SEARCH_LIMIT ? 2 : 1,
      review_state: "rejected",
      review_at: n + deps.clock.now() - 2 * SEARCH_LIMIT,
      review: "{}",
    }));
    await tx.runMany(
      insertInto("products", Object.keys(rejected[0])),
      rejected.map((each) => Object.values(each)),
      "any",
    );
  });
  const looks = new NoticeSearch({
    config: app.config,
    db,
    deps,
    mailer: { send: () => Promise.reject(new Error("not by a look")) },
    signals: newSignals(),
  });
  for (let n = 0; n < 2; n++) await Array.fromAsync(looks.run());
  const found = await db.read((sql) =>
    sql.all("SELECT id FROM notices WHERE seller_no = 2")
  );
  assertEquals(found.length, 1);
});

bothEngines.test("the operator learns of a full quota however many sellers there are", async () => {
  await using app = await boot();
  const { db } = app.app;
  const deps = systemDeps("error");
  const last = 1_500;
  await db.write(async (tx) => {
    await copyFirstSeller(tx, ["sellers", "seller_counters"], last);
    await tx.run(
      "UPDATE sellers SET product_limit = 1 WHERE seller_no IN (1, ?)",
      [last],
      2,
    );
    for (const no of [1, last]) await addUsage(tx, no, "products", 1);
  });
  const search = new NoticeSearch({
    config: { ...app.config, noticesUrl: "https://operator.example" },
    db,
    deps,
    mailer: null,
    signals: newSignals(),
  });
  let pages = 0;
  for await (const _ of search.run()) {
    assertLess(++pages, 100, "the search ends");
  }
  const found = await db.read((sql) =>
    sql.all("SELECT seller_no FROM notices ORDER BY seller_no")
  );
  assertEquals(found, [{ seller_no: 1 }, { seller_no: last }]);
});
