import {
  assertEquals,
  assertMatch,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  imageProblems,
  imageUrls,
  probeImages,
  requireAllProbed,
} from "../../src/catalogue/upload_probe.ts";
import { decodeProducts } from "../../src/catalogue/document.ts";
import { systemDeps } from "../../src/deps.ts";
import { ServiceError } from "../../src/lib/errors.ts";
import { dialTcp } from "../../src/net/dial.ts";
import type { OutboundOptions } from "../../src/net/outbound.ts";
import { product } from "../support/app.ts";
import { TestClock, until } from "../support/clock.ts";
import { EMPTY_200, Host, openOutbound } from "../net/support.ts";

/** Probes ten images on a host that gets one request at a time. */
function probing(host: Host, options: Partial<OutboundOptions> = {}) {
  const clock = new TestClock();
  const outbound = openOutbound({ total: 1, clock, ...options });
  const images = Array.from(
    { length: 10 },
    (_, n) => `<image>${host.url(`/${n}.png`)}</image>`,
  );
  const document = decodeProducts([
    new TextEncoder().encode(
      `<products>${
        product("A", `<images>${images.join("")}</images>`)
      }</products>`,
    ),
  ]);
  const deps = { ...systemDeps("error", undefined, () => {}), clock };
  const heads = probeImages(
    { outbound, deps },
    imageUrls(document),
    { owner: "seller" },
  );
  return { clock, document, heads, [Symbol.dispose]: () => outbound.close() };
}

Deno.test("a HEAD that does not begin within 20 s is 503 and not blamed on the host", async () => {
  let asked = 0;
  let answer = Promise.withResolvers<void>();
  await using host = new Host(async (caller) => {
    while (await caller.request() !== null) {
      asked++;
      await answer.promise;
      await caller.send(EMPTY_200);
    }
  });
  using probe = probing(host);
  for (let n = 1; n <= 5; n++) {
    await until(() => asked === n);
    probe.clock.advance(4_000);
    answer.resolve();
    answer = Promise.withResolvers();
  }
  const heads = await probe.heads;
  const states = [...heads.values()].map((head) =>
    typeof head === "string" ? head : Object.keys(head)[0]
  );
  assertEquals(states, [
    ...Array(5).fill("validator"),
    ...Array(5).fill("not_asked"),
  ]);
  assertEquals(imageProblems(probe.document, heads), []);
  const error = assertThrows(() => requireAllProbed(heads), ServiceError);
  assertEquals([error.code, error.headers["Retry-After"]], [
    "unavailable",
    "5",
  ]);
});

Deno.test("a HEAD that hangs for five seconds is blamed on the host", async () => {
  let asked = 0;
  await using host = new Host(async (caller) => {
    await caller.request();
    asked++;
    await caller.gone();
  });
  using probe = probing(host);
  await until(() => asked === 1);
  probe.clock.advance(5_000);
  const problems = imageProblems(probe.document, await probe.heads);
  assertEquals(
    problems.map(({ code, field }) => `${code} ${field}`),
    Array.from(
      { length: 10 },
      (_, n) => `image_unavailable images/image[${n + 1}]`,
    ),
  );
  assertEquals(
    problems[0].message,
    `HEAD ${host.url("/0.png")} got no answer after 5000 ms: ` +
      `127.0.0.1:${host.port} did not answer within 5 s. At most 8 HEADs ` +
      "were sent to this host at once.",
  );
  assertEquals(
    problems[1].message,
    `HEAD ${host.url("/1.png")} was not sent: the host left 1 of the HEADs ` +
      "before it unanswered.",
  );
  assertEquals(asked, 1);
});

Deno.test("HEADs whose connections break twice count twice against the host, which then gets no more", async () => {
  await using host = new Host(async (caller) => {
    await caller.request();
  });
  using probe = probing(host);
  const problems = imageProblems(probe.document, await probe.heads);
  assertEquals(problems.length, 10);
  const messages = problems.map(({ message }) => message);
  assertMatch(messages[0], / again got no answer after 0 ms: /);
  assertMatch(messages[9], / was not sent: the host left \d+ of the HEADs /);
});

