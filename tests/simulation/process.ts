/** A process of the service: the real application on a simulated machine. */
import "../support/built.ts";
import type { DatabaseSync } from "node:sqlite";
import { type App, type AppOptions, openApp } from "../../src/app.ts";
import type { Config } from "../../src/config.ts";
import type {
  Clock,
  ConnectSqlite,
  Deps,
  Log,
  LogFields,
} from "../../src/deps.ts";
import type {
  ListenerOptions,
  Listening,
} from "../../src/http/server/listener.ts";
import { RoleLocks } from "../../src/jobs/role_lock.ts";
import type { InUse } from "../../src/lib/holders.ts";
import {
  failingSqlite,
  type SqliteCall,
  type SqliteErrorName,
} from "../support/failing_sqlite.ts";
import type { Random } from "../support/random.ts";
import { sometimesLogged } from "../support/sometimes.ts";
import { ClientConnection, type Server } from "./client.ts";
import { seededIds } from "./ids.ts";
import type { Machine } from "./machine.ts";
import { BrokenRule } from "./world/broken_rule.ts";
import { countVisits, priceOf, SENT_BYTE_MS, SOCKET_BYTES } from "./price.ts";
import type {
  SimulatedAnswer,
  SimulatedProcess,
  SimulatedRequest,
} from "./scheduler.ts";

/** See `src/cli/serve.ts`. */
const CLOSE_LIMIT_MS = 9_000;
/**
 * See `src/http/server/serving.ts`: how long a stop waits for requests in
 * flight.
 */
const DRAIN_MS = 4_000;

/** How long the actions of a process after its stop are observed. */
const LINGERS_MS = 2_000;

/** The end of the name of the place after a portion of a maintenance job. */
const PORTION_DONE = " portion done";

export interface ProcessOptions {
  name: string;
  machine: Machine;
  /** The settings on a data folder. */
  config: (dataDir: string) => Config;
  /** Other simulated parts; called at each start. */
  app?: (life: Life) => AppOptions;
}

export class Process implements SimulatedProcess {
  readonly name: string;
  readonly #options: ProcessOptions;
  #life: Life | null = null;
  #lives = 0;
  #requests = 0;

