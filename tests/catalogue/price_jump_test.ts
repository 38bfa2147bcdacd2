/** A price that changes by more than the seller's limit. */
import { assertEquals, assertMatch } from "@std/assert";
import { priceJumpProblem } from "../../src/catalogue/price_jump.ts";
import {
  boot,
  codeOf,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { until } from "../support/clock.ts";
import { bothForms, contract } from "../support/forms.ts";

const OPERATOR = { config: { operatorKey: "op" } };

async function setLimit(app: TestApp, percent: string): Promise<void> {
  const path = `/operator_api/sellers/acme/attribute/price_jump/${percent}`;
  const { status, text } = await app.call(path, { method: "PUT", key: "op" });
  assertEquals(status, 204, text);
}

function putPrice(app: TestApp, change: string) {
  return app.call(`/seller_api/products/A/attribute/price/${change}`, {
    method: "PUT",
  });
}

async function priceOf(app: TestApp): Promise<string> {
  const { xml } = await app.call("/seller_api/products/A");
  return textAt(xml, "product/price");
}

const change = (price: string) => `<product><sku>A</sku>${price}</product>`;
const price = (amount: string, expected?: string, currency = "SEK") =>
  `<price currency="${currency}"${
    expected === undefined ? "" : ` expected="${expected}"`
  }>${amount}</price>`;

Deno.test("the limit is exact, in both directions, and compares one currency", () => {
  for (
    const [from, to, percent, isRefused] of [
      ["100", "150", 50, false],
      ["100", "150.0001", 50, true],
      ["100", "50", 50, false],
      ["100", "49.9999", 50, true],
      ["0.0003", "0.0004", 33, true],
      ["0.0003", "0.0004", 34, false],
      ["9999999999.9999", "9999999999.9998", 0, true],
      ["9999999999.9999", "0.0001", 100, false],
      ["0.0001", "1", 999_900, false],
      ["0.0001", "1.0001", 999_900, true],
      ["129", "129", 0, false],
      ["129", "1.29", null, false],
    ] as const
  ) {
    const [before, after] = [from, to]
      .map((price) => ({ price, currency: "SEK" }));
    const problem = priceJumpProblem(before, after, percent);
    assertEquals(problem !== null, isRefused, `${from} ${to} ${percent}`);
    const other = { ...after, currency: "EUR" };
    assertEquals(priceJumpProblem(before, other, percent), null);
  }
});

bothForms.test("a document with a price beyond the limit is refused, unless the present one is expected", async () => {
  await using app = await boot(OPERATOR);
  await app.upload(product("A") + product("B"));
  await setLimit(app, "50");
  const far = `${change(price("1.99"))}\n`;
  for (const query of ["", "&dry_run=true"]) {
    const answer = await app.upload(
      product("N") + "\n" + far + change("").replace(">A<", ">B<"),
      query,
    );
    assertEquals(answer.status, 422, answer.text);
    const [detail, ...others] = detailsOf(answer);
    assertEquals(others, []);
    assertEquals(
      [detail.product, detail.sku, detail.field, detail.code],
      ["2", "A", "price", "price_jump"],
    );
    assertEquals(
      detail.message,
      "price would fall from 199 to 1.99 SEK, by more than 50 percent; " +
        "correct it, or send it again with expected 199 if it is correct.",
    );
  }
  assertEquals(await priceOf(app), "199");
  const some = await app.upload(far + product("N"), "&accept=valid");
  assertEquals(textAt(some.xml, "refused"), "1", some.text);
  for (
    const [sent, now] of [
      [price("298.5"), "298.5"],
      [price("1.99", "298.50"), "1.99"],
      [price("199", undefined, "EUR"), "199"],
    ]
  ) {
    const answer = await app.upload(change(sent));
    assertEquals(answer.status, 200, answer.text);
    assertEquals(await priceOf(app), now);
  }
});

contract.test("a price in a path, in attributes and in an import is compared, an undo is not", async () => {
  await using app = await boot(OPERATOR);
  // Before the key is used: its owner is cached for half a second.
  await setLimit(app, "10");
  await app.upload(product("A"));
  const refused = await putPrice(app, "1990");
  assertEquals([refused.status, codeOf(refused)], [422, "record_invalid"]);
  const [detail] = detailsOf(refused);
  assertEquals([detail.code, detail.sku], ["price_jump", "A"]);
  assertMatch(detail.message, /^price would rise from 199 to 1990 SEK/);
  assertEquals((await putPrice(app, "1990?expected=19")).status, 412);
  const far = `<products>${change(price("1990"))}</products>`;
  const attributes = await app.call("/seller_api/bulk_attributes", {
    method: "POST",
    body: far,
  });
  assertEquals(detailsOf(attributes)[0].code, "price_jump");
  const begun = await app.call("/seller_api/imports", {
    method: "POST",
    body: far,
  });
  const id = textAt(begun.xml, "import_id");
  const done = await app.call(`/seller_api/imports/${id}?wait=30`);
  assertEquals(textAt(done.xml, "import/status"), "refused", done.text);
  assertMatch(done.text, /<code>price_jump<\/code>/);
  assertEquals(await priceOf(app), "199");

  assertEquals((await putPrice(app, "1990?expected=199")).status, 204);
  await app.upload(change(price("5", "1990")));
  const uploads = await app.call("/seller_api/bulk_products");
  const [last] = uploads.text.match(/(?<=<transaction_id>)[^<]+/) ?? [];
  const undone = await app.call(`/seller_api/bulk_products/${last}/undo`, {
    method: "POST",
  });
  assertEquals(undone.status, 200, undone.text);
  assertEquals(await priceOf(app), "1990");

  await setLimit(app, "");
  await until(async () => (await putPrice(app, "1")).status === 204);
});
