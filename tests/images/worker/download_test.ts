/**
 * The fetcher of the image worker, with hosts and a disk that the test
 * controls.
 */
import { assert, assertEquals } from "@std/assert";
import { ImageFetcher } from "../../../src/images/worker/download.ts";
import { newJobMark } from "../../../src/images/worker/job_mark.ts";
import type { IncomingImage } from "../../../src/images/storage/blob_store.ts";
import { TestClock } from "../../support/clock.ts";
import { Random } from "../../support/random.ts";
import { settle } from "../../support/settle.ts";

/** One pixel. */
const GIF = Uint8Array.from(
  atob("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw=="),
  (letter) => letter.charCodeAt(0),
);

type Step = "answer" | "body" | "keep" | "discard";

/** Every answer, read and write waits until the test lets it continue. */
class Fetching {
  readonly clock = new TestClock();
  readonly abort = new AbortController();
  readonly fetcher: ImageFetcher;
  /** What waits, and how to let it continue or fail. */
  readonly waiting: { step: Step; end: (fails: boolean) => void }[] = [];
  asked = 0;
  /** Ended jobs, by outcome. */
  readonly ended: string[] = [];

  constructor() {
    this.fetcher = new ImageFetcher(
      { get: () => this.#answer() },
      { receive: () => this.#part(), stat: () => Promise.resolve(null) },
      this.clock,
      {
        imageLimit: 1_000,
        answerMs: 10_000,
        jobMark: newJobMark(),
        onFault: () => {},
      },
    );
  }

  fetch(sellerId: string, origin: string): void {
    const lease = `lease${this.asked++}`;
    const url = `https://${origin}.example/a.gif`;
    const room = 1_000;
    const task = { id: lease, lease, url, copy: null, sellerId, room };
    this.fetcher.fetch(task, this.abort.signal).then(
      ({ outcome }) => this.ended.push(outcome.kind),
      () => this.ended.push("aborted"),
    );
  }

  count(step: Step): number {
    return this.waiting.filter((one) => one.step === step).length;
  }

  goOn(which: number, fails = false): void {
    this.waiting.splice(which, 1)[0].end(fails);
  }

  /** Lets everything continue until all jobs have ended, or nothing changes. */
  async finish(check = () => {}): Promise<void> {
    await settle(100);
    while (this.waiting.length > 0) {
      this.goOn(0);
      await settle(100);
      check();
    }
  }

  #wait(step: Step): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (fails: boolean) => {
        if (fails) reject(new Error("on purpose"));
        else resolve();
      };
      this.waiting.push({ step, end });
    });
  }

  async #answer() {
    await this.#wait("answer");
    return {
      status: 200,
      headers: () => null,
      address: "192.0.2.1",
      cancel: () => {},
      body: this.#body(),
    };
  }

  async *#body() {
    await this.#wait("body");
    yield GIF;
  }

  #part(): IncomingImage {
    return {
      bytes: GIF.length,
      append: () => {},
      content: () => GIF,
      keep: () => this.#wait("keep"),
      discard: () => this.#wait("discard").catch(() => {}),
    };
  }
}

/** Downloads, failures and aborts in an order determined by the seed. */
async function interleave(seed: number): Promise<void> {
  const random = new Random(seed);
  const fetching = new Fetching();
  const { fetcher, waiting } = fetching;
  const check = () => {
    assertEquals(fetcher.jobs.length, fetching.asked - fetching.ended.length);
    const storing = fetcher.jobs.filter(({ phase }) => phase === "storing");
    assert(storing.length >= fetching.count("keep"));
  };
  const steps = 10 + random.below(60);
  for (let n = 0; n < steps; n++) {
    const what = random.next();
    if (what < 0.35) {
      fetching.fetch("abc"[random.below(3)], "xyz"[random.below(3)]);
    } else if (what < 0.98 && waiting.length > 0) {
      fetching.goOn(random.below(waiting.length), random.next() < 0.1);
    } else if (what > 0.995) fetching.abort.abort();
    else fetching.clock.advance(random.below(10));
    if (random.next() < 0.6) {
      for (let turns = random.below(6); turns > 0; turns--) await null;
      continue;
    }
    await settle(100);
    check();
  }
  await fetching.finish(check);
  assertEquals(fetching.ended.length, fetching.asked, "a job did not end");
  assertEquals(fetcher.jobs, []);
}

Deno.test("in any order of events every job of an image ends", async () => {
  for (let seed = 0; seed < 300; seed++) {
    try {
      await interleave(seed);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});
