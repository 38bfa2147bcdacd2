import { assert, assertEquals } from "@std/assert";
import { Ranges } from "../../src/lib/cidr.ts";
import { OutboundError } from "../../src/net/outbound.ts";
import { HostNames, lookupSlots } from "../../src/net/names.ts";
import { TestClock, until } from "../support/clock.ts";

const ADDRESS = "93.184.216.34";

/** Names below `.slow.example` are never answered. */
function namesOf() {
  const asked: string[] = [];
  const clock = new TestClock();
  const names = new HostNames({
    resolve: (name) => {
      asked.push(name);
      return name.endsWith(".slow.example")
        ? new Promise(() => {})
        : Promise.resolve([ADDRESS]);
    },
    allow: new Ranges([]),
    timeoutMs: 5_000,
    clock,
    slots: lookupSlots(clock),
  });
  return { names, asked, clock };
}

Deno.test("one seller's slow name servers do not delay other sellers' look-ups", async () => {
  const { names, asked, clock } = namesOf();
  const failures: Promise<unknown>[] = [];
  for (let seller = 0; seller < 10; seller++) {
    for (let n = 0; n < 500; n++) {
      const name = `${n}.seller${seller}.slow.example`;
      failures.push(
        names.addresses(name, { owner: `bad${seller}` }).catch((e) => e),
      );
    }
  }
  assert(asked.length < 24, `${asked.length} look-ups run`);
  assertEquals(await names.addresses("a.example", { owner: "good" }), [
    ADDRESS,
  ]);
  // The operating system continues a look-up after its caller has given up.
  for (let round = 0; round < 5; round++) {
    clock.advance(5_000);
    assertEquals(await names.addresses(`${round}.example`, { owner: "good" }), [
      ADDRESS,
    ]);
  }
});

Deno.test("the wait for a look-up does not count against the host", async () => {
  const { names, asked, clock } = namesOf();
  const abort = new AbortController();
  const looked = Array.from(
    { length: 200 },
    (_, n) =>
      names.addresses(`${n}.slow.example`, { owner: "a" }, abort.signal)
        .then(() => null, (error) => error),
  );
  const running = asked.length;
  assert(running < 200);
  clock.advance(60_000);
  const timedOut = await Promise.all(looked.slice(0, running));
  for (const error of timedOut) {
    assert(error instanceof OutboundError);
    assertEquals(error.kind, "timeout");
  }
  assertEquals(asked.length, running, "a look-up nobody answered gave a slot");
  const reason = new Error("enough");
  abort.abort(reason);
  for (const error of await Promise.all(looked.slice(running))) {
    assertEquals(error, reason);
  }
});

Deno.test("concurrent requests for a name share one look-up", async () => {
  const { names, asked } = namesOf();
  const found = await Promise.all(
    ["a", "b", undefined].flatMap((owner) =>
      [1, 2, 3].map(() => names.addresses("a.example", { owner }))
    ),
  );
  assertEquals(found.length, 9);
  assertEquals(asked, ["a.example"]);
});

Deno.test("a look-up that waited uses an answer found meanwhile", async () => {
  const found = Promise.withResolvers<string[]>();
  const asked: string[] = [];
  const clock = new TestClock();
  const names = new HostNames({
    resolve: (name) => {
      asked.push(name);
      return found.promise;
    },
    allow: new Ranges([]),
    timeoutMs: 5_000,
    clock,
    slots: lookupSlots(clock),
  });
  const first = Array.from(
    { length: 100 },
    (_, n) => names.addresses(`${n}.example`, { owner: "a" }),
  );
  const waits = names.addresses("wanted.example", { owner: "a" });
  const other = names.addresses("wanted.example", { owner: "b" });
  await until(() => asked.includes("wanted.example"));
  found.resolve([ADDRESS]);
  assertEquals(await waits, [ADDRESS]);
  assertEquals(await other, [ADDRESS]);
  await Promise.all(first);
  assertEquals(asked.filter((name) => name === "wanted.example").length, 1);
});
