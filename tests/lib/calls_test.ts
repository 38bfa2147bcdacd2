import { assertEquals } from "@std/assert";
import { Calls } from "../../src/lib/calls.ts";

Deno.test("the end of all calls is awaited, also of calls that begin meanwhile", async () => {
  const calls = new Calls();
  await calls.ended();
  calls.begin();
  calls.begin();
  let waiting = 2;
  const waits = [1, 2].map(() => calls.ended().then(() => waiting--));
  calls.end();
  await Promise.resolve();
  assertEquals([calls.size, waiting], [1, 2]);

  calls.end();
  calls.begin();
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  assertEquals([calls.size, waiting], [1, 2]);

  calls.end();
  await Promise.all(waits);
  assertEquals([calls.size, waiting], [0, 0]);
});
