/**
 * Attribute updates and uploads on one plain server and on 1, 2 and 4 workers
 * of a cluster, compared with pgbench with the same statements on the same
 * servers.
 *
 * deno run -A tests/bench/spread.ts [rounds [workers…]]
 *
 * 0 workers means the plain server.
 *
 * All servers, the service and the load run on the same machine: several
 * workers show their cost here, not their gain. The cost of a longer way to the
 * servers is measured with one request at a time.
 */
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { Connection } from "../../src/database/postgres/connection.ts";
import type { Param } from "../../src/database/db.ts";
import { boot } from "../support/app.ts";
import { cpuSecondsOf } from "../support/cpu.ts";
import { connectTo } from "../support/postgres.ts";
import { Proxy } from "../support/proxy.ts";
import { CitusCluster } from "../processes/citus_cluster.ts";
import { load } from "./load.ts";
import { BenchService } from "./service.ts";
import { Table } from "./table.ts";

const [ROUNDS = 2, ...WANTED] = Deno.args.map(Number);
const WORKERS = WANTED.length > 0 ? WANTED : [0, 1, 2, 4];
/** pgbench needs most of two seconds to prepare the statements of an upload. */
const MS = 8_000;
const PRODUCTS = 250;
const CONNECTIONS = { updates: 32, uploads: 8 };
type Kind = keyof typeof CONNECTIONS;
const KINDS = Object.keys(CONNECTIONS) as Kind[];
/** The sellers of the service, and as many with the same rows for pgbench. */
const SELLERS = Array.from({ length: 12 }, (_, n) => `s${n + 1}`);
const OTHERS = SELLERS.map((name) => `p${name}`);
/** The delay in one direction, in milliseconds. */
const AWAY_MS = 5;
const table = new Table();

/** A database and the servers that hold its rows. */
interface Place {
  name: string;
  url: string;
  /** The nodes of the cluster. */
  holding: readonly number[];
}

await using stack = new AsyncDisposableStack();
const cluster = await findCluster();

/** The given server; it may have the databases already, without sellers. */
async function findCluster(): Promise<CitusCluster> {
  const given = CitusCluster.given();
  if (given !== null) return given;
  const started = await CitusCluster.start(Math.max(1, ...WORKERS), {
    hurried: false,
  });
  if (started === null) throw new Error("There is no ../shared/citus.");
  return stack.use(started);
}

async function has(database: string, node: number): Promise<boolean> {
  const query = `SELECT 1 FROM pg_database WHERE datname = '${database}'`;
  return await cluster.sql(node, query) === "1";
}

/** A database without the extension, on the first worker. */
async function plain(): Promise<Place> {
  const name = "plain";
  if (!await has(name, 1)) {
    await cluster.sql(1, `CREATE DATABASE ${name} OWNER seller`);
  }
  return {
    name: "plain server",
    url: await cluster.url(1, name),
    holding: [1],
  };
}

/** A database that is spread over the first workers. */
async function spread(workers: number): Promise<Place> {
  const name = `spread${workers}`;
  const all = await cluster.workers();
  if (!await has(name, 0)) {
    await cluster.database(name);
    for (const node of all.slice(workers)) {
      const { port } = new URL(await cluster.url(node, name));
      await cluster.sql(
        0,
        `SELECT citus_set_node_property('127.0.0.1', ${port},
           'shouldhaveshards', false)`,
        name,
      );
    }
  }
  const url = await cluster.url(0, name);
  return {
    name: `workers: ${workers}`,
    url,
    holding: all.slice(0, workers),
  };
}

/** A document whose products have the numbers of their SKUs. */
function stock(quantity: number): Uint8Array {
  const products = Array.from(
    { length: PRODUCTS },
    (_, n) =>
      `<product><sku>${n}</sku><title>Chair ${n}</title>` +
      `<price currency="SEK">100</price><quantity>${quantity + n}</quantity>` +
      "</product>",
  );
  const text = `<products>${products.join("")}</products>`;
  return new TextEncoder().encode(text);
}

interface Seller {
  no: number;
  id: string;
  /** The id of the seller's key. */
  key: string;
}

interface Recorded {
  text: string;
  params: readonly Param[];
}

/** The statements of the transaction in which products are changed. */
async function record(doing: () => Promise<unknown>): Promise<Recorded[]> {
  const send = Connection.prototype.send;
  const open = new Map<Connection, Recorded[]>();
  let found: Recorded[] = [];
  Connection.prototype.send = function (statement, params = []) {
    const { text } = statement;
    if (text.startsWith("BEGIN ")) open.set(this, []);
    open.get(this)?.push({ text, params });
    if (text === "COMMIT") {
      const sent = open.get(this) ?? [];
      if (sent.some((one) => /UPDATE products/.test(one.text))) found = sent;
      open.delete(this);
    }
    return send.call(this, statement, params);
  };
  try {
    await doing();
  } finally {
    Connection.prototype.send = send;
  }
  return found;
}

