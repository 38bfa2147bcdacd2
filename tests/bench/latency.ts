/**
 * The API in 1, 2, 4 and 8 processes on a PostgreSQL server that is far away
 * (2 ms unless told) and takes long for each flush (5 ms unless told), so that
 * waiting shows what two cores cannot.
 *
 *   deno run -A tests/bench/latency.ts [updates|uploads|mixed|events|pulled] \
 *     [MS] [ROUNDS] [DELAY_MS] [FLUSH_MS]
 *
 * All processes are warmed up first: code that the engine has not compiled yet
 * takes twice the CPU time, and each of eight processes runs it rarely.
 *
 * Below each figure stand the CPU time of the service, of the server, of what
 * measures (load generator and proxy), and of all other programs, as all are on
 * one machine, and what limits it: all of the machine's CPU time, or bare commits,
 * if the bare server does hardly more commits on as many connections as the
 * processes have for writing, through the same proxy. Otherwise all wait for the
 * network and for flushes.
 */
import { cpuUsage } from "node:process";
import { TRIGGERS } from "../../src/webhooks/trigger.ts";
import { cpuSecondsOfAll } from "../support/cpu.ts";
import { installedPostgres, PostgresServer } from "../support/postgres.ts";
import { delayed, slowFlushes } from "./delays.ts";
import { Connection, type Load, load } from "./load.ts";
import { BenchService, document } from "./service.ts";
import { Table } from "./table.ts";

/** All of them by default. */
const LOADS = Deno.args[0] ?? "updates|uploads|mixed|events|pulled";
/** Milliseconds and rounds of each figure. */
const MS = Number(Deno.args[1] ?? 2_000);
const ROUNDS = Number(Deno.args[2] ?? 1);
const PROCESSES = [1, 2, 4, 8];
/** Half of them write: the default of SELLER_DATABASE_POOL. */
const POOL = 10;
const DELAY_MS = Number(Deno.args[3] ?? 2);
const FLUSH_MS = Number(Deno.args[4] ?? 5);
const WARM_UP_MS = 30_000;
const UPLOADS_WARM_UP_MS = 10_000;
/** From this share of a limit on, it counts as reached. */
const REACHED = 0.85;
const CONNECTIONS = 64;
/** One process refuses more concurrent uploads of one seller. */
const UPLOADS = 16;
/**
 * The uploading connections of the mixed load; the others update attributes.
 */
const MIXED_UPLOADS = 8;
const SELLERS = Array.from({ length: CONNECTIONS }, (_, n) => `seller-${n}`);
/** Products of each document. */
const PRODUCTS = 250;
const CORES = navigator.hardwareConcurrency;

/** The sellers that send. */
interface Senders {
  /** The seller of a connection. */
  seller: (connection: number) => string;
  /** Connections of each process, for loads that grow with the processes. */
  each?: number;
}
const CASES: Record<string, Senders> = {
  "64 sellers": { seller: (connection) => SELLERS[connection] },
  "1 seller": { seller: () => SELLERS[0] },
  // Few enough to leave the cores free, because only then waiting is visible.
  "8 sellers a process": {
    seller: (connection) => SELLERS[connection],
    each: 8,
  },
  "2 sellers a process": {
    seller: (connection) => SELLERS[connection],
    each: 2,
  },
  "1 seller, 2 connections a process": { seller: () => SELLERS[0], each: 2 },
};

const table = new Table();

const installation = await installedPostgres();
const flushes = await slowFlushes(FLUSH_MS);
await using server = await PostgresServer.start({}, {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "256MB",
  max_wal_size: "4GB",
}, {
  installation: installation ?? undefined,
  env: flushes ?? {},
  walSegment: 16,
});
await using proxy = await delayed(server.port, DELAY_MS);
console.log(
  `PostgreSQL ${installation ?? "of npm"} behind ${proxy.name}, ` +
    `${DELAY_MS} ms each way; flushes ` +
    (flushes === null ? "of this disk (no C compiler)" : `of ${FLUSH_MS} ms`),
);

/** The same database through the proxy. */
function away(url: string): string {
  const far = new URL(url);
  far.port = `${proxy.port}`;
  return far.href;
}

await server.sql("postgres", "CREATE DATABASE bare");
await server.sql("bare", "CREATE TABLE bare (id int PRIMARY KEY, n int)");
await server.sql(
  "bare",
  "INSERT INTO bare SELECT id, 0 FROM generate_series(0, 255) AS id",
);

const bareName = (connections: number) =>
  `bare commits, ${connections} connections`;

