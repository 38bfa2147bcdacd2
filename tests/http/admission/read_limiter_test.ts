/** Long reads that wait for each other, in every order of events. */
import { assert, assertEquals } from "@std/assert";
import {
  ReadLimiter,
  type TakeStep,
} from "../../../src/http/admission/read_limiter.ts";
import { Holders } from "../../../src/lib/holders.ts";
import { serviceStopping } from "../../../src/lib/errors.ts";
import { TestClock } from "../../support/clock.ts";
import { Random } from "../../support/random.ts";
import { settle } from "../../support/settle.ts";

/** Steps and pauses that end when the test ends them. */
class Reads {
  readonly clock = new TestClock();
  readonly holders = new Holders();
  readonly quota: ReadLimiter;
  readonly ending = new AbortController();
  readonly pauses: (() => void)[] = [];
  readonly steps: ((fails: boolean) => void)[] = [];
  /** Answers that are created but not sent. */
  readonly unsent: DisposableStack[] = [];
  asked = 0;
  /** The outcome of each read. */
  readonly ended: string[] = [];

  constructor() {
    const yieldToIo = () => new Promise<void>((end) => this.pauses.push(end));
    this.quota = new ReadLimiter(
      { clock: this.clock, yieldToIo },
      this.holders,
    );
  }

  /** Returns a function that disconnects the client. */
  read(owner: string, steps: number, isLong: boolean): () => void {
    this.asked++;
    const disconnect = new AbortController();
    const { signal: ending } = this.ending;
    const abort = () => AbortSignal.any([disconnect.signal, ending]);
    const request = { owner, abort };
    void this.#answer(request, steps, isLong).then(
      () => this.ended.push("ok"),
      (error) => this.ended.push(error.code ?? error.message),
    );
    return () => disconnect.abort();
  }

  async #answer(
    request: Parameters<ReadLimiter["begin"]>[0],
    steps: number,
    isLong: boolean,
  ): Promise<void> {
    using untilMade = new DisposableStack();
    using untilSent = new DisposableStack();
    const held = { untilMade, untilSent };
    const takeStep = await this.quota.begin(request, held);
    for (let n = 0; n < steps; n++) await this.#step(takeStep, isLong && n > 0);
    this.unsent.push(untilSent.move());
  }

  async #step(takeStep: TakeStep, isLong: boolean): Promise<void> {
    await takeStep(async () => {
      await new Promise<void>((resolve, reject) => {
        this.steps.push((fails) =>
          fails ? reject(new Error("on purpose")) : resolve()
        );
      });
    }, isLong);
  }
}

async function interleave(seed: number): Promise<void> {
  const random = new Random(seed);
  const reads = new Reads();
  const { holders, clock, pauses, steps, unsent, ending } = reads;
  const leaves: (() => void)[] = [];
  const takeAny = <T>(list: T[]): T =>
    list.splice(random.below(list.length), 1)[0];
  const check = () => {
    assert(steps.length <= 2, "too many steps at once");
    if (steps.length + pauses.length >= 2) return;
    clock.advance(1);
    assertEquals(holders.oldestWaitMs("reads"), 0, "one that may go on waits");
  };
  const events = 10 + random.below(80);
  for (let n = 0; n < events; n++) {
    const what = random.next();
    if (what < 0.3) {
      const owner = "abc"[random.below(3)];
      leaves.push(reads.read(owner, random.below(4), random.next() < 0.4));
    } else if (what < 0.6 && steps.length > 0) {
      clock.advance(random.below(8));
      takeAny(steps)(random.next() < 0.1);
    } else if (what < 0.75 && pauses.length > 0) takeAny(pauses)();
    else if (what < 0.9 && unsent.length > 0) takeAny(unsent).dispose();
    else if (what < 0.95 && leaves.length > 0) takeAny(leaves)();
    else if (what > 0.995) ending.abort(serviceStopping());
    if (random.next() < 0.3) {
      for (let turns = random.below(6); turns > 0; turns--) await null;
      continue;
    }
    await settle(150);
    check();
  }
  await settle(150);
  while (steps.length + pauses.length + unsent.length > 0) {
    if (steps.length > 0) takeAny(steps)(false);
    else if (pauses.length > 0) takeAny(pauses)();
    else takeAny(unsent).dispose();
    await settle(150);
    check();
  }
  assertEquals(reads.ended.length, reads.asked, "a read did not end");
  assertEquals(holders.inUse(), {});
}

Deno.test("in any order of events every read ends, and no read waits that could run", async () => {
  for (let seed = 0; seed < 300; seed++) {
    try {
      await interleave(seed);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});

Deno.test("a waiting read is refused with 408 for its client and 503 for the service", async () => {
  const reads = new Reads();
  for (let n = 0; n < 4; n++) reads.read("a", 0, false);
  await settle();
  const leave = reads.read("a", 0, false);
  reads.read("a", 0, false);
  leave();
  await settle();
  assertEquals(reads.ended.at(-1), "request_timeout");
  reads.ending.abort(serviceStopping());
  await settle();
  assertEquals(reads.ended.at(-1), "unavailable");
  for (const answer of reads.unsent) answer.dispose();
  assertEquals(reads.holders.inUse(), {});
});
