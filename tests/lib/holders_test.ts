import { assertEquals } from "@std/assert";
import { Holders } from "../../src/lib/holders.ts";

Deno.test("holders tell what is not zero, and those of one name count as one", () => {
  const holders = new Holders();
  const counts = { running: 0, waiting: 0 };
  const queue = (waitMs: number) => ({
    held: () => counts,
    oldestWaitMs: () => waitMs,
  });
  holders.add("queue", queue(5));
  holders.add("queue", queue(7));
  const map = holders.add("map", { held: () => ({ size: 1 }) });
  assertEquals(map.held(), { size: 1 });
  assertEquals(holders.held(), { "map.size": 1 });
  counts.waiting = 2;
  assertEquals(holders.held(), { "queue.waiting": 4, "map.size": 1 });
  assertEquals(holders.queues, ["queue"]);
  assertEquals(holders.oldestWaitMs("queue"), 7);
  assertEquals(holders.oldestWaitMs("map"), 0);
});