  constructor(options: ProcessOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get running(): boolean {
    return this.#life?.isOpen ?? false;
  }

  async start(): Promise<void> {
    if (this.#life !== null) throw new Error(`${this.name} runs already`);
    const name = `${this.name} ${++this.#lives}`;
    const life = new Life(this.#options, name, this);
    this.#life = life;
    try {
      await life.open();
    } catch (error) {
      if (this.#life === life) this.#life = null;
      life.end();
      throw error;
    }
  }

  request(request: SimulatedRequest): Promise<SimulatedAnswer | null> {
    const { kernel } = this.#options.machine;
    const life = this.#life;
    return new Promise((resolve) => {
      if (life === null) return void kernel.after(1, () => resolve(null));
      const random = kernel.random(`${this.name} client ${++this.#requests}`);
      life.connect(request, random, resolve);
    });
  }

  kill(): void {
    const life = this.#life;
    this.#life = null;
    life?.kill();
  }

  async stop(): Promise<void> {
    const life = this.#life;
    if (life === null) return;
    await life.close();
    if (this.#life === life) this.#life = null;
  }

  /** What the process has in use; empty if it does not run. */
  held(): InUse {
    return this.#life?.held() ?? {};
  }

  /**
   * The process stands still until it continues, as with SIGSTOP and SIGCONT.
   */
  stand(): void {
    this.#life?.stand();
  }

  goOn(): void {
    this.#life?.goOn();
  }
}

/**
 * The error for a process that would continue for a few steps after its end,
 * which no real program does.
 */
export class ProcessEnded extends Error {
  /** Whether an error is a `ProcessEnded`, or was caused by one. */
  static causes(error: unknown): boolean {
    return error instanceof ProcessEnded ||
      error instanceof Error && ProcessEnded.causes(error.cause);
  }
}

/** One life of a process, from its start to its end. */
export class Life implements Server {
  readonly name: string;
  readonly #process: Process | null;
  readonly #machine: Machine;
  readonly #options: ProcessOptions;
  readonly #random: Random;
  /** Used only for delays of commits, so that nothing else depends on them. */
  readonly #commits: Random;
  readonly #ended = Promise.withResolvers<never>();
  readonly #clients = new Set<ClientConnection>();
  readonly #connections = new Set<DatabaseSync>();
  readonly #connect: ConnectSqlite;
  /** Rows that the current statement has visited. */
  #visits = 0;
  /** Calls that wait until the process can run again. */
  readonly #held: (() => void)[] = [];
  readonly #places = new Map<string, Delays>();
  #busyUntil = 0;
  #stands = false;
  readonly #ending: (() => void)[] = [];
  #cancelLetIn = () => {};
  #isAlive = true;
  /** Whether its stop has ended; any later action is a mistake. */
  #hasClosed = false;
  /**
   * Virtual milliseconds until which actions begun before the stop are
   * observed.
   */
  #lingersUntil = 0;
  #app: App | null = null;
  #closing: Promise<void> | null = null;
  #locks: RoleLocks | null = null;
  #handler: Deno.ServeHandler | null = null;
  /** How many requests have unsent answers. */
  #sending = 0;
  #idle: (() => void) | null = null;

  /** @param process the process to kill at a place of the source */
  constructor(
    options: ProcessOptions,
    name: string,
    process: Process | null = null,
  ) {
    this.name = name;
    this.#process = process;
    this.#options = options;
    this.#machine = options.machine;
    this.#random = this.#machine.kernel.random(`life of ${name}`);
    this.#commits = this.#machine.kernel.random(`commits of ${name}`);
    this.#ended.promise.catch(() => {});
    const ran = (call: SqliteCall, answer: unknown) => {
      this.#workFor(priceOf(call, answer, this.#visits));
      this.#visits = 0;
    };
    this.#connect = failingSqlite(
      (call) => this.#fails(call),
      this.#machine.isPriced ? ran : undefined,
    );
  }

  #fails(call: SqliteCall): SqliteErrorName | null {
    if (!this.#isAlive && call.method !== "close") {
      if (this.#hasClosed) {
        const words = `${this.name} uses the database after its stop`;
        this.#machine.fail(new BrokenRule("empty", words, call.sql));
      }
      throw this.#hasEnded();
    }
    if (call.method === "isTransaction") return null;
    if (!call.readOnly) this.#machine.writes++;
    return this.#machine.failSqlite(call);
  }

  get isOpen(): boolean {
    return this.#isAlive && this.#app !== null;
  }

  get accepts(): boolean {
    return this.#isAlive && this.#handler !== null;
  }

  async open(): Promise<void> {
    const { app = () => ({}) } = this.#options;
    const { dataDir } = this.#machine;
    this.#locks = new RoleLocks(dataDir);
    const opening = openApp(this.#options.config(dataDir), this.deps, {
      locks: this.#locks,
      listen: (options) => this.#listen(options),
      ...app(this),
    });
    this.#app = await Promise.race([opening, this.#ended.promise]);
  }

  held(): InUse {
    return this.#app?.holders.inUse() ?? {};
  }

  /** Opens a client's connection. */
  connect(
    request: SimulatedRequest,
    random: Random,
    resolve: (answer: SimulatedAnswer | null) => void,
  ): void {
    const { kernel, isPriced, pace: { latencyMs } } = this.#machine;
    const socketBytes = isPriced ? SOCKET_BYTES : undefined;
    const client = new ClientConnection(
      this,
      kernel,
      { request, random, latencyMs, socketBytes },
      (answer) => {
        this.#clients.delete(client);
        resolve(answer);
      },
    );
    this.#clients.add(client);
    client.begin();
  }

  /** SIGTERM; a second one has no effect. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    const { kernel } = this.#machine;
    this.#log("info", "stopping");
    const cancel = kernel.after(CLOSE_LIMIT_MS, () => {
      if (!this.#isAlive) return;
      // The process ends by itself then, which only a fault may cause.
      if (kernel.faulty) return this.kill();
      this.#machine.fail(new Error(`${this.name} did not close in time`));
    });
    const begun = kernel.time;
    const app = this.#app;
    const closing = app === null ? Promise.resolve() : app.close();
    await Promise.race([closing, this.#ended.promise]).catch((error) => {
      if (this.#isAlive) throw error;
    });
    cancel();
    if (!this.#isAlive) return;
    // Also requests whose clients have left.
    const handling = this.held()["requests.handling"] ?? 0;
    const inProgress = this.#sending + handling;
    if (inProgress > 0 && kernel.time < begun + DRAIN_MS) {
      this.#machine.fail(new Error(`${this.name} drops requests in flight`));
    }
    this.#log("info", "stopped");
    // The program exits in the middle of its start.
    if (app === null) return this.end();
    this.#hasClosed = true;
    // Requests that take longer than the stop waits end with the process.
    if (inProgress === 0) this.#lingersUntil = kernel.time + LINGERS_MS;
    this.end();
  }

  /** SIGKILL. */
  kill(): void {
    this.#isAlive = false;
    this.#machine.crashed(this.#connections, () => this.end());
  }

  /** Nothing of the process happens any more. */
  end(): void {
    this.#isAlive = false;
    this.#held.length = 0;
    this.#locks?.close();
    for (const fn of this.#ending) fn();
    for (const connection of this.#connections) this.#disconnect(connection);
    for (const client of [...this.#clients]) client.cut();
    this.#ended.reject(this.#hasEnded());
  }

  #hasEnded(): ProcessEnded {
    return new ProcessEnded(`${this.name} has ended`);
  }

  /** Calls `fn` when the process has ended, in any way. */
  readonly onEnd = (fn: () => void): void => void this.#ending.push(fn);

  stand(): void {
    this.#stands = true;
  }

  goOn(): void {
    this.#stands = false;
    if (this.#held.length > 0) this.#letIn();
  }

  /** Calls `fn` in this process: now, when it can run again, or never. */
  readonly enter = (fn: () => void): void => {
    const { time } = this.#machine.kernel;
    if (!this.#isAlive) return time < this.#lingersUntil ? fn() : undefined;
    const isFree = !this.#stands && time >= this.#busyUntil;
    if (this.#held.length === 0 && isFree) return fn();
    this.#held.push(fn);
    if (this.#held.length === 1) this.#letIn();
  };

  /** Runs held calls in order, one in each event. */
  #letIn(): void {
    const { kernel } = this.#machine;
    this.#cancelLetIn();
    this.#cancelLetIn = kernel.after(this.#busyUntil - kernel.time, () => {
      if (!this.#isAlive || this.#stands) return;
      if (kernel.time >= this.#busyUntil) {
        this.#held[0]();
        this.#held.shift();
      }
      if (this.#held.length > 0) this.#letIn();
    });
  }

  handle(request: Request, info: Deno.ServeHandlerInfo): Promise<Response> {
    this.#sending++;
    return Promise.resolve(this.#handler!(request, info));
  }

  sent(): void {
    if (!this.#isAlive) return;
    this.#sending--;
    if (this.#sending === 0) this.#idle?.();
  }

  #listen({ handler, hostname, port }: ListenerOptions): Listening {
    this.#handler = handler;
    return {
      address: { hostname, port },
      close: () =>
        new Promise((resolve) => {
          this.#handler = null;
          this.#idle = resolve;
          if (this.#sending === 0) resolve();
        }),
    };
  }

  /** The clock of the process; timers fire a little late, as real ones do. */
  readonly clock: Clock = {
    now: () => this.#machine.now(),
    monotonic: () => this.#monotonic(),
    after: (ms, fn) => this.#after(ms + this.#lateness(), fn),
  };

  #monotonic(): number {
    const { time } = this.#machine.kernel;
    const { workMs } = this.#machine.pace;
    if (workMs > 0 && this.#random.below(8) === 0) this.#work(workMs);
    return Math.max(time, this.#busyUntil);
  }

  /** Keeps the process busy for a while, up to this time. */
  #work(mostMs: number): void {
    this.#workFor(mostMs * this.#random.next() ** 4);
  }

  #workFor(ms: number): void {
    const { time } = this.#machine.kernel;
    this.#busyUntil = Math.max(this.#busyUntil, time) + ms;
  }

  /** Counts the bytes of a request or answer, which take time. */
  passed(bytes: number): void {
    if (this.#machine.isPriced) this.#workFor(bytes * SENT_BYTE_MS);
  }

  #after(ms: number, fn: () => void): () => void {
    let isCancelled = false;
    const run = () => {
      if (!isCancelled) fn();
    };
    const cancel = this.#machine.kernel.after(ms, () => this.enter(run));
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  #lateness(): number {
    return this.#random.below(16) === 0
      ? this.#random.next() * 12
      : this.#random.next();
  }

  /** A turn of the event loop takes long if much has to run. */
  #turnMs(): number {
    return this.#random.next() ** 3 * this.#machine.pace.turnMs;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#after(ms, resolve));
  }

  #note(place: string): void {
    if (!this.#isAlive || !place.endsWith(PORTION_DONE)) return;
    const { portions, kernel: { time: at } } = this.#machine;
    const job = place.slice(0, -PORTION_DONE.length);
    portions.push({ job, life: this.name, at });
  }

  /** Places at which a world takes longer differ between worlds. */
  #maybe(place: string, random = this.#random): Promise<void> {
    this.#note(place);
    const kill = this.#machine.kills.get(place);
    if (kill !== undefined && this.#process !== null && this.#isAlive) {
      kill(this.#process);
      if (!this.#isAlive) return new Promise(() => {});
    }
    const stay = this.#machine.stays.get(place);
    if (stay !== undefined && this.#isAlive) return this.#pause(stay());
    const delays = this.#places.get(place) ?? this.#delaysAt(place);
    this.#places.set(place, delays);
    const isDelayed = random.next() < delays.share &&
      this.#machine.kernel.faulty;
    return isDelayed
      ? this.#pause(delays.mostMs * random.next() ** 2)
      : Promise.resolve();
  }

  #delaysAt(place: string): Delays {
    if (this.#machine.isPrompt) {
      return { share: place === "statement of a read" ? 0 : 0.3, mostMs: 3 };
    }
    const random = this.#machine.kernel.random(`place ${place}`);
    // Reads wait for each other, so a longer pause would stop all of them.
    if (place === "statement of a read") {
      const isAlways = random.below(6) === 0;
      const share = isAlways ? 1 : random.next() ** 4;
      return { share, mostMs: 20 * random.next() ** 2 };
    }
    // Late commits slow down all writes, so that a world does less.
    const isPrompt = place === "commit"
      ? random.below(8) !== 0
      : random.below(2) === 0;
    return isPrompt
      ? { share: 0, mostMs: 0 }
      : { share: random.next() ** 2, mostMs: 10 ** (random.next() * 3) };
  }

  get deps(): Deps {
    const { clock } = this;
    const random = this.#machine.kernel.random(`ids of ${this.name}`);
    return {
      clock,
      ids: seededIds(random, clock),
      log: this.#newLog(),
      disk: {
        extend: (file, bytes) => {
          if (Deno.statSync(file).size < bytes) Deno.truncateSync(file, bytes);
          return Promise.resolve();
        },
        free: () => Promise.resolve(1e12),
        freeShare: () => Promise.resolve(0.5),
      },
      yieldToIo: () => this.#pause(this.#turnMs()),
      nextTurn: () => this.#pause(this.#turnMs()),
      maybe: (place) => this.#maybe(place),
      beforeCommit: () => this.#beforeCommit(),
      changesNothing: () => this.#machine.changesNothing(),
      connectSqlite: (...args) => this.#connectTo(...args),
    };
  }

  async #beforeCommit(): Promise<void> {
    this.#work(this.#machine.pace.commitMs);
    await this.#maybe("commit", this.#commits);
    for (const hook of this.#machine.committing) {
      const waiting = hook();
      if (waiting === undefined) continue;
      await new Promise<void>((resolve, reject) =>
        waiting.then(
          () => this.enter(resolve),
          (error) => this.enter(() => reject(error)),
        )
      );
    }
  }

  #connectTo(...args: Parameters<ConnectSqlite>): DatabaseSync {
    const connection = this.#connect(...args);
    const [, { readOnly }] = args;
    if (this.#machine.isPriced && readOnly) {
      countVisits(connection, () => this.#visits++);
    }
    this.#connections.add(connection);
    this.#machine.connections.add(connection);
    for (const hook of this.#machine.connected) hook(connection);
    return connection;
  }

  #disconnect(connection: DatabaseSync): void {
    this.#machine.connections.delete(connection);
    if (connection.isOpen) connection.close();
  }

  #newLog(): Log {
    const at = (level: "error" | "warn" | "info") =>
    (
      event: string,
      fields: LogFields = {},
    ) => this.#log(level, event, fields);
    return {
      error: at("error"),
      warn: at("warn"),
      info: at("info"),
      debug: () => {},
      enabled: (level) => level !== "debug",
    };
  }

  #log(level: string, event: string, fields: LogFields = {}): void {
    const { kernel, errors, releases, dataDir } = this.#machine;
    kernel.trace(() => {
      const text = JSON.stringify(fields).replaceAll(dataDir, "<data>");
      return `${this.name} logs ${level} ${event} ${text}`;
    });
    sometimesLogged([{ event }]);
    if (this.#hasClosed) {
      const words = `${this.name} goes on after its stop`;
      this.#machine.fail(new BrokenRule("empty", words, { event, fields }));
    }
    const line = { process: this.name, event, fields, at: kernel.time };
    if (level === "error") errors.push(line);
    else if (event === "leases_released") releases.push(line);
  }
}

interface Delays {
  share: number;
  mostMs: number;
}
