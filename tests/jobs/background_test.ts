import { assertEquals, assertRejects } from "@std/assert";
import { Background } from "../../src/jobs/background.ts";

Deno.test("background jobs are stopped at the same time, and a failing stop leaves none running", async () => {
  const background = new Background();
  const slow = Promise.withResolvers<void>();
  const log: string[] = [];
  background.add({
    start: () => {},
    stop: async () => {
      log.push("slow begins");
      await slow.promise;
      log.push("slow ended");
    },
  });
  background.add({
    start: () => {},
    stop: () => {
      log.push("failing begins");
      return Promise.reject(new Error("broken on purpose"));
    },
  });
  const stopped = background[Symbol.asyncDispose]();
  assertEquals(log, ["slow begins", "failing begins"]);
  let isOver = false;
  stopped.catch(() => isOver = true);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(isOver, false, "it fails only once all have ended");
  slow.resolve();
  await assertRejects(() => stopped, Error, "broken on purpose");
  assertEquals(log.at(-1), "slow ended");
});
