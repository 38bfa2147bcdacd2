/** The published contracts agree with the code. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { type AnswerName, ANSWERS } from "../../src/contracts/answers.ts";
import { REFERENCE_PAGES } from "../../src/contracts/docs.ts";
import { headingId } from "../../src/docs/markdown.ts";
import {
  ANSWER_EXAMPLES,
  CATEGORIES_EXAMPLE,
  CONTACT_EXAMPLE,
  EVENT_EXAMPLE,
  KEY_EXAMPLE,
  MAPPING_EXAMPLE,
  PRODUCTS_EXAMPLE,
  REASONS_EXAMPLE,
  SELLER_EXAMPLE,
  WEBHOOK_EXAMPLE,
} from "../../src/contracts/examples.ts";
import { openApi } from "../../src/contracts/openapi.ts";
import { DETAIL_CODES, ERRORS } from "../../src/lib/errors.ts";
import { SCALARS } from "../../src/catalogue/fields.ts";
import { xmlOfData } from "../../src/webhooks/event.ts";
import { TRIGGER_EXAMPLES, TRIGGERS } from "../../src/webhooks/trigger.ts";
import { picture } from "../../src/sandbox/pictures.ts";
import { ENDPOINTS, ROUTES } from "../../src/http/routes.ts";
import { IDEMPOTENCY_KEY } from "../../src/http/server/parameters.ts";
import { type Answer, boot, product, textAt } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { validateProducts, validateResponse } from "../support/schemas.ts";
import { bothForms } from "../support/forms.ts";

const SCHEMAS = "/seller_api/schemas";

Deno.test("every route is documented except those only for browsers and people", () => {
  const undocumented = ROUTES.filter(({ documentation }) => !documentation);
  assertEquals(
    undocumented.map(({ path }) => path),
    [
      "/docs/files/:file",
      "/llms.txt",
      "/",
      "/assets/:version/:name",
      "/docs.css",
      "/notices/:seller/:signature",
      "/notices/:seller/:signature",
      "/notices/:seller/:signature/again",
      "/.well-known/security.txt",
    ],
  );
  const names = ENDPOINTS.map(({ operation }) => operation);
  assertEquals(new Set(names).size, names.length, "operations are unique");
});

Deno.test("every example is valid, and every kind of answer has one", () => {
  assertEquals(Object.keys(ANSWER_EXAMPLES), Object.keys(ANSWERS));
  for (const [name, example] of Object.entries(ANSWER_EXAMPLES)) {
    assertEquals(validateResponse(example), null, name);
  }
  for (const { example, title } of ENDPOINTS) {
    if (example !== undefined) {
      assertEquals(validateResponse(example), null, title);
    }
  }
  assertEquals(validateProducts(PRODUCTS_EXAMPLE), null);
  for (
    const wrong of [
      "<service><transaction_id>1</transaction_id></service>",
      "<service><success>yes</success></service>",
      "<service><unknown/></service>",
      "<services/>",
      ANSWER_EXAMPLES.transaction.replace("<progress>", "<progress>x"),
      ANSWER_EXAMPLES.error.replace("image_unavailable", "unheard_of"),
      ANSWER_EXAMPLES.sellers.replace("<keys>1</keys>", ""),
    ]
  ) {
    assert(validateResponse(wrong) !== null, wrong);
  }
});

bothForms.test("the examples of requests are accepted", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { operatorKey: "op" } });
  await app.upload(product("MUG-2"));
  const products = PRODUCTS_EXAMPLE
    .replace("https://cdn.example/mug.png", `${host.url}/good/mug.png`);
  const uploaded = await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    body: products,
  });
  assertEquals(uploaded.status, 200, uploaded.text);
  const webhook = await app.call("/seller_api/webhooks", {
    method: "POST",
    body: WEBHOOK_EXAMPLE.replace("https://seller.example", host.url),
  });
  assertEquals(webhook.status, 200, webhook.text);
  const event = await app.call("/operator_api/events", {
    method: "POST",
    key: "op",
    body: EVENT_EXAMPLE,
  });
  assertEquals(event.status, 200, event.text);
});

bothForms.test("the example of each trigger is accepted, and delivered as it is", async () => {
  await using app = await boot({ config: { operatorKey: "op" } });
  const operator = app.operator({ key: "op" });
  for (const trigger of TRIGGERS) {
    const { data } = TRIGGER_EXAMPLES[trigger];
    await operator.events.create({
      event: { seller: "acme", trigger, reference: "1", data },
    });
  }
  const { events } = await app.client().events.list();
  assertEquals(
    events.map(({ trigger, data }) => [trigger, data]),
    TRIGGERS.map((trigger) => [trigger, TRIGGER_EXAMPLES[trigger].data]),
  );
});

Deno.test("the example of a trigger in JSON is the one in XML", () => {
  const both = TRIGGERS.map((trigger) => TRIGGER_EXAMPLES[trigger])
    .filter((example) => "json" in example);
  assertEquals(
    both.map(({ json }) => xmlOfData(JSON.stringify(json))),
    both.map(({ data }) => data),
  );
});

bothForms.test("every kind of answer of the running service is valid", async () => {
  await using host = new ImageHost();
  await using app = await boot({
    config: { operatorKey: "op", roles: ["api", "images", "webhooks"] },
  });
  const seen: Record<string, Answer[]> = {};
  const note = (kind: AnswerName, answer: Answer) => {
    (seen[kind] ??= []).push(answer);
    return answer;
  };
  const get = async (
    kind: AnswerName,
    path: string,
    key: string | null = app.key,
  ) => note(kind, await app.call(path, { key }));
  const post = async (
    kind: AnswerName,
    path: string,
    body = "",
    key = app.key,
  ) => note(kind, await app.call(path, { method: "POST", body, key }));

  const image = (path: string) => `<image alt="x">${host.url}${path}</image>`;
  const document = product(
    "A",
    `<description>\r x</description><images>${image("/good/a.png")}${
      image("/missing/b.png")
    }${image("/hang/c.png")}</images>`,
  );
  note("dry_run", await app.upload(document, "&dry_run=true"));
  const uploaded = note("upload", await app.upload(document));
  const id = textAt(uploaded.xml, "transaction_id");
  await get("transaction", `/seller_api/bulk_products/${id}`);
  await get("product", "/seller_api/products/A");
  await get("account", "/seller_api/account");
  host.release();
  await get("transaction", `/seller_api/bulk_products/${id}?wait=10`);
  await post("images_retry", `/seller_api/bulk_products/${id}/images/retry`);
  await app.upload(product("B"));
  const created = await app.upload(product("C") + product("D"));
  const path = `/seller_api/bulk_products/${
    textAt(created.xml, "transaction_id")
  }/undo`;
  await app.call("/seller_api/products/D/attribute/quantity/9", {
    method: "PUT",
  });
  await post("undo_dry_run", `${path}?dry_run=true`);
  const undone = await post("upload", `${path}?changed=keep`);
  const undoing = textAt(undone.xml, "transaction_id");
  await get("transaction", `/seller_api/bulk_products/${undoing}`);
  await get("products", "/operator_api/products", "op");
  await get("transactions", "/seller_api/bulk_products?limit=1");
  await get("product", "/seller_api/products/A");
  await get("products", "/seller_api/products?limit=1");
  await get("products", "/seller_api/products?q=none");

  const begun = await post(
    "import_begun",
    "/seller_api/imports?accept=valid&name=file",
    `<products>${product("E")}<product/></products>`,
  );
  const imported = `/seller_api/imports/${textAt(begun.xml, "import_id")}`;
  await get("import", `${imported}?wait=10`);
  await get("import_results", `${imported}/results?limit=1`);
  await get("imports", "/seller_api/imports");
  await post("import_images_retry", `${imported}/images/retry`);

  note(
    "image",
    await app.call("/seller_api/images", {
      method: "POST",
      body: picture("a.png")!,
    }),
  );

  const hooks = "/seller_api/webhooks";
  await get("webhooks", hooks);
  for (const trigger of ["order_created", "order_paid"]) {
    const url = `${host.url}/hook`;
    await post(
      "success",
      hooks,
      `<webhook><trigger>${trigger}</trigger><url>${url}</url></webhook>`,
    );
  }
  await app.app.db.write((tx) =>
    tx.run(
      "UPDATE webhooks SET disabled_at = 5, failing_since = 4, failures = 9 WHERE trigger_name = 'order_paid'",
      [],
      "any",
    )
  );
  await get("webhooks", hooks);
  await post("webhook_secret", `${hooks}/order_created/rotate_secret`);
  await get("events", "/seller_api/events");
  await post("recovery", `${hooks}/order_created/recover?since=2026-01-01`);
  const tried = await post("delivery", `${hooks}/order_created/test`);
  const delivery = textAt(tried.xml, "delivery/id");
  await get("deliveries", `${hooks}/order_created/deliveries`);
  await post(
    "delivery",
    `${hooks}/order_created/deliveries/${delivery}/replay`,
  );
  await get("deliveries", `${hooks}/order_created/deliveries?limit=1`);
  const event = (trigger: string) =>
    `<event><seller>acme</seller><trigger>${trigger}</trigger>` +
    `<reference>${trigger}</reference></event>`;
  for (const trigger of ["order_created", "payout_paid"]) {
    await post("event", "/operator_api/events", event(trigger), "op");
  }
  await get("followed_products", "/operator_api/products?limit=1", "op");
  await get("sellers", "/operator_api/sellers", "op");
  await get("database", "/operator_api/database", "op");
  await post(
    "new_seller",
    "/operator_api/sellers",
    SELLER_EXAMPLE.replace("acme", "globex"),
    "op",
  );
  await post(
    "new_key",
    "/operator_api/sellers/acme/keys",
    KEY_EXAMPLE,
    "op",
  );
  await get("keys", "/operator_api/sellers/acme/keys", "op");
  await app.call("/seller_api/bulk_products?v=2");
  await app.upload(product("A", "<x/>"));
  await get("refusals", "/seller_api/refusals");
  await get("refusals", "/operator_api/refusals?seller=acme&limit=1", "op");
  await app.call("/seller_api/mappings/a", {
    method: "PUT",
    body: MAPPING_EXAMPLE,
  });
  for (const name of ["a", "b"]) {
    await app.call(`/seller_api/contacts/${name}`, {
      method: "PUT",
      body: CONTACT_EXAMPLE,
    });
  }
  await app.upload(
    product("N", "<manufacturer>a</manufacturer><safety_text>x</safety_text>"),
  );
  await app.call("/seller_api/contacts/b", { method: "DELETE" });
  await get("contact", "/seller_api/contacts/a");
  await get("contacts", "/seller_api/contacts");
  await get("contact_changes", "/operator_api/contacts", "op");
  await get("followed_products", "/operator_api/products", "op");
  await get("mapping", "/seller_api/mappings/a");
  await get("mappings", "/seller_api/mappings");
  await app.call("/operator_api/sellers/acme/attribute/review/changes", {
    method: "PUT",
    key: "op",
  });
  await app.upload(
    product("A", "<categories><category>a</category></categories>") +
      product("R", "<brand>b</brand>"),
  );
  await app.call("/seller_api/products/A/attribute/title/Other", {
    method: "PUT",
  });
  await app.call("/seller_api/products/A/attribute/price/9", {
    method: "PUT",
  });
  await get("product", "/seller_api/products/A");
  await get("changes", "/seller_api/products/A/history?attribute=price");
  const queue = await get("reviews", "/operator_api/reviews", "op");
  await get("reviews", "/operator_api/reviews?limit=1", "op");
  const reviewed = textAt(queue.xml, "reviews/product/id");
  await post(
    "success",
    "/operator_api/reviews",
    `<reviews><review><product>${reviewed}</product>` +
      "<decision>rejected</decision><code>c</code></review></reviews>",
    "op",
  );
  await get("products", "/seller_api/products?review=rejected");
  const reasons = "/operator_api/review_reasons";
  await app.call(reasons, { method: "PUT", key: "op", body: REASONS_EXAMPLE });
  await get("reasons", reasons, "op");
  const categories = "/operator_api/categories";
  await app.call(categories, {
    method: "PUT",
    key: "op",
    body: CATEGORIES_EXAMPLE,
  });
  await get("categories", categories, "op");
  await get("triggers", "/seller_api/triggers");
  await get("category", "/seller_api/categories/Home%2FMugs");
  await get("audit", "/operator_api/audit", "op");
  await get("status", "/operator_api/status", "op");
  note("success", await app.call(`${hooks}/order_paid`, { method: "DELETE" }));
  await get("health", "/healthz", null);
  await until(
    async () => (await app.call("/readyz", { key: null })).status === 200,
    "readiness",
  );
  await get("health", "/readyz", null);
  await get("health", "/readyz", "op");

  for (const [kind, answers] of Object.entries(seen)) {
    for (const { status, text } of answers) {
      assertEquals([status, kind], [200, kind], text);
      assertEquals(validateResponse(text), null, `${kind}: ${text}`);
    }
  }
  note("error", await app.call("/nowhere"));
  note("error", await app.call("/seller_api/products/none"));
  note("error", await app.call("/seller_api/products", { key: null }));
  note("error", await app.call("/seller_api/products?limit=x&after=y"));
  note("error", await app.upload(product("A", "<x/>") + "<product/>"));
  note("error", await app.upload("<a/>".repeat(1_500)));
  note("error", await app.upload(new TextEncoder().encode("<products>&")));
  for (const { status, text } of seen.error) {
    assert(status >= 400, text);
    assertEquals(validateResponse(text), null, text);
  }
  assertEquals(Object.keys(seen).sort(), Object.keys(ANSWERS).sort());
});

/** Valid documents that a strict schema might refuse. */
const ACCEPTED: readonly string[] = [
  product("A"),
  product("A", "<!-- comment --><brand> b </brand>"),
  "<product><quantity>5</quantity><price currency=' SEK '>1</price>" +
  "<title>t</title><sku>A</sku></product>",
  product("A", "<description/><compare_at_price/><gtin> </gtin><images/>"),
  product(
    "A",
    "<attributes><attribute name=' a '> b </attribute></attributes>",
  ),
  product("A", "<vat_rate>0025</vat_rate>").replace("0025", "025"),
  "<product created_at='x' updated_at=''>" + product("A").slice(9),
  product(
    "A",
    "<availability> preorder\n</availability>" +
      "<available_at>\t2028-02-29 </available_at>",
  ),
  product("A", "<gtin>96385074</gtin><condition/><status/><parent_sku/>"),
  product("A", `<description>${"x".repeat(5_000)}</description>`),
  product("A", `<brand>${"\u{1F600}".repeat(100)}</brand>`),
];

