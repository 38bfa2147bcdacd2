/** `PUT /seller_api/products/:sku_or_id/attribute/:attribute/:value`. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { ATTRIBUTE_NAMES } from "../../src/catalogue/fields.ts";
import { asSent, namesContact } from "../../src/catalogue/contact.ts";
import { CONTACT_EXAMPLE } from "../../src/contracts/examples.ts";
import { findBySkuOrId } from "../../src/catalogue/product_rows.ts";
import {
  boot,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { bothForms, contract } from "../support/forms.ts";

function put(app: TestApp, sku: string, attribute: string, value: string) {
  const [s, a, v] = [sku, attribute, value].map(encodeURIComponent);
  return app.call(`/seller_api/products/${s}/attribute/${a}/${v}`, {
    method: "PUT",
  });
}

async function stored(app: TestApp, sku: string) {
  const found = await app.app.db.read((sql) =>
    findBySkuOrId(sql, app.sellerNo, sku)
  );
  return found!;
}

contract.test("an attribute update answers 204 without a body and is stored", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  for (
    const [attribute, value, expected] of [
      ["availability", "out_of_stock", "out_of_stock"],
      ["quantity", "17", 17],
      ["price", "12.50", "12.5"],
      ["compare_at_price", "13", "13"],
      ["vat_rate", "6", "6"],
      ["title", "New & ünï title / 50 %", "New & ünï title / 50 %"],
      ["status", "paused", "paused"],
      ["condition", "used", "used"],
      ["brand", "b", "b"],
      ["mpn", "m", "m"],
      ["weight", "250", 250],
      ["handling_days", "0", 0],
      ["handling_days", "365", 365],
      ["handling_days", "", null],
      ["gtin", "4006381333931", "4006381333931"],
      ["available_at", "2030-01-01", "2030-01-01"],
      ["brand", "", null],
      ["weight", "", null],
      ["condition", "", "new"],
    ] as const
  ) {
    const answer = await put(app, "A", attribute, value);
    assertEquals([answer.status, answer.text], [204, ""], attribute);
    assertEquals(answer.headers.get("content-type"), null);
    assertEquals((await stored(app, "A"))[attribute], expected);
  }
  assertEquals((await stored(app, "A")).currency, "SEK");
});

contract.test("a quantity sets the availability", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  await put(app, "A", "quantity", "0");
  assertEquals((await stored(app, "A")).availability, "out_of_stock");
  await put(app, "A", "quantity", "1");
  assertEquals((await stored(app, "A")).availability, "in_stock");
});

const FULL = `<product><sku>A</sku><title>T</title><description>D</description>
  <price currency="SEK">199</price><compare_at_price>249</compare_at_price>
  <vat_rate>25</vat_rate><quantity>12</quantity>
  <availability>preorder</availability><available_at>2030-01-31</available_at>
  <gtin>4006381333931</gtin><brand>B</brand><mpn>M</mpn><weight unit="g">340</weight>
  <handling_days>3</handling_days>
  <condition>used</condition><status>paused</status><parent_sku>P</parent_sku>
  <manufacturer>m</manufacturer><responsible_person>m</responsible_person>
  <safety_text>S</safety_text>
  <categories><category>c</category></categories>
  <attributes><attribute name="n">v</attribute></attributes></product>`;

/** Another value for each of its attributes; the SKU comes last. */
const OTHER = {
  title: "U",
  price: "200",
  compare_at_price: "250",
  vat_rate: "12",
  quantity: 13,
  availability: "backorder",
  available_at: "2030-02-28",
  gtin: "96385074",
  brand: "C",
  mpn: "N",
  weight: 341,
  handling_days: 4,
  condition: "new",
  status: "active",
  manufacturer: "n",
  responsible_person: "n",
  sku: "B",
};

contract.test("an update changes only its attribute and obeys the rules between attributes", async () => {
  await using app = await boot();
  for (const name of ["m", "n"]) {
    await app.call(`/seller_api/contacts/${name}`, {
      method: "PUT",
      body: CONTACT_EXAMPLE,
    });
  }
  await app.upload(FULL);
  assertEquals(Object.keys(OTHER).sort(), ATTRIBUTE_NAMES.toSorted());
  const { account } = await app.client().account.get();
  for (
    const [attribute, value, code] of [
      ["price", "250", "out_of_range"],
      ["compare_at_price", "198", "out_of_range"],
      ["available_at", "", "required"],
      ["sku", "P", "not_allowed"],
    ]
  ) {
    const refused = await put(app, "A", attribute, value);
    assertEquals(detailsOf(refused)[0]?.code, code, attribute);
  }
  for (const [attribute, value] of Object.entries(OTHER)) {
    const before = await stored(app, "A");
    const answer = await put(app, "A", attribute, String(value));
    assertEquals(answer.status, 204, `${attribute}: ${answer.text}`);
    const after = await stored(app, attribute === "sku" ? "B" : "A");
    const { updated_at } = after;
    if (namesContact(attribute)) {
      const key = attribute as "manufacturer" | "responsible_person";
      after[key] = asSent(key, after[key]);
    }
    const kept = attribute === "price"
      ? {
        recent_prices: `${before.price} SEK\n` +
          `${updated_at} ${value} SEK attribute @${account.key_id}\n`,
        former_prices: `SEK ${before.price} ${updated_at}\n`,
      }
      : {};
    assertEquals(after, {
      ...before,
      ...kept,
      [attribute]: value,
      updated_at,
    });
  }
});

