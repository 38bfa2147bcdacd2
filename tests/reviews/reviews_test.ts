/** The review of products, over HTTP. */
import { assert, assertEquals, assertMatch } from "@std/assert";
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
import { TestClock, until } from "../support/clock.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { sweepEndedReviews } from "../../src/reviews/policy.ts";
import type { XmlElement } from "../../src/xml/decode.ts";
import { bothForms, contract, isInJson } from "../support/forms.ts";

const OPERATOR = "operator-key-of-this-test";

async function start(policy: string): Promise<TestApp> {
  const app = await boot({
    config: { operatorKey: OPERATOR, roles: ["api", "webhooks"] },
  });
  assertEquals((await setPolicy(app, policy)).status, 204);
  return app;
}

function setPolicy(app: TestApp, policy: string): Promise<Answer> {
  return app.call(`/operator_api/sellers/acme/attribute/review/${policy}`, {
    method: "PUT",
    key: OPERATOR,
  });
}

/** The entries of the operator's list. */
async function reviews(app: TestApp, query = ""): Promise<XmlElement[]> {
  const path = `/operator_api/reviews${query}`;
  const answer = await app.call(path, { key: OPERATOR });
  assertEquals(answer.status, 200, answer.text);
  return child(answer.xml, "reviews").children;
}

function decide(app: TestApp, ...decisions: string[]): Promise<Answer> {
  const reviews = decisions.map((each) => `<review>${each}</review>`).join("");
  return app.call("/operator_api/reviews", {
    method: "POST",
    key: OPERATOR,
    body: `<reviews>${reviews}</reviews>`,
  });
}

function decision(id: string, word: string, more = ""): string {
  return `<product>${id}</product><decision>${word}</decision>${more}`;
}

/** `state code field message` of the seller's product; "" if it has none. */
async function reviewOf(app: TestApp, sku: string): Promise<string> {
  const { xml } = await app.call(`/seller_api/products/${sku}`);
  const review = child(xml, "product").children
    .find(({ name }) => name === "review");
  return (review?.children ?? []).filter(({ name }) => name !== "at")
    .map(({ text }) => text).join(" ");
}

async function idOf(app: TestApp, sku: string): Promise<string> {
  const { xml } = await app.call(`/seller_api/products/${sku}`);
  return textAt(xml, "product/id");
}

/** The SKUs of a document of products. */
function skusIn(document: Answer): string[] {
  if (!isInJson()) {
    return document.xml.children.map((each) => textAt(each, "sku"));
  }
  const { products }: { products: { sku: string }[] } = JSON.parse(
    document.text,
  );
  return products.map(({ sku }) => sku);
}

function put(app: TestApp, path: string): Promise<Answer> {
  return app.call(`/seller_api/products/${path}`, { method: "PUT" });
}

async function events(app: TestApp): Promise<string[]> {
  const { xml } = await app.call("/seller_api/events");
  return child(xml, "events").children.map((event) =>
    `${textAt(event, "trigger")} ${child(event, "data").source}`
  );
}

async function audit(app: TestApp): Promise<string[]> {
  const { xml } = await app.call("/operator_api/audit", { key: OPERATOR });
  return child(xml, "audit").children.map((entry) =>
    `${textAt(entry, "action")}: ${textAt(entry, "detail")}`
  ).filter((entry) => entry.startsWith("review "));
}

contract.test("review: without a policy no product has a review", async () => {
  await using app = await boot({ config: { operatorKey: OPERATOR } });
  await app.upload(product("A"));
  assertEquals(await reviewOf(app, "A"), "");
  assertEquals(await reviews(app), []);
  const answer = await decide(app, decision(await idOf(app, "A"), "approved"));
  assertEquals(answer.status, 422);
  assertEquals(detailsOf(answer)[0].code, "unknown_id");
  const refused = await setPolicy(app, "all");
  assertEquals(detailsOf(refused)[0].code, "not_in_list");
});

