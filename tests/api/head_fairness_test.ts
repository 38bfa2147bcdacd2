/** One seller's silent image hosts take nothing from another seller. */
import { assert, assertEquals } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { until } from "../support/clock.ts";

/** On every address of 127.0.0.0/8, hence as many origins as a test wants. */
class SilentHost implements AsyncDisposable {
  /** HEADs that wait for their answer. */
  held = 0;
  readonly port: number;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #released = Promise.withResolvers<void>();

  constructor() {
    const at = { hostname: "0.0.0.0", port: 0, onListen: () => {} };
    this.#server = Deno.serve(at, async ({ url }) => {
      if (url.endsWith("/good.png")) return new Response();
      this.held++;
      await this.#released.promise;
      this.held--;
      return new Response();
    });
    this.port = this.#server.addr.port;
  }

  release(): void {
    this.#released.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.#server.shutdown();
  }
}

const imagesOf = (urls: readonly string[]) =>
  `<images>${urls.map((url) => `<image>${url}</image>`).join("")}</images>`;

Deno.test("300 silent origins of one seller leave another one's images alone", async () => {
  await using host = new SilentHost();
  await using app = await boot();
  const other = await app.addSeller("other");
  const silent = Array.from(
    { length: 300 },
    (_, n) => `http://127.1.${n >> 8}.${n & 255}:${host.port}/${n}.png`,
  );
  const products = Array.from(
    { length: 30 },
    (_, n) => product(`A-${n}`, imagesOf(silent.slice(n * 10, n * 10 + 10))),
  );
  let answered = false;
  const slow = app.upload(products.join(""))
    .finally(() => answered = true);
  await until(() => host.held >= 128, "the HEADs that hang");

  const good = [`http://127.0.0.1:${host.port}/good.png`];
  const quick = await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    key: other,
    body: `<products>${product("B", imagesOf(good))}</products>`,
  });
  assertEquals(quick.status, 200, quick.text);
  assert(!answered, "the first upload is no longer under way");
  assertEquals(host.held, 128);
  host.release();
  await slow;
});
