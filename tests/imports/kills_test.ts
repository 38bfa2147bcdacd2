/**
 * An import continues after the real program was killed, and stores each part
 * once.
 */
import { assert, assertEquals } from "@std/assert";
import { product } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { Service } from "../processes/service.ts";

const COUNT = 6_000;
/** In each phase of an import. */
const KILLS = 2;

Deno.test("an import continues after each kill, and each product is stored once", async () => {
  const folder = await Deno.makeTempDir();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const service = stack.use(await Service.start(folder));
  const call = async (path: string, body?: string) => {
    const { status, text } = await service.ask(path, { body });
    assertEquals(status, 200, text);
    return text;
  };
  const products = Array.from({ length: COUNT }, (_, n) => product(`S-${n}`));
  const begun = await call(
    "/seller_api/imports",
    `<products>${products.join("\n")}</products>`,
  );
  const [, id] = /<import_id>(.*)<\/import_id>/.exec(begun)!;
  const path = `/seller_api/imports/${id}`;
  const progressIn = (text: string) => Number(/<progress>(\d+)/.exec(text)![1]);
  let shown = 0;
  /** Waits until more is done; returns the status. */
  const moved = async () => {
    let text = "";
    await until(async () => {
      text = await call(path);
      const now = progressIn(text);
      assert(now >= shown, "progress never goes back");
      const hasMoved = now > shown;
      shown = now;
      return hasMoved;
    }, "a part");
    return text;
  };
  for (const phase of ["checking", "storing"]) {
    const isIn = (text: string) => text.includes(`<status>${phase}<`);
    for (let kill = 1; kill <= KILLS; kill++) {
      while (!isIn(await moved())) {
        assert(shown < 100, `the import ended before a kill while ${phase}`);
      }
      await service.kill();
      await service.start();
      const text = await call(path);
      assert(isIn(text), `the kill has hit the import while ${phase}: ${text}`);
    }
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