contract.test("review new: new products wait; once approved they may change", async () => {
  await using app = await boot({ config: { operatorKey: OPERATOR } });
  await app.upload(product("OLD"));
  await setPolicy(app, "new");
  await app.upload(product("A") + product("B"));
  await put(app, "OLD/attribute/title/Other");
  assertEquals(await reviewOf(app, "OLD"), "", "it was there before");
  assertEquals(await reviewOf(app, "A"), "pending");
  const waiting = await reviews(app);
  assertEquals(waiting.map((each) => textAt(each, "sku")), ["A", "B"]);
  assertEquals(waiting[0].attributes.seller, "acme");
  assertEquals(child(waiting[0], "changed").children, []);
  const id = await idOf(app, "A");
  assertEquals((await decide(app, decision(id, "approved"))).status, 200);
  assertEquals(await reviewOf(app, "A"), "approved");
  await put(app, "A/attribute/title/Other");
  assertEquals(await reviewOf(app, "A"), "approved");
  assertEquals((await reviews(app)).map((each) => textAt(each, "sku")), ["B"]);
});

contract.test("review changes: title, description, categories, brand, gtin and images wait, price and stock never", async () => {
  await using app = await boot({ config: { operatorKey: OPERATOR } });
  await app.upload(product("A", "<brand>B</brand>") + product("B"));
  await setPolicy(app, "changes");
  for (
    const change of [
      "price/3",
      "quantity/0",
      "availability/in_stock",
      "status/paused",
      "condition/used",
    ]
  ) {
    assertEquals((await put(app, `A/attribute/${change}`)).status, 204);
    assertEquals(await reviewOf(app, "A"), "", change);
  }
  await put(app, "A/attribute/title/New%20title");
  assertEquals(await reviewOf(app, "A"), "pending");
  const sent = "<product><sku>B</sku><description>D</description>" +
    "<categories><category>C</category></categories>" +
    "<gtin>4006381333931</gtin></product>";
  assertEquals((await app.upload(sent)).status, 200);
  const [a, b] = await reviews(app);
  const changed = (each: XmlElement) =>
    child(each, "changed").children.map(({ text }) => text);
  assertEquals(changed(a), ["title"]);
  assertEquals(child(a, "former").source, "<title>Title of A</title>");
  assertEquals(changed(b), ["description", "gtin", "categories"]);
  assertEquals(child(b, "former").source, "", "they were empty");
  await decide(
    app,
    ...[a, b].map((each) => decision(textAt(each, "id"), "approved")),
  );
  await put(app, "A/attribute/brand/C");
  const [again] = await reviews(app);
  assertEquals(changed(again), ["brand"], "since the last approval");
  const cleared = await app.upload(
    "<product><sku>B</sku><title>New title</title><description/>" +
      "<categories/><brand>N</brand><gtin/></product>",
  );
  assertEquals(cleared.status, 200);
  const [, emptied] = await reviews(app);
  assertEquals(
    child(emptied, "former").children.map(({ name }) => name),
    ["title", "description", "gtin", "categories"],
    "in the order of a document, as the schema says",
  );
});

contract.test("review changes: a product changed back no longer waits, unless it was rejected", async () => {
  await using app = await start("none");
  await app.upload(product("A") + product("OLD"));
  await setPolicy(app, "changes");
  assertEquals((await app.upload(product("NEW"))).status, 200);
  const approve = async (sku: string) =>
    assertEquals(
      (await decide(app, decision(await idOf(app, sku), "approved"))).status,
      200,
    );
  await approve("NEW");
  const change = await app.upload(
    ["NEW", "OLD"].map((sku) =>
      `<product><sku>${sku}</sku><brand>Other</brand><mpn>1</mpn></product>`
    ).join(""),
  );
  const states = () =>
    Promise.all(["NEW", "OLD"].map((sku) => reviewOf(app, sku)));
  assertEquals(await states(), ["pending", "pending"]);
  const id = textAt(change.xml, "transaction_id");
  const undone = await app.call(`/seller_api/bulk_products/${id}/undo`, {
    method: "POST",
  });
  assertEquals(undone.status, 200, undone.text);
  assertEquals(await states(), ["approved", ""]);
  assertEquals((await reviews(app)).length, 0);

  await put(app, "NEW/attribute/brand/Other");
  assertEquals(await reviewOf(app, "NEW"), "pending");
  const no = decision(await idOf(app, "NEW"), "rejected", "<code>no</code>");
  assertEquals((await decide(app, no)).status, 200);
  await put(app, "NEW/attribute/brand/");
  assertEquals(await reviewOf(app, "NEW"), "pending no");
});

