/**
 * Silent image hosts slow down neither other sellers nor, if an import names
 * them, the uploads of its seller.
 */
import { assertEquals, assertLess } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { RunningClock, until } from "../support/clock.ts";

/**
 * Listens on every address of 127.0.0.0/8, so that a test has as many origins
 * as it wants.
 */
class SilentHost implements AsyncDisposable {
  /** HEADs that wait for an answer. */
  held = 0;
  /** The paths of all HEADs. */
  readonly seen: string[] = [];
  readonly port: number;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #released = Promise.withResolvers<void>();

  constructor() {
    const at = { hostname: "0.0.0.0", port: 0, onListen: () => {} };
    this.#server = Deno.serve(at, async ({ url }) => {
      this.seen.push(new URL(url).pathname);
      if (url.includes("/good/")) return new Response();
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

/** Products with these images, ten for each product. */
function productsWith(urls: readonly string[]): string {
  const products: string[] = [];
  for (let n = 0; n < urls.length; n += 10) {
    products.push(product(`A-${n}`, imagesOf(urls.slice(n, n + 10))));
  }
  return `<products>${products.join("")}</products>`;
}

/** URLs with different origins, in the network 127.`net`. */
function urlsOf(
  host: SilentHost,
  count: number,
  path: (n: number) => string,
  net = 1,
): string[] {
  return Array.from(
    { length: count },
    (_, n) => `http://127.${net}.${n >> 8}.${n & 255}:${host.port}/${path(n)}`,
  );
}

/** The networks of the good seller's hosts, by name. */
const NETWORKS = {
  "on hosts of its own": 2,
  "on the hosts of their URLs": 1,
};

for (const [where, net] of Object.entries(NETWORKS)) {
  Deno.test(`ten sellers with silent URLs do not delay another one's 500 images ${where}`, () =>
    tenSilentSellers(net));
}

async function tenSilentSellers(net: number): Promise<void> {
  await using host = new SilentHost();
  // Hardly advances while a busy machine lets this process wait.
  using clock = new RunningClock();
  await using app = await boot({ deps: { clock } });
  const upload = (key: string, body: string) =>
    app.call("/seller_api/bulk_products?v=1.1", { method: "POST", key, body });
  const slow: Promise<unknown>[] = [];
  let answered = 0;
  for (let n = 0; n < 10; n++) {
    const key = await app.addSeller(`slow ${n}`);
    const body = productsWith(urlsOf(host, 100, (m) => `${n}/${m}.png`));
    slow.push(upload(key, body).finally(() => answered++));
  }
  await until(() => host.held >= 150, "the HEADs that hang");

  const good = productsWith(urlsOf(host, 500, (n) => `good/${n}.png`, net));

  const begunAt = clock.monotonic();
  const quick = await upload(app.key, good);
  const tookMs = clock.monotonic() - begunAt;
  assertEquals(quick.status, 200, quick.text);
  assertEquals(answered, 0, "the slow uploads are under way no longer");
  // It waits for one hanging HEAD, not for two.
  assertLess(tookMs, 10_000);
  host.release();
  await Promise.all(slow);
}

Deno.test("an upload's images are checked before those of its seller's import", async () => {
  await using host = new SilentHost();
  using clock = new RunningClock();
  await using app = await boot({ deps: { clock } });
  const probes = () => app.app.holders.inUse()["outbound.requests"] ?? 0;
  const begun = await app.call("/seller_api/imports?v=1.1", {
    method: "POST",
    body: productsWith(urlsOf(host, 200, (n) => `${n}.png`)),
  });
  assertEquals(begun.status, 200, begun.text);
  await until(() => probes() === 128 && host.held > 0, "the import's HEADs");

  const sent = host.seen.length;
  const urls = urlsOf(host, 10, (n) => `good/${n}.png`, 2);
  const upload = await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    body: productsWith(urls),
  });
  assertEquals(upload.status, 200, upload.text);

  // The HEADs of the import that were sent when its first ones timed out.
  const before = host.seen.slice(sent)
    .filter((path) => !path.startsWith("/good/"));
  assertLess(before.length, 64);
});
