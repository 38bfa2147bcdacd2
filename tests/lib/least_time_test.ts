/** CPU-heavy work in a wait list: least time first, with pauses. */
import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { leastTimePolicy } from "../../src/lib/limits.ts";
import { WaitList } from "../../src/lib/wait_list.ts";
import { yieldToIo } from "../../src/lib/yield_to_io.ts";
import { Random } from "../support/random.ts";
import { settle } from "../support/settle.ts";

const NOTHING = { used: 0, pausing: 0, waiting: 0 };

/** A queue of CPU-heavy work. */
function queueOf(
  now: () => number,
  { atOnce, pause }: { atOnce?: number; pause?: () => Promise<void> } = {},
): WaitList {
  const policy = leastTimePolicy(atOnce);
  return new WaitList({ monotonic: now }, policy, pause);
}

/** A queue on a clock that only work advances; `done` lists finished tasks. */
function working() {
  let time = 0;
  const done: string[] = [];
  const queue = queueOf(() => time);
  const work = (name: string, ms: number) =>
    queue.run({ owner: name[0] }, async () => {
      await Promise.resolve();
      time += ms;
      done.push(name);
    });
  return { queue, work, done };
}

Deno.test("an owner with much work delays another one by at most one task", async () => {
  const { work, done } = working();
  const all = ["a1", "a2", "a3", "a4"].map((name) => work(name, 10));
  all.push(work("b1", 10));
  await Promise.all(all);
  assertEquals(done, ["a1", "b1", "a2", "a3", "a4"]);
});

Deno.test("owners share by time, not by number", async () => {
  const { work, done } = working();
  const all = ["a1", "a2", "a3"].map((name) => work(name, 30));
  for (let n = 1; n <= 7; n++) all.push(work(`b${n}`, 10));
  await Promise.all(all);
  assertEquals(done.join(" "), "a1 b1 b2 b3 a2 b4 b5 b6 a3 b7");
});

Deno.test("unused time is not saved up", async () => {
  const { work, done } = working();
  const all = Array.from({ length: 4 }, (_, n) => work(`a${n}`, 10));
  await all[2];
  for (let n = 0; n < 3; n++) all.push(work(`b${n}`, 10));
  all.push(work("a4", 10));
  await Promise.all(all);
  assertEquals(done.join(" "), "a0 a1 a2 a3 b0 a4 b1 b2");
});

Deno.test("work that fails does not delay other work", async () => {
  const { queue, work, done } = working();
  const failing = queue.run({}, () => Promise.reject(new Error("on purpose")));
  const after = work("b1", 1);
  await assertRejects(() => failing, Error, "on purpose");
  await after;
  await work("b2", 1);
  assertEquals(done, ["b1", "b2"]);
});