/** Statements as a script of pgbench, for the products of another seller. */
function scriptOf(
  recorded: readonly Recorded[],
  { from, to }: { from: Seller; to: Seller },
  /**
   * The SKU of each product, by its id. The other seller's product has the same
   * SKU, from which its id follows.
   */
  skus: ReadonlyMap<string, string>,
): string {
  const value = (param: Param): string => {
    if (param === null) return "NULL";
    if (typeof param === "number") return param === from.no ? ":s" : `${param}`;
    if (typeof param !== "string") throw new Error("not in such a script");
    if (param === from.id) return `'${to.id}'`;
    if (param === from.key) return `'${to.key}'`;
    const sku = skus.get(param);
    if (sku !== undefined) return idOf(`'${sku}'`);
    if (UUID.test(param)) return "md5((:u)::text)::uuid";
    return `'${param.replaceAll("'", "''").replaceAll(":", "\\:")}'`;
  };
  const lines = recorded.map(({ text, params }) =>
    text.replace(/\s+/g, " ")
      .replace(/\$(\d+)/g, (_, n) => value(params[Number(n) - 1])) + ";"
  );
  // Waits for the reads, then for the commit.
  const second = lines.findIndex((line) => /^(INSERT|UPDATE)/.test(line));
  return [
    `\\set s ${to.no}`,
    "\\set u random(1, 9000000000000000000)",
    "\\startpipeline",
    ...lines.slice(0, second),
    "\\endpipeline",
    "\\startpipeline",
    ...lines.slice(second),
    "\\endpipeline",
    "",
  ].join("\n");
}

/** SQL for the id of another seller's product. */
const idOf = (sku: string) =>
  `('00000000-0000-7000-8000-' || lpad(${sku}, 12, '0'))::uuid`;

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/**
 * Runs scripts on each server for `MS`; returns the transactions a second of
 * all.
 */
async function pgbench(
  scripts: ReadonlyMap<string, readonly string[]>,
  connections: number,
): Promise<number> {
  const rates = await Promise.all([...scripts].map(async ([url, files]) => {
    const each = Math.ceil(connections / scripts.size);
    const { stdout, stderr } = await new Deno.Command("pgbench", {
      args: [
        ...["-n", "-M", "prepared", "-T", `${MS / 1_000}`],
        ...["-c", `${each}`, "-j", "1"],
        ...files.flatMap((file) => ["-f", file]),
        url,
      ],
    }).output();
    const text = new TextDecoder().decode(stdout);
    const [, rate] = /tps = ([\d.]+)/.exec(text) ?? [];
    if (rate === undefined) throw new Error(new TextDecoder().decode(stderr));
    return Number(rate);
  }));
  return rates.reduce((sum, rate) => sum + rate, 0);
}

/** Processor time of the servers with rows, and of the first server. */
async function serverSeconds(nodes: Iterable<number>): Promise<number> {
  let sum = 0;
  for (const node of nodes) sum += await cpuSecondsOf(await cluster.pid(node));
  return sum;
}

async function measure(place: Place): Promise<void> {
  const { name, holding } = place;
  await using service = await BenchService.start({
    roles: "api",
    sellers: [...SELLERS, ...OTHERS],
    databaseUrl: place.url,
  });
  for (const seller of [...SELLERS, ...OTHERS]) {
    await service.transactionOf(seller, stock(0));
  }
  const scripts = await scriptsOf(place, service);
  let n = 0;
  const requests: Record<Kind, (n: number, connection: number) => Uint8Array> =
    {
      updates: (n, connection) =>
        service.request(
          SELLERS[connection % SELLERS.length],
          "PUT",
          `products/${n % PRODUCTS}/attribute/quantity/${n}`,
        ),
      uploads: (_, connection) =>
        service.upload(SELLERS[connection % SELLERS.length], stock(++n)),
    };
  const nodes = new Set([0, ...holding]);
  for (let round = -1; round < ROUNDS; round++) {
    for (const kind of KINDS) {
      const before = [await service.cpuSeconds(), await serverSeconds(nodes)];
      const { rate, p50 } = await load({
        url: service.url,
        connections: CONNECTIONS[kind],
        ms: MS,
        request: requests[kind],
        expect: kind === "updates" ? 204 : 200,
      });
      const after = [await service.cpuSeconds(), await serverSeconds(nodes)];
      const bare = await pgbench(scripts[kind], CONNECTIONS[kind]);
      const bareAfter = await serverSeconds(nodes);
      // The first ones warm up.
      if (round === -1) continue;
      const each = (seconds: number, rate: number) =>
        1_000_000 * seconds / (rate * MS / 1_000);
      const note = (what: string, unit: string, value: number) =>
        table.note(`${kind}, ${name}${what}`, unit, value);
      note("", "/s", rate);
      note(": p50", "ms", p50);
      note(": pgbench", "/s", bare);
      note(": service / pgbench", "", rate / bare);
      note(": service, processor", "us", each(after[0] - before[0], rate));
      note(": servers, processor", "us", each(after[1] - before[1], rate));
      note(
        ": servers, processor, pgbench",
        "us",
        each(bareAfter - after[1], bare),
      );
    }
  }
}

