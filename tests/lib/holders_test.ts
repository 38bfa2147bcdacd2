import { assertEquals } from "@std/assert";
import { Holders } from "../../src/lib/holders.ts";

Deno.test("holders report what is not zero, and sum those of one name", () => {
  const holders = new Holders();
  const counts = { running: 0, waiting: 0 };
  const queue = (waitMs: number) => ({
    inUse: () => counts,
    oldestWaitMs: () => waitMs,
  });
  holders.add("queue", queue(5));
  holders.add("queue", queue(7));
  const map = holders.add("map", { inUse: () => ({ size: 1 }) });
  assertEquals(map.inUse(), { size: 1 });
  assertEquals(holders.inUse(), { "map.size": 1 });
  counts.waiting = 2;
  assertEquals(holders.inUse(), { "queue.waiting": 4, "map.size": 1 });
  assertEquals(holders.queues, ["queue"]);
  assertEquals(holders.oldestWaitMs("queue"), 7);
  assertEquals(holders.oldestWaitMs("map"), 0);
});
