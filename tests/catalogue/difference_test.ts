/** Quantities that are changed by a difference. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { findBySkuOrId } from "../../src/catalogue/product_rows.ts";
import {
  boot,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { bothForms, contract } from "../support/forms.ts";

function put(app: TestApp, change: string, key?: string) {
  return app.call(`/seller_api/products/A/attribute/${change}`, {
    method: "PUT",
    headers: key === undefined ? {} : { "Idempotency-Key": key },
  });
}

function sendAll(app: TestApp, products: string, query = "", key?: string) {
  return app.call(`/seller_api/bulk_attributes?v=1.1${query}`, {
    method: "POST",
    headers: key === undefined ? {} : { "Idempotency-Key": key },
    body: `<products>${products}</products>`,
  });
}

function change(sku: string, by: string, more = ""): string {
  return `<product><sku>${sku}</sku><quantity change="${by}"${more}/></product>`;
}

async function stored(app: TestApp, sku = "A") {
  const found = await app.app.db.read((sql) =>
    findBySkuOrId(sql, app.sellerNo, sku)
  );
  return found!;
}

contract.test("an attribute update adds a difference to the quantity", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  for (
    const [change, status, said, quantity] of [
      ["quantity/-2?change=true", 204, "", 3],
      ["quantity/+4?change=true", 204, "", 7],
      ["quantity/4?change=true", 204, "", 11],
      ["quantity/0?change=true", 204, "", 11],
      ["quantity/9?change=false", 204, "", 9],
      [
        "quantity/-10?change=true",
        422,
        "quantity is 9 now, and after a change by -10 it is",
        9,
      ],
      [
        "quantity/9999992?change=true",
        422,
        "quantity is 9 now, and after a change by +9999992 it is",
        9,
      ],
      ["quantity/-10000001?change=true", 422, "from -10000000 to", 9],
      ["quantity/-1.5?change=true", 422, "whole number", 9],
      ["quantity/?change=true", 422, "whole number", 9],
      [
        "quantity/-1?change=true&expected=9",
        422,
        "is sent together with expected",
        9,
      ],
      ["price/-1?change=true", 422, "change is not possible for price", 9],
      ["quantity/-9?change=true", 204, "", 0],
      ["quantity/-1?change=true", 422, "quantity is 0 now", 0],
      ["quantity/?expected=0", 204, "", null],
      ["quantity/-1?change=true", 422, "quantity is empty now", null],
      ["quantity/2?change=true", 204, "", 2],
      ["quantity/1?change=yes", 400, "true or false", 2],
    ] as const
  ) {
    const answer = await put(app, change);
    assertEquals(answer.status, status, `${change}: ${answer.text}`);
    assertStringIncludes(answer.text, said, change);
    assertEquals((await stored(app)).quantity, quantity, change);
    if (status !== 422) continue;
    assertEquals(codeOf(answer), "record_invalid");
    const [{ code }] = detailsOf(answer);
    const isRange = /is (now|9|0|empty)|-10000000/.test(said);
    if (isRange) assertEquals(code, "out_of_range", change);
  }
  assertEquals((await stored(app)).availability, "in_stock");
});

bothEngines.test("concurrent differences of a product count, by its SKU and by its id", async () => {
  // With few connections, writes that wait share a transaction.
  await using app = await boot({ config: { databasePool: 2 } });
  await app.upload(product("A"));
  const { id, quantity } = await stored(app);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, n) => {
      const name = n % 2 === 0 ? "A" : id;
      const path = `${name}/attribute/quantity/1?change=true`;
      return app.call(`/seller_api/products/${path}`, { method: "PUT" });
    }),
  );
  assertEquals(answers.map(({ status }) => status), answers.map(() => 204));
  assertEquals((await stored(app)).quantity, quantity! + 100);
});

contract.test("a difference sets the availability, as a quantity does", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  await put(app, "quantity/-5?change=true");
  assertEquals((await stored(app)).availability, "out_of_stock");
  await put(app, "quantity/1?change=true");
  assertEquals((await stored(app)).availability, "in_stock");
});

contract.test("an attribute update with a key is carried out once", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const first = await put(app, "quantity/-2?change=true", "sale 1");
  assertEquals([first.status, first.text], [204, ""]);
  assertEquals(first.headers.get("idempotent-replayed"), null);
  await put(app, "quantity/9");
  const again = await put(app, "quantity/-2?change=true", "sale 1");
  assertEquals([again.status, again.text], [204, ""]);
  assertEquals(again.headers.get("idempotent-replayed"), "true");
  assertEquals((await stored(app)).quantity, 9);
  const other = await put(app, "quantity/-3?change=true", "sale 1");
  assertEquals([other.status, codeOf(other)], [422, "idempotency_key_reused"]);

  // A request that was refused, and changed nothing, is not carried out later
  // either.
  assertEquals((await put(app, "quantity/9", "same")).status, 204);
  await put(app, "quantity/8");
  assertEquals((await put(app, "quantity/9", "same")).status, 204);
  assertEquals((await stored(app)).quantity, 8);

  // A refusal does not consume the key.
  assertEquals((await put(app, "quantity/-9?change=true", "big")).status, 422);
  await put(app, "quantity/9");
  assertEquals((await put(app, "quantity/-9?change=true", "big")).status, 204);
  assertEquals((await stored(app)).quantity, 0);

  // The answer can be repeated even if the product is gone.
  await app.call("/seller_api/products/A", { method: "DELETE" });
  assertEquals((await put(app, "quantity/-9?change=true", "big")).status, 204);
  assertEquals((await put(app, "quantity/-9?change=true", "new")).status, 404);
});

contract.test("a document adds all its differences or none", async () => {
  await using app = await boot();
  await app.upload(product("A") + product("B") + product("C"));
  const done = await sendAll(app, change("A", "-2") + change("B", "+3"));
  assertEquals(done.status, 200, done.text);
  assertEquals((await stored(app)).quantity, 3);
  assertEquals((await stored(app, "B")).quantity, 8);

  const refused = await sendAll(app, change("C", "-1") + change("A", "-4"));
  assertEquals(refused.status, 422, refused.text);
  const [detail] = detailsOf(refused);
  assertEquals(
    [detail.code, detail.field, detail.sku, detail.product],
    ["out_of_range", "quantity", "A", "2"],
  );
  assertStringIncludes(detail.message, "quantity is 3 now");
  assertEquals((await stored(app, "C")).quantity, 5);

  const some = await sendAll(
    app,
    change("C", "-1") + change("A", "-4"),
    "&accept=valid",
  );
  assertEquals(textAt(some.xml, "refused"), "1", some.text);
  assertEquals((await stored(app, "C")).quantity, 4);

  const id = textAt(done.xml, "transaction_id");
  const undone = await app.call(`/seller_api/bulk_products/${id}/undo`, {
    method: "POST",
  });
  assertEquals(undone.status, 200, undone.text);
  assertEquals((await stored(app)).quantity, 5);

  const key = "till 3";
  for (let sent = 0; sent < 3; sent++) {
    assertEquals(
      (await sendAll(app, change("A", "-1"), "", key)).status,
      200,
    );
  }
  assertEquals((await stored(app)).quantity, 4);
  const tried = await sendAll(app, change("A", "-5"), "&dry_run=true");
  assertEquals(tried.status, 422);
});

bothForms.test("bulk_attributes takes a difference only for quantity, without a value", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  for (
    const [sent, code, field] of [
      ['<quantity change="-1">3</quantity>', "not_allowed", "quantity/@change"],
      [
        '<quantity change="-1" expected="5"/>',
        "not_allowed",
        "quantity/@change",
      ],
      ['<quantity change="few"/>', "not_a_number", "quantity/@change"],
      ['<quantity change=""/>', "not_a_number", "quantity/@change"],
      ['<quantity change="10000001"/>', "out_of_range", "quantity/@change"],
      [
        '<price currency="SEK" change="1"/>',
        "unknown_attribute",
        "price/@change",
      ],
    ]
  ) {
    const answer = await sendAll(
      app,
      `<product><sku>A</sku>${sent}</product>`,
    );
    const details = detailsOf(answer);
    assertEquals(answer.status, 422, sent);
    assert(
      details.some((one) => one.code === code && one.field === field),
      `${sent}: ${answer.text}`,
    );
  }
  const uploaded = await app.upload(
    product("N").replace("<quantity>5</quantity>", '<quantity change="5"/>'),
  );
  assertEquals(
    detailsOf(uploaded).map(({ code, field }) => [code, field]),
    [["not_allowed", "quantity/@change"]],
    uploaded.text,
  );
  assertStringIncludes(uploaded.text, "bulk_attributes");
});

Deno.test("in JSON a difference is an object", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const send = (quantity: unknown) =>
    app.call("/seller_api/bulk_attributes?v=1.1", {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json",
      },
      body: JSON.stringify({ products: [{ sku: "A", quantity }] }),
    });
  for (
    const [quantity, status, after] of [
      [{ change: -2 }, 200, 3],
      [{ change: "+4" }, 200, 7],
      [{ change: -1, value: null }, 200, 6],
      [{ change: -1, value: 3 }, 422, 6],
      [{ change: -1, expected: 6 }, 422, 6],
      [{ change: null }, 422, 6],
      [{ change: -1.5 }, 422, 6],
      [{ change: [-1] }, 422, 6],
      [{ expected: 6 }, 422, 6],
      [{}, 422, 6],
      [{ value: 8, expected: 6 }, 200, 8],
      [{ change: -9 }, 422, 8],
      [{ change: -8 }, 200, 0],
    ] as const
  ) {
    const answer = await send(quantity);
    const shown = `${JSON.stringify(quantity)}: ${answer.text}`;
    assertEquals(answer.status, status, shown);
    assertEquals((await stored(app)).quantity, after, shown);
  }
});

/**
 * Each till sells one piece and loses the answer: it sends the same request
 * again, at once or while the first is in progress, until it gets an answer.
 */
bothEngines.test("a hundred tills that lose answers end with the right quantity", async () => {
  await using app = await boot();
  await app.upload(product("A").replace(">5<", ">150<"));
  const sell = async (nth: number): Promise<boolean> => {
    // A seller may have at most 16 uploads at once.
    const send = () =>
      nth % 10 === 0
        ? sendAll(app, change("A", "-1"), "", `till ${nth}`)
        : put(app, "quantity/-1?change=true", `till ${nth}`);
    const lost = send();
    if (nth % 2 === 0) await lost;
    for (;;) {
      const answer = await send();
      if (answer.status < 300) {
        await lost;
        return answer.headers.get("idempotent-replayed") === "true";
      }
      assertEquals(codeOf(answer), "idempotency_key_in_progress");
    }
  };
  const all = Array.from({ length: 100 }, (_, nth) => sell(nth));
  const replayed = (await Promise.all(all)).filter((is) => is).length;
  assertEquals((await stored(app)).quantity, 50);
  assert(replayed >= 50, `${replayed} answers were repeated`);
});
