/** `GET /images/…` with object storage. */
import { assert, assertEquals } from "@std/assert";
import { boot, codeOf, product, type TestApp } from "../../support/app.ts";
import { Problem, S3Server, SECRET_KEY } from "../../support/s3_server.ts";

const SHA256 = "ab".repeat(32);
const PATH = `/images/ab/${SHA256}.png`;
const KEY = `shop/images/ab/${SHA256}.png`;
const BYTES = Uint8Array.from({ length: 150_001 }, (_, i) => i % 251);

async function bootOn(server: S3Server): Promise<TestApp> {
  server.put(KEY, BYTES);
  return await boot({ config: server.config() });
}

async function get(
  app: TestApp,
  headers: Record<string, string> = {},
  method = "GET",
) {
  const response = await fetch(app.url + PATH, { headers, method });
  return { response, bytes: await response.bytes() };
}

Deno.test("object storage: an image is served as from a folder", async () => {
  await using server = new S3Server();
  await using app = await bootOn(server);
  const whole = await get(app);
  assertEquals([whole.response.status, whole.bytes], [200, BYTES]);
  const { headers } = whole.response;
  assertEquals(headers.get("content-type"), "image/png");
  assertEquals(headers.get("content-length"), `${BYTES.length}`);
  assertEquals(headers.get("etag"), `"${SHA256}"`);
  assertEquals(headers.get("x-content-type-options"), "nosniff");
  assert(!headers.has("last-modified"), "the storage's own headers stay there");
  assertEquals(server.seen, [`GET ${KEY}`], "one request for all of it");

  const head = await get(app, {}, "HEAD");
  assertEquals(head.response.headers.get("content-length"), `${BYTES.length}`);
  const known = await get(app, { "if-none-match": `"${SHA256}"` });
  assertEquals([known.response.status, known.bytes.length], [304, 0]);
  const part = await get(app, { range: "bytes=-3" });
  assertEquals([part.response.status, part.bytes], [206, BYTES.slice(-3)]);
  assertEquals(
    part.response.headers.get("content-range"),
    `bytes 149998-150000/150001`,
  );
  const beyond = await get(app, { range: "bytes=150001-" });
  assertEquals(beyond.response.status, 416);
});

Deno.test("object storage: a missing image is 404, even with a range or a condition", async () => {
  await using server = new S3Server();
  await using app = await bootOn(server);
  server.objects.clear();
  for (
    const headers of [
      {},
      { range: "bytes=0-1" },
      { "if-none-match": `"${SHA256}"` },
    ]
  ) {
    assertEquals(
      (await get(app, headers as Record<string, string>)).response.status,
      404,
    );
  }
});

Deno.test("object storage: during an outage images are 503 and other requests succeed", async () => {
  await using server = new S3Server();
  await using app = await bootOn(server);
  server.meddle = ({ method }) => new Problem(503, "SlowDown").response(method);
  const image = await app.call(PATH, { key: null });
  assertEquals([image.status, codeOf(image)], [503, "unavailable"]);
  assertEquals(image.headers.get("retry-after"), "5");
  assertEquals((await app.upload(product("A"))).status, 200);
  const line = app.log.find(({ status }) => status === 503);
  assert(String(line?.error).includes("SlowDown"), "the log says why");
  for (const reported of [image.text, JSON.stringify(app.log)]) {
    assert(!reported.includes(SECRET_KEY), "the secret key is told");
  }
});

Deno.test("object storage: an invalid name is not requested", async () => {
  await using server = new S3Server();
  await using app = await bootOn(server);
  for (
    const path of [
      "/images/ab/..%2fsecret.png",
      `/images/ac/${SHA256}.png`,
      `/images/ab/${SHA256}.txt`,
      `/images/ab/${SHA256}.png%3flist-type=2`,
    ]
  ) {
    assertEquals((await app.call(path)).status, 404, path);
  }
  assertEquals([...server.seen, ...server.refused], []);
});
