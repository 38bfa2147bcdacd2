/**
 * The image workers of one simulated process: the real code, in this thread,
 * behind a channel with delays. A worker may die, hang, stall at the disk,
 * become deaf, or run out of memory while it inspects an image.
 */
import type { Clock } from "../../src/deps.ts";
import type { ImageStore } from "../../src/images/storage/blob_store.ts";
import { ImageWorker } from "../../src/images/worker/image_worker.ts";
import { marked } from "../../src/images/worker/job_mark.ts";
import type {
  FromImageWorker,
  ImageTask,
  ImageWorkerSettings,
  ToImageWorker,
} from "../../src/images/worker/messages.ts";
import type {
  SpawnedWorker,
  WorkerEvents,
} from "../../src/images/worker/spawn.ts";
import type { InUse } from "../../src/lib/holders.ts";
import type { Random } from "../support/random.ts";
import type { Fault } from "./fault.ts";
import { type Enter, Gate } from "./gate.ts";
import type { SimulatedStore } from "./image_store.ts";
import type { Network } from "./network.ts";
import type { Scheduler } from "./scheduler.ts";

export interface ImageWorkersOptions {
  scheduler: Scheduler;
  /** The name of the process in the network. */
  name: string;
  /** The clock of the process. */
  clock: Clock;
  network: Network;
  store: SimulatedStore;
  /** The fetches of all workers of a world; by default only of this process. */
  fetches?: FetchesInProgress;
  /** Passes messages to the process. */
  enter?: Enter;
  /** Whether nothing takes longer than necessary; by default it may. */
  isPrompt?: boolean;
}

/** Records which worker is fetching which image. */
export class FetchesInProgress {
  /** Images that were being fetched when another worker began to fetch them. */
  readonly doubles: { url: string; at: number }[] = [];
  /**
   * Ids of images that were stored, for which process, and when it was told.
   */
  readonly stored: { id: string; process: string; at: number }[] = [];
  /** Called when the next image is stored. */
  readonly awaiting = new Set<() => void>();
  /** By image id. */
  readonly #workers = new Map<string, { lease: string; worker: object }>();

  begin(
    worker: object,
    { id, lease, url }: Pick<ImageTask, "id" | "lease" | "url">,
    at: number,
  ): void {
    const other = this.#workers.get(id)?.worker ?? worker;
    if (other !== worker) this.doubles.push({ url, at });
    this.#workers.set(id, { lease, worker });
  }

  end(lease: string): void {
    for (const [id, one] of this.#workers) {
      if (one.lease === lease) this.#workers.delete(id);
    }
  }

  /** The worker has stopped working. */
  endAll(worker: object): void {
    for (const [id, one] of this.#workers) {
      if (one.worker === worker) this.#workers.delete(id);
    }
  }
}

/** What may happen to a worker. */
const AILMENTS = {
  die: "the image worker dies",
  hang: "the image worker hangs",
  disk: "the image worker waits for the disk",
  deaf: "the image worker hears nothing",
  memory: "the image worker runs out of memory amid an image",
  slow: "the channel to the image worker is slow",
};
type Ailment = keyof typeof AILMENTS;

/** The longest time of a message, unless the channel is slow. */
const CHANNEL_MS = 4;
const SLOW_MS = 800;
/** The longest start of a worker, and in a world where all is prompt. */
const START_MS = 300;
const PROMPT_START_MS = 10;

/**
 * The images of a world at which a worker has run out of memory. That happens
 * once for each image, because the second time counts as the image's fault.
 */
const exhausting = new WeakMap<Scheduler, Set<string>>();

export class ImageWorkers {
  readonly faults: readonly Fault[];
  readonly options: ImageWorkersOptions;
  readonly random: Random;
  readonly fetches: FetchesInProgress;
  /** Leases that its workers have received since the process began. */
  readonly leases = new Set<string>();
  readonly #workers = new Set<SimulatedWorker>();
  readonly #ailing = new Set<Ailment>();
  #spawned = 0;

  constructor(options: ImageWorkersOptions) {
    const { scheduler, name } = options;
    this.options = options;
    this.fetches = options.fetches ?? new FetchesInProgress();
    this.random = scheduler.random(`image workers of ${name}`);
    this.faults = Object.entries(AILMENTS).map(([ailment, words]) => ({
      name: `${words} (${name})`,
      of: "ours",
      begin: () => this.#begin(ailment as Ailment),
    }));
  }