contract.test("setting sku renames the product: the old SKU is free, a taken one is refused", async () => {
  await using app = await boot();
  await app.upload(product("A") + product("B"));
  const { id } = await stored(app, "A");
  assertEquals((await put(app, "A", "sku", "C")).status, 204);
  assertEquals((await stored(app, "C")).id, id);
  assertEquals((await put(app, "A", "brand", "x")).status, 404);
  const taken = await put(app, "C", "sku", "B");
  assertEquals(taken.status, 422);
  assertEquals(detailsOf(taken)[0].code, "sku_taken");
  assertEquals((await put(app, "C", "sku", "C")).status, 204);
  assertEquals((await app.upload(product("A"))).status, 200);
});

contract.test("a product is addressed by SKU, else by id", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const { id } = await stored(app, "A");
  await app.upload(product(id));
  assertEquals((await put(app, id, "brand", "by-sku")).status, 204);
  assertEquals((await stored(app, "A")).brand, null);
  await put(app, id, "sku", "B");
  assertEquals((await put(app, id, "brand", "by-id")).status, 204);
  assertEquals((await stored(app, "A")).brand, "by-id");
  const upperCase = await put(app, id.toUpperCase(), "brand", "by-upper-case");
  assertEquals(upperCase.status, 204);
  assertEquals((await stored(app, "A")).brand, "by-upper-case");
});

contract.test("an SKU may contain anything that a path segment can", async () => {
  await using app = await boot();
  const skus = [
    "a/b",
    "a b",
    "ü\u{1F600}",
    "100%",
    "a?b#c",
    "a+b",
    "..x",
    "%2e",
  ];
  await app.upload(
    skus.map((sku) => product(sku.replaceAll("&", "&amp;"))).join(""),
  );
  for (const sku of skus) {
    assertEquals((await put(app, sku, "brand", "x")).status, 204, sku);
    assertEquals((await stored(app, sku)).brand, "x");
  }
});

contract.test("an invalid value is 422 with the rule of uploads, an unknown product 404", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  for (
    const [attribute, value, code] of [
      ["colour", "x", "unknown_attribute"],
      ["description", "x", "unknown_attribute"],
      ["__proto__", "x", "unknown_attribute"],
      ["availability", "soon", "not_in_list"],
      ["availability", "", "required"],
      ["availability", "preorder", "required"],
      ["quantity", "1.5", "not_a_number"],
      ["quantity", "10000001", "out_of_range"],
      ["price", "0", "out_of_range"],
      ["price", "", "required"],
      ["compare_at_price", "1", "out_of_range"],
      ["title", "x".repeat(151), "too_long"],
      ["title", "a\nb", "not_one_line"],
      ["gtin", "4006381333932", "bad_check_digit"],
      ["sku", "x".repeat(65), "too_long"],
    ] as const
  ) {
    const answer = await put(app, "A", attribute, value);
    assertEquals([answer.status, codeOf(answer)], [422, "record_invalid"]);
    const [detail] = detailsOf(answer);
    assertEquals([detail.sku, detail.code], ["A", code], attribute);
  }
  const unknown = detailsOf(await put(app, "A", "colour", "x"))[0].message;
  assertStringIncludes(unknown, "availability");
  const missing = await put(app, "nope", "brand", "x");
  assertEquals([missing.status, codeOf(missing)], [404, "not_found"]);
  const stranger = await app.addSeller("other");
  const theirs = await app.call("/seller_api/products/A/attribute/brand/x", {
    method: "PUT",
    key: stranger,
  });
  assertEquals(theirs.status, 404);
});

bothForms.test("a body is ignored", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const answer = await app.call("/seller_api/products/A/attribute/brand/x", {
    method: "PUT",
    body: "not xml",
    headers: { "Content-Type": "application/json" },
  });
  assertEquals(answer.status, 204);
});

contract.test("updates of one product that come together are applied in order", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => put(app, "A", "quantity", String(i))),
  );
  assertEquals(answers.every(({ status }) => status === 204), true);
  // Requests may arrive in any order: any one may be the last, but exactly one
  // is, and none is stored in part.
  const { quantity, availability } = await stored(app, "A");
  assertEquals(availability, quantity === 0 ? "out_of_stock" : "in_stock");
});

contract.test("only XML white space is trimmed, so an SKU is found as sent", async () => {
  await using app = await boot();
  for (const [n, edge] of ["\u00a0", "\ufeff", "\u2003", "\u0085"].entries()) {
    const sku = `${edge}S-${n}${edge}`;
    const uploaded = await app.upload(
      product("X").replace("<sku>X</sku>", `<sku>\r\n\t ${sku} </sku>`),
    );
    if (edge === "\u0085") {
      assertEquals(uploaded.status, 422, "a control character");
      continue;
    }
    assertEquals(uploaded.status, 200, uploaded.text);
    const path = `/seller_api/products/${encodeURIComponent(sku)}`;
    const read = await app.call(path);
    assertEquals(read.status, 200);
    assertEquals(textAt(read.xml, "product/sku"), sku);
    const bare = await app.call(`/seller_api/products/S-${n}`);
    assertEquals(bare.status, 404);
    const renamed = encodeURIComponent(`\t${edge}T-${n}${edge} `);
    const put = { method: "PUT" };
    const moved = await app.call(`${path}/attribute/sku/${renamed}`, put);
    assertEquals(moved.status, 204);
    const found = encodeURIComponent(`${edge}T-${n}${edge}`);
    assertEquals((await app.call(`/seller_api/products/${found}`)).status, 200);
  }
});
