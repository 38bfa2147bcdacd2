/** The format of an answer, by `Accept`. */
import { assertEquals } from "@std/assert";
import { prefersJson } from "../../../src/http/server/negotiation.ts";
import { boot, product, type TestApp } from "../../support/app.ts";

const JSON_TYPE = "application/json";
const XML_TYPE = "text/xml; charset=utf-8";

Deno.test("the answer is JSON only if JSON is preferred to XML", () => {
  const chosen = (accept: string) =>
    prefersJson(new Headers({ Accept: accept })) ? "json" : "xml";
  const expected: Record<string, string> = {
    "": "xml",
    "*/*": "xml",
    "text/html": "xml",
    "application/*": "xml",
    "text/xml": "xml",
    "application/json": "json",
    "APPLICATION/JSON; charset=utf-8": "json",
    "application/json;q=0": "xml",
    "application/json;q=x": "xml",
    "application/json, text/xml": "xml",
    "application/json, application/xml": "xml",
    "application/json, */*": "xml",
    "application/json, text/plain, */*;q=0.8": "json",
    "text/xml;q=0.5, application/json;q=0.6": "json",
    "text/xml;q=0.6, application/json;q=0.5": "xml",
    "*/*, text/xml;q=0.1, application/xml;q=0.1": "json",
    "application/problem+json": "xml",
  };
  const actual = Object.keys(expected).map((accept) =>
    [accept, chosen(accept)] as const
  );
  assertEquals(Object.fromEntries(actual), expected);
  assertEquals(prefersJson(new Headers()), false);
});

Deno.test("if Accept prefers neither format, the answer has the format of the body", () => {
  const sent = (type: string, accept?: string) =>
    prefersJson(
      new Headers({
        "Content-Type": type,
        ...(accept !== undefined && { Accept: accept }),
      }),
    );
  const expected: [string, string | undefined, boolean][] = [
    [JSON_TYPE, undefined, true],
    [JSON_TYPE, "*/*", true],
    [JSON_TYPE, "application/json, */*", true],
    [JSON_TYPE, "application/*", true],
    [JSON_TYPE, "text/html", true],
    ["Application/JSON; charset=utf-8", "*/*", true],
    [JSON_TYPE, "text/xml", false],
    [JSON_TYPE, "application/xml, */*;q=0.1", false],
    ["text/xml", "*/*", false],
    ["text/xml", JSON_TYPE, true],
  ];
  for (const [type, accept, isJson] of expected) {
    assertEquals(sent(type, accept), isJson, `${type}, ${accept}`);
  }
});

Deno.test("a JSON body is answered in JSON if Accept is */*", async () => {
  await using app = await boot();
  const post = async (body: string) => {
    const { headers, text } = await app.call("/seller_api/bulk_products", {
      method: "POST",
      body,
      headers: { "Content-Type": JSON_TYPE, Accept: "*/*" },
    });
    assertEquals(headers.get("content-type"), JSON_TYPE);
    return JSON.parse(text);
  };
  const row = { sku: "A", title: "A", price: { amount: "1", currency: "SEK" } };
  const done = await post(JSON.stringify({
    products: [{ ...row, quantity: 1 }],
  }));
  assertEquals(typeof done.transaction_id, "string");
  assertEquals((await post("{")).error.code, "malformed_json");
});

/** Media type and body of an answer. */
async function ask(
  app: TestApp,
  path: string,
  accept = JSON_TYPE,
  key = app.key,
) {
  const answer = await app.call(path, { headers: { Accept: accept }, key });
  const { status, headers, text } = answer;
  return { status, type: headers.get("content-type"), text };
}

Deno.test("errors are JSON, even before a route is found", async () => {
  await using app = await boot();
  for (
    const [path, key, status, code] of [
      ["/seller_api/products/A", app.key, 404, "not_found"],
      ["/seller_api/products?limit=0", app.key, 422, "record_invalid"],
      ["/nothing", app.key, 404, "not_found"],
      ["/seller_api/products", "wrong", 401, "unauthorized"],
      ["/docs/nothing", app.key, 404, "not_found"],
    ] as const
  ) {
    const answer = await ask(app, path, JSON_TYPE, key);
    assertEquals([answer.status, answer.type], [status, JSON_TYPE], path);
    assertEquals(JSON.parse(answer.text).error.code, code, path);
    const xml = await ask(app, path, "*/*", key);
    assertEquals(xml.type, XML_TYPE, path);
  }
});

Deno.test("a product in JSON has units, lists, numbers and times", async () => {
  await using app = await boot();
  const more = "<weight unit='g'>350</weight>" +
    "<categories><category>A &gt; B</category></categories>" +
    `<attributes><attribute name="n">"v"</attribute></attributes>`;
  await app.upload(product("A", more));
  const { product: read } = JSON.parse(
    (await ask(app, "/seller_api/products/A")).text,
  );
  const { id, created_at, updated_at, ...others } = read;
  assertEquals(others, {
    sku: "A",
    title: "Title of A",
    price: { amount: "199", currency: "SEK" },
    quantity: 5,
    availability: "in_stock",
    weight: { value: 350, unit: "g" },
    condition: "new",
    status: "active",
    categories: ["A > B"],
    attributes: [{ name: "n", value: '"v"' }],
    images: [],
  });
  assertEquals([id, created_at, updated_at].map((one) => typeof one), [
    "string",
    "string",
    "string",
  ]);
});

Deno.test("a final status is cached in each format", async () => {
  await using app = await boot();
  const uploaded = await app.upload(product("A"));
  const id = uploaded.xml.children[0].text;
  const path = `/seller_api/bulk_products/${id}`;
  for (let round = 0; round < 2; round++) {
    const json = await ask(app, path);
    assertEquals(json.type, JSON_TYPE);
    const { transaction } = JSON.parse(json.text);
    assertEquals(transaction.results.length, 1);
    assertEquals(transaction.results[0].image, []);
    const xml = await ask(app, path, "text/xml");
    assertEquals([xml.type, xml.text[0]], [XML_TYPE, "<"]);
  }
});

Deno.test("a stream of events is JSON if JSON is preferred to XML", async () => {
  await using app = await boot();
  const uploaded = await app.upload(product("A"));
  const id = uploaded.xml.children[0].text;
  const accept = `text/event-stream, ${JSON_TYPE};q=0.9`;
  const stream = await ask(app, `/seller_api/bulk_products/${id}`, accept);
  assertEquals(stream.type, "text/event-stream; charset=utf-8");
  const [event, data] = stream.text.split("\n");
  assertEquals(event, "event: final");
  const { transaction } = JSON.parse(data.replace("data: ", ""));
  assertEquals(transaction.transaction_id, id);
});

Deno.test("the event feed is answered in JSON", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const emit = async (reference: number, data: string) => {
    const sent = await app.call("/operator_api/events", {
      method: "POST",
      key: "op",
      body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
        `<reference>${reference}</reference>${data}</event>`,
    });
    assertEquals(sent.status, 200, sent.text);
  };
  await emit(
    1,
    "<data><line><sku>A</sku></line><line><sku>B</sku></line>" +
      "<total currency='SEK'>9</total></data>",
  );
  await emit(2, "");
  const answer = JSON.parse((await ask(app, "/seller_api/events")).text);
  const [{ id: _, created_at: __, ...event }, none] = answer.events;
  assertEquals(event, {
    trigger: "order_created",
    data: {
      line: [{ sku: "A" }, { sku: "B" }],
      total: { "@currency": "SEK", "#text": "9" },
    },
  });
  assertEquals(none.data, {});
  assertEquals(typeof answer.next, "string");
});
