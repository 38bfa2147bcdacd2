import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers";
import { jsonLog, type LogFields, systemDeps } from "../../src/deps.ts";
import { type BackgroundRole, RoleKeeper } from "../../src/jobs/role_keeper.ts";
import { TestClock } from "../support/clock.ts";

/** A role that the test controls. */
class PlayedRole implements BackgroundRole {
  progress = 0;
  problem: string | null = null;
  state = "made";
  start() {
    this.state = "started";
  }
  stop() {
    this.state = "stopped";
    return Promise.resolve();
  }
  abandon() {
    this.state = "abandoned";
    return Promise.resolve();
  }
  trouble() {
    return this.problem;
  }
  inUse() {
    return { in_flight: 3 };
  }
  oldestWaitMs() {
    return 0;
  }
}

/** A role with its keeper; `seconds` lets the keeper make this many checks. */
async function kept() {
  const clock = new TestClock();
  const log: LogFields[] = [];
  const roles: PlayedRole[] = [];
  const keeper = new RoleKeeper({
    name: "images",
    deps: {
      ...systemDeps("debug"),
      clock,
      log: jsonLog("debug", (line) => log.push(JSON.parse(line))),
    },
    make: () => {
      const role = new PlayedRole();
      roles.push(role);
      return role;
    },
  });
  const seconds = async (count: number) => {
    for (let n = 0; n < count; n++) {
      clock.advance(1_000);
      await waits();
    }
  };
  // The keeper has checked, and waits for its next check.
  const waits = async () => {
    while (clock.waiting === 0) await new Promise((done) => setImmediate(done));
  };
  keeper.start();
  await waits();
  return { keeper, roles, log, seconds, clock };
}

const events = (log: readonly LogFields[]) => log.map(({ event }) => event);

Deno.test("role keeper: a role that makes progress, however rarely, is left alone", async () => {
  const { keeper, roles, log, seconds } = await kept();
  for (let minute = 0; minute < 5; minute++) {
    await seconds(55);
    roles[0].progress++;
    await seconds(1);
    assertEquals(keeper.trouble(), null);
  }
  assertEquals([roles.length, log], [1, []]);
  await keeper.stop();
  assertEquals(roles[0].state, "stopped");
});

Deno.test("role keeper: a role without progress for a minute is unready and restarted", async () => {
  const { keeper, roles, log, seconds } = await kept();
  await seconds(58);
  assertEquals([roles.length, keeper.trouble()], [1, null]);
  await seconds(3);
  assertEquals(roles.map(({ state }) => state), ["abandoned", "started"]);
  assertEquals(keeper.trouble(), "due work has made no progress for a minute");
  assertEquals(events(log), ["role_stuck", "role_started_anew"]);
  assertEquals(log[0].in_flight, 3);
  await seconds(30);
  assertEquals(keeper.trouble(), "due work has made no progress for a minute");
  roles[1].progress++;
  await seconds(2);
  assertEquals([roles.length, keeper.trouble()], [2, null]);
  await keeper.stop();
});

Deno.test("role keeper: a role that cannot work is unready and not restarted", async () => {
  const { keeper, roles, seconds } = await kept();
  roles[0].problem = "the image store is full";
  await seconds(600);
  assertEquals([roles.length, keeper.trouble()], [
    1,
    "the image store is full",
  ]);
  roles[0].problem = null;
  assertEquals(keeper.trouble(), null);
  await keeper.stop();
});

Deno.test("role keeper: a stall of this process does not count as one of the role", async () => {
  const { keeper, roles, clock, seconds } = await kept();
  await seconds(10);
  clock.advance(600_000);
  await seconds(10);
  assertEquals([roles.length, keeper.trouble()], [1, null]);
  await keeper.stop();
});
