import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  Outbound,
  OutboundError,
  type OutboundErrorKind,
} from "../../src/net/outbound.ts";
import { ImageHosts } from "./image_hosts.ts";
import { Network } from "./network.ts";
import { picture } from "./pictures.ts";
import { TestKernel } from "./test_kernel.ts";
import { isSigned, WebhookEndpoints } from "./webhook_endpoints.ts";

/** A process with the real outbound client, and hosts. */
class Bench {
  readonly kernel: TestKernel;
  readonly images = new ImageHosts();
  readonly endpoints = new WebhookEndpoints();
  readonly network: Network;
  readonly outbound: Outbound;

  constructor(seed = 1) {
    this.kernel = new TestKernel(seed);
    this.network = new Network(
      this.kernel,
      (name) => this.images.find(name) ?? this.endpoints.find(name),
    );
    this.outbound = this.client("one");
  }

  client(name: string): Outbound {
    return new Outbound({
      allowPrivate: [],
      perOrigin: 10,
      total: 100,
      clock: this.kernel.clock,
      ...this.network.client(name),
    });
  }

  async head(url: string, outbound = this.outbound): Promise<number> {
    return (await outbound.head(url, { timeoutMs: 10_000 })).status;
  }

  async get(
    url: string,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Uint8Array; etag: string | null }> {
    const answer = await this.outbound.get(url, {
      timeoutMs: 60_000,
      maxBytes: 1_000_000,
      headers,
    });
    const body: number[] = [];
    for await (const piece of answer.body) body.push(...piece);
    const { status } = answer;
    return {
      status,
      body: Uint8Array.from(body),
      etag: answer.headers("etag"),
    };
  }

  async post(url: string, headers: Record<string, string> = {}) {
    return await this.outbound.post(url, {
      timeoutMs: 20_000,
      headers,
      body: new TextEncoder().encode("an event"),
      maxAnswerBytes: 16_384,
    });
  }

  /** Begins the fault with this name; the returned function ends it. */
  fail(name: string): () => void {
    return this.network.faults.find((fault) => fault.name === name)!.begin();
  }
}

/** Runs a world for each of some seeds. */
async function onSeeds(
  check: (bench: Bench) => Promise<void>,
  seeds = 20,
): Promise<void> {
  for (let seed = 1; seed <= seeds; seed++) {
    const bench = new Bench(seed);
    await bench.kernel.run(check(bench));
  }
}

const GOOD = "http://good.images.example/a.png";

Deno.test("simulated network: HEAD, GET and POST work, whatever the seed", () =>
  onSeeds(async (bench) => {
    assertEquals(await bench.head(GOOD), 200);
    const { status, body, etag } = await bench.get(GOOD);
    assertEquals([status, body], [200, picture("/a.png")]);
    const again = await bench.get(GOOD, { "if-none-match": etag! });
    assertEquals(again.status, 304);
    assertEquals(
      bench.images.requests.map(({ method, url, status }) =>
        `${method} ${url} ${status}`
      ),
      [`HEAD ${GOOD} 200`, `GET ${GOOD} 200`, `GET ${GOOD} 304`],
    );
    const hook = "http://good.hooks.example/a?b=c";
    assertEquals((await bench.post(hook)).status, 200);
    const [receipt] = bench.endpoints.receipts;
    assertEquals([receipt.url, receipt.attempt, receipt.status], [
      hook,
      1,
      200,
    ]);
    assertEquals(new TextDecoder().decode(receipt.body), "an event");
  }));

Deno.test("simulated network: a connection that its host closed meanwhile harms nothing", () =>
  onSeeds(async (bench) => {
    for (let n = 0; n < 20; n++) {
      assertEquals(await bench.head(GOOD), 200);
      await bench.kernel.sleep(n * 200);
    }
  }));

Deno.test("simulated network: bodies arrive whole in every framing and pace", () =>
  onSeeds(async (bench) => {
    for (const kind of ["chunked", "unmarked", "drip", "slow", "twoway"]) {
      const { body } = await bench.get(`http://${kind}.images.example/a.jpg`);
      assertEquals(body, picture("a.jpg"), kind);
    }
  }, 5));

/** The error of the outbound client for each host. */
const KINDS: Record<string, OutboundErrorKind> = {
  "http://refusing.images.example/a.png": "refused",
  "http://unreachable.images.example/a.png": "refused",
  "http://deaf.images.example/a.png": "timeout",
  "http://silent.images.example/a.png": "timeout",
  "http://resetting.images.example/a.png": "reset",
  "http://closing.images.example/a.png": "reset",
  "http://broken.images.example/a.png": "reset",
  "http://cut.images.example/a.png": "reset",
  "http://stuck.images.example/a.png": "timeout",
  "http://short.images.example/a.png": "reset",
  "http://crawl.images.example/a.png": "timeout",
  "http://large.images.example/a.png": "too_large",
  "http://endless.images.example/a.png": "too_large",
  "http://garbled.images.example/a.png": "protocol",
  "http://compressed.images.example/a.png": "protocol",
  "http://private.images.example/a.png": "blocked",
  "http://mixed.images.example/a.png": "blocked",
  "http://bare.images.example/a.png": "unresolved",
  "http://lostname.images.example/a.png": "timeout",
  "http://nobody.images.example/a.png": "unresolved",
  "http://nobody.example/a.png": "unresolved",
  "https://untrusted.images.example/a.png": "tls",
  "https://expired.images.example/a.png": "tls",
  "https://elsewhere.images.example/a.png": "tls",
  "https://insecure.images.example/a.png": "tls",
  "https://secretive.images.example/a.png": "timeout",
};

