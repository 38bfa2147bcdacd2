/** The operator is notified of each problem at once, and once. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { DbError, type DbErrorKind } from "../../src/database/db.ts";
import { systemDisk } from "../../src/lib/disk.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { noteBackup } from "../../src/notices/backup_time.ts";
import { product } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { ImageHost } from "../support/image_host.ts";
import { Problem, S3Server } from "../support/s3_server.ts";
import { OPERATOR_KEY, tell, type Telling } from "./support.ts";

const AT_ONCE_MS = 15_000;

/** Resolves when `count` notices of a type were sent. */
async function toldOnce(telling: Telling, type: string, count = 1) {
  await telling.until(
    () => telling.told(type).length >= count,
    `${type} ${count}`,
  );
  assertEquals(telling.told(type).length, count);
  return telling.told(type)[count - 1];
}

/** Resolves when no process observes any problem any more. */
async function over(telling: Telling): Promise<void> {
  await telling.until(async () => {
    const rows = await telling.app.app.db.read((sql) =>
      sql.all("SELECT 1 FROM notices WHERE seller_no <= 0")
    );
    return rows.length === 0;
  }, "the end of the trouble");
}

Deno.test("a role that is not ready gives one notice within 15 s, until it is ready again", async () => {
  await using store = new S3Server();
  store.skewMs = Infinity;
  await using host = new ImageHost();
  await using telling = await tell({
    config: { ...store.config(), roles: ["api", "images"] },
  });
  const { app, clock } = telling;
  const ready = async () => (await fetch(`${app.url}/readyz`)).status === 200;
  // Otherwise a worker that starts slowly causes a notice, too.
  await telling.until(ready, "a service that is ready");
  store.meddle = ({ method }) => new Problem(503, "SlowDown").response(method);
  const image = `<images><image>${host.url}/good/a.png</image></images>`;
  assertEquals((await app.upload(product("A", image))).status, 200);
  await telling.until(
    async () => !await ready(),
    "a service that is not ready",
  );
  const began = clock.now();
  const { payload } = await toldOnce(telling, "not_ready");
  assert(clock.now() - began <= AT_ONCE_MS, `${clock.now() - began}`);
  assertEquals(payload.data.part, "images");
  assertMatch(String(payload.data.text), /not ready \(images\)/);
  assertEquals(payload.data.link, "https://sell.example/#/overview");
  await telling.pass(60_000);
  assertEquals(telling.told("not_ready").length, 1);
  store.meddle = () => null;
  await over(telling);
  assertEquals(telling.told("not_ready").length, 1);
});

Deno.test("a database that refuses writes gives one notice, and none afterwards", async () => {
  let isFull = false;
  const beforeCommit = () => {
    if (isFull) throw new DbError("full", "full on purpose");
  };
  await using telling = await tell({
    config: { databaseUrl: null },
    deps: { beforeCommit },
  });
  isFull = true;
  const began = telling.clock.now();
  const { payload } = await toldOnce(telling, "not_ready");
  assert(telling.clock.now() - began <= AT_ONCE_MS);
  assertEquals(payload.data.part, "database");
  await telling.pass(60_000);
  isFull = false;
  await telling.pass(60_000);
  const parts = telling.told("not_ready").map(({ payload }) =>
    payload.data.part
  );
  assertEquals(parts, ["database"]);
  isFull = true;
  await toldOnce(telling, "not_ready", 2);
});

Deno.test("a notice that could not be stored is sent again unchanged, whatever has changed", async () => {
  let kind: DbErrorKind | null = null;
  const beforeCommit = () => {
    if (kind !== null) throw new DbError(kind, "on purpose");
  };
  await using telling = await tell({
    config: { databaseUrl: null },
    deps: { beforeCommit },
  });
  const { operator } = telling;
  operator.answering = () => new Response(null, { status: 500 });
  kind = "full";
  await toldOnce(telling, "not_ready");
  kind = "readonly";
  await telling.until(() => telling.told("not_ready").length >= 2, "again");
  operator.answering = () => new Response();
  const reported = () => telling.told("not_ready");
  await telling.until(() => reported().length >= 3, "and again");
  const texts = new Set(reported().map(({ text }) => text));
  const ids = new Set(
    reported().map(({ headers }) => headers.get("webhook-id")),
  );
  assertEquals([texts.size, ids.size], [1, 1], [...texts].join());
});

