/** Sets the stage for a world: a machine, a network, processes, and faults. */
import { DatabaseSync } from "node:sqlite";
import { databaseFile } from "../../src/database/open.ts";
import { guarded } from "../../src/database/sqlite/errors.ts";
import { isBusy } from "../../src/database/sqlite/lock_wait.ts";
import { imageFile, type StoredFile } from "../../src/images/image.ts";
import { testConfig } from "../support/config.ts";
import { Backup } from "./backup.ts";
import type { DataFolders } from "./data_folders.ts";
import { databaseFaults } from "./database_faults.ts";
import type { Fault } from "./fault.ts";
import { ImageHosts, type ImageRequest } from "./image_hosts.ts";
import { SimulatedStore } from "./image_store.ts";
import { FetchesInProgress, ImageWorkers } from "./image_workers.ts";
import type { Kernel } from "./kernel.ts";
import { Machine } from "./machine.ts";
import { SimulatedMailServer, type TakenMail } from "./mail_server.ts";
import { Network } from "./network.ts";
import {
  NOTICES_SECRET,
  OPERATOR_HOST,
  OperatorEndpoint,
  type ToOperator,
} from "./operator_endpoint.ts";
import { type Life, Process } from "./process.ts";
import { Reader } from "./reader.ts";
import type { SimulatedProcess } from "./scheduler.ts";
import { type Receipt, WebhookEndpoints } from "./webhook_endpoints.ts";
import type { Stage } from "./world/stage.ts";
import type { ProcessPlan, World } from "./world/world.ts";

/** Settings of a service that sends notices to its operator. */
const TELLING = {
  noticesUrl: `http://${OPERATOR_HOST}/notices`,
  noticesSecret: NOTICES_SECRET,
  publicUrl: "https://sell.example",
};

/** Between two looks whether a process has a write in progress. */
const LOCKED_MS = 5;

export class SimulatedStage implements Stage, Disposable {
  readonly scheduler: Kernel;
  readonly machine: Machine;
  readonly processes: readonly Process[];
  readonly faults: readonly Fault[];
  readonly #world: World;
  readonly #network: Network;
  readonly #store: SimulatedStore;
  #reader: Reader | null = null;
  readonly #endpoints = new WebhookEndpoints();
  readonly #hosts = new ImageHosts();
  readonly #mail: SimulatedMailServer;
  readonly #operator = new OperatorEndpoint();
  readonly #fetches = new FetchesInProgress();
  /** Image workers by process. */
  readonly #workers = new Map<string, ImageWorkers>();

  constructor(kernel: Kernel, folders: DataFolders, world: World) {
    this.scheduler = kernel;
    this.machine = new Machine(kernel, folders, world);
    this.#world = world;
    const hosts = this.#hosts;
    this.#network = new Network(
      kernel,
      (name) =>
        hosts.find(name) ?? this.#endpoints.find(name) ??
          this.#operator.find(name),
    );
    const isBucket = kernel.random("kind of store").below(3) === 0;
    this.#store = new SimulatedStore(kernel, isBucket ? "bucket" : "folder");
    this.#mail = new SimulatedMailServer(kernel, world.isPrompt);
    const faults: Fault[] = [
      ...(world.notices
        ? [...this.#mail.faults, ...this.#operator.faults]
        : []),
      ...this.#network.faults,
      ...this.#store.faults,
      ...databaseFaults(this.machine),
    ];
    this.processes = world.processes.map((plan) => this.#process(plan, faults));
    this.faults = faults;
  }

  /** Starts every process. */
  async begin(): Promise<void> {
    for (const process of this.processes) await process.start();
  }

  /** Stops every process with SIGTERM. */
  async end(): Promise<void> {
    this.#closeReader();
    for (const process of this.processes) await process.stop();
  }

  now(): number {
    return this.machine.now();
  }

  latest(): number {
    return this.machine.latest();
  }

  wallClock(at: number): number {
    return this.machine.wallClock(at);
  }

  latestWithin(from: number, to: number): number {
    return this.machine.latestWithin(from, to);
  }

  isSetBack(from: number, to: number): boolean {
    return this.machine.moves.some(({ at, ms }) =>
      ms < 0 && at >= from && at <= to
    );
  }

  moveClock(ms: number): void {
    this.machine.moveWallClock(ms);
  }

  imageRequests(): readonly ImageRequest[] {
    return this.#hosts.requests;
  }

  receipts(): readonly Receipt[] {
    return this.#endpoints.receipts;
  }

  mails(): readonly TakenMail[] {
    return this.#mail.taken;
  }

  operatorRequests(): readonly ToOperator[] {
    return this.#operator.requests;
  }

  rows<T = Record<string, unknown>>(
    sql: string,
    ...params: (string | number)[]
  ): T[] {
    this.#reader ??= new Reader(databaseFile(this.machine.dataDir));
    return this.#reader.all(sql, params) as T[];
  }

  async copyRows(
    table: string,
    key: string,
    value: string,
    changes: readonly Readonly<Record<string, string | number>>[],
  ): Promise<void> {
    const file = databaseFile(this.machine.dataDir);
    using database = new DatabaseSync(file, { timeout: 0 });
    await this.#beginWrite(database);
    const [row] = database.prepare(`SELECT * FROM ${table} WHERE ${key} = ?`)
      .all(value);
    const names = Object.keys(row);
    const marks = names.map(() => "?").join(", ");
    const insert = database.prepare(
      `INSERT INTO ${table} (${names.join(", ")}) VALUES (${marks})`,
    );
    for (const change of changes) {
      insert.run(...Object.values({ ...row, ...change }));
    }
    database.exec("COMMIT");
  }

  /** Begins a write as soon as no process has one in progress. */
  async #beginWrite(database: DatabaseSync): Promise<void> {
    for (;;) {
      try {
        return guarded(() => database.exec("BEGIN IMMEDIATE"));
      } catch (error) {
        if (!isBusy(error)) throw error;
        await this.machine.pause(LOCKED_MS);
      }
    }
  }

