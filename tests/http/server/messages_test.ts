/** Common mistakes, and the messages that tell what to do. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  type Answer,
  boot,
  detailsOf,
  product,
  textAt,
} from "../../support/app.ts";
import { TestClock } from "../../support/clock.ts";
import { bothForms } from "../../support/forms.ts";

const BULK = "/seller_api/bulk_products";
const head = "<products>\r\n <product>\r\n  ";

/** The message of an error, or of its only detail, with its position. */
function told(answer: Answer): string {
  const details = detailsOf(answer);
  if (details.length === 0) {
    return `${answer.status} ${textAt(answer.xml, "error/message")}`;
  }
  return details.map(({ line, column, message }) =>
    [answer.status, line && `${line}:${column ?? ""}`, message]
      .filter((part) => part !== undefined).join(" ")
  ).join("\n");
}

function latin1(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

bothForms.test("a body that is not XML or not UTF-8 is refused, and the message says what to send", async () => {
  await using app = await boot();
  const sentJson =
    "The body is JSON; send it with Content-Type: application/json.";
  const bodies: [string | Uint8Array<ArrayBuffer>, string][] = [
    ['{"products": []}', `400 1:1 ${sentJson}`],
    ['\n [{"sku": "<b>"}]', `400 2:2 ${sentJson}`],
    [
      "sku;title;price\nA;B;1\n",
      "400 1:1 The body is CSV, or another kind of text; send XML.",
    ],
    [
      "<!DOCTYPE html>\n<html><head><meta></head></html>",
      "400 1:1 The body is an HTML page; send XML.",
    ],
    [
      "<!doctype html><html>",
      "400 1:1 The body is an HTML page; send XML.",
    ],
    [
      "<html><body><br></body></html>",
      "422 1: The root element is <html>; it must be <products>. The body is " +
      "an HTML page, perhaps an error page of another server.",
    ],
    [
      "<product/>",
      "422 1: The root element is <product>; it must be <products>.",
    ],
    [
      latin1(`${head}<title>Sm\xf6r`),
      "400 3:12 The byte 0xF6 is not valid UTF-8 here. In ISO 8859-1 (Latin-1) " +
      'it would be "ö". Save the document as UTF-8.',
    ],
    [
      latin1("<?xml version='1.0' encoding='ISO-8859-1'?><products/>"),
      "400 1:1 The XML declaration names the encoding ISO-8859-1; save the " +
      'document as UTF-8, and write encoding="UTF-8".',
    ],
    [
      latin1("\xff\xfe<\0"),
      "400 1:1 The body is UTF-16; save it as UTF-8.",
    ],
    [
      latin1("<\0p\0"),
      "400 1:1 The body is UTF-16; save it as UTF-8.",
    ],
    [
      latin1("\xff\xfe\0\0<\0\0\0"),
      "400 1:1 The body is UTF-32; save it as UTF-8.",
    ],
    [
      "\n<?xml version='1.0'?><products/>",
      "400 2:1 An XML declaration (<?xml …) is allowed only at the very start of " +
      "the document; remove what precedes it, or the declaration.",
    ],
    [
      latin1("\x1f\x8b\x08"),
      "400 1:1 The body is gzip; compress it once, and send the header " +
      "Content-Encoding: gzip.",
    ],
    [
      `${head}<title>\u{1f600} Cups & saucers</title>`,
      '400 3:17 Unescaped "&": write "&amp;".',
    ],
    [
      `${head}<images><image alt="a&b">`,
      '400 3:24 Unescaped "&": write "&amp;".',
    ],
    [
      `${head}<title>a&nbsp;b</title>`,
      '400 3:11 XML knows no "&nbsp;": write the character itself or its ' +
      'number, as in "&#160;".',
    ],
  ];
  for (const [body, expected] of bodies) {
    assertEquals(
      told(await app.call(BULK, { method: "POST", body })),
      expected,
    );
  }
  const types: [string, string][] = [
    ["text/json", '"text/json"; send XML, as text/xml or'],
    ["text/xml; charset=iso-8859-1", "save the document as UTF-8"],
    ["text/xml; charset = iso-8859-1", "save the document as UTF-8"],
  ];
  for (const [type, expected] of types) {
    const headers = { "Content-Type": type };
    const answer = await app.call(BULK, { method: "POST", body: "x", headers });
    assertEquals(answer.status, 415);
    assertStringIncludes(told(answer), expected);
  }
});

bothForms.test("fields named as in other systems and prices as people write them are explained", async () => {
  await using app = await boot();
  const fields: [string, string][] = [
    [
      "<stock>5</stock>",
      "<stock> is not known here; it is called <quantity>.",
    ],
    [
      "<Product_Name>x</Product_Name>",
      "it is called <title>, which a new product needs.",
    ],
    ["<image>x</image>", "write <images><image>…</image></images>."],
    [
      "<sale_price_effective_date>x</sale_price_effective_date>",
      "a sale is <sale>, with <price>, <from> and <until>.",
    ],
    ["<special-price>x</special-price>", "a sale is <sale>, with"],
    [
      "<variants>x</variants>",
      "send each variant as a separate product, all with the same <parent_sku>.",
    ],
    [
      "<SKU>x</SKU>",
      "the nearest known name is <sku>, which a new product needs.",
    ],
    [
      "<titel>x</titel>",
      "the nearest known name is <title>, which a new product needs.",
    ],
    [
      "<colour>x</colour>",
      '<colour> is not known here; a property of the product is an attribute: write <attributes><attribute name="colour">…</attribute></attributes>.',
    ],
    [
      "<attributes><attribut>x</attribut></attributes>",
      "the known name is <attribute>.",
    ],
    [
      '<images><image source="x">y</image></images>',
      '"source" is not known here; the known name is alt.',
    ],
    [
      '<price currency="SEK">12,50</price>',
      'price is "12,50"; write "12.50": digits and a point alone.',
    ],
  ];
  for (const [field, expected] of fields) {
    const answer = await app.upload(
      `<product><id>01a1f8b2-023a-7c4e-bb79-6b7fea93e19d</id>${field}</product>`,
    );
    assertStringIncludes(told(answer), expected);
  }
  await app.upload(
    `<product><sku>A</sku><title>T</title><price currency="SEK">1</price>` +
      "<quantity>1</quantity></product>",
  );
  const stock = await app.call("/seller_api/products/A/attribute/stock/5", {
    method: "PUT",
  });
  assertStringIncludes(told(stock), "It is called quantity.");
});

bothForms.test("a misspelt element is reported once, and not also as missing", async () => {
  await using app = await boot();
  const unknown = (sent: string, rest: string) =>
    `422 1: The element <${sent}> is not known here; ${rest}`;
  for (
    const [field, sent, message] of [
      [
        "sku",
        "skuu",
        "the nearest known name is <sku>, which a new product needs.",
      ],
      ["title", "Name", "it is called <title>, which a new product needs."],
      [
        "price",
        "prise",
        "the nearest known name is <price>, which a new product needs.",
      ],
      ["quantity", "stock", "it is called <quantity>."],
    ]
  ) {
    const answer = await app.upload(
      product("A").replaceAll(new RegExp(`(</?)${field}`, "g"), `$1${sent}`),
    );
    assertEquals(told(answer), unknown(sent, message));
  }
  const other = product("A").replace(
    /<quantity>.*<.quantity>/,
    "<availabilty>in_stock</availabilty>",
  );
  assertEquals(
    told(await app.upload(other)),
    unknown("availabilty", "the nearest known name is <availability>."),
  );
  const both = await app.upload(product("A", "<titel>x</titel>"));
  assertEquals(
    told(both),
    unknown("titel", "the nearest known name is <title>."),
  );
});

Deno.test("the message for an unknown SKU says so, in XML and in JSON", async () => {
  await using app = await boot();
  const xml = await app.upload(
    '<product><sku>MGU-1</sku><price currency="SEK">1</price></product>',
  );
  assertEquals(
    told(xml),
    "422 1: title is missing; no product has this SKU, and a new one needs " +
      "<title>.\n422 1: quantity is missing; no product has this SKU, and a " +
      "new one needs <quantity> or <availability>.",
  );
  const json = await app.call(BULK, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/xml" },
    body: '{"products": [{"sku": "MGU-1", "quantity": 1}]}',
  });
  assertStringIncludes(
    told(json),
    'title is missing; no product has this SKU, and a new one needs "title".',
  );
});

