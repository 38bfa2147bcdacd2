/** `POST …/bulk_products/:transaction_id/undo`. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { systemClock } from "../../src/deps.ts";
import { forgetUnneeded } from "../../src/images/rows/copies.ts";
import { BEFORE_ALL_IDS } from "../../src/lib/ids.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import {
  type Answer,
  boot,
  child,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { ImageHost } from "../support/image_host.ts";
import { fieldsText, readAll, valueOf } from "../support/read_out.ts";
import { bothForms, contract } from "../support/forms.ts";

const BULK = "/seller_api/bulk_products";

function undo(
  app: TestApp,
  upload: Answer | string,
  query = "",
  headers: Record<string, string> = {},
): Promise<Answer> {
  const path = `${BULK}/${idOf(upload)}/undo${query}`;
  return app.call(path, { method: "POST", headers });
}

function idOf(upload: Answer | string): string {
  if (typeof upload === "string") return upload;
  if (upload.status !== 200) throw new Error(upload.text);
  return textAt(upload.xml, "transaction_id");
}

/** The fields of each product as a seller reads them, without ids, by SKU. */
async function catalogue(app: TestApp): Promise<Record<string, string>> {
  const { entries } = await readAll(app, "/seller_api/products", "products");
  return Object.fromEntries(
    entries.map((entry) => [
      textAt(entry, "sku"),
      fieldsText(entry, ["id", "images"]),
    ]),
  );
}

async function put(app: TestApp, path: string): Promise<void> {
  const { status } = await app.call(`/seller_api/products/${path}`, {
    method: "PUT",
  });
  assertEquals(status, 204, path);
}

async function counts(app: TestApp, transaction: Answer) {
  const { children } = child(await app.status(transaction), "products");
  return countsIn(children);
}

function countsIn(children: { name: string; text: string }[]) {
  return Object.fromEntries(children.map(({ name, text }) => [name, +text]));
}

/** `product sku field` of each detail. */
function conflicts(answer: Answer): string[] {
  return detailsOf(answer).map(({ product, sku, field, code }) => {
    assertEquals(code, "changed_since");
    return `${product} ${sku} ${field}`;
  });
}

const A = `<product><sku>A</sku><title>Title of A</title>
  <description>long, ${"very ".repeat(40)}long</description>
  <price currency="SEK">10</price><compare_at_price>20</compare_at_price>
  <quantity>0</quantity><brand>x</brand><weight unit="g">5</weight>
  <categories><category>c</category></categories>
  <attributes><attribute name="n">v</attribute></attributes></product>`;

const CHANGED = `<product><sku>A</sku><description/><title>Other</title>
  <price currency="EUR">1</price><compare_at_price>2</compare_at_price>
  <quantity>3</quantity><brand/><weight/><gtin>4006381333931</gtin>
  <categories/><attributes><attribute name="m">v</attribute></attributes></product>`;

contract.test("an undo restores changed fields, deletes created products, and can be undone", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  await app.upload(A + product("B") + product("C"));
  const before = await catalogue(app);
  const upload = await app.upload(CHANGED + product("N") + product("B"));
  const after = await catalogue(app);
  assert(before.A !== after.A);

  const undone = await undo(app, upload);
  assertEquals(await catalogue(app), before);
  assertEquals(await counts(app, undone), {
    total: 2,
    created: 0,
    updated: 1,
    unchanged: 0,
    deleted: 1,
  });
  const record = await app.status(undone);
  assertEquals(textAt(record, "status"), "completed");
  const logged = app.log.filter(({ event }) => event === "upload_undone");
  assertEquals(logged.map(({ transaction }) => transaction), [idOf(undone)]);
  assertEquals(textAt(record, "undoes"), idOf(upload));
  assertEquals(
    child(record, "results").children.map((one) =>
      `${textAt(one, "sku")} ${textAt(one, "result")}`
    ),
    ["A updated", "N deleted"],
  );
  assertEquals(
    textAt(await app.status(upload), "undone_by"),
    idOf(undone),
  );

  const again = await undo(app, upload);
  assertEquals([again.status, codeOf(again)], [409, "conflict"]);
  assertStringIncludes(again.text, idOf(undone));

  const redone = await undo(app, undone);
  assertEquals(await catalogue(app), after);
  assertEquals((await undo(app, undone)).status, 409);
  const list = await app.call(BULK);
  assertEquals(
    child(list.xml, "transactions").children.slice(0, 3).map((
      one,
    ) => [valueOf(one, "undoes"), valueOf(one, "undone_by")]),
    [
      [idOf(undone), null],
      [idOf(upload), idOf(redone)],
      [null, idOf(undone)],
    ],
  );
  await undo(app, redone);
  assertEquals(await catalogue(app), before);

  const { entries } = await readAll(app, "/operator_api/products", "products", {
    key: "op",
  });
  const gone = entries.filter((one) => valueOf(one, "@deleted_at") !== null);
  assertEquals(gone.map((one) => textAt(one, "sku")), ["N", "N"]);
  assert(textAt(gone[0], "id") !== textAt(gone[1], "id"), "another product");
});

