/**
 * The examples of the handbook's chapter on the client, for the type checker.
 * Written by `deno task docs`.
 */
import {
  createClient,
  type SentProduct,
} from "../../src/client/dist/client.js";

const client = createClient({ url: "http://127.0.0.1:8080", key: "demo" });

const products: SentProduct[] = [{
  sku: "MUG-1",
  title: "Mug, enamelled",
  price: { amount: "149.00", currency: "SEK" },
  quantity: 12,
  attributes: [{ name: "color", value: "Blue" }],
  images: [{ url: "http://127.0.0.1:8081/images/good/mug.png", alt: "front" }],
}];

const upload = await client.uploads.create({ products });
const transaction = await client.uploads.waitFor(upload);
console.log(transaction.status, transaction.products.created);

for await (const { progress } of client.uploads.follow(upload)) {
  console.log(`${progress} %`);
}

const file = await fetch("http://127.0.0.1:8081/images/good/jug.png");
const { image } = await client.images.upload({ image: await file.blob() });
const jug = { sku: "MUG-1", images: [{ url: image.url }] };
const named = await client.uploads.create({ products: [jug] });
console.log(image.width, (await client.uploads.waitFor(named)).images.reused);

import { InvalidRequestError } from "../../src/client/dist/client.js";

try {
  await client.uploads.create({
    products: [{ sku: "MUG-2", gtin: "4006381333932" }],
  });
} catch (error) {
  if (!(error instanceof InvalidRequestError)) throw error;
  console.log(error.status, error.code);
  for (const { product, field, code } of error.details) {
    console.log(product, field, code);
  }
}

await client.uploads.create({ products }, {
  idempotencyKey: "stock 2026-11-20",
  retryFor: 5 * 60_000,
  onRetry: (error) => console.error(error.message),
  signal: AbortSignal.timeout(10 * 60_000),
});

async function add(sku: string, more: number): Promise<number> {
  await client.products.setAttribute({
    sku_or_id: sku,
    attribute: "quantity",
    value: `${more}`,
    change: true,
  });
  const { product } = await client.products.get({ sku_or_id: sku });
  return product.quantity ?? 0;
}

console.log(await add("MUG-1", 1), await add("MUG-1", -1));

for await (const { sku, quantity } of client.products.list({ q: "mug" })) {
  console.log(sku, quantity);
}

let cursor: string | undefined;
for await (const { events, next } of client.events.list().pages()) {
  for (const { trigger, data } of events) console.log(trigger, data);
  cursor = next;
}
const later = await client.events.list({ after: cursor, wait: 0 });
console.log(later.events.length);

import { SignatureError, verifyWebhook } from "../../src/client/dist/client.js";

const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

export async function receive(request: Request): Promise<Response> {
  try {
    const event = await verifyWebhook({
      secret,
      headers: request.headers,
      body: await request.text(),
    });
    console.log(event.id, event.trigger, event.data);
    return new Response();
  } catch (error) {
    if (error instanceof SignatureError) {
      return new Response(null, { status: 401 });
    }
    throw error;
  }
}

import { signWebhook } from "../../src/client/dist/client.js";

const id = "01a1f8b2-0b5c-7d0e-8a4e-5a9d3a6f2c11";
const body = `<event><id>${id}</id><trigger>order_paid</trigger>` +
  "<created_at>2026-11-20T08:00:00.000Z</created_at>" +
  "<data><order><number>1001</number></order></data></event>";
const headers = await signWebhook(secret, id, Date.now() / 1_000 | 0, body);
const url = "https://seller.example/hooks";
const delivery = new Request(url, { method: "POST", headers, body });
console.log((await receive(delivery)).status);

import { createOperatorClient } from "../../src/client/dist/client.js";

const operator = createOperatorClient({
  url: "http://127.0.0.1:8080",
  key: "operator",
});
for await (const { name, products } of operator.sellers.list()) {
  console.log(name, products);
}
