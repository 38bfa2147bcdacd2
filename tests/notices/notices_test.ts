/** Sellers and the operator are notified of what they must know, once each. */
import { Webhook } from "standardwebhooks";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { NOTICES_IN_A_MAIL } from "../../src/notices/notice.ts";
import { child, product, textAt } from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { ImageHost } from "../support/image_host.ts";
import { EMAIL, OPERATOR_KEY, SECRET, tell, type Telling } from "./support.ts";

/** Imports a document, which is through or refused then. */
async function importOne(telling: Telling, body: string, name: string) {
  const { app } = telling;
  const begun = await app.call(`/seller_api/imports?v=1.1&name=${name}`, {
    method: "POST",
    body: `<products>${body}</products>`,
  });
  const id = textAt(begun.xml, "import_id");
  const ended = await app.call(`/seller_api/imports/${id}?wait=30`);
  return { id, status: textAt(ended.xml, "import/status") };
}

bothEngines.test("a seller gets one mail with all notices, then none for an hour", async () => {
  await using telling = await tell();
  const { mail, clock } = telling;
  await telling.set("email", EMAIL);
  const began = clock.now();
  const first = await importOne(telling, product("A-1"), "stock.xml");
  const second = await importOne(telling, "<product/>", "bad.xml");
  assertEquals([first.status, second.status], ["completed", "refused"]);
  await telling.mailed(1);
  assert(clock.now() - began >= 20_000);
  const [{ to, text, headers }] = mail.received;
  assertEquals(to, EMAIL);
  assertEquals(headers.get("subject"), "acme: 2 things to know");
  assertStringIncludes(
    text,
    "The import stock.xml has finished: 1 created of 1",
  );
  assertStringIncludes(text, `https://sell.example/#/imports/${first.id}`);
  assertStringIncludes(text, "The import bad.xml was refused: nothing of it");
  assertStringIncludes(text, `https://sell.example/#/imports/${second.id}`);
  await importOne(telling, product("A-2"), "more.xml");
  const dueAt = async () => {
    const row = await telling.app.app.db.read((sql) =>
      sql.get<{ due: number }>(
        "SELECT MIN(due_at) AS due FROM notices WHERE due_at IS NOT NULL",
      )
    );
    return row!.due ?? 0;
  };
  await telling.until(async () => await dueAt() > 0, "the next notice");
  assert(await dueAt() > clock.now() + HOUR_MS * 0.9);
  clock.setForward(HOUR_MS);
  await telling.mailed(2);
  assertStringIncludes(mail.received[1].text, "more.xml");
  assert(!mail.received[1].text.includes("stock.xml"));
  assertEquals(
    headers.get("message-id") === mail.received[1].headers.get("message-id"),
    false,
  );
  assert(!JSON.stringify(telling.app.log).includes("acme.example"));
});

