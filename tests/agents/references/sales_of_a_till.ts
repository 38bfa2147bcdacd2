import { ApiError, createClient } from "../../../src/client/dist/client.js";

const client = createClient({
  url: Deno.env.get("BASE_URL")!,
  key: Deno.env.get("API_KEY")!,
});

const lines = (await Deno.readTextFile("sales.txt")).trim().split("\n");
for (const line of lines) {
  const [sale, sku, pieces] = line.split(" ");
  try {
    await client.products.setAttribute(
      {
        sku_or_id: sku,
        attribute: "quantity",
        value: `-${pieces}`,
        change: true,
      },
      { idempotencyKey: `sale ${sale}` },
    );
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error;
    console.log("refused", sale);
  }
}
