/** Which calls the client repeats, and how long it waits; without a network. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  ApiError,
  type CallOptions,
  type Client,
  CLIENT_VERSION,
  type ClientOptions,
  ConnectionError,
  createClient,
  createOperatorClient,
  type OperatorClient,
  type SentProduct,
} from "../../src/client/mod.ts";
import { sleep } from "../../src/client/platform.ts";
import { exampleOf } from "./examples.ts";

const PRODUCT: SentProduct = { sku: "A", quantity: 1 };

/** A client that gets these answers, one after the other; null: no answer. */
class Scripted {
  readonly client: Client;
  readonly operator: OperatorClient;
  readonly requests: { url: string; headers: Headers; body: unknown }[] = [];
  readonly waits: number[] = [];
  #now = 0;

  constructor(...answers: (Response | null)[]) {
    const options: ClientOptions = {
      url: "https://market.example",
      key: "sk_1",
      fetch: (url, { headers, body }) => {
        this.requests.push({ url, headers: new Headers(headers), body });
        const answer = answers.shift();
        return answer
          ? Promise.resolve(answer)
          : Promise.reject(new TypeError("connection refused"));
      },
      now: () => this.#now,
      sleep: (ms) => {
        this.waits.push(ms);
        this.#now += ms;
        return Promise.resolve();
      },
      newKey: () => `key ${this.requests.length}`,
    };
    this.client = createClient(options);
    this.operator = createOperatorClient(options);
  }
}

function failed(status: number, wait?: string): Response {
  const headers = new Headers(wait ? { "Retry-After": wait } : {});
  return new Response(exampleOf("error"), { status, headers });
}

function done(): Response {
  return new Response(exampleOf("upload"));
}

function upload({ client }: Scripted, options?: CallOptions) {
  return client.uploads.create({ products: [PRODUCT] }, options);
}

Deno.test("an upload is repeated with one Idempotency-Key, when the service says so", async () => {
  const service = new Scripted(
    null,
    failed(503, "7"),
    failed(409, "1"),
    done(),
  );
  const reported: string[] = [];
  await upload(service, { onRetry: ({ name }) => reported.push(name) });
  const keys = service.requests
    .map(({ headers }) => headers.get("Idempotency-Key"));
  assertEquals(keys, ["key 0", "key 0", "key 0", "key 0"]);
  assertEquals(service.waits, [500, 7_000, 2_000]);
  assertEquals(reported, [
    "ConnectionError",
    "UnavailableError",
    "ConflictError",
  ]);
});

Deno.test("each call has its own Idempotency-Key, or the given one", async () => {
  const service = new Scripted(done(), done(), done());
  await upload(service);
  await upload(service);
  await upload(service, { idempotencyKey: "mine" });
  const keys = service.requests
    .map(({ headers }) => headers.get("Idempotency-Key"));
  assertEquals(keys, ["key 0", "key 1", "mine"]);
});

Deno.test("retries end when their time is up", async () => {
  const service = new Scripted();
  await assertRejects(
    () => upload(service, { retryFor: 4_000 }),
    ConnectionError,
  );
  assertEquals(service.waits, [500, 1_000, 2_000]);
  const hasty = new Scripted(failed(503, "30"));
  await assertRejects(() => upload(hasty, { retryFor: 20_000 }), ApiError);
  assertEquals(hasty.waits, []);
});

Deno.test("an event is repeated, because its reference tells repetitions apart", async () => {
  const service = new Scripted(
    null,
    failed(503),
    failed(409),
    new Response(exampleOf("event")),
  );
  const trigger = "order_paid" as const;
  const event = { seller: "acme", trigger, reference: "order-1001" };
  const answer = service.operator.events.create({ event });
  // A reference with other data is 409 without Retry-After.
  await assertRejects(() => answer, ApiError);
  assertEquals(service.requests.length, 3);
  await service.operator.events.create({ event });
});

Deno.test("a request that may have had an effect is not retried without a key", async () => {
  for (const answer of [null, failed(503), failed(500)]) {
    const service = new Scripted(answer, done());
    const trigger = "order_paid";
    await assertRejects(() => service.client.webhooks.test({ trigger }));
    assertEquals(service.requests.length, 1);
  }
});

Deno.test("a request beyond the rate limit has no effect and is retried later", async () => {
  const service = new Scripted(
    failed(429, "3"),
    new Response(exampleOf("success")),
  );
  const url = "https://a.example/";
  const webhook = { trigger: "order_paid", url } as const;
  await service.client.webhooks.create({ webhook }, { retryFor: 0 });
  assertEquals(service.waits, [3_000]);
  const blocked = new Scripted(
    ...Array.from({ length: 20 }, () => failed(429, "1")),
  );
  await assertRejects(() => upload(blocked), ApiError);
  assertEquals(blocked.waits.length, 10);
});

