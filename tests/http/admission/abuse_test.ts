/** Limits that prevent one client from taking the service away from others. */
import { assert, assertEquals, assertLess } from "@std/assert";
import { gzipSync } from "node:zlib";
import { type Clock, systemClock } from "../../../src/deps.ts";
import {
  boot,
  codeOf,
  product,
  type TestApp,
  textAt,
} from "../../support/app.ts";
import { until } from "../../support/clock.ts";
import { Host } from "../../support/host.ts";
import { ImageHost } from "../../support/image_host.ts";
import { raw, statusOf } from "../../support/raw.ts";
import { stopwatch } from "../../support/starvation.ts";

const BULK = "/seller_api/bulk_products?v=1.1";
/** Stops the clock, so that no bucket refills during a test. */
const STOPPED: Clock = { ...systemClock, monotonic: () => 0 };

/** Posts whose bodies have begun and end only when the test lets them. */
class SlowPosts implements AsyncDisposable {
  readonly #app: TestApp;
  readonly #ends: (() => void)[] = [];
  readonly #answers: Promise<number>[] = [];
  #unanswered = 0;

  constructor(app: TestApp) {
    this.#app = app;
  }

  begin(count: number, key: string, path = BULK): void {
    for (let i = 0; i < count; i++) {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode("<products>"));
          this.#ends.push(() => controller.close());
        },
      });
      const call = this.#app.call(path, { method: "POST", key, body });
      this.#unanswered++;
      this.#answers.push(
        call.finally(() => this.#unanswered--).then(({ status }) => status),
      );
    }
  }

  /**
   * Begins `count` posts for each of these keys, and more until one is refused:
   * an earlier request may have had the slot of one of them.
   */
  async fill(
    count: number,
    keys: readonly string[],
    isRefused: () => Promise<boolean>,
    path = BULK,
  ): Promise<void> {
    for (const key of keys) this.begin(count, key, path);
    await until(async () => {
      if (await isRefused()) return true;
      for (const key of keys) this.begin(1, key, path);
      return false;
    }, "the limit");
  }

  /** Resolves once all but `count` posts have been refused. */
  async refusedBut(count: number): Promise<void> {
    // A post that came later could get the slot of one that has ended.
    await until(() => this.#unanswered <= count, "the refusals");
  }

  /** Ends every body; returns how many posts were accepted. */
  async endAll(): Promise<number> {
    for (const end of this.#ends.splice(0)) end();
    const statuses = await Promise.all(this.#answers.splice(0));
    return statuses.filter((status) => status === 400).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endAll();
  }
}

Deno.test("slow bodies do not take the slots of other sellers", async () => {
  await using app = await boot();
  const keys = await Promise.all(
    ["b", "c", "d"].map((name) => app.addSeller(name)),
  );
  const stranger = await app.addSeller("stranger");
  await using slow = new SlowPosts(app);
  for (const key of [app.key, ...keys]) slow.begin(32, key);
  const upload = (key: string) =>
    app.call(BULK, { key, method: "POST", body: `<products>${product("A")}` });
  await until(async () => (await upload(app.key)).status === 429, "the limit");
  for (let n = 0; n < 5; n++) {
    const answer = await upload(stranger);
    assertEquals([answer.status, codeOf(answer)], [400, "malformed_xml"]);
  }
});

Deno.test("four sellers whose image hosts hang leave room for a fifth", async () => {
  const answer = Promise.withResolvers<Response>();
  await using images = new Host(() => answer.promise.then((r) => r.clone()));
  await using app = await boot();
  const keys = await Promise.all(
    ["b", "c", "d"].map((name) => app.addSeller(name)),
  );
  const stranger = await app.addSeller("stranger");
  const upload = (key: string, n: number, images = "") =>
    app.call(BULK, {
      key,
      method: "POST",
      body: `<products>${product(`A-${n}`, images)}</products>`,
    });
  const hanging = `<images><image>${images.url}/a.png</image></images>`;
  let refused = 0;
  const uploads = [app.key, ...keys].flatMap((key) =>
    Array.from({ length: 16 }, async (_, n) => {
      const { status } = await upload(key, n, hanging);
      if (status !== 200) refused++;
      return status;
    })
  );
  await until(() => refused > 0, "a refusal");
  for (let n = 0; n < 5; n++) {
    assertEquals((await upload(stranger, n)).status, 200);
  }
  answer.resolve(new Response());
  const statuses = await Promise.all(uploads);
  assertEquals(
    statuses.filter((status) => status === 200).length,
    64 - refused,
  );
  assertEquals(
    (await upload(app.key, 99)).status,
    200,
    "places are given back",
  );
});

Deno.test("an upload keeps its slot until it is answered", async () => {
  const answer = Promise.withResolvers<Response>();
  await using images = new Host(() => answer.promise.then((r) => r.clone()));
  await using app = await boot();
  const upload = (n: number) =>
    app.upload(
      product(`A-${n}`, `<images><image>${images.url}/a.png</image></images>`),
    );
  const uploads = Array.from({ length: 17 }, (_, n) => upload(n));
  const first = await Promise.race(uploads);
  assertEquals(first.status, 429);
  answer.resolve(new Response());
  const statuses = (await Promise.all(uploads)).map(({ status }) => status);
  assertEquals(statuses.filter((status) => status === 200).length, 16);
});

Deno.test("bodies beyond the budget are 503 until others end", async () => {
  await using app = await boot({ config: { bodyBudget: 12_000_000 } });
  const other = await app.addSeller("other");
  const padded = (sku: string, bytes: number) =>
    product(sku) + " ".repeat(bytes);
  const over = await app.upload(padded("A", 1_100_000));
  assertEquals([over.status, codeOf(over)], [503, "unavailable"]);
  assertEquals(over.headers.get("retry-after"), "2");
  const gzip = gzipSync(`<products>${padded("A", 1_100_000)}</products>`);
  const inflated = await app.upload(new Uint8Array(gzip), "", {
    "Content-Encoding": "gzip",
  });
  assertEquals([inflated.status, codeOf(inflated)], [503, "unavailable"]);
  for (let n = 0; n < 5; n++) {
    assertEquals((await app.upload(padded("A", 800_000))).status, 200);
  }
  const answer = await app.call(BULK, {
    key: other,
    method: "POST",
    body: `<products>${product("B")}</products>`,
  });
  assertEquals(answer.status, 200);
});

Deno.test("a document is counted until its upload is answered", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  await using images = new Host(() => {
    asked.resolve();
    return answer.promise.then((response) => response.clone());
  });
  await using app = await boot({ config: { bodyBudget: 12_000_000 } });
  const upload = (sku: string) =>
    app.upload(
      product(sku, `<images><image>${images.url}/a.png</image></images>`) +
        " ".repeat(700_000),
    );
  const first = upload("A");
  await asked.promise;
  assertEquals((await upload("B")).status, 503);
  answer.resolve(new Response());
  assertEquals((await first).status, 200);
  assertEquals((await upload("C")).status, 200);
});

Deno.test("bodies in chunks of one byte do not block other requests", async () => {
  await using app = await boot();
  const other = await app.addSeller("other");
  const order: string[] = [];
  const slow = raw(
    app.url,
    "POST /seller_api/bulk_products HTTP/1.1\r\nHost: x\r\n" +
      `X-Service-Auth: ${app.key}\r\nContent-Type: text/xml\r\n` +
      "Transfer-Encoding: chunked\r\n\r\n" + "1\r\n \r\n".repeat(10_000) +
      "0\r\n\r\n",
  ).then((answer) => order.push(`slow ${statusOf(answer)}`));
  for (let n = 0; n < 3; n++) {
    const { status } = await app.call("/seller_api/webhooks", { key: other });
    order.push(`other ${status}`);
  }
  await slow;
  assertEquals(order, ["other 200", "other 200", "other 200", "slow 400"]);
});

Deno.test("a seller sends at most 32 bodies at once", async () => {
  await using app = await boot();
  const other = await app.addSeller("other");
  await using slow = new SlowPosts(app);
  const path = "/seller_api/webhooks";
  const post = (key: string) =>
    app.call(path, { key, method: "POST", body: "<webhook/>" });
  const isRefused = async () => (await post(app.key)).status === 429;
  await slow.fill(32, [app.key], isRefused, path);
  assertEquals((await post(other)).status, 422);
  assertEquals((await app.call(path)).status, 200);
  await slow.refusedBut(32);
  assertEquals(await slow.endAll(), 32);
  assertEquals((await post(app.key)).status, 422);
});

Deno.test("a seller has at most 64 waiting requests, streams included", async () => {
  await using images = new ImageHost();
  await using app = await boot({ config: { roles: ["api", "images"] } });
  const other = await app.addSeller("other");
  const uploaded = await app.upload(
    product("A", `<images><image>${images.url}/hang/a.png</image></images>`),
  );
  const id = textAt(uploaded.xml, "transaction_id");
  const path = `/seller_api/bulk_products/${id}`;
  const disconnect = new AbortController();
  const streams = Array.from({ length: 32 }, () =>
    fetch(app.url + path, {
      headers: { "X-Service-Auth": app.key, Accept: "text/event-stream" },
      signal: disconnect.signal,
    }));
  const statuses = (await Promise.all(streams)).map(({ status }) => status);
  assertEquals(new Set(statuses), new Set([200]));
  const wait = () => app.call(`${path}?wait=30`).then(({ status }) => status);
  const waiting = Array.from({ length: 32 }, wait);
  const refused = async () => (await app.call(`${path}?wait=1`)).status === 429;
  await until(async () => {
    if (await refused()) return true;
    waiting.push(wait()); // the earlier request may have had a slot
    return false;
  }, "the limit");
  assertEquals((await app.call(path)).status, 200, "a look does not wait");
  const others = await app.call(`${path}?wait=1`, { key: other });
  assertEquals(others.status, 404, "nobody else is held up");
  disconnect.abort();
  await until(async () => !await refused(), "the places of the streams");
  images.release();
  const answers = await Promise.all(waiting);
  assert(answers.filter((status) => status === 200).length >= 32, `${answers}`);
  assert(answers.every((status) => [200, 429].includes(status)), `${answers}`);
});

Deno.test("a seller at its limits does not slow others", async () => {
  await using app = await boot({ config: { rateLimit: 600 } });
  const other = await app.addSeller("other");
  await using slow = new SlowPosts(app);
  slow.begin(16, app.key);
  const over = new AbortController();
  const flooding = Array.from({ length: 8 }, async () => {
    const statuses: number[] = [];
    while (!over.signal.aborted) {
      statuses.push((await app.call("/seller_api/webhooks")).status);
    }
    return statuses;
  });
  await until(
    async () => (await app.call("/seller_api/webhooks")).status === 429,
    "the rate",
  );
  const times: number[] = [];
  for (let n = 0; n < 10; n++) {
    const taken = stopwatch();
    const answer = await app.call(BULK, {
      key: other,
      method: "POST",
      body: `<products>${product(`B-${n}`)}</products>`,
    });
    assertEquals(answer.status, 200, answer.text);
    times.push(taken());
  }
  over.abort();
  const statuses = new Set((await Promise.all(flooding)).flat());
  assert(statuses.has(429));
  times.sort((a, b) => a - b);
  assertLess(times[5], 1_000, `${times}`);
});

Deno.test("an address that tries keys gets 429, and a valid key still works", async () => {
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  await using app = await boot({
    deps: { clock },
    config: { operatorKey: "operator-key" },
  });
  const guess = (path = "/seller_api/webhooks", key = "guessed") =>
    app.call(path, { key });
  const paths = ["/seller_api/webhooks", "/operator_api/events", "/readyz"];
  for (let n = 0; n < 300; n++) {
    assertEquals((await guess(paths[n % 3])).status, 401);
  }
  const loud = app.log.filter(({ level }) => level !== "debug").length;
  for (const path of paths) {
    const answer = await guess(path);
    assertEquals([answer.status, codeOf(answer)], [429, "rate_limited"]);
    assertEquals(answer.headers.get("retry-after"), "1");
  }
  assertEquals((await app.call("/nowhere", { key: null })).status, 404);
  assertEquals(
    app.log.filter(({ level }) => level !== "debug").length,
    loud,
    "nothing more is logged",
  );
  assertEquals((await app.call("/seller_api/webhooks")).status, 200);
  const status = await guess("/readyz", "operator-key");
  assertEquals(status.status, 200);
  now += 200; // five tokens are refilled in each second
  assertEquals((await guess()).status, 401);
  assertEquals((await guess()).status, 429);
});

Deno.test("refused requests with a valid key do not count as tried keys", async () => {
  const keys = { operatorKey: "operator-key", metricsKey: "metrics-key" };
  await using app = await boot({
    deps: { clock: STOPPED },
    config: { ...keys, rateLimit: 0 },
  });
  const known = [
    ["/seller_api/webhooks", app.key],
    ["/operator_api/sellers", keys.operatorKey],
    ["/metrics", keys.metricsKey],
  ];
  for (const [path, key] of known) {
    for (let n = 0; n < 301; n++) {
      const { status } = await app.call(path, { method: "PATCH", key });
      assertEquals(status, 405, path);
    }
  }
  const guessed = await app.call("/seller_api/webhooks", { key: "guessed" });
  assertEquals(guessed.status, 401);
});

Deno.test("behind declared proxies clients are distinguished by X-Forwarded-For", async () => {
  await using app = await boot({
    deps: { clock: STOPPED },
    config: { trustProxy: 2 },
  });
  const guess = async (forwarded: string) => {
    const headers = { "X-Forwarded-For": forwarded };
    const call = { key: "guessed", headers };
    return (await app.call("/seller_api/webhooks", call)).status;
  };
  for (let n = 0; n < 300; n++) {
    // The client's invented address comes before those that the proxies added.
    assertEquals(await guess(`10.9.8.${n % 256}, 198.51.100.7, 10.0.0.2`), 401);
  }
  assertEquals(await guess("198.51.100.7, 10.0.0.2"), 429);
  assertEquals(await guess("198.51.100.7:5123, 10.0.0.3"), 429);
  assertEquals(await guess("198.51.100.8, 10.0.0.2"), 401);
  assertEquals(await guess("10.0.0.2"), 401, "by the connection's address");
  assertEquals(await guess("198.51.100.7, nonsense, 10.0.0.2"), 401);
  const clients = new Set(app.log.map(({ client }) => client));
  assertEquals([...clients].sort(), [
    "127.0.0.1",
    "198.51.100.7",
    "198.51.100.8",
  ]);
});

Deno.test("without a declared proxy X-Forwarded-For does not count", async () => {
  await using app = await boot({ deps: { clock: STOPPED } });
  let status = 0;
  for (let n = 0; n <= 300; n++) {
    const headers = { "X-Forwarded-For": `198.51.100.${n % 256}` };
    const call = { key: "guessed", headers };
    status = (await app.call("/seller_api/webhooks", call)).status;
  }
  assertEquals(status, 429);
});

Deno.test("a log line has the client, the route, the outcome, the time and the bytes", async () => {
  await using app = await boot();
  const body = `<products>${product("A")}</products>`;
  const answer = await app.call(BULK, { method: "POST", body });
  const id = answer.headers.get("x-request-id");
  const line = app.log.find(({ event, request_id }) =>
    event === "request" && request_id === id
  )!;
  const { time: _, ms, ...rest } = line;
  assert(typeof ms === "number" && ms >= 0);
  assertEquals(rest, {
    level: "debug",
    event: "request",
    request_id: id,
    client: "127.0.0.1",
    seller: "acme",
    key: textAt((await app.call("/seller_api/keys")).xml, "keys/key/key_id"),
    method: "POST",
    route: "/seller_api/bulk_products",
    status: 200,
    bytes_in: body.length,
    bytes_out: answer.text.length,
  });
});