/** Probes a document with this many images on each host. */
function probeAll(hosts: readonly Host[], images: number) {
  const clock = new TestClock();
  const outbound = openOutbound({ perOrigin: 128, clock });
  const deps = { ...systemDeps("error", undefined, () => {}), clock };
  const urls = hosts.flatMap((host) =>
    Array.from({ length: images }, (_, n) => host.url(`/${n}.png`))
  );
  const send = (owner = "seller") =>
    probeImages({ outbound, deps }, new Set(urls), { owner });
  return { clock, send, [Symbol.dispose]: () => outbound.close() };
}

/** Counts requests that wait for an answer. */
class Counted {
  waiting = 0;
  most = 0;
  asked = 0;
  readonly paths: string[] = [];

  begin(request: string): void {
    this.asked++;
    this.paths.push(/ \/(\d+)\.png/.exec(request)![1]);
    this.most = Math.max(this.most, ++this.waiting);
  }
}

Deno.test("a host that never answers costs an upload five seconds and gets fewer requests from the next", async () => {
  const counted = new Counted();
  await using host = new Host(async (caller) => {
    counted.begin((await caller.request())!);
    await caller.gone();
    counted.waiting--;
  });
  using probe = probeAll([host], 100);
  const upload = async (atOnce: number) => {
    const before = counted.asked;
    const heads = probe.send();
    await until(() => counted.asked === before + atOnce);
    probe.clock.advance(5_000);
    const seen = [...(await heads).values()].map((head) =>
      typeof head === "object" && "seen" in head ? head.seen : "-"
    );
    assertEquals(counted.asked, before + atOnce);
    for (const each of seen.slice(0, atOnce)) {
      assertStringIncludes(each, `got no answer after 5000 ms`);
      assertStringIncludes(each, `At most ${atOnce} HEADs were sent to this`);
    }
    for (const each of seen.slice(atOnce)) {
      assertStringIncludes(each, "was not sent: the host left ");
    }
  };
  await upload(8);
  await upload(4);
});

Deno.test("a URL that hangs on a host that answers costs an upload five seconds", async () => {
  const counted = new Counted();
  await using host = new Host(async (caller) => {
    for (let request; (request = await caller.request()) !== null;) {
      counted.begin(request);
      if (request.includes("/3.png")) return await caller.gone();
      await caller.send(EMPTY_200);
    }
  });
  using probe = probeAll([host], 20);
  const heads = probe.send();
  await until(() => counted.asked === 20);
  probe.clock.advance(5_000);
  const failed = [...(await heads)].filter(([, head]) =>
    typeof head === "object" && "code" in head
  );
  assertEquals(failed.map(([url]) => url), [host.url("/3.png")]);
  assertEquals(counted.asked, 20);
});

Deno.test("broken connections are retried at a slower pace, before other URLs", async () => {
  const counted = new Counted();
  await using host = new Host(async (caller, number) => {
    for (let request; (request = await caller.request()) !== null;) {
      counted.begin(request);
      // Each of them is sent again at once.
      if (number > 16) await caller.send(EMPTY_200);
      counted.waiting--;
      if (number <= 16) return;
    }
  });
  using probe = probeAll([host], 250);
  const heads = [...(await probe.send()).values()];
  assertEquals(heads.filter((head) => head === "not_asked"), []);
  assertEquals(
    heads.filter((head) => typeof head === "object" && "code" in head),
    [],
  );
  const again = counted.paths.slice(16, 24).map(Number);
  assertEquals(again.every((path) => path < 8), true, again.join());
});

Deno.test("a slow host does not hold up the URLs of another one", async () => {
  const [slow, quick] = [new Counted(), new Counted()];
  await using slowHost = new Host(async (caller) => {
    slow.begin((await caller.request())!);
    await caller.gone();
  });
  await using quickHost = new Host(async (caller) => {
    for (let request; (request = await caller.request()) !== null;) {
      quick.begin(request);
      quick.waiting--;
      await caller.send(EMPTY_200);
    }
  });
  using probe = probeAll([slowHost, quickHost], 50);
  const heads = probe.send();
  await until(() => quick.asked === 50 && slow.asked === 8);
  probe[Symbol.dispose]();
  await heads;
});

