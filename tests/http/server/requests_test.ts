/** Checks of every request: keys, routes, rates, media types, sizes. */
import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { gzipSync } from "node:zlib";
import { type Clock, systemClock } from "../../../src/deps.ts";
import { passing, TestClock } from "../../support/clock.ts";
import { boot, codeOf, product } from "../../support/app.ts";
import { raw, statusOf } from "../../support/raw.ts";
import { bothForms } from "../../support/forms.ts";

const encode = (text: string) => new TextEncoder().encode(text);

bothForms.test("a missing, unknown or revoked key is 401 with one message", async () => {
  let elapsed = 0;
  const clock: Clock = {
    ...systemClock,
    monotonic: () => performance.now() + elapsed,
  };
  await using app = await boot({ deps: { clock } });
  const key = await app.addSeller("other");
  const ask = (key: string | null, path = "/seller_api/webhooks") =>
    app.call(path, { key });
  assertEquals((await ask(key)).status, 200);
  await app.app.db.write((tx) =>
    tx.run("UPDATE api_keys SET revoked_at = 1 WHERE seller_no <> ?", [
      app.sellerNo,
    ], "any")
  );
  elapsed = 1_000;
  const messages = new Set<string>();
  for (const bad of [null, "", "nope", "x".repeat(5_000), key]) {
    for (const path of ["/seller_api/webhooks", "/seller_api/nowhere"]) {
      const answer = await ask(bad, path);
      assertEquals([answer.status, codeOf(answer)], [401, "unauthorized"]);
      messages.add(answer.text.replace(/<request_id>.*<\/request_id>/, ""));
    }
  }
  assertEquals(messages.size, 1);
});

bothForms.test("an unknown path is 404, a method that a path lacks 405 with Allow", async () => {
  await using app = await boot();
  for (
    const path of [
      "/nowhere",
      "/seller_api",
      "/seller_api/",
      "/seller_api/webhooks/",
      "/seller_api//webhooks",
      "/SELLER_API/webhooks",
      "/operator_api/events",
    ]
  ) {
    const answer = await app.call(path);
    assertEquals([answer.status, codeOf(answer)], [404, "not_found"], path);
  }
  for (
    const [method, path, allow] of [
      ["PATCH", "/seller_api/webhooks", "POST, GET, HEAD"],
      ["DELETE", "/seller_api/bulk_products", "POST, GET, HEAD"],
      ["POST", "/seller_api/products/A/attribute/brand/x", "PUT"],
      ["OPTIONS", "/seller_api/webhooks", "POST, GET, HEAD"],
    ]
  ) {
    const answer = await app.call(path, { method });
    assertEquals(answer.status, 405, path);
    assertEquals(answer.headers.get("allow"), allow);
  }
});

Deno.test("HEAD answers like GET, without the body", async () => {
  await using app = await boot();
  const get = await app.call("/seller_api/webhooks");
  const head = await app.call("/seller_api/webhooks", { method: "HEAD" });
  assertEquals([head.status, head.text], [200, ""]);
  assertEquals(
    head.headers.get("content-type"),
    get.headers.get("content-type"),
  );
});

bothForms.test("every answer has the service's request id, and the log also has the client's id", async () => {
  await using app = await boot();
  const answer = await app.call("/seller_api/nowhere", {
    headers: {
      "X-Request-Id": "theirs",
      "X-Client-Version": "typescript/1.0.0",
    },
  });
  const id = answer.headers.get("x-request-id");
  const line = app.log.find(({ request_id }) => request_id === id);
  assertEquals(line?.client_request_id, "theirs");
  assertEquals(line?.client_version, "typescript/1.0.0");
  assertEquals([line?.status, line?.code], [404, "not_found"]);
  assert(!JSON.stringify(app.log).includes(app.key), "no key in the log");
});