bothForms.test("the 404 for a misspelt path suggests the right path", async () => {
  await using app = await boot();
  const paths: [string, string | null][] = [
    ["/seller_apibulk_products", BULK],
    [`${BULK}/`, BULK],
    [`/${BULK}`, BULK],
    ["/Seller-API/bulkProducts", BULK],
    ["/seller_api/bulk_product", BULK],
    [
      "/seller_api/products/A-1attribute/price/5",
      "/seller_api/products/:sku_or_id/attribute/:attribute/:value",
    ],
    ["/seller_api/products/A/B", "/seller_api/products/:sku_or_id"],
    ["/seller_api/orders", null],
    [`/${"x".repeat(500)}`, null],
  ];
  for (const [path, meant] of paths) {
    assertEquals(
      told(await app.call(path)),
      meant === null
        ? "404 There is nothing at this path."
        : `404 There is nothing at this path; did you mean ${meant}?`,
    );
  }
});

bothForms.test("a 429 names both the burst and the rate", async () => {
  const clock = new TestClock();
  await using app = await boot({ deps: { clock }, config: { rateLimit: 30 } });
  let answer = await app.call("/seller_api/webhooks");
  for (let i = 0; i < 3; i++) answer = await app.call("/seller_api/webhooks");
  assertEquals(
    told(answer),
    "429 Too many requests: 3 are allowed at once, and 30 a minute. Send the " +
      "next one in 2 s.",
  );
});

