import { assertEquals, assertThrows } from "@std/assert";
import {
  imageProblems,
  imageUrls,
  probeImages,
  requireAllProbed,
} from "../../src/catalogue/upload_probe.ts";
import { decodeProducts } from "../../src/catalogue/document.ts";
import { systemDeps } from "../../src/deps.ts";
import { ServiceError } from "../../src/lib/errors.ts";
import type { OutboundOptions } from "../../src/net/outbound.ts";
import { product } from "../support/app.ts";
import { TestClock, until } from "../support/clock.ts";
import { EMPTY_200, Host, openOutbound } from "../net/support.ts";

/** Ten images at a host that is asked for one at a time. */
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
    "seller",
  );
  return { clock, document, heads, [Symbol.dispose]: () => outbound.close() };
}

Deno.test("a HEAD that does not begin within 20 s is 503, and no fault of its host", async () => {
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

Deno.test("a HEAD that hung for its five seconds is the fault of its host", async () => {
  let asked = 0;
  await using host = new Host(async (caller) => {
    await caller.request();
    asked++;
    await caller.gone();
  });
  using probe = probing(host);
  for (let n = 1; n <= 4; n++) {
    await until(() => asked === n);
    probe.clock.advance(5_000);
  }
  const problems = imageProblems(probe.document, await probe.heads);
  assertEquals(problems.map(({ code, field }) => `${code} ${field}`), [
    "image_unavailable images/image[1]",
    "image_unavailable images/image[2]",
    "image_unavailable images/image[3]",
    "image_unavailable images/image[4]",
  ]);
  assertEquals(
    problems[3].message,
    `HEAD ${host.url("/3.png")} got no answer after 5000 ms: ` +
      `127.0.0.1:${host.port} did not answer within 5 s.`,
  );
});

Deno.test("what the service cuts off when it stops is no fault of the host", async () => {
  await using host = new Host((caller) => caller.gone());
  const probe = probing(host);
  await until(() => host.connections === 1);
  probe[Symbol.dispose]();
  const heads = await probe.heads;
  assertEquals(new Set(heads.values()), new Set(["not_asked" as const]));
});

Deno.test("a stall of this process during a HEAD is no fault of the host", async () => {
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

/** Takes one request on each connection, and gives up the first ones. */
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
    Deno.test(`a host that gave up while this process stood still is not at fault: ${name}, ${times} times`, async () => {
      const { host, giveUp } = impatient(how, times);
      await using _ = host;
      using probe = probing(host);
      await until(() => host.connections === 1);
      probe.clock.leap(4_000);
      giveUp();
      const heads = await probe.heads;
      assertEquals(imageProblems(probe.document, heads), []);
      const left = heads.values().filter((head) => head === "not_asked");
      // It is asked once more.
      assertEquals([...left].length, times - 1);
    });
  }
}

Deno.test("a HEAD for which this process has hardly any time is 503", async () => {
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

Deno.test("a HEAD for which this machine has no descriptor is no fault of its host", async () => {
  await using host = new Host((caller) => caller.gone());
  using probe = probing(host, {
    dial: () => Promise.reject(new Error("Too many open files (os error 24)")),
  });
  const heads = await probe.heads;
  assertEquals(imageProblems(probe.document, heads), []);
  assertThrows(() => requireAllProbed(heads), ServiceError);
});
