/** The client as npm packs it, and a program that uses it. */
import { assert } from "@std/assert";
import { run } from "../support/foreign.ts";

const CLIENT = new URL("../../src/client/", import.meta.url).pathname;

/** Packs the client into a folder and unpacks it there; returns its folder. */
export async function packedClient(folder: string): Promise<string> {
  const packed = await run("npm", [
    "pack",
    "--silent",
    "--ignore-scripts",
    `--pack-destination=${folder}`,
  ], { cwd: CLIENT });
  assert(packed.success, packed.text);
  const file = packed.text.trim();
  const name = `${folder}/node_modules/@seller-interface/client`;
  await Deno.mkdir(name, { recursive: true });
  const args = ["xzf", `${folder}/${file}`, "--strip-components=1", "-C", name];
  const unpacked = await run("tar", args);
  assert(unpacked.success, unpacked.text);
  return name;
}

/**
 * The body of an async function of `client`, `url` and `key`, which returns
 * what `RESULT` is.
 */
export const PROGRAM = `
const { createClient, isRetryable, NotFoundError } = client;
const seller = createClient({ url, key });
const products = Array.from({ length: 250 }, (_, i) => ({
  sku: \`S-\${i}\`, title: "Mug", description: "x".repeat(300), quantity: 1,
  price: { amount: "149.00", currency: "SEK" },
}));
const upload = await seller.uploads.create({ products });
const { status } = await seller.uploads.waitFor(upload);
let count = 0;
for await (const { sku } of seller.products.list({ limit: 100 })) count++;
const error = await seller.products.get({ sku_or_id: "none" }).catch((e) => e);
return [status, count, error.code, error instanceof NotFoundError,
  isRetryable(error)].join(" ");
`;

export const RESULT = "completed 250 not_found true false";

/** A module that imports the package and prints the result. */
export function moduleOf(url: string, key: string): string {
  return `import * as client from "@seller-interface/client";
const [url, key] = ${JSON.stringify([url, key])};
console.log(await (async () => {${PROGRAM}})());
`;
}
