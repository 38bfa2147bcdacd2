/** What ends the image worker takes neither the service nor a job with it. */
import { assert, assertEquals } from "@std/assert";
import { TestClock, until } from "../../support/clock.ts";
import { exists } from "../../support/files.ts";
import { ImageBench, recovers } from "../../support/image_bench.ts";
import { ImageHost } from "../../support/image_host.ts";

const FAULTY = new URL("./faulty_worker.ts", import.meta.url);

const deaths = (bench: ImageBench) =>
  bench.log.filter(({ event }) => event === "image_worker_died");

/** One culprit among good images: those arrive, it is given up. */
async function survives(fault: string, why: RegExp): Promise<void> {
  await using host = new ImageHost();
  await using bench = new ImageBench({
    role: { module: FAULTY, beatMs: 150, heapMb: 48 },
  });
  const role = bench.startRole();
  const good = Array.from(
    { length: 40 },
    (_, n) => `${host.url}/good/${n}.png`,
  );
  const culprit = `${host.url}/good/${fault}.png`;
  const id = await bench.upload([...good.slice(20), culprit]);
  const more = await bench.upload(good.slice(0, 20), "other");
  await until(() => deaths(bench).length >= 4, "four deaths");
  assertEquals(await bench.finished(id), {
    pending: 0,
    stored: 20,
    reused: 0,
    failed: 1,
  });
  assertEquals((await bench.finished(more, "other")).stored, 20);
  const [image] = await bench.unsettled(id);
  assertEquals([image.url, image.code], [culprit, "image_unprocessable"]);
  assert(
    deaths(bench).some((line) => why.test(String(line.why))),
    JSON.stringify(deaths(bench)),
  );
  await until(() => role.trouble() === null, "a new worker");
  const after = await bench.upload([`${host.url}/good/after.png`]);
  assertEquals((await bench.finished(after)).stored, 1);
}

Deno.test("image worker: an uncaught error", () =>
  survives("fault-throw", /thrown on purpose/));

Deno.test("image worker: an unhandled rejection", () =>
  survives("fault-reject", /rejected on purpose/));

Deno.test("image worker: Deno.exit", () =>
  survives("fault-exit", /ended with code 7|no sign of life/));

Deno.test("image worker: a hang", () =>
  survives("fault-hang", /no sign of life/));

Deno.test("image worker: out of memory", () =>
  survives("fault-memory", /memory|no sign of life|ended/));

Deno.test("image worker: one that waits for a slow disk is waited for", async () => {
  const clock = new TestClock(Date.now());
  await using host = new ImageHost();
  await using bench = new ImageBench({
    deps: { clock },
    role: { module: FAULTY, beatMs: 100 },
  });
  const flag = `${bench.dataDir}/disk-stalls`;
  Deno.writeTextFileSync(flag, "");
  bench.startRole();
  const id = await bench.upload([`${host.url}/good/a.png`]);
  await until(() => exists(`${flag}-begun`), "the stall");
  for (let beat = 0; beat < 30; beat++) clock.advance(100);
  assertEquals(deaths(bench), []);
  Deno.removeSync(flag);
  assertEquals((await bench.finished(id)).stored, 1);
  assertEquals(deaths(bench), []);
});

Deno.test("image worker: one that forgets a job is replaced in the end", async () => {
  const clock = new TestClock(Date.now());
  await using host = new ImageHost();
  await using bench = new ImageBench({
    deps: { clock },
    role: { module: FAULTY, beatMs: 3_600_000 },
  });
  bench.startRole();
  const path = "/good/fault-lost.png";
  await bench.upload([host.url + path]);
  await until(() => host.count(path) === 1, "the GET");
  for (let second = 0; second < 299; second++) clock.advance(1_000);
  assertEquals(deaths(bench), []);
  await until(() => {
    clock.advance(1_000);
    return deaths(bench).length > 0;
  }, "the replacement");
  assertEquals(deaths(bench)[0].why, "it lost a job");
});

Deno.test("image worker: one that never gets going is tried again with pauses", async () => {
  const clock = new TestClock();
  await using bench = new ImageBench({
    deps: { clock },
    role: { module: new URL("data:text/javascript,throw 1") },
  });
  const role = bench.startRole();
  const pauses = [100, 200, 400];
  for (const [n, pause] of pauses.entries()) {
    await until(() => deaths(bench).length === n + 1, `death ${n + 1}`);
    assertEquals(deaths(bench)[n].restart_in_ms, pause);
    clock.advance(pause);
  }
  assert(role.trouble() !== null);
});

Deno.test("image worker: a full disk costs no attempt, for however long, and all goes on after it", async () => {
  const clock = new TestClock(Date.now());
  await using host = new ImageHost();
  await using bench = new ImageBench({
    deps: { clock },
    role: { module: FAULTY, beatMs: 3_600_000 },
  });
  const flag = `${bench.dataDir}/disk-full`;
  Deno.writeTextFileSync(flag, "");
  const role = bench.startRole();
  const id = await bench.upload(
    Array.from({ length: 20 }, (_, n) => `${host.url}/good/${n}.png`),
  );
  // Longer than every schedule; the small probe succeeds, the images do not.
  for (let second = 0; second < 300; second++) {
    clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await until(() => role.trouble() !== null, "trouble");
  for (const image of await bench.unsettled(id)) {
    assertEquals([image.status, image.attempts, image.code], [
      "pending",
      0,
      null,
    ]);
  }
  assertEquals((await bench.unsettled(id)).length, 20);
  Deno.removeSync(flag);
  await recovers(role, clock);
  assertEquals((await bench.finished(id)).stored, 20);
});