bothForms.test("answers that need a key are not cacheable; public answers are", async () => {
  await using app = await boot({ config: { operatorKey: "operator-key" } });
  for (
    const [path, call] of [
      ["/seller_api/webhooks", {}],
      ["/seller_api/webhooks", { method: "HEAD" }],
      ["/seller_api/webhooks", { key: "wrong" }],
      ["/seller_api/nowhere", {}],
      ["/seller_api/webhooks", { method: "PATCH" }],
      ["/seller_api/bulk_products", { method: "POST", body: "x" }],
      ["/operator_api/status", { key: "operator-key" }],
      ["/operator_api/events", { key: null }],
    ] as const
  ) {
    const { headers } = await app.call(path, call);
    assertEquals(headers.get("cache-control"), "no-store", path);
    assertEquals(headers.get("x-content-type-options"), "nosniff", path);
  }
  const schema = await app.call("/seller_api/schemas/products-1.1.xsd");
  assertEquals(schema.headers.get("cache-control"), "no-cache");
  assertEquals((await app.call("/")).headers.get("cache-control"), "no-cache");
});

Deno.test("a body must be XML by its Content-Type", async () => {
  await using app = await boot();
  const body = `<products>${product("A")}</products>`;
  const post = (type: string) =>
    app.call("/seller_api/bulk_products", {
      method: "POST",
      body,
      headers: { "Content-Type": type },
    });
  for (
    const type of [
      "text/xml",
      "application/xml",
      "Text/XML; charset=utf-8",
      'text/xml; charset="UTF-8"',
      "text/xml;charset=us-ascii",
    ]
  ) {
    assertEquals((await post(type)).status, 200, type);
  }
  for (
    const type of [
      "",
      "text/json",
      "text/plain",
      "text/xml; charset=iso-8859-1",
      "application/x-www-form-urlencoded",
    ]
  ) {
    const answer = await post(type);
    assertEquals(
      [answer.status, codeOf(answer)],
      [415, "unsupported_media_type"],
      type,
    );
  }
});

bothForms.test("gzip is inflated up to the limit, other encodings are 415", async () => {
  await using app = await boot({ config: { bodyLimit: 100_000 } });
  const document = `<products>${product("A")}</products>`;
  const post = (body: Uint8Array<ArrayBuffer>, encoding: string) =>
    app.call("/seller_api/bulk_products", {
      method: "POST",
      body,
      headers: { "Content-Encoding": encoding },
    });
  const gzip = (text: string) => new Uint8Array(gzipSync(text));
  assertEquals((await post(gzip(document), "gzip")).status, 200);
  assertEquals((await post(encode(document), "identity")).status, 200);
  const bomb = await post(gzip(" ".repeat(50_000_000)), "gzip");
  assertEquals([bomb.status, codeOf(bomb)], [413, "body_too_large"]);
  const broken = await post(gzip(document).slice(0, 40), "gzip");
  assertEquals([broken.status, codeOf(broken)], [400, "malformed_request"]);
  const plain = await post(encode(document), "gzip");
  assertEquals(plain.status, 400);
  const [start, end] = [document.slice(0, 40), document.slice(40)].map(gzip);
  const members = new Uint8Array([...start, ...end]);
  assertEquals((await post(members, "gzip")).status, 200);
  const trailing = await post(new Uint8Array([...members, 31, 139]), "gzip");
  assertEquals([trailing.status, codeOf(trailing)], [400, "malformed_request"]);
  const twice = await post(new Uint8Array(gzipSync(members)), "gzip");
  assertEquals(twice.status, 400);
  assertStringIncludes(twice.text, "compress it once");
  for (const encoding of ["br", "deflate", "gzip, gzip", "zstd"]) {
    assertEquals((await post(gzip(document), encoding)).status, 415, encoding);
  }
});

bothForms.test("gzip that inflates to nothing is limited by its own bytes", async () => {
  await using app = await boot({ config: { bodyLimit: 10_000 } });
  const empty = new Uint8Array(gzipSync(""));
  let left = 10_000;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left-- > 0) controller.enqueue(empty);
      else controller.close();
    },
  });
  const answer = await app.call("/seller_api/bulk_products", {
    method: "POST",
    body,
    headers: { "Content-Encoding": "gzip" },
  });
  assertEquals([answer.status, codeOf(answer)], [413, "body_too_large"]);
});

Deno.test("a body over the limit is 413, declared or not", async () => {
  await using app = await boot({ config: { bodyLimit: 10_000 } });
  const big = `<products>${" ".repeat(20_000)}</products>`;
  const declared = await app.call("/seller_api/bulk_products", {
    method: "POST",
    body: big,
  });
  assertEquals([declared.status, codeOf(declared)], [413, "body_too_large"]);
  const chunked = await app.call("/seller_api/bulk_products", {
    method: "POST",
    body: new Blob([big]).stream(),
  });
  assertEquals(chunked.status, 413);
  const early = await raw(
    app.url,
    `POST /seller_api/bulk_products HTTP/1.1\r\nHost: x\r\nX-Service-Auth: ${app.key}\r\n` +
      "Content-Type: text/xml\r\nContent-Length: 999999999\r\nConnection: close\r\n\r\n",
  );
  assertEquals(statusOf(early), 413);
});