bothEngines.test("a disk below 10 % gives one notice, until 12 % are free", async () => {
  let share = 0.5;
  const freeShare = () => Promise.resolve(share);
  await using telling = await tell({
    deps: { disk: { ...systemDisk, freeShare } },
  });
  share = 0.097;
  const { payload } = await toldOnce(telling, "disk_low");
  assertEquals([payload.data.folder, payload.data.percent], ["data", 9]);
  share = 0.11;
  await telling.pass(60_000);
  share = 0.09;
  await telling.pass(20_000);
  assertEquals(telling.told("disk_low").length, 1);
  share = 0.12;
  await over(telling);
  share = 0.01;
  await toldOnce(telling, "disk_low", 2);
});

bothEngines.test("a backup older than a day gives a notice until there is a newer one", async () => {
  await using telling = await tell();
  const { app, clock } = telling;
  await app.app.db.write(noteBackup);
  await telling.pass(20_000);
  assertEquals(telling.told("backup_old"), []);
  clock.setForward(DAY_MS);
  const { payload } = await toldOnce(telling, "backup_old");
  assertMatch(
    String(payload.data.text),
    /it was made at 20\d\d-\d\d-\d\d \d\d:\d\d UTC/,
  );
  await app.app.db.write(noteBackup);
  await over(telling);
  clock.setForward(DAY_MS);
  await toldOnce(telling, "backup_old", 2);
});

bothEngines.test("exhausted deliveries give one notice, for a day after the last", async () => {
  await using telling = await tell();
  const { app, clock } = telling;
  const exhaust = (id: string) =>
    app.app.db.write((tx) =>
      tx.run(
        `INSERT INTO deliveries (seller_no, id, event_id, trigger_name,
           webhook_id, state, attempts, failures, created_at, settled_at)
         VALUES (?, ?, ?, 'order_created', ?, 'exhausted', 10, 10, ?, ?)`,
        [app.sellerNo, id, id, id, clock.now(), clock.now()],
        "any",
      )
    );
  await exhaust("01930000-0000-7000-8000-000000000001");
  const { payload } = await toldOnce(telling, "deliveries_exhausted");
  assertEquals(payload.data.seller, "acme");
  assertEquals(payload.data.deliveries, 1);
  clock.setForward(DAY_MS / 2);
  await exhaust("01930000-0000-7000-8000-000000000002");
  clock.setForward(DAY_MS / 2 + HOUR_MS);
  await telling.pass(20_000);
  assertEquals(telling.told("deliveries_exhausted").length, 1);
  clock.setForward(DAY_MS / 2);
  await telling.until(async () => {
    const rows = await app.app.db.read((sql) =>
      sql.all("SELECT 1 FROM notices")
    );
    return rows.length === 0;
  }, "the end of it");
  await exhaust("01930000-0000-7000-8000-000000000003");
  await toldOnce(telling, "deliveries_exhausted", 2);
});

bothEngines.test("a refused notice is sent again under the same id, and none is lost", async () => {
  let share = 0.5;
  const freeShare = () => Promise.resolve(share);
  await using telling = await tell({
    deps: { disk: { ...systemDisk, freeShare } },
  });
  const { operator } = telling;
  // A slow machine may cause other notices as well.
  operator.answering = () =>
    new Response(null, {
      status: telling.told("disk_low").length < 3 ? 500 : 204,
    });
  share = 0.01;
  await toldOnce(telling, "disk_low", 3);
  await telling.pass(120_000);
  const ids = telling.told("disk_low").map(({ headers }) =>
    headers.get("webhook-id")
  );
  assertEquals(ids.length, 3);
  assertEquals(new Set(ids).size, 1);
  share = 0.5;
  await over(telling);
});

bothEngines.test("products that wait for a review give one notice until the queue is empty", async () => {
  await using telling = await tell();
  const { app } = telling;
  const policy = `/operator_api/sellers/acme/attribute/review/new`;
  await app.call(policy, { method: "PUT", key: OPERATOR_KEY });
  assertEquals((await app.upload(product("A"))).status, 200);
  const { payload } = await toldOnce(telling, "reviews_waiting");
  assertEquals([payload.data.seller, payload.data.sku], ["acme", "A"]);
  assertEquals(payload.data.link, "https://sell.example/#/reviews");
  await app.upload(product("B"));
  await telling.pass(60_000);
  assertEquals(telling.told("reviews_waiting").length, 1);
  for (const sku of ["A", "B"]) {
    await app.call(`/seller_api/products/${sku}`, { method: "DELETE" });
  }
  await over(telling);
  await app.upload(product("C"));
  await toldOnce(telling, "reviews_waiting", 2);
});