Deno.test("a refused request is not retried", async () => {
  const service = new Scripted(failed(422));
  const error = await assertRejects(() => upload(service), ApiError);
  assertEquals([error.status, error.code, error.title], [
    422,
    "record_invalid",
    "Record Invalid",
  ]);
  assertEquals(service.waits, []);
});

Deno.test("an answer from another program is reported as such", async () => {
  const proxy = new Scripted(
    new Response("<h1>Bad gateway</h1><br>", { status: 502 }),
  );
  const error = await assertRejects(
    () => upload(proxy, { retryFor: 0 }),
    ApiError,
    "did not come from the service",
  );
  assertEquals(error.code, "http_502");
  for (const body of ["<html/>", "", '{"transaction_id":', "1", "null"]) {
    const portal = new Scripted(new Response(body));
    const error = await assertRejects(() => upload(portal), ApiError);
    assertEquals(error.code, "http_200");
  }
});

Deno.test("paths, queries and headers are those of the interface", async () => {
  const { client, operator, requests } = new Scripted(
    new Response(null, { status: 204 }),
    new Response(exampleOf("products")),
    new Response("# metrics"),
  );
  const attribute = { attribute: "title", value: "50 % & ö" } as const;
  await client.products.setAttribute({ sku_or_id: "A/1?", ...attribute });
  await client.products.list({ q: "a&b", limit: 2, after: undefined });
  await operator.metrics.get();
  assertEquals(requests.map(({ url }) => url.slice(22)), [
    "/seller_api/products/A%2F1%3F/attribute/title/50%20%25%20%26%20%C3%B6",
    "/seller_api/products?q=a%26b&limit=2",
    "/metrics",
  ]);
  assertEquals(requests[1].headers.get("X-Service-Auth"), "sk_1");
  assertEquals(requests[1].headers.get("Accept"), "application/json");
  assertEquals(requests[2].headers.get("Authorization"), "Bearer sk_1");
  assertEquals(
    requests[0].headers.get("X-Client-Version"),
    `typescript/${CLIENT_VERSION}`,
  );
  await assertRejects(
    () =>
      client.products.setAttribute({
        sku_or_id: "A",
        attribute: "brand",
        value: "..",
      }),
    TypeError,
    'is "..", which the path of a URL cannot contain',
  );
});

Deno.test("an identifier that a URL cannot contain is refused before any request", async () => {
  const { client, waits } = new Scripted();
  await assertRejects(
    () => client.uploads.follow({ transaction_id: ".." }).next(),
    TypeError,
    'is "..", which the path of a URL cannot contain',
  );
  assertEquals(waits, []);
});

Deno.test("a large document is compressed", async () => {
  const service = new Scripted(done());
  await service.client.uploads.create({
    products: [{ sku: "A", description: "x".repeat(100_000) }],
  });
  const [{ headers, body }] = service.requests;
  assertEquals(headers.get("Content-Encoding"), "gzip");
  const plain = (body as Blob).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  assertEquals((await new Response(plain).text()).length > 100_000, true);
});

Deno.test("a call ends when its signal fires, even while it waits", async () => {
  const leave = new AbortController();
  const client = createClient({
    key: "",
    fetch: () => Promise.reject(new TypeError()),
  });
  const call = client.webhooks.list({
    signal: leave.signal,
    onRetry: () => leave.abort(),
  });
  await assertRejects(() => call, DOMException, "aborted");
});

Deno.test("a broken stream is reopened until the upload is final", async () => {
  const event = (name: string, progress: number) =>
    `event: ${name}\ndata: {"transaction":{"progress":${progress}}}\n\n`;
  const { client, waits } = new Scripted(
    new Response(": hello\n\n" + event("progress", 10)),
    null,
    new Response(event("progress", 50) + event("final", 100)),
  );
  const seen: number[] = [];
  let breaks = 0;
  const options = { onRetry: () => breaks++ };
  for await (
    const { progress } of client.uploads.follow(
      { transaction_id: "1" },
      options,
    )
  ) seen.push(progress);
  assertEquals(seen, [10, 50, 100]);
  assertEquals([breaks, waits], [2, [500, 1_000]]);
});

Deno.test("a wait that is longer than the limit of timers does not end at once", async () => {
  for (const ms of [30 * 86_400_000, Infinity]) {
    const waiting = new AbortController();
    const first = await Promise.race([
      sleep(ms, waiting.signal).then(() => "long"),
      sleep(5).then(() => "short"),
    ]);
    waiting.abort();
    assertEquals(first, "short");
  }
});