/** Documents with an invalid structure. */
const REFUSED: readonly string[] = [
  "",
  "stray",
  product("A") + "stray",
  product("A", "stray"),
  product("A", "<titel>x</titel>"),
  product("A", "<title>again</title>"),
  product("A", "<brand lang='x'>b</brand>"),
  product("A", "<brand><b>b</b></brand>"),
  product("A", "<images><img>x</img></images>"),
  product("A", "<images><image src='x'>https://x.example/</image></images>"),
  product("A", "<images>x</images>"),
  product("A", "<attributes><attribute>x</attribute></attributes>"),
  product("A", "<categories><category/></categories>"),
  product(
    "A",
    `<categories>${"<category>x</category>".repeat(6)}</categories>`,
  ),
  "<product sku='A'/>",
  "<prodct/>",
  product("A").replace(' currency="SEK"', ""),
  product("A").replace("SEK", "kr"),
  product("A").replace("199.00", "199,00"),
  product("A").replace("<title>Title of A", "<title>"),
  product("A", "<status>gone</status>"),
  product("A", "<available_at>2027-02-29</available_at>"),
  product("A", "<gtin>123</gtin>"),
  product("A", `<brand>${"x".repeat(101)}</brand>`),
];

bothForms.test("the service accepts no upload that its schema refuses", async () => {
  await using app = await boot();
  const accepts = async (document: string) => {
    const answer = await app.upload(document, "&dry_run=true");
    return answer.status === 200;
  };
  for (const document of ACCEPTED) {
    assert(await accepts(document), document);
    assertEquals(
      validateProducts(`<products>${document}</products>`),
      null,
      document,
    );
  }
  for (const document of REFUSED) {
    assert(!await accepts(document), document);
    assert(
      validateProducts(`<products>${document}</products>`) !== null,
      document,
    );
  }
  assert(validateProducts("<catalog/>") !== null);
});

