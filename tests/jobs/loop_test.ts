import { assert, assertEquals } from "@std/assert";
import { jsonLog, systemDeps } from "../../src/deps.ts";
import { Signal } from "../../src/jobs/signals.ts";
import { Loop } from "../../src/jobs/loop.ts";
import { TestClock, until } from "../support/clock.ts";

/**
 * A loop whose steps take as long as the test says, and the start of each step.
 */
function looping(answers: readonly (number | Error)[], tookMs = 0) {
  const clock = new TestClock(0);
  const began: number[] = [];
  const loop = new Loop({
    name: "test",
    deps: { ...systemDeps("debug", undefined, () => {}), clock },
    signal: new Signal(),
    idleMs: 1_000,
    step: () => {
      const answer = answers[began.length] ?? Infinity;
      began.push(clock.now());
      clock.advance(tookMs);
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve(answer);
    },
  });
  loop.start();
  return { clock, began, loop };
}

async function beganAfter(
  ms: readonly number[],
  answers: readonly (number | Error)[],
  tookMs: number,
): Promise<void> {
  const { clock, began, loop } = looping(answers, tookMs);
  while (began.length < ms.length) {
    await until(() => clock.waiting > 0 || began.length >= ms.length);
    if (clock.waiting > 0) clock.advance(1);
  }
  await loop.stop();
  assertEquals(began.slice(0, ms.length), ms);
}

Deno.test("a loop's pause is counted from when its step began", () =>
  beganAfter([0, 50, 80, 1_080], [50, 0, Infinity], 30));

Deno.test("a loop whose step took longer than its pause continues at once", () =>
  beganAfter([0, 30, 60], [20, 30], 30));

Deno.test("a loop that is always late lets others in", async () => {
  let steps = 0;
  const loop = new Loop({
    name: "test",
    deps: systemDeps("debug", undefined, () => {}),
    signal: new Signal(),
    idleMs: 1_000,
    step: () => {
      const until = performance.now() + 5;
      while (performance.now() < until);
      // Prevents a test that never ends: there is only this thread.
      return ++steps < 500 ? Promise.resolve(2) : Promise.reject(new Error());
    },
  });
  loop.start();
  await new Promise((resolve) => setTimeout(resolve, 1));
  assert(steps < 250, `${steps} steps`);
  await loop.stop();
});

Deno.test("a loop rests a second after a step that failed", () =>
  beganAfter([0, 1_030, 1_070], [new Error("busy"), 40], 30));

Deno.test("a lasting failure is logged when it begins, when it changes and once a minute", async () => {
  const clock = new TestClock(0);
  const logged: unknown[] = [];
  let steps = 0;
  const reason = () => clock.now() < 90_000 ? "busy" : "full";
  const loop = new Loop({
    name: "test",
    deps: {
      ...systemDeps("debug"),
      clock,
      log: jsonLog("debug", (line) => {
        const { event, error } = JSON.parse(line);
        logged.push([clock.now(), event, error]);
      }),
    },
    signal: new Signal(),
    idleMs: 10_000,
    step: () => {
      steps++;
      return clock.now() === 100_000
        ? Promise.resolve(1_000)
        : Promise.reject(new Error(reason()));
    },
  });
  loop.start();
  for (let second = 1; second <= 103; second++) {
    await until(() => steps >= second && clock.waiting > 0);
    clock.advance(1_000);
  }
  await loop.stop();
  const failed = (ms: number, error: string) => [
    ms,
    "loop_step_failed",
    `Error: ${error}`,
  ];
  assertEquals(logged, [
    failed(0, "busy"),
    failed(60_000, "busy"),
    failed(90_000, "full"),
    failed(101_000, "full"),
  ]);
});