  /** A `SpawnWorker`. */
  readonly spawn = (events: WorkerEvents): SpawnedWorker => {
    const number = ++this.#spawned;
    const worker = new SimulatedWorker(this, number, events);
    this.#workers.add(worker);
    worker.ended.then(() => this.#workers.delete(worker));
    return worker;
  };

  /** Kills the threads together with the process. */
  kill(): void {
    for (const worker of this.#workers) worker.kill();
    this.#workers.clear();
  }

  /** How many threads run. */
  get running(): number {
    return this.#workers.size;
  }

  /** What the workers have in use; all zero if nothing is in progress. */
  held(): InUse {
    const all: Record<string, number> = {};
    for (const worker of this.#workers) {
      for (const [what, count] of Object.entries(worker.held())) {
        if (count !== 0) all[what] = (all[what] ?? 0) + count;
      }
    }
    return all;
  }

  has(ailment: Ailment): boolean {
    return this.options.scheduler.faulty && this.#ailing.has(ailment);
  }

  #begin(ailment: Ailment): () => void {
    this.#ailing.add(ailment);
    if (this.has(ailment)) {
      for (const worker of this.#workers) worker.suffer(ailment);
    }
    return () => {
      this.#ailing.delete(ailment);
      for (const worker of this.#workers) worker.recover(ailment);
    };
  }
}

class SimulatedWorker implements SpawnedWorker {
  readonly ended: Promise<void>;
  readonly #end: () => void;
  readonly #workers: ImageWorkers;
  readonly #name: string;
  /** The gate to the worker's thread. */
  readonly #gate = new Gate();
  readonly #events: WorkerEvents;
  readonly #toWorker: Channel<ToImageWorker>;
  readonly #toMain: Channel<FromImageWorker | { died: string }>;
  readonly #worker: ImageWorker;
  /** The image of each job, by lease. */
  readonly #images = new Map<string, string>();
  #settings: ImageWorkerSettings | null = null;
  /** Why the worker hangs; null if it does not. */
  #hangs: "hang" | "disk" | null = null;
  #isDeaf = false;
  #isTerminated = false;

  constructor(workers: ImageWorkers, number: number, events: WorkerEvents) {
    const { scheduler, name, clock, network, isPrompt } = workers.options;
    const ended = Promise.withResolvers<void>();
    this.ended = ended.promise;
    this.#end = ended.resolve;
    this.#workers = workers;
    this.#events = events;
    this.#name = `${name}/worker-${number}`;
    const delay = (most: number) => () =>
      1 + workers.random.below(workers.has("slow") ? SLOW_MS : most);
    this.#toWorker = new Channel(
      scheduler,
      delay(CHANNEL_MS),
      (message) => this.#gate.enter(() => this.#receive(message)),
    );
    this.#toMain = new Channel(
      scheduler,
      delay(CHANNEL_MS),
      (message) => this.#tell(message),
    );
    const starting = workers.random.below(
      isPrompt ? PROMPT_START_MS : START_MS,
    );
    this.#toWorker.holdFor(starting);
    const inThread = this.#gate.clock(clock);
    this.#worker = new ImageWorker({
      clock: inThread,
      network: network.client(this.#name, this.#gate.enter),
      openStore: (settings) => this.#open(settings, inThread),
      post: (message) => this.#report(message),
    });
  }

  /** See `ImageWorker`. */
  held(): InUse {
    return this.#worker.inUse();
  }

  post(message: ToImageWorker): void {
    this.#toWorker.send(copied(message));
  }