contract.test("repeated undos keep only what one undo needs", async () => {
  await using app = await boot();
  let last = await app.upload(A);
  for (let n = 0; n < 4; n++) last = await undo(app, last);
  const kept = await app.app.db.read((sql) =>
    sql.all<{ transaction_id: string }>(
      "SELECT transaction_id FROM undo_records",
      [],
    )
  );
  assertEquals(kept.map((row) => row.transaction_id), [idOf(last)]);
});

contract.test("uploads are undone in turn, the latest first", async () => {
  await using app = await boot();
  const uploads: Answer[] = [];
  const states: Record<string, string>[] = [];
  for (
    const xml of [
      A + product("B"),
      CHANGED,
      "<product><sku>A</sku><title>t</title><quantity>9</quantity></product>" +
      product("D"),
    ]
  ) {
    states.push(await catalogue(app));
    uploads.push(await app.upload(xml));
  }
  for (const upload of uploads.reverse()) {
    assertEquals((await undo(app, upload)).status, 200);
    assertEquals(await catalogue(app), states.pop());
  }
  assertEquals(await catalogue(app), {});
});

contract.test("a later change makes an undo refused, or is kept", async () => {
  await using app = await boot();
  await app.upload(["A", "B", "C", "D"].map((sku) => product(sku)).join(""));
  const upload = await app.upload(
    ["A", "B", "C", "D"].map((sku) =>
      `<product><sku>${sku}</sku><title>New</title><brand>b</brand>` +
      `<price currency="SEK">5</price></product>`
    ).join("") + product("E") + product("F"),
  );
  await put(app, "A/attribute/title/Own");
  await put(app, "B/attribute/quantity/77"); // not by the upload
  await put(app, "C/attribute/price/199"); // the former value
  await app.call("/seller_api/products/D", { method: "DELETE" });
  await put(app, "E/attribute/quantity/1");
  await app.call("/seller_api/products/F", { method: "DELETE" });
  const before = await catalogue(app);

  const refused = await undo(app, upload);
  assertEquals([refused.status, codeOf(refused)], [422, "record_invalid"]);
  const expected = ["1 A title", "4 D id", "5 E id"];
  assertEquals(conflicts(refused), expected);
  assertMatch(
    detailsOf(refused)[2].message,
    /^id is .* changed since it was created, last at \d{4}-.*Z\. /,
  );
  for (const { message } of detailsOf(refused)) {
    assertStringIncludes(
      message,
      "changed=keep leaves it and undoes the rest.",
    );
  }
  assertEquals(await catalogue(app), before);

  const dry = await undo(app, upload, "?dry_run=true");
  assertEquals(dry.status, 200);
  assertStringIncludes(dry.text, "changed=keep leaves it and undoes the rest.");
  const keeping = await undo(app, upload, "?dry_run=true&changed=keep");
  assertStringIncludes(keeping.text, "changed since it was created, last at");
  assert(!keeping.text.includes("changed=keep"), "it is kept already");
  const [products, details] = child(dry.xml, "dry_run").children;
  assertEquals(countsIn(products.children), {
    total: 6,
    created: 0,
    updated: 3,
    unchanged: 3,
  });
  assertEquals(
    details.children.map((one) =>
      `${textAt(one, "product")} ${textAt(one, "sku")} ${textAt(one, "field")}`
    ),
    expected,
  );
  assertEquals(await catalogue(app), before);

  const kept = await undo(app, upload, "?changed=keep");
  assertEquals(await counts(app, kept), {
    total: 6,
    created: 0,
    updated: 3,
    unchanged: 3,
  });
  const after = await catalogue(app);
  assertEquals(Object.keys(after), ["A", "B", "C", "E"]);
  assertEquals(after.E, before.E);
  assertStringIncludes(after.A, "<title>Own</title>");
  for (const sku of ["A", "B", "C"]) {
    assertStringIncludes(after[sku], ">199</price>");
    assert(!after[sku].includes("<brand>"), sku);
  }
  assertStringIncludes(after.B, "<title>Title of B</title>");
  assertStringIncludes(after.B, "<quantity>77</quantity>");
});

