/**
 * The whole service with mixed traffic and one fault after the other, for
 * minutes or hours: nothing acknowledged is lost, all work continues within ten
 * seconds of a fault's end, and nothing grows but stored data.
 */
import { assertEquals } from "@std/assert";
import { ABSENCES, FAULTS, Turns } from "../processes/faults.ts";
import { Inspector } from "../processes/inspect.ts";
import { Processes } from "../processes/processes.ts";
import type { Service } from "../processes/service.ts";
import { makeDue, SqliteStore } from "../processes/store.ts";
import { count } from "../processes/traffic.ts";
import type { Writer } from "../processes/writers.ts";
import { type Program, temporaryFolder } from "../support/process.ts";
import { Random } from "../support/random.ts";
import { sometimesLogged, sometimesMeasured } from "../support/sometimes.ts";
import { Lag, Starvation, starvedMs } from "../support/starvation.ts";
import { vitalsOf } from "../support/vitals.ts";
import { findGrowth, Log, type Minute, ranges } from "./record.ts";
import { MixedTraffic } from "./traffic.ts";
import { pause } from "../support/clock.ts";

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
  await using processes = await Processes.start(
    new SqliteStore(`${folder.path}/data`),
    {
      sellers: SELLERS,
      env: { SELLER_LOG: "warn", SELLER_RATE_LIMIT: "1200" },
      preload: new URL("../processes/preload.ts", import.meta.url).href,
    },
  );
  const random = new Random(seed);
  await using traffic = new MixedTraffic(processes, random, lag);
  const run = new Soak(processes, traffic, random, lag);
  await traffic.during(() => run.live(minutes * 60_000));
  await run.settle();
  return run.findings();
}

class Soak {
  readonly #processes: Processes;
  readonly #service: Service;
  readonly #inspector: Inspector;
  readonly #lag: Lag;
  readonly #traffic: MixedTraffic;
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

  constructor(
    processes: Processes,
    traffic: MixedTraffic,
    random: Random,
    lag: Lag,
  ) {
    this.#processes = processes;
    this.#service = processes.services[0];
    this.#inspector = new Inspector(processes.store);
    this.#traffic = traffic;
    this.#random = random;
    this.#lag = lag;
  }

  async live(ms: number): Promise<void> {
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
  }

  async #suffer(turns: Turns, absent: boolean): Promise<void> {
    const { name, fault, isFirst } = turns.next();
    this.#faults.push(name);
    this.#absent = absent;
    if (absent) this.#absences++;
    const end = await fault(this.#traffic.writers);
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
    const starvation = new Starvation(this.#service.program.pid);
    return () => this.#lag.ms - lagged + starvation.ms;
  }

  #note(isProblem: boolean, what: string, withheldMs: number): void {
    const list = isProblem ? this.#problems : this.#load;
    list.push(`${what} (the machine withheld ${seconds(withheldMs)})`);
  }

  /** Work that is due and waits; empty if there is none. */
  async #standsStill(): Promise<string> {
    if (!await this.#service.isReady()) return "it is not ready";
    const due = Date.now() - 5_000;
    const waiting = await this.#count(
      ["images", "deliveries"],
      `due_at < ${due}`,
    );
    return Object.entries(waiting).filter(([, n]) => n > 0)
      .map(([table, n]) => `${n} ${table} are overdue`).join(", ");
  }

  /** How many rows of each table meet a condition. */
  async #count(
    tables: readonly string[],
    condition = "true",
  ): Promise<Record<string, number>> {
    const counts = tables.map((table) =>
      `(SELECT COUNT(*) FROM ${table} WHERE ${condition}) AS ${table}`
    );
    const row = await this.#processes.store.read((sql) =>
      sql.get<Record<string, number>>(`SELECT ${counts.join(", ")}`)
    );
    return row!;
  }

  async #watchHealth(): Promise<void> {
    while (!this.#over) {
      await pause(LOOK_MS);
      const { running } = this.#service;
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
        if (this.#service.running === null) continue;
        // The fault may be ending now.
        await this.#heldNow().then((held) => heap.push(held), () => {});
      }
      if (heap.length > 0) await this.#keepMinute(heap);
    }
  }

  async #heldNow(): Promise<Minute> {
    const file = `${this.#service.folder}/../memory.json`;
    const memory = JSON.parse(await Deno.readTextFile(file));
    const { rssMiB, ...vitals } = await vitalsOf(this.#service.program.pid);
    return {
      "heap MiB": memory.heapUsed / MIB,
      "external MiB": memory.external / MIB,
      "rss MiB": rssMiB,
      ...vitals,
    };
  }

  /** The lowest memory use, and the stored bytes at its end. */
  async #keepMinute(held: readonly Minute[]): Promise<void> {
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
      ...await this.#stored(),
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

  async #stored(): Promise<Minute> {
    const { folder } = this.#service;
    const size = (file: string) => Deno.statSync(`${folder}/${file}`).size;
    const { files, parts } = countImageFiles(folder);
    return {
      parts,
      "image files": files,
      "db MiB": size("seller.db") / MIB,
      "wal MiB": size("seller.db-wal") / MIB,
      ...await this.#count(TABLES),
    };
  }

  /**
   * After another kill, and with later work made due, all work is completed,
   * and everything acknowledged exists.
   */
  async settle(): Promise<void> {
    await this.#noteRarePaths();
    await makeDue(this.#processes.store);
    await this.#service.start();
    await this.#check(() => this.#traffic.writers.settle(SETTLE_MS));
    await this.#check(async () => {
      const { stored, failed } = await this.#inspector.checkImages(true);
      for (const [code, n] of failed) {
        console.log(`failed images: ${n} ${code}`);
      }
      const found = countImageFiles(this.#service.folder);
      assertEquals(found, { files: stored, parts: 0 }, "image files");
    });
    this.#printSums();
  }

  async #check(rule: () => Promise<void>): Promise<void> {
    try {
      await rule();
    } catch (error) {
      this.#problems.push((error as Error).message);
    }
  }

  /** Records the rare paths that the last process reports, and kills it. */
  async #noteRarePaths(): Promise<void> {
    const [metrics] = await this.#processes.metrics();
    sometimesMeasured(metrics);
    const log = await this.#service.kill();
    sometimesLogged(
      log.split("\n").filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line)),
    );
  }

  #printSums(): void {
    const { tally, backups, writers: { sellers, sink } } = this.#traffic;
    for (const line of tally.lines()) console.log(line);
    for (const line of ranges(this.#minutes)) console.log(line);
    const sum = (kind: "uploaders" | "setters" | "emitters") =>
      count(sellers.flatMap((seller): readonly Writer[] => seller[kind]));
    console.log(
      `acknowledged: ${sum("uploaders")} uploads, ` +
        `${sum("setters")} attribute updates, ` +
        `${sum("emitters")} events; ${backups} backups; ` +
        `${sink.received.length} deliveries arrived`,
    );
  }

  findings(): Findings {
    const { violations, load } = this.#traffic.tally;
    const lines = (counts: ReadonlyMap<string, number>) =>
      Array.from(counts, ([what, n]) => `${n} times ${what}`);
    return {
      problems: [
        ...this.#problems,
        ...this.#processes.suicides,
        ...lines(violations),
        ...findGrowth(this.#minutes),
      ],
      load: [...this.#load, ...lines(load)],
    };
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
