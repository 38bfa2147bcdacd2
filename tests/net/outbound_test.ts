/** The outbound client with hosts that work, and with concurrent callers. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Outbound } from "../../src/net/outbound.ts";
import type { OutboundRequest } from "../../src/net/request.ts";
import { totalLimit } from "../../src/lib/limits.ts";
import { WaitList } from "../../src/lib/wait_list.ts";
import {
  answering,
  answeringOnce,
  assertFails,
  type Caller,
  EMPTY_200,
  Host,
  openOutbound,
  textOf,
} from "./support.ts";
import { TestClock, until } from "../support/clock.ts";

const timeoutMs = 5_000;

/** How often listeners are added to the signal, and removed, from now on. */
function countListeners(signal: AbortSignal) {
  const listeners = { added: 0, removed: 0 };
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners.added++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (
    ...args: Parameters<typeof removeEventListener>
  ) => {
    listeners.removed++;
    removeEventListener.apply(signal, args);
  };
  return listeners;
}

Deno.test("head() dials the checked address and sends the name as Host", async () => {
  let seen = "";
  await using host = new Host(answering((request) => {
    seen = request;
    return 'HTTP/1.1 200 OK\r\nETag: "1"\r\nX-A: 1\r\nx-a: 2\r\n' +
      "Content-Length: 123456\r\n\r\n";
  }));
  using outbound = openOutbound({ userAgent: "seller-interface/1.2.3" });
  const url = host.url(
    "/ä b.png?q=%20&ü#part".replace(" ", "%20"),
    "a.example",
  );
  const answer = await outbound.head(url, { timeoutMs });
  assertEquals(answer.status, 200);
  assertEquals(answer.address, "127.0.0.1");
  assertEquals(answer.headers("etag"), '"1"');
  assertEquals(answer.headers("X-A"), "1, 2");
  assertEquals(answer.headers("location"), null);
  const lines = seen.trimEnd().split("\r\n");
  assertEquals(lines, [
    "HEAD /%C3%A4%20b.png?q=%20&%C3%BC HTTP/1.1",
    `Host: a.example:${host.port}`,
    "user-agent: seller-interface/1.2.3",
    "accept: */*",
    "accept-encoding: identity",
  ]);
});

Deno.test("head() returns any status as an answer", async () => {
  await using host = new Host(answering((request) => {
    const status = /\/(\d+)/.exec(request)?.[1];
    return `HTTP/1.1 ${status} \r\nContent-Length: 5\r\n\r\n`;
  }));
  using outbound = openOutbound();
  for (const status of [200, 204, 301, 304, 404, 418, 500, 503, 999]) {
    const answer = await outbound.head(host.url(`/${status}`), { timeoutMs });
    assertEquals(answer.status, status);
  }
  assertEquals(host.connections, 1);
});

Deno.test("head() skips interim answers", async () => {
  await using host = new Host(
    answering(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" +
        EMPTY_200,
    ),
  );
  using outbound = openOutbound();
  const answer = await outbound.head(host.url(), { timeoutMs });
  assertEquals([answer.status, answer.headers("link")], [200, null]);
});

Deno.test("head() reuses connections and look-ups", async () => {
  await using host = new Host(answering(EMPTY_200));
  let lookups = 0;
  using outbound = openOutbound({
    perOrigin: 8,
    resolve: () => {
      lookups++;
      return Promise.resolve(["127.0.0.1"]);
    },
  });
  const heads = Array.from(
    { length: 250 },
    (_, n) => outbound.head(host.url(`/${n}`, "cdn.example"), { timeoutMs }),
  );
  for (const answer of await Promise.all(heads)) {
    assertEquals(answer.status, 200);
  }
  assertEquals([host.connections, lookups], [8, 1]);
});

