/** Refused requests can be read later, by the seller and by operators. */
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
import {
  KEPT_REFUSAL_BYTES,
  KEPT_REFUSAL_DAYS,
} from "../../../src/sellers/refusals.ts";
import { sweepOld } from "../../../src/jobs/sweeps.ts";
import { systemClock } from "../../../src/deps.ts";
import { firstIdOf } from "../../../src/lib/ids.ts";
import { contract } from "../../support/forms.ts";

const OPERATOR = { config: { operatorKey: "op" } };

/** Route, status and code of each refusal, the newest first. */
function shown(answer: Answer): string[] {
  assertEquals(answer.status, 200, answer.text);
  return child(answer.xml, "refusals").children.map((refusal) =>
    ["route", "status", "code"].map((name) => textAt(refusal, name)).join(" ")
  );
}

/**
 * Inserts refusals of the seller, with two codes in turn; ids are in the order
 * of time.
 */
async function insert(
  app: TestApp,
  count: number,
  { at, details = [] }: { at: number; details?: unknown[] },
): Promise<void> {
  await app.app.db.write((tx) =>
    tx.runMany(
      `INSERT INTO refusals (id, seller_no, at, key_id, client, status, code,
         message, details, more)
       SELECT ?, seller_no, ?, 'key', '192.0.2.1', 404, ?, 'made up', ?, 0
       FROM sellers WHERE id = ?`,
      Array.from({ length: count }, (_, n) => [
        `${firstIdOf(at + n)}-7000-8000-${String(n).padStart(12, "0")}`,
        at + n,
        n % 2 === 0 ? "not_found" : "conflict",
        JSON.stringify(details),
        app.sellerId,
      ]),
      "any",
    )
  );
}

const own = (app: TestApp, key = app.key) =>
  app.call("/seller_api/refusals?limit=250", { key });

