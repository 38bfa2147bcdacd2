/**
 * How fast events come in and go out: events ingested a second, deliveries a
 * second, and the time from ingest to receipt, each beside what the machine
 * does without us in the same run. The service is a process of its own, the
 * sink a thread of its own.
 */
import { join } from "node:path";
import { systemClock, systemIds } from "../../src/deps.ts";
import { TRIGGERS } from "../../src/domain/webhook.ts";
import { Outbound } from "../../src/net/outbound.ts";
import { addSeller } from "../../src/store/sellers.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { putWebhook } from "../../src/store/webhooks.ts";
import {
  type Program,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";
import type { Arrival } from "./sink_worker.ts";

const OPERATOR = "operator-key";
const ENDPOINTS = 100;
const EVENTS = 3_000;
/** Events a second while latency is measured: well below what can be done. */
const PACE = 100;
const BODY = new TextEncoder().encode("<event>" + "x".repeat(500) + "</event>");

interface Target {
  seller: string;
  trigger: string;
}

class Sink {
  readonly arrived = new Map<string, number>();
  readonly #worker = new Worker(
    new URL("./sink_worker.ts", import.meta.url),
    { type: "module" },
  );
  readonly port: Promise<number>;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.port = promise;
    this.#worker.onmessage = (
      { data }: MessageEvent<{ port?: number; arrivals?: Arrival[] }>,
    ) => {
      if (data.port !== undefined) resolve(data.port);
      for (const { id, at } of data.arrivals ?? []) {
        if (!this.arrived.has(id)) this.arrived.set(id, at);
      }
    };
  }

  close(): void {
    this.#worker.terminate();
  }
}

async function bareCommits(folder: string): Promise<number> {
  const db = openSqlite(join(folder, "bare.db"), {
    migrations: [{
      name: "bare",
      sql: "CREATE TABLE bare (id TEXT NOT NULL PRIMARY KEY, body BLOB) STRICT",
    }],
  });
  const perSecond = await rate(
    2_000,
    1,
    () =>
      db.write((tx) =>
        tx.run("INSERT INTO bare VALUES (?, ?)", [systemIds.uuid(), BODY])
      ),
  );
  await db.close();
  return perSecond;
}

async function barePosts(port: number): Promise<number> {
  const outbound = new Outbound({
    allowPrivate: ["127.0.0.0/8"],
    perOrigin: 64,
    total: 64,
  });
  const perSecond = await rate(
    2_000,
    64,
    () =>
      outbound.post(`http://127.0.0.1:${port}/`, {
        headers: { "content-type": "text/xml" },
        body: BODY,
        timeoutMs: 20_000,
        maxAnswerBytes: 1024,
      }),
  );
  outbound.close();
  return perSecond;
}

/** Calls a second of `fn`, with so many under way. */
async function rate(
  calls: number,
  concurrency: number,
  fn: () => Promise<unknown>,
): Promise<number> {
  const started = performance.now();
  let left = calls;
  await Promise.all(Array.from({ length: concurrency }, async () => {
    while (left-- > 0) await fn();
  }));
  return calls / (performance.now() - started) * 1_000;
}

/** Webhooks of several sellers, each with a path of its own. */
async function registerAll(
  dataDir: string,
  port: number,
): Promise<{ good: Target[]; hanging: Target; refusing: Target }> {
  const db = openSqlite(join(dataDir, "seller.db"));
  const deps = { clock: systemClock, ids: systemIds };
  const targets: Target[] = [];
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const refused = `http://127.0.0.1:${closed.addr.port}/`;
  closed.close();
  for (let n = 0; targets.length < ENDPOINTS + 2; n++) {
    const name = `seller-${n}`;
    await db.write(async (tx) => {
      const { seller } = await addSeller(tx, deps, name);
      for (const trigger of TRIGGERS) {
        const index = targets.push({ seller: name, trigger }) - 1;
        const url = index === ENDPOINTS
          ? `http://127.0.0.1:${port}/hang`
          : index === ENDPOINTS + 1
          ? refused
          : `http://127.0.0.1:${port}/${index}`;
        await putWebhook(tx, deps, seller.id, trigger, url);
      }
    });
  }
  await db.close();
  return {
    good: targets.slice(0, ENDPOINTS),
    hanging: targets[ENDPOINTS],
    refusing: targets[ENDPOINTS + 1],
  };
}