Deno.test("head() opens a new connection when the host closes them", async () => {
  for (
    const answer of [
      "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
      "HTTP/1.1 200 OK\r\nconnection: foo, Close\r\n\r\n",
      "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    ]
  ) {
    await using host = new Host(answering(answer));
    using outbound = openOutbound();
    await outbound.head(host.url(), { timeoutMs });
    await outbound.head(host.url(), { timeoutMs });
    assertEquals(host.connections, 2);
  }
});

Deno.test("a kept connection with unread bytes is not reused", async () => {
  await using host = new Host(
    answering(EMPTY_200 + "HTTP/1.1 500 Too Early\r\n\r\n"),
  );
  using outbound = openOutbound();
  for (let n = 0; n < 3; n++) {
    assertEquals((await outbound.head(host.url(), { timeoutMs })).status, 200);
  }
  assertEquals(host.connections, 3);
});

Deno.test("a kept connection that the host closed is not an error", async () => {
  await using host = new Host(answeringOnce(EMPTY_200));
  using outbound = openOutbound();
  for (let n = 0; n < 10; n++) {
    assertEquals((await outbound.head(host.url(), { timeoutMs })).status, 200);
  }
  assertEquals(host.connections, 10);
});

Deno.test("a kept connection that the host closed is noticed while it is idle", async () => {
  await using host = new Host((caller, number) =>
    number === 2 ? Promise.resolve() : answeringOnce(EMPTY_200)(caller, number)
  );
  let ended = false;
  using outbound = openOutbound({
    dial: async (hostname, port) => {
      const conn = await Deno.connect({ hostname, port });
      const read = conn.read.bind(conn);
      conn.read = async (into) => {
        const count = await read(into);
        ended ||= count === null;
        return count;
      };
      return conn;
    },
  });
  await outbound.head(host.url(), { timeoutMs });
  await until(() => ended);
  // The second connection breaks, which is allowed.
  assertEquals((await outbound.head(host.url(), { timeoutMs })).status, 200);
  assertEquals(host.connections, 3);
});

Deno.test("get() streams a body of each framing", async () => {
  const answers = [
    "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
    "HTTP/1.1 200 OK\r\nContent-Length: 11, 11\r\n\r\nhello world",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n" +
    "5;ext=1\r\nhello\r\n006\r\n world\r\n0\r\nTrailer: 1\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\r\nhello world",
    "HTTP/1.0 200 OK\r\n\r\nhello world",
    "HTTP/1.1 200\nContent-Length: 11\n\nhello world",
  ];
  for (const answer of answers) {
    await using host = new Host(answeringOnce(answer));
    using outbound = openOutbound();
    const got = await outbound.get(host.url(), { timeoutMs, maxBytes: 11 });
    assertEquals(await textOf(got.body), "hello world");
  }
});

Deno.test("a header in pieces of four bytes is read in few reads", async () => {
  const filler = "x".repeat(30_000);
  const answer = new TextEncoder().encode(
    `HTTP/1.1 200 OK\r\nX-Filler: ${filler}\r\nETag: "1"\r\n\r\n`,
  );
  let reads = 0;
  const inPieces = (conn: Deno.Conn): Deno.Conn => {
    let at = 0;
    return {
      write: (bytes: Uint8Array) => Promise.resolve(bytes.length),
      close: () => conn.close(),
      // As with a socket: bytes that arrived before a read are returned at
      // once.
      read: (into: Uint8Array) => {
        const pause = performance.now() - lastRead;
        const come = Math.max(4, Math.floor(pause * PIECES_A_MS) * 4);
        lastRead = performance.now();
        reads++;
        const piece = answer.subarray(at, at + Math.min(come, into.length));
        at += piece.length;
        into.set(piece);
        return Promise.resolve(piece.length);
      },
    } as unknown as Deno.Conn;
  };
  const PIECES_A_MS = 100;
  let lastRead = performance.now();
  await using host = new Host((caller) => caller.gone());
  using outbound = openOutbound({
    dial: async (hostname, port, signal) =>
      inPieces(await Deno.connect({ hostname, port, signal })),
  });
  const { headers } = await outbound.head(host.url(), { timeoutMs });
  assertEquals(headers("etag"), '"1"');
  assert(reads < 400, `${reads} reads of ${answer.length / 4} pieces`);
});

Deno.test("a body in chunks of a byte is refused", async () => {
  const chunks = "1\r\na\r\n".repeat(4_096);
  await using host = new Host(answeringOnce(
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
  ));
  using outbound = openOutbound();
  const got = await outbound.get(host.url(), { timeoutMs, maxBytes: 9_999 });
  await assertFails(textOf(got.body), "protocol", "chunks of a few bytes");
});

Deno.test("get() streams a body however it is split", async () => {
  const answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
    "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
  await using host = new Host(async (caller) => {
    while (await caller.request() !== null) {
      for (const char of answer) {
        await caller.send(char);
        await new Promise((done) => queueMicrotask(() => done(null)));
      }
    }
  });
  using outbound = openOutbound();
  for (let n = 0; n < 3; n++) {
    const got = await outbound.get(host.url(), { timeoutMs, maxBytes: 11 });
    assertEquals(await textOf(got.body), "hello world");
  }
  assertEquals(host.connections, 1);
});

Deno.test("get() reads an answer that is cut at any byte", async () => {
  const answers = [
    "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
    "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 11\n\nhello world",
  ];
  for (const answer of answers) {
    for (let cut = 1; cut < answer.length; cut++) {
      const pieces = [answer.slice(0, cut), answer.slice(cut)]
        .map((piece) => new TextEncoder().encode(piece));
      using outbound = openOutbound({
        dial: () => Promise.resolve(connectionOf(pieces)),
      });
      const url = "http://127.0.0.1/";
      const got = await outbound.get(url, { timeoutMs, maxBytes: 11 });
      assertEquals(await textOf(got.body), "hello world", `cut at ${cut}`);
    }
  }
});

/** A connection on which no read returns bytes of two pieces. */
function connectionOf([piece, ...later]: Uint8Array[]): Deno.Conn {
  return {
    write: (bytes: Uint8Array) => Promise.resolve(bytes.length),
    close: () => {},
    read: (into: Uint8Array) => {
      if (piece.length === 0) piece = later.shift() ?? piece;
      const read = piece.subarray(0, into.length);
      piece = piece.subarray(read.length);
      into.set(read);
      return Promise.resolve(read.length || null);
    },
  } as unknown as Deno.Conn;
}

Deno.test("get() returns 4 MiB as they were sent", async () => {
  const image = new Uint8Array(4 << 20).map((_, n) => (n * 31) >> 3);
  await using host = new Host(async (caller) => {
    await caller.request();
    await caller.send(
      `HTTP/1.1 200 OK\r\nContent-Length: ${image.length}\r\n\r\n`,
    );
    await caller.send(image);
  });
  using outbound = openOutbound();
  const options = { timeoutMs, maxBytes: image.length };
  const got = await outbound.get(host.url(), options);
  let at = 0;
  let same = true;
  for await (const piece of got.body) {
    same &&= piece.every((byte, n) => byte === image[at + n]);
    at += piece.length;
  }
  assertEquals([at, same], [image.length, true]);
});

Deno.test("get() sends the caller's headers and refuses line breaks in them", async () => {
  await using host = new Host(
    answering((request) =>
      /if-none-match: "1"/.test(request)
        ? 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\nETag: "1"\r\n\r\n'
        : EMPTY_200
    ),
  );
  using outbound = openOutbound();
  const ask = (value: string) =>
    outbound.get(host.url(), {
      timeoutMs,
      maxBytes: 1,
      headers: { "if-none-match": value },
    });
  const answer = await ask('"1"');
  assertEquals([answer.status, await textOf(answer.body)], [304, ""]);
  const error = await ask('"1"\r\nX-A: 1').then(() => null, (error) => error);
  assert(error instanceof TypeError);
  // Its slot was returned, too.
  await (await ask('"2"')).cancel();
});

Deno.test("get() keeps the connection only after a whole body", async () => {
  await using host = new Host(
    answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
  );
  using outbound = openOutbound({ perOrigin: 1 });
  const get = () => outbound.get(host.url(), { timeoutMs, maxBytes: 5 });
  await textOf((await get()).body);
  await textOf((await get()).body);
  assertEquals(host.connections, 1);
  (await get()).cancel();
  for await (const _ of (await get()).body) break;
  await textOf((await get()).body);
  assertEquals(host.connections, 3);
});

Deno.test("post() sends the body once and returns the beginning of the answer", async () => {
  let seen = "";
  await using host = new Host(answering((request) => {
    seen = request;
    return "HTTP/1.1 202 Accepted\r\nRetry-After: 7\r\nContent-Length: 11\r\n\r\nhello world";
  }));
  using outbound = openOutbound();
  const post = (maxAnswerBytes: number) =>
    outbound.post(host.url("/hook"), {
      headers: { "Content-Type": "text/xml", "webhook-id": "1" },
      body: new TextEncoder().encode("<event/>"),
      timeoutMs,
      maxAnswerBytes,
    });
  const answer = await post(11);
  assertEquals(answer.status, 202);
  assertEquals(answer.headers("retry-after"), "7");
  assertEquals(new TextDecoder().decode(answer.body), "hello world");
  assertEquals(answer.truncated, false);
  assertMatch(seen, /^POST \/hook HTTP\/1\.1\r\n/);
  assertMatch(seen, /\r\nconnection: close\r\ncontent-length: 8\r\n/);
  assertMatch(seen, /\r\n\r\n<event\/>$/);
  const cut = await post(5);
  assertEquals(new TextDecoder().decode(cut.body), "hello");
  assertEquals(cut.truncated, true);
  assertEquals(host.connections, 2);
});

Deno.test("post() accepts an answer that arrives before the whole request is sent", async () => {
  await using host = new Host(async (caller) => {
    await caller.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    await caller.gone();
  });
  using outbound = openOutbound();
  const answer = await outbound.post(host.url(), {
    headers: {},
    body: new Uint8Array(8 << 20),
    timeoutMs,
    maxAnswerBytes: 10,
  });
  assertEquals(answer.status, 413);
});

Deno.test("the outbound client obeys its limits of concurrent requests, per host and in total", async () => {
  let now = 0;
  let most = 0;
  const slow = async (caller: Caller) => {
    while (await caller.request() !== null) {
      most = Math.max(most, ++now);
      await new Promise((done) => setTimeout(done, 2));
      now--;
      await caller.send(EMPTY_200);
    }
  };
  await using one = new Host(slow);
  await using two = new Host(slow);
  const heads = (outbound: Outbound, urls: string[]) =>
    Promise.all(urls.map((url) => outbound.head(url, { timeoutMs })));
  {
    using outbound = openOutbound({ perOrigin: 3 });
    await heads(outbound, Array(20).fill(one.url()));
    assertEquals(most, 3);
  }
  most = 0;
  using outbound = openOutbound({ perOrigin: 3, total: 4 });
  await heads(outbound, [
    ...Array(20).fill(one.url()),
    ...Array(20).fill(two.url()),
  ]);
  assertEquals(most, 4);
});

Deno.test("a time-out counts from when the request starts", async () => {
  let asked = 0;
  const release = Promise.withResolvers<void>();
  await using host = new Host(async (caller) => {
    while (await caller.request() !== null) {
      if (++asked === 1) await release.promise;
      await caller.send(EMPTY_200);
    }
  });
  const clock = new TestClock();
  using outbound = openOutbound({ perOrigin: 1, clock });
  const first = outbound.head(host.url(), { timeoutMs: 100 });
  const second = outbound.head(host.url(), { timeoutMs: 50 });
  await until(() => asked === 1);
  clock.advance(99);
  release.resolve();
  assertEquals((await first).status, 200);
  assertEquals((await second).status, 200);
});

Deno.test("get() limits the time until the headers, and not that of the body, by answerMs", async () => {
  const rest = Promise.withResolvers<void>();
  await using host = new Host(async (caller) => {
    await caller.request();
    await caller.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
    await rest.promise;
    await caller.send("lo");
  });
  const clock = new TestClock();
  using outbound = openOutbound({ clock });
  const options = { timeoutMs: 1_000, answerMs: 10, maxBytes: 5 };
  const got = await outbound.get(host.url(), options);
  clock.advance(20);
  rest.resolve();
  assertEquals(await textOf(got.body), "hello");
});

Deno.test("a body that is not read releases its slot", async () => {
  await using host = new Host(
    answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
  );
  const clock = new TestClock();
  using outbound = openOutbound({ perOrigin: 1, clock });
  const left = await outbound.get(host.url(), { timeoutMs: 30, maxBytes: 5 });
  const next = outbound.head(host.url(), { timeoutMs });
  clock.advance(30);
  assertEquals((await next).status, 200);
  await assertFails(textOf(left.body), "timeout", "within 30 ms");
});

Deno.test("an idle connection is closed, and no timer is left", async () => {
  let hasLeft = false;
  await using host = new Host(async (caller, number) => {
    await answering(EMPTY_200)(caller, number);
    hasLeft = true;
  });
  const clock = new TestClock();
  using outbound = openOutbound({ clock });
  await outbound.head(host.url(), { timeoutMs });
  assertEquals(clock.waiting, 1);
  clock.advance(15_000);
  await until(() => hasLeft);
  assertEquals(clock.waiting, 0);
});

Deno.test("a connection that was idle for more than 15 s is not used again", async () => {
  await using host = new Host(answering(EMPTY_200));
  const clock = new TestClock();
  using outbound = openOutbound({ clock });
  await outbound.head(host.url(), { timeoutMs });
  clock.advance(10_000);
  await outbound.head(host.url(), { timeoutMs });
  assertEquals(host.connections, 1);
  // The pool checked for idle connections after 15 s, and checks again after 30
  // s.
  clock.advance(19_000);
  await outbound.head(host.url(), { timeoutMs });
  assertEquals(host.connections, 2);
});

Deno.test("a 408 on a kept connection is not taken as an answer", async () => {
  await using host = new Host(async (caller, number) => {
    await caller.request();
    await caller.send(EMPTY_200);
    await caller.request();
    await caller.send(
      number === 1 ? "HTTP/1.1 408 Request Timeout\r\n\r\n" : EMPTY_200,
    );
  });
  using outbound = openOutbound();
  await outbound.head(host.url(), { timeoutMs });
  assertEquals((await outbound.head(host.url(), { timeoutMs })).status, 200);
});

Deno.test("a signal aborts a waiting request and a running one", async () => {
  await using host = new Host((caller) => caller.gone());
  using outbound = openOutbound({ perOrigin: 1 });
  const abort = new AbortController();
  const options = { timeoutMs, signal: abort.signal };
  const running = assertFails(outbound.head(host.url(), options), "aborted");
  const waiting = assertFails(outbound.head(host.url(), options), "aborted");
  await until(() => host.connections === 1);
  abort.abort();
  await running;
  await waiting;
  await assertFails(outbound.head(host.url(), options), "aborted");
  assertEquals(host.connections, 1);
});

Deno.test("aborting a group ends its queued requests and no running one", async () => {
  const answer = Promise.withResolvers<void>();
  await using host = new Host(async (caller) => {
    await caller.request();
    await answer.promise;
    await caller.send(EMPTY_200);
  });
  using outbound = openOutbound({ perOrigin: 1 });
  const group = new Set<OutboundRequest>();
  const options = { timeoutMs, group };
  const running = outbound.head(host.url(), options);
  const waiting = assertFails(outbound.head(host.url(), options), "queued");
  await until(() => host.connections === 1);
  for (const request of group) request.stopWaiting();
  await waiting;
  answer.resolve();
  assertEquals((await running).status, 200);
  assertEquals(host.connections, 1);
  assertEquals(group.size, 0);
});

Deno.test("the time of a request counts from its start, not from its look-up", async () => {
  await using host = new Host(answering(EMPTY_200));
  const clock = new TestClock();
  const looked = Promise.withResolvers<string[]>();
  using outbound = openOutbound({ clock, resolve: () => looked.promise });
  const turns: number[] = [];
  const head = outbound.head(host.url("/", "a.example"), {
    timeoutMs: 1_000,
    onTurn: () => turns.push(clock.monotonic()),
  });
  clock.advance(4_000);
  assertEquals(turns, []);
  looked.resolve(["127.0.0.1"]);
  assertEquals((await head).status, 200);
  assertEquals(turns, [clock.monotonic()]);
});

Deno.test("a check does not wait forever for look-ups that no resolver answers", async () => {
  const clock = new TestClock();
  using outbound = openOutbound({
    clock,
    resolve: () => Promise.withResolvers<string[]>().promise,
    lookups: new WaitList(clock, { limit: totalLimit(1) }),
  });
  const silent = assertFails(outbound.check("http://a.example/"), "timeout");
  const waiting = outbound.check("http://b.example/");
  let isOver = false;
  const over = assertFails(waiting, "queued").finally(() => isOver = true);
  for (let ms = 0; ms < 9_750; ms += 250) clock.advance(250);
  await silent;
  assert(!isOver, "it may begin when the other one ends");
  clock.advance(250);
  await over;
});

Deno.test("an aborted request begins no look-up", async () => {
  let lookups = 0;
  using outbound = openOutbound({
    resolve: () => {
      lookups++;
      return Promise.resolve(["127.0.0.1"]);
    },
  });
  const signal = AbortSignal.abort();
  const head = outbound.head("http://a.example/", { timeoutMs, signal });
  await assertFails(head, "aborted");
  assertEquals(lookups, 0);
});

Deno.test("requests of one signal end separately", async () => {
  await using host = new Host(async (caller) => {
    const request = await caller.request();
    if (request?.includes("/kept")) await caller.send(EMPTY_200);
    else await caller.gone();
  });
  using outbound = openOutbound({ perOrigin: 3 });
  const abort = new AbortController();
  const { signal } = abort;
  const listeners = countListeners(signal);
  const options = { timeoutMs, signal };
  const never = [
    assertFails(outbound.head(host.url("/never"), options), "aborted"),
    assertFails(outbound.head(host.url("/never"), options), "aborted"),
  ];
  assertEquals((await outbound.head(host.url("/kept"), options)).status, 200);
  assertEquals(listeners, { added: 3, removed: 1 });
  abort.abort();
  await Promise.all(never);
  assertEquals(listeners, { added: 3, removed: 3 });
});

Deno.test("a signal has a listener only while there are requests", async () => {
  await using host = new Host(answering(EMPTY_200));
  using outbound = openOutbound();
  const { signal } = new AbortController();
  const listeners = countListeners(signal);
  for (const ended of [2, 4]) {
    const head = () => outbound.head(host.url(), { timeoutMs, signal });
    await Promise.all([head(), head()]);
    assertEquals(listeners, { added: ended, removed: ended });
  }
});

Deno.test("close() ends running, waiting and streaming requests and idle connections", async () => {
  await using host = new Host(async (caller) => {
    for (;;) {
      const request = await caller.request();
      if (request === null) return;
      if (request.includes("/kept")) await caller.send(EMPTY_200);
      if (request.includes("/body")) {
        await caller.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhell");
      }
    }
  });
  const outbound = openOutbound({ perOrigin: 3 });
  await outbound.head(host.url("/kept"), { timeoutMs });
  const body = await outbound.get(host.url("/body"), {
    timeoutMs,
    maxBytes: 9,
  });
  const pending = [
    textOf(body.body),
    outbound.head(host.url("/never"), { timeoutMs }),
    outbound.post(host.url("/never"), {
      headers: {},
      body: new Uint8Array(),
      timeoutMs,
      maxAnswerBytes: 1,
    }),
    outbound.head(host.url("/waits"), { timeoutMs }),
  ];
  const all = pending.map((promise) => assertFails(promise, "aborted"));
  await until(() => host.connections === 3);
  outbound.close();
  await Promise.all(all);
  await assertFails(outbound.head(host.url(), { timeoutMs }), "aborted");
  outbound.close();
});

Deno.test("the outbound client works inside a Web Worker", async () => {
  await using host = new Host(answering(EMPTY_200));
  const module = new URL("../../src/net/outbound.ts", import.meta.url);
  const deps = new URL("../../src/deps.ts", import.meta.url);
  const source = `
    import { Outbound } from "${module}";
    import { systemClock } from "${deps}";
    self.onmessage = async ({ data: { url, options } }) => {
      const outbound = new Outbound({ ...options, clock: systemClock });
      const { status } = await outbound.head(url, { timeoutMs: 5000 });
      outbound.close();
      self.postMessage(status);
    };`;
  const url = URL.createObjectURL(
    new Blob([source], { type: "text/javascript" }),
  );
  const worker = new Worker(url, { type: "module" });
  const status = await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = reject;
    worker.postMessage({
      url: host.url("/", "localhost"),
      options: {
        allowPrivate: ["127.0.0.0/8", "::1/128"],
        perOrigin: 1,
        total: 1,
      },
    });
  });
  worker.terminate();
  URL.revokeObjectURL(url);
  assertEquals(status, 200);
});