  #report(message: FromImageWorker): void {
    if (message.type === "done") {
      const { fetches, options: { scheduler, name } } = this.#workers;
      for (const { lease, outcome } of message.results) {
        fetches.end(lease);
        const id = this.#images.get(lease);
        if (outcome.kind !== "stored" || id === undefined) continue;
        fetches.stored.push({ id, process: name, at: scheduler.time });
        for (const tell of fetches.awaiting) scheduler.after(0, tell);
        fetches.awaiting.clear();
      }
    }
    this.#toMain.send(copied(message));
  }

  /** A thread that hangs continues to hang. */
  terminate(): void {
    if (this.#isTerminated) return;
    this.#isTerminated = true;
    this.#toMain.close();
    if (this.#hangs !== "hang") this.#finish();
  }

  /** The process is dead, so no message is sent. */
  kill(): void {
    this.#toMain.close();
    this.#close();
    this.#workers.options.network.cut(this.#name);
  }

  suffer(ailment: Ailment): void {
    if (this.#gate.isClosed) return;
    this.#trace(() => AILMENTS[ailment]);
    switch (ailment) {
      case "die":
        return this.#die();
      case "hang":
      case "disk":
        this.#hangs = ailment;
        this.#gate.hold();
        return this.#markDisk(ailment === "disk" ? 1 : 0);
      case "deaf":
        this.#isDeaf = true;
    }
  }

  /** A worker that is deaf, or ran out of memory, does not recover. */
  recover(ailment: Ailment): void {
    if (this.#hangs !== ailment) return;
    this.#hangs = null;
    this.#markDisk(0);
    if (this.#isTerminated) return this.#finish();
    this.#gate.release();
  }

  #receive(message: ToImageWorker): void {
    if (this.#isDeaf) return;
    if (message.type === "start") this.#settings = message.settings;
    if (message.type === "fetch") {
      const { scheduler } = this.#workers.options;
      for (const task of message.tasks) {
        this.#images.set(task.lease, task.id);
        this.#workers.leases.add(task.lease);
        this.#workers.fetches.begin(this, task, scheduler.time);
      }
    }
    this.#worker.receive(message);
  }

  #tell(message: FromImageWorker | { died: string }): void {
    const { enter = (fn) => fn() } = this.#workers.options;
    enter(() => {
      if ("died" in message) this.#events.died(message.died);
      else this.#events.message(message);
    });
  }

  /** Messages that it has already sent may still arrive. */
  #die(): void {
    const { random } = this.#workers;
    const died = random.below(2) === 0
      ? `it ended with code ${1 + random.below(9)}`
      : "Error: on purpose";
    if (random.below(2) === 0) this.#toMain.drop();
    this.#toMain.send({ died });
    this.#close();
    this.#workers.options.network.cut(this.#name);
  }

  #close(): void {
    this.#gate.close();
    this.#workers.fetches.endAll(this);
  }

  #finish(): void {
    this.#close();
    this.#workers.options.network.cut(this.#name);
    const { scheduler } = this.#workers.options;
    scheduler.after(1 + this.#workers.random.below(CHANNEL_MS), this.#end);
  }

  #markDisk(flag: 0 | 1): void {
    if (this.#settings === null) return;
    Atomics.store(new Int32Array(this.#settings.diskFlag), 0, flag);
  }

  #open(settings: ImageWorkerSettings, clock: Clock): ImageStore {
    const store = this.#workers.options.store.open(clock, this.#gate.enter);
    const receive = store.receive.bind(store);
    store.receive = (lease) => {
      const incoming = receive(lease);
      const content = incoming.content.bind(incoming);
      incoming.content = () => {
        if (this.#runsOut(lease)) {
          this.#stopAmid(settings, lease);
          incoming.keep = () => new Promise(() => {});
        }
        return content();
      };
      return incoming;
    };
    return store;
  }

  #runsOut(lease: string): boolean {
    const id = this.#images.get(lease);
    if (id === undefined || !this.#workers.has("memory")) return false;
    const { scheduler } = this.#workers.options;
    const images = exhausting.get(scheduler) ?? new Set();
    if (images.has(id)) return false;
    exhausting.set(scheduler, images.add(id));
    return true;
  }

  /**
   * If memory runs out, a thread stops while inspecting an image and skips its
   * `finally` blocks. It then dies, or lives on and either reports that or no
   * longer receives messages.
   */
  #stopAmid({ jobMark }: ImageWorkerSettings, lease: string): void {
    this.#trace(() => "out of memory");
    const mark = marked(jobMark, lease, () => new Uint8Array(jobMark).slice());
    new Uint8Array(jobMark).set(mark);
    const { random } = this.#workers;
    if (random.below(2) === 0) this.#die();
    else this.#isDeaf = random.below(2) === 0;
  }

  #trace(words: () => string): void {
    this.#workers.options.scheduler.trace(() => `${this.#name}: ${words()}`);
  }
}

/** Delivers messages in order, each after a delay. */
class Channel<Message> {
  readonly #scheduler: Scheduler;
  readonly #delay: () => number;
  readonly #deliver: (message: Message) => void;
  #sent: Message[] = [];
  #isClosed = false;
  /** The next message is not delivered before this time. */
  #from = 0;

  constructor(
    scheduler: Scheduler,
    delay: () => number,
    deliver: (message: Message) => void,
  ) {
    this.#scheduler = scheduler;
    this.#delay = delay;
    this.#deliver = deliver;
  }

  send(message: Message): void {
    if (this.#isClosed) return;
    this.#sent.push(message);
    const hold = Math.max(0, this.#from - this.#scheduler.time);
    this.#scheduler.after(hold + this.#delay(), () => {
      const [first] = this.#sent.splice(0, 1);
      if (first !== undefined && !this.#isClosed) this.#deliver(first);
    });
  }

  holdFor(ms: number): void {
    this.#from = this.#scheduler.time + ms;
  }

  /** Drops messages in transit. */
  drop(): void {
    this.#sent = [];
  }

  close(): void {
    this.#isClosed = true;
  }
}

/**
 * Copies a message, as sending it to another thread does, because the sender
 * keeps some of its objects.
 */
function copied<Message extends { type: string }>(message: Message): Message {
  const isShared = message.type === "fetch" || message.type === "done";
  return isShared ? structuredClone(message) : message;
}
