/** Malformed, smuggled and merely unusual requests, as bytes on a socket. */
import { assert, assertEquals } from "@std/assert";
import { findProducts } from "../../../src/catalogue/product_rows.ts";
import { boot, type TestApp } from "../../support/app.ts";
import { readCorpus, withCorpusJson } from "../../support/corpus.ts";
import { raw, statusesOf, statusOf } from "../../support/raw.ts";
import { escapeXml } from "../../support/xml.ts";

interface RawRequest {
  file: string;
  expected: "400" | "wait" | "close" | "not-5xx";
  embeddedRequests?: number;
  /** The answers of a bare `Deno.serve`. */
  denoServe: { statuses: number[]; closed: boolean };
}

/** Long enough for a busy machine to answer, as every request is counted. */
const LONG_SILENCE_MS = 3_000;

/** The same bytes, as an upload with a valid key. */
function asUpload(request: Uint8Array, key: string): Uint8Array {
  const text = new TextDecoder("latin1").decode(request);
  const aimed = text.replace(
    /^[A-Z]+ \S+ (HTTP\/1\.[01])\r\n/,
    `POST /seller_api/bulk_products $1\r\nX-Service-Auth: ${key}\r\n` +
      "Content-Type: text/xml\r\n",
  );
  return Uint8Array.from(aimed, (char) => char.charCodeAt(0));
}

async function checkRequest(
  app: TestApp,
  { file, expected, denoServe }: RawRequest,
  request: Uint8Array,
): Promise<void> {
  const answers = await statusesOf(app.url, request);
  const label = `${file}: ${answers}, bare ${denoServe.statuses}`;
  assert(answers.every((status) => status < 500), label);
  // A refusal may come before the body is read; but nothing after the place
  // where Deno's own parser stopped is ever answered.
  assert(answers.length <= Math.max(1, denoServe.statuses.length), label);
  const stopped = denoServe.statuses.indexOf(400);
  if (expected === "400" && stopped !== -1 && answers.length > stopped) {
    assertEquals(answers[stopped], 400, label);
  }
}

withCorpusJson<RawRequest[]>("http/index.json", (index) => {
  Deno.test("a malformed request is refused, and later requests on its connection are not answered", async () => {
    await using app = await boot();
    const tried = index.map(async (one) => {
      const request = readCorpus(`http/${one.file}`)!;
      await checkRequest(app, one, request);
    });
    await Promise.all(tried);
    assertEquals(app.log.filter(({ status }) => Number(status) >= 500), []);
    assertEquals((await app.call("/seller_api/webhooks")).status, 200);
  });

  Deno.test("a malformed request with a valid key stores nothing", async () => {
    await using app = await boot();
    const tried = index.map(async ({ file }) => {
      const request = asUpload(readCorpus(`http/${file}`)!, app.key);
      const answers = await statusesOf(app.url, request, LONG_SILENCE_MS);
      assert(answers.every((status) => status >= 400 && status < 500), file);
    });
    await Promise.all(tried);
    assertEquals(app.log.filter(({ status }) => Number(status) >= 500), []);
    const row = await app.app.db.read((sql) =>
      sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM transactions")
    );
    assertEquals(row!.n, 0);
    const reached = app.log.filter(({ seller }) => seller === "acme");
    assert(reached.length > 40, String(reached.length));
  });
});

interface SkuPath {
  /** The segment of the path, byte for byte. */
  wire: string;
  note: string;
  /** The SKU that it addresses. */
  sku?: string;
  /** Whether a URL parser would resolve it to a path outside `/products/`. */
  escapes?: boolean;
}

/** Uploads a product for each SKU; returns those that are valid SKUs. */
async function storeSkus(
  app: TestApp,
  paths: readonly SkuPath[],
): Promise<Set<string>> {
  const stored = new Set<string>();
  const skus = [...new Set(paths.flatMap(({ sku }) => sku ?? []))];
  for (const sku of skus) {
    if (sku.trim() !== sku || stored.has(sku)) continue;
    const answer = await app.upload(
      `<product><sku>${escapeXml(sku)}</sku><title>t</title>` +
        `<price currency="SEK">1</price><quantity>1</quantity></product>`,
    );
    assert([200, 400, 422].includes(answer.status), answer.text);
    if (answer.status === 200) stored.add(sku);
  }
  return stored;
}

/** The SKU of a path segment; null if it is not one. */
function decoded(wire: string): string | null {
  if (/[/?#]/.test(wire)) return null;
  try {
    return decodeURIComponent(wire);
  } catch {
    return null;
  }
}

async function putBrand(
  app: TestApp,
  wire: string,
  brand: string,
): Promise<number> {
  return statusOf(
    await raw(
      app.url,
      `PUT /seller_api/products/${wire}/attribute/brand/${brand} HTTP/1.1\r\n` +
        `Host: x\r\nX-Service-Auth: ${app.key}\r\nConnection: close\r\n\r\n`,
    ),
  );
}

withCorpusJson<SkuPath[]>("strings/sku-paths.json", (paths) => {
  Deno.test("a path reaches the product that it names and no other", async () => {
    await using app = await boot();
    const stored = await storeSkus(app, paths);
    const brands = new Map<string, string>();
    for (const [i, { wire, note, sku, escapes }] of paths.entries()) {
      const status = await putBrand(app, wire, `b${i}`);
      const label = `${note}: ${wire.slice(0, 100)} → ${status}`;
      const target = decoded(wire);
      if (sku !== undefined) assertEquals(target, sku, label);
      if (target !== null && stored.has(target)) {
        assertEquals(status, 204, label);
        brands.set(target, `b${i}`);
      } else {
        assert([400, 404].includes(status), label);
      }
      if (escapes) assert(status !== 204, label);
    }
    assert(brands.size > 500, String(brands.size));
    const products = await app.app.db.read((sql) =>
      findProducts(sql, app.sellerNo, { skus: [...stored] })
    );
    assertEquals(
      products.filter(({ sku, brand }) =>
        (brand ?? undefined) !== brands.get(sku)
      ),
      [],
    );
    assertEquals(app.log.filter(({ status }) => Number(status) >= 500), []);
  });
});