const FULL = product(
  "A",
  "<description>d</description><compare_at_price>200</compare_at_price>" +
    "<vat_rate>25</vat_rate><availability>preorder</availability>" +
    "<available_at>2030-01-31</available_at><gtin>4006381333931</gtin>" +
    "<brand>b</brand><mpn>m</mpn><condition>used</condition>" +
    "<status>paused</status><parent_sku>P</parent_sku>" +
    "<categories><category>c</category></categories>" +
    '<attributes><attribute name="n">v</attribute></attributes>',
);

/** The same numbers in every run. */
function* numbers(): Generator<number, never> {
  for (let n = 1;;) {
    n = n * 48_271 % 2_147_483_647;
    yield n;
  }
}

/**
 * A document with one to three of its parts removed, repeated, moved or
 * changed.
 */
function spoiled(random: Generator<number, never>): string {
  const next = (below: number) => random.next().value % below;
  const parts = FULL.match(/<[^>]+>|[^<]+/g)!;
  const elements = FULL.match(/<(\w+)[^>]*>[^<]*<\/\1>/g)!;
  let text = FULL;
  for (let changes = 1 + next(3); changes > 0; changes--) {
    const element = elements[next(elements.length)];
    const other = elements[next(elements.length)];
    const part = parts[1 + next(parts.length - 2)];
    const change = [
      () => text.replace(element, ""),
      () => text.replace(element, element + element),
      () => text.replace(element, other + element),
      () => text.replace(element, element.replace(/>[^<]*</, "><")),
      () => text.replace(element, element.replace(/>[^<]*</, "> \n <")),
      () => text.replace(element, element.replace(/>[^<]*</, ">0<")),
      () => text.replace(element, element.replace(/>[^<]*</, ">-1.5<")),
      () => text.replace(element, element.replaceAll(/(<\/?)\w+/g, "$1other")),
      () => text.replace(part, part.replace(/ \w+=/, " other=")),
      () => text.replace(element, `<!--${element}-->`),
    ][next(10)];
    text = change();
  }
  return text;
}

