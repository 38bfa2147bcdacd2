/**
 * Virtual time. Everything in a simulated world happens in an event of the
 * kernel, one after the other; when nothing can run, time advances to the next
 * event.
 */
import { setImmediate } from "node:timers";
import { BinaryHeap } from "@std/data-structures/binary-heap";
import { Random } from "../support/random.ts";
import type { Scheduler } from "./scheduler.ts";

interface Event {
  at: number;
  /** Orders events that are due at the same time. */
  tie: number;
  fn: (() => void) | null;
}

export interface KernelOptions {
  seed: number;
  /** Called with each line of the trace. */
  write?: (line: string) => void;
  /** Virtual milliseconds after which the world is aborted. */
  longestMs?: number;
}

/** Lines of the trace that a failure shows. */
const LAST_LINES = 50;
/** No world takes longer, unless something runs for ever. */
const LONGEST_MS = 4 * 3_600_000;
/** The most events without any progress of time; more mean an endless loop. */
const MOST_AT_ONCE = 100_000;

/** A world that cannot continue. */
export class WorldStuck extends Error {
  override readonly name = "WorldStuck";
}

export class Kernel implements Scheduler {
  readonly seed: number;
  faulty = true;
  #time = 0;
  readonly #queue = new BinaryHeap<Event>(byTime);
  readonly #ties: Random;
  readonly #write: (line: string) => void;
  readonly #longestMs: number;
  readonly #last: string[] = [];
  #digest = 0;
  #events = 0;

  constructor({ seed, write, longestMs = LONGEST_MS }: KernelOptions) {
    this.seed = seed;
    this.#ties = this.random("ties");
    this.#write = write ?? (() => {});
    this.#longestMs = longestMs;
  }

  get time(): number {
    return this.#time;
  }

  /** A number that differs if anything happened at another time. */
  get digest(): number {
    return this.#digest;
  }

  /** How many events have happened. */
  get events(): number {
    return this.#events;
  }

  /** The last lines of the trace. */
  get lastLines(): readonly string[] {
    return this.#last;
  }

  after(ms: number, fn: () => void): () => void {
    const event: Event = {
      at: this.#time + Math.max(0, ms),
      tie: this.#ties.next(),
      fn,
    };
    this.#queue.push(event);
    return () => event.fn = null;
  }

  random(name: string): Random {
    return new Random(hash(name, this.seed));
  }

  trace(line: () => string): void {
    const text = `${(this.#time / 1_000).toFixed(3)} ${line()}`;
    this.#digest = hash(text, this.#digest);
    this.#last.push(text);
    if (this.#last.length > LAST_LINES) this.#last.shift();
    this.#write(text);
  }

  /**
   * Runs the world until `main` has ended; returns its result or throws its
   * error.
   * @throws {WorldStuck} if nothing is left that could happen
   */
  async run<T>(main: Promise<T>): Promise<T> {
    let ended = false;
    const end = () => void (ended = true);
    main.then(end, end);
    let atOnce = 0;
    for (;;) {
      // A real turn of the event loop, after which everything that can run has
      // run.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (ended) return await main;
      const event = this.#next();
      atOnce = event.at > this.#time ? 0 : atOnce + 1;
      if (atOnce > MOST_AT_ONCE) {
        throw new WorldStuck("time stands still: something never ends");
      }
      this.#time = event.at;
      this.#events++;
      this.#digest = mix(this.#digest, event.at * 1_000);
      event.fn!();
    }
  }

  #next(): Event {
    for (;;) {
      const event = this.#queue.pop();
      if (event === undefined) {
        throw new WorldStuck("nothing is left that could happen");
      }
      if (event.at > this.#longestMs) {
        const hours = this.#longestMs / 3_600_000;
        throw new WorldStuck(`the world has not ended after ${hours} h`);
      }
      if (event.fn !== null) return event;
    }
  }
}

function mix(digest: number, value: number): number {
  return Math.imul(digest ^ (value | 0), 0x01000193) + 0x9e3779b9 | 0;
}

/** A 32-bit hash of a text (FNV-1a). */
export function hash(text: string, seed = 0): number {
  let value = (0x811c9dc5 ^ seed) | 0;
  for (let i = 0; i < text.length; i++) {
    value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  }
  return value;
}

/** Orders events by their time. */
function byTime(a: Event, b: Event): number {
  return a.at - b.at || a.tie - b.tie;
}