contract.test("all problems of decisions are reported at once", async () => {
  await using app = await start("new");
  await app.upload(product("A"));
  const id = await idOf(app, "A");
  const unknown = crypto.randomUUID();
  const answer = await decide(
    app,
    decision(unknown, "maybe"),
    decision(id, "approved", "<changed_at>2020-01-01T00:00:00Z</changed_at>"),
    decision(crypto.randomUUID(), "approved"),
    decision("x", "approved"),
  );
  assertEquals(
    detailsOf(answer).map(({ product, code }) => `${product} ${code}`),
    [
      "1 not_in_list",
      "1 unknown_id",
      "2 changed_since",
      "3 unknown_id",
      "4 not_allowed",
    ],
  );
  assertEquals(await reviewOf(app, "A"), "pending");
});

contract.test("the products of a removed seller are under review no more", async () => {
  await using app = await boot({
    config: { operatorKey: OPERATOR, roles: ["api"] },
    // Stands still, so the seller's rows are not deleted yet.
    deps: { clock: new TestClock() },
  });
  await setPolicy(app, "new");
  await app.upload(product("A"));
  const id = await idOf(app, "A");
  const path = "/operator_api/sellers/acme";
  const removed = await app.call(path, { method: "DELETE", key: OPERATOR });
  assertEquals(removed.status, 200, removed.text);
  assertEquals(await reviews(app), []);
  const answer = await decide(app, decision(id, "approved"));
  assertEquals(answer.status, 422);
  assertEquals(detailsOf(answer).map(({ code }) => code), ["unknown_id"]);
});

contract.test("a decision is stored, is in the audit log and gives an event, once", async () => {
  await using sink = new WebhookSink();
  await using app = await start("new");
  await app.call("/seller_api/webhooks", {
    method: "POST",
    body:
      `<webhook><trigger>product_rejected</trigger><url>${sink.url()}</url></webhook>`,
  });
  await app.upload(product("A") + product("B"));
  const [a, b] = [await idOf(app, "A"), await idOf(app, "B")];
  const both = [
    decision(a, "approved"),
    decision(
      b,
      "rejected",
      "<code>blurry</code><field>images/image[1]</field><message>Sharper &amp; larger.</message>",
    ),
  ];
  const before = await app.call("/operator_api/products?limit=250", {
    key: OPERATOR,
  });
  for (let n = 0; n < 3; n++) {
    assertEquals((await decide(app, ...both)).status, 200);
  }
  assertEquals(await events(app), [
    `product_approved <review><product>${a}</product><sku>A</sku><code/><field/><message/></review>`,
    `product_rejected <review><product>${b}</product><sku>B</sku><code>blurry</code>` +
    "<field>images/image[1]</field><message>Sharper &amp; larger.</message></review>",
  ]);
  assertEquals((await audit(app)).toSorted(), [
    `review approve: product ${a}, SKU A`,
    `review reject: product ${b}, SKU B, blurry, images/image[1], Sharper & larger.`,
  ]);
  await until(() => sink.received.length === 1, "the delivery");
  const rejected = "rejected blurry images/image[1] Sharper & larger.";
  assertEquals(await reviewOf(app, "B"), rejected);
  const next = textAt(before.xml, "next");
  const feed = await app.call(`/operator_api/products?after=${next}`, {
    key: OPERATOR,
  });
  const states = child(feed.xml, "products").children
    .map((each) => textAt(each, "review/state"));
  assertEquals(states.toSorted(), ["approved", "rejected"], feed.text);
  const found = await app.call("/seller_api/products?review=rejected");
  const skus = child(found.xml, "products").children
    .map((each) => textAt(each, "sku"));
  assertEquals(skus, ["B"]);
});