bothForms.test("the service accepts none of 400 invalid documents that the schema refuses", async () => {
  await using app = await boot();
  const random = numbers();
  const outcomes = { both: 0, service: 0, neither: 0 };
  for (let i = 0; i < 400; i++) {
    const document = spoiled(random);
    const valid = validateProducts(`<products>${document}</products>`);
    const answer = await app.upload(document, "&dry_run=true");
    if (answer.status === 200) {
      assertEquals(valid, null, document);
      outcomes.both++;
    } else if (valid === null) outcomes.service++;
    else outcomes.neither++;
  }
  // Proves that the test covers all kinds, including mistakes that only the
  // service can detect.
  for (const [name, count] of Object.entries(outcomes)) {
    assert(count > 20, `${name}: ${count}`);
  }
});

bothForms.test("the schemas name every field of the code's table", async () => {
  await using app = await boot();
  const schema = await app.call(`${SCHEMAS}/products-1.1.xsd`, { key: null });
  assertEquals(schema.status, 200);
  assertEquals(
    schema.headers.get("content-type"),
    "application/xml; charset=utf-8",
  );
  for (const field of Object.keys(SCALARS)) {
    assertStringIncludes(schema.text, `<xs:element name="${field}"`);
  }
  const responses = await app.call(`${SCHEMAS}/responses-1.1.xsd`, {
    key: "wrong",
  });
  assertEquals(responses.status, 200);
  for (
    const code of [...Object.keys(ERRORS), ...Object.keys(DETAIL_CODES)]
  ) {
    assertStringIncludes(responses.text, `<xs:enumeration value="${code}"/>`);
  }
});