Deno.test("a request aborted by shutdown is not blamed on the host", async () => {
  await using host = new Host((caller) => caller.gone());
  const probe = probing(host);
  await until(() => host.connections === 1);
  probe[Symbol.dispose]();
  const heads = await probe.heads;
  assertEquals(new Set(heads.values()), new Set(["not_asked" as const]));
});

Deno.test("a stall of this process during a HEAD is not blamed on the host", async () => {
  const answer = Promise.withResolvers<void>();
  let asked = 0;
  await using host = new Host(async (caller) => {
    while (await caller.request() !== null) {
      asked++;
      await answer.promise;
      await caller.send(EMPTY_200);
    }
  });
  using probe = probing(host);
  await until(() => asked === 1);
  probe.clock.leap(4_000);
  probe.clock.advance(1_500);
  answer.resolve();
  const heads = await probe.heads;
  assertEquals(imageProblems(probe.document, heads), []);
  assertEquals(heads.values().next().value, { validator: null });
});

/** Answers one request on each connection, and resets the first ones. */
function impatient(how: string, most: number) {
  const given = Promise.withResolvers<void>();
  const host = new Host(async (caller) => {
    const isFirst = host.connections <= most;
    while (await caller.request() !== null) {
      if (isFirst) await given.promise;
      await caller.send(isFirst ? how : EMPTY_200);
      if (isFirst) return;
    }
  });
  return { host, giveUp: given.resolve };
}

const GIVING_UP = {
  "408": "HTTP/1.1 408 Late\r\nConnection: close\r\n\r\n",
  "the end": "HTTP/1.1 ",
};

for (const [name, how] of Object.entries(GIVING_UP)) {
  for (const times of [1, 2]) {
    Deno.test(`a host that gave up while this process stalled is not blamed: ${name}, ${times} times`, async () => {
      const { host, giveUp } = impatient(how, times);
      await using _ = host;
      using probe = probing(host);
      await until(() => host.connections === 1);
      probe.clock.leap(4_000);
      giveUp();
      const heads = await probe.heads;
      assertEquals(imageProblems(probe.document, heads), []);
      const left = heads.values().filter((head) => head === "not_asked");
      // It is probed once more.
      assertEquals([...left].length, times - 1);
    });
  }
}

Deno.test("a HEAD is 503 if this process has hardly any time for it", async () => {
  await using host = new Host(async (caller) => await caller.gone());
  using probe = probing(host);
  let ended = false;
  void probe.heads.then(() => ended = true);
  await until(() => {
    probe.clock.leap(1_000);
    return ended;
  }, "the end");
  const heads = await probe.heads;
  assertEquals(imageProblems(probe.document, heads), []);
  assertThrows(() => requireAllProbed(heads), ServiceError);
});

Deno.test("a HEAD that fails for lack of file descriptors is not blamed on the host", async () => {
  await using host = new Host((caller) => caller.gone());
  using probe = probing(host, {
    dial: () => Promise.reject(new Error("Too many open files (os error 24)")),
  });
  const heads = await probe.heads;
  assertEquals(imageProblems(probe.document, heads), []);
  assertThrows(() => requireAllProbed(heads), ServiceError);
});

Deno.test("a HEAD whose connection broke is blamed on the host although it cannot be sent again", async () => {
  await using host = new Host(async (caller) => {
    await caller.request();
  });
  let dialled = 0;
  using probe = probing(host, {
    dial: (...to) =>
      // `Outbound` also repeats each HEAD once.
      dialled++ < 2
        ? dialTcp(...to)
        : Promise.reject(new Error("Too many open files (os error 24)")),
  });
  const problems = imageProblems(probe.document, await probe.heads);
  assertEquals(problems.map(({ code }) => code), ["image_unavailable"]);
  assertMatch(problems[0].message, / broke off the connection/);
});
