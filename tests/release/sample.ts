/**
 * A small database that the program of a release makes, with rows in all tables
 * whose rows stay. It is kept, so that every later program proves that it
 * upgrades it (`upgrade_test.ts`).
 */
import { assert } from "@std/assert";
import { gzipSync } from "node:zlib";
import { isoTime } from "../../src/xml/encode.ts";
import { picture } from "../../src/sandbox/pictures.ts";
import { DAY_MS, SECOND_MS } from "../../src/lib/durations.ts";
import { run } from "../support/foreign.ts";
import { installedPostgres, PostgresServer } from "../support/postgres.ts";
import { temporaryFolder } from "../support/process.ts";

/** The folder of what is kept of each release. */
export const RELEASED = new URL("released/", import.meta.url);

/** The seller of a sample. */
export interface Sample {
  sellerId: string;
  key: string;
  /** When it was made, in Unix milliseconds. */
  madeAt: number;
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
    SELLER_SMTP_URL: "smtp://127.0.0.1:1",
    SELLER_MAIL_FROM: "notices@shop.example",
  };
  const added = await runTask(source, ["cli", "seller", "add", "acme"], env);
  const key = /sk_[\w-]+/.exec(added)?.[0];
  assert(key, added);
  await runTask(source, ["cli", "operator-key", "add", "backup"], env);
  const service = new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start"],
    cwd: source,
    env,
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const [output, url] = await listeningAt(service.stdout);
  try {
    return { sellerId: await fill(url, key), key, madeAt: Date.now() };
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

const CONTACT = {
  company: "Kockums Jernverk AB",
  street: "Bruksgatan 3",
  city: "Ronneby",
  country: "SE",
  email: "safety@kockums.example",
};

/** A host of images, and of webhooks of which one kind fails. */
function startHost() {
  return Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/a.png") return new Response(picture("a.png"));
      if (pathname === "/gone.png" && request.method !== "HEAD") {
        return new Response(null, { status: 404 });
      }
      return new Response(null, {
        status: pathname === "/failing" ? 500 : 200,
      });
    },
  );
}

/** An answer in JSON; its form follows from the request. */
// deno-lint-ignore no-explicit-any
type Answer = any;

/** Uses the interface of version 1.1; returns the id of the seller. */
async function fill(url: string, key: string): Promise<string> {
  await using host = startHost();
  const at = `http://127.0.0.1:${host.addr.port}`;
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    { expected = 200, headers = {} }: {
      expected?: number;
      headers?: Record<string, string>;
    } = {},
  ): Promise<Answer> => {
    const isOperator = path.startsWith("operator_api");
    const target = isOperator ? path : `seller_api/${path}`;
    const isJson = body !== undefined && !(body instanceof Uint8Array);
    const answer = await fetch(`${url}/${target}`, {
      method,
      headers: {
        "X-Service-Auth": isOperator ? "operator" : key,
        Accept: "application/json",
        ...(isJson && { "Content-Type": "application/json" }),
        ...headers,
      },
      body: isJson ? JSON.stringify(body) : body as Uint8Array<ArrayBuffer>,
    });
    const text = await answer.text();
    assert(
      answer.ok || answer.status === expected,
      `${method} ${path}: ${text}`,
    );
    return text === "" ? {} : JSON.parse(text);
  };
  /** Repeats a request until its answer is as wanted. */
  const wait = async (path: string, isDone: (answer: Answer) => boolean) => {
    for (let tries = 0; tries < 100; tries++) {
      if (isDone(await call("GET", path))) return;
      await new Promise((done) => setTimeout(done, 100));
    }
    throw new Error(`${path} did not become as wanted`);
  };
  const operate = (method: string, path: string, body?: unknown) =>
    call(method, `operator_api/${path}`, body);

  await operate("PUT", "review_reasons", {
    reasons: [{ code: "logo", field: "images", message: "It has a logo." }],
  });
  await operate("PUT", "categories", {
    closed: false,
    category: [{ name: "Home > Kitchen", rule: [] }],
  });
  await operate("PUT", "triggers/order_paid", { about: "Send the parcel." });
  await operate("PUT", "sellers/acme/attribute/email/acme@seller.example");

  await call("PUT", "contacts/kockums", CONTACT);
  await call("PUT", "contacts/former", CONTACT);
  await call("DELETE", "contacts/former");
  await call("PUT", "mappings/prices", {
    columns: [{ name: "Pris", field: "price" }],
    values: [{ value: "SEK", field: "currency" }],
  });
  const own = (await call("POST", "images", picture("b.jpg"))).image.url;

  await call("POST", "bulk_products", { products: PRODUCTS });
  const changed = await call("POST", "bulk_products", {
    products: [{ sku: "B", title: "Changed" }],
  });
  await call("POST", `bulk_products/${changed.transaction_id}/undo`);
  // More changes than a product row keeps.
  for (let price = 129; price >= 99; price--) {
    await call("PUT", `products/A/attribute/price/${price}`);
  }
  await call("POST", "bulk_products", {
    products: [{
      ...PRODUCTS[0],
      sku: "E",
      manufacturer: "kockums",
      safety_text: "Hot when filled.",
      images: [{ url: own }, { url: `${at}/a.png` }, { url: `${at}/gone.png` }],
    }],
  }, { headers: { "Idempotency-Key": "sample" } });
  const soon = isoTime(Date.now() + 2 * SECOND_MS);
  const later = isoTime(Date.now() + 170 * DAY_MS);
  const sales = await call("POST", "bulk_attributes", {
    products: [
      { sku: "A", sale: { price: "89", until: soon } },
      { sku: "B", sale: { price: "79", until: later } },
      {
        sku: "E",
        sale: { price: "69", from: isoTime(Date.now() + DAY_MS), until: later },
      },
    ],
  });
  assert(sales.transaction_id);
  const { import_id } = await call("POST", "imports?accept=valid", {
    products: [{ ...PRODUCTS[0], sku: "D" }, { sku: "D" }, { sku: "F" }],
  });
  await wait(
    `imports/${import_id}?wait=5`,
    ({ import: { status } }) => status.startsWith("completed"),
  );
  // The document of a checked import is kept for a day.
  const checked = await call("POST", "imports?dry_run=true", {
    products: [{ ...PRODUCTS[0], sku: "G", images: [{ url: `${at}/a.png` }] }],
  });
  await wait(
    `imports/${checked.import_id}?wait=5`,
    ({ import: { status } }) => status.startsWith("completed"),
  );
  await call("POST", "bulk_products?accept=valid", {
    products: [{ sku: "A", quantity: 12 }, { sku: "F" }],
  });
  await call("POST", "bulk_products", { products: [{ sku: "F" }] }, {
    expected: 422,
  });
  await call("GET", "refusals");
  await call("DELETE", "products/C");

  for (
    const [trigger, path] of [["order_created", ""], ["order_paid", "failing"]]
  ) {
    await call("POST", "webhooks", { trigger, url: `${at}/${path}` });
    await operate("POST", "events", {
      seller: "acme",
      trigger,
      reference: "1",
      data: { total: "149.00" },
    });
  }
  await wait(
    "webhooks/order_paid/deliveries",
    ({ deliveries }) => deliveries[0].attempts.length > 0,
  );
  await wait(
    "products/E",
    ({ product: { images } }) =>
      images.every(({ status }: Answer) => status !== "pending"),
  );
  await wait("products/A", ({ product: { sale } }) => sale.state === "over");
  await (await fetch(`${url}/readyz`)).body?.cancel();
  return (await call("GET", "account")).account.id;
}