  writes(): number {
    return this.machine.writes;
  }

  /**
   * Closed so that the last connection of a process to a file closes its log.
   */
  #closeReader(): void {
    this.#reader?.[Symbol.dispose]();
    this.#reader = null;
  }

  backUp(): Promise<Backup> {
    return Backup.make(this.machine);
  }

  leftLeases({ name }: SimulatedProcess): string[] {
    const { leases } = this.#workers.get(name)!;
    const rows = this.rows<{ id: string; lease_id: string }>(
      "SELECT id, lease_id FROM images WHERE lease_id IS NOT NULL",
    );
    return rows.filter((row) => leases.has(row.lease_id)).map(({ id }) => id);
  }

  lostFiles(): string[] {
    return this.#namedFiles("AND state <> 'arriving'")
      .filter((file) => !this.#store.files.has(file));
  }

  strayFiles(): string[] {
    const named = new Set(this.#namedFiles());
    return [...this.#store.files.keys()].filter((file) => !named.has(file));
  }

  #namedFiles(more = ""): string[] {
    return this.rows<StoredFile>(
      `SELECT sha256, type FROM images WHERE sha256 IS NOT NULL ${more}`,
    ).map(imageFile);
  }

  doubles(): FetchesInProgress["doubles"] {
    return this.#fetches.doubles;
  }

  storedImages(): FetchesInProgress["stored"] {
    return this.#fetches.stored;
  }

  hasLostImages(): boolean {
    return this.#store.wasEmptied;
  }

  imageStored(mostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const { awaiting } = this.#fetches;
      const end = () => {
        cancel();
        awaiting.delete(end);
        resolve();
      };
      const cancel = this.scheduler.after(mostMs, end);
      awaiting.add(end);
    });
  }

  killedAt(
    place: string,
    passes: number,
    mostMs: number,
  ): Promise<SimulatedProcess | null> {
    return new Promise((resolve) => {
      const { kills } = this.machine;
      let left = passes;
      const end = (process: SimulatedProcess | null) => {
        cancel();
        kills.delete(place);
        resolve(process);
      };
      const cancel = this.scheduler.after(mostMs, () => end(null));
      kills.set(place, (process) => {
        if (left-- > 0) return;
        this.scheduler.trace(() => `${process.name} is killed at: ${place}`);
        process.kill();
        end(process);
      });
    });
  }

  staysAt(place: string, ms: number, mostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const { stays } = this.machine;
      const end = () => {
        cancel();
        stays.delete(place);
        resolve();
      };
      const cancel = this.scheduler.after(mostMs, end);
      stays.set(place, () => {
        end();
        return ms;
      });
    });
  }

  portions(): Machine["portions"] {
    return this.machine.portions;
  }

  errors(): Machine["errors"] {
    return this.machine.errors;
  }

  releases(): Machine["releases"] {
    return this.machine.releases;
  }

  held(): Readonly<Record<string, number>> {
    const holders = [
      ...this.processes.map((process) => [process.name, process] as const),
      ...[...this.#workers].map(([name, workers]) =>
        [`the image workers of ${name}`, workers] as const
      ),
    ];
    return Object.fromEntries(
      holders.flatMap(([name, holder]) =>
        Object.entries(holder.held())
          // Except connections that are kept for the next request.
          .filter(([what]) => what !== "outbound.idle" && what !== "idle")
          .map(([what, count]) => [`${name}: ${what}`, count])
      ),
    );
  }

  #process({ name, roles }: ProcessPlan, faults: Fault[]): Process {
    const { machine } = this;
    const { settings, operatorKey } = this.#world;
    const workers = new ImageWorkers({
      scheduler: this.scheduler,
      name,
      clock: machine.clock,
      network: this.#network,
      store: this.#store,
      fetches: this.#fetches,
      isPrompt: this.#world.isPrompt,
    });
    this.#workers.set(name, workers);
    const process = new Process({
      name,
      machine,
      config: (dataDir) =>
        testConfig({
          ...settings,
          dataDir,
          operatorKey,
          roles: [...roles],
          allowPrivate: [],
          ...(this.#world.notices && TELLING),
        }),
      app: (life) => this.#options(life, workers),
    });
    if (roles.includes("images")) faults.push(...workers.faults);
    faults.push({
      name: `${name} stands still`,
      of: "ours",
      begin: () => {
        process.stand();
        return () => process.goOn();
      },
    });
    return process;
  }

  #options(life: Life, workers: ImageWorkers) {
    const { clock, enter, name } = life;
    workers.leases.clear();
    life.onEnd(() => {
      this.#closeReader();
      this.#network.cut(name);
      workers.kill();
    });
    return {
      network: this.#network.client(name, enter),
      images: this.#store.open(clock, enter),
      ...(this.#world.notices && { mailer: this.#mail.mailer(life) }),
      imageRole: {
        spawn: (events: Parameters<typeof workers.spawn>[0]) =>
          workers.spawn({
            message: (message) => enter(() => events.message(message)),
            died: (why) => enter(() => events.died(why)),
          }),
      },
    };
  }

  [Symbol.dispose](): void {
    for (const process of this.processes) process.kill();
    this.#closeReader();
    this.machine[Symbol.dispose]();
  }
}
