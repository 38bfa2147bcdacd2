/** What tests of uploaded images share. */
import { assertEquals } from "@std/assert";
import { systemDeps } from "../../src/deps.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { type Answer, type BootOptions, type TestApp, textAt } from "./app.ts";

export const ROLES: BootOptions["config"] = { roles: ["api", "images"] };

export function send(
  app: TestApp,
  bytes: Uint8Array<ArrayBuffer>,
  call: { key?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return app.call("/seller_api/images", {
    method: "POST",
    body: bytes,
    ...call,
    headers: { "Content-Type": "image/png", ...call.headers },
  });
}

/** Uploads an image; returns its URL. */
export async function urlOf(
  app: TestApp,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const answer = await send(app, bytes);
  assertEquals(answer.status, 200, answer.text);
  return textAt(answer.xml, "image/url");
}

export const pathOf = (url: string) => new URL(url).pathname;
export const showing = (url: string) =>
  `<images><image>${url}</image></images>`;

/** The image of a product: its URL, and the attributes of its element. */
export async function shown(
  app: TestApp,
  sku: string,
): Promise<Record<string, string>> {
  const { text } = await app.call(`/seller_api/products/${sku}`);
  const [, attributes, url] = /<image ([^>]*)>([^<]*)</.exec(text)!;
  const read = [...attributes.matchAll(/(\w+)="([^"]*)"/g)]
    .map(([, name, value]) => [name, value]);
  return { url, ...Object.fromEntries(read) };
}

/** The bytes of images that count against the seller's quota. */
export async function imageBytes(app: TestApp): Promise<string> {
  const { xml } = await app.call("/seller_api/account");
  return textAt(xml, "account/image_bytes");
}

export async function otherSeller(app: TestApp): Promise<string> {
  return await app.app.db.write(async (tx) =>
    (await addSeller(tx, systemDeps("error"), "other")).apiKey
  );
}

/** The files of the store, without its marker. */
export async function filesOf(app: TestApp): Promise<string[]> {
  const found: string[] = [];
  const folder = `${app.config.dataDir}/images`;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (name === "store.marker") continue;
    if (!isDirectory) found.push(name);
    else {
      for await (const file of Deno.readDir(`${folder}/${name}`)) {
        found.push(`${name}/${file.name}`);
      }
    }
  }
  return found.sort();
}
