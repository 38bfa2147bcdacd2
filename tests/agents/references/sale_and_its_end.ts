import { createClient } from "../../../src/client/dist/client.js";

const client = createClient({
  url: Deno.env.get("BASE_URL")!,
  key: Deno.env.get("API_KEY")!,
});

const [command, until] = Deno.args;
if (command === "undo") {
  const transaction_id = await Deno.readTextFile("upload.txt");
  await client.uploads.undo({ transaction_id });
} else {
  const [, ...lines] = (await Deno.readTextFile("sale.csv")).trim().split("\n");
  const products = lines.map((line) => {
    const [sku, price] = line.split(",");
    return { sku, sale: { price, until } };
  });
  const upload = await client.uploads.setAttributes({ products });
  await Deno.writeTextFile("upload.txt", upload.transaction_id);
  for (const { sku } of products) {
    const { product } = await client.products.get({ sku_or_id: sku });
    console.log(sku, product.current_price!.amount);
  }
}
