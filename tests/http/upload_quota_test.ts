/** Uploads that wait for a slot while other sellers hold all of them. */
import { assertEquals } from "@std/assert";
import { UploadQuota } from "../../src/http/upload_quota.ts";
import { TestClock } from "../support/clock.ts";

/** Lets everything that is ready run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

/** Asks for slots; what became of each request stands by its name. */
class Bench {
  readonly clock = new TestClock();
  readonly quota = new UploadQuota(this.clock);
  readonly stopping = new AbortController();
  readonly slots = new Map<string, Disposable>();
  /** `waits`, `has a slot` or the code of its refusal. */
  readonly became = new Map<string, string>();

  async ask(
    seller: string,
    { bytes = 1_000, gone = new AbortController(), name = seller } = {},
  ): Promise<string> {
    this.became.set(name, "waits");
    const { signal: stopping } = this.stopping;
    const abort = () => AbortSignal.any([gone.signal, stopping]);
    this.quota.take({ seller, bytes, abort, stopping }).then(
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

  /** Takes slots for ever more sellers, until one has to wait and leaves. */
  async fill(): Promise<string[]> {
    const sellers: string[] = [];
    for (;;) {
      const seller = `hostile ${sellers.length}`;
      const gone = new AbortController();
      if (await this.ask(seller, { gone }) === "waits") {
        gone.abort();
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

Deno.test("a seller without an upload in progress waits for a slot, which is given back at any end of the wait", async () => {
  const bench = new Bench();
  const sellers = await bench.fill();
  const taken = bench.quota.taken;
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
  assertEquals(bench.quota.taken, taken);
  await bench.end("honest");
  assertEquals(bench.quota.taken, taken - 1);
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

Deno.test("an upload waits for seconds, then it is refused; few wait, and none when the service stops", async () => {
  const bench = new Bench();
  const sellers = await bench.fill();
  assertEquals(await bench.ask("late"), "waits");
  bench.clock.advance(5_000);
  await settle();
  assertEquals(bench.became.get("late"), "unavailable");
  for (const name of sellers.slice(0, 33)) {
    await bench.end(name);
    await bench.ask(`other ${name}`);
  }
  for (const name of sellers.slice(0, 33)) await bench.ask(name);
  assertEquals(bench.waiting, sellers.slice(0, 32));
  assertEquals(bench.became.get(sellers[32]), "unavailable");
  assertEquals(await bench.ask("honest"), "waits");
  assertEquals(bench.became.get(sellers[31]), "unavailable");
  bench.stopping.abort();
  await settle();
  assertEquals(bench.waiting, []);
  assertEquals(bench.became.get("honest"), "unavailable");
  assertEquals(bench.clock.waiting, 0);
});
