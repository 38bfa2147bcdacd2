/**
 * No URL of a seller leads to a blocked address: a listener there counts
 * connections.
 */
import { assert, assertEquals } from "@std/assert";
import {
  boot,
  child,
  detailsOf,
  product,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { WebhookSink } from "../support/webhook_sink.ts";

/** Counts connections to an address of this machine, and closes them. */
class Counter implements AsyncDisposable {
  connections = 0;
  readonly #listener: Deno.TcpListener;
  readonly #accepting: Promise<void>;

  constructor(hostname: string) {
    this.#listener = Deno.listen({ hostname, port: 0 });
    this.#accepting = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      this.connections++;
      connection.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    await this.#accepting;
  }
}

/** One number of an address, in every base that a URL parser accepts. */
function numbers(value: number): string[] {
  const hex = value.toString(16);
  const octal = value.toString(8);
  return [`${value}`, `0x${hex}`, `0X000${hex}`, `0${octal}`, `0000${octal}`];
}

/** An IPv4 address with 1 to 4 parts, in all those bases, and in IPv6. */
function spellings(a: number, b: number, c: number, d: number): string[] {
  const whole = ((a * 256 + b) * 256 + c) * 256 + d;
  const parts = [
    [whole],
    [a, (b * 256 + c) * 256 + d],
    [a, b, c * 256 + d],
    [a, b, c, d],
  ];
  const ipv4 = parts.flatMap((list) =>
    numbers(0).map((_, base) =>
      list.map((part) => numbers(part)[base]).join(".")
    )
  );
  const dotted = [a, b, c, d].join(".");
  const wide = [...dotted].map((char) =>
    char === "." ? "。" : String.fromCharCode(char.charCodeAt(0) + 0xfee0)
  ).join("");
  const escaped = [...dotted].map((char) =>
    `%${char.charCodeAt(0).toString(16)}`
  ).join("");
  const embedded = ["::", "::ffff:", "::ffff:0:", "64:ff9b::"]
    .map((prefix) => `[${prefix}${dotted}]`);
  return [...ipv4, `${dotted}.`, wide, escaped, ...embedded];
}

const NAMES = ["localhost", "LOCALHOST.", "a.localhost", "[::1]", "[::]"];

async function postWebhook(app: TestApp, url: string) {
  return await app.call("/seller_api/webhooks", {
    method: "POST",
    body:
      `<webhook><trigger>order_created</trigger><url>${url}</url></webhook>`,
  });
}

Deno.test("no spelling of a local address is reached as an image or a webhook", async () => {
  await using counter = new Counter("0.0.0.0");
  await using app = await boot({ config: { allowPrivate: [] } });
  const hosts = [
    ...NAMES,
    ...spellings(127, 0, 0, 1),
    ...spellings(127, 255, 255, 254),
    ...spellings(0, 0, 0, 0),
  ];
  const urls = hosts.map((host) => `http://${host}:${counter.port}/a.png`);
  const images = urls.map((url, n) =>
    product(`A-${n}`, `<images><image>${url}</image></images>`)
  );
  const answer = await app.upload(images.join(""));
  assertEquals(answer.status, 422);
  const refused = new Map(
    detailsOf(answer).map(({ product, code }) => [Number(product), code]),
  );
  urls.forEach((url, n) => {
    const code = refused.get(n + 1);
    assert(code === "image_blocked" || code === "bad_url", `${url}: ${code}`);
  });
  for (const url of urls) {
    const { status } = await postWebhook(app, url);
    assertEquals(status, 422, url);
  }
  assertEquals(counter.connections, 0);
  using _ = await Deno.connect({ hostname: "127.0.0.1", port: counter.port });
  await until(() => counter.connections === 1, "that it counts");
});

Deno.test("a redirect to a blocked address is not followed", async () => {
  await using counter = new Counter("127.0.0.2");
  await using images = new ImageHost();
  await using sink = new WebhookSink();
  const location = `http://127.0.0.2:${counter.port}/secret`;
  const redirect = () =>
    new Response(null, { status: 307, headers: { location } });
  await using app = await boot({
    config: {
      allowPrivate: ["127.0.0.1/32"],
      operatorKey: "operator",
      roles: ["api", "images", "webhooks"],
    },
  });
  const upload = (path: string) =>
    app.upload(
      product("A", `<images><image>${images.url}${path}</image></images>`),
    );
  images.answers.set("/good/head.png", redirect);
  const refused = await upload("/good/head.png");
  assertEquals(detailsOf(refused).map(({ code }) => code), [
    "image_unavailable",
  ]);

  images.answers.set(
    "/good/get.png",
    ({ method }) => method === "HEAD" ? new Response() : redirect(),
  );
  const status = await app.status(await upload("/good/get.png"), "?wait=10");
  const failed = child(child(child(status, "results"), "product"), "image");
  assertEquals(textAt(failed, "code"), "image_redirected");

  sink.answering = redirect;
  assertEquals((await postWebhook(app, sink.url())).status, 200);
  await app.call("/operator_api/events", {
    key: "operator",
    method: "POST",
    body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
      "<reference>1</reference></event>",
  });
  await until(
    () => app.log.some(({ event }) => event === "delivery_tried"),
    "the try",
  );
  assertEquals(sink.received.length, 1);
  assertEquals(counter.connections, 0);
});