let references = 0;

async function emit(
  program: Program,
  { seller, trigger }: Target,
): Promise<string> {
  const response = await fetch(`${program.url}/operator_api/events`, {
    method: "POST",
    headers: { "content-type": "text/xml", "x-service-auth": OPERATOR },
    body: `<event><seller>${seller}</seller><trigger>${trigger}</trigger>` +
      `<reference>${++references}</reference>` +
      `<data>${"x".repeat(500)}</data></event>`,
  });
  const text = await response.text();
  const id = /<event_id>(.*)<\/event_id>/.exec(text)?.[1];
  if (id === undefined) throw new Error(text);
  return id;
}

function start(dataDir: string, roles: string): Promise<Program> {
  return startProgram(["serve", "--port", "0", "--data", dataDir], {
    env: {
      SELLER_OPERATOR_KEY: OPERATOR,
      SELLER_ALLOW_PRIVATE: "127.0.0.0/8",
      SELLER_ROLES: roles,
      SELLER_LOG: "error",
    },
  });
}

/** Emits at a steady pace; milliseconds from the request to the receipt. */
async function latencies(
  program: Program,
  sink: Sink,
  targets: readonly Target[],
  seconds: number,
): Promise<number[]> {
  const sent = new Map<string, number>();
  const emitting: Promise<void>[] = [];
  for (let n = 0; n < seconds * PACE; n++) {
    const at = performance.timeOrigin + performance.now();
    emitting.push(
      emit(program, targets[n % targets.length]).then((id) => {
        sent.set(id, at);
      }),
    );
    await pause(1_000 / PACE);
  }
  await Promise.all(emitting);
  while (![...sent.keys()].every((id) => sink.arrived.has(id))) await pause(10);
  return [...sent].map(([id, at]) => sink.arrived.get(id)! - at)
    .sort((a, b) => a - b);
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

function percentile(sorted: readonly number[], part: number): string {
  const index = Math.min(sorted.length - 1, Math.floor(sorted.length * part));
  return `${sorted[index].toFixed(1)} ms`;
}

function ratio(ours: number, bare: number): string {
  return `${Math.round(ours)}/s, ${(ours / bare).toFixed(2)} of bare`;
}

async function main(): Promise<void> {
  await using folder = await temporaryFolder();
  const sink = new Sink();
  const port = await sink.port;
  const { good, hanging, refusing } = await registerAll(folder.path, port);

  const commits = await bareCommits(folder.path);
  console.log(`bare one-row commits: ${Math.round(commits)}/s`);
  const posts = await barePosts(port);
  console.log(`bare POSTs, 64 at once: ${Math.round(posts)}/s`);

  const ingesting = await start(folder.path, "api");
  let next = 0;
  const target = () => good[next++ % good.length];
  const one = await rate(EVENTS / 4, 1, () => emit(ingesting, target()));
  console.log(`ingest, one at a time: ${ratio(one, commits)}`);
  const many = await rate(EVENTS, 32, () => emit(ingesting, target()));
  console.log(`ingest, 32 at once: ${ratio(many, commits)}`);
  await ingesting.stop();

  const backlog = references;
  const before = sink.arrived.size;
  const delivering = await start(folder.path, "api,webhooks");
  const started = performance.now();
  while (sink.arrived.size < before + backlog) await pause(5);
  const delivered = backlog / (performance.now() - started) * 1_000;
  console.log(
    `deliveries of a backlog to ${ENDPOINTS} endpoints: ` +
      ratio(delivered, posts),
  );

  const healthy = await latencies(delivering, sink, good, 10);
  console.log(
    `ingest to receipt, all well: p50 ${percentile(healthy, 0.5)}, ` +
      `p99 ${percentile(healthy, 0.99)}`,
  );
  for (const dead of [hanging, refusing]) {
    await rate(1_000, 16, () => emit(delivering, dead));
  }
  const harmed = await latencies(delivering, sink, good, 10);
  console.log(
    "ingest to receipt, beside one that hangs and one that refuses, 1000 " +
      `waiting for each: p50 ${percentile(harmed, 0.5)}, ` +
      `p99 ${percentile(harmed, 0.99)}`,
  );
  await delivering.stop();
  sink.close();
}

if (import.meta.main) await main();
