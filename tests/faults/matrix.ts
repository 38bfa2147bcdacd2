/** One cell of the matrix: a fault, during an activity, for a duration. */
import { assert, assertEquals } from "@std/assert";
import { WRONG_COUNTERS } from "../processes/inspect.ts";
import { pause, until } from "../support/clock.ts";
import { gate } from "../support/webhook_sink.ts";
import {
  ACTIVITIES,
  type Activity,
  emit,
  HeldImages,
  register,
  upload,
} from "./activities.ts";
import { type Fault, FAULTS } from "./faults.ts";
import type { Stage } from "./stage.ts";

const HOUR_MS = 3_600_000;
const LEAP_HOURS = 4;
/** Everything recovers by itself within this time. */
const RECOVERY_MS = 10_000;
/** In real time; `/healthz` competes with everything that the test does. */
const HEALTH_MS = 1_000;
/** In real time: after the last notice, its rows may still be in progress. */
const LAST_ROWS_MS = 2_000;
/**
 * How fast the clock runs, relative to real time, during a long fault and after
 * it.
 */
const LONG_SPEED = 20;
const SHORT_SPEED = 4;
const LONG_HALF_MS = 10_000;
/**
 * The rest of the time, in which the clock runs as fast as real time; see
 * `recover`.
 */
const LAST_MS = 4_000;
const LAST_SPEED = 0.4;

type Half = "first" | "second";

/** How long a fault lasts, in two halves. */
export const DURATIONS: Readonly<
  Record<string, (stage: Stage, half: Half, speed: number) => Promise<void>>
> = {
  "1 s": (stage) => stage.pass(500, SHORT_SPEED),
  "20 s": (stage, _, speed) => stage.pass(LONG_HALF_MS, speed),
  "1 h": forHours(1),
  // The last of all retries, that of a delivery, comes after 77 hours.
  "80 h": forHours(80),
};

function forHours(hours: number): typeof DURATIONS[string] {
  return async (stage, half, speed) => {
    await stage.pass(LONG_HALF_MS, speed);
    if (half === "second") await passHours(stage, hours, speed);
  };
}

async function passHours(
  { clock, watch }: Stage,
  hours: number,
  speed: number,
): Promise<void> {
  clock.speed = speed;
  for (let left = hours; left > 0; left -= LEAP_HOURS) {
    clock.leap(Math.min(left, LEAP_HOURS) * HOUR_MS);
    // Until every check has run.
    const { count } = watch;
    while (watch.count === count) await pause(2);
  }
  clock.speed = 1;
}

export interface Cell {
  faults: readonly string[];
  activities: readonly string[];
  duration: string;
}

export function nameOf({ faults, activities, duration }: Cell): string {
  const all = activities.length === Object.keys(ACTIVITIES).length;
  return `${faults.join(" and ")} for ${duration} beside ` +
    (all ? "everything" : activities.join(", "));
}

/** Durations of a cell, in milliseconds. */
export interface CellTimes {
  /**
   * By the clock, from the end of the faults until everything has recovered.
   */
  recovery: number;
  /** In real time, the slowest `/healthz`. */
  health: number;
}

/** Throws at the first broken rule. */
export async function tryCell(
  stage: Stage,
  cell: Cell,
  faults: Readonly<Record<string, Fault>> = FAULTS,
): Promise<CellTimes> {
  await stage.warmUp();
  const begun: Activity[] = [];
  for (const name of cell.activities) {
    begun.push(await ACTIVITIES[name](stage));
  }
  stage.watch.begin();
  const chosen = cell.faults.map((name) => faults[name]);
  const from = stage.clock.monotonic();
  const ends = [];
  for (const { begin } of chosen) ends.push(await begin(stage));
  const pass = DURATIONS[cell.duration];
  const speed = Math.min(
    ...chosen.map(({ speed = LONG_SPEED }) => speed),
  );
  await pass(stage, "first", speed);
  for (const { midway } of begun) midway?.();
  await pass(stage, "second", speed);
  checkReadiness(stage, chosen, from);
  for (const end of ends) await end();
  const recovery = await recover(stage, begun);
  const health = stage.watch.slowestMs;
  for (const { verify } of begun) await verify();
  await checkPlaces(stage);
  await checkRows(stage);
  assert(health <= HEALTH_MS, `/healthz took ${health} ms`);
  return { recovery, health };
}

