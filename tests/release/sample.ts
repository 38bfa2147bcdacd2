/**
 * A small database that the program of a release makes: a seller with products,
 * an upload that was undone, an import and a webhook. It is kept, so
 * that every later program proves that it upgrades it (`upgrade_test.ts`).
 */
import { assert } from "@std/assert";
import { gzipSync } from "node:zlib";
import { temporaryFolder } from "../support/process.ts";

/** The folder of what is kept of each release. */
export const RELEASED = new URL("released/", import.meta.url);

/** The seller of a sample. */
export interface Sample {
  sellerId: string;
  key: string;
}

/** Makes the sample of a version with the program in the folder `source`. */
export async function keepSample(
  source: string,
  version: string,
): Promise<void> {
  await using folder = await temporaryFolder();
  const env = {
    SELLER_DATA_DIR: folder.path,
    SELLER_PORT: "0",
    SELLER_OPERATOR_KEY: "operator",
    SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
  };
  const added = await runTask(source, ["cli", "seller", "add", "acme"], env);
  const key = /sk_[\w-]+/.exec(added)?.[0];
  assert(key, added);
  const service = new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start"],
    cwd: source,
    env,
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const [output, url] = await listeningAt(service.stdout);
  let sellerId: string;
  try {
    sellerId = await fill(url, key);
  } finally {
    service.kill("SIGTERM");
    for await (const _ of output);
    await service.status;
  }
  const file = await Deno.readFile(`${folder.path}/seller.db`);
  await Deno.mkdir(RELEASED, { recursive: true });
  await Deno.writeFile(
    new URL(`${version}.db.gz`, RELEASED),
    gzipSync(file, { level: 9 }),
  );
  const sample: Sample = { sellerId, key };
  await Deno.writeTextFile(
    new URL(`${version}.seller`, RELEASED),
    JSON.stringify(sample) + "\n",
  );
}

async function runTask(
  cwd: string,
  task: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", ...task],
    cwd,
    env,
  }).output();
  const decoder = new TextDecoder();
  assert(success, decoder.decode(stderr));
  return decoder.decode(stdout);
}

/** The address that the program prints, and the rest of its output. */
async function listeningAt(
  stdout: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<[AsyncIterable<string>, string]> {
  const output = stdout.pipeThrough(new TextDecoderStream());
  const reader = output.values({ preventCancel: true });
  let text = "";
  for (;;) {
    const { done, value } = await reader.next();
    assert(!done, text);
    text += value;
    const url = /listening on (http:\/\/\S+)/.exec(text)?.[1];
    if (url === undefined) continue;
    await reader.return?.();
    return [output, url];
  }
}

const PRODUCTS = ["A", "B", "C"].map((sku) => ({
  sku,
  title: `Mug ${sku}`,
  price: { amount: "149.00", currency: "SEK" },
  quantity: 12,
  categories: ["Home > Kitchen"],
  attributes: [{ name: "color", value: "Blue" }],
}));

/** Uses the interface of version 1.1; returns the id of the seller. */
async function fill(url: string, key: string): Promise<string> {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}/seller_api/${path}`, {
      method,
      headers: {
        "X-Service-Auth": key,
        Accept: "application/json",
        ...(body !== undefined && { "Content-Type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    assert(answer.ok, `${method} ${path}: ${text}`);
    return text === "" ? {} : JSON.parse(text);
  };
  await call("POST", "bulk_products", { products: PRODUCTS });
  const changed = await call("POST", "bulk_products", {
    products: [{ sku: "B", title: "Changed" }],
  });
  await call("POST", `bulk_products/${changed.transaction_id}/undo`);
  await call("PUT", "products/A/attribute/price/99.00");
  const { import_id } = await call("POST", "imports", {
    products: [{ ...PRODUCTS[0], sku: "D" }],
  });
  for (let status = ""; status !== "completed";) {
    status = (await call("GET", `imports/${import_id}?wait=5`)).import.status;
  }
  await call("DELETE", "products/C");
  await call("POST", "webhooks", {
    trigger: "order_created",
    url: "http://127.0.0.1:8080/hooks",
  });
  return (await call("GET", "account")).account.id;
}
