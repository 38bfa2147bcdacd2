/** The typed client as a seller's program uses it, with the real service. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import {
  ApiError,
  createClient,
  createOperatorClient,
  type SentProduct,
  SignatureError,
  verifyWebhook,
} from "../../src/client/mod.ts";
import {
  OPERATOR_OPERATIONS,
  SELLER_OPERATIONS,
} from "../../src/client/operations.ts";
import { CALLS } from "../contracts/client_calls.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { boot } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { WebhookSink } from "../support/webhook_sink.ts";

const MUG: SentProduct = {
  sku: "MUG/1",
  title: 'Mug, "big" & <blue>',
  description: "<p>Two\nlines\r\nand a tab\t</p>",
  price: { amount: "149", currency: "SEK" },
  quantity: 12,
  weight: { value: 300, unit: "g" },
  brand: "Kockums",
  categories: ["Home > Kitchen"],
  attributes: [{ name: 'c"o&l', value: "Blue" }],
};

Deno.test("every documented operation is a method of one noun", () => {
  const clients = {
    seller: [createClient({ key: "" }), SELLER_OPERATIONS],
    operator: [createOperatorClient({ key: "" }), OPERATOR_OPERATIONS],
  } as const;
  for (const { operation, path } of ENDPOINTS) {
    const call = CALLS[operation];
    assert(call, `${operation} has no method`);
    const [noun, verb] = call.name.split(".");
    for (const kind of call.clients) {
      const [client, table] = clients[kind];
      const both = [client, client.xml] as unknown as Nouns[];
      for (const one of both) assertEquals(typeof one[noun][verb], "function");
      assertEquals((table as unknown as Nouns)[noun][verb].path, path);
    }
  }
});

type Nouns = Record<string, Record<string, { path?: string }>>;

Deno.test("products are uploaded, watched, read, changed, cleared and undone", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const client = app.client();
  const image = { url: `${host.url}/good/a.png`, alt: "front" };
  const lost = { url: `${host.url}/gone/b.png` };
  const { dry_run } = await client
    .uploads.create({ products: [MUG], dry_run: true });
  assertEquals(dry_run.products.created, 1);

  const upload = await client
    .uploads.create({ products: [{ ...MUG, images: [image, lost] }] });
  const seen: number[] = [];
  for await (const { progress } of client.uploads.follow(upload)) {
    seen.push(progress);
  }
  assertEquals(seen.at(-1), 100);
  const transaction = await client.uploads.waitFor(upload);
  assertEquals(transaction.status, "completed_with_errors");
  assertEquals(transaction.images.stored, 1);
  const results = await Array.fromAsync(client.uploads.results(upload));
  assertEquals(results.map(({ image }) => image[0].code), ["image_not_found"]);

  const { product } = await client.products.get({ sku_or_id: "MUG/1" });
  assertEquals(product.title, MUG.title);
  assertEquals(product.description, "<p>Two\nlines\r\nand a tab\t</p>");
  assertEquals(product.weight, MUG.weight);
  assertEquals(product.attributes, MUG.attributes);
  assertEquals(product.images?.[0].status, "stored");
  assertEquals(product.images?.[0].url, image.url);
  const [folder, file] = product.images![0].href!.split("/").slice(2);
  assert((await client.images.get({ folder, file })).size > 0);

  // A read-out product can be sent unchanged; null and [] clear.
  const { transaction_id } = await client
    .uploads.create({ products: [product] }, { idempotencyKey: "1" });
  const again = await client.uploads.waitFor({ transaction_id });
  assertEquals(again.products.unchanged, 1);
  const cleared = await client.uploads.create({
    products: [{ id: product.id, brand: null, weight: null, categories: [] }],
  });
  await client.products.setAttribute({
    sku_or_id: "MUG/1",
    attribute: "quantity",
    value: "0",
  });
  const { product: bare } = await client.products.get({
    sku_or_id: product.id,
  });
  assertEquals(
    [bare.brand, bare.weight, bare.categories, bare.quantity],
    [undefined, undefined, [], 0],
  );
  const undone = await client
    .uploads.undo({ ...cleared, changed: "keep" });
  const { products } = await client.uploads.waitFor(undone);
  assertEquals(products.updated, 1);
  const { success } = await client.products.delete({ sku_or_id: "MUG/1" });
  assert(success);
});

Deno.test("an import is tested, watched and awaited", async () => {
  await using app = await boot();
  const client = app.client();
  const flawed = { ...MUG, sku: "MUG/2", gtin: "1" };
  const tried = await client
    .imports.create({ products: [MUG, flawed], name: "a.xml", dry_run: true });
  const { status, name, dry_run, problems } = await client.imports.waitFor(
    tried,
  );
  assertEquals([status, name, dry_run], ["refused", "a.xml", true]);
  assertEquals(problems?.[0].product, 2);
  const begun = await client
    .imports.create({ products: [MUG, flawed], accept: "valid" });
  const seen: string[] = [];
  for await (const { status } of client.imports.follow(begun)) {
    seen.push(status);
  }
  assertEquals(seen.at(-1), "completed_with_errors");
  const results = client.imports.results({ ...begun, result: "refused" });
  const skus = (await Array.fromAsync(results)).map(({ sku }) => sku);
  assertEquals(skus, ["MUG/2"]);
});

Deno.test("a refusal is an error with code, place and message of each problem", async () => {
  await using app = await boot();
  const client = app.client();
  const error = await assertRejects(
    () =>
      client.uploads.create({
        products: [MUG, { sku: "A", gtin: "4006381333932" }],
      }),
    ApiError,
  );
  assertEquals([error.status, error.code], [422, "record_invalid"]);
  assertEquals(error.isRetryable, false);
  assertMatch(error.message, /^Record Invalid: product 2, SKU A, \w+: /);
  assert(error.requestId);
  const { product, field, code } = error.details
    .find(({ field }) => field === "gtin")!;
  assertEquals([product, field, code], [2, "gtin", "bad_check_digit"]);
  assertEquals((await client.refusals.list()).refusals[0].code, error.code);

  const { transaction_id, refused } = await client.uploads.create({
    products: "<products><product><sku>A</sku><titel/></product>" +
      "<product><sku>B</sku><title>B</title>" +
      '<price currency="SEK">1</price><quantity>1</quantity></product></products>',
    accept: "valid",
  });
  assertEquals(refused, 1);
  const document = await client.uploads.refused({ transaction_id });
  assert(document.includes("<product><sku>A</sku><titel/></product>"));

  const unknown = createClient({ url: app.url, key: "nobody" });
  for (const all of [unknown, unknown.xml]) {
    const refusal = await assertRejects(() => all.products.list(), ApiError);
    assertEquals([refusal.code, refusal.status], ["unauthorized", 401]);
    assert(refusal.requestId);
  }

  const slash = createClient({ url: `${app.url}/`, key: app.key });
  assertEquals((await slash.products.list()).products.length, 1);
});

Deno.test("a refusal in XML is the same error", async () => {
  await using app = await boot();
  const client = app.client();
  const products = Array.from({ length: 250 }, () => ({
    sku: `<A> & "B" 'C' é`,
    gtin: "4006381333932",
    price: { amount: "1,5", currency: "SEK" },
    '<"titel">': "",
  })) as SentProduct[];
  const inJson = await assertRejects(
    () => client.uploads.create({ products }),
    ApiError,
  );
  const inXml = await assertRejects(
    () => client.xml.uploads.create({ products, dry_run: true }),
    ApiError,
  );
  assert(inJson.details[0].message.includes('"'));
  assert(inJson.more > 0);
  for (
    const name of [
      "message",
      "title",
      "status",
      "code",
      "details",
      "more",
    ] as const
  ) {
    assertEquals(inXml[name], inJson[name]);
  }
});

Deno.test("lists are read to their end, page by page or entry by entry", async () => {
  await using app = await boot();
  const client = app.client();
  const skus = Array.from({ length: 7 }, (_, i) => `S-${i}`);
  await client
    .uploads.create({ products: skus.map((sku) => ({ ...MUG, sku })) });
  const read: (string | undefined)[] = [];
  for await (const { sku } of client.products.list({ limit: 3 })) {
    read.push(sku);
  }
  assertEquals(read, skus);
  const sizes: number[] = [];
  const pages = client.products.list({ limit: 3 }).pages();
  for await (const { products } of pages) {
    sizes.push(products.length);
  }
  assertEquals(sizes, [3, 3, 1]);
  const none = await Array.fromAsync(client.products.list({ q: "absent" }));
  assertEquals(none, []);
});

Deno.test("a webhook is registered, its deliveries are verified, missed events are read", async () => {
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { roles: ["api", "webhooks"], operatorKey: "operator" },
  });
  const client = app.client();
  const operator = app.operator();
  const trigger = "order_created";
  await client.webhooks.create({ webhook: { trigger, url: sink.url() } });
  const { webhook_secret: secret } = await client
    .webhooks.rotateSecret({ trigger });
  const data = { total: "1<2", by: { "@id": "7" } };
  for (const reference of ["1", "2"]) {
    await operator.events.create({
      event: { seller: "acme", trigger, reference, data },
    });
  }
  const markup = "<total currency='SEK'><!-- net --><![CDATA[1<2]]></total>";
  await operator.events.create({
    event: `<event><seller>acme</seller><trigger>${trigger}</trigger>` +
      `<reference>3</reference><data>${markup}</data></event>`,
  });
  await client.webhooks.test({ trigger });
  await until(() => sink.received.length === 4);
  const found: unknown[] = [];
  for (const { headers, text } of sink.received) {
    const event = await verifyWebhook({ secret, headers, body: text });
    assertEquals(event.trigger, trigger);
    found.push(event.test ? "test" : event.data);
  }
  const sent = '<total>1&lt;2</total><by id="7"/>';
  assertEquals(found.sort(), [sent, sent, markup, "test"].sort());
  const [{ headers, text }] = sink.received;
  for (
    const wrong of [
      ...["whsec_AAAA", "whsec_", "", "whsec_no Base64", "whsec_A"]
        .map((secret) => ({ secret, headers, body: text })),
      { secret, headers, body: text + " " },
      { secret: undefined as unknown as string, headers, body: text },
      { secret, headers: {}, body: text },
    ]
  ) await assertRejects(() => verifyWebhook(wrong), SignatureError);
  await assertRejects(
    () =>
      verifyWebhook({ secret, headers, body: text }, {
        now: () => Date.now() + 400_000,
      }),
    SignatureError,
    "is too far from now",
  );

  await client.webhooks.create({
    webhook: { trigger, url: sink.url(), format: "json" },
  });
  await client.webhooks.test({ trigger });
  await until(() => sink.received.length === 5);
  const json = sink.received[4];
  const event = await verifyWebhook({ ...json, secret, body: json.text });
  assertEquals([event.trigger, event.test], [trigger, true]);
  assertMatch(json.text, /^{/);

  // The cursor after the last page is kept, for later changes.
  let cursor = "";
  let count = 0;
  for await (const page of client.events.list({ limit: 2 }).pages()) {
    count += page.events.length;
    cursor = page.next;
  }
  assertEquals(count, 3);
  await operator.events.create({
    event: { seller: "acme", trigger, reference: "4" },
  });
  const later = await client.events.list({ after: cursor });
  assertEquals(later.events.length, 1);
  const [first] = (await client.events.list()).events;
  assertEquals(first.data, data);
  const xml = await client.xml.events.list();
  assert(xml.includes(`<data>${markup}</data>`), xml);

  const { webhook } = await client.webhooks.list();
  assertEquals(webhook.map(({ trigger }) => trigger), [trigger]);
  const deliveries = await Array.fromAsync(
    client.deliveries.list({ trigger }),
  );
  assertEquals(deliveries.length, 6);
});

Deno.test("an operator's program adds a seller, limits it and follows the catalogue", async () => {
  await using app = await boot({ config: { operatorKey: "operator" } });
  const operator = app.operator();
  const { seller } = await operator.sellers.create({
    seller: { name: "globex" },
  });
  await operator.sellers.setAttribute({
    seller: "globex",
    seller_attribute: "product_limit",
    value: "1",
  });
  const { key } = await operator
    .keys.create({ seller: "globex", key: { label: "ERP" } });
  await app.client({ key: key.api_key }).uploads.create({ products: [MUG] });
  const own = app.client({ key: key.api_key });
  assertEquals((await own.account.get()).account.name, "globex");
  const sellers = await Array.fromAsync(operator.sellers.list());
  const { product_limit, products, rate_limit } = sellers
    .find(({ id }) => id === seller.id)!;
  assertEquals([product_limit, products, rate_limit], [1, 1, null]);
  assertEquals((await operator.status.get()).hours.length, 24);
  assert((await operator.metrics.get()).includes("seller_build_info"));
  await operator.keys.revoke({ key_id: key.key_id });
  const { keys } = await operator.keys.list({ seller: "globex" });
  assert(keys[1].revoked_at !== null);
});
