/**
 * A removed seller: unknown at once, and finally without any rows but
 * tombstones.
 */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { TABLES } from "../../src/database/copy.ts";
import { type Db, DbError, type Row } from "../../src/database/db.ts";
import { sweepUnnamed } from "../../src/images/retention.ts";
import {
  imageStoreSettings,
  openImageStore,
} from "../../src/images/storage/open.ts";
import { type Clock, systemClock, systemDeps } from "../../src/deps.ts";
import type { SellerKeys } from "../../src/catalogue/product_rows.ts";
import { CONTACT_EXAMPLE } from "../../src/contracts/examples.ts";
import { markRemoved, sellerByName } from "../../src/sellers/seller_rows.ts";
import { sweepEndedReviews } from "../../src/reviews/policy.ts";
import { sweepRemovedSellers } from "../../src/administration/removal.ts";
import {
  type Answer,
  boot,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { TestClock, until } from "../support/clock.ts";
import { Host } from "../support/host.ts";
import { ImageHost } from "../support/image_host.ts";
import { bothEngines } from "../support/engine.ts";
import { contract } from "../support/forms.ts";

const OPERATOR = { operatorKey: "op" };

function operate(app: TestApp, path: string, method = "GET", body?: string) {
  return app.call(`/operator_api/${path}`, { method, key: "op", body });
}

async function keysOf(app: TestApp): Promise<SellerKeys> {
  const { no } = await app.app.db.read((sql) => sellerByName(sql, "acme"));
  return { id: app.sellerId, no };
}

/** The tables that refer to a seller by its id or its number. */
async function tablesWith(db: Db, { id, no }: SellerKeys): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of TABLES) {
    const rows = await db.read((sql) => sql.all<Row>(`SELECT * FROM ${name}`));
    const names = rows.some((row) =>
      row.seller_no === no || Object.values(row).includes(id)
    );
    if (names) found.push(name);
  }
  return found;
}

/** Gives the seller a row in every table that can have one. */
async function fill(app: TestApp, hostUrl: string): Promise<Answer> {
  const hook = "<webhook><trigger>order_paid</trigger>" +
    `<url>${hostUrl}/hook</url></webhook>`;
  const added = await app.call("/seller_api/webhooks", {
    method: "POST",
    body: hook,
  });
  assertEquals(added.status, 200, added.text);
  const products = Array.from(
    { length: 150 },
    (_, n) =>
      product(
        `A-${n}`,
        n < 2 ? images(hostUrl, n === 0 ? "own" : "both") : "",
      ),
  );
  const refused = "<product><sku>bad</sku></product>";
  const uploaded = await app.upload(
    products.join("") + refused,
    "&accept=valid",
    { "Idempotency-Key": "k" },
  );
  assertEquals(uploaded.status, 200, uploaded.text);
  assertEquals((await app.upload(refused)).status, 422);
  // The use of its key belongs to neither an upload nor an import.
  const sold = await app.call(
    "/seller_api/products/A-3/attribute/quantity/-1?change=true",
    { method: "PUT", headers: { "Idempotency-Key": "sold" } },
  );
  assertEquals(sold.status, 204, sold.text);
  await app.call("/seller_api/mappings/prices", {
    method: "PUT",
    body: "<mapping/>",
  });
  for (const name of ["kept", "deleted"]) {
    const stored = await app.call(`/seller_api/contacts/${name}`, {
      method: "PUT",
      body: CONTACT_EXAMPLE,
    });
    assertEquals(stored.status, 200, stored.text);
  }
  await app.call("/seller_api/contacts/deleted", { method: "DELETE" });
  await app.call("/seller_api/refusals"); // writes pending changes
  const event = await operate(
    app,
    "events",
    "POST",
    "<event><seller>acme</seller><trigger>order_paid</trigger>" +
      "<reference>1</reference></event>",
  );
  assertEquals(event.status, 200, event.text);
  return uploaded;
}

/** The tables in which rows of a removed seller stay. */
const STAY = ["deleted_products", "deleted_contacts"];

function images(hostUrl: string, name: string): string {
  return `<images><image>${hostUrl}/good/${name}.png</image></images>`;
}

