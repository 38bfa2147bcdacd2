/**
 * The whole service with mixed traffic and one fault after the other, for
 * minutes or hours: nothing acknowledged is lost, all work continues within ten
 * seconds of a fault's end, and nothing grows but stored data.
 */
import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { Inspector } from "../processes/inspect.ts";
import { checkArrivals, prepareRows } from "../processes/promises.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { ImageHost } from "../support/image_host.ts";
import { type Program, temporaryFolder } from "../support/process.ts";
import { Random } from "../support/random.ts";
import { OPERATOR, Service } from "../support/service.ts";
import { sometimesLogged, sometimesMeasured } from "../support/sometimes.ts";
import { Lag, Starvation, starvedMs } from "../support/starvation.ts";
import { vitalsOf } from "../support/vitals.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { ABSENCES, type Fault, FAULTS, type Surroundings } from "./faults.ts";
import { findGrowth, Log, type Minute, ranges } from "./record.ts";
import { pause, Traffic } from "./traffic.ts";

const SELLERS = ["acme", "bolt", "coil", "dune"];
const MIB = 1_048_576;
/** The length of a fault. */
const LONGEST_FAULT_MS = 25_000;
/**
 * The time between two faults; all work must continue in its first ten seconds.
 */
const CALM_MS = 15_000;
const RECOVERY_MS = 10_000;
/** In the first part of a run the service is killed and stopped, too. */
const ABSENT_PART = 0.2;
const LOOK_MS = 500;
const HEALTH_MS = 1_000;
const SETTLE_MS = 120_000;
const TABLES = ["transactions", "images", "events", "deliveries"];

export interface SoakOptions {
  minutes: number;
  seed: number;
}

/** The findings of a soak. */
export interface Findings {
  /** Violations by the service. */
  problems: string[];
  /** What took too long because the machine had no free processor. */
  load: string[];
}

/** Runs a soak, and prints its figures. */
export async function soak({ minutes, seed }: SoakOptions): Promise<Findings> {
  using lag = new Lag();
  await using folder = await temporaryFolder();
  await using images = new ImageHost();
  await using sink = new WebhookSink();
  await using service = await Service.start(`${folder.path}/data`, {
    sellers: SELLERS,
    env: { SELLER_LOG: "warn" },
    preload: new URL("./preload.ts", import.meta.url).href,
  });
  const run = new Soak({ service, images, sink }, seed, lag);
  await run.prepare();
  await run.live(minutes * 60_000);
  await run.settle();
  return run.findings();
}

class Soak {
  readonly #around: Surroundings;
  readonly #lag: Lag;
  readonly #traffic: Traffic;
  readonly #random: Random;
  readonly #minutes: Minute[] = [];
  readonly #log = new Log();
  /** Faults of the current minute. */
  #faults: string[] = [];
  /** Whether it is expected to answer nothing. */
  #absent = false;
  /** How often it was expected to answer nothing. */
  #absences = 0;
  #slowestHealthMs = 0;
  /** The violations so far. */
  readonly #problems: string[] = [];
  /** See `Findings`. */
  readonly #load: string[] = [];
  #over = false;

