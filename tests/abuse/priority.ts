/** Attackers and their hosts yield the cores to the service. */
import { setPriority } from "node:os";

/**
 * The scheduling class of threads that run only if no other thread wants the
 * core.
 */
const SCHED_IDLE = 5;
const LOWEST = 19;

/**
 * Lets this thread, and those that it starts, use only what no other thread
 * uses: real sellers and hosts run on other machines and take no core from the
 * service. A low priority alone (`nice`) is not enough: a thread of the service
 * that wakes up would wait until the running thread has used its time slice.
 */
export function lowerPriority(): void {
  if (Deno.build.os !== "linux") return setPriority(LOWEST);
  using libc = closing(Deno.dlopen("libc.so.6", {
    sched_setscheduler: { parameters: ["i32", "i32", "buffer"], result: "i32" },
  }));
  const thisThread = 0;
  const parameters = new Int32Array([0]);
  const result = libc.symbols
    .sched_setscheduler(thisThread, SCHED_IDLE, parameters);
  if (result !== 0) throw new Error("sched_setscheduler failed");
}

function closing<T extends { close(): void }>(what: T): T & Disposable {
  return Object.assign(what, { [Symbol.dispose]: () => what.close() });
}
