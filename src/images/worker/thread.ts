/**
 * Keeps one image worker going. Whatever ends it (an error, `Deno.exit`, its
 * memory limit, a hang) is noticed, at the latest by its silence; what it was
 * given is then handed back, and another one is started after a pause.
 */
import { Worker } from "node:worker_threads";
import type { Deps } from "../../deps.ts";
import { isAtDisk, newDiskMark } from "../storage/disk_call.ts";
import type { ImageResult } from "../rows/outcomes.ts";
import type {
  FromImageWorker,
  ImageTask,
  ImageWorkerSettings,
  ToImageWorker,
} from "./messages.ts";

/** Silent for so many beats in a row, a worker counts as dead. */
const MISSED_BEATS = 5;
/** It may take longer to start. */
const MISSED_BEATS_AT_START = 20;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;
/** Having worked for so many beats, a worker counts as sound again. */
const SOUND_BEATS = 30;
const STOP_MS = 2_000;

export interface ImageThreadOptions {
  deps: Pick<Deps, "clock" | "log">;
  settings: Omit<ImageWorkerSettings, "diskMark">;
  /** How often it is asked for a sign of life. */
  beatMs: number;
  /** The worker's module. */
  module: URL;
  /** MiB of its heap; images themselves lie outside it. */
  heapMb: number;
  onResults: (results: ImageResult[]) => void;
  /** It is there, and takes work. */
  onReady: () => void;
  /** It is gone, and with it all that it was given and has not reported. */
  onDeath: () => void;
}

export class ImageThread {
  readonly #options: ImageThreadOptions;
  #diskMark = newDiskMark();
  #worker: Worker | null = null;
  #ready = false;
  #missed = 0;
  #beats = 0;
  #deaths = 0;
  #cancelTimer: () => void = () => {};
  #stopped: (() => void) | null = null;

  constructor(options: ImageThreadOptions) {
    this.#options = options;
  }

  /** Whether it takes work. */
  get ready(): boolean {
    return this.#ready;
  }

  start(): void {
    const { module, settings, heapMb } = this.#options;
    // Not the web's `Worker`, which is the same thread below, because only this
    // one can be given a memory limit: running out of memory in the other ends
    // the whole process.
    const worker = new Worker(module, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    this.#worker = worker;
    this.#missed = 0;
    this.#beats = 0;
    const died = (why: string) => {
      if (this.#worker === worker) this.#died(why);
    };
    worker.on("message", (message: FromImageWorker) => {
      if (this.#worker === worker) this.#heard(message);
    });
    worker.on("error", (error: unknown) => died(String(error)));
    worker.on("messageerror", (error: unknown) => died(String(error)));
    worker.on("exit", (code: number) => died(`it ended with code ${code}`));
    this.#diskMark = newDiskMark();
    const diskMark = this.#diskMark;
    this.#post({ type: "start", settings: { ...settings, diskMark } });
    this.#watch();
  }

  /** Hands work over; only while it is ready. */
  fetch(tasks: ImageTask[]): void {
    if (tasks.length > 0) this.#post({ type: "fetch", tasks });
  }

  /** Ends the worker as if it had died; another one follows. */
  replace(why: string): void {
    if (this.#worker !== null) this.#died(why);
  }

  /**
   * Ends the worker: what is under way is given up, what is done is reported
   * before this resolves.
   */
  async stop(): Promise<void> {
    this.#cancelTimer();
    const worker = this.#worker;
    if (worker === null) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.deps.clock.after(STOP_MS, resolve);
      this.#stopped = () => {
        cancel();
        resolve();
      };
      this.#post({ type: "stop" });
    });
    this.#ready = false;
    this.#worker = null;
    await worker.terminate();
  }

  #post(message: ToImageWorker): void {
    this.#worker?.postMessage(message);
  }

  #heard(message: FromImageWorker): void {
    this.#missed = 0;
    switch (message.type) {
      case "beat":
        if (++this.#beats === SOUND_BEATS) this.#deaths = 0;
        if (this.#ready) return;
        this.#ready = true;
        return this.#options.onReady();
      case "done":
        return this.#options.onResults(message.results);
      case "broken":
        return this.#died(message.error);
      case "stopped":
        return this.#stopped?.();
    }
  }

  /** Counts its silence in beats, so that a pause of this process is one. */
  #watch(): void {
    const { deps, beatMs } = this.#options;
    this.#cancelTimer = deps.clock.after(beatMs, () => {
      const most = this.#ready ? MISSED_BEATS : MISSED_BEATS_AT_START;
      // A disk that stalls would stall the next worker, too.
      if (!isAtDisk(this.#diskMark)) this.#missed++;
      if (this.#missed > most) return this.#died("it gave no sign of life");
      // Asked, because out of memory it may lose its ears and live on.
      this.#post({ type: "ping" });
      this.#watch();
    });
  }

  #died(why: string): void {
    const { deps, onDeath } = this.#options;
    const worker = this.#worker;
    this.#cancelTimer();
    this.#worker = null;
    this.#ready = false;
    worker?.terminate().catch(() => {});
    this.#stopped?.();
    const pause = Math.min(
      FIRST_PAUSE_MS * 2 ** this.#deaths,
      LONGEST_PAUSE_MS,
    );
    this.#deaths++;
    deps.log.error("image_worker_died", { why, restart_in_ms: pause });
    if (this.#stopped === null) {
      this.#cancelTimer = deps.clock.after(pause, () => this.start());
    }
    onDeath();
  }
}
