import { DatabaseSync } from "node:sqlite";
import { createOperatorClient } from "../../../src/client/dist/client.js";

const operator = createOperatorClient({
  url: Deno.env.get("BASE_URL")!,
  key: Deno.env.get("OPERATOR_KEY")!,
});

const names: string[] = [];
for await (const { name } of operator.sellers.list()) names.push(name);
if (!names.includes("harbour")) {
  const { seller } = await operator.sellers.create({
    seller: { name: "harbour" },
  });
  await Deno.writeTextFile("harbour.key", seller.api_key);
}
const db = new DatabaseSync("copy.db");
db.exec(`CREATE TABLE IF NOT EXISTS products
  (id TEXT PRIMARY KEY, seller_id, sku, title, price REAL, quantity INTEGER);
CREATE TABLE IF NOT EXISTS place (name PRIMARY KEY, value)`);
let after = db.prepare("SELECT value FROM place").get()?.value as
  | string
  | undefined;
const put = db.prepare(
  "INSERT OR REPLACE INTO products VALUES (?, ?, ?, ?, ?, ?)",
);
for (;;) {
  const { products, next } = await operator.feed.list({ after, limit: 250 });
  db.exec("BEGIN");
  for (const one of products) {
    if (one.deleted_at !== undefined) {
      db.prepare("DELETE FROM products WHERE id = ?").run(one.id);
      continue;
    }
    const price = Number(one.price!.amount);
    const { id, seller_id, sku, title, quantity } = one;
    put.run(id, seller_id!, sku!, title!, price, quantity ?? null);
  }
  if (next !== undefined) {
    db.prepare("INSERT OR REPLACE INTO place VALUES ('after', ?)").run(next);
  }
  db.exec("COMMIT");
  if (next === undefined) break;
  after = next;
}