Deno.test("two tasks at once belong to different owners, and the owner that used less is next", async () => {
  let time = 0;
  const queue = queueOf(() => time, { atOnce: 2 });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const take = (name: string) =>
    queue.run({ owner: name[0] }, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const all = ["a1", "a2", "b1", "b2", "c1"].map(take);
  assertEquals(begun, ["a1", "b1"]);
  const end = async (name: string, after: number) => {
    time += after;
    ends.get(name)!();
    await settle();
  };
  await end("b1", 10);
  assertEquals(begun, ["a1", "b1", "c1"]);
  await end("c1", 10);
  await end("b2", 10);
  assertEquals(begun, ["a1", "b1", "c1", "b2"]);
  await end("a1", 10);
  await end("a2", 10);
  await Promise.all(all);
  assertEquals(begun, ["a1", "b1", "c1", "b2", "a2"]);
  assertEquals(queue.inUse(), NOTHING);
});

Deno.test("an owner that has used little does not wait for the end of a pause", async () => {
  let time = 0;
  const pauses: (() => void)[] = [];
  const pause = () => new Promise<void>((resolve) => pauses.push(resolve));
  const queue = queueOf(() => time, { pause });
  const done: string[] = [];
  const work = (name: string, ms: number) =>
    queue.run({ owner: name[0] }, () => {
      time += ms;
      done.push(name);
      return Promise.resolve();
    });
  await work("a1", 100);
  await settle();
  const more = [work("a2", 100), work("a3", 100)];
  await work("b1", 3);
  await settle();
  await work("b2", 3);
  await settle();
  const late = work("b3", 3);
  await settle();
  assertEquals(done, ["a1", "b1", "b2"]);
  while (done.length < 6) {
    pauses.shift()?.();
    await Promise.resolve();
  }
  await Promise.all([...more, late]);
  assertEquals(done, ["a1", "b1", "b2", "b3", "a2", "a3"]);
});

/**
 * How many of this many calls begin before a byte that arrived earlier is read.
 */
async function callsBeforeRead(
  queue: WaitList,
  calls: number,
): Promise<number> {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  using client = await Deno.connect({ port: listener.addr.port });
  using server = await listener.accept();
  let begun = 0;
  const read = server.read(new Uint8Array(1)).then(() => begun);
  await client.write(new Uint8Array(1));
  await Promise.all(Array.from({ length: calls }, () =>
    queue.run({}, () => {
      begun++;
      return Promise.resolve();
    })));
  return await read;
}

Deno.test("sockets are read between calls only if there is a pause", async () => {
  const calls = 100;
  const now = () => 0;
  const pausing = queueOf(now, { pause: yieldToIo });
  const paused = await callsBeforeRead(pausing, calls);
  assertLess(paused, 5);
  assertEquals(await callsBeforeRead(queueOf(now), calls), calls);
});

/** A queue whose tasks and pauses end when a test ends them. */
class ManualQueue {
  time = 0;
  readonly atOnce: number;
  readonly queue: WaitList;
  /** The pauses in progress. */
  readonly pauses: (() => void)[] = [];
  /** The running tasks, by name. */
  readonly running = new Map<string, (fails: boolean) => void>();
  /** In the order of their starts. */
  readonly started: string[] = [];
  readonly #taken: string[] = [];
  /** Tasks that have been settled, in any way. */
  ended = 0;

  constructor(atOnce = 1) {
    this.atOnce = atOnce;
    const pause = () => new Promise<void>((end) => this.pauses.push(end));
    this.queue = queueOf(() => this.time, { atOnce, pause });
  }

  get taken(): number {
    return this.#taken.length;
  }

  /** The first letter of a name is the owner. */
  take(name: string, throws = false): void {
    this.#taken.push(name);
    const end = () => void this.ended++;
    this.queue.run({ owner: name[0] }, () => {
      this.started.push(name);
      if (throws) throw new Error("on purpose");
      return new Promise<void>((resolve, reject) => {
        this.running.set(name, (fails) => {
          this.running.delete(name);
          if (fails) reject(new Error("on purpose"));
          else resolve();
        });
      });
    }).then(end, end);
  }

  end(name: string, fails = false): void {
    this.running.get(name)!(fails);
  }

  endPause(which = 0): void {
    this.pauses.splice(which, 1)[0]();
  }

  /** Tasks that have not begun. */
  waiting(): string[] {
    return this.#taken.filter((name) => !this.started.includes(name));
  }

  /** Throws if a rule is broken between two events. */
  check(): void {
    const owners = [...this.running.keys()].map((name) => name[0]);
    const waiting = this.waiting();
    assert(owners.length <= this.atOnce, "too many run");
    assert(new Set(owners).size === owners.length, "two of one owner run");
    const held = this.queue.inUse();
    assert(held.used === owners.length && held.waiting === waiting.length);
    if (owners.length + this.pauses.length >= this.atOnce) return;
    const able = waiting.filter((name) => !owners.includes(name[0]));
    assert(able.length === 0, `${able} wait beside a free place`);
    assert(this.queue.oldestWaitMs() === 0, "none waits, so none is old");
  }
}

Deno.test("work requested while an owner's task outlasts a pause runs after that task", async () => {
  const manual = new ManualQueue();
  const { queue } = manual;
  manual.take("a1");
  manual.end("a1");
  await settle();
  assertEquals(queue.inUse(), { ...NOTHING, pausing: 1 });
  manual.take("a2");
  manual.endPause();
  await settle();
  manual.take("a3");
  manual.end("a2");
  await settle();
  assertEquals(manual.pauses.length, 1);
  manual.endPause();
  await settle();
  assertEquals(manual.started, ["a1", "a2", "a3"]);
  manual.end("a3");
  await settle();
  manual.endPause();
  await settle();
  assertEquals(queue.inUse(), NOTHING);
});

Deno.test("nothing runs in a pause while the maximum of tasks runs", async () => {
  const manual = new ManualQueue();
  manual.take("a1");
  manual.end("a1");
  await settle();
  manual.take("b1");
  manual.take("c1");
  manual.endPause();
  await settle();
  assertEquals([...manual.running.keys()], ["b1"]);
});

Deno.test("a task that throws at once releases its slot", async () => {
  const manual = new ManualQueue();
  manual.take("a1", true);
  manual.take("b1");
  await settle();
  manual.endPause();
  await settle();
  manual.end("b1");
  await settle();
  manual.endPause();
  await settle();
  assertEquals(manual.ended, 2);
  assertEquals(manual.queue.inUse(), NOTHING);
});

Deno.test("a queue reports how long a task has waited despite a free slot", async () => {
  const manual = new ManualQueue();
  manual.take("a1");
  manual.take("a2");
  manual.take("b1");
  manual.time = 5_000;
  assertEquals(manual.queue.oldestWaitMs(), 0);
  manual.end("a1");
  await settle();
  manual.time = 6_500;
  assertEquals(manual.queue.oldestWaitMs(), 1_500);
  manual.endPause();
  await settle();
  assertEquals(manual.queue.oldestWaitMs(), 0);
});

/**
 * Adds tasks, and ends tasks and pauses, in an order that follows from the
 * seed.
 */
async function interleave(seed: number): Promise<void> {
  const random = new Random(seed);
  const manual = new ManualQueue(1 + random.below(3));
  const any = <T>(list: T[]): T => list[random.below(list.length)];
  const steps = 4 + random.below(20);
  for (let n = 0; n < steps; n++) {
    const owner = "abcd"[random.below(4)];
    const running = [...manual.running.keys()];
    const what = random.next();
    if (what < 0.4) manual.take(owner + n, random.next() < 0.1);
    else if (what < 0.65 && running.length > 0) {
      manual.end(any(running), random.next() < 0.2);
    } else if (what < 0.9 && manual.pauses.length > 0) {
      manual.endPause(random.below(manual.pauses.length));
    } else manual.time += random.below(10);
    // Some events happen in the same turn of the event loop.
    if (random.next() < 0.2) continue;
    await settle();
    manual.check();
  }
  await settle();
  while (manual.running.size + manual.pauses.length > 0) {
    const [first] = manual.running.keys();
    if (first !== undefined) manual.end(first);
    else manual.endPause();
    await settle();
    manual.check();
  }
  assertEquals(manual.ended, manual.taken, "a task did not end");
  assertEquals(manual.queue.inUse(), NOTHING);
  for (const owner of "abcd") {
    const numbers = manual.started.filter((name) => name[0] === owner)
      .map((name) => Number(name.slice(1)));
    assertEquals(numbers, numbers.toSorted((a, b) => a - b), "out of order");
  }
}

Deno.test("in any order of events every task runs, and none waits despite a free slot", async () => {
  for (let seed = 0; seed < 2_000; seed++) {
    try {
      await interleave(seed);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});

Deno.test("owners that always wait use equal time, up to one task", async () => {
  const longest = 20;
  for (let seed = 0; seed < 100; seed++) {
    const random = new Random(seed);
    const manual = new ManualQueue();
    const used = new Map([["a", 0], ["b", 0], ["c", 0]]);
    for (const owner of used.keys()) {
      for (let n = 0; n < 60; n++) manual.take(owner + n);
    }
    for (let n = 0; n < 60; n++) {
      const [name] = manual.running.keys();
      const ms = random.below(longest);
      manual.time += ms;
      manual.end(name);
      used.set(name[0], used.get(name[0])! + ms);
      await settle();
      manual.endPause();
      await settle();
      const each = [...used.values()];
      assert(Math.max(...each) - Math.min(...each) <= longest, `seed ${seed}`);
    }
  }
});
