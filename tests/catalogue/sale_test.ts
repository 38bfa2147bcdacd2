/** A sale: its states, its rules, the history of its price, and its undo. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { type Clock, systemClock } from "../../src/deps.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import type { XmlElement } from "../../src/xml/decode.ts";
import { isoTime } from "../../src/xml/encode.ts";
import {
  type Answer,
  boot,
  child,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { until } from "../support/clock.ts";
import { contract } from "../support/forms.ts";
import { readAll, valueOf } from "../support/read_out.ts";

const START = Date.UTC(2026, 10, 30, 12);
const FROM = Date.UTC(2026, 11, 1, 8);
const UNTIL = Date.UTC(2026, 11, 24, 20);

async function bootAt(time: { now: number }): Promise<TestApp> {
  const clock: Clock = { ...systemClock, now: () => time.now };
  return await boot({ deps: { clock }, config: { operatorKey: "operator" } });
}

function sale(price: string, from: string | null, until: string): string {
  const begin = from === null ? "" : `<from>${from}</from>`;
  return `<sale><price>${price}</price>${begin}<until>${until}</until></sale>`;
}

const PLANNED = sale("99.00", isoTime(FROM), isoTime(UNTIL));

function attributes(
  app: TestApp,
  fields: string,
  query = "",
): Promise<Answer> {
  return app.call(`/seller_api/bulk_attributes?v=1.1${query}`, {
    method: "POST",
    body: `<products><product><sku>A</sku>${fields}</product></products>`,
  });
}

async function find(app: TestApp, sku = "A"): Promise<XmlElement> {
  const answer = await app.call(`/seller_api/products/${sku}`);
  return child(answer.xml, "product");
}

/** The state of the sale, the price that is asked, and the lowest price. */
function shown(element: XmlElement): string {
  const find = (name: string) =>
    element.children.find((one) => one.name === name);
  const state = find("sale")?.attributes.state ?? "none";
  const money = (name: string) => {
    const price = find(name);
    return price === undefined
      ? "-"
      : `${price.text} ${price.attributes.currency}`;
  };
  return [state, money("price"), money("current_price"), money("lowest_price")]
    .join(", ");
}

/** The code, field and message of the only detail. */
function refusal(answer: Answer): string {
  assertEquals(answer.status, 422, answer.text);
  const details = detailsOf(answer);
  assertEquals(details.length, 1, answer.text);
  const [{ field, code, message }] = details;
  return `${code} ${field}: ${message}`;
}

/** The changes of the price, the oldest first, without the ids. */
async function history(app: TestApp): Promise<string[]> {
  const path = "/seller_api/products/A/history?attribute=price";
  const { entries } = await readAll(app, path, "changes");
  return entries.map((change) => {
    const [by] = textAt(change, "by").split(" ");
    const key = valueOf(change, "key_id") === null ? "" : " with a key";
    return `${textAt(change, "at")} ${textAt(change, "from")} → ${
      textAt(change, "to")
    } by ${by}${key}`;
  }).reverse();
}

async function results(app: TestApp, answer: Answer): Promise<string> {
  const record = await app.status(answer);
  return child(record, "results").children
    .map((one) => textAt(one, "result")).join();
}

contract.test("a sale is planned, then on, then over, wherever its product is shown", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  await app.upload(product("A", PLANNED));
  const states = async () => {
    const list = await readAll(app, "/seller_api/products", "products");
    let first: XmlElement | undefined;
    // A change in progress is shown once it is committed.
    await until(async () => {
      const path = "/operator_api/products";
      const feed = await app.call(path, { key: "operator" });
      [first] = child(feed.xml, "products").children;
      return first !== undefined;
    }, "the feed");
    const each = [await find(app), list.entries[0], first!].map(shown);
    assertEquals(new Set(each).size, 1, each.join("; "));
    return each[0];
  };
  assertEquals(await states(), "planned, 199 SEK, -, -");
  time.now = FROM - 1;
  assertEquals(await states(), "planned, 199 SEK, -, -");
  time.now = FROM;
  assertEquals(await states(), "on, 199 SEK, 99 SEK, 199 SEK");
  time.now = UNTIL - 1;
  assertEquals(await states(), "on, 199 SEK, 99 SEK, 199 SEK");
  time.now = UNTIL;
  assertEquals(await states(), "over, 199 SEK, -, 99 SEK");
  assertEquals(await history(app), [
    `${isoTime(FROM)} 199 → 99 by sale`,
    `${isoTime(UNTIL)} 99 → 199 by sale`,
  ]);
  const element = child(await find(app), "sale");
  assertEquals(
    element.children.map(({ name, text }) => `${name} ${text}`),
    ["price 99", `from ${isoTime(FROM)}`, `until ${isoTime(UNTIL)}`],
  );
});