contract.test("refusals: a seller sees its own with details, an operator sees those of all sellers", async () => {
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

contract.test("refusals: equal ones within a minute are stored once, with key and address", async () => {
  const clock = new TestClock();
  await using app = await boot({ deps: { clock }, app: { maintain: false } });
  const ask = async (path: string) => {
    const { headers } = await app.call(`/seller_api/products/${path}`);
    return headers.get("x-request-id");
  };
  const first = await ask("none");
  for (let n = 1; n < 40; n++) await ask("none");
  await own(app);
  for (let n = 0; n < 60; n++) await ask("none");
  const { children } = child((await own(app)).xml, "refusals");
  assertEquals(children.length, 1);
  assertEquals(textAt(children[0], "times"), "100");
  assertEquals(textAt(children[0], "request_id"), first);
  const account = await app.call("/seller_api/keys");
  assertEquals(
    textAt(children[0], "key_id"),
    textAt(account.xml, "keys/key/key_id"),
  );
  assertEquals(textAt(children[0], "client_address"), "127.0.0.1");
  await app.upload(product("A", "<colour>red</colour>"));
  await app.upload(product("A", "<color>red</color>"));
  clock.advance(60_000);
  await ask("none");
  assertEquals(
    child((await own(app)).xml, "refusals").children
      .map((refusal) => textAt(refusal, "times")),
    ["1", "1", "1", "100"],
    "other details are another refusal, and so is a later minute",
  );
});

contract.test("refusals: no code takes more than half of the stored refusals", async () => {
  const clock = new TestClock();
  await using app = await boot({ deps: { clock }, app: { maintain: false } });
  await app.upload(product("A", "<colour>red</colour>"));
  await own(app);
  for (let n = 0; n < 1_400; n++) {
    await app.call(`/seller_api/products?n${n}=1`);
    if (n % 300 === 0) await own(app);
  }
  const invalid = await app.call("/seller_api/refusals?code=record_invalid");
  assertEquals(shown(invalid).length, 1, "the one before the storm");
  const { count } =
    (await app.app.db.read((sql) =>
      sql.get<{ count: number }>("SELECT COUNT(*) AS count FROM refusals")
    ))!;
  assertEquals(count, 501);
});

contract.test("refusals: a refused dry run is marked as a dry run", async () => {
  await using app = await boot();
  const body = `<products>${product("A", "<colour>red</colour>")}</products>`;
  const post = { method: "POST", body };
  const refused = [
    await app.call("/seller_api/bulk_products?dry_run=true", post),
    await app.call("/seller_api/bulk_products?dry_run=false", post),
    await app.call("/seller_api/imports?dry_run=true&accept=any", post),
    await app.call("/seller_api/imports?accept=any", post),
  ];
  const { children } = child((await own(app)).xml, "refusals");
  const checks = children.filter(({ source }) =>
    source.includes("<dry_run>true</dry_run>")
  );
  assertEquals(
    checks.map((refusal) => textAt(refusal, "request_id")),
    [refused[2], refused[0]].map(({ headers }) => headers.get("x-request-id")),
  );
});

contract.test("refusals: a thousand are stored with few details, in one write a second", async () => {
  const clock = new TestClock();
  let commits = 0;
  await using app = await boot({
    deps: { clock, beforeCommit: () => void commits++ },
    app: { maintain: false },
  });
  await app.call("/seller_api/none");
  clock.advance(10_000);
  // The first writes: the use of the key, and this refusal.
  await until(async () => {
    const row = await app.app.db.read((sql) =>
      sql.get(
        `SELECT 1 FROM refusals
         WHERE EXISTS (SELECT 1 FROM key_uses)`,
      )
    );
    return row !== undefined;
  }, "the first writes");
  await insert(app, 950, { at: clock.now() - 3_600_000 });
  // Refusals from a time when the clock was fast: they must not displace new
  // ones.
  await insert(app, 100, { at: clock.now() + 3_600_000 });
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
  // A commit is counted before it is complete.
  await until(
    async () => (await own(app)).text.includes("unknown_element"),
    "the write",
  );
  // The last refusal may have been read in steps before and after the write.
  const answer = await own(app);
  assertEquals(commits, 1);
  assertEquals(clock.now() - before, 1_000);
  const [newest] = child(answer.xml, "refusals").children;
  const details = child(newest, "details").children;
  assertEquals(details.length, 51);
  assertEquals(textAt(newest, "details/more"), "190");
  const stored = await app.app.db.read((sql) =>
    sql.get<{ n: number; bytes: number }>(
      `SELECT COUNT(*) AS n, MAX(LENGTH(details)) AS bytes FROM refusals`,
    )
  );
  assertEquals(stored!.n, 1_000);
  assertLess(stored!.bytes, 32 * 1_024);
});

contract.test("refusals: their bytes are limited, and they are deleted after a month", async () => {
  const clock = new TestClock();
  await using app = await boot({ deps: { clock }, app: { maintain: false } });
  const details = [{ code: "required", message: "x".repeat(30_000) }];
  await insert(app, 300, { at: clock.now() - 3_600_000, details });
  await app.call("/seller_api/none");
  clock.advance(1_000);
  const kept = () =>
    app.app.db.read(async (sql) =>
      (await sql.get<{ n: number; bytes: number }>(
        "SELECT COUNT(*) AS n, SUM(LENGTH(details)) AS bytes FROM refusals",
      ))!
    );
  await until(async () => (await kept()).n < 300, "the write");
  const { n, bytes } = await kept();
  assertLess(Number(bytes), KEPT_REFUSAL_BYTES);
  assert(Number(bytes) > KEPT_REFUSAL_BYTES - 110_000, `${bytes}`);
  assertEquals(shown(await own(app)).length > 0, true);
  const sweepAt = async (now: number) => {
    const deps = { clock: { ...systemClock, now: () => now } };
    const { app: { db }, config } = app;
    return (await Array.fromAsync(sweepOld("refusals", { db, deps, config })))
      .reduce((sum, n) => sum + n, 0);
  };
  assertEquals(await sweepAt(clock.now()), 0);
  const month = KEPT_REFUSAL_DAYS * 86_400_000;
  assertEquals(await sweepAt(clock.now() + month - 1_000_000), n - 1);
  assertEquals((await kept()).n, 1);
});

contract.test("refusals: they are found by time, code, route, SKU and request", async () => {
  await using app = await boot(OPERATOR);
  const began = Date.now();
  // Old refusals are found even after more rows than one step reads.
  await insert(app, 700, { at: began - 86_400_000 });
  const details = [{
    sku: 'A%_"1',
    code: "required",
    message: 'lacks "code":"too_long"',
  }];
  await insert(app, 1, { at: began - 90_000_000, details });
  const refused = await app.upload(product("B", "<colour>red</colour>"));
  await app.call("/seller_api/products/none");
  const found = async (query: string) => {
    const answer = await app.call(`/seller_api/refusals?limit=250&${query}`);
    return shown(answer).length;
  };
  const at = (time: number) => encodeURIComponent(new Date(time).toISOString());
  assertEquals(await found(`since=${at(began)}`), 2);
  assertEquals(await found(`until=${at(began - 89_000_000)}`), 1);
  assertEquals(
    await found(
      `since=${at(began - 86_400_000)}&until=${at(began - 86_399_901)}`,
    ),
    100,
  );
  assertEquals(await found("code=record_invalid"), 1);
  assertEquals(await found("code=unknown_element"), 1);
  assertEquals(await found("code=required"), 1);
  assertEquals(await found("code=too_long"), 0);
  assertEquals(await found(`code=not_found&since=${at(began)}`), 1);
  assertEquals(
    await found(
      `route=${encodeURIComponent("POST /seller_api/bulk_products")}`,
    ),
    1,
  );
  assertEquals(await found("q=B"), 1);
  assertEquals(await found("q=b"), 0);
  assertEquals(await found(`q=${encodeURIComponent('A%_"1')}`), 1);
  const id = refused.headers.get("x-request-id")!;
  assertEquals(await found(`q=${id.toUpperCase()}`), 1);
  assertEquals(await found(`q=${id}&code=not_found`), 0);
  const all = await app.call(
    `/operator_api/refusals?limit=250&q=B&since=${at(began)}`,
    { key: "op" },
  );
  assertEquals(shown(all).length, 1);
  const wrong = await app.call("/seller_api/refusals?code=nope&since=monday");
  assertEquals(wrong.status, 422);
  assertEquals(wrong.text.match(/<field>/g)?.length, 2, wrong.text);
});