bothEngines.test("a seller unsubscribes by the link in a mail, and can subscribe again", async () => {
  await using telling = await tell();
  const { app, mail, clock } = telling;
  await telling.set("email", EMAIL);
  await importOne(telling, product("A-1"), "stock.xml");
  await telling.mailed(1);
  const { headers, text } = mail.received[0];
  const link = /^<https:\/\/sell\.example(\/[^>]*)>$/
    .exec(headers.get("list-unsubscribe")!)![1];
  assertStringIncludes(text, `https://sell.example${link}`);
  assertEquals(
    headers.get("list-unsubscribe-post"),
    "List-Unsubscribe=One-Click",
  );
  const shown = async () => {
    const path = "/operator_api/sellers";
    const { xml } = await app.call(path, { key: "op" });
    return textAt(xml, "sellers/seller/unsubscribed_at") !== "";
  };
  // A program that checks mail requests the link.
  const looked = await app.call(link, { key: null });
  assertEquals(looked.status, 200);
  assertMatch(looked.headers.get("content-type")!, /^text\/html/);
  assertStringIncludes(looked.text, "End these mails");
  assertEquals(await shown(), false);
  const post = (path: string) =>
    app.call(path, {
      method: "POST",
      key: null,
      body: "List-Unsubscribe=One-Click",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    });
  assertEquals((await post(link)).status, 200);
  assertEquals(await shown(), true);
  for (
    const wrong of [link.replace(/.$/, "x"), `/notices/x/${"0".repeat(64)}`]
  ) {
    for (const path of [wrong, `${wrong}/again`]) {
      assertEquals((await post(path)).status, 404, path);
    }
  }
  assertEquals(await shown(), true);
  // Setting the operator's attribute again sends no mail again.
  await telling.set("email", EMAIL);
  assertEquals(await shown(), true);
  await importOne(telling, product("A-2"), "unread.xml");
  clock.setForward(2 * HOUR_MS);
  assertEquals((await post(`${link}/again`)).status, 200);
  assertEquals(await shown(), false);
  await importOne(telling, product("A-3"), "read.xml");
  await telling.mailed(2);
  assertStringIncludes(mail.received[1].text, "read.xml");
  assert(!mail.received[1].text.includes("unread.xml"));
  await telling.set("email", "other@acme.example");
  assertEquals((await post(link)).status, 404);
});

bothEngines.test("a failing webhook gives one notice at each stage", async () => {
  await using telling = await tell();
  const { app, mail, clock } = telling;
  await telling.set("email", EMAIL);
  const trigger = "order_created";
  const hook = `http://127.0.0.1:9999/hook`;
  const made = await app.call("/seller_api/webhooks", {
    method: "POST",
    body: `<webhook><trigger>${trigger}</trigger><url>${hook}</url></webhook>`,
  });
  assertEquals(made.status, 200, made.text);
  const stage = (failingMs: number, disabled: boolean) =>
    app.app.db.write((tx) =>
      tx.run(
        `UPDATE webhooks SET failures = 3, last_error = ?, failing_since = ?,
           disabled_at = ? WHERE seller_no = ?`,
        [
          "The answer was 500; only 2xx is a success.",
          clock.now() - failingMs,
          disabled ? clock.now() : null,
          app.sellerNo,
        ],
        "any",
      )
    );
  await stage(HOUR_MS + 1, false);
  await telling.mailed(1);
  assertStringIncludes(mail.received[0].text, "Your webhook for order_created");
  assertStringIncludes(mail.received[0].text, "only 2xx is a success)");
  assertStringIncludes(mail.received[0].text, "/#/webhooks/order_created");
  clock.setForward(HOUR_MS);
  await stage(4 * DAY_MS + 1, false);
  await telling.mailed(2);
  assertStringIncludes(mail.received[1].text, "within a day");
  clock.setForward(HOUR_MS);
  await stage(5 * DAY_MS, true);
  await telling.mailed(3);
  assertStringIncludes(mail.received[2].text, "We no longer call");
  // The condition ended, and begins again.
  const kinds = async () => {
    const rows = await app.app.db.read((sql) =>
      sql.all<{ kind: string }>("SELECT kind FROM notices ORDER BY kind")
    );
    return rows.map(({ kind }) => kind).join();
  };
  await app.app.db.write((tx) =>
    tx.run(
      "UPDATE webhooks SET failing_since = NULL, disabled_at = NULL",
      [],
      "any",
    )
  );
  await telling.until(async () => await kinds() === "", "no notice");
  clock.setForward(HOUR_MS);
  await stage(2 * HOUR_MS, false);
  await telling.mailed(4);
  assertEquals(await kinds(), "webhook_failing");
});

