import { assertEquals, assertRejects } from "@std/assert";
import { ConcurrencyLimit } from "../../src/net/concurrency_limit.ts";

/** Lets everything that is ready run. */
const settle = () => new Promise<void>((done) => setTimeout(done));

Deno.test("ConcurrencyLimit bounds what one key has, and lets another one pass", async () => {
  const slots = new ConcurrencyLimit({ perKey: 2, total: 10 });
  const started: string[] = [];
  const enter = (key: string) =>
    slots.acquire(key).then(() => started.push(key));
  for (const key of ["a", "a", "a", "b"]) enter(key);
  await settle();
  assertEquals(started, ["a", "a", "b"]);
  slots.release("a");
  await settle();
  assertEquals(started, ["a", "a", "b", "a"]);
});

Deno.test("ConcurrencyLimit bounds the total, and the keys take turns", async () => {
  const slots = new ConcurrencyLimit({ perKey: 10, total: 1 });
  const started: string[] = [];
  await slots.acquire("a");
  for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) {
    slots.acquire(name[0]).then(() => started.push(name));
  }
  for (const held of ["a", "a", "b", "c", "a", "b"]) {
    slots.release(held);
    await settle();
  }
  assertEquals(started, ["a1", "b1", "c1", "a2", "b2", "a3"]);
});

Deno.test("ConcurrencyLimit forgets a waiter that was aborted", async () => {
  const slots = new ConcurrencyLimit({ perKey: 1, total: 1 });
  const abort = new AbortController();
  await slots.acquire("a");
  const waiting = slots.acquire("a", abort.signal);
  const behind = slots.acquire("a");
  abort.abort(new Error("enough"));
  await assertRejects(() => waiting, Error, "enough");
  slots.release("a");
  await behind;
  await assertRejects(() => slots.acquire("a", abort.signal), Error, "enough");
  slots.release("a");
  await slots.acquire("b");
});

Deno.test("ConcurrencyLimit: owners take turns first, then the keys of each", async () => {
  const slots = new ConcurrencyLimit({ perKey: 10, total: 1 });
  const started: string[] = [];
  await slots.acquire("x", undefined, "other");
  for (const name of ["a1", "a2", "a3", "a1", "b1", "b1", "c1"]) {
    slots.acquire(name, undefined, name[0]).then(() => started.push(name));
  }
  slots.release("x", "other");
  for (let n = 1; n < 7; n++) {
    await settle();
    const name = started[started.length - 1];
    slots.release(name, name[0]);
  }
  await settle();
  assertEquals(started, ["a1", "b1", "c1", "a2", "b1", "a3", "a1"]);
});

Deno.test("ConcurrencyLimit: an owner has no more than its part, nobody in particular may have all", async () => {
  const slots = new ConcurrencyLimit({ perKey: 10, perOwner: 2, total: 4 });
  const started: string[] = [];
  const enter = (key: string, owner?: string) =>
    slots.acquire(key, undefined, owner)
      .then(() => started.push(`${key}/${owner}`));
  for (const key of ["1", "2", "3"]) enter(key, "a");
  enter("1", "b");
  await settle();
  assertEquals(started.splice(0), ["1/a", "2/a", "1/b"]);
  slots.release("1", "b");
  await settle();
  assertEquals(started, []);
  slots.release("1", "a");
  await settle();
  assertEquals(started.splice(0), ["3/a"]);
  for (const held of ["2", "3"]) slots.release(held, "a");
  for (const key of ["1", "2", "3", "4", "5"]) enter(key);
  await settle();
  assertEquals(started.length, 4);
});

Deno.test("ConcurrencyLimit: a key that is full keeps its owner's other keys waiting no longer", async () => {
  const slots = new ConcurrencyLimit({ perKey: 1, perOwner: 2, total: 4 });
  const started: string[] = [];
  const enter = (key: string, owner: string) =>
    slots.acquire(key, undefined, owner)
      .then(() => started.push(`${key}/${owner}`));
  for (const [key, owner] of ["sa", "1a", "sa", "2a", "sb"]) enter(key, owner);
  await settle();
  assertEquals(started.splice(0), ["s/a", "1/a"]);
  slots.release("1", "a");
  await settle();
  assertEquals(started.splice(0), ["2/a"]);
  slots.release("s", "a");
  await settle();
  assertEquals(started.splice(0), ["s/b"]);
  slots.release("s", "b");
  await settle();
  assertEquals(started, ["s/a"]);
});
