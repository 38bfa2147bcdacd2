/** Work that a process does while it serves requests. */
export interface BackgroundWork {
  start(): void;
  /** Called even if `start` was not called. */
  stop(): Promise<void>;
}

/** The background work of a process, all started and stopped at the same time. */
export class Background implements AsyncDisposable {
  readonly #works: BackgroundWork[] = [];

  add(work: BackgroundWork): void {
    this.#works.push(work);
  }

  start(): void {
    for (const work of this.#works) work.start();
  }

  /**
   * Stops all at once: in turn, the last would miss the shutdown limit. Fails only
   * once all have ended.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const stops = this.#works.map((work) => work.stop());
    await Promise.allSettled(stops);
    await Promise.all(stops);
  }
}