contract.test("an undo ignores refused products", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const before = await catalogue(app);
  const upload = await app.upload(
    product("X", "<gtin>1</gtin>") + product("A", "<brand>b</brand>") +
      product("N"),
    "&accept=valid",
  );
  await put(app, "A/attribute/brand/own");
  assertEquals(conflicts(await undo(app, upload)), ["2 A brand"]);
  await put(app, "A/attribute/brand/b");
  await undo(app, upload);
  assertEquals(await catalogue(app), before);
});

contract.test("an undo restores SKUs, and conflicts if another product took one meanwhile", async () => {
  await using app = await boot();
  await app.upload(product("A") + product("B") + product("C"));
  const ids = (await readAll(app, "/seller_api/products", "products")).entries
    .map((one) => textAt(one, "id"));
  const rename = (id: string, sku: string) =>
    `<product><id>${id}</id><sku>${sku}</sku></product>`;
  const before = await catalogue(app);
  const swap = await app.upload(
    rename(ids[0], "B") + rename(ids[1], "A") + rename(ids[2], "Z"),
  );
  await undo(app, swap);
  assertEquals(await catalogue(app), before);

  const ring = await app.upload(
    rename(ids[0], "B") + rename(ids[1], "C") + rename(ids[2], "D"),
  );
  await app.upload(product("A"));
  const refused = await undo(app, ring);
  // No SKU becomes free for the product before it.
  assertEquals(conflicts(refused), ["1 B sku", "2 C sku", "3 D sku"]);
});

contract.test("the fields an undo keeps obey the rules between fields", async () => {
  await using app = await boot();
  await app.upload(
    product("A") +
      `<product><sku>B</sku><title>t</title><price currency="SEK">1</price>` +
      "<availability>preorder</availability>" +
      "<available_at>2027-01-01</available_at></product>",
  );
  const upload = await app.upload(
    `<product><sku>A</sku><price currency="SEK">50</price><brand>x</brand></product>` +
      "<product><sku>B</sku><availability>in_stock</availability></product>",
  );
  await put(app, "A/attribute/compare_at_price/60");
  await put(app, "B/attribute/available_at/");
  assertEquals(conflicts(await undo(app, upload)), [
    "1 A price",
    "2 B availability",
  ]);
  await undo(app, upload, "?changed=keep");
  const { A, B } = await catalogue(app);
  assertStringIncludes(A, ">50</price>");
  assert(!A.includes("<brand>"));
  assertStringIncludes(B, "<availability>in_stock</availability>");
});

contract.test("an undo that keeps a later quantity keeps its availability", async () => {
  await using app = await boot();
  const sell = (quantity: number) =>
    app.upload(
      `<product><sku>A</sku><title>t</title><price currency="SEK">1</price>` +
        `<quantity>${quantity}</quantity></product>`,
    );
  await sell(0);
  const upload = await sell(5);
  await put(app, "A/attribute/quantity/7");
  assertEquals(conflicts(await undo(app, upload)), [
    "1 A quantity",
    "1 A availability",
  ]);
  await undo(app, upload, "?changed=keep");
  const { A } = await catalogue(app);
  assertStringIncludes(A, "<availability>in_stock</availability>");
  assertStringIncludes(A, "<quantity>7</quantity>");
});

