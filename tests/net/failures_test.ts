/** Misbehaving hosts: each has its kind of error, and none ends the process. */

import { assert, assertEquals } from "@std/assert";
import type { Dial } from "../../src/net/outbound.ts";
import {
  answering,
  answeringOnce,
  assertFails,
  type Behaviour,
  bytesOf,
  EMPTY_200,
  Host,
  openOutbound,
  textOf,
} from "./support.ts";
import { TestClock, until } from "../support/clock.ts";

const timeoutMs = 5_000;
const OK = "HTTP/1.1 200 OK\r\n";

const NOT_HTTP: [name: string, answer: string][] = [
  ["plain text", "hello there, this is no HTTP\r\n\r\n"],
  ["plain text without an end", "220 mail.example ESMTP"],
  ["a newer version", "HTTP/2 200 OK\r\n\r\n"],
  ["no status", "HTTP/1.1 OK\r\n\r\n"],
  ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
  ["a status below 100", "HTTP/1.1 099 Odd\r\n\r\n"],
  ["an empty line first", "\r\nHTTP/1.1 200 OK\r\n\r\n"],
  ["a header without a colon", `${OK}Oops\r\n\r\n`],
  ["a header without a name", `${OK}: a\r\n\r\n`],
  ["a space before the colon", `${OK}Content-Length : 5\r\n\r\nhello`],
  ["a NUL in a header", `${OK}A: \0\r\n\r\n`],
  ["a lone carriage return", `${OK}A: b\rContent-Length: 5\r\n\r\n`],
  ["two lengths", `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`],
  ["a negative length", `${OK}Content-Length: -5\r\n\r\nhello`],
  ["an empty length", `${OK}Content-Length:\r\n\r\nhello`],
  ["a hexadecimal length", `${OK}Content-Length: 0x5\r\n\r\nhello`],
  [
    "a length too large to count",
    `${OK}Content-Length: ${"9".repeat(20)}\r\n\r\n`,
  ],
  [
    "a length together with chunks",
    `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
  ],
  ["an unknown coding", `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`],
  ["other protocols", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  ["endless interim answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(100)],
  ["a header bomb", `${OK}A: ${"b".repeat(40_000)}\r\n\r\n`],
  ["a bomb of many headers", `${OK}${"A: b\r\n".repeat(10_000)}\r\n`],
  ["a header bomb without an end", OK + "A: b\r\n".repeat(10_000)],
];

for (const [name, answer] of NOT_HTTP) {
  Deno.test(`get() fails with "protocol" on ${name}`, async () => {
    await using host = new Host(async (caller) => {
      await caller.request();
      await caller.send(answer);
      await caller.gone();
    });
    using outbound = openOutbound();
    const options = { timeoutMs, maxBytes: 100 };
    await assertFails(outbound.get(host.url(), options), "protocol");
    // The host answered, and an answer is final.
    assertEquals(host.connections, 1);
  });
}

const BAD_CHUNKS: [name: string, body: string][] = [
  ["no number", "zz\r\nhello\r\n0\r\n\r\n"],
  ["a sign", "-5\r\nhello\r\n0\r\n\r\n"],
  ["an empty size", "\r\nhello\r\n"],
  ["too large a number", "fffffffffffff\r\n"],
  ["more than its size", "4\r\nhello\r\n0\r\n\r\n"],
  ["an endless extension", `5;${"a".repeat(70_000)}`],
  ["endless trailers", `0\r\n${"A: b\r\n".repeat(100)}`],
];

for (const [name, body] of BAD_CHUNKS) {
  Deno.test(`a chunk with ${name} fails with "protocol"`, async () => {
    await using host = new Host(
      answeringOnce(`${OK}Transfer-Encoding: chunked\r\n\r\n${body}`),
    );
    using outbound = openOutbound();
    const answer = await outbound.get(host.url(), { timeoutMs, maxBytes: 100 });
    await assertFails(textOf(answer.body), "protocol");
  });
}

const CUT_BODIES: [name: string, answer: string][] = [
  ["a length", `${OK}Content-Length: 11\r\n\r\nhello`],
  ["a chunk", `${OK}Transfer-Encoding: chunked\r\n\r\nb\r\nhello`],
  ["its last chunk", `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`],
];

for (const [name, answer] of CUT_BODIES) {
  Deno.test(`a body that ends before ${name} does fails with "reset"`, async () => {
    await using host = new Host(answeringOnce(answer));
    using outbound = openOutbound();
    const got = await outbound.get(host.url(), { timeoutMs, maxBytes: 100 });
    await assertFails(textOf(got.body), "reset", "in the middle of the body");
    assertEquals(host.connections, 1);
  });
}

Deno.test("a connection that breaks without an answer is retried once", async () => {
  const breaks: Behaviour[] = [
    () => Promise.resolve(),
    (caller) => caller.request(),
    answeringOnce("HTTP/1.1 200 OK\r\nContent-"),
  ];
  for (const broken of breaks) {
    await using twice = new Host((caller, number) =>
      number === 1
        ? broken(caller, number)
        : answering(EMPTY_200)(caller, number)
    );
    await using always = new Host(broken);
    using outbound = openOutbound();
    assertEquals((await outbound.head(twice.url(), { timeoutMs })).status, 200);
    assertEquals(twice.connections, 2);
    await assertFails(outbound.head(always.url(), { timeoutMs }), "reset");
    assertEquals(always.connections, 2);
  }
});

Deno.test("a connection that breaks while this process stalls is no fault of the host", async () => {
  for (const [ms, kind] of [[1_000, "reset"], [3_000, "stalled"]] as const) {
    const clock = new TestClock();
    await using host = new Host(async (caller) => {
      await caller.request();
      clock.leap(ms);
    });
    using outbound = openOutbound({ clock });
    const posted = outbound.post(host.url(), {
      headers: {},
      body: new Uint8Array(10),
      timeoutMs: 60_000,
      maxAnswerBytes: 10,
    });
    await assertFails(posted, kind, "broke off the connection");
  }
});

Deno.test("post() is not retried", async () => {
  await using host = new Host((caller) => caller.request());
  using outbound = openOutbound();
  const posted = outbound.post(host.url(), {
    headers: {},
    body: new Uint8Array(10),
    timeoutMs,
    maxAnswerBytes: 10,
  });
  await assertFails(posted, "reset", "broke off the connection");
  assertEquals(host.connections, 1);
});

Deno.test("a host that half-closes after its answer has answered", async () => {
  await using host = new Host(async (caller) => {
    await caller.request();
    await caller.send(`${OK}\r\nhello`);
    await caller.halfClose();
    await caller.gone();
  });
  using outbound = openOutbound();
  const got = await outbound.get(host.url(), { timeoutMs, maxBytes: 5 });
  assertEquals(await textOf(got.body), "hello");
});

Deno.test("a port without a listener fails with refused", async () => {
  const host = new Host(answering(EMPTY_200));
  await host[Symbol.asyncDispose]();
  using outbound = openOutbound();
  const error = await assertFails(
    outbound.head(host.url(), { timeoutMs }),
    "refused",
    `127.0.0.1:${host.port} refused the connection.`,
  );
  assert(error.elapsedMs < timeoutMs);
});

Deno.test("a host that accepts no connection times out", async () => {
  let dialled = false;
  const dial = (_address: string, _port: number, signal: AbortSignal) => {
    dialled = true;
    return new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason))
    );
  };
  const clock = new TestClock();
  using outbound = openOutbound({ dial, clock });
  const failed = assertFails(
    outbound.head("http://slow.example/", { timeoutMs: 9_000 }),
    "timeout",
    "slow.example did not accept a connection within 5 s.",
  );
  await until(() => dialled);
  clock.advance(5_000);
  assertEquals((await failed).elapsedMs, 5_000);
});

Deno.test("a host that never answers times out and is not retried", async () => {
  let asked = false;
  await using host = new Host(async (caller) => {
    asked = await caller.request() !== null;
    await caller.gone();
  });
  const clock = new TestClock();
  using outbound = openOutbound({ clock });
  const failed = assertFails(
    outbound.head(host.url(), { timeoutMs }),
    "timeout",
    "did not answer within 5 s.",
  );
  await until(() => asked);
  clock.advance(timeoutMs);
  const { address, elapsedMs } = await failed;
  assertEquals([address, elapsedMs], ["127.0.0.1", 5_000]);
  assertEquals(host.connections, 1);
});

Deno.test("a host that drips its header or body times out", async () => {
  let drops = 0;
  const drip = (start: string): Behaviour => async (caller) => {
    await caller.request();
    await caller.send(start);
    for (;; drops++) {
      await caller.send("a");
      await new Promise((done) => setTimeout(done, 1));
    }
  };
  const clock = new TestClock();
  using outbound = openOutbound({ clock });
  const options = { timeoutMs, maxBytes: 99 };

  await using head = new Host(drip(`${OK}A: `));
  const unanswered = assertFails(
    outbound.get(head.url(), options),
    "timeout",
    "did not answer within 5 s.",
  );
  await until(() => drops > 5);
  clock.advance(timeoutMs);
  await unanswered;

  await using body = new Host(drip(`${OK}Content-Length: 99\r\n\r\n`));
  const got = await outbound.get(body.url(), options);
  drops = 0;
  const unfinished = assertFails(
    textOf(got.body),
    "timeout",
    "did not send the whole body within 5 s.",
  );
  await until(() => drops > 5);
  clock.advance(timeoutMs);
  await unfinished;
});

Deno.test("a slow reader times out", async () => {
  await using host = new Host(answeringOnce(`${OK}\r\nhello`));
  const clock = new TestClock();
  using outbound = openOutbound({ clock });
  const got = await outbound.get(host.url(), { timeoutMs, maxBytes: 9 });
  const dawdle = async () => {
    for await (const _ of got.body) clock.advance(timeoutMs);
  };
  await assertFails(dawdle(), "timeout");
});

Deno.test("post() returns an answer as soon as it has a status", async () => {
  const post = { headers: {}, body: new Uint8Array(3), maxAnswerBytes: 100 };
  const answer = `${OK}Content-Length: 100\r\n\r\nhello`;
  using outbound = openOutbound();
  await using broken = new Host(answeringOnce(answer));
  const cut = await outbound.post(broken.url(), { ...post, timeoutMs });
  assertEquals([cut.status, cut.truncated, cut.body.length], [200, true, 5]);
  await using stalled = new Host(async (caller) => {
    await caller.request();
    await caller.send(answer);
    await caller.gone();
  });
  const clock = new TestClock();
  let received = 0;
  const dial: Dial = async (hostname, port) => {
    const conn = await Deno.connect({ hostname, port });
    const read = conn.read.bind(conn);
    conn.read = async (into) => {
      const count = await read(into);
      received += count ?? 0;
      return count;
    };
    return conn;
  };
  using patient = openOutbound({ clock, dial });
  const stalling = patient.post(stalled.url(), { ...post, timeoutMs });
  await until(() => received === answer.length);
  clock.advance(timeoutMs);
  const late = await stalling;
  assertEquals([late.status, late.truncated, late.body.length], [200, true, 5]);
});

Deno.test("a body declared too large is refused", async () => {
  await using host = new Host(
    answeringOnce(`${OK}Content-Length: 101\r\n\r\n`),
  );
  using outbound = openOutbound();
  await assertFails(
    outbound.get(host.url(), { timeoutMs, maxBytes: 100 }),
    "too_large",
    "a body of 101 bytes; 100 is the most",
  );
});

Deno.test("a streamed body that grows too large is cut off", async () => {
  const hello = "5\r\nhello\r\n";
  await using host = new Host(
    answeringOnce(
      `${OK}Transfer-Encoding: chunked\r\n\r\n${hello.repeat(3)}0\r\n\r\n`,
    ),
  );
  using outbound = openOutbound();
  const got = await outbound.get(host.url(), { timeoutMs, maxBytes: 14 });
  await assertFails(bytesOf(got.body), "too_large", "more than 14 bytes");
});

Deno.test("a compressed body is refused unless the status is an error", async () => {
  const packed = (status: string) =>
    `HTTP/1.1 ${status}\r\nContent-Encoding: GZip\r\nContent-Length: 2\r\n\r\nab`;
  using outbound = openOutbound();
  const options = { timeoutMs, maxBytes: 100 };
  await using good = new Host(answering(packed("200 OK")));
  await assertFails(
    outbound.get(good.url(), options),
    "protocol",
    "content coding gzip",
  );
  await using missing = new Host(answering(packed("404 Not Found")));
  const answer = await outbound.get(missing.url(), options);
  assertEquals([answer.status, await textOf(answer.body)], [404, "ab"]);
  await using plain = new Host(
    answering(`${OK}Content-Encoding: identity\r\nContent-Length: 0\r\n\r\n`),
  );
  assertEquals((await outbound.get(plain.url(), options)).status, 200);
});

Deno.test("names that do not resolve, or not in time, have their own error codes", async () => {
  const nowhere = [
    () => Promise.resolve([]),
    () => Promise.reject(new Error("ENOTFOUND")),
    () => {
      throw new Error("at once");
    },
  ];
  for (const resolve of nowhere) {
    using outbound = openOutbound({ resolve });
    const message = "The host name no.example does not resolve to an address.";
    const url = "https://no.example/";
    await assertFails(outbound.check(url), "unresolved", message);
    await assertFails(outbound.head(url, { timeoutMs }), "unresolved", message);
  }
  const clock = new TestClock();
  using outbound = openOutbound({
    resolve: () => new Promise(() => {}),
    clock,
  });
  const failed = assertFails(
    outbound.check("https://slow.example/"),
    "timeout",
    "slow.example did not resolve within 5 s.",
  );
  clock.advance(5_000);
  await failed;
});

Deno.test("check() does not connect", async () => {
  await using host = new Host(answering(EMPTY_200));
  using outbound = openOutbound();
  await outbound.check(host.url("/", "a.example"));
  await outbound.check(host.url());
  await assertFails(
    outbound.check("http://10.0.0.1/"),
    "blocked",
    "10.0.0.1 is",
  );
  await assertFails(outbound.check("ftp://a.example/"), "blocked", "scheme");
  assertEquals(host.connections, 0);
});

Deno.test("a host with a dead address is reached at its other address", async () => {
  await using host = new Host(answering(EMPTY_200));
  const dialled: string[] = [];
  using outbound = openOutbound({
    resolve: () => Promise.resolve(["127.0.0.9", "127.0.0.1", "127.0.0.2"]),
    dial: (hostname, port, signal) => {
      dialled.push(hostname);
      return Deno.connect({ hostname, port, signal });
    },
  });
  const answer = await outbound.head(host.url("/", "a.example"), { timeoutMs });
  assertEquals([answer.status, answer.address], [200, "127.0.0.1"]);
  assertEquals(dialled, ["127.0.0.9", "127.0.0.1"]);
});

Deno.test("four addresses of a host are tried, at the port of the scheme", async () => {
  const dialled: string[] = [];
  using outbound = openOutbound({
    resolve: () =>
      Promise.resolve([1, 2, 3, 4, 5].map((last) => `127.0.0.${last}`)),
    dial: (hostname, port) => {
      dialled.push(`${hostname}:${port}`);
      return Promise.reject(new Deno.errors.ConnectionRefused());
    },
  });
  for (const [scheme, port] of [["http", 80], ["https", 443]]) {
    dialled.length = 0;
    const head = outbound.head(`${scheme}://a.example/`, { timeoutMs });
    await assertFails(head, "refused");
    assertEquals(
      dialled,
      [1, 2, 3, 4].map((last) => `127.0.0.${last}:${port}`),
    );
  }
});

Deno.test("a host with a silent address is reached at its other address", async () => {
  await using host = new Host(answering(EMPTY_200));
  let silent = false;
  let given = false;
  const clock = new TestClock();
  using outbound = openOutbound({
    resolve: () => Promise.resolve(["127.0.0.9", "127.0.0.1"]),
    dial: (hostname, port, signal) => {
      if (hostname === "127.0.0.1") {
        return Deno.connect({ hostname, port, signal });
      }
      silent = true;
      return new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => {
          given = true;
          reject(signal.reason);
        })
      );
    },
    clock,
  });
  const head = outbound.head(host.url("/", "a.example"), { timeoutMs });
  await until(() => silent);
  assertEquals(host.connections, 0);
  clock.advance(250);
  const answer = await head;
  assertEquals([answer.status, answer.address], [200, "127.0.0.1"]);
  assert(given);
});
