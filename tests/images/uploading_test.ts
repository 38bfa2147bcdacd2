/** Uploads of images that break off, compete, or end the image worker. */
import { assert, assertEquals } from "@std/assert";
import { threadSpawner } from "../../src/images/worker/spawn.ts";
import { picture } from "../../src/sandbox/pictures.ts";
import { boot, detailsOf, type TestApp, textAt } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";
import { raw } from "../support/raw.ts";
import {
  filesOf,
  imageBytes,
  ROLES,
  send,
  urlOf,
} from "../support/uploaded.ts";
import { type Poison, poisonedImage } from "./worker/poison.ts";

const FAULTY = new URL("./worker/faulty_worker.ts", import.meta.url);

/** A JPEG with this many bytes. */
function jpeg(length: number, n = 0): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  bytes.set(picture("a.jpg")!);
  bytes[length - 3] = n;
  bytes.set([0xff, 0xd9], length - 2);
  return bytes;
}

/** Uploads that are in progress. */
function inProgress({ app }: TestApp): Record<string, number> {
  const all = Object.entries(app.holders.inUse());
  return Object.fromEntries(
    all.filter(([name]) => /^(image_receiver|uploaded_images)/.test(name)),
  );
}

/** Connections that have sent the head of a request and half an image. */
class HalfSent implements Disposable {
  readonly #app: TestApp;
  readonly #open: Deno.Conn[] = [];

  constructor(app: TestApp) {
    this.#app = app;
  }

  async add(key = this.#app.key): Promise<void> {
    const { hostname, port } = new URL(this.#app.url);
    const connection = await Deno.connect({ hostname, port: Number(port) });
    const image = jpeg(1_500_000);
    const head = `POST /seller_api/images HTTP/1.1\r\nHost: x\r\n` +
      `X-Service-Auth: ${key}\r\nContent-Length: ${image.length}\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head));
    const half = image.subarray(0, image.length / 2);
    for (let at = 0; at < half.length;) {
      at += await connection.write(half.subarray(at));
    }
    this.#open.push(connection);
  }

  [Symbol.dispose](): void {
    for (const connection of this.#open.splice(0)) connection.close();
  }
}

bothEngines.test("images: half-sent images take only their seller's places, and leave nothing", async () => {
  await using app = await boot({ config: ROLES });
  const other = await app.addSeller("other");
  {
    using halves = new HalfSent(app);
    for (let n = 0; n < 16; n++) await halves.add();
    await until(
      () => inProgress(app)["image_receiver.begun"] === 16,
      "the images",
    );
    const refused = await send(app, picture("a.png")!);
    assertEquals([refused.status, refused.headers.get("retry-after")], [
      429,
      "1",
    ]);
    assertEquals(
      (await send(app, picture("a.png")!, { key: other })).status,
      200,
    );
    assertEquals(
      (await app.upload("<product><sku>A</sku></product>")).status,
      422,
    );
    await until(
      async () => (await filesOf(app)).some((name) => name.endsWith(".part")),
      "partial files",
    );
  }
  await until(() => Object.keys(inProgress(app)).length === 0, "their end");
  await until(
    async () => (await filesOf(app)).every((name) => !name.endsWith(".part")),
    "the end of the partial files",
  );
  assertEquals(await imageBytes(app), "0");
});

Deno.test("images: a body with another length than declared is refused", async () => {
  await using app = await boot({ config: ROLES });
  const bytes = picture("a.png")!;
  const head = `POST /seller_api/images HTTP/1.1\r\nHost: x\r\n` +
    `X-Service-Auth: ${app.key}\r\nConnection: close\r\n`;
  const request = (headers: string, body: Uint8Array) =>
    raw(
      app.url,
      new Uint8Array([
        ...new TextEncoder().encode(`${head}${headers}\r\n\r\n`),
        ...body,
      ]),
    );
  const short = await request(`Content-Length: ${bytes.length - 20}`, bytes);
  assert(short.includes("image_incomplete"), short);
  const chunked = await request(
    "Transfer-Encoding: chunked",
    new Uint8Array([
      ...new TextEncoder().encode(`${bytes.length.toString(16)}\r\n`),
      ...bytes,
      ...new TextEncoder().encode("\r\n0\r\n\r\n"),
    ]),
  );
  assert(chunked.includes("<width>64</width>"), chunked);
});

bothEngines.test("images: the same bytes at the same time are one image", async () => {
  await using app = await boot({ config: ROLES });
  const bytes = jpeg(300_000);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => send(app, bytes)),
  );
  assertEquals(answers.map(({ status }) => status), Array(12).fill(200));
  const urls = answers.map(({ xml }) => textAt(xml, "image/url"));
  assertEquals(new Set(urls).size, 1);
  assertEquals(await imageBytes(app), `${bytes.length}`);
  assertEquals((await filesOf(app)).length, 1);
});

bothEngines.test("images: uploads at the same time do not exceed the quota", async () => {
  await using app = await boot({ config: { ...ROLES, imageQuota: 500_000 } });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => send(app, jpeg(100_000, n))),
  );
  const stored = answers.filter(({ status }) => status === 200);
  assertEquals(stored.length, 5);
  for (const answer of answers) {
    if (stored.includes(answer)) continue;
    const [{ code }] = detailsOf(answer);
    assertEquals([answer.status, code], [422, "image_quota_exceeded"]);
  }
  assertEquals(await imageBytes(app), "500000");
});

Deno.test("images: an image that ends the worker is refused, and the next one is stored", async () => {
  const spawn = threadSpawner(FAULTY, 48);
  await using app = await boot({
    config: ROLES,
    app: { imageRole: { spawn } },
  });
  for (const poison of ["throw", "exit", "memory"] as Poison[]) {
    await until(async () => {
      const answer = await send(app, poisonedImage(poison));
      if (answer.status === 503) return false;
      const [{ code }] = detailsOf(answer);
      assertEquals([answer.status, code], [422, "image_unprocessable"], poison);
      return true;
    }, poison);
    await until(
      async () => (await send(app, picture("a.png")!)).status === 200,
      `the next image after ${poison}`,
    );
  }
  await urlOf(app, picture("a.png")!);
});