/** The service was not ready while it could not work. */
function checkReadiness(
  { watch, clock }: Stage,
  faults: readonly Fault[],
  from: number,
): void {
  const reported = faults.flatMap(({ unreadyMs }) =>
    unreadyMs === null ? [] : [unreadyMs]
  );
  if (reported.length === 0) return;
  const answers = watch.between(
    from + Math.min(...reported),
    clock.monotonic(),
  );
  const lies = answers.filter((ready) => ready).length;
  assertEquals(lies, 0, `/readyz said 200 ${lies} of ${answers.length} times`);
}

/**
 * All pending work is done, and the service ready, within ten seconds of the
 * clock. The clock slows down towards the end, for busy machines. Returns after
 * how many of its milliseconds.
 */
async function recover(
  stage: Stage,
  activities: readonly Activity[],
): Promise<number> {
  const { clock, watch } = stage;
  const began = clock.monotonic();
  clock.speed = SHORT_SPEED;
  await Promise.all(activities.map(({ stop }) => stop?.()));
  for (;;) {
    const left = began + RECOVERY_MS - clock.monotonic();
    if (left < LAST_MS) clock.speed = LAST_SPEED;
    const waiting = await Promise.all(
      activities.map(({ pending }) => pending()),
    );
    const late = [...waiting, watch.ready ? "" : "readiness"]
      .filter((what) => what !== "");
    if (late.length === 0) break;
    if (left < 0) throw new Error(`after 10 s: ${late.join("; ")}`);
    await pause(20);
  }
  clock.speed = 1;
  return clock.monotonic() - began;
}

/** As many downloads as before can run at once. */
async function checkPlaces(stage: Stage): Promise<void> {
  const { sink, app } = stage;
  await stage.warmUp();
  const held = new HeldImages(stage, 20);
  const uploaded = await upload(stage, held.urls);
  const path = `/${stage.name("hook")}`;
  const { open, opened } = gate();
  sink.answering = async () => {
    await opened;
    return new Response();
  };
  await register(stage, path);
  for (let n = 0; n < 6; n++) await emit(stage);
  // A host gets 16; the share of one owner leaves a slot free.
  await until(() => held.inFlight >= 15, "15 downloads from one host");
  await until(() => sink.at(path).length >= 4, "4 deliveries at once");
  open();
  held.release();
  sink.answering = () => new Response();
  await app.status(uploaded, "?wait=30");
  await until(() => sink.at(path).length === 6, "all deliveries");
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => app.upload("<product/>")),
  );
  assertEquals(answers.map(({ status }) => status), answers.map(() => 422));
}

/** Values that no row may have. */
const LEFT: Readonly<Record<string, readonly [table: string, which: string]>> =
  {
    "downloads in flight": ["images", "lease_id IS NOT NULL"],
    "images that wait": ["transaction_images", "status = 'pending'"],
    "deliveries in flight": ["deliveries", "lease_id IS NOT NULL"],
    "deliveries to be done": ["deliveries", "state <> 'delivered'"],
    "images given up": ["transaction_images", "status = 'failed'"],
    "wrong counters": [`(${WRONG_COUNTERS}) AS wrong`, "1 = 1"],
  };

/** Nothing is held, waits or was given up. */
async function checkRows({ app }: Stage): Promise<void> {
  const left = () =>
    app.app.db.read(async (sql) => {
      const found: string[] = [];
      for (const [what, [table, which]] of Object.entries(LEFT)) {
        const row = await sql.get<{ n: number }>(
          `SELECT COUNT(*) AS n FROM ${table} WHERE ${which}`,
        );
        if (row!.n > 0) found.push(`${row!.n} ${what}`);
      }
      return found;
    });
  const deadline = performance.now() + LAST_ROWS_MS;
  while ((await left()).length > 0 && performance.now() < deadline) {
    await pause(5);
  }
  assertEquals(await left(), []);
}