contract.test("decisions are stored all or none, and none for a former version", async () => {
  await using app = await start("changes");
  await app.upload(product("A") + product("B"));
  const [a, b] = await reviews(app);
  const version = (each: XmlElement) =>
    `<changed_at>${textAt(each, "changed_at")}</changed_at>`;
  await put(app, "B/attribute/quantity/1");
  const approve = (each: XmlElement) =>
    decision(textAt(each, "id"), "approved", version(each));
  await put(app, "A/attribute/title/Other");
  const refused = await decide(app, approve(b), approve(a));
  assertEquals(refused.status, 422, refused.text);
  const [detail, ...others] = detailsOf(refused);
  assertEquals(others, []);
  assertEquals([detail.product, detail.sku, detail.code], [
    "2",
    "A",
    "changed_since",
  ]);
  assertEquals(await reviewOf(app, "B"), "pending");
  assertEquals([await events(app), await audit(app)], [[], []]);
  const [same, now] = await reviews(app);
  assertEquals(textAt(same, "sku"), "A", "it keeps its place");
  assertEquals((await decide(app, approve(same), approve(now))).status, 200);
});

contract.test("a rejected product is corrected by an upload, waits again and shows the reason", async () => {
  await using app = await start("new");
  const rejected = () => app.call("/seller_api/products/rejected");
  const empty = await rejected();
  assertEquals([empty.status, skusIn(empty)], [200, []]);
  await app.upload(product("A") + product("B") + product("C"));
  const reason =
    "<code>title</code><field>title</field><message>No -- capitals</message>";
  for (const sku of ["B", "A"]) {
    await decide(app, decision(await idOf(app, sku), "rejected", reason));
  }
  const document = await rejected();
  assertEquals(
    skusIn(document),
    ["B", "A"],
    "the first that was rejected first",
  );
  if (isInJson()) {
    const [{ review }] = JSON.parse(document.text).products;
    assertEquals(review.message, "No -- capitals");
  } else {
    assertMatch(
      document.text,
      /<!-- rejected: title, title, No - - capitals -->\n<product /,
    );
  }
  const answer = await app.call("/seller_api/bulk_products", {
    method: "POST",
    headers: { "Content-Type": document.headers.get("Content-Type")! },
    body: document.text.replace("Title of A", "A, corrected"),
  });
  assertEquals(answer.status, 200, answer.text);
  assertEquals(await reviewOf(app, "A"), "pending title title No -- capitals");
  assertEquals(await reviewOf(app, "B"), "rejected title title No -- capitals");
  const waiting = await reviews(app);
  assertEquals(waiting.map((each) => textAt(each, "sku")), ["C", "A"]);
  assertEquals(textAt(waiting[1], "review/code"), "title");
  await put(app, "B/attribute/price/4");
  assertMatch(await reviewOf(app, "B"), /^rejected/);
  assertEquals(skusIn(await rejected()), ["B"]);
  await decide(app, decision(await idOf(app, "A"), "approved"));
  assertEquals(await reviewOf(app, "A"), "approved");
});

contract.test("a rejection for its price waits again with another price", async () => {
  await using app = await start("new");
  await app.upload(product("A"));
  const reason = "<code>price</code><field>price/@currency</field>";
  await decide(app, decision(await idOf(app, "A"), "rejected", reason));
  await put(app, "A/attribute/quantity/4");
  assertMatch(await reviewOf(app, "A"), /^rejected/);
  await put(app, "A/attribute/price/4");
  assertMatch(await reviewOf(app, "A"), /^pending/);
});

