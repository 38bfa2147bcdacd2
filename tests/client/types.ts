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
  const { transaction_id } = await client.uploadProducts({ products });
  const { dry_run } = await client.uploadProducts({ products, dry_run: true });
  const created: number = dry_run.products.created;
  const done: Transaction = await client.waitFor({ transaction_id });
  const { product }: { product: Product } = await client
    .getProduct({ sku_or_id: "A" });
  await client.uploadProducts({ products: [product] });
  const counted = [
    { sku: "A", quantity: 12 },
    { sku: "B", quantity: { value: 12, expected: 9 } },
    { sku: "C", quantity: { value: null, expected: 9 } },
    { sku: "D", quantity: { value: 12, expected: "" as const } },
  ];
  await client.uploadProducts({ products: counted });
  for await (const { sku } of client.all.listProducts({ limit: 5 })) {
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
  await client.uploadProducts({ products: [{ sku, price: { value: 1 } }] });
  // @ts-expect-error a price has a currency
  await client.uploadProducts({ products: [{ sku, price: { value: "1" } }] });
  // @ts-expect-error a product is addressed by its id or its SKU
  await client.uploadProducts({ products: [{ title: "A" }] });
  // @ts-expect-error no field has this name
  await client.uploadProducts({ products: [{ sku, colour: "red" }] });
  // @ts-expect-error the price cannot be cleared
  await client.uploadProducts({ products: [{ sku, price: null }] });
  const tried = await client.uploadProducts({ products: [], dry_run: true });
  // @ts-expect-error a dry run stores nothing
  void tried.transaction_id;
  // @ts-expect-error no trigger has this name
  await client.testWebhook({ trigger: "order_payed" });
  // @ts-expect-error an attribute update cannot change this
  await client.putAttribute({ sku_or_id: sku, attribute: "images", value: "" });
  // @ts-expect-error the parameter is called sku_or_id
  await client.getProduct({ sku });
  // @ts-expect-error this list has no pages
  client.all.listWebhooks();
}
