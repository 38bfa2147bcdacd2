/** The status of an upload: once, waiting, and as a stream. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  type Answer,
  boot,
  child,
  codeOf,
  product,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { failingSqlite } from "../../support/failing_sqlite.ts";
import { Host } from "../../support/host.ts";
import { contract } from "../../support/forms.ts";

/** The smallest PNG: one pixel. */
const PNG = Uint8Array.from(
  atob(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  ),
  (char) => char.charCodeAt(0),
);

/** Holds GETs back until the test lets them go; `/bad` is not an image. */
class Images extends Host {
  readonly gate: PromiseWithResolvers<void>;

  constructor() {
    const gate = Promise.withResolvers<void>();
    super(async (request) => {
      if (request.method === "HEAD") return new Response();
      await gate.promise;
      return new Response(request.url.endsWith("/bad") ? "no image" : PNG);
    });
    this.gate = gate;
  }

  images(...paths: string[]): string {
    const list = paths.map((path) => `<image>${this.url}${path}</image>`);
    return `<images>${list.join("")}</images>`;
  }
}

function bootWithImages(): Promise<TestApp> {
  return boot({ config: { roles: ["api", "images"] } });
}

function pathOf(uploaded: Answer): string {
  const id = textAt(uploaded.xml, "transaction_id");
  return `/seller_api/bulk_products/${id}`;
}

contract.test("a transaction goes from processing to completed; counters add up", async () => {
  await using host = new Images();
  await using app = await bootWithImages();
  const uploaded = await app.upload(
    product("A", host.images("/1", "/2")) + product("B", host.images("/1")),
  );
  const before = await app.status(uploaded);
  assertEquals(textAt(before, "status"), "processing");
  const id = textAt(uploaded.xml, "transaction_id").toUpperCase();
  const path = `/seller_api/bulk_products/${id}`;
  assertEquals(
    (await app.call(path)).text,
    (await app.call(pathOf(uploaded))).text,
  );
  assertEquals(textAt(before, "finished_at"), "");
  assertEquals(textAt(before, "images/total"), "3", "references, not URLs");
  assertEquals(textAt(before, "images/pending"), "3");
  const [a] = before.children.at(-1)!.children;
  assertEquals(
    a.children.filter(({ name }) => name === "image").map((image) =>
      `${textAt(image, "url").slice(host.url.length)} ${
        textAt(image, "status")
      }`
    ),
    ["/1 pending", "/2 pending"],
  );
  host.gate.resolve();
  const after = await app.status(uploaded, "?wait=20");
  assertEquals(textAt(after, "status"), "completed");
  assertEquals(textAt(after, "progress"), "100");
  assertEquals(textAt(after, "images/stored"), "3");
  assert(Date.parse(textAt(after, "finished_at")) > 0);
  assertEquals(after.source.includes("<image>"), false);
});

contract.test("a failed image makes the upload completed_with_errors, and has the reason", async () => {
  await using host = new Images();
  host.gate.resolve();
  await using app = await bootWithImages();
  const uploaded = await app.upload(product("A", host.images("/bad", "/1")));
  const record = await app.status(uploaded, "?wait=20");
  assertEquals(textAt(record, "status"), "completed_with_errors");
  assertEquals(textAt(record, "images/failed"), "1");
  assertEquals(textAt(record, "images/stored"), "1");
  const image = record.children.at(-1)!.children[0].children.at(-1)!;
  assertEquals(textAt(image, "status"), "failed");
  assertEquals(textAt(image, "code"), "image_not_an_image");
  assert(textAt(image, "message") !== "");
});

contract.test("?wait= answers when the status is final or the time is up", async () => {
  await using host = new Images();
  await using app = await bootWithImages();
  const uploaded = await app.upload(product("A", host.images("/1")));
  const short = await app.call(pathOf(uploaded) + "?wait=0");
  assertStringIncludes(short.text, "<status>processing</status>");
  const long = app.call(pathOf(uploaded) + "?wait=30");
  host.gate.resolve();
  assertStringIncludes((await long).text, "<status>completed</status>");
  for (const bad of ["x", "-1", "1.5", ""]) {
    const answer = await app.call(pathOf(uploaded) + `?wait=${bad}`);
    assertEquals([answer.status, codeOf(answer)], [400, "malformed_request"]);
  }
});

contract.test("the event stream sends progress and ends with final", async () => {
  await using host = new Images();
  await using app = await bootWithImages();
  const uploaded = await app.upload(product("A", host.images("/1", "/2")));
  const response = await fetch(app.url + pathOf(uploaded), {
    headers: { "X-Service-Auth": app.key, Accept: "text/event-stream" },
  });
  assertEquals(
    response.headers.get("content-type"),
    "text/event-stream; charset=utf-8",
  );
  assert(response.headers.get("x-request-id"));
  const reader = response.body!.pipeThrough(
    new TextDecoderStream() as TransformStream<Uint8Array, string>,
  ).getReader();
  const first = (await reader.read()).value!;
  assertStringIncludes(first, "event: progress\ndata: <transaction>");
  assertStringIncludes(first, "<pending>2</pending>");
  assert(!first.includes("<results>"));
  host.gate.resolve();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    rest += value;
  }
  const last = rest.trim().split("\n\n").at(-1)!;
  assertStringIncludes(last, "event: final\ndata: <transaction>");
  assertStringIncludes(last, "<status>completed</status>");
});

