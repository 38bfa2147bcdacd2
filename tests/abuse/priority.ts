/** Attackers and their hosts yield the cores to the service. */
import { setPriority } from "node:os";

/** The class of threads that run only where no other wants the core. */
const SCHED_IDLE = 5;
const LOWEST = 19;

/**
 * Gives this thread, and those that it starts, what no other thread uses:
 * sellers and hosts run on other machines and take no core from the service.
 * A low priority alone (`nice`) would not do: a thread of the service that
 * wakes up waits until the one that runs has used its slice.
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