/** By kind and server, a file for each seller on it. */
async function scriptsOf(
  { url, holding }: Place,
  service: BenchService,
): Promise<Record<Kind, Map<string, string[]>>> {
  await using app = await boot({
    config: { databaseUrl: url },
    seller: { id: "", key: service.keyOf(SELLERS[0]) },
  });
  const { db } = app.app;
  const recorded: Record<Kind, readonly Recorded[]> = {
    updates: await record(() =>
      app.call("/seller_api/products/7/attribute/quantity/999", {
        method: "PUT",
      })
    ),
    uploads: await record(() =>
      app.call("/seller_api/bulk_products?v=1.1", {
        method: "POST",
        body: stock(1_000) as Uint8Array<ArrayBuffer>,
      })
    ),
  };
  const sellers = new Map(
    (await db.read((sql) =>
      sql.all<Seller & { name: string }>(
        `SELECT seller_no AS no, sellers.id, name, api_keys.id AS key
         FROM sellers JOIN api_keys USING (seller_no)`,
      )
    )).map(({ name, ...seller }) => [name, seller]),
  );
  const from = sellers.get(SELLERS[0])!;
  const skus = new Map(
    (await db.read((sql) =>
      sql.all<{ id: string; sku: string }>(
        "SELECT id, sku FROM products WHERE seller_no = ?",
        [from.no],
      )
    )).map(({ id, sku }) => [id, sku]),
  );
  const found = {
    updates: new Map<string, string[]>(),
    uploads: new Map<string, string[]>(),
  };
  for (const other of OTHERS) {
    const to = sellers.get(other)!;
    await db.of(to.no).write(
      (tx) =>
        tx.run(`UPDATE products SET id = ${idOf("sku")} WHERE seller_no = ?`, [
          to.no,
        ], "any"),
    );
    const server = await db.spread?.locate(to.no);
    const at = new URL(url);
    if (server) at.port = new URL(`http://${server.name}`).port;
    for (const kind of KINDS) {
      const file = await Deno.makeTempFile({ suffix: ".sql" });
      const script = scriptOf(recorded[kind], { from, to }, skus);
      await Deno.writeTextFile(
        file,
        // Any product, not always the same.
        kind === "uploads" ? script : `\\set k random(0, ${PRODUCTS - 1})\n` +
          script.replaceAll("'7'", "(:k)::text"),
      );
      const files = found[kind].get(at.href) ?? [];
      found[kind].set(at.href, [...files, file]);
    }
  }
  if (found.updates.size > holding.length) throw new Error("other servers");
  return found;
}

/** How much a longer way to each server adds to one request at a time. */
async function measureAway(place: Place): Promise<void> {
  const name = new URL(place.url).pathname.slice(1);
  await using stack = new AsyncDisposableStack();
  const proxies: Proxy[] = [];
  const client = await connectTo(place.url);
  stack.defer(() => client.end());
  for (const node of [0, ...await cluster.workers()]) {
    const port = Number(new URL(await cluster.url(node, name)).port);
    const proxy = stack.use(new Proxy(port));
    proxies.push(proxy);
    await cluster.sql(
      0,
      `SELECT citus_update_node(nodeid, '127.0.0.1', ${proxy.port})
       FROM pg_dist_node WHERE nodeport = ${port}`,
      name,
    );
  }
  const url = new URL(place.url);
  url.port = `${proxies[0].port}`;
  await using service = await BenchService.start({
    roles: "api",
    sellers: ["away"],
    databaseUrl: url.href,
  });
  await service.transactionOf("away", stock(0));
  let n = 0;
  const requests = {
    update: () =>
      service.request("away", "PUT", `products/7/attribute/quantity/${++n}`),
    upload: () => service.upload("away", stock(++n)),
  };
  for (const [what, request] of Object.entries(requests)) {
    const p50: number[] = [];
    for (const delay of [0, AWAY_MS]) {
      for (const proxy of proxies) proxy.delayMs = delay;
      const { p50: ms } = await load({
        url: service.url,
        connections: 1,
        count: 40,
        request,
        expect: what === "update" ? 204 : 200,
      });
      p50.push(ms);
    }
    const trips = (p50[1] - p50[0]) / (2 * AWAY_MS);
    table.note(`one ${what} at a time, ${place.name}: p50`, "ms", p50[0]);
    table.note(`one ${what}, ${place.name}: round trips`, "", trips);
  }
}

for (const workers of WORKERS) {
  const place = workers === 0 ? await plain() : await spread(workers);
  await (await openPostgres({ url: place.url })).close();
  await measure(place);
  if (workers === 2) await measureAway(place);
}
table.print();
await table.keep("spread");
