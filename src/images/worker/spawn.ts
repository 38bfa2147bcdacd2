/**
 * Starts the thread of an image worker.
 *
 * On Deno 2.9.6 `terminate()` does not stop running JavaScript: the worker's
 * `exit` event comes at once, but the thread continues. The thread has really
 * ended when a message channel that it holds is closed.
 */
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import type { FromImageWorker, ToImageWorker } from "./messages.ts";

/** A worker as the main thread sees it. */
export interface SpawnedWorker {
  post(message: ToImageWorker): void;
  /** Ends it, unless it hangs. */
  terminate(): void;
  /** Resolves when its thread has ended. */
  readonly ended: Promise<void>;
}

/**
 * The events of a worker; the first is called at the next turn of the event
 * loop at the earliest.
 */
export interface WorkerEvents {
  message(message: FromImageWorker): void;
  died(why: string): void;
}

/**
 * Starts a worker, which does nothing before its first message; see
 * `ToImageWorker`.
 */
export type SpawnWorker = (events: WorkerEvents) => SpawnedWorker;

/**
 * Starts threads of this module. `heapMb` is the size of each one's heap in
 * MiB, which does not include the images themselves.
 */
export function threadSpawner(
  module = new URL("./worker.ts", import.meta.url),
  heapMb = 256,
): SpawnWorker {
  return ({ message, died }) => {
    const { port1, port2 } = new MessageChannel();
    // This is Node's `Worker`, not the web's, because only Node's can have a
    // memory limit: if a web worker runs out of memory, the whole process ends.
    const worker = new Worker(module, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      // This port carries no messages; it closes when the thread has ended.
      workerData: { life: port2 },
      transferList: [port2],
    });
    worker.on("message", message);
    worker.on("error", (error: unknown) => died(String(error)));
    worker.on("messageerror", (error: unknown) => died(String(error)));
    worker.on("exit", (code: number) => died(`it ended with code ${code}`));
    return {
      post: (message) => worker.postMessage(message, transferredIn(message)),
      terminate: () => void worker.terminate().catch(() => {}),
      ended: closed(port1),
    };
  };
}

/** The memory that the thread takes over with a message. */
function transferredIn(message: ToImageWorker): ArrayBuffer[] {
  return message.type === "upload" && message.step.step === "append"
    ? [message.step.piece]
    : [];
}

/** Resolves when the other end of a port is closed. */
function closed(port: MessagePort): Promise<void> {
  return new Promise((resolve) => {
    port.on("close", () => resolve());
    port.start();
    port.ref();
  });
}
