/** `POST /seller_api/bulk_attributes`. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { findMissingProducts } from "../../src/catalogue/complete.ts";
import type { ProductsDocument } from "../../src/catalogue/document.ts";
import { ATTRIBUTES_LIMIT, SCALAR_NAMES } from "../../src/catalogue/fields.ts";
import type { Db, Sql } from "../../src/database/db.ts";
import { systemDeps } from "../../src/deps.ts";
import { heavyWorkList } from "../../src/lib/wait_list.ts";
import type { Seller } from "../../src/sellers/seller.ts";
import type { Services } from "../../src/services.ts";
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
import { inTime, until } from "../support/clock.ts";
import { fieldsText, readAll, valueOf } from "../support/read_out.ts";
import { bothForms, contract, isInJson } from "../support/forms.ts";

const BULK = "/seller_api/bulk_products";

function post(
  app: TestApp,
  products: string,
  query = "",
  headers: Record<string, string> = {},
): Promise<Answer> {
  return app.call(`/seller_api/bulk_attributes?v=1.1${query}`, {
    method: "POST",
    body: `<products>${products}</products>`,
    headers,
  });
}

function row(sku: string, fields: string): string {
  return `<product><sku>${sku}</sku>${fields}</product>`;
}

/** Price, quantity and availability of each product, by SKU. */
async function stock(app: TestApp): Promise<Record<string, string>> {
  const { entries } = await readAll(app, "/seller_api/products", "products");
  return Object.fromEntries(
    entries.map((entry) => [
      textAt(entry, "sku"),
      ["price", "quantity", "availability"]
        .map((name) => valueOf(entry, name)).join(" "),
    ]),
  );
}

function idOf(answer: Answer): string {
  assertEquals(answer.status, 200, answer.text);
  return textAt(answer.xml, "transaction_id");
}

async function results(app: TestApp, answer: Answer): Promise<string[]> {
  const record = await app.status(answer);
  return child(record, "results").children.map((one) =>
    `${textAt(one, "sku")} ${textAt(one, "result")}`
  );
}

/** `product sku field code` of each detail. */
function told(answer: Answer): string[] {
  assertEquals(codeOf(answer), "record_invalid", answer.text);
  return detailsOf(answer).map(({ product, sku, field, code }) =>
    `${product} ${sku} ${field} ${code}`
  );
}

const LONG = `<description>${"long ".repeat(900)}</description>
  <categories><category>c</category></categories>
  <attributes><attribute name="n">v</attribute></attributes>`;

function full(sku: string): string {
  return `<product><sku>${sku}</sku><title>T</title>${LONG}
    <price currency="SEK">10</price><quantity>1</quantity></product>`;
}

contract.test("attributes of many products are set, watched, listed and undone", async () => {
  await using app = await boot();
  await app.upload(full("A") + full("B") + full("C"));
  const before = await readAll(app, "/seller_api/products", "products");
  const id = textAt(before.entries[1], "id");
  const answer = await post(
    app,
    row("A", '<price currency="SEK">12.50</price><quantity>0</quantity>') +
      `<product><id>${id}</id><sku>B2</sku><title>Other</title></product>` +
      row("C", "<quantity>1</quantity>"),
  );
  assertEquals(await stock(app), {
    A: "12.5 0 out_of_stock",
    B2: "10 1 in_stock",
    C: "10 1 in_stock",
  });
  assertEquals(await results(app, answer), [
    "A updated",
    "B2 updated",
    "C unchanged",
  ]);
  const list = await app.call(BULK);
  const [newest] = child(list.xml, "transactions").children;
  assertEquals(textAt(newest, "transaction_id"), idOf(answer));
  // Fields that the document cannot contain are unchanged.
  const after = await readAll(app, "/seller_api/products", "products");
  const longOf = ({ entries }: typeof before) =>
    entries.map((one) =>
      ["description", "categories", "attributes"].map((name) =>
        child(one, name).source
      )
    );
  assertEquals(longOf(after), longOf(before));
  const undone = await app.call(`${BULK}/${idOf(answer)}/undo`, {
    method: "POST",
  });
  assertEquals(undone.status, 200, undone.text);
  const restored = await readAll(app, "/seller_api/products", "products");
  assertEquals(
    restored.entries.map((one) => fieldsText(one)),
    before.entries.map((one) => fieldsText(one)),
  );
  assertEquals(
    restored.entries.map((one) => valueOf(one, "lowest_price")),
    ["10", null, null],
  );
});

