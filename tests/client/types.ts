/**
 * What must compile with the client, and what must not: `deno check` checks
 * this file, nothing runs it.
 */
import {
  ApiError,
  type Client,
  type DetailCode,
  type Product,
  type Transaction,
} from "../../src/client/mod.ts";

export async function compiles(client: Client): Promise<void> {
  const price = { amount: "1.00", currency: "SEK" };
  const products = [{ sku: "A", price, brand: null }];
  const { transaction_id } = await client.uploads.create({ products });
  const { dry_run } = await client.uploads.create({ products, dry_run: true });
  const created: number = dry_run.products.created;
  const done: Transaction = await client.uploads.waitFor({ transaction_id });
  const { product }: { product: Product } = await client
    .products.get({ sku_or_id: "A" });
  await client.uploads.create({ products: [product] });
  const counted = [
    { sku: "A", quantity: 12 },
    { sku: "B", quantity: { value: 12, expected: 9 } },
    { sku: "C", quantity: { value: null, expected: 9 } },
    { sku: "D", quantity: { value: 12, expected: "" as const } },
  ];
  await client.uploads.create({ products: counted });
  for await (const { sku } of client.products.list({ limit: 5 })) {
    const text: string | undefined = sku;
    void [text, created, done];
  }
  const code = (error: unknown): DetailCode | null =>
    error instanceof ApiError ? error.details[0].code : null;
  void code;
}

export async function mustNotCompile(client: Client): Promise<void> {
  const sku = "A";
  // @ts-expect-error an amount is exact text, not a number
  await client.uploads.create({ products: [{ sku, price: { value: 1 } }] });
  // @ts-expect-error a price has a currency
  await client.uploads.create({ products: [{ sku, price: { value: "1" } }] });
  // @ts-expect-error a product is addressed by its id or its SKU
  await client.uploads.create({ products: [{ title: "A" }] });
  // @ts-expect-error no field has this name
  await client.uploads.create({ products: [{ sku, colour: "red" }] });
  // @ts-expect-error the price cannot be cleared
  await client.uploads.create({ products: [{ sku, price: null }] });
  const tried = await client.uploads.create({ products: [], dry_run: true });
  // @ts-expect-error a dry run stores nothing
  void tried.transaction_id;
  // @ts-expect-error no trigger has this name
  await client.webhooks.test({ trigger: "order_payed" });
  const images = { sku_or_id: sku, attribute: "images", value: "" } as const;
  // @ts-expect-error an attribute update cannot change this
  await client.products.setAttribute(images);
  // @ts-expect-error the parameter is called sku_or_id
  await client.products.get({ sku });
  // @ts-expect-error this list has no pages
  client.webhooks.list().pages();
  // @ts-expect-error a seller's client has no operation of an operator
  client.sellers.list();
}
