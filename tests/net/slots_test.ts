import { assertEquals, assertRejects } from "@std/assert";
import { Slots } from "../../src/net/slots.ts";

/** Lets everything that is ready run. */
const settle = () => new Promise<void>((done) => setTimeout(done));

Deno.test("Slots bounds what one key has, and lets another one pass", async () => {
  const slots = new Slots({ perKey: 2, total: 10 });
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

Deno.test("Slots bounds the total, and the keys take turns", async () => {
  const slots = new Slots({ perKey: 10, total: 1 });
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

Deno.test("Slots forgets a waiter that was aborted", async () => {
  const slots = new Slots({ perKey: 1, total: 1 });
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
