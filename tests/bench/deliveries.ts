/**
 * How fast events are ingested and delivered: events ingested a second,
 * deliveries a second, and the time from ingest to receipt, each compared with
 * what the machine does without the service in the same run.
 *
 * deno run -A tests/bench/deliveries.ts [rounds]
 *
 * The service runs in its own process, a new one in each round; the sink runs
 * in its own thread.
 */
import { join } from "node:path";
import { systemClock, systemIds } from "../../src/deps.ts";
import { TRIGGERS } from "../../src/webhooks/trigger.ts";
import { Outbound } from "../../src/net/outbound.ts";
import { addSeller } from "../../src/sellers/seller_rows.ts";
import { openSqlite } from "../../src/database/sqlite/engine.ts";
import { putWebhook } from "../../src/webhooks/webhook_rows.ts";
import { BareSqlite } from "./bare_sqlite.ts";
import { load, requestBytes } from "./load.ts";
import { BenchService, OPERATOR_KEY } from "./service.ts";
import type { Arrival } from "./sink_worker.ts";
import { quantile, Table } from "./table.ts";

const ROUNDS = Number(Deno.args[0] ?? 3);
const ENDPOINTS = 100;
const EVENTS = 3_000;
/** Waiting for each dead endpoint while latency is measured again. */
const DEAD_EVENTS = 1_000;
/** Events a second while latency is measured: well below the maximum. */
const PACE = 100;
const PACE_SECONDS = 10;
const POSTS = 2_000;
const BODY = new TextEncoder().encode("<event>" + "x".repeat(500) + "</event>");
const HEADERS = {
  "Content-Type": "text/xml",
  "X-Service-Auth": OPERATOR_KEY,
};

const COMMITS = "bare SQLite, one-row commits";
const BARE_POSTS = "bare POSTs, 64 at once";
const INGEST_ONE = "ingest, one at a time";
const INGEST_MANY = "ingest, 32 at once";
const BACKLOG = `deliveries of a backlog to ${ENDPOINTS} endpoints`;

const table = new Table();

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

/** POSTs a second through the outbound client alone. */
async function barePosts(): Promise<number> {
  const outbound = new Outbound({
    clock: systemClock,
    allowPrivate: ["127.0.0.0/8"],
    perOrigin: 64,
    total: 64,
  });
  const started = performance.now();
  let left = POSTS;
  await Promise.all(Array.from({ length: 64 }, async () => {
    while (left-- > 0) {
      await outbound.post(`${sinkUrl}/`, {
        headers: { "content-type": "text/xml" },
        body: BODY,
        timeoutMs: 20_000,
        maxAnswerBytes: 1024,
      });
    }
  }));
  outbound.close();
  return POSTS * 1_000 / (performance.now() - started);
}

interface Targets {
  good: Target[];
  hanging: Target;
  refusing: Target;
}

