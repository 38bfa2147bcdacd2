import { createClient } from "../../../src/client/dist/client.js";

const client = createClient({
  url: Deno.env.get("BASE_URL")!,
  key: Deno.env.get("API_KEY")!,
});

const [, ...lines] = (await Deno.readTextFile("catalogue.csv")).trim()
  .split("\n");
const text = (value: string) =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const products = lines.map((line) => {
  const cells = [...line.matchAll(/"((?:[^"]|"")*)"|([^,"]+)/g)];
  const [sku, title, price, stock, image] = cells.map(([, quoted, plain]) =>
    text(quoted?.replaceAll('""', '"') ?? plain)
  );
  return `<product><sku>${sku}</sku><title>${title}</title>` +
    `<price currency="SEK">${price}</price><quantity>${stock}</quantity>` +
    `<images><image>${image}</image></images></product>`;
});
const upload = await client.uploads.create({
  products: `<products>${products.join("")}</products>`,
});
const { images, products: counts } = await client.uploads.waitFor(upload);
for await (const { sku, image } of client.uploads.results(upload)) {
  for (const { url } of image) console.log(sku, url);
}
console.log(`done: ${counts.total} products, ${images.failed} failed images`);
