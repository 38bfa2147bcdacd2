import { assertEquals } from "@std/assert";
import { jsonLog, systemDeps } from "../../src/deps.ts";
import {
  type PeriodicJob,
  PeriodicJobs,
  untilNone,
} from "../../src/jobs/periodic_jobs.ts";
import { TestClock, until } from "../support/clock.ts";

/**
 * Jobs, and a record of their work: the name and the second of each portion.
 */
class Bench {
  readonly clock = new TestClock(0);
  readonly did: string[] = [];
  readonly log: Record<string, unknown>[] = [];
  readonly #deps = {
    ...systemDeps("debug"),
    clock: this.clock,
    log: jsonLog("debug", (line) => this.log.push(JSON.parse(line))),
  };

  /** A job of this many portions, each of which takes `tookMs`. */
  job(name: string, everyMs: number, portions: number, tookMs = 0) {
    const { did, clock } = this;
    return {
      name,
      everyMs,
      isOurs: () => true,
      async *run() {
        for (let n = 0; n < portions; n++) {
          did.push(`${name} ${clock.now() / 1_000}`);
          clock.advance(tookMs);
          yield await Promise.resolve(2);
        }
      },
    } satisfies PeriodicJob;
  }

  /** Runs jobs until this many seconds have passed. */
  async run(jobs: readonly PeriodicJob[], seconds: number): Promise<void> {
    const running = new PeriodicJobs("test", jobs, this.#deps);
    running.start();
    while (this.clock.now() < seconds * 1_000) {
      await until(() => this.clock.waiting > 0, "a pause");
      this.clock.advance(100);
    }
    await running.stop();
  }
}

Deno.test("jobs run at the start and again when they are due", async () => {
  const bench = new Bench();
  const jobs = [bench.job("often", 20_000, 1), bench.job("once", Infinity, 1)];
  await bench.run(jobs, 50);
  assertEquals(bench.did, ["often 0", "once 0", "often 20", "often 40"]);
});

Deno.test("portions of a long job take a tenth of the time and let others run", async () => {
  const bench = new Bench();
  const jobs = [bench.job("long", Infinity, 3, 100), bench.job("b", 1_000, 1)];
  await bench.run(jobs, 4);
  assertEquals(
    bench.did.filter((line) => line.startsWith("long")),
    ["long 0", "long 1", "long 2"],
  );
  assertEquals(bench.did.filter((line) => line.startsWith("b")).length, 4);
  const done = bench.log.filter(({ job }) => job === "long");
  assertEquals(done.map(({ count }) => count), [6]);
});

Deno.test("a job that fails restarts and does not delay other jobs", async () => {
  const bench = new Bench();
  let fails = true;
  const ends: string[] = [];
  const failing = {
    ...bench.job("failing", Infinity, 0),
    ended: (outcome: string) => ends.push(outcome),
    run: () =>
      untilNone(() => {
        bench.did.push(`failing ${bench.clock.now() / 1_000}`);
        if (!fails) return Promise.resolve(0);
        fails = false;
        return Promise.reject(new Error("the disk is full"));
      }),
  };
  await bench.run([failing, bench.job("other", Infinity, 1)], 20);
  assertEquals(bench.did, ["failing 0", "other 0", "failing 5"]);
  assertEquals(ends, ["failed", "done"]);
  const [line] = bench.log.filter(({ level }) => level === "error");
  assertEquals(line.error, "Error: the disk is full");
});

Deno.test("a job of another process starts here when that process has ended", async () => {
  const bench = new Bench();
  const isOurs = () => bench.clock.now() > 15_000;
  await bench.run([{ ...bench.job("a", Infinity, 1), isOurs }], 30);
  assertEquals(bench.did, ["a 20"]);
});

Deno.test("a portion that fails during the stop logs nothing", async () => {
  const log: string[] = [];
  const portion = Promise.withResolvers<number>();
  const job: PeriodicJob = {
    name: "slow",
    everyMs: 1_000,
    isOurs: () => true,
    async *run() {
      yield await portion.promise;
    },
  };
  const deps = systemDeps("debug", undefined, (line) => log.push(line));
  const running = new PeriodicJobs("test", [job], deps);
  running.start();
  const stopped = running.stop();
  portion.reject(new Error("on purpose"));
  await stopped;
  assertEquals(log, []);
});
