/** Requests with invalid JSON: the problems in the answer, and their places. */
import { assertEquals, assertMatch } from "@std/assert";
import { boot, type TestApp } from "../support/app.ts";
import { Host } from "../support/host.ts";

const JSON_TYPE = "application/json";

interface ErrorAnswer {
  error: {
    code: string;
    message: string;
    details?: {
      line: number;
      pointer?: string;
      code: string;
      message: string;
    }[];
  };
}

function post(
  app: TestApp,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${app.url}/seller_api/bulk_products?v=1.1`, {
    method: "POST",
    body,
    headers: {
      "X-Service-Auth": app.key,
      "Content-Type": JSON_TYPE,
      Accept: JSON_TYPE,
      ...headers,
    },
  });
}

/**
 * A document whose product has these members, which replace or precede the
 * required ones. Each member stands in a line of its own, from the third on.
 */
function documentOf(members: Record<string, string>): string {
  const required = {
    sku: '"A"',
    title: '"T"',
    price: '{"amount": "1", "currency": "SEK"}',
    quantity: "1",
  };
  const lines = Object.entries({ ...members, ...required, ...members })
    .map(([name, value]) => `"${name}": ${value}`);
  return `{"products": [{\n\n${lines.join(",\n")}}]}`;
}

/** The problems of a refused document, as `pointer line code`. */
async function problemsOf(response: Response): Promise<string[]> {
  const { error }: ErrorAnswer = await response.json();
  return [
    `${response.status} ${error.code}`,
    ...(error.details ?? []).map(({ pointer = "-", line, code }) =>
      `${pointer} ${line} ${code}`
    ),
  ];
}

const VALUES = {
  "an object": '{"a": 1}',
  "an array": "[1]",
  "a boolean": "true",
  "a number": "5",
};

/** The type that each field accepts, other than null. */
const FIELDS: Readonly<Record<string, keyof typeof VALUES | "a string">> = {
  id: "a string",
  sku: "a string",
  title: "a string",
  description: "a string",
  price: "an object",
  compare_at_price: "a string",
  vat_rate: "a string",
  quantity: "a number",
  availability: "a string",
  available_at: "a string",
  gtin: "a string",
  brand: "a string",
  mpn: "a string",
  weight: "an object",
  condition: "a string",
  status: "a string",
  parent_sku: "a string",
  categories: "an array",
  attributes: "an array",
  images: "an array",
};

Deno.test("a value of the wrong type is refused with its place, in every field", async () => {
  await using app = await boot();
  for (const [field, accepted] of Object.entries(FIELDS)) {
    for (const [kind, value] of Object.entries(VALUES)) {
      // A quantity may also be an object.
      if (kind === accepted || (field === "quantity" && kind === "an object")) {
        continue;
      }
      const document = documentOf({ [field]: value });
      assertEquals(
        await problemsOf(await post(app, document)),
        ["422 record_invalid", `/products/0/${field} 3 wrong_type`],
        `${field}: ${kind}`,
      );
    }
  }
});

Deno.test("a value of the wrong type within a field is refused with its place", async () => {
  await using app = await boot();
  for (
    const [field, value, pointer, message] of [
      [
        "price",
        '{"amount": 1.5, "currency": "SEK"}',
        "/amount",
        /a number; it must be a string: write it in quotation marks/,
      ],
      [
        "price",
        '{"amount": [], "currency": "SEK"}',
        "/amount",
        /an array; it must be a string/,
      ],
      [
        "price",
        '{"amount": "1", "currency": 1}',
        "/currency",
        /a number; it must be a string/,
      ],
      [
        "price",
        '"79,00"',
        "",
        /an object; write {"amount": "…", "currency": "SEK"}\.$/,
      ],
      ["weight", "350", "", /an object; write {"value": …, "unit": "g"}\.$/],
      [
        "attributes",
        '{"colour": "blue"}',
        "",
        /an array; write \[{"value": "…", "name": "…"}\]\.$/,
      ],
      ["images", '"x"', "", /an array; write \[{"url": "…"}\]\.$/],
      ["categories", "{}", "", /an array; write \["…"\]\.$/],
      [
        "weight",
        '{"value": {}, "unit": "g"}',
        "/value",
        /an object; it must be a number/,
      ],
      ["categories", '["a", 1]', "/1", /a number; it must be a string/],
      [
        "attributes",
        '[{"name": "a", "value": 1}]',
        "/0/value",
        /a number; it must be a string/,
      ],
      [
        "images",
        '["https://a.example/1.png"]',
        "/0",
        /^images.image\[1\] is a string; it must be an object; write {"url": "…"}\.$/,
      ],
      [
        "images",
        '[{"url": null}, {"url": 1}]',
        "/1/url",
        /a number; it must be a string/,
      ],
    ] as const
  ) {
    const { error }: ErrorAnswer =
      await (await post(app, documentOf({ [field]: value }))).json();
    const found = error.details!
      .find(({ pointer: at }) => at === `/products/0/${field}${pointer}`);
    assertEquals(
      [found?.code, found?.line],
      ["wrong_type", 3],
      JSON.stringify(error),
    );
    assertMatch(found!.message, message);
  }
});

Deno.test("the message for an unknown name lists the known ones, including those of its value", async () => {
  await using app = await boot();
  for (
    const [field, value, known] of [
      [
        "price",
        '{"value": "149", "currency": "SEK"}',
        /; the known names are amount, currency, expected\.$/,
      ],
      [
        "price",
        '{"amout": "149", "currency": "SEK"}',
        /; the nearest known name is amount\.$/,
      ],
      ["quantity", '{"is": 3}', /; the known names are value, expected\.$/],
      ["images", '[{"src": "x"}]', /; the known names are url, alt\.$/],
    ] as const
  ) {
    const { error }: ErrorAnswer =
      await (await post(app, documentOf({ [field]: value }))).json();
    const found = error.details!
      .find(({ code }) => code === "unknown_attribute");
    assertMatch(found!.message, known, JSON.stringify(error));
  }
});

const VALID = documentOf({});
const LARGE = 1_500_000;

/** Documents by their mistake: the body, then the status and problems. */
const DOCUMENTS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  nothing: ["", "400 malformed_json", "- 1 syntax"],
  "white space alone": [" ".repeat(LARGE), "400 malformed_json", "- 1 syntax"],
  XML: ["<products/>", "400 malformed_json", "- 1 syntax"],
  "a name twice": [
    VALID.replace('"title"', '"sku"'),
    "400 malformed_json",
    "- 4 syntax",
  ],
  "a name twice, once escaped": [
    VALID.replace('"title"', '"\\u0073ku"'),
    "400 malformed_json",
    "- 4 syntax",
  ],
  "an unknown name twice": [
    documentOf({ x: '{"a": 1,\n"a": 1}' }),
    "400 malformed_json",
    "- 4 syntax",
  ],
  "text after the end": [`${VALID}\n{}`, "400 malformed_json", "- 7 syntax"],
  "a NUL after the end": [`${VALID}\0`, "400 malformed_json", "- 6 syntax"],
  "a NUL in a string": [
    documentOf({ brand: '"\0"' }),
    "400 malformed_json",
    "- 3 syntax",
  ],
  "an escaped NUL": [
    documentOf({ brand: '"\\u0000"' }),
    "400 malformed_json",
    "- 3 syntax",
  ],
  "half a surrogate pair": [
    documentOf({ brand: '"\\ud83d x"' }),
    "400 malformed_json",
    "- 3 syntax",
  ],
  "2^53 + 1": [
    documentOf({ quantity: "9007199254740993" }),
    "400 malformed_json",
    "- 3 syntax",
  ],
  "1e400": [
    documentOf({ quantity: "1e400" }),
    "400 malformed_json",
    "- 3 syntax",
  ],
  "2^53 - 1": [
    documentOf({ quantity: "9007199254740991" }),
    "422 record_invalid",
    "/products/0/quantity 3 out_of_range",
  ],
  "a fraction": [
    documentOf({ quantity: "1.5" }),
    "422 record_invalid",
    "/products/0/quantity 3 not_a_number",
  ],
  "a depth of 33": [
    documentOf({ x: "[".repeat(30) + "]".repeat(30) }),
    "400 malformed_json",
    "- 3 limit",
  ],
  "a depth of 32": [
    documentOf({ x: "[".repeat(29) + "]".repeat(29) }),
    "422 record_invalid",
    "/products/0/x 3 unknown_element",
  ],
  "no array": [
    '{"products": {}}',
    "422 record_invalid",
    "/products 1 wrong_type",
  ],
  "no list": ["{}", "422 record_invalid", "/products 1 required"],
  "an array alone": ["[]", "422 record_invalid", " 1 wrong_type"],
  "a product alone": [
    '{"product": {"sku": "A"}}',
    "422 record_invalid",
    "/product 1 unknown_element",
  ],
  "no objects": [
    '{"products": [1,\n"x",\n[{}]]}',
    "422 record_invalid",
    "/products/0 1 wrong_type",
    "/products/1 2 wrong_type",
    "/products/2 3 wrong_type",
  ],
  "names of JavaScript": [
    documentOf({ __proto__: "{}", constructor: "1" }),
    "422 record_invalid",
    "/products/0/constructor 3 unknown_element",
  ],
  "names that a pointer escapes, or that are empty": [
    documentOf({ "price/@currency": "1", "": "1" }),
    "422 record_invalid",
    "/products/0/price~1@currency 3 unknown_element",
    "/products/0/ 4 unknown_element",
  ],
  "a long text": [
    documentOf({ description: `"${"x".repeat(LARGE)}"` }),
    "422 record_invalid",
    "/products/0/description 3 too_long",
  ],
  "a long text of escapes": [
    documentOf({ description: `"${"\\ud83d\\ude00\\n\\\\".repeat(90_000)}"` }),
    "422 record_invalid",
    "/products/0/description 3 too_long",
  ],
  "a long name": [
    documentOf({ ["x".repeat(LARGE)]: "1" }),
    "400 malformed_json",
    "- 3 limit",
  ],
  "a long number": [
    documentOf({ quantity: "1".repeat(LARGE) }),
    "400 malformed_json",
    "- 3 limit",
  ],
  "many values": [
    documentOf({ x: `[${"0,".repeat(50_000)}0]` }),
    "400 malformed_json",
    "- 3 limit",
  ],
  "too many bytes": [" ".repeat(2_000_001), "413 body_too_large"],
};

for (const [name, [body, ...expected]] of Object.entries(DOCUMENTS)) {
  Deno.test(`JSON is refused with its place: ${name}`, async () => {
    await using app = await boot({ config: { bodyLimit: 2_000_000 } });
    assertEquals(await problemsOf(await post(app, body)), expected);
  });
}

Deno.test("JSON is accepted with a byte order mark, a charset, compression, and every form of whole numbers", async () => {
  await using app = await boot();
  const packed = new Blob([VALID]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  const answers = [
    await post(app, `\ufeff${VALID}`),
    await post(app, VALID, {
      "Content-Type": "Application/JSON; charset=utf-8",
    }),
    await post(app, await new Response(packed).bytes(), {
      "Content-Encoding": "gzip",
    }),
    await post(app, documentOf({ quantity: "2.0" })),
    await post(app, documentOf({ quantity: "-0" })),
    await post(app, documentOf({ quantity: "1e2" })),
    await post(app, documentOf({ quantity: '"7"' })),
  ];
  for (const answer of answers) {
    assertEquals(answer.status, 200, await answer.text());
  }
  const { text } = await app.call("/seller_api/products/A");
  assertMatch(text, /<quantity>7<\/quantity>/);
  const other = await post(app, VALID, {
    "Content-Type": `${JSON_TYPE}; charset=iso-8859-1`,
  });
  assertEquals(await problemsOf(other), ["415 unsupported_media_type"]);
});

Deno.test("null clears each list of a product and each optional field", async () => {
  await using app = await boot();
  await using host = new Host(() => new Response());
  const images = [{ url: `${host.url}/1.png`, alt: "front" }];
  const lists = {
    categories: ["a", "b"],
    attributes: [{ name: "color", value: "Blue" }],
    images,
  };
  const more = { brand: "B", weight: { value: 350, unit: "g" } };
  const stored = async () => {
    const { products: [product] } = await (await fetch(
      `${app.url}/seller_api/products`,
      { headers: { "X-Service-Auth": app.key, Accept: JSON_TYPE } },
    )).json();
    const { categories, attributes, images, brand = null, weight = null } =
      product;
    return [categories, attributes, images.length, brand, weight];
  };
  const send = async (product: Record<string, unknown>) => {
    const answer = await post(
      app,
      JSON.stringify({ products: [{ sku: "A", ...product }] }),
    );
    assertEquals(answer.status, 200, await answer.text());
  };
  const price = { amount: "1", currency: "SEK" };
  await send({ title: "T", price, quantity: 1, ...lists, ...more });
  assertEquals(
    await stored(),
    [lists.categories, lists.attributes, 1, more.brand, more.weight],
  );
  const names = Object.keys({ ...lists, ...more });
  await send(Object.fromEntries(names.map((name) => [name, null])));
  assertEquals(await stored(), [[], [], 0, null, null]);
});

Deno.test("messages about JSON name members, not elements", async () => {
  await using app = await boot();
  const { error }: ErrorAnswer = await (await post(app, '{"products": [{}]}'))
    .json();
  const messages = error.details!.map(({ message }) => message);
  assertEquals(messages.length, 4);
  for (const message of messages) assertEquals(/[<>]/.test(message), false);
  assertMatch(messages.join(), /a new product needs "title"/);
  const written = documentOf({ "price/@currency": "1" });
  assertMatch(
    await (await post(app, written)).text(),
    /The name \\"price\/@currency\\" is not known/,
  );
});

Deno.test("the message about a small document says what its form must be", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const reported = async (body: string, path = "/seller_api/webhooks") => {
    const answer = await app.call(path, {
      method: "POST",
      key: path.startsWith("/operator_api") ? "op" : app.key,
      body,
      headers: { "Content-Type": JSON_TYPE, Accept: JSON_TYPE },
    });
    const { error }: ErrorAnswer = JSON.parse(answer.text);
    const [{ pointer, message }] = error.details!;
    return `${pointer} ${message}`;
  };
  assertEquals(
    await reported('{"webhook": {"trigger": "order_paid"}}'),
    '/webhook "webhook" encloses the document; send only its content.',
  );
  assertEquals(
    await reported('{"triger": "order_paid"}'),
    '/triger "triger" is not known here; did you mean "trigger"?',
  );
  assertEquals(
    await reported('"x"'),
    " The document is a string; it must be an object.",
  );
  assertEquals(
    await reported("[]", "/operator_api/reviews"),
    ' The document is an array; it must be {"reviews": […]}.',
  );
  assertEquals(
    await reported("{}", "/operator_api/reviews"),
    "/reviews reviews is missing; it must be an array.",
  );
});

Deno.test("a message about a sale says that null ends the sale in JSON", async () => {
  await using app = await boot();
  const reported = async (members: string) => {
    const answer = await app.call("/seller_api/bulk_products?v=1.1", {
      method: "POST",
      body: `{"products": [{"sku": "A", "title": "T", "quantity": 1,
        "price": {"amount": "149", "currency": "SEK"}, ${members}}]}`,
      headers: { "Content-Type": JSON_TYPE, Accept: JSON_TYPE },
    });
    const { error }: ErrorAnswer = JSON.parse(answer.text);
    return error.details![0].message;
  };
  assertEquals(
    await reported('"sale": {"price": "99"}'),
    'sale/until is missing; a sale needs "price" and "until", and ' +
      '"sale": null ends it.',
  );
});

Deno.test("the message for an unknown member of categories lists the known ones", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const reported = async (body: string) => {
    const answer = await app.call("/operator_api/categories?dry_run=true", {
      method: "PUT",
      key: "op",
      body,
      headers: { "Content-Type": JSON_TYPE, Accept: JSON_TYPE },
    });
    const { error }: ErrorAnswer = JSON.parse(answer.text);
    const [{ pointer, message }] = error.details!;
    return `${pointer} ${message}`;
  };
  assertEquals(
    await reported('{"categories": {"closed": true, "category": []}}'),
    "/categories categories encloses the document; send only its content.",
  );
  const rule = (members: string) =>
    reported(`{"category": [{"name": "A", "rule": [{${members}}]}]}`);
  assertEquals(
    await rule('"field": "gtin", "requird": true'),
    "/category/0/rule/0/requird category[1]/rule[1]/requird is not known " +
      'here; did you mean "required"?',
  );
  assertEquals(
    await rule('"field": "gtin", "required": true, "must": 1'),
    "/category/0/rule/0/must category[1]/rule[1]/must is not known here; " +
      "the known names are field, attribute, required, from, value.",
  );
});

Deno.test("a member product beside products is refused in imports and uploads", async () => {
  await using app = await boot();
  const call = async (path: string, init?: RequestInit) => {
    const headers = {
      "X-Service-Auth": app.key,
      "Content-Type": JSON_TYPE,
      Accept: JSON_TYPE,
    };
    return (await fetch(app.url + path, { ...init, headers })).json();
  };
  for (
    const body of [
      '{"product":{"sku":"A","title":"t"}}',
      `{"product":null,${VALID.slice(1)}`,
    ]
  ) {
    const uploaded: ErrorAnswer = await (await post(app, body)).json();
    const details = uploaded.error.details!;
    assertEquals(
      details[0].message,
      'The name "product" is not known here; the known name is "products".',
    );
    const begun = await call("/seller_api/imports?v=1.1", {
      method: "POST",
      body,
    });
    if (begun.error !== undefined) {
      assertEquals(begun.error.details, details);
      continue;
    }
    const record = await call(
      `/seller_api/imports/${begun.import_id}?wait=30`,
    );
    assertEquals(record.import.status, "refused");
    assertEquals(record.import.problems, details);
  }
});