contract.test("all or nothing: an unknown SKU, a field that cannot be sent here, a rule", async () => {
  await using app = await boot();
  await app.upload(full("A") + full("B"));
  const before = await stock(app);
  const products = row("A", "<quantity>5</quantity>") +
    row("X", "<quantity>5</quantity><description>d</description>") +
    row("B", "<images/><compare_at_price>5</compare_at_price>") +
    row("A", "<quantity>6</quantity>") +
    row("B", "<lenght>6</lenght>") +
    "<product><quantity>1</quantity></product>";
  const wanted = [
    "2 X sku not_found",
    "2 X description not_allowed",
    "3 B images not_allowed",
    "3 B compare_at_price out_of_range",
    "4 A sku duplicate_sku",
    "5 B lenght unknown_element",
    "5 B sku duplicate_sku",
    "6 undefined sku required",
  ];
  for (const query of ["", "&dry_run=true"]) {
    const answer = await post(app, products, query);
    assertEquals(answer.status, 422);
    assertEquals(told(answer).sort(), wanted.sort());
  }
  const nobody = await post(app, row("X", "<quantity>5</quantity>"));
  assertStringIncludes(nobody.text, "is not one of your products");
  assertEquals(await stock(app), before);
});

contract.test("accept=valid sets the valid ones, returns the refused ones, and creates none", async () => {
  await using app = await boot();
  await app.upload(full("A") + full("B"));
  const refused = row("X", "<quantity>5</quantity>");
  const answer = await post(
    app,
    row("A", "<quantity>7</quantity>") + refused,
    "&accept=valid",
  );
  assertEquals(textAt(answer.xml, "refused"), "1");
  assertEquals(await results(app, answer), ["A updated", "X refused"]);
  const back = await app.call(`${BULK}/${idOf(answer)}/refused`);
  if (isInJson()) {
    const products = [{ sku: "X", quantity: 5 }];
    assertEquals(JSON.parse(back.text), { products });
  } else {
    assertStringIncludes(back.text, refused);
    assertStringIncludes(back.text, "not_found");
  }
  assertEquals(Object.keys(await stock(app)), ["A", "B"]);
  const none = await post(app, refused, "&accept=valid");
  assertEquals([none.status, codeOf(none)], [422, "record_invalid"]);
});

contract.test("a dry run and a repeated request change nothing", async () => {
  await using app = await boot();
  await app.upload(full("A"));
  const products = row("A", "<quantity>7</quantity>");
  const before = await stock(app);
  const dry = await post(app, products, "&dry_run=true");
  assertEquals(textAt(dry.xml, "dry_run/products/updated"), "1");
  assertEquals(await stock(app), before);
  const key = { "Idempotency-Key": "k" };
  const first = await post(app, products, "", key);
  await app.call("/seller_api/products/A/attribute/quantity/9", {
    method: "PUT",
  });
  const again = await post(app, products, "", key);
  assertEquals(idOf(again), idOf(first));
  assertEquals((await stock(app)).A, "10 9 in_stock");
  const other = await post(app, products + row("B", ""), "", key);
  assertEquals([other.status, codeOf(other)], [
    422,
    "idempotency_key_reused",
  ]);
});

/** PostgreSQL behaves the same with more, so fewer suffice. */
const A_TENTH = ATTRIBUTES_LIMIT / 10;

