/** The self-check of the outbound client at every start. */
import type { Clock } from "../deps.ts";
import { Outbound } from "./outbound.ts";

/** The address of example.com; it is not dialled here. */
const PUBLIC = "93.184.216.34";
/** Hosts; the last two resolve to the given addresses. */
const HOSTS: Readonly<Record<string, string>> = {
  "127.0.0.1": "127.0.0.1",
  "[::1]": "::1",
  "metadata.example.com": "169.254.169.254",
  "www.example.com": PUBLIC,
};
const TIMEOUT_MS = 1_000;

/**
 * Requests private hosts and a public one from an outbound client whose name
 * look-up and dialling are replaced. Throws unless only the public one is
 * dialled.
 */
export async function checkGuard(clock: Clock): Promise<void> {
  const dialled: string[] = [];
  const outbound = new Outbound({
    allowPrivate: [],
    clock,
    resolve: (name) => Promise.resolve([HOSTS[name]]),
    dial: (address) => {
      dialled.push(address);
      return Promise.reject(new Deno.errors.ConnectionRefused());
    },
  });
  for (const host of Object.keys(HOSTS)) {
    const request = outbound.head(`http://${host}/`, { timeoutMs: TIMEOUT_MS });
    await request.catch(() => {});
  }
  outbound.close();
  if (dialled.join() === PUBLIC) return;
  throw new Error(
    "the guard of outbound requests is broken, so nothing is served: it " +
      `should dial ${PUBLIC} and dials ${dialled.join(", ") || "nothing"}.`,
  );
}