contract.test("an undo restores images from their stored copies, without a HEAD", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const url = `${host.url}/good/a.png`;
  const image = `<images><image alt="x">${url}</image></images>`;
  await app.status(await app.upload(product("A", image)), "?wait=10");
  const shown = async () => (await app.call("/seller_api/products/A")).text;
  const before = await shown();
  assertStringIncludes(before, 'status="stored"');
  const upload = await app.upload("<product><sku>A</sku><images/></product>");
  const asked = host.count("/good/a.png");
  host.answers.set("/good/a.png", () => new Response(null, { status: 404 }));
  const undone = await undo(app, upload);
  const { children } = child(await app.status(undone), "images");
  assertEquals(countsIn(children), {
    total: 1,
    pending: 0,
    stored: 0,
    reused: 1,
    failed: 0,
  });
  const images = (text: string) => text.slice(text.indexOf("<images>"));
  assertEquals(images(await shown()), images(before));
  assertEquals(host.count("/good/a.png"), asked);

  // An image that was removed meanwhile is fetched again.
  const cleared = await app.upload("<product><sku>A</sku><images/></product>");
  const times = { now: Date.now(), since: Date.now() };
  await app.app.db.write((tx) =>
    forgetUnneeded(tx, { sellerNo: 0, id: BEFORE_ALL_IDS }, times)
  );
  host.answers.delete("/good/a.png");
  const again = await app.status(await undo(app, cleared), "?wait=10");
  assertEquals(textAt(again, "images/stored"), "1");
  assertEquals(host.count("/good/a.png"), asked + 1, "one GET");
  assertEquals(images(await shown()), images(before));
});

contract.test("an undo is repeated safely with an Idempotency-Key", async () => {
  await using app = await boot();
  const upload = await app.upload(product("A"));
  const key = { "Idempotency-Key": "k" };
  const first = await undo(app, upload, "", key);
  const again = await undo(app, upload, "", key);
  assertEquals(again.text, first.text);
  assertEquals(again.headers.get("idempotent-replayed"), "true");
  const other = await undo(app, upload, "?changed=keep", key);
  assertEquals([other.status, codeOf(other)], [
    422,
    "idempotency_key_reused",
  ]);
  assertEquals((await undo(app, upload)).status, 409);
});

contract.test("an upload can be undone only for the configured days", async () => {
  let now = Date.now();
  const clock = { ...systemClock, now: () => now };
  await using app = await boot({ deps: { clock }, config: { undoDays: 2 } });
  const nothing = await app.upload(product("A"));
  const upload = await app.upload(product("B"));
  const same = await app.upload(product("B"));
  now += 2 * DAY_MS - 1;
  assertEquals((await undo(app, upload)).status, 200);
  now += 1;
  const late = await undo(app, nothing);
  assertEquals(detailsOf(late).map(({ code }) => code), ["too_old"]);
  assertEquals(late.status, 422);
  const empty = await undo(app, same);
  assertEquals((await counts(app, empty)).total, 0, "there is nothing to undo");
});

contract.test("no undo record is kept if undo is off or nothing changed", async () => {
  const rows = async (app: TestApp) =>
    (await app.app.db.read((sql) => sql.all("SELECT 1 FROM undo_records")))
      .length;
  await using never = await boot({ config: { undoDays: 0 } });
  const upload = await never.upload(product("A"));
  assertEquals(await rows(never), 0);
  assertEquals(detailsOf(await undo(never, upload))[0].code, "too_old");

  await using app = await boot();
  await app.upload(product("A"));
  await app.upload(product("A"));
  assertEquals(await rows(app), 1);
});

contract.test("an undo that would restore too many products is refused", async () => {
  await using app = await boot({ config: { productLimit: 2 } });
  const undone = await undo(app, await app.upload(product("A") + product("B")));
  await app.upload(product("C"));
  const refused = await undo(app, undone, "?changed=keep");
  assertEquals(
    detailsOf(refused).map(({ sku, code }) => `${sku} ${code}`),
    ["A quota_exceeded", "B quota_exceeded"],
  );
});

