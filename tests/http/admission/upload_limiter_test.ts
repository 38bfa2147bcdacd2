/** Uploads that wait for a slot while other sellers have all of them. */
import { assert, assertEquals } from "@std/assert";
import {
  UploadLimiter,
  UPLOADS_IN_ALL,
} from "../../../src/http/admission/upload_limiter.ts";
import { serviceStopping } from "../../../src/lib/errors.ts";
import { TestClock } from "../../support/clock.ts";
import { Random } from "../../support/random.ts";
import { settle } from "../../support/settle.ts";

/** Requests slots, and records the outcome of each request by name. */
class Bench {
  readonly clock = new TestClock();
  readonly quota = new UploadLimiter(this.clock, UPLOADS_IN_ALL);
  readonly stopping = new AbortController();
  readonly slots = new Map<string, Disposable>();
  /** `waits`, `has a slot` or the code of the refusal. */
  readonly became = new Map<string, string>();

  async ask(
    seller: string,
    { bytes = 1_000, gone = new AbortController(), name = seller } = {},
  ): Promise<string> {
    this.became.set(name, "waits");
    const { signal: stopping } = this.stopping;
    const abort = () => AbortSignal.any([gone.signal, stopping]);
    this.quota.begin({ seller, bytes, abort }).then(
      (slot) => {
        this.slots.set(name, slot);
        this.became.set(name, "has a slot");
      },
      ({ code }) => this.became.set(name, code),
    );
    await settle();
    return this.became.get(name)!;
  }

  async end(name: string): Promise<void> {
    this.slots.get(name)![Symbol.dispose]();
    this.slots.delete(name);
    await settle();
  }

  /** Takes slots for further sellers, until one has to wait and leaves. */
  async fill(): Promise<string[]> {
    const sellers: string[] = [];
    for (;;) {
      const seller = `hostile ${sellers.length}`;
      const disconnect = new AbortController();
      if (await this.ask(seller, { gone: disconnect }) === "waits") {
        disconnect.abort();
        await settle();
        assertEquals(this.became.get(seller), "request_timeout");
        return sellers;
      }
      sellers.push(seller);
    }
  }

  get waiting(): string[] {
    return [...this.became].filter(([, what]) => what === "waits")
      .map(([name]) => name);
  }
}

Deno.test("a seller without an upload in progress waits for a slot, which is returned however the wait ends", async () => {
  const bench = new Bench();
  const sellers = await bench.fill();
  const taken = bench.quota.acquired;
  assertEquals(taken, sellers.length);
  const gone = new AbortController();
  assertEquals(await bench.ask("gone", { gone }), "waits");
  assertEquals(await bench.ask("honest"), "waits");
  assertEquals(await bench.ask("honest", { name: "again" }), "unavailable");
  assertEquals(await bench.ask(sellers[0], { name: "more" }), "unavailable");
  const large = { bytes: 2 * 1_024 * 1_024 };
  assertEquals(await bench.ask("large", large), "unavailable");
  gone.abort();
  await bench.end(sellers[0]);
  assertEquals(bench.became.get("gone"), "request_timeout");
  assertEquals(bench.became.get("honest"), "has a slot");
  assertEquals(bench.quota.acquired, taken);
  await bench.end("honest");
  assertEquals(bench.quota.acquired, taken - 1);
  assertEquals(bench.clock.waiting, 0);
});

Deno.test("the seller whose latest slot was longest ago is next", async () => {
  const bench = new Bench();
  const [a, b, c] = await bench.fill();
  for (const name of [c, a]) await bench.end(name);
  assertEquals(await bench.ask(c), "has a slot");
  assertEquals(await bench.ask(a), "has a slot");
  await bench.end(c);
  assertEquals(await bench.ask("busy"), "has a slot");
  assertEquals(await bench.ask(c), "waits");
  assertEquals(await bench.ask("new"), "waits");
  await bench.end(a);
  assertEquals(bench.waiting, [c]);
  await bench.end(b);
  assertEquals(bench.waiting, []);
});

Deno.test("an upload waits some seconds, then is refused; one per seller waits, and none during shutdown", async () => {
  const bench = new Bench();
  await bench.fill();
  assertEquals(await bench.ask("late"), "waits");
  bench.clock.advance(5_000);
  await settle();
  assertEquals(bench.became.get("late"), "unavailable");
  assertEquals(await bench.ask("honest"), "waits");
  assertEquals(await bench.ask("honest", { name: "second" }), "unavailable");
  bench.stopping.abort(serviceStopping());
  await settle();
  assertEquals(bench.waiting, []);
  assertEquals(bench.became.get("honest"), "unavailable");
  assertEquals(bench.clock.waiting, 0);
});

/** Uploads that begin, end and leave in an order determined by the seed. */
async function interleave(seed: number): Promise<void> {
  const random = new Random(seed);
  const bench = new Bench();
  const { quota, clock, slots, became } = bench;
  const gone = new Map<string, AbortController>();
  const any = (names: string[]) => names[random.below(names.length)];
  const check = () => {
    const { used: taken, waiting } = quota.list.inUse();
    assert(taken < 64 && taken === slots.size, "too many slots");
    assertEquals(waiting, bench.waiting.length);
    if (taken < 63) assertEquals(waiting, 0, "one waits beside a free slot");
    clock.advance(1);
    assertEquals(quota.list.oldestWaitMs(), 0);
  };
  for (let n = 0; n < 150; n++) {
    const what = random.next();
    if (what < 0.75) {
      const name = `${n}`;
      gone.set(name, new AbortController());
      const seller = `seller ${random.below(90)}`;
      await bench.ask(seller, { name, gone: gone.get(name) });
    } else if (what < 0.9 && slots.size > 0) {
      await bench.end(any([...slots.keys()]));
    } else if (what < 0.97 && bench.waiting.length > 0) {
      gone.get(any(bench.waiting))!.abort();
    } else clock.advance(random.below(3_000));
    await settle();
    check();
  }
  while (slots.size > 0) {
    await bench.end([...slots.keys()][0]);
    check();
  }
  assert(!became.values().some((what) => what === "waits"), "one waits still");
  assertEquals(quota.list.inUse(), { used: 0, pausing: 0, waiting: 0 });
  assertEquals(clock.waiting, 0);
}

Deno.test("in any order of events every upload is answered, and none waits despite a free slot", async () => {
  for (let seed = 0; seed < 40; seed++) {
    try {
      await interleave(seed);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});
