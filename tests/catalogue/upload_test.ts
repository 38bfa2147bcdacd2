/** `POST /seller_api/bulk_products`: what is stored, refused, repeated. */
import { NO_FORMER_PRICE } from "../../src/catalogue/price_changes.ts";
import { NO_REVIEW } from "../../src/catalogue/review.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { findBySkuOrId } from "../../src/catalogue/product_rows.ts";
import {
  type Answer,
  boot,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { Host } from "../support/host.ts";
import { ImageHost } from "../support/image_host.ts";
import { bothForms, contract } from "../support/forms.ts";

/** `created updated unchanged` of an upload. */
async function counts(app: TestApp, uploaded: Answer): Promise<string> {
  const record = await app.status(uploaded);
  return ["created", "updated", "unchanged"]
    .map((name) => textAt(record, `products/${name}`)).join(" ");
}

async function stored(app: TestApp, skuOrId: string) {
  return await app.app.db.read((sql) =>
    findBySkuOrId(sql, app.sellerNo, skuOrId)
  );
}

async function storedCount(app: TestApp): Promise<number> {
  const row = await app.app.db.read((sql) =>
    sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM products")
  );
  return row!.n;
}

/** `product sku line field code` of each detail. */
function places(answer: Answer): string[] {
  return detailsOf(answer).map(({ product, sku, line, field, code }) =>
    [product ?? "-", sku ?? "-", line, field ?? "-", code].join(" ")
  );
}

contract.test("an upload answers 200 with a transaction id that is completed", async () => {
  await using app = await boot();
  const answer = await app.upload(product("A-1") + product("A-2"));
  assertEquals(answer.status, 200);
  assertEquals(answer.headers.get("content-type"), "text/xml; charset=utf-8");
  assertMatch(answer.headers.get("x-request-id")!, /^[0-9a-f-]{36}$/);
  const id = textAt(answer.xml, "transaction_id");
  assertMatch(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  assertEquals(
    answer.text,
    `<?xml version="1.0" encoding="UTF-8"?><service><transaction_id>${id}</transaction_id></service>`,
  );
  const record = await app.status(answer);
  assertEquals(textAt(record, "status"), "completed");
  assertEquals(textAt(record, "progress"), "100");
  assertEquals(textAt(record, "products/total"), "2");
  assertEquals(
    record.children.at(-1)!.children.map((one) =>
      `${textAt(one, "sku")} ${textAt(one, "result")}`
    ),
    ["A-1 created", "A-2 created"],
  );
});

contract.test("every field is stored as documented", async () => {
  await using app = await boot();
  const description = " <b>bold</b> & more \n\n ünï\u{1F600} ";
  const answer = await app.upload(`<product>
    <sku> A-1 </sku><title>T &amp; <![CDATA[<T>]]></title>
    <description><![CDATA[${description}]]></description>
    <price currency="SEK">199.00</price><compare_at_price>249.50</compare_at_price>
    <vat_rate>25.0</vat_rate><quantity>0012</quantity>
    <availability>preorder</availability><available_at>2030-01-31</available_at>
    <gtin>4006381333931</gtin><brand>B</brand><mpn>M</mpn><weight unit="g">340</weight>
    <handling_days>3</handling_days>
    <condition>used</condition><status>paused</status><parent_sku>P</parent_sku>
    <safety_text><![CDATA[${description}]]></safety_text>
    <categories><category>a &gt; b</category><category>c</category></categories>
    <attributes><attribute name="color">Blue</attribute></attributes>
  </product>`);
  assertEquals(answer.status, 200, answer.text);
  const { id: _, created_at: __, updated_at: ___, ...fields } =
    (await stored(app, "A-1"))!;
  assertEquals(fields, {
    ...NO_REVIEW,
    ...NO_FORMER_PRICE,
    sku: "A-1",
    title: "T & <T>",
    description,
    price: "199",
    currency: "SEK",
    compare_at_price: "249.5",
    vat_rate: "25",
    quantity: 12,
    availability: "preorder",
    available_at: "2030-01-31",
    gtin: "4006381333931",
    brand: "B",
    mpn: "M",
    weight: 340,
    handling_days: 3,
    condition: "used",
    status: "paused",
    parent_sku: "P",
    sale: null,
    manufacturer: null,
    responsible_person: null,
    safety_text: description,
    categories: ["a > b", "c"],
    attributes: [{ name: "color", value: "Blue" }],
    images: [],
  });
});

contract.test("a list may have 5 categories, 100 attributes and 10 images, and no more", async () => {
  await using host = new ImageHost();
  await using app = await boot();
  const times = (n: number, make: (n: number) => string) =>
    Array.from({ length: n }, (_, i) => make(i)).join("");
  const lists = (more: number) =>
    `<categories>${
      times(5 + more, (n) => `<category>c${n}</category>`)
    }</categories><attributes>${
      times(100 + more, (n) => `<attribute name="a${n}">v</attribute>`)
    }</attributes><images>${
      times(10 + more, (n) => `<image>${host.url}/good/${n}.png</image>`)
    }</images>`;
  const accepted = await app.upload(product("A", lists(0)));
  assertEquals(accepted.status, 200, accepted.text);
  const { categories, attributes, images } = (await stored(app, "A"))!;
  assertEquals(
    [categories.length, attributes.length, images.length],
    [5, 100, 10],
  );
  assertEquals(places(await app.upload(product("A", lists(1)))), [
    "1 A 1 categories/category[6] too_many",
    "1 A 1 attributes/attribute[101] too_many",
    "1 A 1 images/image[11] too_many",
  ]);
});

contract.test("a weight is returned in grams with its unit, and is cleared without a unit", async () => {
  await using app = await boot();
  const refused = await app.upload(
    product("A", "<weight>5</weight>") +
      product("B", '<weight unit="kg">5</weight>') +
      product("C", '<weight unit="g">0</weight>') +
      product("D", '<weight unit="g">1000001</weight>') +
      product("E", '<weight unit="g">1.5</weight>') +
      product("F", '<weight unit="kg"/>'),
  );
  assertEquals(
    detailsOf(refused).map(({ sku, field, code }) => `${sku} ${field} ${code}`),
    [
      "A weight/@unit required",
      "B weight/@unit not_in_list",
      "C weight out_of_range",
      "D weight out_of_range",
      "E weight not_a_number",
      "F weight/@unit not_in_list",
    ],
  );
  assertStringIncludes(
    detailsOf(refused)[0].message,
    'write <weight unit="g">, with the unit, grams',
  );
  assertStringIncludes(
    detailsOf(refused)[1].message,
    'weight/@unit is "kg"; it must be g.',
  );
  await app.upload(product("A", '<weight unit="g">1000000</weight>'));
  const { text } = await app.call("/seller_api/products/A");
  assertStringIncludes(text, '<weight unit="g">1000000</weight>');
  const cleared = "<product><sku>A</sku><weight/></product>";
  assertEquals(await counts(app, await app.upload(cleared)), "0 1 0");
  assertEquals((await stored(app, "A"))!.weight, null);
});

contract.test("a second upload reports each product as unchanged, updated or created", async () => {
  await using app = await boot();
  await app.upload(product("A") + product("B", "<brand>x</brand>"));
  const again = await app.upload(
    product("A") + "<product><sku>B</sku><brand/></product>" + product("C"),
  );
  assertEquals(await counts(app, again), "1 1 1");
  assertEquals((await stored(app, "B"))!.brand, null);
  assertEquals((await stored(app, "B"))!.title, "Title of B");
});

contract.test("two spellings of one value are the same value", async () => {
  await using app = await boot();
  await app.upload(product("A", "<brand>x &amp; y</brand>"));
  const again = await app.upload(
    "<product><sku><![CDATA[A]]></sku><price currency='SEK'>199</price>" +
      "<brand> x <![CDATA[& y]]></brand><quantity>05</quantity></product>",
  );
  assertEquals(await counts(app, again), "0 0 1");
});

contract.test("a product addressed by id can change its SKU, even swap it", async () => {
  await using app = await boot();
  await app.upload(product("A") + product("B"));
  const a = (await stored(app, "A"))!.id;
  const b = (await stored(app, "B"))!.id;
  const swap = await app.upload(
    `<product><id>${a}</id><sku>B</sku></product>` +
      `<product><id>${b}</id><sku>A</sku></product>`,
  );
  assertEquals(await counts(app, swap), "0 2 0");
  assertEquals((await stored(app, "B"))!.id, a);
  assertEquals((await stored(app, "A"))!.id, b);
  const keep = await app.upload(
    `<product><id>${a.toUpperCase()}</id><title>new</title></product>`,
  );
  assertEquals(await counts(app, keep), "0 1 0");
  assertEquals((await stored(app, "B"))!.title, "new");
});

contract.test("conflicting SKUs and ids are refused, and each refusal names the first", async () => {
  await using app = await boot();
  await app.upload(product("A") + product("B"));
  const a = (await stored(app, "A"))!.id;
  const rows: [string, string[]][] = [
    [product("N") + "\n" + product("N") + product("N"), [
      "2 N 2 sku duplicate_sku",
      "3 N 2 sku duplicate_sku",
    ]],
    [
      product("N") + "\n<product><sku>N</sku><title>x</title></product>",
      [
        "2 N 2 price required",
        "2 N 2 quantity required",
        "2 N 2 sku duplicate_sku",
      ],
    ],
    [`<product><id>${a}</id><sku>B</sku></product>`, ["1 B 1 sku sku_taken"]],
    [
      `<product><id>${a}</id><title>x</title></product><product><sku>A</sku></product>`,
      ["2 A 1 sku duplicate_sku"],
    ],
    [
      `<product><id>${a}</id><sku>C</sku></product><product><sku>A</sku></product>`,
      ["2 A 1 sku duplicate_product"],
    ],
    [
      `<product><id>${a}</id></product><product><id>${a}</id></product>`,
      ["2 A 1 id duplicate_product"],
    ],
    ["<product><id>nope</id></product>", ["1 - 1 id unknown_id"]],
  ];
  for (const [document, expected] of rows) {
    const answer = await app.upload(document);
    assertEquals(answer.status, 422, document);
    assertEquals(places(answer), expected, document);
  }
  const [detail] = detailsOf(await app.upload(product("N") + product("N")));
  assertStringIncludes(detail.message, "line 1");
});

/**
 * Documents inside `<products>`, with the position and code of each problem.
 */
const REFUSED: readonly (readonly [string, readonly string[]])[] = [
  ["", ["- - 1 product required"]],
  ["<product/>", [
    "1 - 1 sku required",
    "1 - 1 title required",
    "1 - 1 price required",
    "1 - 1 quantity required",
  ]],
  ["<product><sku>N</sku></product>", [
    "1 N 1 title required",
    "1 N 1 price required",
    "1 N 1 quantity required",
  ]],
  [product("A", "\n<titel>x</titel>"), ["1 A 2 titel unknown_element"]],
  ["\n<prodct/>" + product("A"), ["- - 2 prodct unknown_element"]],
  [product("A", "\n<title>again</title>"), ["1 A 2 title repeated_element"]],
  [product("A", "\n<description>\n<p>x</p></description>"), [
    "1 A 3 description/p unknown_element",
  ]],
  [product("A", "<images>\n<img>x</img></images>"), [
    "1 A 2 images/img unknown_element",
  ]],
  [product("A", "<brand lang='x'>b</brand>"), [
    "1 A 1 brand/@lang unknown_attribute",
  ]],
  ["<product bogus='1'>" + product("A").slice("<product>".length), [
    "1 A 1 @bogus unknown_attribute",
  ]],
  [product("A", "stray"), ["1 A 1 product unexpected_text"]],
  ["stray" + product("A"), ["- - 1 products unexpected_text"]],
  [product("A", "<categories>x</categories>"), [
    "1 A 1 categories unexpected_text",
  ]],
  [product("A", "<images><image>ftp://x.example/a</image></images>"), [
    "1 A 1 images/image[1] bad_url",
  ]],
  [product("A", "<images><image/></images>"), [
    "1 A 1 images/image[1] required",
  ]],
  [
    product(
      "A",
      "<attributes><attribute>x</attribute>\n<attribute name='n'/>" +
        "<attribute name='m'>1</attribute><attribute name='m'>2</attribute></attributes>",
    ),
    [
      "1 A 1 attributes/attribute[1]/@name required",
      "1 A 2 attributes/attribute[2] required",
      "1 A 2 attributes/attribute[4] repeated_value",
    ],
  ],
  [
    product(
      "A",
      `<categories>${"<category>x</category>".repeat(6)}</categories>`,
    ),
    ["1 A 1 categories/category[6] too_many"],
  ],
  [
    "<product><sku>A</sku><title>t</title><price>1</price><quantity>-1</quantity></product>",
    ["1 A 1 price/@currency required", "1 A 1 quantity out_of_range"],
  ],
  [product("A", "<compare_at_price>1</compare_at_price>"), [
    "1 A 1 compare_at_price out_of_range",
  ]],
  [product("A", "<availability>soon</availability>"), [
    "1 A 1 availability not_in_list",
  ]],
  [product("A", "<availability>backorder</availability>"), [
    "1 A 1 available_at required",
  ]],
  [
    product("A", "<gtin>123</gtin>") + "\n" +
    product("B", "<brand>b\nb</brand>"),
    ["1 A 1 gtin out_of_range", "2 B 2 brand not_one_line"],
  ],
  ["<product><sku/><title>t</title></product>", [
    "1 - 1 sku required",
    "1 - 1 price required",
    "1 - 1 quantity required",
  ]],
  ["<product><sku>..</sku></product>", [
    "1 - 1 sku not_allowed",
    "1 - 1 title required",
    "1 - 1 price required",
    "1 - 1 quantity required",
  ]],
];

contract.test("every problem has its product, SKU, line and field; nothing is stored", async () => {
  await using app = await boot();
  for (const [document, expected] of REFUSED) {
    const answer = await app.upload(document);
    assertEquals(answer.status, 422, document + answer.text);
    assertEquals(codeOf(answer), "record_invalid");
    assertEquals(textAt(answer.xml, "error/message"), "Record Invalid");
    assertEquals(
      textAt(answer.xml, "error/request_id"),
      answer.headers.get("x-request-id"),
    );
    assertEquals(places(answer), expected, document);
  }
  const mixed = await app.upload(product("GOOD") + "<product/>");
  assertEquals(mixed.status, 422);
  assertEquals(await storedCount(app), 0);
});

bothForms.test("the answer to an unknown name suggests the nearest known one", async () => {
  await using app = await boot();
  const [detail] = detailsOf(await app.upload(product("A", "<titel/>")));
  assertStringIncludes(detail.message, "<title>");
});

bothForms.test("another root is 422; a malformed document is 400 with its place", async () => {
  await using app = await boot();
  const post = (body: string) =>
    app.call("/seller_api/bulk_products", { method: "POST", body });
  const root = await post("<catalog/>");
  assertEquals([root.status, places(root)], [
    422,
    ["- - 1 catalog unknown_element"],
  ]);
  const broken = await post("<products>\n<product>A & B</product></products>");
  assertEquals(broken.status, 400);
  assertEquals(codeOf(broken), "malformed_xml");
  const [detail] = detailsOf(broken);
  assertEquals([detail.line, detail.column], ["2", "12"]);
  const namespaced = await post(
    '<products xmlns="urn:x" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ' +
      `xsi:schemaLocation="a b">${product("A")}</products>`,
  );
  assertEquals(namespaced.status, 200, namespaced.text);
});

contract.test("values that only appear in responses are accepted and ignored", async () => {
  await using app = await boot();
  const answer = await app.upload(
    product("A").replace(
      "<product>",
      '<product created_at="2026-01-01T00:00:00Z" updated_at="x">',
    ),
  );
  assertEquals(answer.status, 200, answer.text);
});

contract.test("250 products are accepted, 251 refused", async () => {
  await using app = await boot();
  const many = (n: number) =>
    Array.from({ length: n }, (_, i) => product(`S-${i}`)).join("");
  assertEquals((await app.upload(many(250))).status, 200);
  const more = await app.upload(many(251));
  assertEquals([more.status, codeOf(more)], [413, "too_many_products"]);
  assertEquals(await storedCount(app), 250);
});

bothForms.test("after 1,000 details the rest is counted", async () => {
  await using app = await boot();
  const rows = Array.from(
    { length: 250 },
    () => "<product><a/><b/><c/><d/><e/></product>",
  );
  const answer = await app.upload(rows.join(""));
  assertEquals(detailsOf(answer).length, 1_000);
  assertEquals(textAt(answer.xml, "error/details/more"), "1250");
});

bothForms.test("mistakes beyond the listed ones are counted, not collected", async () => {
  await using app = await boot();
  const many = Array.from({ length: 64 }, (_, i) => `a${i}=""`).join(" ");
  const answer = await app.upload(
    product("A", `<images>${`<image ${many}/>`.repeat(5_000)}</images>`) +
      `<x/>`.repeat(40_000),
  );
  assertEquals(answer.status, 422);
  assertEquals(detailsOf(answer).length, 1_000);
  // Ten images with 65 mistakes each, one list that is too long, the elements
  // <x>.
  assertEquals(
    textAt(answer.xml, "error/details/more"),
    String(10 * 65 + 1 + 40_000 - 1_000),
  );
});

bothForms.test("v must be 1.1 if given", async () => {
  await using app = await boot();
  const body = `<products>${product("A")}</products>`;
  const post = (query: string) =>
    app.call(`/seller_api/bulk_products${query}`, { method: "POST", body });
  assertEquals((await post("")).status, 200);
  assertEquals((await post("?v=1.1")).status, 200);
  for (const query of ["?v=1.0", "?v=", "?v=2"]) {
    const answer = await post(query);
    assertEquals([answer.status, codeOf(answer)], [400, "unsupported_version"]);
    assertStringIncludes(answer.text, "1.1");
  }
  const text = await app.call("/seller_api/bulk_products?v=2", {
    method: "POST",
    body,
    headers: { "Content-Type": "text/plain" },
  });
  assertEquals(text.status, 415, "the media type is judged first");
});

contract.test("a dry run reports everything and stores nothing", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const answer = await app.upload(
    product("A") + product("B"),
    "&dry_run=true",
  );
  assertEquals(answer.status, 200);
  assertStringIncludes(
    answer.text,
    "<service><dry_run><products><total>2</total><created>1</created>" +
      "<updated>0</updated><unchanged>1</unchanged></products></dry_run></service>",
  );
  assertEquals(await storedCount(app), 1);
  const refused = await app.upload(product("B", "<x/>"), "&dry_run=true");
  assertEquals(refused.status, 422);
  for (const unclear of ["yes", "", "TRUE", "false&dry_run=true"]) {
    const answer = await app.upload(product("B"), `&dry_run=${unclear}`);
    assertEquals([answer.status, codeOf(answer)], [400, "malformed_request"]);
  }
});

contract.test("an Idempotency-Key repeats the first answer", async () => {
  await using app = await boot();
  const key = { "Idempotency-Key": "k-1" };
  const bad = await app.upload("<product/>", "", key);
  assertEquals(bad.status, 422, "a refusal does not use the key up");
  const first = await app.upload(product("A"), "", key);
  const again = await app.upload(product("A"), "", key);
  assertEquals([again.status, again.text], [200, first.text]);
  assertEquals(first.headers.get("idempotent-replayed"), null);
  assertEquals(again.headers.get("idempotent-replayed"), "true");
  const other = await app.upload(product("B"), "", key);
  assertEquals([other.status, codeOf(other)], [422, "idempotency_key_reused"]);
  const query = await app.upload(product("A"), "&dry_run=false", key);
  assertEquals(query.status, 422, "the query belongs to the request");
  const stranger = await app.addSeller("other");
  const theirs = await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    body: `<products>${product("A")}</products>`,
    key: stranger,
    headers: key,
  });
  assertEquals(theirs.status, 200);
  assert(theirs.text !== first.text, "keys belong to a seller");
  const long = await app.upload(product("A"), "", {
    "Idempotency-Key": "x".repeat(256),
  });
  assertEquals(long.status, 400);
});

