/** The commands that carry data of a version before 1.0.0 over, as written. */
import { assert, assertEquals } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { blocks, chapter } from "../support/handbook.ts";
import { run } from "../support/foreign.ts";

Deno.test("products of each seller are carried over by the commands of the chapter", async () => {
  const config = { operatorKey: "operator" };
  await using old = await boot({ config });
  await using app = await boot({ config, seller: { id: "", key: "" } });
  const shop = old.client({ key: await old.addSeller("shop") });
  const skus = Array.from({ length: 250 }, (_, i) => `S-${i}`);
  for (const some of [skus, ["LAST"]]) {
    await shop.uploads.create({
      products: `<products>${
        some.map((sku) => product(sku)).join("")
      }</products>`,
    });
  }
  const commands = blocks(chapter("changes"))
    .filter(({ language, code }) => language === "sh" && code.includes("old="));
  assertEquals(commands.length, 1);
  const script = commands[0].code
    .replace("http://127.0.0.1:8079", old.url)
    .replace("http://127.0.0.1:8080", app.url);
  const { success, text } = await run("bash", [
    "-euo",
    "pipefail",
    "-c",
    script,
  ], {
    env: { old_key: "operator", new_key: "operator" },
  });
  assert(success, text);
  const keys = new Map(
    [...text.matchAll(/^(\w+): (sk_[\w-]+)$/gm)].map((
      [, name, key],
    ) => [name, key]),
  );
  assertEquals([...keys.keys()].sort(), ["acme", "shop"]);
  const client = app.client({ key: keys.get("shop") });
  for await (const one of client.imports.list()) {
    const { status } = await client.imports.waitFor(one);
    assertEquals(status, "completed");
  }
  const found: string[] = [];
  for await (const { sku } of client.products.list()) found.push(sku!);
  assertEquals(found.length, 251);
  assert(found.includes("LAST"));
});
