import { assert, assertEquals } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { until } from "../support/clock.ts";

const OPERATOR = "operator-key";
const SELLERS = 16;
/** Deno has 32 threads for look-ups and files. */
const MOST = 24;

Deno.test("look-ups for uploads and deliveries leave threads for files", async () => {
  let silent = false;
  let running = 0;
  let most = 0;
  const end = Promise.withResolvers<void>();
  const resolve = async () => {
    most = Math.max(most, ++running);
    if (silent) await end.promise;
    running--;
    return ["93.184.216.34"];
  };
  const dial = () => Promise.reject(new Deno.errors.ConnectionRefused());
  await using app = await boot({
    config: { operatorKey: OPERATOR, roles: ["api", "webhooks"] },
    app: { network: { resolve, dial } },
  });
  const keys = await Promise.all(
    Array.from({ length: SELLERS }, (_, n) => app.addSeller(`seller${n}`)),
  );
  const post = async (path: string, key: string, body: string) => {
    const { status, text } = await app.call(path, {
      method: "POST",
      key,
      body,
    });
    assertEquals(status, 200, text);
  };
  const trigger = "<trigger>order_created</trigger>";
  for (const [n, key] of keys.entries()) {
    const url = `<url>http://w${n}.slow.example/</url>`;
    const webhook = `<webhook>${trigger}${url}</webhook>`;
    await post("/seller_api/webhooks", key, webhook);
  }
  silent = true;
  for (const n of keys.keys()) {
    const event = `<event><seller>seller${n}</seller>${trigger}` +
      `<reference>${n}</reference></event>`;
    await post("/operator_api/events", OPERATOR, event);
  }
  await until(() => running === SELLERS, "all deliveries");
  const image = (n: number, i: number) =>
    `<image>http://${i}.i${n}.slow.example/a.png</image>`;
  const uploads = keys.map((key, n) => {
    const images = [0, 1, 2, 3].map((i) => image(n, i)).join("");
    const body = `<products>${
      product("A", `<images>${images}</images>`)
    }</products>`;
    return app.call("/seller_api/bulk_products", { method: "POST", key, body });
  });
  // All look-ups that may begin have begun.
  await new Promise((done) => setTimeout(done, 500));
  const seen = most;
  end.resolve();
  for (const { status } of await Promise.all(uploads)) {
    assertEquals(status, 422);
  }
  assert(seen <= MOST, `${seen} look-ups ran`);
});