/** Deletes the files to which no row refers, this many minutes from now. */
async function sweepFiles(
  { app: { db }, config }: TestApp,
  minutes = 0,
): Promise<void> {
  const deps = systemDeps("error");
  const clock: Clock = {
    ...systemClock,
    now: () => Date.now() + minutes * 60_000,
  };
  const images = openImageStore(imageStoreSettings(config), clock);
  await Array.fromAsync(
    sweepUnnamed({ db, deps: { ...deps, clock }, images }),
  );
}

/** Deletes the files to which no row refers; returns the remaining URLs. */
async function imagesLeft(app: TestApp): Promise<string[]> {
  const { db } = app.app;
  await sweepFiles(app);
  const rows = await db.read((sql) =>
    sql.all<{ url: string }>("SELECT url FROM images ORDER BY url")
  );
  return rows.map(({ url }) => url);
}

contract.test("removed: the seller is unknown and its name free at once; each product gets a tombstone", async () => {
  const clock = new TestClock();
  await using host = new Host(() => new Response());
  await using app = await boot({ config: OPERATOR, deps: { clock } });
  const uploaded = await fill(app, host.url);
  const id = textAt(uploaded.xml, "transaction_id");
  const seller = await keysOf(app);
  const timers = clock.waiting;
  const waiting = app.call(`/seller_api/bulk_products/${id}?wait=30`);
  await until(() => clock.waiting > timers, "the wait");
  const removed = await operate(app, "sellers/acme", "DELETE");
  assertEquals(removed.status, 200);
  assertEquals(textAt(removed.xml, "success"), "true");
  for (const seller of ["acme", app.sellerId]) {
    const path = `sellers/${seller}`;
    assertEquals((await operate(app, `${path}/keys`)).status, 404);
    assertEquals((await operate(app, path, "DELETE")).status, 404);
    const set = await operate(app, `${path}/attribute/status/active`, "PUT");
    assertEquals(set.status, 404);
  }
  const event = await operate(
    app,
    "events",
    "POST",
    "<event><seller>acme</seller><trigger>order_paid</trigger>" +
      "<reference>2</reference></event>",
  );
  assertEquals(event.status, 422);
  const namesake = await app.addSeller("acme");
  let ended: number | null = null;
  waiting.then(({ status }) => ended = status);
  await until(async () => {
    clock.advance(100);
    return ended !== null &&
      (await app.call("/seller_api/products")).status === 401;
  }, "401");
  assertEquals(ended, 401);
  // In steps of a second, because a portion after a conflict is repeated a
  // minute later.
  await until(async () => {
    clock.advance(1_000);
    return (await tablesWith(app.app.db, seller)).length === STAY.length;
  }, "the removal");
  assertEquals(await tablesWith(app.app.db, seller), STAY);
  await app.allShown();
  const { contacts } = await app.operator({ key: OPERATOR.operatorKey })
    .feed.contacts();
  assertEquals(
    contacts.map(({ seller, name, deleted_at, company }) =>
      `${seller} ${name} ${deleted_at !== undefined} ${company}`
    ),
    ["acme deleted true undefined", "acme kept true undefined"],
  );
  assertEquals(await imagesLeft(app), []);
  const feed = await operate(app, "products?limit=250");
  const gone = `seller="acme" seller_id="${app.sellerId}" deleted_at="`;
  assertEquals(feed.text.split(gone).length - 1, 150);
  const audit = await operate(app, "audit");
  assert(audit.text.includes("seller remove"), audit.text);
  const theirs = await app.call("/seller_api/products", { key: namesake });
  assertEquals(theirs.status, 200);
});

contract.test("removed: a refusal noted before the removal is not written after it", async () => {
  const clock = new TestClock(); // Stands still, so nothing is written by itself.
  await using app = await boot({ config: OPERATOR, deps: { clock } });
  assertEquals((await app.upload("<product/>")).status, 422);
  const seller = await keysOf(app);
  await operate(app, "sellers/acme", "DELETE");
  await Array.fromAsync(sweepRemovedSellers(app.app));
  const key = await app.addSeller("next"); // not with the number of this one
  await operate(app, "refusals"); // writes pending changes
  assertEquals(await tablesWith(app.app.db, seller), []);
  const refusals = await app.call("/seller_api/refusals", { key });
  assertStringIncludes(refusals.text, "<refusals/>");
});

