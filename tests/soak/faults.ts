/** Faults around the service while it works. */
import type { ImageHost } from "../support/image_host.ts";
import { lockDatabase } from "../support/locked_database.ts";
import type { Service } from "../support/service.ts";
import type { WebhookSink } from "../support/webhook_sink.ts";
import { pause } from "./traffic.ts";

/** Where faults can be caused. */
export interface Surroundings {
  service: Service;
  images: ImageHost;
  sink: WebhookSink;
}

/** Begins a fault; the returned function ends it. */
export type Fault = (around: Surroundings) => End | Promise<End>;
type End = () => void | Promise<void>;

/** Faults that the service survives. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  "database locked": ({ service }) => lockDatabase(service.folder),
  "image store away": async ({ service }) => {
    const folder = `${service.folder}/images`;
    await Deno.rename(folder, `${folder}-away`);
    await Deno.writeTextFile(folder, "where a folder should be");
    return async () => {
      await Deno.remove(folder);
      await Deno.rename(`${folder}-away`, folder);
    };
  },
  "image worker killed": ({ service }) => {
    service.program.kill("SIGUSR2");
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

/** Faults during which the service answers nothing. */
export const ABSENCES: Readonly<Record<string, Fault>> = {
  "stopped": ({ service }) => {
    const { program } = service;
    program.kill("SIGSTOP");
    return () => program.kill("SIGCONT");
  },
  "killed": async ({ service }) => {
    // So that some requests are in progress.
    service.program.kill("SIGSTOP");
    await pause(HANGS_MS);
    await service.kill();
    return () => service.start();
  },
};
