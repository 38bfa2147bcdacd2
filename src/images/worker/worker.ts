/** The module of the image worker's thread; see `image_worker.ts`. */
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { systemClock } from "../../deps.ts";
import { useDiskFlag } from "../storage/disk_call.ts";
import { openImageStore } from "../storage/open.ts";
import { ImageWorker } from "./image_worker.ts";
import type { ToImageWorker } from "./messages.ts";

/**
 * Niceness of this thread and of the threads that write its files. With 10,
 * this thread waited for a core four times as long as it ran while the main
 * thread was busy.
 */
const NICENESS = 3;

const worker = new ImageWorker({
  clock: systemClock,
  openStore: ({ store, diskFlag }) => {
    useDiskFlag(diskFlag);
    return openImageStore(store, systemClock);
  },
  post: (message) => parentPort?.postMessage(message),
});

parentPort?.on("message", (message: ToImageWorker) => {
  // If the thread runs out of memory, running code stops without an error and
  // messages no longer arrive, but timers still fire.
  const cancel = systemClock.after(0, () => worker.breakDown("out of memory"));
  worker.receive(message);
  cancel();
});

lowerPriority();

// Without this listener, the runtime would print these errors outside the log.
globalThis.addEventListener("error", (event) => {
  event.preventDefault();
  worker.breakDown(event.error ?? event.message);
});
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  worker.breakDown(event.reason);
});

/**
 * Lowers the priority of this thread: HTTP requests come first on a busy
 * machine.
 */
function lowerPriority(): void {
  try {
    // On Linux, this affects only this thread and those that it starts.
    setPriority(NICENESS);
  } catch {
    // Not permitted or not supported: all threads then have the same priority.
  }
}
