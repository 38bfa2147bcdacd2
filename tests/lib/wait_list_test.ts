/**
 * Rules of a wait list that hold with any policy and in any order of events.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  dynamicThreshold,
  firstKeyLimit,
  leastOf,
  leastTimePolicy,
  type Limit,
  ownerLimit,
  type Policy,
  timeSharePolicy,
  totalLimit,
} from "../../src/lib/limits.ts";
import { type Ask, type Permit, WaitList } from "../../src/lib/wait_list.ts";
import { TestClock } from "../support/clock.ts";
import { Random } from "../support/random.ts";
import { settle } from "../support/settle.ts";

const NOTHING = { used: 0, pausing: 0, waiting: 0 };

/** A list with a few requests of each kind, whose ends a test decides. */
class Bench {
  readonly clock = new TestClock();
  readonly list: WaitList;
  /** Granted and not returned yet. */
  readonly granted: { ask: Ask; permit: Permit }[] = [];
  readonly waiting: { ask: Ask; abort: AbortController }[] = [];
  readonly pauses: (() => void)[] = [];
  asked = 0;
  ended = 0;

  constructor(policy: Policy, pauses: boolean) {
    const pause = () => new Promise<void>((end) => this.pauses.push(end));
    this.list = new WaitList(this.clock, policy, pauses ? pause : undefined);
  }

  add(ask: Ask): void {
    const waiter = { ask, abort: new AbortController() };
    this.asked++;
    this.waiting.push(waiter);
    const leave = () => this.waiting.splice(this.waiting.indexOf(waiter), 1);
    this.list.acquire(ask, waiter.abort.signal).then((permit) => {
      leave();
      this.granted.push({ ask, permit });
    }, () => {
      leave();
      this.ended++;
    });
  }

  /** Runs work that fails or ends at once. */
  run(ask: Ask, fails: boolean): void {
    this.asked++;
    const work = () => {
      if (fails) throw new Error("on purpose");
      return Promise.resolve();
    };
    const end = () => void this.ended++;
    this.list.run(ask, work).then(end, end);
  }

  releaseAll(which: number, how: number): void {
    const [{ permit }] = this.granted.splice(which, 1);
    this.ended++;
    if (how < 0.1) permit.stopTime();
    if (how < 0.2) permit.cancel();
    permit[Symbol.dispose]();
  }

  /** The granted requests for which a predicate holds. */
  sum(holds: (ask: Ask) => boolean = () => true): number {
    return this.granted.filter(({ ask }) => holds(ask))
      .reduce((sum, { ask }) => sum + (ask.amount ?? 1), 0);
  }
}

interface Rules {
  policy: Policy;
  /** Throws if more is in use than the policy allows. */
  check: (bench: Bench) => void;
  amounts: boolean;
  pauses: boolean;
}

const OWNERS = ["a", "b", "c", undefined];
const KEYS = ["x", "y", "z"];

/** A policy that the service uses, with limits that follow from a seed. */
function anyRules(random: Random): Rules {
  const total = 1 + random.below(random.next() < 0.5 ? 6 : 40);
  const each = 1 + random.below(total);
  const ofOwner = (bench: Bench, owner?: string) =>
    bench.sum((ask) => ask.owner === owner);
  const inAllAndEach = (bench: Bench, most = total) => {
    assert(bench.sum() <= most, "too much in all");
    for (const owner of OWNERS) assert(ofOwner(bench, owner) <= each);
  };
  const inKeys = (bench: Bench) => {
    for (const key of KEYS) {
      const used = bench.sum(({ keys }) => keys![0] === key);
      assert(used <= each, "too much of a key");
    }
  };
  const plain = { amounts: false, pauses: false };
  const threshold: Limit = leastOf(ownerLimit(each), dynamicThreshold(total));
  const burst = random.below(3);
  const rules: Rules[] = [{
    ...plain,
    policy: { limit: totalLimit(total), keyLimit: firstKeyLimit(each) },
    check: (bench) => {
      assert(bench.sum() <= total);
      inKeys(bench);
    },
  }, {
    ...plain,
    policy: { limit: leastOf(totalLimit(total), ownerLimit(each)) },
    check: inAllAndEach,
  }, {
    policy: {
      limit: threshold,
      rank: (owner, owners) => owners.latestPermit(owner),
    },
    check: inAllAndEach,
    amounts: true,
    pauses: false,
  }, {
    ...plain,
    policy: timeSharePolicy({ perKey: each, total, burst }),
    check: (bench) => {
      assert(bench.sum() <= total + (burst > 0 ? total : 0));
      inKeys(bench);
    },
  }, {
    policy: leastTimePolicy(each),
    check: (bench) => {
      assert(bench.sum() <= each);
      for (const owner of OWNERS) assert(ofOwner(bench, owner) <= 1);
    },
    amounts: false,
    pauses: true,
  }];
  return rules[random.below(rules.length)];
}

