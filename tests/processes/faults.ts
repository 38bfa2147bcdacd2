/** Faults of processes and of what is around them, while clients write. */
import { lockDatabase } from "../support/locked_database.ts";
import type { Random } from "../support/random.ts";
import type { Service } from "./service.ts";
import type { Traffic } from "./traffic.ts";
import { pause } from "../support/clock.ts";

/** Begins a fault; the returned function ends it. */
export type Fault = (traffic: Traffic) => End | Promise<End>;
type End = () => void | Promise<void>;

/** Faults that a process with a data folder survives. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  "database locked": (traffic) => lockDatabase(firstOf(traffic).folder),
  "image store away": async ({ processes }) => {
    const folder = processes.store.images;
    await Deno.rename(folder, `${folder}-away`);
    await Deno.writeTextFile(folder, "where a folder should be");
    return async () => {
      await Deno.remove(folder);
      await Deno.rename(`${folder}-away`, folder);
    };
  },
  // With the module `preload.ts`.
  "image worker killed": (traffic) => {
    firstOf(traffic).program.kill("SIGUSR2");
    return () => {};
  },
  "image host refuses": ({ images }) => {
    images.everyGet = () => new Response("no", { status: 503 });
    return () => {
      images.everyGet = null;
    };
  },
  "image host hangs": ({ images }) => {
    const ended = Promise.withResolvers<void>();
    images.everyGet = async () => {
      await ended.promise;
      return new Response("late", { status: 503 });
    };
    return () => {
      images.everyGet = null;
      ended.resolve();
    };
  },
  "sink refuses": ({ sink }) => {
    sink.answering = () => new Response("no", { status: 500 });
    return () => {
      sink.answering = () => new Response();
    };
  },
  "sink hangs": ({ sink }) => {
    const over = Promise.withResolvers<Response>();
    sink.answering = async () => (await over.promise).clone();
    return () => {
      sink.answering = () => new Response();
      over.resolve(new Response("late", { status: 503 }));
    };
  },
};

/** How long the service is stopped before it is killed. */
const HANGS_MS = 1_000;

/** Faults during which a process answers nothing. */
export const ABSENCES: Readonly<Record<string, Fault>> = {
  "stopped": (traffic) => {
    const service = firstOf(traffic);
    service.pause();
    return () => service.resume();
  },
  "killed": async (traffic) => {
    const service = firstOf(traffic);
    // So that some requests are in progress.
    service.pause();
    await pause(HANGS_MS);
    await service.kill();
    return () => service.start();
  },
};

function firstOf({ processes }: Traffic): Service {
  return processes.services[0];
}

/** Faults in random order, in which each occurs once before any is repeated. */
export class Turns {
  readonly #faults: Readonly<Record<string, Fault>>;
  readonly #random: Random;
  #left: string[] = [];
  #rounds = 0;

  constructor(faults: Readonly<Record<string, Fault>>, random: Random) {
    this.#faults = faults;
    this.#random = random;
  }

  next(): { name: string; fault: Fault; isFirst: boolean } {
    if (this.#left.length === 0) {
      this.#left = Object.keys(this.#faults);
      this.#rounds++;
    }
    const at = this.#random.below(this.#left.length);
    const [name] = this.#left.splice(at, 1);
    return { name, fault: this.#faults[name], isFirst: this.#rounds === 1 };
  }
}