contract.test("removed: other sellers' images stay, and a crash in the middle loses nothing", async () => {
  await using host = new ImageHost();
  await using app = await boot({
    config: { ...OPERATOR, roles: ["api", "images"] },
    app: { maintain: false },
  });
  const status = await app.status(await fill(app, host.url), "?wait=10");
  assertEquals(textAt(status, "images/stored"), "2");
  const files = () => filesOf(app).length;
  assertEquals(files(), 2);
  const other = await app.addSeller("other");
  const concurrent = await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    key: other,
    body: `<products>${product("B", images(host.url, "both"))}</products>`,
  });
  assertEquals(concurrent.status, 200, concurrent.text);
  // Its image has the same bytes, which are stored in one file.
  const id = textAt(concurrent.xml, "transaction_id");
  const path = `/seller_api/bulk_products/${id}?wait=10`;
  const stored = await app.call(path, { key: other });
  assertEquals(textAt(stored.xml, "transaction/images/stored"), "1");
  assertEquals(files(), 2);
  const added = await operate(app, "sellers/acme/keys", "POST", "<key/>");
  const key = textAt(added.xml, "key/api_key");
  const seller = await keysOf(app);
  await operate(app, "sellers/acme", "DELETE");
  assertEquals((await app.call("/seller_api/products", { key })).status, 401);
  const run = sweepRemovedSellers({ db: app.app.db });
  for (let n = 0; n < 3; n++) await run.next();
  await app.app.close();
  const { dataDir, databaseUrl } = app.config;
  await using later = await boot({
    config: { ...OPERATOR, dataDir, databaseUrl },
    seller: { id: app.sellerId, key: app.key },
  });
  const { db } = later.app;
  await until(
    async () => (await tablesWith(db, seller)).length === STAY.length,
    "the removal",
  );
  assertEquals(await imagesLeft(later), [`${host.url}/good/both.png`]);
  assertEquals(files(), 1);
  const shown = await later.call("/seller_api/products/B", { key: other });
  const [, href] = / href="([^"]+)"/.exec(shown.text)!;
  assertEquals((await later.call(href, { key: null })).status, 200);
});

/** The image files of a store in a folder. */
function filesOf({ config }: TestApp): string[] {
  const folder = join(config.dataDir, "images");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".png"));
}

contract.test("removed: a recent file and one still being fetched are deleted, too", async () => {
  await using host = new ImageHost();
  await using app = await boot({
    config: { ...OPERATOR, roles: ["api", "images"] },
    app: { maintain: false },
  });
  const slow = Promise.withResolvers<void>();
  host.answers.set("/good/late.png", async ({ method }) => {
    if (method === "GET") await slow.promise;
    return await fetch(`${host.url}/good/other.png`, { method });
  });
  const uploaded = await app.upload(
    ["young", "late"].map((name) => product(name, images(host.url, name)))
      .join(""),
  );
  assertEquals(uploaded.status, 200, uploaded.text);
  // An image of another seller that is always being fetched.
  const other = await app.addSeller("other");
  await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    key: other,
    body: `<products>${
      product("B", `<images><image>${host.url}/hang/b.png</image></images>`)
    }</products>`,
  });
  await until(
    () =>
      filesOf(app).length === 1 && host.count("/good/late.png") === 1 &&
      host.count("/hang/b.png") === 1,
    "the downloads",
  );
  await operate(app, "sellers/acme", "DELETE");
  await Array.fromAsync(sweepRemovedSellers({ db: app.app.db }));
  await sweepFiles(app);
  assertEquals(filesOf(app).length, 1, "a file that may be of the other one");
  slow.resolve();
  await until(() => filesOf(app).length === 2, "the late file");
  await sweepFiles(app, 11);
  await sweepFiles(app, 21);
  assertEquals(filesOf(app), []);
  host.release();
});