async function interleave(seed: number): Promise<void> {
  const random = new Random(seed);
  const { policy, check, amounts, pauses } = anyRules(random);
  const bench = new Bench(policy, pauses);
  const { list, clock, granted, waiting } = bench;
  const ask = (): Ask => ({
    owner: OWNERS[random.below(OWNERS.length)],
    keys: [KEYS[random.below(KEYS.length)]],
    ...(amounts && { amount: 1 + random.below(2) }),
    first: random.next() < 0.1,
    background: random.next() < 0.3,
  });
  const checkAll = () => {
    check(bench);
    const { used, pausing, waiting: count } = list.inUse();
    assertEquals(used, bench.sum());
    assertEquals([pausing, count], [bench.pauses.length, waiting.length]);
    clock.advance(1);
    if (bench.pauses.length === 0) assertEquals(list.oldestWaitMs(), 0);
    if (granted.length > 0 || bench.pauses.length > 0 || amounts) return;
    assertEquals(count, 0, "one waits although nothing is in use");
  };
  for (let n = 5 + random.below(60); n > 0; n--) {
    const what = random.next();
    if (what < 0.4) bench.add(ask());
    else if (what < 0.5 && !amounts) bench.run(ask(), random.next() < 0.5);
    else if (what < 0.7 && granted.length > 0) {
      bench.releaseAll(random.below(granted.length), random.next());
    } else if (what < 0.8 && bench.pauses.length > 0) bench.pauses.pop()!();
    else if (what < 0.9 && waiting.length > 0) {
      waiting[random.below(waiting.length)].abort.abort();
    } else clock.advance(10 ** random.below(5));
    // Some events happen in the same turn of the event loop.
    if (random.next() < 0.2) continue;
    await settle();
    if (list.inUse().waiting === waiting.length) checkAll();
  }
  await settle();
  while (granted.length + bench.pauses.length + waiting.length > 0) {
    if (granted.length > 0) bench.releaseAll(0, random.next());
    else if (bench.pauses.length > 0) bench.pauses.shift()!();
    else {
      // A request that never fits waits until it is aborted.
      assert(amounts, "one waits for ever");
      waiting[0].abort.abort();
    }
    await settle();
  }
  assertEquals(bench.ended, bench.asked, "one has no answer");
  assertEquals(list.inUse(), NOTHING);
}

Deno.test("under any policy and order of events no limit is exceeded, no waiter that could run waits, and nothing is held at the end", async () => {
  for (let seed = 0; seed < 2_000; seed++) {
    try {
      await interleave(seed);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});

/** The names of waiters in the order in which they are served. */
async function served(asks: Readonly<Record<string, Ask>>): Promise<string[]> {
  const list = new WaitList(new TestClock(), { limit: totalLimit(1) });
  const held = await list.acquire({ owner: "a", keys: ["x"] });
  const names: string[] = [];
  const waiting = Object.entries(asks).map(([name, ask]) =>
    list.run({ owner: "a", ...ask }, () => {
      names.push(name);
      return Promise.resolve();
    })
  );
  held[Symbol.dispose]();
  await Promise.all(waiting);
  assertEquals(list.inUse(), NOTHING);
  return names;
}

Deno.test("background work is served after other work of its owner, whatever its key", async () => {
  const background = true;
  assertEquals(
    await served({
      b1: { keys: ["x"], background },
      b2: { keys: ["y"], background },
      b3: { keys: ["y"], background, first: true },
      f1: { keys: ["x"] },
      f2: { keys: ["z"] },
      f3: { keys: ["z"], first: true },
    }),
    ["f1", "f3", "f2", "b1", "b3", "b2"],
  );
});

Deno.test("background work does not delay another owner's, nor the reverse", async () => {
  const background = true;
  assertEquals(
    await served({
      b1: { background },
      b2: { background },
      other1: { owner: "b" },
      other2: { owner: "b" },
    }),
    ["b1", "other1", "b2", "other2"],
  );
});

Deno.test("at most 16 waiters in a row are served before background work", async () => {
  const names = await served({
    b1: { keys: ["x"], background: true },
    b2: { keys: ["x"], background: true },
    ...Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`f${n}`, { keys: ["x"] }]),
    ),
  });
  assertEquals([names.indexOf("b1"), names.indexOf("b2")], [16, 33]);
});

Deno.test("a permit is given back once, and its time ends once", async () => {
  const clock = new TestClock();
  const list = new WaitList(clock, { limit: totalLimit(2) });
  const [first, second] = [await list.acquire({}), await list.acquire({})];
  for (let times = 0; times < 2; times++) {
    first.stopTime();
    first[Symbol.dispose]();
    first.cancel();
  }
  assertEquals(list.inUse().used, 1);
  second.cancel();
  assertEquals(list.inUse(), NOTHING);
});

Deno.test("a request already aborted is granted nothing", async () => {
  const clock = new TestClock();
  const list = new WaitList(clock, { limit: totalLimit(1) });
  const gone = AbortSignal.abort(new Error("gone"));
  await assertRejects(() => list.acquire({}, gone), Error, "gone");
  using _held = await list.acquire({});
  await assertRejects(() => list.acquire({}, gone), Error, "gone");
  const work = () => Promise.resolve();
  await assertRejects(() => list.run({}, work, gone), Error, "gone");
  assertEquals(list.inUse().waiting, 0);
});

Deno.test("a plan tests what would fit and takes nothing", () => {
  const clock = new TestClock();
  const limit = leastOf(totalLimit(3), ownerLimit(2));
  const { usage } = new WaitList(clock, { limit });
  const ask = { owner: "a", keys: ["x"] };
  usage.acquire(ask);
  const plan = usage.copyForPlan();
  assertEquals(limit(ask, plan), 1);
  plan.add(ask);
  assertEquals([limit(ask, plan), limit({ owner: "b" }, plan)], [0, 1]);
  assertEquals([plan.used("x"), plan.used("x", "a"), plan.used("y")], [
    2,
    2,
    0,
  ]);
  assertEquals(limit(ask, usage), 1);
});
