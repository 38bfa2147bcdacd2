import { ApiError, createClient } from "../../../src/client/dist/client.js";

const client = createClient({
  url: Deno.env.get("BASE_URL")!,
  key: Deno.env.get("API_KEY")!,
});

const files = Array.from(Deno.readDirSync("pictures"), ({ name }) => name)
  .map((name) => ({ name, at: name.split(/[_.]/) }))
  .sort((a, b) => Number(a.at[1]) - Number(b.at[1]));
const images: Record<string, { url: string }[]> = {};
for (const { name, at: [sku] } of files) {
  const image = new Blob([await Deno.readFile(`pictures/${name}`)]);
  try {
    const uploaded = await client.images.upload({ image });
    (images[sku] ??= []).push({ url: uploaded.image.url });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.log("refused", name, error.details[0].code);
  }
}
await client.uploads.create({
  products: Object.entries(images).map(([sku, images]) => ({ sku, images })),
});
