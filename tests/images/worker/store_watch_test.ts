/** The state of an image store that is not used. */
import { assertEquals } from "@std/assert";
import { systemDeps } from "../../../src/deps.ts";
import type { ImageStore } from "../../../src/images/storage/blob_store.ts";
import { StoreWatch } from "../../../src/images/worker/store_watch.ts";
import { TestClock, until } from "../../support/clock.ts";

Deno.test("an idle store is probed from the start on: an outage and its end are noticed", async () => {
  const clock = new TestClock();
  let failure: Error | null = new Deno.errors.NotFound("broken on purpose");
  let probes = 0;
  let recoveries = 0;
  const probe = () => {
    probes++;
    return failure === null ? Promise.resolve() : Promise.reject(failure);
  };
  const watch = new StoreWatch({
    deps: { ...systemDeps("error", undefined, () => {}), clock },
    store: { probe } as ImageStore,
    onRecovery: () => recoveries++,
  });
  const pass = async (ms: number) => {
    const before = probes;
    await until(() => clock.waiting > 0, "the pause of the watch");
    clock.advance(ms);
    await until(() => probes > before, "a probe");
    await until(() => clock.waiting > 0, "the next pause");
  };
  const trouble =
    "the image store cannot be written: see image_store_failed in the log";
  watch.start();
  await until(() => watch.trouble === trouble, "trouble at the start");
  failure = null;
  await pass(1_000);
  for (let quiet = 0; quiet < 2; quiet++) await pass(15_000);
  assertEquals([watch.trouble, recoveries], [null, 1]);
  failure = new Deno.errors.NotFound("broken on purpose");
  await pass(15_000);
  assertEquals(watch.trouble, trouble);
  failure = null;
  await pass(2_000);
  assertEquals([watch.trouble, recoveries, probes], [null, 2, 6]);
  watch.stop();
});

Deno.test("a store that has not answered yet does not count as working", async () => {
  const clock = new TestClock();
  const answer = Promise.withResolvers<void>();
  const log: string[] = [];
  const watch = new StoreWatch({
    deps: { ...systemDeps("info", undefined, (line) => log.push(line)), clock },
    store: { probe: () => answer.promise } as ImageStore,
    onRecovery: () => {},
  });
  watch.start();
  assertEquals(watch.trouble, "the image store has not answered yet");
  answer.resolve();
  await until(() => watch.trouble === null, "its answer");
  assertEquals(log, []);
  watch.stop();
});

Deno.test("a probe that fails or hangs after the stop is not reported", async () => {
  const clock = new TestClock();
  const answer = Promise.withResolvers<void>();
  const log: string[] = [];
  const watch = new StoreWatch({
    deps: { ...systemDeps("info", undefined, (line) => log.push(line)), clock },
    store: { probe: () => answer.promise } as ImageStore,
    onRecovery: () => {},
  });
  watch.start();
  await until(() => clock.waiting > 0, "the time limit of the probe");
  watch.stop();
  clock.advance(10_000);
  answer.reject(new Error("on purpose"));
  await until(() => clock.waiting === 0, "the end of the probe");
  assertEquals(log, []);
});