bothEngines.test("removed, or without review: a seller whose server is unreachable does not delay others", async () => {
  await using app = await boot({ config: OPERATOR, app: { maintain: false } });
  const { db } = app.app;
  const names = ["first", "second", "third", "fourth"];
  for (const name of names) {
    const key = await app.addSeller(name);
    const review = `sellers/${name}/attribute/review`;
    await operate(app, `${review}/new`, "PUT");
    const { status } = await app.call("/seller_api/bulk_products?v=1.1", {
      method: "POST",
      key,
      body: `<products>${product("A")}</products>`,
    });
    assertEquals(status, 200);
    if (name === "first" || name === "second") {
      await operate(app, `sellers/${name}`, "DELETE");
    } else await operate(app, `${review}/none`, "PUT");
  }
  const left = async () =>
    (await db.read((sql) =>
      sql.all<{ no: number }>(
        `SELECT seller_no AS no FROM products
         WHERE review_state IS NOT NULL ORDER BY 1`,
      )
    )).map(({ no }) => no);
  const numbers = await left();
  assertEquals(numbers.length, 4);
  const away = [numbers[0], numbers[2]];
  const someAway: Pick<Db, "read" | "write" | "of"> = {
    read: (fn, options) => db.read(fn, options),
    write: (fn, options) => db.write(fn, options),
    of: (sellerNo) => {
      const own = db.of(sellerNo);
      return away.includes(sellerNo)
        ? { ...own, write: () => Promise.reject(new DbError("away", "gone")) }
        : own;
    },
  };
  for (const sweep of [sweepRemovedSellers, sweepEndedReviews]) {
    await assertRejects(
      () => Array.fromAsync(sweep({ db: someAway })),
      DbError,
      "gone",
    );
  }
  assertEquals(await left(), away);
  for (const sweep of [sweepRemovedSellers, sweepEndedReviews]) {
    await Array.fromAsync(sweep({ db }));
  }
  assertEquals(await left(), []);
});

bothEngines.test("removed: of two requests that found the seller, one removes it, under its name", async () => {
  await using app = await boot({ app: { maintain: false } });
  const { db } = app.app;
  const seller = await db.read((sql) => sellerByName(sql, "acme"));
  const remove = () => db.write((tx) => markRemoved(tx, seller));
  assertEquals([await remove(), await remove()], [true, false]);
  const names = await db.read((sql) =>
    sql.all<Row>("SELECT former_name FROM sellers WHERE id = ?", [seller.id])
  );
  assertEquals(names, [{ former_name: "acme" }]);
});

contract.test("removed: the seller's pending images are deleted", async () => {
  await using host = new ImageHost();
  // No process fetches images.
  await using app = await boot({ config: OPERATOR, app: { maintain: false } });
  await fill(app, host.url);
  await operate(app, "sellers/acme", "DELETE");
  const { db } = app.app;
  await Array.fromAsync(sweepRemovedSellers({ db }));
  assertEquals(await imagesLeft(app), []);
});

contract.test("removed, suspended or its key revoked while an upload checks its images: nothing is stored", async () => {
  const answer = Promise.withResolvers<void>();
  await using host = new Host(async () => {
    await answer.promise;
    return new Response();
  });
  await using app = await boot({ config: OPERATOR, app: { maintain: false } });
  const other = await app.addSeller("other");
  const third = await app.addSeller("third");
  const upload = (key: string, query: string) =>
    app.call(`/seller_api/bulk_products?v=1.1${query}`, {
      method: "POST",
      key,
      body: `<products>${
        product("A", `<images><image>${host.url}/a</image></images>`)
      }</products>`,
    });
  const uploads = [
    upload(app.key, ""),
    upload(app.key, "&dry_run=true"),
    upload(other, ""),
    upload(third, ""),
  ];
  await until(() => host.seen.length === uploads.length, "their HEADs");
  await operate(app, "sellers/acme", "DELETE");
  await operate(app, "sellers/other/attribute/status/suspended", "PUT");
  const keys = await operate(app, "sellers/third/keys", "GET");
  const [, keyId] = /<key_id>([^<]+)/.exec(keys.text)!;
  await operate(app, `keys/${keyId}`, "DELETE");
  await Array.fromAsync(sweepRemovedSellers({ db: app.app.db }));
  answer.resolve();
  const statuses = (await Promise.all(uploads)).map(({ status }) => status);
  assertEquals(statuses, [401, 401, 403, 401]);
});