contract.test("an approved product may be rejected; its correction shows the approved version", async () => {
  await using app = await start("changes");
  await app.upload(product("A"));
  const id = await idOf(app, "A");
  await decide(app, decision(id, "approved"));
  await decide(app, decision(id, "rejected", "<code>brand</code>"));
  await app.upload(`<product><sku>A</sku><title>Good</title></product>`);
  const [entry] = await reviews(app);
  assertEquals(child(entry, "former").source, "<title>Title of A</title>");
});

contract.test("the end of the policy ends every review, and the feed shows it", async () => {
  await using app = await start("changes");
  await app.upload(
    Array.from({ length: 120 }, (_, n) => product(`A-${n}`)).join(""),
  );
  const feed = async (after: string) => {
    const query = after === "" ? "" : `&after=${after}`;
    return await app.call(`/operator_api/products?limit=250${query}`, {
      key: OPERATOR,
    });
  };
  const next = textAt((await feed("")).xml, "next");
  await setPolicy(app, "none");
  await until(async () => {
    const { text } = await app.call("/seller_api/products?limit=250");
    return !text.includes("<review>");
  }, "the end of the reviews");
  const changed = child((await feed(next)).xml, "products").children;
  assertEquals(changed.length, 120);
  assert(!changed.some(({ source }) => source.includes("<review>")));
  assertEquals(await reviews(app), []);
  await put(app, "A-1/attribute/title/Other");
  assertEquals(await reviewOf(app, "A-1"), "");
});

contract.test("a policy set again while reviews end keeps the other reviews", async () => {
  // The service's own maintenance waits for the clock.
  const clock = new TestClock();
  await using app = await boot({
    config: { operatorKey: OPERATOR, roles: ["api"] },
    deps: { clock },
  });
  const stored = () =>
    app.app.db.read((sql) =>
      sql.get<{ review: string; reviewed: number }>(
        `SELECT (SELECT review FROM sellers) AS review, COUNT(*) AS reviewed
         FROM products WHERE review_state IS NOT NULL`,
      )
    );
  await setPolicy(app, "new");
  await app.upload(
    Array.from({ length: 120 }, (_, n) => product(`A-${n}`)).join(""),
  );
  await setPolicy(app, "none");
  const interrupted = sweepEndedReviews(app.app);
  await interrupted.next();
  assertEquals(await stored(), { review: "ending", reviewed: 20 });
  await setPolicy(app, "new");
  for await (const _portion of interrupted);
  assertEquals(await stored(), { review: "new", reviewed: 20 });
  await setPolicy(app, "none");
  for await (const _portion of sweepEndedReviews(app.app));
  assertEquals(await stored(), { review: "none", reviewed: 0 });
  await setPolicy(app, "none");
  assertEquals(await stored(), { review: "none", reviewed: 0 });
});

contract.test("the list of reviews has pages and filters by state and seller", async () => {
  await using app = await start("new");
  await app.addSeller("other");
  await app.upload(product("A") + product("B") + product("C"));
  const first = await app.call("/operator_api/reviews?limit=2&seller=acme", {
    key: OPERATOR,
  });
  const next = textAt(first.xml, "next");
  const rest = await reviews(app, `?limit=2&seller=acme&after=${next}`);
  assertEquals(rest.map((each) => textAt(each, "sku")), ["C"]);
  assertEquals(await reviews(app, "?seller=other"), []);
  assertEquals(await reviews(app, "?state=rejected"), []);
  for (const query of ["?state=gone", "?after=1-2", "?limit=251"]) {
    const answer = await app.call(`/operator_api/reviews${query}`, {
      key: OPERATOR,
    });
    assertEquals(answer.status, 422, query);
  }
  const unknown = await app.call("/operator_api/reviews?seller=nobody", {
    key: OPERATOR,
  });
  assertEquals(unknown.status, 404);
});

