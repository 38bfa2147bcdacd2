/**
 * Runs in the service before its program: whenever the event loop lets nothing
 * else run for long, writes a line with the milliseconds. Counts only the
 * processor time of the thread, so that a busy machine adds nothing.
 */
import process from "node:process";

/** Shorter times are not written. */
const LEAST_MS = 20;
const LOOK_MS = 2;
const file = `${Deno.env.get("SELLER_DATA_DIR")}/blocks`;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

let seen = cpuMs();
const timer = setInterval(() => {
  const now = cpuMs();
  const ms = now - seen;
  seen = now;
  if (ms < LEAST_MS) return;
  Deno.writeTextFileSync(file, `${ms.toFixed(0)}\n`, { append: true });
}, LOOK_MS);
Deno.unrefTimer(timer);