contract.test("only the seller's own transactions can be undone", async () => {
  await using app = await boot();
  const upload = await app.upload(product("A"));
  const other = await app.addSeller("other");
  const path = `${BULK}/${idOf(upload)}/undo`;
  for (
    const [call, status] of [
      [{ key: other }, 404],
      [{ key: null }, 401],
    ] as const
  ) {
    const answer = await app.call(path, { method: "POST", ...call });
    assertEquals(answer.status, status);
  }
  const none = await undo(app, "01a1f8a9-48de-7b1f-9134-1d9a76779e57");
  assertEquals(none.status, 404);
  for (const query of ["?changed=drop", "?dry_run=yes", "?change=keep"]) {
    assertEquals((await undo(app, upload, query)).status, 400, query);
  }
});

bothForms.test("an undo is charged more requests by the products it changes", async () => {
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  await using app = await boot({ deps: { clock }, config: { rateLimit: 60 } });
  const left = ({ headers }: Answer) => headers.get("ratelimit-remaining");
  const products = Array.from({ length: 50 }, (_, n) => product(`P-${n}`));
  const upload = await app.upload(products.join(""));
  assertEquals(left(upload), "5");
  // A dry run reads and plans as much as the undo.
  assertEquals(left(await undo(app, upload, "?dry_run=true")), "2");
  now += 2_000;
  const undone = await undo(app, upload);
  assertEquals([undone.status, left(undone)], [200, "1"]);
  const redone = await undo(app, undone);
  assertEquals([redone.status, left(redone)], [200, "0"]);
  const refused = await undo(app, redone);
  assertEquals([refused.status, codeOf(refused)], [429, "rate_limited"]);
  assertEquals(refused.headers.get("retry-after"), "3");
  now += 3_000;
  assertEquals((await undo(app, redone)).status, 200);
});

bothForms.test("at every rate an undo of 250 products succeeds after exactly Retry-After", async () => {
  const products = Array.from({ length: 250 }, (_, n) => product(`P-${n}`));
  for (const rateLimit of [1, 19, 60, 109, 110]) {
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    await using app = await boot({ deps: { clock }, config: { rateLimit } });
    let last = await app.upload(products.join(""));
    for (let times = 0; times < 3; times++) {
      let answer = await undo(app, last);
      while (answer.status !== 429) {
        last = answer;
        answer = await undo(app, last);
      }
      now += 1_000 * Number(answer.headers.get("retry-after"));
      last = await undo(app, last);
      assertEquals(last.status, 200, `at ${rateLimit} a minute`);
    }
  }
});

Deno.test("dry runs read many products in portions, and others read between them", async () => {
  let reads = 0;
  const maybe = (point: string) => {
    if (point === "read begun") reads++;
    return Promise.resolve();
  };
  await using app = await boot({
    config: { databaseUrl: null, roles: ["api"] },
    deps: { maybe },
  });
  const skus = Array.from({ length: 1_000 }, (_, n) => `P-${n}`);
  for (let at = 0; at < skus.length; at += 250) {
    const some = skus.slice(at, at + 250).map((sku) => product(sku));
    assertEquals((await app.upload(some.join(""))).status, 200);
  }
  const prices = skus.map((sku) =>
    `<product><sku>${sku}</sku><price currency="SEK">7</price></product>`
  );
  const send = (query: string) =>
    app.call(`/seller_api/bulk_attributes?v=1.1${query}`, {
      method: "POST",
      body: `<products>${prices.join("")}</products>`,
    });
  const readsOf = async (request: () => Promise<Answer>) => {
    const before = reads;
    const answer = await request();
    assertEquals(answer.status, 200, answer.text);
    assertStringIncludes(answer.text, "<updated>1000</updated>");
    return reads - before;
  };
  assert(await readsOf(() => send("&dry_run=true")) >= 4);
  const changed = await send("");
  assert(await readsOf(() => undo(app, changed, "?dry_run=true")) >= 4);
});
