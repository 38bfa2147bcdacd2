/** What a seller was refused can be read later, by the seller and operators. */
import { assert, assertEquals, assertLess } from "@std/assert";
import {
  type Answer,
  boot,
  child,
  product,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { TestClock, until } from "../../support/clock.ts";
import { bothEngines } from "../../support/engine.ts";

const OPERATOR = { config: { operatorKey: "op" } };

/** Route, status and code of each, the newest first. */
function shown(answer: Answer): string[] {
  assertEquals(answer.status, 200, answer.text);
  return child(answer.xml, "refusals").children.map((refusal) =>
    ["route", "status", "code"].map((name) => textAt(refusal, name)).join(" ")
  );
}

const own = (app: TestApp, key = app.key) =>
  app.call("/seller_api/refusals?limit=250", { key });

bothEngines.test("refusals: a seller sees its own with their details, an operator all", async () => {
  await using app = await boot(OPERATOR);
  const other = await app.addSeller("other");
  await app.call("/seller_api/none", { key: other });
  const invalid = await app.upload(product("A", "<colour>red</colour>"));
  await app.call("/seller_api/products/none");
  await app.call("/seller_api/products", { key: "wrong" });
  assertEquals(shown(await own(app)), [
    "GET /seller_api/products/:sku_or_id 404 not_found",
    "POST /seller_api/bulk_products 422 record_invalid",
  ]);
  const [, refusal] = child((await own(app)).xml, "refusals").children;
  assertEquals(
    textAt(refusal, "request_id"),
    invalid.headers.get("x-request-id"),
  );
  assertEquals(textAt(refusal, "details/detail/code"), "unknown_element");
  assert(Number(textAt(refusal, "size")) > 100);
  assertEquals(shown(await own(app, other)), [" 404 not_found"]);

  const page = await app.call("/operator_api/refusals?limit=2", { key: "op" });
  assertEquals(shown(page).length, 2);
  const rest = await app.call(
    `/operator_api/refusals?limit=2&after=${textAt(page.xml, "next")}`,
    { key: "op" },
  );
  assertEquals(shown(rest), [" 404 not_found"]);
  assertEquals(textAt(rest.xml, "refusals/refusal/seller"), "other");
  const one = await app.call("/operator_api/refusals?seller=other", {
    key: "op",
  });
  assertEquals(shown(one), [" 404 not_found"]);
  const nobody = await app.call("/operator_api/refusals?seller=x", {
    key: "op",
  });
  assertEquals(nobody.status, 404);
});

bothEngines.test("refusals: a hundred are kept, in one write a second, with few details", async () => {
  const clock = new TestClock();
  let commits = 0;
  await using app = await boot({
    deps: { clock, beforeCommit: () => void commits++ },
    app: { maintain: false },
  });
  await app.call("/seller_api/none");
  clock.advance(10_000);
  // What is written in the beginning: the use of the key, and this refusal.
  await until(async () => {
    const row = await app.app.db.read((sql) =>
      sql.get(
        `SELECT 1 FROM refusals
         WHERE EXISTS (SELECT 1 FROM api_keys WHERE last_used_at > 0)`,
      )
    );
    return row !== undefined;
  }, "the first writes");
  // As a clock left them that was ahead: they must not displace new ones.
  await app.app.db.write((tx) =>
    tx.runMany(
      `INSERT INTO refusals (id, seller_no, at, status, code, message, details,
         more) SELECT ?, seller_no, ?, 404, 'not_found', 'later', '[]', 0
       FROM sellers WHERE id = ?`,
      Array.from({ length: 100 }, (_, n) => [
        `ffffffff-ffff-7000-8000-${String(n).padStart(12, "0")}`,
        clock.now() + 3_600_000,
        app.sellerId,
      ]),
    )
  );
  commits = 0;
  for (let n = 0; n < 130; n++) await app.call(`/seller_api/webhooks?n=${n}`);
  await app.upload(
    Array.from(
      { length: 240 },
      (_, n) =>
        product(`A${n}`, `<x${"y".repeat(90)}>${n}</x${"y".repeat(90)}>`),
    ).join(
      "",
    ),
  );
  assertEquals(commits, 0);
  const before = clock.now();
  clock.advance(1_000);
  // A commit is counted before it is done.
  let answer = await own(app);
  await until(async () => {
    answer = await own(app);
    return answer.text.includes("unknown_element");
  }, "the write");
  // The last one may have been read in steps before and after the write.
  answer = await own(app);
  assertEquals(commits, 1);
  assertEquals(clock.now() - before, 1_000);
  assertEquals(shown(answer).length, 100);
  const [newest] = child(answer.xml, "refusals").children;
  const details = child(newest, "details").children;
  assertEquals(details.length, 51);
  assertEquals(textAt(newest, "details/more"), "190");
  const stored = await app.app.db.read((sql) =>
    sql.get<{ n: number; bytes: number }>(
      `SELECT COUNT(*) AS n, MAX(LENGTH(details)) AS bytes FROM refusals`,
    )
  );
  assertEquals(stored!.n, 100);
  assertLess(stored!.bytes, 32 * 1_024);
});