contract.test("10,000 products with every attribute are one transaction; one more is refused", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const isWhole = app.config.databaseUrl === null && !isInJson();
  const count = isWhole ? ATTRIBUTES_LIMIT : A_TENTH;
  for (let first = 0; first < count; first += 250) {
    const products = Array.from(
      { length: 250 },
      (_, i) => product(`S-${first + i}`),
    );
    assertEquals((await app.upload(products.join(""))).status, 200);
  }
  const every = (n: number) =>
    row(
      `S-${n}`,
      `<title>T ${n}</title><price currency="SEK">${n + 1}.50</price>
      <compare_at_price>20000</compare_at_price><vat_rate>25</vat_rate>
      <quantity>${n}</quantity><availability>preorder</availability>
      <available_at>2030-01-01</available_at><gtin>4006381333931</gtin>
      <brand>b</brand><mpn>m</mpn><weight unit="g">5</weight>
      <condition>used</condition><status>paused</status>`,
    );
  const all = Array.from({ length: ATTRIBUTES_LIMIT }, (_, n) => every(n));
  const last = `S-${count - 1}`;
  const before = await read(app, last);
  const answer = await post(app, all.slice(0, count).join(""));
  assertEquals(answer.status, 200, answer.text);
  const record = await app.status(answer);
  assertEquals(textAt(record, "products/updated"), `${count}`);
  const { xml } = await app.call(`/seller_api/products/${last}`);
  assertEquals(textAt(xml, "product/price"), `${count}.5`);

  const feed = "/operator_api/products?limit=250";
  const { entries } = await readAll(app, feed, "products", { key: "op" });
  assertEquals(entries.length, count);
  assertEquals(
    new Set(entries.map((one) => textAt(one, "vat_rate"))),
    new Set(["25"]),
  );
  const undone = await app.call(`${BULK}/${idOf(answer)}/undo`, {
    method: "POST",
  });
  assertEquals(undone.status, 200, undone.text);
  assertEquals(await read(app, last), before);

  const more = await post(app, all.join("") + every(1));
  assertEquals([more.status, codeOf(more)], [413, "too_many_products"]);
});

async function read(app: TestApp, sku: string): Promise<string> {
  const { xml } = await app.call(`/seller_api/products/${sku}`);
  return fieldsText(child(xml, "product"));
}

contract.test("fields that only appear in responses are ignored", async () => {
  await using app = await boot();
  await app.upload(full("A"));
  const shown = '<lowest_price days="30" currency="SEK">80</lowest_price>' +
    "<review><state>pending</state><at>x</at></review>";
  const answer = await post(app, row("A", `${shown}<quantity>3</quantity>`));
  assertEquals(answer.status, 200, answer.text);
  assertEquals((await app.upload(row("A", shown))).status, 200);
  assertEquals((await stock(app)).A, "10 3 in_stock");
});

bothForms.test("a document of attributes accepts the fields of the attribute update", async () => {
  await using app = await boot();
  await app.upload(full("A"));
  for (const field of SCALAR_NAMES.filter((name) => name !== "sku")) {
    const { text } = await post(app, row("A", `<${field}/>`));
    const put = await app.call(
      `/seller_api/products/A/attribute/${field}/`,
      { method: "PUT" },
    );
    const isUnknown = put.text.includes("<code>unknown_attribute</code>");
    assertEquals(text.includes("<code>not_allowed</code>"), isUnknown, field);
  }
});

Deno.test("short products count by their parsed size, until the answer", async () => {
  const commits = Promise.withResolvers<void>();
  let isHeld = false;
  await using app = await boot({
    config: { bodyLimit: 1_000_000, bodyBudget: 12_000_000 },
    deps: { beforeCommit: () => isHeld ? commits.promise : Promise.resolve() },
  });
  await app.upload(full("A"));
  const fields = `<quantity>5</quantity>${" ".repeat(20_000)}`;
  isHeld = true;
  // The seller may use a quarter of the budget. A request takes three times its
  // bytes, and three times ten times that for its rows.
  const most = Math.floor(3_000_000 / (3 * 11 * 20_100));
  let refused = 0;
  const answers = Array.from({ length: 10 }, async () => {
    const answer = await post(app, row("A", fields));
    if (answer.status !== 200) refused++;
    return answer;
  });
  const first = await inTime(Promise.race(answers), "a refusal");
  assertEquals([first.status, codeOf(first)], [503, "unavailable"]);
  // The others must have arrived before a stored one makes room.
  await until(() => refused >= answers.length - most, "the other refusals");
  commits.resolve();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  const stored = statuses.filter((status) => status === 200);
  // Fewer are stored while the bodies of refused requests still count, which
  // they do until they are read.
  assert(
    stored.length >= 1 && stored.length <= most,
    `${stored.length} of ${most}`,
  );
});