Deno.test("simulated network: each host fails as a real one does", () =>
  onSeeds(async (bench) => {
    const found = await Promise.all(
      Object.keys(KINDS).map(async (url) => {
        const error = await assertRejects(
          () => bench.get(url),
          OutboundError,
          undefined,
          url,
        );
        return [url, error.kind];
      }),
    );
    assertEquals(Object.fromEntries(found), KINDS);
    assertEquals(bench.network.connections("one"), 0);
  }, 5));

Deno.test("simulated network: a name may resolve differently in a worker", () =>
  onSeeds(async (bench) => {
    const url = "http://rebound.images.example/a.png";
    assertEquals(await bench.head(url), 200);
    const worker = bench.client("one/worker-1");
    const error = await assertRejects(
      () => bench.head(url, worker),
      OutboundError,
    );
    assertEquals(error.kind, "blocked");
  }, 5));

Deno.test("simulated network: https is answered, and the host sees that it is https", () =>
  onSeeds(async (bench) => {
    const url = "https://good.images.example/a.png";
    assertEquals(await bench.head(url), 200);
    assertEquals(bench.images.requests[0].url, url);
  }, 5));

Deno.test("simulated network: a fault lasts until it ends or faults are switched off", async () => {
  const kinds: Record<string, OutboundErrorKind> = {
    "hosts refuse connections": "refused",
    "hosts are away": "timeout",
    "hosts reset connections": "reset",
    "names do not resolve": "unresolved",
    "no connection can be opened": "exhausted",
  };
  for (const [name, kind] of Object.entries(kinds)) {
    const seen = new Set<string>();
    await onSeeds(async (bench) => {
      const end = bench.fail(name);
      const outcome = () =>
        bench.head(GOOD).then(String, ({ kind }: OutboundError) => kind);
      seen.add(await outcome());
      bench.kernel.faulty = false;
      await bench.kernel.sleep(10_000);
      assertEquals(await outcome(), "200", name);
      bench.kernel.faulty = true;
      end();
      await bench.kernel.sleep(10_000);
      assertEquals(await outcome(), "200", name);
    });
    assert(seen.has(kind), `${name}: ${[...seen]}`);
  }
});

Deno.test("simulated network: a half-open connection is silent, and a new one works", () =>
  onSeeds(async (bench) => {
    assertEquals(await bench.head(GOOD), 200);
    bench.fail("hosts are away")();
    const outcome = await bench.head(GOOD)
      .then(String, ({ kind }: OutboundError) => kind);
    assert(["200", "timeout"].includes(outcome), outcome);
    assertEquals(await bench.head(GOOD), 200);
  }));

Deno.test("simulated network: nothing reaches a process that was killed", () =>
  onSeeds(async (bench) => {
    assertEquals(await bench.head(GOOD), 200);
    assertEquals(bench.network.connections("one"), 1);
    let isSettled = false;
    const settle = () => void (isSettled = true);
    bench.get("http://slow.images.example/a.png").then(settle, settle);
    await bench.kernel.sleep(1_000);
    bench.network.cut("one");
    await bench.kernel.sleep(5_000);
    assertEquals(isSettled, false);
    assertEquals(bench.network.connections("one"), 0);
  }, 5));

Deno.test("simulated endpoints: each answers by its kind and counts attempts", () =>
  onSeeds(async (bench) => {
    const outcome = (kind: string) =>
      bench.post(`http://${kind}.hooks.example/`, { "webhook-id": "event" })
        .then(({ status }) => status, ({ kind }: OutboundError) => kind);
    const twice = async (kind: string) => [
      await outcome(kind),
      await outcome(kind),
    ];
    assertEquals(await twice("flaky"), [503, 200]);
    assertEquals(await twice("busy"), [429, 200]);
    assertEquals(await twice("broken"), ["reset", 200]);
    assertEquals(await twice("forgetful"), ["timeout", 200]);
    assertEquals(await outcome("late"), "timeout");
    assertEquals(await outcome("slow"), 204);
    assertEquals(await outcome("talkative"), 200);
    assertEquals(await outcome("half"), 200);
    assertEquals(await outcome("gone"), 410);
    assertEquals(await outcome("rebound"), 200);
    const attempts = bench.endpoints.receipts.map(({ attempt }) => attempt);
    assertEquals(attempts.slice(0, 4), [1, 2, 1, 2]);
  }, 5));

Deno.test("simulated endpoints: a forged signature is detected", () => {
  // The example of https://github.com/standard-webhooks/standard-webhooks
  const body = new TextEncoder().encode('{"test": 2432232314}');
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  assert(isSigned({ headers, body }, secret));
  assert(!isSigned({ headers, body }, "whsec_AAAA"));
  assert(!isSigned({ headers, body: body.slice(1) }, secret));
});

/** The trace of a world with some of everything. */
async function traceOf(seed: number): Promise<string[]> {
  const bench = new Bench(seed);
  const hosts = ["good", "flaky", "cut", "drip", "stuck", "silent"];
  const all = async () => {
    const end = bench.fail("answers stop in the middle");
    await Promise.all(hosts.map(async (kind, n) => {
      await bench.kernel.sleep(n * 700);
      const url = `http://${kind}.images.example/a.png`;
      const outcome = await bench.get(url)
        .then(({ status }) => status, ({ kind }: OutboundError) => kind);
      bench.kernel.trace(() => `${url} ${outcome}`);
      if (n === 3) end();
    }));
  };
  await bench.kernel.run(all());
  return bench.kernel.lines;
}

Deno.test("simulated network: the same seed gives the same trace, another seed a different one", async () => {
  const first = await traceOf(7);
  assertEquals(await traceOf(7), first);
  assert((await traceOf(8)).join() !== first.join());
});
