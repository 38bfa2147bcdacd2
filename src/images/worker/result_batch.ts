/**
 * Sends results to the main thread in batches, because each message costs the
 * main thread a read of the queue and a commit.
 */
import type { Clock } from "../../deps.ts";
import type { FetchedImage } from "../rows/outcomes.ts";

/** A result waits no longer than this. */
const GATHER_MS = 10;
/**
 * The results of a full batch: half of the downloads that an origin gets at
 * once (`limits.ts`). The other half keeps the host busy until the next
 * downloads arrive.
 */
const GATHER = 32;

/** Sends a batch when it is full, when it is old, or when no job is left. */
export class ResultBatch {
  readonly #clock: Pick<Clock, "after">;
  readonly #send: (results: FetchedImage[]) => void;
  #results: FetchedImage[] = [];
  /** Jobs without a result. */
  #open = 0;
  #cancel: (() => void) | null = null;

  constructor(
    clock: Pick<Clock, "after">,
    send: (results: FetchedImage[]) => void,
  ) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Counts jobs that begin; each ends with a result. */
  expect(jobs: number): void {
    this.#open += jobs;
  }

  add(result: FetchedImage): void {
    this.#results.push(result);
    this.#open--;
    if (this.#open <= 0 || this.#results.length >= GATHER) this.flush();
    else this.#cancel ??= this.#clock.after(GATHER_MS, () => this.flush());
  }

  /** Sends the results so far, if there are any. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#results.length > 0) this.#send(this.#results);
    this.#results = [];
  }
}
