/** A long document takes long to read; nobody else has to wait for it. */
import { assertEquals } from "@std/assert";
import { WINDOW } from "../../src/xml/source.ts";
import { boot, product } from "../support/app.ts";

Deno.test("others are answered between the pieces of long documents", async () => {
  await using app = await boot();
  const other = await app.addSeller("other");
  const order: string[] = [];
  const upload = async (name: string, windows: number, key = app.key) => {
    const body = `<products>${product(name)}${" ".repeat(windows * WINDOW)}`;
    const { status } = await app.call("/seller_api/bulk_products", {
      key,
      method: "POST",
      body: `${body}</products>`,
    });
    order.push(`${name} ${status}`);
  };
  const long = [upload("A", 60), upload("B", 60)];
  await upload("short", 0);
  await upload("another one's", 8, other);
  await Promise.all(long);
  assertEquals(order.slice(0, 2), ["short 200", "another one's 200"]);
  assertEquals(order.slice(2).sort(), ["A 200", "B 200"]);
});
