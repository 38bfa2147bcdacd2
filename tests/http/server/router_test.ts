/** Which methods a path accepts. */
import { assertEquals } from "@std/assert";
import { ROUTES } from "../../../src/http/routes.ts";
import { boot, product, textAt } from "../../support/app.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];

Deno.test("Allow names exactly the methods that a path does not answer with 405", async () => {
  const operatorKey = "operator-key";
  await using app = await boot({ config: { operatorKey } });
  for (const path of new Set(ROUTES.map(({ path }) => path))) {
    const url = path.replaceAll(/:[a-z_]+/g, "x");
    const key = path.startsWith("/seller_api") ? app.key : operatorKey;
    const ask = (method: string) => app.call(url, { method, key });
    const accepted: string[] = [];
    for (const method of METHODS) {
      if ((await ask(method)).status !== 405) accepted.push(method);
    }
    const { headers } = await ask("PATCH");
    assertEquals(
      headers.get("allow")?.split(", ").sort(),
      accepted.sort(),
      url,
    );
  }
});

Deno.test("a literal path hides a path with a parameter for every method", async () => {
  await using app = await boot();
  const uploaded = await app.upload(product("rejected"));
  const status = await app.status(uploaded);
  const id = textAt(status, "results/product/id");
  const remove = (skuOrId: string) =>
    app.call(`/seller_api/products/${skuOrId}`, { method: "DELETE" });
  const refused = await remove("rejected");
  assertEquals([refused.status, refused.headers.get("allow")], [
    405,
    "GET, HEAD",
  ]);
  assertEquals((await remove(id)).status, 200);
});