contract.test("the stream of a final transaction has only its final event", async () => {
  await using app = await boot();
  const uploaded = await app.upload(product("A"));
  const answer = await app.call(pathOf(uploaded), {
    headers: { Accept: "text/event-stream" },
  });
  assertEquals(answer.text.match(/event: /g)?.length, 1);
  assertStringIncludes(answer.text, "event: final");
  const missing = await app.call("/seller_api/bulk_products/nope", {
    headers: { Accept: "text/event-stream" },
  });
  assertEquals([missing.status, codeOf(missing)], [404, "not_found"]);
});

contract.test("an update without <images> requests no image; an update with <images> requests all images", async () => {
  await using host = new Images();
  host.gate.resolve();
  await using app = await bootWithImages();
  await app.status(
    await app.upload(product("A", host.images("/1"))),
    "?wait=20",
  );
  const without = await app.status(
    await app.upload("<product><sku>A</sku><brand>b</brand></product>"),
  );
  assertEquals(textAt(without, "images/total"), "0");
  const again = await app.status(
    await app.upload(product("A", host.images("/1"))),
    "?wait=20",
  );
  assertEquals(textAt(again, "products/unchanged"), "1");
  assertEquals(textAt(again, "images/total"), "1");
});

contract.test("images that were pending when the service stopped are fetched after it starts", async () => {
  await using host = new Images();
  host.gate.resolve();
  await using first = await boot({ config: { roles: ["api"] } });
  const uploaded = await first.upload(product("A", host.images("/1")));
  assertEquals(textAt(await first.status(uploaded), "status"), "processing");
  await first.app.close();
  await using second = await boot({
    config: { roles: ["api", "images"], dataDir: first.config.dataDir },
    seller: { id: first.sellerId, key: first.key },
  });
  const record = await second.status(uploaded, "?wait=20");
  assertEquals(textAt(record, "status"), "completed");
});

contract.test("a transaction id may be in upper case", async () => {
  await using app = await boot();
  const uploaded = await app.upload(product("A"));
  const { text } = await app.call(pathOf(uploaded));
  const id = textAt(uploaded.xml, "transaction_id").toUpperCase();
  const path = `/seller_api/bulk_products/${id}`;
  for (const _ of ["first", "again"]) {
    assertEquals((await app.call(path)).text, text);
  }
  const undo = await app.call(`${path}/undo`, { method: "POST" });
  assertEquals(undo.status, 200);
});

contract.test("a repeated final status shows later changes, and only to its seller", async () => {
  await using app = await boot();
  const uploaded = await app.upload(product("A") + product("B"));
  const first = await app.call(pathOf(uploaded));
  assertEquals((await app.call(pathOf(uploaded))).text, first.text);
  const undo = await app.call(`${pathOf(uploaded)}/undo`, { method: "POST" });
  const undone = await app.call(pathOf(uploaded));
  const id = textAt(undo.xml, "transaction_id");
  assertEquals(
    undone.text.replace(`<undone_by>${id}</undone_by>`, ""),
    first.text,
  );
  assertStringIncludes(undone.text, id);
  const key = await app.addSeller("other");
  const hidden = await app.call(pathOf(uploaded), { key });
  assertEquals(hidden.status, 404);
});

Deno.test("the results of a final status are read once", async () => {
  let reads = 0;
  const connectSqlite = failingSqlite(({ method, sql }) => {
    if (method === "get" && /^SELECT results,/.test(sql)) reads++;
    return null;
  });
  await using app = await boot({ deps: { connectSqlite } });
  const uploaded = await app.upload(product("A") + product("B"));
  const first = await app.call(pathOf(uploaded));
  for (const _ of ["again", "and again"]) {
    assertEquals((await app.call(pathOf(uploaded))).text, first.text);
  }
  assertEquals(reads, 1);
});

contract.test("a status and the lists show the label of the key that sent the upload", async () => {
  await using app = await boot();
  const made = await app.call("/seller_api/keys", {
    method: "POST",
    body: "<key><label>ERP</label></key>",
  });
  const id = textAt(made.xml, "key/key_id");
  const key = textAt(made.xml, "key/api_key");
  const post = async (path: string, name: string) => {
    const body = `<products>${product("MUG-1")}</products>`;
    const answer = await app.call(path, { method: "POST", key, body });
    return textAt(answer.xml, name);
  };
  const uploaded = await post("/seller_api/bulk_products", "transaction_id");
  const imported = await post("/seller_api/imports", "import_id");
  const undo = await app.call(
    `/seller_api/bulk_products/${uploaded}/undo`,
    { method: "POST" },
  );
  const account = await app.call("/seller_api/account");
  const own = textAt(account.xml, "account/key_id");
  const shown = async (path: string, name: string) => {
    const { xml } = await app.call(path);
    const key = child(child(xml, name), "key");
    return `${textAt(key, "key_id")} ${textAt(key, "label")}`;
  };
  const undone = textAt(undo.xml, "transaction_id");
  const status = "/seller_api/bulk_products";
  assertEquals(
    await shown(`${status}/${uploaded}`, "transaction"),
    `${id} ERP`,
  );
  assertEquals(await shown(`${status}/${undone}`, "transaction"), `${own} `);
  const anImport = `/seller_api/imports/${imported}?wait=30`;
  assertEquals(await shown(anImport, "import"), `${id} ERP`);
  const { xml } = await app.call(status);
  const listed = child(xml, "transactions").children
    .map((one) => textAt(one, "key/key_id"));
  assertEquals(listed, [own, id]);
  const imports = (await app.call("/seller_api/imports")).xml;
  assertEquals(textAt(imports, "imports/import/key/label"), "ERP");
});