contract.test("an Idempotency-Key in progress is 409 with Retry-After", async () => {
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  await using host = new Host(async () => {
    reached.resolve();
    await release.promise;
    return new Response();
  });
  await using app = await boot();
  const document = product(
    "A",
    `<images><image>${host.url}/a</image></images>`,
  );
  const key = { "Idempotency-Key": "k" };
  const first = app.upload(document, "", key);
  await reached.promise;
  const second = await app.upload(document, "", key);
  release.resolve();
  assertEquals([second.status, codeOf(second)], [
    409,
    "idempotency_key_in_progress",
  ]);
  assertEquals(second.headers.get("retry-after"), "1");
  assertEquals((await first).status, 200);
});

contract.test("an Idempotency-Key is forgotten after 24 hours", async () => {
  const { systemClock } = await import("../../src/deps.ts");
  let ahead = 0;
  const clock = { ...systemClock, now: () => Date.now() + ahead };
  await using app = await boot({ deps: { clock } });
  const key = { "Idempotency-Key": "k" };
  const first = await app.upload(product("A"), "", key);
  ahead = 24 * 3_600_000 + 1_000;
  const later = await app.upload(product("A"), "", key);
  assertEquals(later.status, 200);
  assert(later.text !== first.text);
});

contract.test("each distinct image URL gets one HEAD; any answer but 200 is 422", async () => {
  await using host = new Host((request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/moved") {
      return new Response(null, {
        status: 302,
        headers: { Location: "/elsewhere" },
      });
    }
    return new Response(null, { status: pathname === "/ok" ? 200 : 404 });
  });
  await using app = await boot();
  const image = (...paths: string[]) =>
    `<images>${
      paths.map((path) => `<image>${host.url}${path}</image>`).join("\n")
    }</images>`;
  const answer = await app.upload(
    product("A", image("/ok", "/missing")) + "\n" +
      product("B", image("/missing", "/moved") + "<gtin>1</gtin>"),
  );
  assertEquals(answer.status, 422);
  assertEquals(places(answer), [
    "1 A 2 images/image[2] image_unavailable",
    "2 B 3 images/image[1] image_unavailable",
    "2 B 4 gtin out_of_range",
    "2 B 4 images/image[2] image_unavailable",
  ]);
  const messages = detailsOf(answer).map(({ message }) => message).join("\n");
  assertStringIncludes(messages, `HEAD ${host.url}/missing answered 404`);
  assertStringIncludes(messages, "answered 302 (to /elsewhere)");
  assertEquals(
    host.seen.map(({ method, path }) => `${method} ${path}`).sort(),
    ["HEAD /missing", "HEAD /moved", "HEAD /ok"],
  );
  assertEquals(await storedCount(app), 0);
});