contract.test("a reviewer sees only what a request changed", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  await app.upload(full("A"));
  const path = "/operator_api/sellers/acme/attribute/review/changes";
  const set = await app.call(path, { method: "PUT", key: "op" });
  assertEquals(set.status, 204, set.text);
  await post(app, row("A", "<title>Other</title><quantity>3</quantity>"));
  const { text } = await app.call("/operator_api/reviews?state=pending", {
    key: "op",
  });
  assertStringIncludes(text, "<changed><field>title</field></changed>");
});

/** A shop with ten products in stock, S-0 to S-9, and others that are not. */
async function shop(): Promise<TestApp> {
  const app = await boot();
  const inStock = Array.from({ length: 10 }, (_, n) => full(`S-${n}`));
  const paused = "<availability>in_stock</availability><quantity/>";
  const others = full("E").replace("<quantity>1", "<quantity>0") +
    full("N").replace("<quantity>1</quantity>", paused);
  const { status, text } = await app.upload(inStock.join("") + others);
  assertEquals(status, 200, text);
  return app;
}

function named(count: number): string {
  return Array.from(
    { length: count },
    (_, n) => row(`S-${n}`, "<quantity>2</quantity>"),
  ).join("");
}

contract.test("complete=quantity sets what the document does not name to 0, and an undo brings it back", async () => {
  await using app = await shop();
  const before = await stock(app);
  const query = "&complete=quantity";
  const dry = await post(app, named(9), `${query}&dry_run=true`);
  assertEquals(textAt(dry.xml, "dry_run/products/updated"), "10");
  assertEquals(textAt(dry.xml, "dry_run/missing/total"), "1");
  assertEquals(textAt(dry.xml, "dry_run/missing/sku"), "S-9");
  assertEquals(await stock(app), before);
  const key = { "Idempotency-Key": "k" };
  const answer = await post(app, named(9), query, key);
  const after = await stock(app);
  assertEquals(after["S-9"], "10 0 out_of_stock");
  assertEquals(after["S-0"], "10 2 in_stock");
  assertEquals([after.E, after.N], [before.E, before.N]);
  assertEquals((await results(app, answer)).slice(8), [
    "S-8 updated",
    "S-9 updated",
  ]);
  const again = await post(app, named(9), query, key);
  assertEquals(idOf(again), idOf(answer));
  const undone = await app.call(`${BULK}/${idOf(answer)}/undo`, {
    method: "POST",
  });
  assertEquals(undone.status, 200, undone.text);
  assertEquals(await stock(app), before);
});

contract.test("complete=quantity: a truncated file, an empty one and another shop's are refused", async () => {
  await using app = await shop();
  const before = await stock(app);
  const query = "&complete=quantity";
  // Truncated between two products, but well-formed.
  for (const more of ["", "&accept=valid", "&dry_run=true"]) {
    const cut = await post(app, named(5), query + more);
    assertEquals(cut.status, 422);
    const [{ code, message }] = detailsOf(cut);
    assertEquals(code, "too_many_missing");
    assertStringIncludes(message, "set 5 of the 10 products in stock");
    assertStringIncludes(message, "at_most=50");
  }
  const broken = await app.call(`/seller_api/bulk_attributes?v=1.1${query}`, {
    method: "POST",
    body: `<products>${named(5)}<product><sku>S-`,
  });
  assertEquals([broken.status, codeOf(broken)], [400, "malformed_xml"]);
  const empty = await post(app, "", query);
  assertEquals([empty.status, codeOf(empty)], [422, "record_invalid"]);
  const other = named(9).replaceAll("S-", "X-") + named(1);
  for (const more of ["", "&accept=valid"]) {
    const stopped = await post(app, other, query + more);
    assertEquals(stopped.status, 422);
    assertStringIncludes(stopped.text, "<code>too_many_missing</code>");
  }
  assertEquals(await stock(app), before);
});

