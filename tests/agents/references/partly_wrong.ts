import { createClient } from "../../../src/client/dist/client.js";

const client = createClient({
  url: Deno.env.get("BASE_URL")!,
  key: Deno.env.get("API_KEY")!,
});

const { products } = JSON.parse(await Deno.readTextFile("products.json"));
const upload = await client.uploads.create({ products, accept: "valid" });
const again = [];
for await (const { sku, details } of client.uploads.results(upload)) {
  if (details === undefined) continue;
  const product = products.find((one: { sku: string }) => one.sku === sku);
  for (const { field, code } of details) {
    console.log(sku, field, code);
    if (field === "price") {
      product.price.amount = product.price.amount.replace(",", ".");
    } else if (field === "gtin") delete product.gtin;
    else if (field === "title") product.title = sku;
  }
  again.push(product);
}
await client.uploads.create({ products: again });