contract.test("the list of reviews has contacts whole, the rejected products their names", async () => {
  await using app = await start("new");
  const stored = await app.call("/seller_api/contacts/acme", {
    method: "PUT",
    body: `<contact><company>Acme AB</company><street>Gatan 1</street>
      <city>Lund</city><country>SE</country><email>a@acme.example</email>
    </contact>`,
  });
  assertEquals(stored.status, 200, stored.text);
  await app.upload(
    product("A", "<manufacturer>acme</manufacturer>") + product("B"),
  );

  const [waiting] = await reviews(app);
  const maker = child(waiting, "manufacturer");
  assertEquals(maker.attributes.name, "acme");
  assertEquals(textAt(maker, "company"), "Acme AB");

  const id = await idOf(app, "A");
  await decide(app, decision(id, "rejected", "<code>other</code>"));
  const rejected = await app.call("/seller_api/products/rejected");
  const own = isInJson()
    ? JSON.parse(rejected.text).products[0].manufacturer
    : textAt(rejected.xml.children[0], "manufacturer");
  assertEquals(own, "acme");
});

contract.test("the operator's reasons are kept in their order", async () => {
  await using app = await boot({ config: { operatorKey: OPERATOR } });
  const path = "/operator_api/review_reasons";
  const document =
    "<reasons><reason><code>z</code><message>M</message></reason>" +
    "<reason><code>a</code><field>title</field></reason></reasons>";
  const put = (body: string) =>
    app.call(path, { method: "PUT", key: OPERATOR, body });
  assertEquals((await put(document)).status, 200);
  assertEquals((await put(document)).status, 200);
  const { xml } = await app.call(path, { key: OPERATOR });
  assertEquals(child(xml, "reasons").source, document.slice(9, -10));
  const wrong = await put(
    "<reasons><reason><code>a</code></reason><reason><code>a</code></reason><reason/></reasons>",
  );
  assertEquals(detailsOf(wrong).map(({ code }) => code), [
    "repeated_value",
    "required",
  ]);
  assertEquals((await put("<reasons/>")).status, 200);
});

bothForms.test("a document of decisions is checked, problem by problem", async () => {
  await using app = await start("new");
  const send = (body: string) =>
    app.call("/operator_api/reviews", { method: "POST", key: OPERATOR, body });
  const refused = async (document: string) => {
    const answer = await send(document);
    return [
      `${answer.status} ${codeOf(answer)}`,
      ...answer.status === 422
        ? detailsOf(answer).map(({ product, field, code }) =>
          `${product} ${field} ${code}`
        )
        : [],
    ];
  };
  await app.upload(product("A"));
  const id = await idOf(app, "A");
  const review = (content: string) => `<review>${content}</review>`;
  assertEquals(await refused("<reviews/>"), [
    "422 record_invalid",
    "undefined review required",
  ]);
  assertEquals(
    await refused(
      `<reviews>${
        review("<product>x</product><decision>yes</decision>") +
        review(decision(id, "rejected")) +
        review(decision(id, "approved", "<changed_at>now</changed_at><why/>")) +
        review(decision(id, "approved", `<code>${"x".repeat(65)}</code>`)) +
        review(decision(id, "approved")) + review(decision(id, "approved"))
      }</reviews>`,
    ),
    [
      "422 record_invalid",
      "1 product not_allowed",
      "1 decision not_in_list",
      "2 code required",
      "3 why unknown_element",
      "3 changed_at not_a_date",
      "3 product repeated_value",
      "4 code too_long",
      "4 product repeated_value",
      "5 product repeated_value",
      "6 product repeated_value",
    ],
  );
  const named = review("<sku>A</sku><decision>approved</decision>");
  const [{ message }] = detailsOf(await send(`<reviews>${named}</reviews>`));
  assertMatch(
    message,
    /^"?<?sku>?"? is not known here; the known names are .*product/,
  );
  const many = review(decision(id, "approved")).repeat(251);
  assertEquals(await refused(`<reviews>${many}</reviews>`), [
    "413 too_many_products",
  ]);
  assertEquals(await reviewOf(app, "A"), "pending");
});
