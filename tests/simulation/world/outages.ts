/** Faults: of whole processes, and of whatever the stage can let fail. */
import { ATTEMPTS } from "../../../src/images/image.ts";
import { DAY_MS } from "../../../src/lib/durations.ts";
import type { Random } from "../../support/random.ts";
import { sometimes } from "../../support/sometimes.ts";
import { STORE_TROUBLES } from "../image_store.ts";
import { TROUBLES } from "../mail_server.ts";
import type { SimulatedProcess } from "../scheduler.ts";
import type { Actor, Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { checkBackup } from "./backups.ts";
import { chance, pick } from "./choice.ts";
import { CLOCK_MOVES, NO_WRITES } from "./trouble.ts";
import { passesOf, PLACE_NAMES, type PlaceOfKill } from "./between_commits.ts";
import type { Step } from "./plan.ts";

export type OutageStep =
  | `kill at: ${PlaceOfKill}`
  | "kill"
  | "stop"
  | "stop a delivery"
  | "stop an image"
  | "fault"
  | "faults"
  | "clock"
  | "clock back"
  | "backup"
  | "night"
  | "deafen a worker"
  | "fail the store"
  | "fail the store at the last attempt"
  | "fail commits"
  | "change nothing"
  | "forget mails"
  | "tell nobody";

/** A fault up to this long ago may prevent a worker from giving up its jobs. */
const SOUND_MS = 5_000;
/** How long a fault lasts. */
const TIMES = [10, 400, 3_000, 12_000, 30_000];
/** The longest wait for a process at a place. */
const AT_PLACE_MS = 40_000;
/** Long enough for several writes of a seller. */
const COMMITS_FAIL_MS = 2_000;
/** For how long the image store fails. */
const STORE_FAILS_MS = [3_000, 12_000];
/** The last attempt of an image begins within this time. */
const LAST_ATTEMPT_MS = 1_000;
/** The longest wait for the last attempt, more than all pauses before it. */
const LAST_ATTEMPT_COMES_MS = 180_000;
/** Longer than from an import to its mail. */
const MAILS_FORGOTTEN_MS = 60_000;
/** The interval and the longest time of checks for work in progress. */
const LOOK_MS = 25;
const LOOKS = 800;
/** The longest wait for a stored image. */
const IMAGE_MS = 8_000;
/** Work in progress for this long takes long. */
const LONG_MS = 250;
/** The same for a read that waits for others, which takes longer. */
const LOOK_FOR_READ_MS = 250;
const LOOKS_FOR_READ = 1_200;
/** How soon after a start old data are deleted. */
const SWEPT_MS = 2_000;
/** A fault up to this long ago may leave something in use. */
const AFTERMATH_MS = 60_000;
const NIGHT_MS = 25 * 3_600_000;
/**
 * The time within which the operator gets a notice of a lasting condition, if
 * it can be sent.
 */
const TOLD_MS = 15_000;
/** By how many hours a clock is set. */
const HOURS = [-30, -1, -0.01, 0.01, 1, 25, 24 * 8];

const LEASED_IMAGES = "SELECT id FROM images WHERE lease_id IS NOT NULL";
const DELIVERIES = "SELECT id FROM deliveries WHERE lease_id IS NOT NULL";
const LEASES = `${LEASED_IMAGES} UNION ALL ${DELIVERIES}
  UNION ALL SELECT id FROM notices WHERE lease_id IS NOT NULL`;

export class Outages implements Actor {
  readonly #scene: Scene;
  #kills = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async do(kind: OutageStep, random: Random): Promise<void> {
    const { stage } = this.#scene;
    if (!stage.scheduler.faulty) return;
    const process = pick(random, stage.processes);
    if (kind === "deafen a worker") {
      const name = `the image worker hears nothing (${process.name})`;
      return await this.#failFor(LOOK_MS, name);
    }
    if (kind === "fail the store") {
      await this.#slowWork(LEASED_IMAGES);
      return await this.#failStore(random);
    }
    if (kind === "fail the store at the last attempt") {
      return await this.#failLastAttempt(random);
    }
    if (kind === "fail commits") {
      return await this.#failFor(COMMITS_FAIL_MS, "commits fail");
    }
    if (kind === "change nothing") {
      return await this.#failFor(
        COMMITS_FAIL_MS,
        "some statements change nothing",
      );
    }
    if (kind === "forget mails") {
      return await this.#failFor(MAILS_FORGOTTEN_MS, TROUBLES.forgetful);
    }
    const place = PLACE_NAMES.find((name) => kind === `kill at: ${name}`);
    if (place !== undefined) return await this.#killAt(place, random);
    if (kind === "tell nobody") return await this.#tellNobody(random);
    if (kind === "stop" && chance(random, 0.4)) await this.#waitingRead();
    else if (kind === "stop a delivery") await this.#slowWork(DELIVERIES);
    else if (kind === "stop an image") {
      // A moment that lasts only a few milliseconds.
      await stage.imageStored(IMAGE_MS);
      await this.#scene.caller.sleep(random.next());
    } else if (!kind.startsWith("clock") && chance(random, 0.7)) {
      await this.#opportunity(random);
    }
    switch (kind) {
      case "kill":
        if (!process.running) return;
        stage.scheduler.trace(() => `${process.name} is killed`);
        this.#kills++;
        process.kill();
        return await this.#restart(process, random);
      case "stop":
      case "stop a delivery":
      case "stop an image":
        if (!process.running) return;
        await this.#stop(process);
        return await this.#restart(process, random);
      case "clock":
        return await this.#moveClock(random, HOURS);
      case "clock back":
        return await this.#moveClock(random, HOURS.filter((h) => h < 0));
      case "backup":
        return await this.#backUp(random);
      case "night":
        return await this.#night(random);
      case "fault":
        return await this.#fail(1, random);
      case "faults":
        return await this.#fail(2, random);
    }
  }

  /** Kills the first process that reaches a place of the source. */
  async #killAt(place: PlaceOfKill, random: Random): Promise<void> {
    const { stage } = this.#scene;
    const passes = passesOf(place, random);
    const process = await stage.killedAt(place, passes, AT_PLACE_MS);
    if (process === null) return;
    this.#kills++;
    sometimes(`killed at: ${place}`);
    await this.#restart(process, random);
  }

  /** Waits until a read waits. */
  async #waitingRead(): Promise<void> {
    const { stage, caller, world } = this.#scene;
    const mayCome = ({ kind }: Step) => kind === "stopped readers";
    if (!world.steps.some(mayCome)) return;
    const waits = (name: string) => name.endsWith(": reads.waiting");
    await caller.poll(() => Object.keys(stage.held()).find(waits), {
      everyMs: LOOK_FOR_READ_MS,
      times: LOOKS_FOR_READ,
    });
  }

  /** Waits until work under one of these leases takes long. */
  async #slowWork(sql: string): Promise<void> {
    const { stage, caller } = this.#scene;
    for (let looks = 0; looks < LOOKS; looks++) {
      const begun = stage.rows<{ id: string }>(sql);
      await caller.sleep(LOOK_MS);
      if (begun.length === 0) continue;
      await caller.sleep(LONG_MS);
      const now = new Set(stage.rows<{ id: string }>(sql).map(({ id }) => id));
      if (begun.some(({ id }) => now.has(id))) return;
    }
  }

  async #failStore(random: Random): Promise<void> {
    const name = pick(random, STORE_TROUBLES);
    await this.#failFor(pick(random, STORE_FAILS_MS), name);
  }

  /** The store fails shortly before an image gets its last attempt. */
  async #failLastAttempt(random: Random): Promise<void> {
    const { stage, caller } = this.#scene;
    const sql = `SELECT 1 FROM images WHERE state = 'pending'
      AND attempts - after_attempt = ? AND due_at < ?`;
    const soon = await caller.poll(
      () => stage.rows(sql, ATTEMPTS - 1, stage.now() + LAST_ATTEMPT_MS).at(0),
      {
        everyMs: LAST_ATTEMPT_MS / 2,
        times: 2 * LAST_ATTEMPT_COMES_MS / LAST_ATTEMPT_MS,
      },
    );
    if (soon !== null) await this.#failStore(random);
  }

  /** Waits until images or deliveries are in progress. */
  async #opportunity(random: Random): Promise<void> {
    const { stage, caller } = this.#scene;
    const lastsMs = chance(random, 0.5) ? LONG_MS : 0;
    for (let looks = 0, seen = -1; looks < LOOKS; looks++) {
      const writes = stage.writes();
      if (writes !== seen && await this.#isBusy(lastsMs)) break;
      seen = writes;
      await caller.sleep(LOOK_MS);
    }
    await caller.sleep(LOOK_MS * 4 * random.next() ** 3);
  }

  /** Whether work is in progress, and remains so. */
  async #isBusy(lastsMs: number): Promise<boolean> {
    const { stage, caller } = this.#scene;
    const leases = () => {
      const rows = stage.rows<{ id: string }>(LEASES);
      return new Set(rows.map(({ id }) => id));
    };
    const begun = leases();
    if (lastsMs === 0 || begun.size === 0) return begun.size > 0;
    await caller.sleep(lastsMs);
    return !begun.isDisjointFrom(leases());
  }

  /** A process that is stopped gives back what it had claimed. */
  async #stop(process: SimulatedProcess): Promise<void> {
    const { stage, trouble, world } = this.#scene;
    stage.scheduler.trace(() => `${process.name} is stopped`);
    const begun = stage.scheduler.time;
    const kills = this.#kills;
    const isCalm = () =>
      !trouble.anyWithin(begun - AFTERMATH_MS, begun) &&
      !trouble.anyWithin(begun, stage.scheduler.time);
    let wasCalm = isCalm();
    await this.#shaken(async () => {
      await process.stop();
      wasCalm &&= trouble.only("a process is away", begun);
    });
    const left = stage.leftLeases(process);
    const isSound = this.#kills === kills &&
      !trouble.anyWithin(begun - SOUND_MS, begun - 1) &&
      trouble.only("a process is away", begun);
    hold(
      left.length === 0 || !isSound,
      "empty",
      "a stop gives the leases of images back",
      left,
    );
    if (isSound) this.#checkStored(process, begun);
    if (!wasCalm || !isSound || world.processes.length > 1) return;
    const leases = stage.rows(LEASES);
    hold(leases.length === 0, "empty", "a stop gives leases back", leases);
  }

  /** What was fetched before the end of a stop is not fetched again. */
  #checkStored({ name }: SimulatedProcess, begun: number): void {
    const { stage } = this.#scene;
    const ids = stage.storedImages()
      .filter((one) => one.process === name && one.at >= begun - LOOK_MS)
      .map(({ id }) => id);
    const lost = stage.rows(
      `SELECT id, url, attempts FROM images WHERE state = 'pending'
         AND id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(ids),
    );
    hold(lost.length === 0, "true", "a stop keeps what was fetched", lost);
  }

  /** The whole service is stopped for more than a day. */
  async #night(random: Random): Promise<void> {
    const { stage, world, caller } = this.#scene;
    if (!world.jumps) return;
    await this.#shaken(async () => {
      for (const process of stage.processes) await process.stop();
      const pending = this.#uploads("finished_at IS NULL");
      const until = stage.latest() + NIGHT_MS + DAY_MS;
      stage.scheduler.trace(() => "a day passes");
      stage.moveClock(NIGHT_MS);
      await caller.sleep(pick(random, TIMES.slice(0, 3)));
      for (const process of stage.processes) await this.start(process);
      await caller.sleep(SWEPT_MS);
      const removes = world.steps.some(({ kind }) => kind === "remove");
      const lost = pending.difference(this.#uploads("TRUE"));
      hold(
        lost.size === 0 || stage.latest() >= until || removes,
        "true",
        "an upload that is not final is kept",
        [...lost],
      );
    });
  }

  #uploads(which: string): Set<string> {
    const { stage } = this.#scene;
    const rows = stage.rows<{ id: string }>(
      `SELECT id FROM transactions WHERE ${which}`,
    );
    return new Set(rows.map(({ id }) => id));
  }

  async #moveClock(random: Random, choice: readonly number[]) {
    const { stage, world, trouble, caller } = this.#scene;
    if (!world.jumps) return;
    const hours = pick(random, choice);
    stage.scheduler.trace(() => `the clock moves by ${hours} h`);
    stage.moveClock(hours * 3_600_000);
    trouble.shake(CLOCK_MOVES);
    // Long enough for every process to notice.
    await caller.sleep(2_500);
  }

  async #restart(process: SimulatedProcess, random: Random): Promise<void> {
    await this.#shaken(async () => {
      await this.#scene.caller.sleep(pick(random, TIMES.slice(0, 4)));
      await this.start(process);
    });
  }

  async #shaken(work: () => Promise<void>): Promise<void> {
    const { end } = this.#scene.trouble.shakeOn("a process is away");
    await work();
    end();
  }

  /** Starts a process; repeats that while it fails. */
  async start(process: SimulatedProcess): Promise<void> {
    const { stage, caller, trouble } = this.#scene;
    while (!process.running) {
      stage.scheduler.trace(() => `${process.name} is started`);
      try {
        await process.start();
      } catch (error) {
        stage.scheduler.trace(() => `${process.name} does not start: ${error}`);
        if (!trouble.since("ours", stage.scheduler.time)) throw error;
        await caller.sleep(1_000);
      }
    }
    trouble.shake(`${process.name} has started`);
  }

  async #fail(count: number, random: Random): Promise<void> {
    const { world, caller, trouble, stage } = this.#scene;
    const faults = stage.faults
      .filter((fault) => fault.of === "ours" || !world.soundNetwork);
    if (faults.length === 0) return;
    const chosen = Array.from({ length: count }, () => pick(random, faults));
    for (const fault of chosen) trouble.begin(fault);
    await caller.sleep(pick(random, TIMES));
    for (const fault of chosen) trouble.end(fault);
  }

  /** The fault with this name begins, if the world has it. */
  async #failFor(ms: number, name: string): Promise<void> {
    const { stage, trouble, caller } = this.#scene;
    const fault = stage.faults.find((one) => one.name === name);
    if (fault === undefined) return;
    trouble.begin(fault);
    await caller.sleep(ms);
    trouble.end(fault);
  }

  /**
   * Nothing can be stored, for two reasons, and the operator cannot be reached
   * either.
   */
  async #tellNobody(random: Random): Promise<void> {
    const { stage, trouble, caller } = this.#scene;
    const named = (name: RegExp) =>
      stage.faults.filter((fault) => name.test(fault.name));
    const silence = pick(random, named(/^the operator's endpoint/));
    trouble.begin(silence);
    for (const fault of named(NO_WRITES)) {
      trouble.begin(fault);
      await caller.sleep(TOLD_MS);
      trouble.end(fault);
    }
    trouble.end(silence);
  }

  /** Makes a backup, most often during a fault of the service. */
  async #backUp(random: Random): Promise<void> {
    const { stage, trouble, caller } = this.#scene;
    const faults = stage.faults.filter(({ of }) => of === "ours");
    const fault = chance(random, 0.7) ? pick(random, faults) : null;
    if (fault !== null) trouble.begin(fault);
    await caller.sleep(100 * random.next());
    await checkBackup(this.#scene);
    if (fault !== null) trouble.end(fault);
  }
}
