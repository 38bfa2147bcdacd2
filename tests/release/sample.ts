/**
 * A small database that the program of a release makes: a seller with products,
 * an upload that was undone, an import and a webhook. It is kept, so
 * that every later program proves that it upgrades it (`upgrade_test.ts`).
 */
import { assert } from "@std/assert";
import { gzipSync } from "node:zlib";
import { run } from "../support/foreign.ts";
import { installedPostgres, PostgresServer } from "../support/postgres.ts";
import { temporaryFolder } from "../support/process.ts";

/** The folder of what is kept of each release. */
export const RELEASED = new URL("released/", import.meta.url);

/** The seller of a sample. */
export interface Sample {
  sellerId: string;
  key: string;
}

/**
 * Makes the samples of a version with the program in the folder `source`: a
 * file of SQLite, and a dump of PostgreSQL where its `pg_dump` is installed.
 */
export async function keepSamples(
  source: string,
  version: string,
): Promise<void> {
  await Deno.mkdir(RELEASED, { recursive: true });
  await using folder = await temporaryFolder();
  const sample = await makeSample(source, { SELLER_DATA_DIR: folder.path });
  const file = await Deno.readFile(`${folder.path}/seller.db`);
  await keep(`${version}.db`, file, sample);
  const installation = await installedPostgres();
  if (installation === null) {
    console.log("without a dump of PostgreSQL, which is not installed");
    return;
  }
  await using server = await PostgresServer.start({}, {}, { installation });
  const url = await server.database({ empty: true });
  await using data = await temporaryFolder();
  const dumped = await makeSample(source, {
    SELLER_DATA_DIR: data.path,
    SELLER_DATABASE_URL: url,
  });
  const { success, text } = await run(`${installation}/bin/pg_dump`, [
    "--inserts",
    "--no-owner",
    "--no-privileges",
    url,
  ]);
  assert(success, text);
  // Lines of psql, which is not needed to restore the dump.
  const sql = text.replaceAll(/^\\.*\n/gm, "");
  await keep(`${version}.sql`, new TextEncoder().encode(sql), dumped);
}

async function keep(
  name: string,
  content: Uint8Array,
  sample: Sample,
): Promise<void> {
  await Deno.writeFile(
    new URL(`${name}.gz`, RELEASED),
    gzipSync(content, { level: 9 }),
  );
  const text = JSON.stringify(sample) + "\n";
  await Deno.writeTextFile(new URL(`${name}.seller`, RELEASED), text);
}

/** Fills a new database by the program's commands and its interface. */
async function makeSample(
  source: string,
  place: Record<string, string>,
): Promise<Sample> {
  const env = {
    ...place,
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
  try {
    return { sellerId: await fill(url, key), key };
  } finally {
    service.kill("SIGTERM");
    for await (const _ of output);
    await service.status;
  }
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