contract.test("a sale without a beginning begins at once; a date stands for its first or last moment", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  await app.upload(product("A"));
  await attributes(app, sale("99", null, "2026-12-01"));
  assertEquals(shown(await find(app)), "on, 199 SEK, 99 SEK, 199 SEK");
  const { source } = child(await find(app), "sale");
  assertEquals(
    source,
    `<price>99</price><from>${isoTime(START)}</from>` +
      "<until>2026-12-01T23:59:59.999Z</until>",
  );
  const begun = `${isoTime(START)} 199 → 99 by upload with a key`;
  const [change] = await history(app);
  assertMatch(change, /199 → 99 by upload with a key$/);
  assertEquals(change.slice(0, 19), begun.slice(0, 19));
  const again = await attributes(app, sale("99", null, "2026-12-01"));
  assertEquals(await results(app, again), "unchanged");
  await attributes(app, sale("89", "2026-11-30", "2026-12-02"));
  assertEquals(shown(await find(app)), "on, 199 SEK, 89 SEK, 99 SEK");
  assertMatch(
    child(await find(app), "sale").source,
    /<from>2026-11-30T00:00:00.000Z</,
  );
  await attributes(app, "<sale/>");
  assertEquals(shown(await find(app)), "none, 199 SEK, -, 89 SEK");
  assertEquals((await history(app)).map((line) => line.slice(25)), [
    "199 → 99 by upload with a key",
    "99 → 89 by upload with a key",
    "89 → 199 by upload with a key",
  ]);
});

contract.test("a sale that breaks a rule is refused with its reason", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  await app.upload(product("A"));
  const rows: [fields: string, expected: string][] = [
    [
      "<sale><price>99</price></sale>",
      "required sale/until: sale/until is missing; a sale needs <price> and <until>, and an empty <sale/> ends it.",
    ],
    [
      "<sale><until>2026-12-24</until></sale>",
      "required sale/price: sale/price is missing; a sale needs <price> and <until>, and an empty <sale/> ends it.",
    ],
    [
      sale("99", null, "2026-11-29"),
      "out_of_range sale/until: sale/until is 2026-11-29T23:59:59.999Z, which is past; it must be a later time than now.",
    ],
    [
      sale("99", "2026-12-24T00:00:00Z", "2026-12-24T00:00:00Z"),
      "out_of_range sale/until: sale/until is 2026-12-24T00:00:00.000Z, and the sale begins at 2026-12-24T00:00:00.000Z; it must end later.",
    ],
    [
      sale("99", "2026-12-01", "2027-05-30"),
      "out_of_range sale/until: sale/until is 2027-05-30T23:59:59.999Z, more than 180 days after its beginning at 2026-12-01T00:00:00.000Z; a sale may last 180 days.",
    ],
    [
      sale("99", null, "tomorrow"),
      'not_a_date sale/until: sale/until is "tomorrow"; it must be a date, or a time with its zone, that exists, as in "2026-12-01" or "2026-12-01T08:00:00Z".',
    ],
    [
      sale("199", null, "2026-12-24"),
      "out_of_range sale/price: sale/price is 199; it must be below the price of 199.",
    ],
    [
      sale("9", null, "2026-12-24") + '<price currency="SEK">8</price>',
      "out_of_range sale/price: sale/price is 9; it must be below the price of 8.",
    ],
    [
      "<sale><price>x</price><until>2026-12-24</until></sale>",
      'not_a_number sale/price: sale/price is "x"; it must be a decimal above 0 with a point, as in "199.00".',
    ],
  ];
  for (const [fields, expected] of rows) {
    const answer = await attributes(app, fields);
    assertEquals(
      refusal(answer).replaceAll('"price"', "<price>")
        .replaceAll('"until"', "<until>").replaceAll(
          '"sale": null',
          "an empty <sale/>",
        ),
      expected,
    );
  }
  const longest = sale("99", "2026-12-01", "2027-05-29");
  assertEquals((await attributes(app, longest)).status, 200);
});

