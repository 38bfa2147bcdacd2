/** The typed client as a seller's program uses it, with the real service. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import {
  ApiError,
  createClient,
  type SentProduct,
  SignatureError,
  verifyWebhook,
} from "../../src/client/mod.ts";
import { OPERATIONS } from "../../src/client/operations.ts";
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

Deno.test("every documented operation is a method", () => {
  const client = createClient({ key: "" });
  const names = ENDPOINTS.map(({ operation }) => operation);
  assertEquals(Object.keys(OPERATIONS), names);
  assertEquals(names.filter((name) => !(name in client)), []);
});

Deno.test("products are uploaded, watched, read, changed, cleared and undone", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const client = app.client();
  const image = { url: `${host.url}/good/a.png`, alt: "front" };
  const lost = { url: `${host.url}/gone/b.png` };
  const { dry_run } = await client
    .uploadProducts({ products: [MUG], dry_run: true });
  assertEquals(dry_run.products.created, 1);

  const upload = await client
    .uploadProducts({ products: [{ ...MUG, images: [image, lost] }] });
  const seen: number[] = [];
  for await (const { progress } of client.follow(upload)) seen.push(progress);
  assertEquals(seen.at(-1), 100);
  const transaction = await client.waitFor(upload);
  assertEquals(transaction.status, "completed_with_errors");
  assertEquals(transaction.images.stored, 1);
  const results = await Array.fromAsync(client.results(upload));
  assertEquals(results.map(({ image }) => image[0].code), ["image_not_found"]);

  const { product } = await client.getProduct({ sku_or_id: "MUG/1" });
  assertEquals(product.title, MUG.title);
  assertEquals(product.description, "<p>Two\nlines\r\nand a tab\t</p>");
  assertEquals(product.weight, MUG.weight);
  assertEquals(product.attributes, MUG.attributes);
  assertEquals(product.images?.[0].status, "stored");
  assertEquals(product.images?.[0].url, image.url);
  const [folder, file] = product.images![0].href!.split("/").slice(2);
  assert((await client.getImage({ folder, file })).size > 0);

  // A read-out product can be sent unchanged; null and [] clear.
  const { transaction_id } = await client
    .uploadProducts({ products: [product] }, { idempotencyKey: "1" });
  const again = await client.waitFor({ transaction_id });
  assertEquals(again.products.unchanged, 1);
  const cleared = await client.uploadProducts({
    products: [{ id: product.id, brand: null, weight: null, categories: [] }],
  });
  await client.putAttribute({
    sku_or_id: "MUG/1",
    attribute: "quantity",
    value: "0",
  });
  const { product: bare } = await client.getProduct({ sku_or_id: product.id });
  assertEquals(
    [bare.brand, bare.weight, bare.categories, bare.quantity],
    [undefined, undefined, [], 0],
  );
  const undone = await client
    .undoUpload({ ...cleared, changed: "keep" });
  const { products } = await client.waitFor(undone);
  assertEquals(products.updated, 1);
  const { success } = await client.deleteProduct({ sku_or_id: "MUG/1" });
  assert(success);
});

Deno.test("an import is tested, watched and awaited", async () => {
  await using app = await boot();
  const client = app.client();
  const flawed = { ...MUG, sku: "MUG/2", gtin: "1" };
  const tried = await client
    .beginImport({ products: [MUG, flawed], name: "a.xml", dry_run: true });
  const { status, name, dry_run, problems } = await client.waitFor(tried);
  assertEquals([status, name, dry_run], ["refused", "a.xml", true]);
  assertEquals(problems?.[0].product, 2);
  const begun = await client
    .beginImport({ products: [MUG, flawed], accept: "valid" });
  const seen: string[] = [];
  for await (const { status } of client.follow(begun)) seen.push(status);
  assertEquals(seen.at(-1), "completed_with_errors");
  const results = client.all.getImportResults({ ...begun, result: "refused" });
  const skus = (await Array.fromAsync(results)).map(({ sku }) => sku);
  assertEquals(skus, ["MUG/2"]);
});

Deno.test("a refusal is an error with code, place and message of each problem", async () => {
  await using app = await boot();
  const client = app.client();
  const error = await assertRejects(
    () =>
      client.uploadProducts({
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
  assertEquals((await client.listRefusals()).refusals[0].code, error.code);

  const { transaction_id, refused } = await client.uploadProducts({
    products: "<products><product><sku>A</sku><titel/></product>" +
      "<product><sku>B</sku><title>B</title>" +
      '<price currency="SEK">1</price><quantity>1</quantity></product></products>',
    accept: "valid",
  });
  assertEquals(refused, 1);
  const document = await client.getRefusedProducts({ transaction_id });
  assert(document.includes("<product><sku>A</sku><titel/></product>"));

  const unknown = createClient({ url: app.url, key: "nobody" });
  for (const all of [unknown, unknown.xml]) {
    const refusal = await assertRejects(() => all.listProducts(), ApiError);
    assertEquals([refusal.code, refusal.status], ["unauthorized", 401]);
    assert(refusal.requestId);
  }

  const slash = createClient({ url: `${app.url}/`, key: app.key });
  assertEquals((await slash.listProducts()).products.length, 1);
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
    () => client.uploadProducts({ products }),
    ApiError,
  );
  const inXml = await assertRejects(
    () => client.xml.uploadProducts({ products, dry_run: true }),
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
    .uploadProducts({ products: skus.map((sku) => ({ ...MUG, sku })) });
  const read: (string | undefined)[] = [];
  for await (const { sku } of client.all.listProducts({ limit: 3 })) {
    read.push(sku);
  }
  assertEquals(read, skus);
  const sizes: number[] = [];
  for await (const { products } of client.pages.listProducts({ limit: 3 })) {
    sizes.push(products.length);
  }
  assertEquals(sizes, [3, 3, 1]);
  const none = await Array.fromAsync(client.all.listProducts({ q: "absent" }));
  assertEquals(none, []);
});

Deno.test("a webhook is registered, its deliveries are verified, missed events are read", async () => {
  await using sink = new WebhookSink();
  await using app = await boot({
    config: { roles: ["api", "webhooks"], operatorKey: "operator" },
  });
  const client = app.client();
  const operator = app.client({ key: "operator" });
  const trigger = "order_created";
  await client.createWebhook({ webhook: { trigger, url: sink.url() } });
  const { webhook_secret: secret } = await client
    .rotateWebhookSecret({ trigger });
  const data = { total: "1<2", by: { "@id": "7" } };
  for (const reference of ["1", "2"]) {
    await operator.ingestEvent({
      event: { seller: "acme", trigger, reference, data },
    });
  }
  const markup = "<total currency='SEK'><!-- net --><![CDATA[1<2]]></total>";
  await operator.ingestEvent({
    event: `<event><seller>acme</seller><trigger>${trigger}</trigger>` +
      `<reference>3</reference><data>${markup}</data></event>`,
  });
  await client.testWebhook({ trigger });
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
      { secret, headers: {}, body: text },
    ]
  ) await assertRejects(() => verifyWebhook(wrong), SignatureError);
  await assertRejects(
    () =>
      verifyWebhook({ secret, headers, body: text }, {
        now: () => Date.now() + 400_000,
      }),
    SignatureError,
    "is not the time",
  );

  await client.createWebhook({
    webhook: { trigger, url: sink.url(), format: "json" },
  });
  await client.testWebhook({ trigger });
  await until(() => sink.received.length === 5);
  const json = sink.received[4];
  const event = await verifyWebhook({ ...json, secret, body: json.text });
  assertEquals([event.trigger, event.test], [trigger, true]);
  assertMatch(json.text, /^{/);

  // The cursor after the last page is kept, for later changes.
  let cursor = "";
  let count = 0;
  for await (const page of client.pages.listEvents({ limit: 2 })) {
    count += page.events.length;
    cursor = page.next;
  }
  assertEquals(count, 3);
  await operator.ingestEvent({
    event: { seller: "acme", trigger, reference: "4" },
  });
  const later = await client.listEvents({ after: cursor });
  assertEquals(later.events.length, 1);
  const [first] = (await client.listEvents()).events;
  assertEquals(first.data, data);
  const xml = await client.xml.listEvents();
  assert(xml.includes(`<data>${markup}</data>`), xml);

  const { webhook } = await client.listWebhooks();
  assertEquals(webhook.map(({ trigger }) => trigger), [trigger]);
  const deliveries = await Array.fromAsync(
    client.all.listDeliveries({ trigger }),
  );
  assertEquals(deliveries.length, 6);
});

Deno.test("an operator's program adds a seller, limits it and follows the catalogue", async () => {
  await using app = await boot({ config: { operatorKey: "operator" } });
  const operator = app.client({ key: "operator" });
  const { seller } = await operator.addSeller({ seller: { name: "globex" } });
  await operator.putSellerAttribute({
    seller: "globex",
    seller_attribute: "product_limit",
    value: "1",
  });
  const { key } = await operator
    .addSellerKey({ seller: "globex", key: { label: "ERP" } });
  await app.client({ key: key.api_key }).uploadProducts({ products: [MUG] });
  const own = app.client({ key: key.api_key });
  assertEquals((await own.getAccount()).account.name, "globex");
  const sellers = await Array.fromAsync(operator.all.listSellers());
  const { product_limit, products, rate_limit } = sellers
    .find(({ id }) => id === seller.id)!;
  assertEquals([product_limit, products, rate_limit], [1, 1, null]);
  assertEquals((await operator.getStatus()).hours.length, 24);
  assert((await operator.getMetrics()).includes("seller_build_info"));
  await operator.revokeKey({ key_id: key.key_id });
  const { keys } = await operator.listSellerKeys({ seller: "globex" });
  assert(keys[1].revoked_at !== null);
});