bothForms.test("the message of a 429 with a burst of one is in the singular", async () => {
  const clock = new TestClock();
  await using app = await boot({ deps: { clock }, config: { rateLimit: 10 } });
  await app.call("/seller_api/webhooks");
  assertEquals(
    told(await app.call("/seller_api/webhooks")),
    "429 Too many requests: 1 is allowed at once, and 10 a minute. Send the " +
      "next one in 6 s.",
  );
});

bothForms.test("the message for an image URL that is not requested says why", async () => {
  await using app = await boot({ config: { allowPrivate: [] } });
  const answer = await app.upload(
    `<product><sku>A</sku><title>T</title><price currency="SEK">1</price>` +
      "<quantity>1</quantity><images>" +
      "<image>https://nowhere.invalid/a.png</image>" +
      "<image>https://10.0.0.1/a.png</image></images></product>",
  );
  assertEquals(detailsOf(answer).map(({ code }) => code), [
    "unresolved",
    "image_blocked",
  ]);
  assertEquals(
    told(answer),
    "422 1: HEAD https://nowhere.invalid/a.png was not sent: The host name " +
      "nowhere.invalid does not resolve to an address.\n" +
      "422 1: HEAD https://10.0.0.1/a.png was not sent: 10.0.0.1 is not an " +
      "address on the public internet; the URL must lead to a public host.",
  );
});

bothForms.test("the message for a missing or misspelt parameter says what to write", async () => {
  await using app = await boot();
  await app.upload(product("A"));
  const requests: [string, string, string][] = [
    [
      "POST",
      "webhooks/order_created/recover",
      "422 since is missing; it must be a date, or a time with its zone",
    ],
    [
      "GET",
      "refusals?since=2026-11-25%2014:00",
      '422 since is "2026-11-25 14:00", without a zone; write ' +
      '"2026-11-25T14:00Z" for UTC',
    ],
    [
      "GET",
      "refusals?until=2026-11-25T14:00:30.5",
      'without a zone; write "2026-11-25T14:00:30.5Z" for UTC',
    ],
    [
      "GET",
      "refusals?since=2026-02-30%2014:00",
      "or a time with its zone, that exists",
    ],
    [
      "GET",
      "refusals?since=2026-02-30",
      "or a time with its zone, that exists",
    ],
    [
      "GET",
      "products/A/history",
      "422 attribute is missing; it must be price.",
    ],
    [
      "GET",
      "refusals?route=bulk_products",
      'it must be method and path as <route> has them, as in "POST ',
    ],
    [
      "PUT",
      "products/A/attribute/description/x",
      "An upload, POST /seller_api/bulk_products, changes it.",
    ],
  ];
  for (const [method, path, expected] of requests) {
    const answer = await app.call(`/seller_api/${path}`, { method });
    assertStringIncludes(told(answer), expected);
  }
});

bothForms.test("details of one line are in the order of the products", async () => {
  await using app = await boot();
  const sku = "<sku>A</sku>";
  const answer = await app.upload(
    `<product>${sku}<title>x</title><quantity>1</quantity></product>` +
      `<product>${sku}<titel/></product><product>${sku}</product>`,
  );
  assertEquals(detailsOf(answer).map(({ product, code }) => [product, code]), [
    ["1", "required"],
    ["2", "unknown_element"],
    ["2", "required"],
    ["2", "required"],
    ["2", "duplicate_sku"],
    ["3", "required"],
    ["3", "required"],
    ["3", "required"],
    ["3", "duplicate_sku"],
  ]);
});