bothEngines.test("a seller gets a notice at 80, 90 and 100 % of a quota, the operator at 100", async () => {
  await using telling = await tell();
  const { app, mail, clock } = telling;
  await telling.set("email", EMAIL);
  await telling.set("product_limit", "10");
  const upload = async (from: number, to: number) => {
    const all = Array.from(
      { length: to - from },
      (_, i) => product(`P-${from + i}`),
    );
    assertEquals((await app.upload(all.join(""))).status, 200);
  };
  await upload(0, 8);
  await telling.mailed(1);
  assertStringIncludes(
    mail.received[0].text,
    "80 % of your quota is used: 8 of 10",
  );
  assertEquals(telling.told("seller_over_quota"), []);
  clock.setForward(HOUR_MS);
  const began = clock.now();
  await upload(8, 10);
  await telling.until(
    () => telling.told("seller_over_quota").length > 0,
    "the operator is told",
  );
  assert(clock.now() - began <= 15_000, `${clock.now() - began}`);
  const [{ payload, headers, text }] = telling.told("seller_over_quota");
  assertEquals(payload.data.seller, "acme");
  assertEquals(
    payload.data.link,
    `https://sell.example/#/sellers/${app.sellerId}`,
  );
  const signed = Object.fromEntries(headers);
  // The clock of this test is ahead of the one that the library reads.
  const timestamp = new Date(Number(signed["webhook-timestamp"]) * 1_000);
  const signature = new Webhook(SECRET)
    .sign(signed["webhook-id"], timestamp, text);
  assertEquals(signed["webhook-signature"], signature);
  await telling.mailed(2);
  assertStringIncludes(
    mail.received[1].text,
    "Your quota is used up: 10 of 10",
  );
  assert(!mail.received[1].text.includes("90 %"));
  // One point less does not end the notice.
  await app.call("/seller_api/products/P-1", { method: "DELETE" });
  await upload(10, 11);
  clock.setForward(HOUR_MS);
  await telling.set("product_limit", "100");
  await telling.until(async () => {
    const rows = await app.app.db.read((sql) =>
      sql.all("SELECT 1 FROM notices WHERE kind <> 'import_through'")
    );
    return rows.length === 0;
  }, "everything is over");
  await telling.set("product_limit", "10");
  await telling.until(
    () => telling.told("seller_over_quota").length >= 2,
    "again",
  );
  await telling.mailed(3);
});

bothEngines.test("a seller gets a notice of each rejection of a product, with many in one line", async () => {
  await using telling = await tell();
  const { app, mail, clock } = telling;
  await telling.set("email", EMAIL);
  await telling.set("review", "new");
  const skus = ["A", "B", "C", "D", "E", "F", "G"];
  assertEquals(
    (await app.upload(skus.map((sku) => product(sku)).join(""))).status,
    200,
  );
  const { xml } = await app.call("/seller_api/products");
  const ids = child(xml, "products").children.map((one) => textAt(one, "id"));
  const reject = async (...ids: string[]) => {
    const reviews = ids.map((id) =>
      `<review><product>${id}</product><decision>rejected</decision>` +
      "<message>The title says nothing.</message></review>"
    );
    const answer = await app.call("/operator_api/reviews", {
      method: "POST",
      key: OPERATOR_KEY,
      body: `<reviews>${reviews.join("")}</reviews>`,
    });
    assertEquals(answer.status, 200, answer.text);
  };
  await reject(ids[0]);
  await telling.mailed(1);
  const [{ text }] = mail.received;
  assertMatch(
    text,
    /The product [A-G] was rejected \(The title says nothing\)\./,
  );
  assertStringIncludes(text, `https://sell.example/#/products/${ids[0]}`);
  clock.setForward(HOUR_MS);
  await reject(...ids.slice(1));
  await telling.mailed(2);
  assertStringIncludes(mail.received[1].text, "6 products were rejected.");
  assertStringIncludes(mail.received[1].text, "/#/products?review=rejected");
});

