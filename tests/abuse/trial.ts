/** One service, one honest seller, and its attackers. */
import { cpuUsage } from "node:process";
import { BenchHost } from "../bench/service.ts";
import { temporaryFolder } from "../support/process.ts";
import { OPERATOR, Service } from "../processes/service.ts";
import { SqliteStore } from "../processes/store.ts";
import { cpuSecondsOf, cpuSecondsOfAll } from "../support/cpu.ts";
import { residentMiB } from "../support/vitals.ts";
import type {
  Ended,
  FromAttackWorker,
  Orders,
  ToAttackWorker,
} from "./attack_worker.ts";
import { ATTACKS } from "./attacks.ts";
import { type Fare, Honest } from "./honest.ts";
import { pause } from "../support/clock.ts";

/** The most resident memory that the process may have. */
export const MEMORY_MIB = 700;
const WATCH_MS = 200;
const WARM_MS = 1_500;
const ATTACKS_PER_THREAD = 8;

export interface Trial {
  fare: Fare;
  /** The most resident memory that it had. */
  peakMiB: number;
  /** By how many bytes the database grew, and how many were sent to it. */
  grown: number;
  sent: number;
  /** Counts of answers to the attackers, by status. */
  answers: Record<string, number>;
  /** Milliseconds from the end until the service was ready; null: never. */
  readyMs: number | null;
  /** Whether the process survived. */
  alive: boolean;
  /** Cores that the attackers and their hosts used. */
  cores: number;
  /** Cores that unrelated programs used: the attacks are weak then. */
  otherCores: number;
  /**
   * The share of the time in which the service could have run, but had no core.
   */
  withoutCore: number;
}

interface TrialOptions {
  /** How many cores a burner uses; by default none. */
  cores?: number;
  /** Whether the attackers leave the cores to the service; true by default. */
  yields?: boolean;
}

/** Lets the honest seller work for this long beside these attacks, or alone. */
export async function tryAttacks(
  names: readonly string[],
  ms: number,
  { cores = 0, yields = true }: TrialOptions = {},
): Promise<Trial> {
  await using folder = await temporaryFolder();
  await using images = await BenchHost.start();
  const sellers = names.flatMap(sellersOf);
  await using service = await Service.start(folder.path, {
    sellers: ["honest", ...sellers],
    env: { SELLER_LOG: "error" },
  });
  const { url, program, keys } = service;
  const hurried = names.filter((name) => ATTACKS[name].hurried);
  for (const seller of hurried.flatMap(sellersOf)) {
    await hurry(service, seller);
  }
  const honest = new Honest(url, keys.get("honest")!, images.url);
  await honest.prepare();
  await honest.work(WARM_MS);
  using attackers = new Attackers();
  await attackers.prepare({
    url,
    neighbour: images.url,
    yields,
    keys: Object.fromEntries(
      names.map((name) => [
        name,
        sellers.filter((seller) => seller.startsWith(`${name} `))
          .map((seller) => keys.get(seller)!),
      ]),
    ),
  });
  const before = await databaseBytes(folder.path);
  using memory = new PeakMemory(program.pid);
  using _ = new Load(cores);
  const began = performance.now();
  const cpu = cpuUsage();
  const delay = await runDelayMs(program.pid);
  const others = await otherCpuMs(program.pid);
  attackers.begin();
  const fare = await honest.work(ms);
  const took = performance.now() - began;
  const { user, system } = cpuUsage(cpu);
  const waited = await runDelayMs(program.pid) - delay;
  const othersTook = await otherCpuMs(program.pid) - others;
  const { bytesSent, answers } = await attackers.end();
  const readyMs = await untilReady(service);
  return {
    fare,
    peakMiB: memory.peakMiB,
    grown: await databaseBytes(folder.path) - before,
    sent: bytesSent,
    answers,
    readyMs,
    alive: memory.alive,
    cores: (user + system) / 1_000 / took,
    otherCores: othersTook / took,
    withoutCore: waited / took,
  };
}

/** Names of the sellers of an attack. */
function sellersOf(name: string): string[] {
  return Array.from(
    { length: ATTACKS[name].sellers },
    (_, n) => `${name} ${n}`,
  );
}