contract.test("an unknown or repeated element of a sale is refused, and is no missing one", async () => {
  await using app = await bootAt({ now: START });
  await app.upload(product("A"));
  assertMatch(
    refusal(
      await attributes(
        app,
        "<sale><prise>99</prise><until>2026-12-24</until></sale>",
      ),
    ),
    /^unknown_element sale\/prise: .* is not known here; the nearest known name is <price>\.$/,
  );
  const repeated = "<sale><price>99</price><price>98</price>" +
    "<until>2026-12-24</until></sale>";
  const answer = await app.call("/seller_api/bulk_attributes?v=1.1", {
    method: "POST",
    headers: { "Content-Type": "text/xml", Accept: "text/xml" },
    body: new TextEncoder().encode(
      `<products><product><sku>A</sku>${repeated}</product></products>`,
    ),
  });
  assertEquals(
    refusal(answer),
    "repeated_element sale/price: sale/price is repeated; the first is on line 1.",
  );
});

contract.test("a price is refused that is not above the sale's, or in another currency without a sale", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  await app.upload(product("A", PLANNED));
  const put = (price: string) =>
    app.call(`/seller_api/products/A/attribute/price/${price}`, {
      method: "PUT",
    });
  for (time.now of [START, FROM]) {
    assertMatch(
      refusal(await put("99")),
      /^out_of_range price: price is 99; it must be above 99, the price of the sale until 2026-12-24T20:00:00.000Z/,
    );
    assertMatch(
      refusal(await attributes(app, '<price currency="EUR">500</price>')),
      /^not_allowed sale: sale is stored as 99 SEK, but the new price is in EUR/,
    );
  }
  assertEquals((await put("99.5")).status, 204);
  assertEquals(shown(await find(app)), "on, 99.5 SEK, 99 SEK, 199 SEK");
  // The price that is asked did not change.
  assertEquals(await history(app), [`${isoTime(FROM)} 199 → 99 by sale`]);
  const inEuro = '<price currency="EUR">20</price>' +
    sale("9", null, isoTime(UNTIL));
  assertEquals((await attributes(app, inEuro)).status, 200);
  assertEquals(shown(await find(app)), "on, 20 EUR, 9 EUR, -");
  time.now = UNTIL;
  assertEquals((await put("5")).status, 204);
  assertEquals(shown(await find(app)), "over, 5 EUR, -, 9 EUR");
  assertEquals((await history(app)).slice(-2).map((line) => line.slice(25)), [
    "9 → 20 by sale",
    "20 → 5 by attribute with a key",
  ]);
});

contract.test("a product that was read is uploaded unchanged in each state of its sale", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  await app.upload(product("A", PLANNED));
  for (time.now of [START, FROM, UNTIL, UNTIL + 200 * DAY_MS]) {
    const answer = await app.call("/seller_api/products/A");
    const { source } = answer.xml;
    const again = await app.upload(source);
    assertEquals(await results(app, again), "unchanged", again.text);
    const own = child(answer.xml, "product").children
      .filter(({ name }) => ["sale", "current_price"].includes(name))
      .map(({ name, attributes: { state, currency }, source }) =>
        name === "sale"
          ? `<sale state="${state}">${source}</sale>`
          : `<current_price currency="${currency}">${source}</current_price>`
      ).join("");
    const only = await attributes(app, own);
    assertEquals(await results(app, only), "unchanged", only.text);
  }
});

contract.test("an undo ends the sale that its upload set, in each of its states", async () => {
  const rows: [now: number, expected: string, changes: string[]][] = [
    [START + 1, "none, 199 SEK, -, -", []],
    [FROM + HOUR_MS, "none, 199 SEK, -, 99 SEK", [
      "199 → 99 by sale",
      "99 → 199 by undo with a key",
    ]],
    [UNTIL + HOUR_MS, "none, 199 SEK, -, 99 SEK", [
      "199 → 99 by sale",
      "99 → 199 by sale",
    ]],
  ];
  for (const [now, expected, changes] of rows) {
    const time = { now: START };
    await using app = await bootAt(time);
    await app.upload(product("A"));
    const set = await attributes(app, PLANNED);
    time.now = now;
    const id = textAt(set.xml, "transaction_id");
    const undone = await app.call(`/seller_api/bulk_products/${id}/undo`, {
      method: "POST",
    });
    assertEquals(await results(app, undone), "updated", undone.text);
    assertEquals(shown(await find(app)), expected);
    assertEquals((await history(app)).map((line) => line.slice(25)), changes);
  }
});

