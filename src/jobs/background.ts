/** The background work of a process, which is stopped at the same time. */
export class Background implements AsyncDisposable {
  readonly #stops: (() => Promise<void>)[] = [];

  defer(stop: () => Promise<void>): void {
    this.#stops.push(stop);
  }

  /**
   * One after the other, the last ones would have no time: a stop is cut off
   * after some seconds. Fails only once all have ended.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    const stops = this.#stops.map((stop) => stop());
    await Promise.allSettled(stops);
    await Promise.all(stops);
  }
}
