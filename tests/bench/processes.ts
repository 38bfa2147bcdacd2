/**
 * The API in 1, 2 and 4 processes on one PostgreSQL server that flushes every
 * commit to its disk, compared with that server's own commits.
 *
 * deno run -A tests/bench/processes.ts [rounds]
 *
 * Connections are assigned to the processes in turn, as by a balancer. The
 * numbers of processes alternate, so that a machine that slows down slows all
 * of them. The load generator and the server run on the same machine.
 */
import pg from "pg";
import { PostgresServer } from "../support/postgres.ts";
import { load } from "./load.ts";
import { BenchService, document } from "./service.ts";
import { Table } from "./table.ts";

const ROUNDS = Number(Deno.args[0] ?? 5);
const PROCESSES = [1, 2, 4];
const SELLERS = ["one", "two", "three", "four"];
const UPLOADS = 16;
/** Products of each document. */
const PRODUCTS = 250;
const MS = 1_500;
const table = new Table();

/** The seller of a connection: each seller through every process, */
const spread = (connection: number) =>
  SELLERS[Math.floor(connection / 4) % SELLERS.length];
/** or each through one process, as by a balancer that uses the key, */
const kept = (connection: number) => SELLERS[connection % SELLERS.length];
/** or one seller alone through all. */
const alone = () => SELLERS[0];

/** One-row commits of bare clients, each for its own row. */
async function bareCommits(
  server: PostgresServer,
  connections: number,
): Promise<number> {
  const until = performance.now() + MS;
  let commits = 0;
  await Promise.all(
    Array.from({ length: connections }, async (_, id) => {
      const client = new pg.Client({
        host: "127.0.0.1",
        port: server.port,
        user: "postgres",
        password: "",
        database: "bare",
      });
      await client.connect();
      while (performance.now() < until) {
        await client.query({
          name: "count",
          text: "UPDATE bare SET n = n + 1 WHERE id = $1",
          values: [id],
        });
        commits++;
      }
      await client.end();
    }),
  );
  return commits / (MS / 1_000);
}

async function uploads(
  service: BenchService,
  name: string,
  prefix: string,
): Promise<void> {
  const requests = Array.from(
    { length: UPLOADS },
    (_, n) =>
      service.upload(
        SELLERS[n % SELLERS.length],
        document(`${prefix}-${n}`, { products: PRODUCTS }),
      ),
  );
  const { rate } = await load({
    url: service.urls,
    connections: 8,
    count: UPLOADS,
    request: (n) => requests[n],
    expect: 200,
  });
  table.note(`uploads of 250 new products, ${name}`, "/s", rate);
  table.note(`the same, ${name}`, "products/s", rate * PRODUCTS);
}

async function updates(
  service: BenchService,
  what: string,
  name: string,
  seller: (connection: number) => string,
): Promise<void> {
  const { rate, p99 } = await load({
    url: service.urls,
    connections: 32,
    ms: MS,
    request: (n, connection) => {
      const path = `products/stock-${n % PRODUCTS}/attribute/quantity/${n}`;
      return service.request(seller(connection), "PUT", path);
    },
    expect: 204,
  });
  table.note(`attribute updates, ${what}, ${name}`, "/s", rate);
  table.note(`attribute updates, ${what}, ${name}: p99`, "ms", p99);
}

await using server = await PostgresServer.start({}, {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "256MB",
  max_wal_size: "2GB",
});
await server.sql("postgres", "CREATE DATABASE bare");
await server.sql("bare", "CREATE TABLE bare (id int PRIMARY KEY, n int)");
await server.sql(
  "bare",
  "INSERT INTO bare SELECT id, 0 FROM generate_series(0, 15) AS id",
);
await using stack = new AsyncDisposableStack();
const services: BenchService[] = [];
for (const processes of PROCESSES) {
  const service = stack.use(
    await BenchService.start({
      roles: "api",
      sellers: SELLERS,
      databaseUrl: await server.database(),
      processes,
    }),
  );
  services.push(service);
  for (const seller of SELLERS) {
    await service.transactionOf(seller, document("stock"));
  }
  await uploads(service, "warm-up", "warm");
}
table.forget("uploads of 250 new products, warm-up");
table.forget("the same, warm-up");
for (let round = 0; round < ROUNDS; round++) {
  for (const connections of [1, 16]) {
    table.note(
      `bare server, one-row commits, ${connections} connections`,
      "/s",
      await bareCommits(server, connections),
    );
  }
  for (const [i, service] of services.entries()) {
    const name = `processes: ${PROCESSES[i]}`;
    await uploads(service, name, `r${round}`);
    await updates(service, "4 sellers", name, spread);
    await updates(service, "4 sellers, kept apart", name, kept);
    await updates(service, "1 seller", name, alone);
  }
}
table.print();
await table.keep("processes");