bothForms.test("only the schemas need no key below /seller_api", async () => {
  await using app = await boot();
  const refused: [string, string][] = [
    ["POST", `${SCHEMAS}/products-1.1.xsd`],
    ["GET", `${SCHEMAS}/other.xsd`],
    ["GET", `${SCHEMAS}/%zz`],
    ["GET", SCHEMAS],
  ];
  for (const [method, path] of refused) {
    const answer = await app.call(path, { method, key: null });
    assertEquals(answer.status, 401, `${method} ${path}`);
  }
  const etag = (await app.call("/openapi.json")).headers.get("etag")!;
  const again = await app.call("/openapi.json", {
    headers: { "if-none-match": etag },
  });
  assertEquals([again.status, again.text], [304, ""]);
});

bothForms.test("openapi.json is valid OpenAPI 3.1 and describes every endpoint", async () => {
  await using app = await boot();
  const answer = await app.call("/openapi.json", { key: null });
  assertEquals(
    answer.headers.get("content-type"),
    "application/json; charset=utf-8",
  );
  const description = JSON.parse(answer.text);
  const { valid, errors } = await new Validator().validate(
    structuredClone(description),
  );
  assert(valid, JSON.stringify(errors));
  assertMatch(description.openapi, /^3\.1\./);
  for (const { method, path, operation } of ENDPOINTS) {
    const found = description.paths[path.replace(/:(\w+)/g, "{$1}")];
    assertEquals(found[method.toLowerCase()].operationId, operation);
  }
  const references = answer.text.matchAll(
    /"\$ref":"#\/components\/schemas\/(\w+)"/g,
  );
  for (const [, name] of references) {
    assert(name in description.components.schemas, name);
  }
  for (const [name, schema] of Object.entries(description.components.schemas)) {
    const own = `"#/components/schemas/${name}"`;
    assert(!JSON.stringify(schema).includes(own), `${name} contains itself`);
  }
});