bothForms.test("a body that is not complete after 30 s is 408", async () => {
  const clock = new TestClock();
  await using app = await boot({ deps: { clock } });
  const answer = raw(
    app.url,
    `POST /seller_api/bulk_products HTTP/1.1\r\nHost: x\r\nX-Service-Auth: ${app.key}\r\n` +
      "Content-Type: text/xml\r\nContent-Length: 100\r\nConnection: close\r\n\r\n<prod",
  );
  const text = await passing(clock, answer);
  assertEquals(statusOf(text), 408);
  assertStringIncludes(text, "request_timeout");
});

bothForms.test("a seller has a rate limit, and every answer shows it", async () => {
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  await using app = await boot({ deps: { clock }, config: { rateLimit: 60 } });
  const other = await app.addSeller("other");
  const ask = (key = app.key) => app.call("/seller_api/webhooks", { key });
  for (let left = 5; left >= 0; left--) {
    const answer = await ask();
    assertEquals(answer.status, 200);
    assertEquals(answer.headers.get("ratelimit-limit"), "60");
    assertEquals(answer.headers.get("ratelimit-remaining"), String(left));
  }
  const over = await ask();
  assertEquals([over.status, codeOf(over)], [429, "rate_limited"]);
  assertEquals(over.headers.get("retry-after"), "1");
  assertEquals(over.headers.get("ratelimit-remaining"), "0");
  assertEquals((await ask(other)).status, 200, "another seller has its own");
  const missing = await app.call("/seller_api/nowhere");
  assertEquals(missing.status, 404, "the route comes before the rate");
  assertEquals(missing.headers.get("ratelimit-limit"), "60");
  now += 1_000;
  assertEquals((await app.call("/seller_api/nowhere")).status, 404);
  assertEquals((await ask()).status, 200, "an unknown path is not counted");
  assertEquals((await ask()).status, 429);
});

bothForms.test("bad percent-encoding, Hosts and targets are 400, never 500", async () => {
  await using app = await boot();
  const ask = (line: string, host = "x") =>
    raw(
      app.url,
      `${line} HTTP/1.1\r\nHost: ${host}\r\nX-Service-Auth: ${app.key}\r\nConnection: close\r\n\r\n`,
    );
  for (
    const target of [
      "/seller_api/products/%zz/attribute/brand/x",
      "/seller_api/products/%ff/attribute/brand/x",
      "/seller_api/products/a/attribute/brand/%C0%80",
      "/seller_api/products/a/attribute/brand/50%",
      // Some clients send the "#" literally; it is not product a.
      "/seller_api/products/a#b/attribute/brand/x",
      "/seller_api/products/a/attribute/brand/x#y",
    ]
  ) {
    const answer = await ask(`PUT ${target}`);
    assertEquals(statusOf(answer), 400, target);
    assertStringIncludes(answer, "malformed_request");
    assertMatch(answer, /&quot;%2[35]&quot;/);
  }
  const query = await ask("GET /seller_api/webhooks?a=%zz");
  assertEquals(statusOf(query), 400);
  const target = await ask("PUT s://]x/");
  assertEquals(statusOf(target), 400);
  const dots = await ask("GET /seller_api/x/../webhooks");
  assertEquals(statusOf(dots), 404, "dot segments lead nowhere");
});

bothForms.test("an unexpected error is 500 with only the request id", async () => {
  await using app = await boot();
  await app.app.db.write((tx) => tx.run("DROP TABLE webhooks", [], "any"));
  const answer = await app.call("/seller_api/webhooks");
  assertEquals([answer.status, codeOf(answer)], [500, "internal"]);
  assert(!/webhooks|sqlite|table/i.test(answer.text), answer.text);
  const id = answer.headers.get("x-request-id");
  const line = app.log.find(({ request_id }) => request_id === id);
  assertMatch(String(line?.error), /no such table|does not exist/);
});