contract.test("an undo restores a replaced sale as its time says, and refuses a price that a later sale forbids", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  await app.upload(product("A", PLANNED));
  const replaced = await attributes(app, sale("89", null, "2026-12-03"));
  assertEquals(shown(await find(app)), "on, 199 SEK, 89 SEK, 199 SEK");
  time.now = FROM + 1;
  const undo = (answer: Answer, query = "") =>
    app.call(
      `/seller_api/bulk_products/${
        textAt(answer.xml, "transaction_id")
      }/undo${query}`,
      { method: "POST" },
    );
  assertEquals((await undo(replaced)).status, 200);
  assertEquals(shown(await find(app)), "on, 199 SEK, 99 SEK, 89 SEK");
  const dearer = await attributes(app, '<price currency="SEK">299</price>');
  await attributes(app, sale("250", null, "2026-12-03"));
  assertMatch(
    refusal(await undo(dearer)),
    /^changed_since price: price cannot get its former value back, because of a field that was changed since: price is 199; it must be above 250,/,
  );
});

contract.test("an undo restores no sale and no compare-at price in another currency", async () => {
  await using app = await bootAt({ now: START });
  await app.upload(product("A", "<compare_at_price>400</compare_at_price>"));
  await attributes(app, sale("99", null, "2026-12-24"));
  const ended = await attributes(app, "<sale/><compare_at_price/>");
  await attributes(app, '<price currency="EUR">300</price>');
  const id = textAt(ended.xml, "transaction_id");
  const undo = (query = "") =>
    app.call(`/seller_api/bulk_products/${id}/undo${query}`, {
      method: "POST",
    });
  assertEquals(
    detailsOf(await undo()).map(({ field, code }) => `${field} ${code}`),
    ["compare_at_price changed_since", "sale changed_since"],
  );
  assertEquals((await undo("?changed=keep")).status, 200);
  const names = (await find(app)).children.map(({ name }) => name);
  assertEquals(names.includes("sale"), false);
  assertEquals(names.includes("compare_at_price"), false);

  await attributes(app, '<price currency="SEK">200</price>');
  await attributes(app, sale("99", null, "2026-12-24"));
  const again = await attributes(app, "<sale/>");
  await attributes(app, '<price currency="SEK">150</price>');
  const answer = await app.call(
    `/seller_api/bulk_products/${textAt(again.xml, "transaction_id")}/undo`,
    { method: "POST" },
  );
  assertEquals(answer.status, 200, answer.text);
  assertEquals(shown(await find(app)).slice(0, 2), "on");
});

/** Gives the undo records the form that they had before they had the price. */
async function forgetPrices(app: TestApp): Promise<void> {
  await app.app.db.write(async (tx) => {
    const rows = await tx.all<{ id: string; record: string }>(
      "SELECT transaction_id AS id, record FROM undo_records",
    );
    let changed = 0;
    for (const { id, record } of rows) {
      const [names] = record.split("\u0002");
      const [price, currency] = ["price", "currency"]
        .map((name) => names.split(",").indexOf(name));
      const former = record.replaceAll(
        new RegExp(
          `\u0001(?:${price}|${currency})(?:\u0001[^\u0001\u0002]*){2}`,
          "g",
        ),
        "",
      );
      if (former !== record) changed++;
      await tx.run(
        "UPDATE undo_records SET record = ? WHERE transaction_id = ?",
        [former, id],
        1,
      );
    }
    assert(changed > 0);
  });
}

contract.test("the undo of a record without the price restores no amount of an unknown currency", async () => {
  await using app = await bootAt({ now: START });
  await app.upload(product("A", "<compare_at_price>400</compare_at_price>"));
  await attributes(app, sale("99", null, "2026-12-24"));
  const ended = await attributes(
    app,
    "<sale/><compare_at_price/><quantity>7</quantity>",
  );
  await forgetPrices(app);
  const id = textAt(ended.xml, "transaction_id");
  const undo = (query = "") =>
    app.call(`/seller_api/bulk_products/${id}/undo${query}`, {
      method: "POST",
    });
  const refused = await undo();
  assertEquals(
    detailsOf(refused).map(({ field, code }) => `${field} ${code}`),
    ["compare_at_price changed_since", "sale changed_since"],
  );
  assertStringIncludes(
    refused.text,
    "sale cannot get its former value back: the record of the transaction " +
      "does not have its currency.",
  );
  assertEquals((await undo("?changed=keep")).status, 200);
  const found = await find(app);
  assertEquals(textAt(found, "quantity"), "5");
  const names = found.children.map(({ name }) => name);
  assertEquals(names.includes("sale"), false);
});

contract.test("the begin of a sale between the check of an upload and its undo is no change by someone else", async () => {
  const time = { now: START };
  await using app = await bootAt(time);
  const created = await app.upload(product("A", PLANNED));
  time.now = FROM + 1;
  const id = textAt(created.xml, "transaction_id");
  const undone = await app.call(`/seller_api/bulk_products/${id}/undo`, {
    method: "POST",
  });
  assertEquals(await results(app, undone), "deleted", undone.text);
});