contract.test("complete=quantity counts refused products as named, by SKU or id", async () => {
  await using app = await shop();
  const { xml } = await app.call("/seller_api/products/S-8");
  const id = textAt(child(xml, "product"), "id");
  const products = named(8) + row("S-9", "<quantity>x</quantity>") +
    `<product><id>${id}</id><quantity>7</quantity></product>`;
  const query = "&complete=quantity&at_most=0";
  const answer = await post(app, products, `${query}&accept=valid`);
  assertEquals(textAt(answer.xml, "refused"), "1");
  const after = await stock(app);
  assertEquals(after["S-9"], "10 1 in_stock");
  assertEquals(after["S-8"], "10 7 in_stock");
  const all = await post(app, named(1), "&complete=quantity&at_most=100");
  assertEquals(all.status, 200, all.text);
  const left = Object.values(await stock(app))
    .filter((line) => /^10 [1-9]/.test(line));
  assertEquals(left, ["10 2 in_stock"]);
});

Deno.test("complete=quantity reads a large catalogue in pieces, and others run between them", async () => {
  await using app = await boot();
  const { db } = app.app;
  await db.of(app.sellerNo).write((tx) =>
    tx.run(
      `INSERT INTO products (seller_no, id, sku, change_no, status, created_at,
         updated_at, quantity, availability, price, currency, condition, title,
         categories, images, attributes, description)
       WITH RECURSIVE n (i) AS (
         SELECT 10000 UNION ALL SELECT i + 1 FROM n WHERE i < 14499)
       SELECT ?, '01a1f8b7-0000-7000-8000-0000000' || i, 'S-' || i, i, 'active', 1, 1,
         i % 2, 'in_stock', '1', 'SEK', 'new', 'T', '[]', '[]', '[]', ''
       FROM n`,
      [app.sellerNo],
      "any",
    )
  );
  const ran: (number | string)[] = [];
  let now = 0;
  const clock = {
    monotonic: () => now,
    after: (ms: number, fn: () => void) => {
      ran.push(`${ms} ms of rest`);
      queueMicrotask(fn);
      return () => {};
    },
  };
  const { yieldToIo } = systemDeps("error");
  const heavy = heavyWorkList({ clock, yieldToIo });
  const read: Db["read"] = (fn, options) =>
    db.read((sql) =>
      fn({
        get: sql.get.bind(sql),
        all: async <T>(...of: Parameters<Sql["all"]>) => {
          const rows = await sql.all<T>(...of);
          // bounded: the pieces
          ran.push(rows.length);
          now += 7;
          return rows;
        },
      }), options);
  const found = findMissingProducts(
    { db: { ...db, read }, heavy, deps: { clock } } as unknown as Services,
    { id: "all", no: app.sellerNo } as Seller,
    { rows: [{ id: null, sku: "S-10001" }] } as unknown as ProductsDocument,
  );
  // An owner that has not run yet comes before one that has.
  const other = heavy.run({ owner: "other" }, () => {
    ran.push("another seller");
    return Promise.resolve();
  });
  const { inStock, missing } = await found;
  await other;
  assertEquals([inStock, missing], [2_250, 2_249]);
  assertEquals(ran.slice(0, 4), [
    ...[500, "28 ms of rest", "another seller", 500],
  ]);
  assertEquals(ran.filter((one) => one === 500).length, 9);
  assertEquals(ran.filter((one) => one === "28 ms of rest").length, 9);
});

bothForms.test("at_most is a whole number of percent, allowed only with complete", async () => {
  await using app = await shop();
  for (const query of ["&at_most=5", "&complete=quantity&at_most=101"]) {
    const answer = await post(app, named(10), query);
    assertEquals([answer.status, codeOf(answer)], [400, "malformed_request"]);
  }
});