type Responses = Record<string, { $ref?: string }>;

Deno.test("openapi.json has each failure once, and an example where it fits", () => {
  const { paths, components } = JSON.parse(openApi(ENDPOINTS, "1.0.0"));
  const methods = Object.values(paths).flatMap((path) =>
    Object.values(path as Record<string, { responses: Responses }>)
  );
  const failures = methods.flatMap(({ responses }) =>
    Object.entries(responses).filter(([status]) => Number(status) >= 400)
  );
  assert(failures.length > 400, `${failures.length}`);
  const names = new Set<string>();
  for (const [status, { $ref = "" }] of failures) {
    const name = $ref.replace("#/components/responses/", "");
    names.add(name);
    const { examples } = components.responses[name].content["application/json"];
    assertEquals(examples !== undefined, status === "422", name);
  }
  assertEquals([...names].sort(), Object.keys(components.responses).sort());
  const texts = Object.values(components.responses)
    .map((response) => JSON.stringify(response));
  assertEquals(new Set(texts).size, texts.length);
});

Deno.test("openapi.json has both formats of the documents to correct", async () => {
  await using app = await boot();
  const { paths } = JSON.parse((await app.call("/openapi.json")).text);
  const documents = {
    "text/xml": `<products>${product("A")}<product/></products>`,
    "application/json": JSON.stringify({
      products: [{
        sku: "B",
        title: "B",
        price: { amount: "1", currency: "SEK" },
        quantity: 1,
      }, {}],
    }),
  };
  for (const [type, body] of Object.entries(documents)) {
    const uploaded = await app.call(
      "/seller_api/bulk_products?accept=valid",
      {
        method: "POST",
        body,
        headers: { "Content-Type": type, Accept: "text/xml" },
      },
    );
    const id = textAt(uploaded.xml, "transaction_id");
    const headers = { Accept: type };
    for (
      const [path, url] of [
        [
          "/seller_api/bulk_products/{transaction_id}/refused",
          `/seller_api/bulk_products/${id}/refused`,
        ],
        ["/seller_api/products/rejected", "/seller_api/products/rejected"],
      ]
    ) {
      const answer = await app.call(url, { headers });
      assertEquals(answer.status, 200, answer.text);
      const [sent] = answer.headers.get("content-type")!.split(";");
      assertEquals(sent, type);
      const { content } = paths[path].get.responses[200];
      assert(type in content, `${path}: ${Object.keys(content)}`);
    }
  }
});

