import { assertEquals, assertLess, assertRejects } from "@std/assert";
import { FairQueue } from "../../src/lib/fair_queue.ts";
import { yieldToIo } from "../../src/lib/yield_to_io.ts";

/** A queue on a clock that only work moves on; `done` names what was done. */
function working() {
  let time = 0;
  const done: string[] = [];
  const queue = new FairQueue({ now: () => time });
  const work = (name: string, ms: number) =>
    queue.take(async () => {
      await Promise.resolve();
      time += ms;
      done.push(name);
    }, name[0]);
  return { queue, work, done };
}

Deno.test("an owner with much work delays another one by a piece of it", async () => {
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

Deno.test("time that was not used before is not saved up", async () => {
  const { work, done } = working();
  const all = Array.from({ length: 4 }, (_, n) => work(`a${n}`, 10));
  await all[2];
  for (let n = 0; n < 3; n++) all.push(work(`b${n}`, 10));
  all.push(work("a4", 10));
  await Promise.all(all);
  assertEquals(done.join(" "), "a0 a1 a2 b0 a3 b1 a4 b2");
});

Deno.test("work that fails keeps no other one waiting", async () => {
  const { queue, work, done } = working();
  const failing = queue.take(() => Promise.reject(new Error("on purpose")));
  const after = work("b1", 1);
  await assertRejects(() => failing, Error, "on purpose");
  await after;
  await work("b2", 1);
  assertEquals(done, ["b1", "b2"]);
});

Deno.test("two at once are of different owners, and the one that has used less is next", async () => {
  let time = 0;
  const queue = new FairQueue({ now: () => time, atOnce: 2 });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const take = (name: string) =>
    queue.take(() => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    }, name[0]);
  const all = ["a1", "a2", "b1", "b2", "c1"].map(take);
  assertEquals(begun, ["a1", "b1"]);
  assertEquals(queue.isBusy, true);
  const end = async (name: string, after: number) => {
    time += after;
    ends.get(name)!();
    for (let turns = 0; turns < 10; turns++) await Promise.resolve();
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
  assertEquals(queue.isBusy, false);
});

Deno.test("an owner that has used little does not wait for the end of a pause", async () => {
  let time = 0;
  const pauses: (() => void)[] = [];
  const pause = () => new Promise<void>((resolve) => pauses.push(resolve));
  const queue = new FairQueue({ now: () => time, pause });
  const done: string[] = [];
  const work = (name: string, ms: number) =>
    queue.take(() => {
      time += ms;
      done.push(name);
      return Promise.resolve();
    }, name[0]);
  const settle = async () => {
    for (let turns = 0; turns < 10; turns++) await Promise.resolve();
  };
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

/** How many of so many calls begin before a byte is read that came earlier. */
async function callsBeforeRead(
  queue: FairQueue,
  calls: number,
): Promise<number> {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  using client = await Deno.connect({ port: listener.addr.port });
  using server = await listener.accept();
  let begun = 0;
  const read = server.read(new Uint8Array(1)).then(() => begun);
  await client.write(new Uint8Array(1));
  await Promise.all(Array.from({ length: calls }, () =>
    queue.take(() => {
      begun++;
      return Promise.resolve();
    })));
  return await read;
}

Deno.test("what has come on a socket is read between calls, with a pause alone", async () => {
  const calls = 100;
  const now = () => 0;
  const pausing = new FairQueue({ now, pause: yieldToIo });
  const paused = await callsBeforeRead(pausing, calls);
  assertLess(paused, 5);
  assertEquals(await callsBeforeRead(new FairQueue({ now }), calls), calls);
});
