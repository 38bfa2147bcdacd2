/** `updated_at` is never earlier than a time that a reader has already seen. */
import { assertEquals } from "@std/assert";
import { type Clock, systemClock } from "../../src/deps.ts";
import { boot, product, type TestApp } from "../support/app.ts";
import { bothForms } from "../support/forms.ts";

const MINUTE = 60_000;

/** The whole service with a clock that a test sets. */
async function bootAt(time: { now: number }): Promise<TestApp> {
  const clock: Clock = { ...systemClock, now: () => time.now };
  return await boot({ deps: { clock } });
}

async function updatedAt(app: TestApp, sku: string): Promise<number> {
  const row = await app.app.db.read((sql) =>
    sql.get<{ updated_at: number }>(
      "SELECT updated_at FROM products WHERE sku = ?",
      [sku],
    )
  );
  return row!.updated_at;
}

bothForms.test("a write has the time at which it runs, not that of its request", async () => {
  const time = { now: Date.UTC(2026, 10, 20, 8) };
  await using app = await bootAt(time);
  await app.upload(product("B"));
  const begun = Promise.withResolvers<void>();
  const blocked = Promise.withResolvers<void>();
  const holding = app.app.db.write(() => {
    begun.resolve();
    return blocked.promise;
  }, { order: app.sellerId });
  await begun.promise;
  const waiting = [
    app.upload(product("A")),
    app.call("/seller_api/products/B/attribute/brand/Brand", { method: "PUT" }),
  ];
  // Long enough for the request to reach its write.
  await new Promise((done) => setTimeout(done, 50));
  time.now += MINUTE;
  blocked.resolve();
  await holding;
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  assertEquals(statuses, [200, 204]);
  assertEquals(await updatedAt(app, "A"), time.now);
  assertEquals(await updatedAt(app, "B"), time.now);
});

bothForms.test("a clock that is set back does not decrease the time of a product", async () => {
  const time = { now: Date.UTC(2026, 10, 20, 8) };
  await using app = await bootAt(time);
  const first = time.now;
  await app.upload(product("A"));
  time.now -= 60 * MINUTE;
  await app.upload(product("B"));
  await app.call("/seller_api/products/A/attribute/brand/Brand", {
    method: "PUT",
  });
  assertEquals(await updatedAt(app, "A"), first);
  assertEquals(await updatedAt(app, "B"), first);
  time.now = first + MINUTE;
  await app.upload(product("C"));
  assertEquals(await updatedAt(app, "C"), time.now);
});
