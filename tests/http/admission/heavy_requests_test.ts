/** Heavy requests that wait for each other are all answered. */
import { assertEquals, assertMatch } from "@std/assert";
import { yieldToIo } from "../../../src/lib/yield_to_io.ts";
import {
  type Answer,
  boot,
  codeOf,
  product,
  textAt,
} from "../../support/app.ts";
import { inTime, RunningClock, until } from "../../support/clock.ts";
import { parseMetrics } from "../../support/metrics.ts";

/** More than 16 KiB, so it is heavy. */
const LARGE = ["A", "B", "C", "D"].map((sku) =>
  product(sku, `<description>${"x".repeat(5_000)}</description>`)
).join("");

/** Holds calls of `pass` back while it is closed. */
class Gate {
  #waiting: (() => void)[] = [];
  #isClosed = false;
  /** Called when a caller begins to wait. */
  onWait = () => {};

  get waiting(): number {
    return this.#waiting.length;
  }

  close(): void {
    this.#isClosed = true;
  }

  open(): void {
    this.#isClosed = false;
    for (const pass of this.#waiting.splice(0)) pass();
  }

  pass(): Promise<void> {
    if (!this.#isClosed) return Promise.resolve();
    this.onWait();
    return new Promise((pass) => this.#waiting.push(pass));
  }
}

/**
 * A clock on which every call takes a while, so that work seems to take time.
 */
class SlowClock extends RunningClock {
  msPerLook = 0;
  #lookedMs = 0;

  override monotonic(): number {
    this.#lookedMs += this.msPerLook;
    return super.monotonic() + this.#lookedMs;
  }
}

/** Long enough for a request to reach its next step. */
const PAUSE_MS = 50;

/** A service whose commits, and pauses between heavy work, a test controls. */
async function bootHeld() {
  const commits = new Gate();
  const pauses = new Gate();
  let pausing = 0;
  const clock = new SlowClock();
  const app = await boot({
    app: { maintain: false },
    config: {
      databaseUrl: null,
      metricsKey: "metrics",
      operatorKey: "operator",
    },
    deps: {
      clock,
      beforeCommit: () => commits.pass(),
      yieldToIo: async () => {
        pausing++;
        await pauses.pass();
        await new Promise((done) => setTimeout(done, PAUSE_MS));
        pausing--;
      },
    },
  });
  const metric = async (series: string): Promise<number> => {
    const headers = { "Authorization": "Bearer metrics" };
    const { text } = await app.call("/metrics", { key: null, headers });
    return parseMetrics(text).get(series)!;
  };
  const inProgress = (kind: string) =>
    metric(`seller_in_progress{kind="${kind}"}`);
  const upload = (key: string) =>
    app.upload(LARGE, "", { "Idempotency-Key": key });
  /**
   * The first upload waits for its write in the pause after decoding; then the
   * pause ends, and a second upload waits behind it.
   */
  const twoUploads = async (): Promise<[Promise<Answer>, Promise<Answer>]> => {
    // With no time passing, the write may run in a pause.
    clock.speed = 0;
    commits.close();
    const first = upload("first");
    await until(() => commits.waiting > 0 && pausing === 0, "a commit");
    const second = upload("second");
    await until(async () => await inProgress("upload") === 2, "two uploads");
    for (let turns = 0; turns < 20; turns++) await yieldToIo();
    return [first, second];
  };
  /** Lists of one seller that wait for a pause. */
  const fourLists = async (): Promise<Promise<Answer>[]> => {
    clock.msPerLook = 10;
    pauses.close();
    const list = () => app.call("/seller_api/products");
    const first = [list(), list()];
    await until(() => pauses.waiting === 2, "two pauses");
    const lists = Array.from({ length: 4 }, list);
    // The metrics endpoint would also wait for a pause.
    for (let turns = 0; turns < 100; turns++) await yieldToIo();
    return [...first, ...lists];
  };
  return {
    app,
    clock,
    commits,
    pauses,
    metric,
    upload,
    twoUploads,
    fourLists,
    async [Symbol.asyncDispose]() {
      commits.open();
      pauses.open();
      clock.speed = 100;
      await app[Symbol.asyncDispose]();
      clock[Symbol.dispose]();
    },
  };
}

Deno.test("an upload that waits for a slow one is answered, and its Idempotency-Key repeats the answer", async () => {
  await using held = await bootHeld();
  const [first, second] = await held.twoUploads();
  const early = await held.upload("second");
  assertEquals([early.status, codeOf(early)], [
    409,
    "idempotency_key_in_progress",
  ]);
  held.commits.open();
  assertEquals((await inTime(first, "the first answer")).status, 200);
  const answered = await inTime(second, "the second answer");
  assertEquals(answered.status, 200, answered.text);
  const again = await held.upload("second");
  assertEquals(again.status, 200, again.text);
  assertEquals(
    textAt(again.xml, "transaction_id"),
    textAt(answered.xml, "transaction_id"),
  );
});

Deno.test("an upload that waits for another upload is answered during shutdown", async () => {
  await using held = await bootHeld();
  const [first, second] = await held.twoUploads();
  const closed = held.app.app.close();
  for (let turns = 0; turns < 20; turns++) await yieldToIo();
  held.commits.open();
  assertEquals((await inTime(first, "the first answer")).status, 200);
  assertEquals((await inTime(second, "the second answer")).status, 200);
  await inTime(closed, "the end of the service");
});

Deno.test("lists that wait during shutdown are answered", async () => {
  await using held = await bootHeld();
  const lists = await held.fourLists();
  const closed = held.app.app.close();
  for (let turns = 0; turns < 20; turns++) await yieldToIo();
  held.pauses.open();
  for (const { status } of await inTime(Promise.all(lists), "all answers")) {
    assertEquals(status, 200);
  }
  await inTime(closed, "the end of the service");
});

Deno.test("lists that still wait when shutdown ends are 503", async () => {
  await using held = await bootHeld();
  const lists = await held.fourLists();
  const closed = held.app.app.close();
  // After the time in which writes may wait, but within the time of the test.
  for (let ms = 0; ms < 3_000; ms += 100) {
    held.clock.advance(100);
    await yieldToIo();
  }
  held.pauses.open();
  const answers = await inTime(Promise.all(lists), "all answers");
  const refused = answers.filter(({ status }) => status !== 200);
  assertEquals(refused.length >= 4, true, `${refused.length} refused`);
  for (const { status, headers } of refused) {
    assertEquals([status, headers.get("retry-after")], [503, "5"]);
  }
  await inTime(closed, "the end of the service");
});

Deno.test("work that waits for a second despite a free slot makes the service unready", async () => {
  await using held = await bootHeld();
  const { app, clock, pauses } = held;
  const ready = () => app.call("/readyz", { key: "operator" });
  // While pauses are held back, each owner sends one request: a further one
  // would wait for a pause if the first took more than a few milliseconds.
  const other = await app.addSeller("other");
  clock.msPerLook = 10;
  // From the first pause on, only the test advances the clock.
  pauses.onWait = () => clock.msPerLook = 0;
  pauses.close();
  const uploads = [
    held.upload("first"),
    app.upload(LARGE, "", { "X-Service-Auth": other }),
  ];
  await until(() => pauses.waiting > 0, "a pause");
  // The clock advances only once a slot is free and work waits for it.
  const heavy = (what: string) => app.app.holders.inUse()[`heavy.${what}`];
  const isHeld = () =>
    heavy("used") === undefined && (heavy("waiting") ?? 0) > 0;
  await until(isHeld, "work that waits for a free slot");
  clock.advance(2_500);
  const stuck = await ready();
  assertEquals(stuck.status, 503);
  assertMatch(
    textAt(stuck.xml, "checks/queues"),
    /^failed: heavy: a waiter that could run has waited for \d s$/,
  );
  pauses.open();
  for (const { status } of await Promise.all(uploads)) {
    assertEquals(status, 200);
  }
  clock.advance(1_000);
  assertEquals((await ready()).status, 200);
  assertEquals(await held.metric('seller_wait_seconds{queue="heavy"}'), 0);
});
