/** Stored products are found by the names of pictures. */
import { assert, assertEquals, assertLess } from "@std/assert";
import { type Client, createClient } from "../../src/client/mod.ts";
import { findPicturedProducts } from "../../src/web/pictures/stored.ts";

/** A catalogue whose requests are counted. */
function catalogueOf(...skus: string[]): {
  client: Client;
  asked: string[];
} {
  const asked: string[] = [];
  const answer = (status: number, content: unknown) =>
    Promise.resolve(new Response(JSON.stringify(content), { status }));
  const one = (sku: string) => ({ id: `id ${sku}`, sku, title: sku });
  const client = createClient({
    url: "http://market.example",
    key: "key",
    retryFor: 0,
    fetch: (url) => {
      const { pathname } = new URL(url);
      asked.push(pathname);
      const name = decodeURIComponent(pathname.split("/").at(-1)!);
      if (name === "products") {
        return answer(200, { products: skus.map(one) });
      }
      return skus.includes(name)
        ? answer(200, { product: one(name) })
        : answer(404, { error: { code: "not_found", message: "no" } });
    },
  });
  return { client, asked };
}

async function found(
  { client }: ReturnType<typeof catalogueOf>,
  size: number,
  paths: string[],
  rows: string[] = [],
): Promise<string[]> {
  const progress: number[] = [];
  const products = await findPicturedProducts(
    {
      client,
      signal: new AbortController().signal,
      onProgress: (done) => progress.push(done),
    },
    size,
    paths,
    rows,
  );
  assert(size === 0 || progress.length > 0);
  return products.map(({ sku }) => sku).toSorted();
}

Deno.test("a small catalogue is read, page by page", async () => {
  const catalogue = catalogueOf("MUG-1", "MUG-2");
  assertEquals(await found(catalogue, 2, ["a.jpg"]), ["MUG-1", "MUG-2"]);
  assertEquals(catalogue.asked, ["/seller_api/products"]);
});

Deno.test("no product is searched in an empty catalogue", async () => {
  const catalogue = catalogueOf();
  assertEquals(await found(catalogue, 0, ["MUG-1.jpg"]), []);
  assertEquals(catalogue.asked, []);
});

Deno.test("in a large catalogue only the SKUs that names may hold are read", async () => {
  const catalogue = catalogueOf("MUG-1", "BOWL 7", "A/12", "ROW");
  const paths = [
    ...Array.from({ length: 20 }, (_, i) => `shop/MUG-1_${i}.jpg`),
    "shop/bowl-7-back.jpg",
    "shop/A_12.jpg",
    "shop/IMG_4711.jpg",
  ];
  assertEquals(await found(catalogue, 1_000_000, paths, ["ROW"]), [
    "A/12",
    "BOWL 7",
    "MUG-1",
    "ROW",
  ]);
  assert(!catalogue.asked.includes("/seller_api/products"));
  assertEquals(new Set(catalogue.asked).size, catalogue.asked.length);
  assertLess(catalogue.asked.length, 140);
});
