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
