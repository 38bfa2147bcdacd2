/**
 * An import continues after the real program was killed, and stores each part
 * once.
 */
import { assert, assertEquals } from "@std/assert";
import { product } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { Service } from "../support/service.ts";

const COUNT = 5_000;
const KILLS = 4;

Deno.test("an import goes on after each kill, and each product is stored once", async () => {
  const folder = await Deno.makeTempDir();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const service = stack.use(await Service.start(folder));
  const key = service.keys.get("acme")!;
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { "X-Service-Auth": key, "Content-Type": "text/xml" };
    const answer = await fetch(service.url + path, { ...init, headers });
    const text = await answer.text();
    assertEquals(answer.status, 200, text);
    return text;
  };
  const products = Array.from({ length: COUNT }, (_, n) => product(`S-${n}`));
  const begun = await call("/seller_api/imports", {
    method: "POST",
    body: `<products>${products.join("\n")}</products>`,
  });
  const [, id] = /<import_id>(.*)<\/import_id>/.exec(begun)!;
  const path = `/seller_api/imports/${id}`;
  const progressIn = (text: string) => Number(/<progress>(\d+)/.exec(text)![1]);
  let shown = 0;
  for (let kill = 1; kill <= KILLS; kill++) {
    await until(async () => {
      const now = progressIn(await call(path));
      assert(now >= shown, "progress never goes back");
      const moved = now > shown || now === 100;
      if (moved) shown = now;
      return moved;
    }, "a part");
    await service.kill();
    await service.start();
  }
  await until(
    async () => /<status>completed</.test(await call(path)),
    "the end of the import",
  );
  const text = await call(path);
  assert(text.includes(`<created>${COUNT}</created>`), text);
  const skus = new Set<string>();
  for (let after = ""; after !== null;) {
    const page = await call(`${path}/results?limit=250${after}`);
    for (const [, sku] of page.matchAll(/<sku>([^<]*)/g)) skus.add(sku);
    const next = /<next>([^<]*)/.exec(page);
    if (next === null) break;
    after = `&after=${next[1]}`;
  }
  assertEquals(skus.size, COUNT);
  const events = await call("/seller_api/events?trigger=import_finished");
  assertEquals(events.match(/<event>/g)?.length, 1, events);
  const account = await call("/seller_api/account");
  assert(account.includes(`<products>${COUNT}</products>`), account);
});