bothForms.test("the API reference has every endpoint on one of its pages", async () => {
  await using app = await boot();
  const page = async (name: string) =>
    (await app.call(`/docs/${name}`, { key: null })).text;
  const index = await page("api");
  const pages = new Map<string, string>();
  for (const { name } of REFERENCE_PAGES) pages.set(name, await page(name));
  for (const { method, path, title } of ENDPOINTS) {
    const route = `<code>${method} ${path}</code>`;
    const places = [...pages].filter(([, text]) => text.includes(route));
    assertEquals(places.length, 1, route);
    const [[name, text]] = places;
    const id = headingId(title);
    assertStringIncludes(text, `<h2 id="${id}">`);
    assertStringIncludes(index, `href="/docs/${name}#${id}"`);
  }
});

Deno.test("at_most has no default, because generated clients would send it without complete", () => {
  const { paths } = JSON.parse(openApi(ENDPOINTS, "1.0.0"));
  const { schema } = paths["/seller_api/bulk_attributes"].post.parameters
    .find(({ name }: { name: string }) => name === "at_most");
  assertEquals(schema, { type: "integer", minimum: 0, maximum: 100 });
});

bothForms.test("since of recover is required, in the contract and by the service", async () => {
  const { paths } = JSON.parse(openApi(ENDPOINTS, "1.0.0"));
  const path = "/seller_api/webhooks/{trigger}/recover";
  const since = paths[path].post.parameters
    .find(({ name }: { name: string }) => name === "since");
  assertEquals(since.required, true);
  await using app = await boot();
  const { status, xml } = await app.call(
    "/seller_api/webhooks/order_created/recover",
    { method: "POST" },
  );
  assertEquals([status, textAt(xml, "error/code")], [
    422,
    "record_invalid",
  ]);
  assertEquals(textAt(xml, "error/details/detail/field"), "since");
});

bothForms.test("/readyz works with and without a key, as the contract says", async () => {
  const { paths } = JSON.parse(openApi(ENDPOINTS, "1.0.0"));
  assertEquals(paths["/readyz"].get.security, [{}, { operator: [] }]);
  await using app = await boot({ config: { operatorKey: "op" } });
  await until(
    async () => (await app.call("/readyz", { key: null })).status === 200,
    "readiness",
  );
  assertEquals((await app.call("/readyz", { key: "op" })).status, 200);
});

Deno.test("exactly these operations take an Idempotency-Key", () => {
  const keyed = ENDPOINTS.filter(({ parameters = [] }) =>
    parameters.includes(IDEMPOTENCY_KEY)
  );
  assertEquals(keyed.map(({ operation }) => operation).sort(), [
    "beginImport",
    "putAttribute",
    "storeImport",
    "undoImport",
    "undoUpload",
    "uploadAttributes",
    "uploadProducts",
  ]);
});

Deno.test("each list with a next takes its value as after", () => {
  const { paths, components } = JSON.parse(openApi(ENDPOINTS, "1.0.0"));
  const lists: string[] = [];
  for (const [path, { get }] of Object.entries<Methods>(paths)) {
    const { $ref = "" } = get?.responses[200]?.content?.["application/json"]
      ?.schema ?? {};
    const { next } = components.schemas[$ref.split("/").at(-1)!]?.properties ??
      {};
    if (next === undefined) continue;
    lists.push(path);
    const after = get!.parameters?.find(({ name }) => name === "after");
    assertEquals([path, after?.required ?? false], [path, false]);
    assert(after !== undefined, path);
  }
  assert(lists.length > 5, `${lists}`);
});

interface Methods {
  get?: {
    parameters?: { name: string; required?: boolean }[];
    responses: Record<
      string,
      { content?: Record<string, { schema: { $ref?: string } }> }
    >;
  };
}