bothEngines.test("a seller gets a notice of how many images of an upload or import failed, and which", async () => {
  await using host = new ImageHost();
  await using telling = await tell({
    config: { roles: ["api", "images"] },
  });
  const { app, mail } = telling;
  const images = (...names: string[]) => {
    const list = names.map((name) =>
      `<image>${host.url}/${name.startsWith("good") ? name : `gone/${name}`}` +
      "</image>"
    );
    return `<images>${list.join("")}</images>`;
  };
  await telling.set("email", EMAIL);
  const names = ["1.png", "2.png", "3.png", "4.png"];
  const parts = Array.from({ length: 250 }, (_, n) => product(`P-${n}`));
  const { id } = await importOne(
    telling,
    product("A", images("good/0.png", ...names)) + parts.join("") +
      product("B", images("5.png", "good/6.png")),
    "stock.xml",
  );
  await app.upload(product("C", images("good/8.png", "7.png")));
  const texts = () => mail.received.map(({ text }) => text).join("\n");
  await telling.until(() => texts().includes("an upload"), "the upload");
  telling.clock.setForward(HOUR_MS);
  await telling.until(() => texts().includes("stock.xml could"), "the import");
  assertStringIncludes(
    texts().replaceAll(/\s+/g, " "),
    "5 images of the import stock.xml could not be fetched, and are not " +
      `tried again: ${host.url}/gone/1.png, ${host.url}/gone/2.png, ` +
      `${host.url}/gone/3.png and 2 more.`,
  );
  assertStringIncludes(texts(), `https://sell.example/#/imports/${id}`);
  assertStringIncludes(
    texts().replaceAll(/\s+/g, " "),
    "1 image of an upload could not be fetched, and is not tried again: " +
      `${host.url}/gone/7.png.`,
  );
});

Deno.test("a seller that got hundreds of notices still gets new ones", async () => {
  await using telling = await tell();
  const { app, mail, clock } = telling;
  await telling.set("email", EMAIL);
  await telling.set("review", "new");
  const all = Array.from(
    { length: NOTICES_IN_A_MAIL + 10 },
    (_, n) => product(`P-${n}`),
  );
  assertEquals((await app.upload(all.join(""))).status, 200);
  const operator = app.operator({ key: OPERATOR_KEY });
  const { reviews } = await operator.reviews.list({ limit: all.length });
  await operator.reviews.decide({
    reviews: reviews.map(({ id }) => ({
      product: id,
      decision: "rejected",
      code: "title",
    })),
  });
  await telling.mailed(1);
  assertStringIncludes(
    mail.received[0].text,
    `${NOTICES_IN_A_MAIL} or more products were rejected`,
  );
  await telling.set("product_limit", "1");
  clock.setForward(HOUR_MS);
  await telling.mailed(2);
  assertStringIncludes(mail.received[1].text, "Your quota is used up");
});

bothEngines.test("a seller gets a notice of a key that expires in seven days, but not of a rotated one", async () => {
  await using telling = await tell();
  const { app, mail, clock } = telling;
  await telling.set("email", EMAIL);
  const add = async (label: string, ms: number) => {
    const ends = new Date(clock.now() + ms).toISOString();
    const answer = await app.call("/seller_api/keys", {
      method: "POST",
      body:
        `<key><label>${label}</label><expires_at>${ends}</expires_at></key>`,
    });
    assertEquals(answer.status, 200, answer.text);
  };
  await add("late", 30 * DAY_MS);
  await add("soon", 8 * DAY_MS);
  await add("now", DAY_MS - HOUR_MS);
  clock.setForward(DAY_MS + HOUR_MS);
  await telling.mailed(1);
  const { text } = mail.received[0];
  assertMatch(text, /Your key soon \(it begins with sk_[\w-]+\) expires at 20/);
  assertStringIncludes(text, "create a new key with a key that lasts longer");
  assert(!/late|now/.test(text), text);
  clock.setForward(6 * DAY_MS);
  const kept = async () => {
    const rows = await app.app.db.read((sql) =>
      sql.all("SELECT 1 FROM notices")
    );
    return rows.length;
  };
  clock.setForward(2 * DAY_MS);
  await telling.until(async () => await kept() === 0, "the end of it");
  assertEquals(mail.received.length, 1);
});
