/**
 * Runs attacks in a separate thread, so that they do not slow down the clock
 * that measures the honest seller.
 */
import { lowerPriority } from "./priority.ts";
import { Attacker } from "./attacker.ts";
import { ATTACKS } from "./attacks.ts";
import { HostileHosts } from "./hostile_host.ts";

export interface Orders {
  /** The URL of the service. */
  url: string;
  /** The keys of the sellers of each attack. */
  keys: Record<string, string[]>;
  neighbour: string;
  /** Whether the attacks leave the cores to the service. */
  yields: boolean;
}

export type ToAttackWorker =
  | { type: "prepare"; orders: Orders }
  | { type: "begin" }
  | { type: "end" };

export interface Ended {
  type: "ended";
  bytesSent: number;
  /** Counts of answers, by status. */
  answers: Record<string, number>;
}

export type FromAttackWorker = { type: "prepared" } | Ended;

const over = new AbortController();
const hosts = new HostileHosts();
const attackers = new Map<string, Attacker>();
let running: Promise<unknown> = Promise.resolve();

const tell = (message: FromAttackWorker) => self.postMessage(message);

async function prepare(
  { url, keys, neighbour, yields }: Orders,
): Promise<void> {
  if (yields) lowerPriority();
  await Promise.all(
    Object.entries(keys).map(async ([name, own]) => {
      const attacker = new Attacker(url, own, hosts, neighbour, over.signal);
      attackers.set(name, attacker);
      await ATTACKS[name].prepare?.(attacker);
    }),
  );
  tell({ type: "prepared" });
}

function begin(): void {
  running = Promise.all(
    [...attackers].flatMap(([name, attacker]) => {
      const { lanes, step } = ATTACKS[name];
      return Array.from({ length: lanes }, async (_, lane) => {
        while (!attacker.over) await step(attacker, lane);
      });
    }),
  );
}

async function end(): Promise<void> {
  over.abort();
  await running;
  const answers: Record<string, number> = {};
  let bytesSent = 0;
  for (const attacker of attackers.values()) {
    bytesSent += attacker.bytesSent;
    for (const [status, n] of attacker.answers) {
      answers[status] = (answers[status] ?? 0) + n;
    }
  }
  tell({ type: "ended", bytesSent, answers });
}

self.onmessage = async ({ data }: MessageEvent<ToAttackWorker>) => {
  if (data.type === "prepare") await prepare(data.orders);
  else if (data.type === "begin") begin();
  else await end();
};