/** Removes a seller's rate limit. */
async function hurry(service: Service, seller: string): Promise<void> {
  const path = `${encodeURIComponent(seller)}/attribute/rate_limit/0`;
  const { status, text } = await service.ask(`/operator_api/sellers/${path}`, {
    method: "PUT",
    key: OPERATOR,
  });
  if (status !== 204) throw new Error(`rate_limit: ${status} ${text}`);
}

/** Uses this many cores. */
class Load implements Disposable {
  readonly #workers: Worker[];

  constructor(cores: number) {
    const threads = Math.ceil(cores);
    this.#workers = Array.from({ length: threads }, () => {
      const module = new URL("./burner.ts", import.meta.url);
      const worker = new Worker(module, { type: "module" });
      worker.postMessage(cores / threads);
      return worker;
    });
  }

  [Symbol.dispose](): void {
    for (const worker of this.#workers) worker.terminate();
  }
}

/** How long the main thread of a process has waited for a core; 0 if it ended. */
async function runDelayMs(pid: number): Promise<number> {
  try {
    const times = await Deno.readTextFile(`/proc/${pid}/schedstat`);
    return Number(times.split(" ")[1]) / 1_000_000;
  } catch {
    return 0;
  }
}

/** CPU time used on the machine, without this process and the service. */
async function otherCpuMs(service: number): Promise<number> {
  const { user, system } = cpuUsage();
  const all = await cpuSecondsOfAll() - await cpuSecondsOf(service);
  return all * 1_000 - (user + system) / 1_000;
}

/** Lets each of these threads run some of the attacks. */
class Attackers implements Disposable {
  readonly #threads: AttackThread[] = [];

  async prepare({ keys, ...orders }: Orders): Promise<void> {
    const names = Object.keys(keys);
    for (let at = 0; at < names.length; at += ATTACKS_PER_THREAD) {
      const own = names.slice(at, at + ATTACKS_PER_THREAD);
      const thread = new AttackThread();
      this.#threads.push(thread);
      await thread.prepare({
        ...orders,
        keys: Object.fromEntries(own.map((name) => [name, keys[name]])),
      });
    }
  }

  begin(): void {
    for (const thread of this.#threads) thread.begin();
  }

  async end(): Promise<Omit<Ended, "type">> {
    const ends = await Promise.all(this.#threads.map((one) => one.end()));
    const answers: Record<string, number> = {};
    let bytesSent = 0;
    for (const ended of ends) {
      bytesSent += ended.bytesSent;
      for (const [status, n] of Object.entries(ended.answers)) {
        answers[status] = (answers[status] ?? 0) + n;
      }
    }
    return { bytesSent, answers };
  }

  [Symbol.dispose](): void {
    for (const thread of this.#threads) thread[Symbol.dispose]();
  }
}

class AttackThread implements Disposable {
  readonly #worker = new Worker(
    new URL("./attack_worker.ts", import.meta.url),
    { type: "module" },
  );

  async prepare(orders: Orders): Promise<void> {
    this.#tell({ type: "prepare", orders });
    await this.#hear();
  }

  begin(): void {
    this.#tell({ type: "begin" });
  }

  async end(): Promise<Ended> {
    this.#tell({ type: "end" });
    return await this.#hear() as Ended;
  }

  #tell(message: ToAttackWorker): void {
    this.#worker.postMessage(message);
  }

  #hear(): Promise<FromAttackWorker> {
    return new Promise((resolve, reject) => {
      this.#worker.onmessage = ({ data }) => resolve(data);
      this.#worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
    });
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }
}

class PeakMemory implements Disposable {
  peakMiB = 0;
  alive = true;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(pid: number) {
    this.#timer = setInterval(async () => {
      try {
        this.peakMiB = Math.max(this.peakMiB, await residentMiB(pid));
      } catch {
        this.alive = false;
      }
    }, WATCH_MS);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Counts all pages, including those still in the write-ahead log. */
async function databaseBytes(folder: string): Promise<number> {
  const row = await new SqliteStore(folder).read((sql) =>
    sql.get<{ bytes: number }>(
      `SELECT page_count * page_size AS bytes
       FROM pragma_page_count, pragma_page_size`,
    )
  );
  return row!.bytes;
}

async function untilReady(service: Service): Promise<number | null> {
  const began = performance.now();
  while (performance.now() - began < 15_000) {
    const isReady = await service.isReady().catch(() => false);
    if (isReady) return performance.now() - began;
    await pause(100);
  }
  return null;
}