/** One-row commits of bare connections, each for its own row. */
async function bareCommits(connections: number): Promise<void> {
  const script = await Deno.makeTempFile();
  await Deno.writeTextFile(
    script,
    "UPDATE bare SET n = n + 1 WHERE id = :client_id;",
  );
  const seconds = Math.ceil(MS / 1_000);
  const before = await server.cpuSeconds();
  const { stdout } = await new Deno.Command("pgbench", {
    args: [
      ...["-h", "127.0.0.1", "-p", `${proxy.port}`, "-U", "postgres"],
      ...["-n", "-M", "prepared", "-f", script, "-T", `${seconds}`],
      // In several threads, because it connects within the measured time.
      ...["-c", `${connections}`, "-j", `${Math.min(connections, 16)}`],
      "bare",
    ],
  }).output().catch(() => ({ stdout: new Uint8Array() }));
  const rate = /tps = ([\d.]+)/.exec(new TextDecoder().decode(stdout))?.[1];
  await Deno.remove(script);
  if (rate === undefined) return; // pgbench is not installed.
  const name = bareName(connections);
  table.note(name, "/s", Number(rate));
  const cpu = (await server.cpuSeconds() - before) / seconds;
  table.note(`${name}: server`, "cores", cpu);
}

const databaseUrl = await server.database();
await using service = await BenchService.start({
  roles: "api",
  sellers: SELLERS,
  databaseUrl: away(databaseUrl),
  processes: Math.max(...PROCESSES),
});

let documents = 0;

function upload(seller: string): Uint8Array {
  const body = document(`u${documents++}`, { products: PRODUCTS, bytes: 0 });
  return service.upload(seller, body);
}

const stock = document("stock", { products: PRODUCTS, bytes: 0 });
await load({
  url: service.urls,
  connections: 8,
  count: SELLERS.length,
  request: (n) => service.upload(SELLERS[n], stock),
  expect: 200,
});

// The server would do so by itself within minutes.
await server.sql(new URL(databaseUrl).pathname.slice(1), "ANALYZE");

/** Sends requests for `ms`, each of its connection's seller. */
type Sending = (
  urls: readonly string[],
  connections: number,
  senders: Senders,
  ms?: number,
) => Promise<Load>;

/** Refused requests are counted separately. */
function sending(
  expect: number,
  request: (seller: string, n: number) => Uint8Array,
): Sending {
  return (url, connections, { seller }, ms = MS) =>
    load({
      url,
      connections,
      ms,
      request: (n, connection) => request(seller(connection), n),
      expect,
      mayRefuse: true,
    });
}

const updates = sending(204, (seller, n) => {
  const path = `products/stock-${n % PRODUCTS}/attribute/quantity/${n}`;
  return service.request(seller, "PUT", path);
});
const uploads = sending(200, upload);
let references = 0;
/** Each with a delivery, which waits because no process delivers. */
const events = sending(
  200,
  (seller) => service.event(seller, `${references++}`, "x".repeat(500)),
);

/** How each load is measured. */
const FIGURES: Record<string, readonly string[]> = {
  updates: ["updates"],
  uploads: ["uploads"],
  mixed: ["mixed, updates", "mixed, uploads"],
  events: ["events"],
  pulled: ["events beside one who pulls", "events pulled"],
};

/** Follows the events of the first seller. */
class Puller {
  #after = "0";
  #pulled = 0;

  /** Returns when there are no more events. */
  async pull(url: string, query = ""): Promise<void> {
    const connection = await Connection.open(url);
    for (let found = 1; found > 0;) {
      const path = `events?after=${this.#after}&limit=250${query}`;
      const asked = service.request(SELLERS[0], "GET", path);
      const status = await connection.send(asked);
      const { answer } = connection;
      if (status !== 200) throw new Error(answer);
      found = answer.split("<event>").length - 1;
      this.#pulled += found;
      this.#after = /<next>(\d+)</.exec(answer)![1];
    }
    connection.close();
  }

  /** How many events it got since the last call. */
  take(): number {
    const pulled = this.#pulled;
    this.#pulled = 0;
    return pulled;
  }
}
const puller = new Puller();

function loadsOf({ each }: Senders): string[] {
  const loads = LOADS.split("|");
  return each === undefined
    ? loads
    : loads.filter((load) => load !== "mixed" && load !== "pulled");
}

/** One line of the report: a figure for each number of processes. */
const nameOf = (what: string, who: string, processes: number) =>
  `${what}, ${who}, ${processes} of 8 processes`;

/** CPU time of the test, and of all other programs. */
const CONSUMERS = ["service", "server", "bench", "others"];

/** Runs a load and records its CPU time. */
async function measured(
  name: string,
  run: () => Promise<void>,
): Promise<void> {
  const cpu = async () => {
    const [ofService, ofServer, ofProxy, ofAll] = await Promise.all([
      service.cpuSeconds(),
      server.cpuSeconds(),
      proxy.cpuSeconds(),
      cpuSecondsOfAll(),
    ]);
    const { user, system } = cpuUsage();
    const bench = ofProxy + (user + system) / 1_000_000;
    const others = ofAll - ofService - ofServer - bench;
    return [ofService, ofServer, bench, others];
  };
  const began = performance.now();
  const before = await cpu();
  await run();
  const seconds = (performance.now() - began) / 1_000;
  for (const [n, spent] of (await cpu()).entries()) {
    const cores = (spent - before[n]) / seconds;
    table.note(`${name}: ${CONSUMERS[n]}`, "cores", cores);
  }
}