  constructor(around: Surroundings, seed: number, lag: Lag) {
    this.#around = around;
    this.#lag = lag;
    this.#random = new Random(seed);
    this.#traffic = new Traffic({
      service: around.service,
      images: around.images.url,
      random: this.#random,
      lag,
    });
  }

  async prepare(): Promise<void> {
    const { service, sink } = this.#around;
    const keys = [...service.keys.values()];
    for (const [n, setter] of this.#traffic.setters.entries()) {
      await prepareRows(service.url, keys[n], sink, [setter]);
    }
  }

  async live(ms: number): Promise<void> {
    this.#traffic.start();
    const watching = [this.#watchHealth(), this.#keepMinutes()];
    const end = performance.now() + ms;
    const absentUntil = performance.now() + ms * ABSENT_PART;
    const faults = new Turns(FAULTS, this.#random);
    const absences = new Turns(ABSENCES, this.#random);
    for (let n = 0; performance.now() < end; n++) {
      const absent = n % 2 === 0 && performance.now() < absentUntil;
      await this.#suffer(absent ? absences : faults, absent);
      await this.#recover();
    }
    this.#over = true;
    await Promise.all(watching);
    await this.#traffic.stop();
  }

  async #suffer(turns: Turns, absent: boolean): Promise<void> {
    const { name, fault, isFirst } = turns.next();
    this.#faults.push(name);
    this.#absent = absent;
    if (absent) this.#absences++;
    const end = await fault(this.#around);
    // The first of its kind lasts long enough to be met.
    const least = isFirst ? LONGEST_FAULT_MS / 2 : 0;
    await pause(least + this.#random.below(LONGEST_FAULT_MS - least));
    await end();
    this.#absent = false;
  }

  /**
   * All work makes progress, and the service is ready, soon after a fault:
   * within ten seconds in which the service and this test had a processor.
   */
  async #recover(): Promise<void> {
    const fault = this.#faults.at(-1);
    const began = performance.now();
    const withheld = this.#measureWithheld();
    let what = "";
    let ms = 0;
    do {
      if (ms > 0) await pause(LOOK_MS);
      what = await this.#standsStill();
      ms = performance.now() - began;
    } while (what !== "" && ms - withheld() <= RECOVERY_MS);
    if (what !== "" || ms > RECOVERY_MS) {
      this.#note(
        what !== "",
        `${seconds(ms)} after "${fault}": ${what || "all moved"}`,
        withheld(),
      );
    }
    await pause(CALM_MS - (performance.now() - began));
  }

  /**
   * Returns a function that returns how many milliseconds the machine has
   * withheld since.
   */
  #measureWithheld(): () => number {
    const lagged = this.#lag.ms;
    const starvation = new Starvation(this.#around.service.program.pid);
    return () => this.#lag.ms - lagged + starvation.ms;
  }

  #note(isProblem: boolean, what: string, withheldMs: number): void {
    const list = isProblem ? this.#problems : this.#load;
    list.push(`${what} (the machine withheld ${seconds(withheldMs)})`);
  }

  /** Work that is due and waits; empty if there is none. */
  async #standsStill(): Promise<string> {
    const { service } = this.#around;
    const ready = await fetch(`${service.url}/readyz`);
    await ready.body?.cancel();
    if (ready.status !== 200) return `/readyz says ${ready.status}`;
    using database = this.#database();
    const due = Date.now() - 5_000;
    const waiting = ["images", "deliveries"].flatMap((table) => {
      const row = database.prepare(
        `SELECT COUNT(*) AS n FROM ${table} WHERE due_at < ?`,
      ).get(due);
      return Number(row?.n) > 0 ? [`${row?.n} ${table} are overdue`] : [];
    });
    return waiting.join(", ");
  }

  #database(): DatabaseSync {
    const { folder } = this.#around.service;
    return new DatabaseSync(`${folder}/seller.db`, {
      readOnly: true,
      timeout: 5_000,
    });
  }

  async #watchHealth(): Promise<void> {
    while (!this.#over) {
      await pause(LOOK_MS);
      const { running } = this.#around.service;
      if (running !== null && !this.#absent) await this.#askHealth(running);
    }
  }

  async #askHealth({ url, pid }: Program): Promise<void> {
    const absences = this.#absences;
    const began = performance.now();
    const lagged = this.#lag.ms;
    const starved = starvedMs(pid);
    const failure = await fetch(`${url}/healthz`).then(
      (response) => response.body?.cancel(),
      (error) => String(error),
    );
    if (this.#absences > absences) return;
    if (failure !== undefined) this.#problems.push(`/healthz: ${failure}`);
    const ms = performance.now() - began;
    const withheld = this.#lag.ms - lagged + starvedMs(pid) - starved;
    this.#slowestHealthMs = Math.max(this.#slowestHealthMs, ms - withheld);
    if (ms <= HEALTH_MS) return;
    const what = `/healthz took ${seconds(ms)} beside "${this.#faults.at(-1)}"`;
    this.#note(ms - withheld > HEALTH_MS, what, withheld);
  }

  async #keepMinutes(): Promise<void> {
    while (!this.#over) {
      const heap: Minute[] = [];
      const end = performance.now() + 60_000;
      while (!this.#over && performance.now() < end) {
        await pause(2_000);
        if (this.#around.service.running === null) continue;
        // The fault may be ending now.
        await this.#heldNow().then((held) => heap.push(held), () => {});
      }
      if (heap.length > 0) this.#keepMinute(heap);
    }
  }

  async #heldNow(): Promise<Minute> {
    const { service } = this.#around;
    const file = `${service.folder}/../memory.json`;
    const memory = JSON.parse(await Deno.readTextFile(file));
    const { rssMiB, ...vitals } = await vitalsOf(service.program.pid);
    return {
      "heap MiB": memory.heapUsed / MIB,
      "external MiB": memory.external / MIB,
      "rss MiB": rssMiB,
      ...vitals,
    };
  }

  /** The lowest memory use, and the stored bytes at its end. */
  #keepMinute(held: readonly Minute[]): void {
    const least = Object.fromEntries(
      Object.keys(held[0]).map((name) => [
        name,
        Math.min(...held.map((one) => one[name])),
      ]),
    );
    const { tally } = this.#traffic;
    const minute = {
      minute: this.#minutes.length + 1,
      ...least,
      ...this.#stored(),
      answered: tally.answered,
      refused: tally.refused,
      unanswered: tally.unanswered,
      "slowest healthz ms": Math.round(this.#slowestHealthMs),
    };
    this.#minutes.push(minute);
    this.#log.print(minute, this.#faults);
    this.#slowestHealthMs = 0;
    this.#faults = this.#faults.slice(-1);
  }

  #stored(): Minute {
    const { folder } = this.#around.service;
    const size = (file: string) => Deno.statSync(`${folder}/${file}`).size;
    using database = this.#database();
    const rows = TABLES.map((table) => {
      const row = database.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get();
      return [table, Number(row?.n)];
    });
    const { files, parts } = countImageFiles(folder);
    return {
      parts,
      "image files": files,
      "db MiB": size("seller.db") / MIB,
      "wal MiB": size("seller.db-wal") / MIB,
      ...Object.fromEntries(rows),
    };
  }

  /**
   * After another kill, and with later work made due, all work is completed,
   * and everything acknowledged exists.
   */
  async settle(): Promise<void> {
    const { service } = this.#around;
    await this.#noteRarePaths();
    const db = await openSqlite(`${service.folder}/seller.db`);
    await db.write(async (tx) => {
      for (const table of ["images", "deliveries"]) {
        await tx.run(
          `UPDATE ${table} SET due_at = 0 WHERE due_at IS NOT NULL`,
          [],
          "any",
        );
      }
    });
    await db.close();
    await service.start();
    await this.#traffic.resolveDoubts();
    using inspector = new Inspector(service.folder);
    const unsettled = () =>
      inspector.count("SELECT SUM(images_pending) FROM transactions") +
      inspector.count(
        "SELECT COUNT(*) FROM deliveries WHERE state <> 'delivered'",
      );
    const deadline = performance.now() + SETTLE_MS;
    while (unsettled() > 0 && performance.now() < deadline) await pause(200);
    if (unsettled() > 0) this.#problems.push(`${unsettled()} have not settled`);
    await this.#inspect(inspector);
  }

  /** Records the rare paths that the last process reports, and kills it. */
  async #noteRarePaths(): Promise<void> {
    const { service } = this.#around;
    const response = await fetch(`${service.url}/metrics`, {
      headers: { authorization: `Bearer ${OPERATOR}` },
    });
    sometimesMeasured(await response.text());
    const log = await service.kill();
    sometimesLogged(
      log.split("\n").filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line)),
    );
  }

  async #inspect(inspector: Inspector): Promise<void> {
    const { uploaders, setters, emitters } = this.#traffic;
    const check = (what: string, fn: () => unknown) => {
      try {
        fn();
      } catch (error) {
        this.#problems.push(`${what}: ${(error as Error).message}`);
      }
    };
    check("file", () => inspector.checkFile());
    check("counters", () => inspector.checkCounters());
    for (const one of uploaders) {
      check(one.name, () => inspector.checkUploader(one));
    }
    for (const one of setters) {
      check(one.name, () => inspector.checkSetter(one));
    }
    const ids = emitters.flatMap(({ events }) => [...events.values()]);
    check("events", () => inspector.checkEvents(ids));
    check("arrivals", () => checkArrivals(this.#around.sink, emitters));
    const stored = await inspector.checkImages();
    const { files, parts } = countImageFiles(this.#around.service.folder);
    check("files are the stored images", () => assertEquals(files, stored));
    check("half-written files", () => assertEquals(parts, 0));
    this.#printSums(inspector);
  }

  #printSums(inspector: Inspector): void {
    const { uploaders, setters, emitters, tally, backups } = this.#traffic;
    const acknowledged = (writers: readonly { acknowledged: number }[]) =>
      writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
    for (const line of tally.lines()) console.log(line);
    for (const line of ranges(this.#minutes)) console.log(line);
    console.log(
      `acknowledged: ${acknowledged(uploaders)} uploads, ` +
        `${acknowledged(setters)} attribute updates, ` +
        `${acknowledged(emitters)} events; ${backups} backups; ` +
        `${this.#around.sink.received.length} deliveries arrived`,
    );
    for (const [code, n] of inspector.failedImages()) {
      console.log(`failed images: ${n} ${code}`);
    }
  }

  findings(): Findings {
    const { violations, load } = this.#traffic.tally;
    const lines = (counts: ReadonlyMap<string, number>) =>
      Array.from(counts, ([what, n]) => `${n} times ${what}`);
    return {
      problems: [
        ...this.#problems,
        ...lines(violations),
        ...findGrowth(this.#minutes),
      ],
      load: [...this.#load, ...lines(load)],
    };
  }
}

/** Faults in random order, in which each occurs once before any is repeated. */
class Turns {
  readonly #faults: Readonly<Record<string, Fault>>;
  readonly #random: Random;
  #left: string[] = [];
  #rounds = 0;

  constructor(faults: Readonly<Record<string, Fault>>, random: Random) {
    this.#faults = faults;
    this.#random = random;
  }

  next(): { name: string; fault: Fault; isFirst: boolean } {
    if (this.#left.length === 0) {
      this.#left = Object.keys(this.#faults);
      this.#rounds++;
    }
    const at = this.#random.below(this.#left.length);
    const [name] = this.#left.splice(at, 1);
    return { name, fault: this.#faults[name], isFirst: this.#rounds === 1 };
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function countImageFiles(folder: string): { files: number; parts: number } {
  let files = 0;
  let parts = 0;
  for (const { name, isDirectory } of readFolder(`${folder}/images`)) {
    if (isDirectory) {
      files += [...readFolder(`${folder}/images/${name}`)].length;
    } else if (name.endsWith(".part")) parts++;
  }
  return { files, parts };
}

/** Empty while the folder is away. */
function readFolder(path: string): Iterable<Deno.DirEntry> {
  try {
    return [...Deno.readDirSync(path)];
  } catch {
    return [];
  }
}