bothForms.test("requests to other hosts name the service", async () => {
  const agents: (string | null)[] = [];
  await using host = new Host((request) => {
    agents.push(request.headers.get("user-agent"));
    return new Response();
  });
  await using app = await boot();
  await app.upload(
    product("A", `<images><image>${host.url}/a.jpg</image></images>`),
  );
  assertEquals(agents.length, 1);
  assertMatch(agents[0] ?? "", /^seller-interface\/\d/);
});

bothForms.test("an image on a private address is refused without a connection", async () => {
  await using host = new Host(() => new Response());
  await using app = await boot({ config: { allowPrivate: [] } });
  const answer = await app.upload(
    product("A", `<images><image>${host.url}/a.jpg</image></images>`),
  );
  assertEquals(places(answer), ["1 A 1 images/image[1] image_blocked"]);
  assertEquals(host.seen, []);
});

contract.test("uploads of one seller are invisible to another", async () => {
  await using app = await boot();
  const mine = await app.upload(product("A"));
  const id = textAt(mine.xml, "transaction_id");
  const productId = (await stored(app, "A"))!.id;
  const stranger = await app.addSeller("other");
  const status = await app.call(`/seller_api/bulk_products/${id}`, {
    key: stranger,
  });
  assertEquals([status.status, codeOf(status)], [404, "not_found"]);
  const theirs = await app.call("/seller_api/bulk_products", {
    method: "POST",
    key: stranger,
    body: `<products><product><id>${productId}</id></product></products>`,
  });
  assertEquals(places(theirs), ["1 - 1 id unknown_id"]);
  const same = await app.call("/seller_api/bulk_products", {
    method: "POST",
    key: stranger,
    body: `<products>${product("A")}</products>`,
  });
  assertEquals(same.status, 200);
});
