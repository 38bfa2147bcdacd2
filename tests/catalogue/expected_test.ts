/** Changes that are made only if a value is the expected one. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { findBySkuOrId } from "../../src/catalogue/product_rows.ts";
import {
  boot,
  codeOf,
  detailsOf,
  product,
  type TestApp,
} from "../support/app.ts";
import { bothForms, contract } from "../support/forms.ts";

function put(app: TestApp, change: string) {
  return app.call(`/seller_api/products/A/attribute/${change}`, {
    method: "PUT",
  });
}

async function stored(app: TestApp, sku = "A") {
  const found = await app.app.db.read((sql) =>
    findBySkuOrId(sql, app.sellerNo, sku)
  );
  return found!;
}

contract.test("an attribute changes only if it has the expected value", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  for (
    const [change, status, said] of [
      ["quantity/12?expected=5", 204, ""],
      ["quantity/13?expected=5", 412, "quantity is 12 now"],
      ["quantity/13?expected=", 412, "quantity is 12 now"],
      ["quantity/12?expected=5", 412, "quantity is 12 now"],
      ["quantity/?expected=12", 204, ""],
      ["quantity/7?expected=0", 412, "quantity is empty now"],
      ["quantity/7?expected=", 204, ""],
      ["price/150?expected=199.00000", 422, "at most"],
      ["price/150?expected=199.00", 204, ""],
      ["price/151?expected=199", 412, "price is 150 SEK now"],
      ["condition/used?expected=new", 204, ""],
      ["condition/new?expected=", 412, "condition is used now"],
      ["brand/b?expected=", 204, ""],
      ["sku/B?expected=C", 412, "sku is A now"],
      ["quantity/8?expected=many", 422, "expected"],
      ["price/8?expected=", 422, "expected is empty"],
      ["colour/8?expected=1", 422, "colour is not an attribute"],
    ] as const
  ) {
    const before = await stored(app);
    const answer = await put(app, change);
    assertEquals(answer.status, status, `${change}: ${answer.text}`);
    if (status === 204) continue;
    assertEquals(await stored(app), before, change);
    const [detail] = detailsOf(answer);
    assert(detail.message.includes(said), `${change}: ${answer.text}`);
    if (status !== 412) continue;
    assertEquals(codeOf(answer), "changed_since");
    assertEquals([detail.code, detail.sku], ["changed_since", "A"]);
    assertEquals(detail.field, change.split("/")[0]);
  }
  const missing = "/seller_api/products/Z/attribute/quantity/1?expected=1";
  assertEquals((await app.call(missing, { method: "PUT" })).status, 404);
});

contract.test("a document changes nothing unless all values are the expected ones", async () => {
  await using app = await boot();
  await app.upload(product("A") + product("B"));
  const change = (sku: string, fields: string) =>
    `<product><sku>${sku}</sku>${fields}</product>`;
  const quantity = (expected: string, to = "6") =>
    `<quantity expected="${expected}">${to}</quantity>`;
  const price = (expected: string, currency = "SEK") =>
    `<price currency="${currency}" expected="${expected}">150</price>`;
  const before = [await stored(app), await stored(app, "B")];
  for (
    const [fields, field, message] of [
      [quantity("4"), "quantity", "is 5 now"],
      [quantity(""), "quantity", "is 5 now"],
      [price("198"), "price", "is 199 SEK now"],
      [price("199", "EUR"), "price", "is 199 SEK now"],
    ]
  ) {
    const document = `${change("B", quantity("5"))}\n${change("A", fields)}`;
    for (const query of ["", "&dry_run=true"]) {
      const answer = await app.upload(document, query);
      assertEquals(answer.status, 422, answer.text);
      const [detail, ...others] = detailsOf(answer);
      assertEquals(others, []);
      const { product, sku, line, code } = detail;
      assertEquals([product, sku, line], ["2", "A", "2"]);
      assertEquals([detail.field, code], [field, "changed_since"]);
      assertMatch(detail.message, new RegExp(`^${field} ${message}`));
    }
  }
  assertEquals([await stored(app), await stored(app, "B")], before);

  const unknown = await app.upload(
    product("N").replace("<quantity>", '<quantity expected="1">'),
  );
  assertEquals(detailsOf(unknown)[0].code, "changed_since");

  const valid = change("B", quantity("5")) + change("A", quantity("4"));
  const some = await app.upload(valid, "&accept=valid");
  assertEquals(some.status, 200, some.text);
  assertEquals((await stored(app, "B")).quantity, 6);
  assertEquals((await stored(app)).quantity, 5);

  const right = await app.upload(
    change("A", quantity(" 5 ", "") + price("199.0")),
  );
  assertEquals(right.status, 200, right.text);
  const after = await stored(app);
  assertEquals([after.quantity, after.price], [null, "150"]);
});

bothForms.test("an expected value is parsed like the value, and allowed only on known fields", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  for (
    const [fields, field, code] of [
      [
        '<quantity expected="many">1</quantity>',
        "quantity/@expected",
        "not_a_number",
      ],
      [
        '<price currency="SEK" expected="">1</price>',
        "price/@expected",
        "required",
      ],
      ['<title expected="T">U</title>', "title/@expected", "unknown_attribute"],
    ]
  ) {
    const answer = await app.upload(
      `<product><sku>A</sku>${fields}</product>`,
    );
    const [detail, ...others] = detailsOf(answer);
    assertEquals([detail.field, detail.code], [field, code], answer.text);
    assertEquals(others, []);
  }
});

/**
 * This many clients read, add one and write, by an attribute update or a
 * document, and start again with the value that a refusal names.
 */
async function addTogether(writers: number): Promise<void> {
  await using app = await boot();
  await app.upload(product("A"));
  const write = (value: number, expected: number, byDocument: boolean) =>
    byDocument
      ? app.upload(
        "<product><sku>A</sku>" +
          `<quantity expected="${expected}">${value}</quantity></product>`,
      )
      : put(app, `quantity/${value}?expected=${expected}`);
  const addOne = async (nth: number): Promise<number> => {
    // A seller may have at most 16 uploads at once.
    const byDocument = nth % 10 === 0;
    let { quantity } = await stored(app);
    for (let tries = 1;; tries++) {
      const answer = await write(quantity! + 1, quantity!, byDocument);
      if (answer.status < 300) return tries;
      assertEquals(answer.status, byDocument ? 422 : 412, answer.text);
      const [{ code, message }] = detailsOf(answer);
      assertEquals(code, "changed_since");
      quantity = Number(/^quantity is (\d+) now/.exec(message)![1]);
    }
  };
  const all = Array.from({ length: writers }, (_, nth) => addOne(nth));
  const tries = await Promise.all(all);
  assertEquals((await stored(app)).quantity, 5 + writers);
  assert(Math.max(...tries) > 1, "no two writers met");
}

contract.test("many writers that read, add one and write reach the right sum", () =>
  addTogether(20));

// The number of requests is the square of the number of writers.
Deno.test("a hundred writers that read, add one and write reach the right sum", () =>
  addTogether(100));