/** Webhooks of several sellers, each with its own path. */
async function registerAll(dataDir: string): Promise<Targets> {
  const db = await openSqlite(join(dataDir, "seller.db"));
  const deps = { clock: systemClock, ids: systemIds };
  const targets: Target[] = [];
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const refused = `http://127.0.0.1:${closed.addr.port}/`;
  closed.close();
  const urlOf = (index: number) => {
    if (index === ENDPOINTS) return `${sinkUrl}/hang`;
    return index === ENDPOINTS + 1 ? refused : `${sinkUrl}/${index}`;
  };
  for (let n = 0; targets.length < ENDPOINTS + 2; n++) {
    const name = `seller-${n}`;
    await db.write(async (tx) => {
      const { seller } = await addSeller(tx, deps, name);
      for (const trigger of TRIGGERS) {
        const index = targets.push({ seller: name, trigger }) - 1;
        const url = urlOf(index);
        const webhook = { trigger, url, format: "xml" } as const;
        await putWebhook(tx, deps, seller.no, webhook);
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

/** An event that was never sent before. */
function event({ seller, trigger }: Target): string {
  return `<event><seller>${seller}</seller><trigger>${trigger}</trigger>` +
    `<reference>${++references}</reference>` +
    `<data>${"x".repeat(500)}</data></event>`;
}

/**
 * Emits this many events on this many connections; returns how many a second.
 */
async function ingest(
  service: BenchService,
  targets: readonly Target[],
  count: number,
  connections: number,
): Promise<number> {
  const { rate } = await load({
    url: service.url,
    connections,
    count,
    request: (n) => {
      const body = new TextEncoder().encode(event(targets[n % targets.length]));
      return requestBytes("POST", "/operator_api/events", HEADERS, body);
    },
    expect: 200,
  });
  return rate;
}

/** Emits one event; returns the id under which it will arrive. */
async function emit(service: BenchService, target: Target): Promise<string> {
  const response = await fetch(`${service.url}/operator_api/events`, {
    method: "POST",
    headers: HEADERS,
    body: event(target),
  });
  const text = await response.text();
  const id = /<event_id>(.*)<\/event_id>/.exec(text)?.[1];
  if (id === undefined) throw new Error(text);
  return id;
}

/** Deliveries a second if this many events wait when the role starts. */
async function deliverBacklog(
  service: BenchService,
  backlog: number,
): Promise<number> {
  const before = sink.arrived.size;
  await service.restart("api,webhooks");
  const started = performance.now();
  while (sink.arrived.size < before + backlog) await pause(5);
  return backlog * 1_000 / (performance.now() - started);
}

/**
 * Emits at a steady rate; records the times from the request to the receipt.
 */
async function noteLatencies(
  name: string,
  service: BenchService,
  targets: readonly Target[],
): Promise<void> {
  const sent = new Map<string, number>();
  const emitting: Promise<void>[] = [];
  for (let n = 0; n < PACE * PACE_SECONDS; n++) {
    const at = performance.timeOrigin + performance.now();
    emitting.push(
      emit(service, targets[n % targets.length]).then((id) => {
        sent.set(id, at);
      }),
    );
    await pause(1_000 / PACE);
  }
  await Promise.all(emitting);
  while (![...sent.keys()].every((id) => sink.arrived.has(id))) await pause(10);
  const times = [...sent].map(([id, at]) => sink.arrived.get(id)! - at);
  table.note(`${name}: p50`, "ms", quantile(times, 0.5));
  table.note(`${name}: p99`, "ms", quantile(times, 0.99));
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

async function round(): Promise<void> {
  let targets: Targets | undefined;
  await using service = await BenchService.start({
    roles: "api",
    sellers: [],
    fill: async (dataDir) => {
      targets = await registerAll(dataDir);
    },
  });
  const { good, hanging, refusing } = targets!;
  const sqlite = new BareSqlite(`${service.folder}/bare.db`);
  // The rows of which the commits change one.
  sqlite.upserts(0);
  table.note(COMMITS, "/s", sqlite.oneRowCommits(500));
  sqlite.close();
  table.note(BARE_POSTS, "/s", await barePosts());

  const first = EVENTS / 4;
  table.note(INGEST_ONE, "/s", await ingest(service, good, first, 1));
  table.note(INGEST_MANY, "/s", await ingest(service, good, EVENTS, 32));
  table.note(BACKLOG, "/s", await deliverBacklog(service, first + EVENTS));

  await noteLatencies("ingest to receipt, all well", service, good);
  await ingest(service, [hanging], DEAD_EVENTS, 16);
  await ingest(service, [refusing], DEAD_EVENTS, 16);
  await noteLatencies("ingest to receipt, two dead", service, good);
}

const sink = new Sink();
const sinkUrl = `http://127.0.0.1:${await sink.port}`;
for (let n = 0; n < ROUNDS; n++) await round();
sink.close();
table.print();
for (
  const [ours, bare] of [
    [INGEST_ONE, COMMITS],
    [INGEST_MANY, COMMITS],
    [BACKLOG, BARE_POSTS],
  ]
) {
  const ratio = table.median(ours) / table.median(bare);
  console.log(`${ours} / ${bare}: ${ratio.toFixed(2)}`);
}
await table.keep("deliveries");
