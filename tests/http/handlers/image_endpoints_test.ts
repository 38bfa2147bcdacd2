/** `GET /images/…`: stored images, for everybody and without expiry. */
import { assertEquals } from "@std/assert";
import { parseRange } from "../../../src/http/handlers/image_endpoints.ts";
import { boot, codeOf, type TestApp } from "../../support/app.ts";
import { failFiles } from "../../support/failing_files.ts";
import { raw, statusOf } from "../../support/raw.ts";
import { bothForms } from "../../support/forms.ts";

const SHA256 = "ab".repeat(32);
const PATH = `/images/ab/${SHA256}.png`;
/** Longer than one read, and not a multiple of it. */
const BYTES = Uint8Array.from({ length: 150_001 }, (_, i) => i % 251);

async function withImage(): Promise<TestApp> {
  const app = await boot();
  const folder = `${app.config.dataDir}/images/ab`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeFile(`${folder}/${SHA256}.png`, BYTES);
  await Deno.writeFile(`${folder}/${SHA256}.part`, BYTES);
  await Deno.writeFile(`${app.config.dataDir}/images/secret.png`, BYTES);
  return app;
}

async function get(
  app: TestApp,
  headers: Record<string, string> = {},
  method = "GET",
) {
  const response = await fetch(app.url + PATH, { headers, method });
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
}

bothForms.test("an image is served without a key and cacheable forever", async () => {
  await using app = await withImage();
  const { response, bytes } = await get(app);
  assertEquals(response.status, 200);
  assertEquals(bytes, BYTES);
  const expected = {
    "content-type": "image/png",
    "content-length": `${BYTES.length}`,
    "cache-control": "public, max-age=31536000, immutable",
    "etag": `"${SHA256}"`,
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
  };
  for (const [name, value] of Object.entries(expected)) {
    assertEquals(response.headers.get(name), value, name);
  }
  const head = await get(app, {}, "HEAD");
  assertEquals(head.response.status, 200);
  assertEquals(head.bytes.length, 0);
  for (const [name, value] of Object.entries(expected)) {
    assertEquals(head.response.headers.get(name), value, `HEAD ${name}`);
  }
});

bothForms.test("If-None-Match of a known image is answered 304", async () => {
  await using app = await withImage();
  for (const has of [`"${SHA256}"`, `W/"${SHA256}"`, `"x", "${SHA256}"`, "*"]) {
    const { response, bytes } = await get(app, { "if-none-match": has });
    assertEquals([response.status, bytes.length], [304, 0], has);
    assertEquals(response.headers.get("etag"), `"${SHA256}"`);
  }
  const { response } = await get(app, { "if-none-match": '"other"' });
  assertEquals(response.status, 200);
});

bothForms.test("a range is answered 206 with its bytes", async () => {
  await using app = await withImage();
  const size = BYTES.length;
  const ranges: [string, number, number][] = [
    ["bytes=0-0", 0, 1],
    ["bytes=1-70000", 1, 70_001],
    ["bytes=150000-", 150_000, size],
    ["bytes=-3", size - 3, size],
    ["bytes=-999999", 0, size],
    ["bytes=100-999999999", 100, size],
    ["Bytes=5-6", 5, 7],
  ];
  for (const [range, start, end] of ranges) {
    const { response, bytes } = await get(app, { range });
    assertEquals(response.status, 206, range);
    assertEquals(
      response.headers.get("content-range"),
      `bytes ${start}-${end - 1}/${size}`,
    );
    assertEquals(bytes, BYTES.subarray(start, end));
  }
  for (const range of ["bytes=150001-", "bytes=-0", "bytes=999999-9999999"]) {
    const { response } = await get(app, { range });
    assertEquals(response.status, 416, range);
    assertEquals(response.headers.get("content-range"), `bytes */${size}`);
  }
  for (
    const range of [
      "bytes=5-4",
      "bytes=-",
      "bytes=0-1,3-4",
      "bytes=a-b",
      "lines=0-1",
      "bytes 0-1",
    ]
  ) {
    const { response, bytes } = await get(app, { range });
    assertEquals([response.status, bytes.length], [200, size], range);
  }
});

bothForms.test("If-Range with any other validator is answered with the whole image", async () => {
  await using app = await withImage();
  const ask = async (condition: string) =>
    (await get(app, { range: "bytes=0-1", "if-range": condition }))
      .response.status;
  assertEquals(await ask(`"${SHA256}"`), 206);
  assertEquals(await ask(`W/"${SHA256}"`), 200, "compared strongly");
  assertEquals(await ask('"other"'), 200);
  assertEquals(await ask("Fri, 20 Nov 2026 08:00:00 GMT"), 200);
});

bothForms.test("a range of an empty file is 416", () => {
  assertEquals(parseRange("bytes=0-", 0), "unsatisfiable");
  assertEquals(parseRange("bytes=-1", 0), "unsatisfiable");
});

bothForms.test("nothing but images is served, whatever the path", async () => {
  await using app = await withImage();
  const other = "cd".repeat(32);
  const targets = [
    `/images/cd/${other}.png`,
    `/images/ac/${SHA256}.png`,
    `/images/ab/${SHA256}.part`,
    `/images/ab/${SHA256}.jpeg`,
    `/images/ab/${SHA256}`,
    `/images/ab/${SHA256.toUpperCase()}.png`,
    "/images/ab/",
    "/images/../seller.db",
    "/images/ab/../../seller.db",
    "/images/ab/..%2f..%2fseller.db",
    "/images/%2e%2e/seller.db",
    "/images/..%2f/secret.png",
    "/images/./secret.png",
    "/images/secret.png",
    `/images/ab/${SHA256}.png%00.png`,
    `/images/ab/${SHA256}.png%0a`,
    `/images/ab//${SHA256}.png`,
    "/images/ab/con",
    `/images/ab/..%5c${SHA256}.png`,
  ];
  for (const target of targets) {
    const request = `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;
    assertEquals(statusOf(await raw(app.url, request)), 404, target);
  }
  const answer = await app.call(`/images/cd/${other}.png`);
  assertEquals([answer.status, codeOf(answer)], [404, "not_found"]);
  const post = await app.call(PATH, { method: "POST", body: "<x/>" });
  assertEquals([post.status, post.headers.get("allow")], [405, "GET, HEAD"]);
});

bothForms.test("a client that disconnects leaves no open file", async () => {
  await using app = await withImage();
  for (let i = 0; i < 20; i++) {
    const response = await fetch(app.url + PATH);
    await response.body!.cancel();
  }
  const { bytes } = await get(app);
  assertEquals(bytes.length, BYTES.length);
});

bothForms.test("an unreadable image is 503 and leaves no open file", async () => {
  await using app = await withImage();
  const requests: Record<string, string>[] = [{}, { range: "bytes=0-0" }];
  for (const headers of requests) {
    for (const name of ["stat", "open", "seek"]) {
      using _failing = failFiles(
        `${app.config.dataDir}/images`,
        (call) => call === name ? "EIO" : null,
      );
      const answer = await app.call(PATH, { key: null, headers });
      assertEquals([answer.status, codeOf(answer)], [503, "unavailable"], name);
      assertEquals(answer.headers.get("retry-after"), "5");
    }
  }
  assertEquals((await get(app)).bytes, BYTES);
});