async function round(): Promise<void> {
  for (const processes of PROCESSES) {
    await bareCommits(processes * POOL / 2);
    const urls = service.urls.slice(0, processes);
    for (const [who, senders] of Object.entries(CASES)) {
      const { each } = senders;
      const share = each === undefined ? CONNECTIONS : each * processes;
      const name = (what: string) => nameOf(what, who, processes);
      const note = (what: string, { rate, refused }: Load) => {
        table.note(name(what), "/s", rate);
        table.note(`${name(what)}: refused`, "", refused);
      };
      const runs: Record<string, () => Promise<void>> = {
        async updates() {
          note("updates", await updates(urls, share, senders));
        },
        async events() {
          note("events", await events(urls, share, senders));
        },
        async pulled() {
          await puller.pull(service.url);
          puller.take();
          const pulling = puller.pull(service.url, "&wait=1");
          const sent = await events(urls, share, senders);
          table.note(name("events pulled"), "/s", puller.take() / (MS / 1_000));
          note("events beside one who pulls", sent);
          await pulling;
        },
        async uploads() {
          const connections = senders.each === undefined ? UPLOADS : share;
          note("uploads", await uploads(urls, connections, senders));
        },
        async mixed() {
          const [small, large] = await Promise.all([
            updates(urls, CONNECTIONS - MIXED_UPLOADS, senders),
            uploads(urls, MIXED_UPLOADS, senders),
          ]);
          note("mixed, updates", small);
          note("mixed, uploads", large);
        },
      };
      for (const load of loadsOf(senders)) {
        await measured(name(load), runs[load]);
      }
    }
  }
  await bareCommits(CONNECTIONS);
}

/** A line of columns, one for each number of processes. */
function print(title: string, column: (processes: number) => string): void {
  const columns = PROCESSES.map((processes) => column(processes).padStart(14));
  console.log(title.padEnd(34) + columns.join(""));
}

/** The limits of a load, whose figures have these names. */
function limitOf(name: string, rates: readonly string[], processes: number) {
  const cores = CONSUMERS.map((who) => table.median(`${name}: ${who}`));
  const used = cores.reduce((total, one) => total + one, 0);
  if (used >= REACHED * CORES) return "CPU";
  const commits = table.median(bareName(processes * POOL / 2));
  const isFull = rates.some((name) => table.median(name) >= REACHED * commits);
  return isFull ? "bare commits" : "waits";
}

function printReport(): void {
  const rate = (name: string) => table.median(name);
  print("a second (x of the column before)", (n) => `${n} of 8`);
  for (const [who, senders] of Object.entries(CASES)) {
    for (const load of loadsOf(senders)) {
      for (const what of FIGURES[load]) {
        const at = (n: number) => rate(nameOf(what, who, n));
        print(`${what}, ${who}`, (n) => {
          const times = n === 1 ? "" : ` (${(at(n) / at(n / 2)).toFixed(2)})`;
          return `${at(n).toFixed(at(n) < 100 ? 1 : 0)}${times}`;
        });
        const refused = (n: number) => rate(`${nameOf(what, who, n)}: refused`);
        if (PROCESSES.some((n) => refused(n) > 0)) {
          print("  requests answered 503", (n) => `${refused(n)}`);
        }
      }
      for (const consumer of CONSUMERS) {
        print(
          `  cores: ${consumer}`,
          (n) => rate(`${nameOf(load, who, n)}: ${consumer}`).toFixed(2),
        );
      }
      print("  limit", (n) => {
        const names = FIGURES[load].map((what) => nameOf(what, who, n));
        return limitOf(nameOf(load, who, n), names, n);
      });
    }
  }
  print(
    `bare commits, ${POOL / 2} connections each`,
    (n) => rate(bareName(n * POOL / 2)).toFixed(0),
  );
  const all = bareName(CONNECTIONS);
  console.log(
    `${all}: ${rate(all).toFixed(0)}, server ` +
      `${rate(`${all}: server`).toFixed(2)} cores of ${CORES}`,
  );
}

for (const seller of SELLERS) {
  const body = `<webhook><trigger>${TRIGGERS[0]}</trigger>` +
    `<url>${service.url}/</url></webhook>`;
  const bytes = new TextEncoder().encode(body);
  await service.ask(service.request(seller, "POST", "webhooks", bytes));
}
const many = CASES["64 sellers"];
const warmUp = LOADS === "events" ? events : updates;
await warmUp(service.urls, CONNECTIONS, many, WARM_UP_MS);
if (/uploads|mixed/.test(LOADS)) {
  await uploads(service.urls, UPLOADS, many, UPLOADS_WARM_UP_MS);
}
for (let n = 0; n < ROUNDS; n++) await round();
printReport();
await table.keep("latency");
