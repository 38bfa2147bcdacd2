/** Images that sellers upload, and products that name them. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import { IMAGE_TYPES } from "../../src/images/image_types.ts";
import { picture } from "../../src/sandbox/pictures.ts";
import {
  boot,
  child,
  codeOf,
  detailsOf,
  product,
  textAt,
} from "../support/app.ts";
import { bothEngines } from "../support/engine.ts";
import { ImageHost } from "../support/image_host.ts";
import { S3Server } from "../support/s3_server.ts";
import {
  filesOf,
  imageBytes,
  otherSeller,
  pathOf,
  ROLES,
  send,
  showing,
  shown,
  urlOf,
} from "../support/uploaded.ts";

bothEngines.test("images: an uploaded image has the URL of its bytes, its size and its cost", async () => {
  await using app = await boot({ config: ROLES });
  let bytes = 0;
  for (const type of IMAGE_TYPES) {
    const image = picture(`a.${type}`)!;
    const answer = await send(app, image);
    assertEquals(answer.status, 200, answer.text);
    const { url, ...rest } = Object.fromEntries(
      child(answer.xml, "image").children.map(({ name, text }) => [name, text]),
    );
    const side = type === "png" ? "64" : "16";
    assertEquals(rest, {
      type: `image/${type}`,
      width: side,
      height: side,
      bytes: `${image.length}`,
    });
    assert(url.startsWith(`${app.url}/images/`), url);
    const served = await fetch(url);
    assertEquals(served.headers.get("content-type"), `image/${type}`);
    assertEquals(await served.bytes(), image);
    // The same bytes again cost nothing.
    assertEquals(await urlOf(app, image), url);
    bytes += image.length;
  }
  assertEquals(await imageBytes(app), `${bytes}`);
});

bothEngines.test("images: a product names an uploaded image with any host, and it is stored at once", async () => {
  await using app = await boot({ config: ROLES });
  const url = await urlOf(app, picture("a.png")!);
  const path = pathOf(url);
  const names = [
    ...[url, path, `https://former.example/shop${path}`],
    ...[`${url}?v=2`, `${path}#large`],
  ];
  for (const [n, name] of names.entries()) {
    const uploaded = await app.upload(product(`A-${n}`, showing(name)));
    const status = await app.status(uploaded);
    assertEquals(textAt(status, "status"), "completed");
    assertEquals(textAt(status, "images/reused"), "1");
    const { href, width, ...image } = await shown(app, `A-${n}`);
    assertEquals([image.url, image.status], [url, "stored"]);
    assertEquals([href, width], [path, "64"]);
  }
  const again = await app.upload(product("A-0", showing(url)));
  assertEquals(textAt(await app.status(again), "products/unchanged"), "1");
});

bothEngines.test("images: only an image that the seller itself has uploaded can be named", async () => {
  await using host = new ImageHost();
  await using app = await boot({ config: ROLES });
  const url = await urlOf(app, picture("a.png")!);
  const key = await otherSeller(app);
  const others = [url, pathOf(url)];
  for (const name of others) {
    const answer = await app.call("/seller_api/bulk_products?v=1.1", {
      method: "POST",
      key,
      body: `<products>${product("A", showing(name))}</products>`,
    });
    assertEquals(answer.status, 422);
    const [{ code, field }] = detailsOf(answer);
    assertEquals([code, field], ["unknown_image", "images/image[1]"]);
  }
  // A downloaded copy belongs to its own URL.
  const copied = await app.upload(
    product("B", showing(`${host.url}/good/b.png`)),
  );
  await app.status(copied, "?wait=10");
  const { href } = await shown(app, "B");
  for (const query of ["", "&dry_run=true"]) {
    for (const name of [href, `${href}?v=2`, `${app.url}${href}?v=2`]) {
      const named = await app.upload(product("C", showing(name)), query);
      assertEquals(detailsOf(named).map(({ code }) => code), ["unknown_image"]);
    }
  }
  const both = await app.upload(
    product("D", showing(href)) + product("E", showing(url)),
    "&accept=valid",
  );
  assertEquals(textAt(both.xml, "refused"), "1");
});

bothEngines.test("images: what is no acceptable image is refused with the code of a download", async () => {
  const config = { ...ROLES, imageLimit: 2_000, imageQuota: 150 };
  await using app = await boot({ config });
  const png = picture("a.png")!;
  const refused: [string, Uint8Array<ArrayBuffer>][] = [
    ["image_not_an_image", new Uint8Array()],
    ["image_not_an_image", new TextEncoder().encode("<html></html>")],
    ["image_unsupported_type", new TextEncoder().encode("%PDF-1.7")],
    ["image_incomplete", png.slice(0, -13)],
    ["image_incomplete", png.slice(0, 20)],
    ["image_corrupt", new Uint8Array(png).fill(0xff, 12, 33)],
    ["image_quota_exceeded", png],
  ];
  for (const [code, bytes] of refused) {
    const answer = await send(app, bytes);
    assertEquals(answer.status, 422, answer.text);
    assertEquals(detailsOf(answer).map((detail) => detail.code), [code]);
  }
  const large = await send(app, new Uint8Array(2_001));
  assertEquals([large.status, codeOf(large)], [413, "body_too_large"]);
  const form = await send(app, png, {
    headers: { "Content-Type": "multipart/form-data; boundary=x" },
  });
  assertEquals([form.status, codeOf(form)], [415, "unsupported_media_type"]);
  assertEquals(await imageBytes(app), "0");
  assertEquals(await filesOf(app), []);
});

Deno.test("images: SELLER_BODY_LIMIT does not limit an image", async () => {
  await using app = await boot({ config: { ...ROLES, bodyLimit: 100 } });
  assertMatch(await urlOf(app, picture("a.png")!), /\.png$/);
});

bothEngines.test("images: an import names uploaded images", async () => {
  await using app = await boot({ config: ROLES });
  const url = await urlOf(app, picture("a.png")!);
  const begun = await app.call("/seller_api/imports", {
    method: "POST",
    body: `<products>${product("A", showing(url))}</products>`,
  });
  const id = textAt(begun.xml, "import_id");
  const { xml } = await app.call(`/seller_api/imports/${id}?wait=20`);
  assertEquals(textAt(xml, "import/status"), "completed", xml.source);
  assertEquals((await shown(app, "A")).status, "stored");
});

bothEngines.test("images: undo shows an uploaded image again", async () => {
  await using app = await boot({ config: ROLES });
  const [first, second] = await Promise.all(
    ["a.png", "b.png"].map((name) => urlOf(app, picture(name)!)),
  );
  await app.status(await app.upload(product("A", showing(first))));
  const changed = await app.upload(product("A", showing(second)));
  const id = textAt(changed.xml, "transaction_id");
  const undone = await app.call(`/seller_api/bulk_products/${id}/undo`, {
    method: "POST",
  });
  assertEquals(textAt(await app.status(undone), "images/reused"), "1");
  const { url, status } = await shown(app, "A");
  assertEquals([url, status], [first, "stored"]);
});

bothEngines.test("images: a gzip-encoded and a chunked image are received", async () => {
  await using app = await boot({ config: ROLES });
  const png = new Uint8Array(Buffer.concat([picture("a.png")!]));
  const url = await urlOf(app, png);
  const packed = new Response(
    new Blob([png]).stream().pipeThrough(new CompressionStream("gzip")),
  );
  const answer = await send(app, await packed.bytes(), {
    headers: { "Content-Encoding": "gzip" },
  });
  assertEquals(textAt(answer.xml, "image/url"), url);
  const chunked = await fetch(`${app.url}/seller_api/images`, {
    method: "POST",
    headers: { "X-Service-Auth": app.key },
    body: new Blob([png]).stream(),
  });
  assertMatch(await chunked.text(), new RegExp(pathOf(url)));
});

Deno.test("images: an uploaded image is an object of the bucket, or 503 while that is away", async () => {
  await using server = new S3Server();
  await using app = await boot({ config: { ...ROLES, ...server.config() } });
  const png = picture("a.png")!;
  const url = await urlOf(app, png);
  const name = pathOf(url).replace("/images/", "");
  assert([...server.objects.keys()].some((key) => key.endsWith(name)));
  assertEquals(await (await fetch(url)).bytes(), png);
  await app.status(await app.upload(product("A", showing(url))));
  server.meddle = () => new Response("on purpose", { status: 500 });
  const away = await send(app, picture("b.png")!);
  assertEquals([away.status, away.headers.get("retry-after")], [503, "5"]);
  server.meddle = () => null;
  assertEquals((await send(app, picture("b.png")!)).status, 200);
});
