/** Several hosts in the URL of the database, one of which accepts writes. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Db, DbError } from "../../../src/database/db.ts";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import { codeOf, product } from "../../support/app.ts";
import { TestClock, until } from "../../support/clock.ts";
import { PostgresServer } from "../../support/postgres.ts";
import { Proxy } from "../../support/proxy.ts";
import { ReplicatedServers, set } from "../../support/replication.ts";
import { bootReplicas } from "../../support/replicas.ts";
import { stopwatch } from "../../support/starvation.ts";

/** Independent servers, each behind a proxy. */
class Two implements AsyncDisposable {
  readonly servers: readonly PostgresServer[];
  readonly proxies: readonly Proxy[];

  private constructor(servers: readonly PostgresServer[]) {
    this.servers = servers;
    this.proxies = servers.map(({ port }) => new Proxy(port));
  }

  /** The first server accepts writes. */
  static async start(): Promise<Two> {
    const two = new Two(
      await Promise.all([PostgresServer.start(), PostgresServer.start()]),
    );
    await two.refuseWrites(1);
    return two;
  }

  refuseWrites(n: number): Promise<void> {
    return set(this.servers[n], "SET default_transaction_read_only = on");
  }

  acceptWrites(n: number): Promise<void> {
    return set(this.servers[n], "RESET default_transaction_read_only");
  }

  url(...order: number[]): string {
    const hosts = order.map((n) => `127.0.0.1:${this.proxies[n].port}`);
    return `postgres://postgres@${hosts}/schema?target_session_attrs=read-write`;
  }

  /** The server from which a database reads. */
  async readBy(db: Db): Promise<number> {
    const row = await db.read((sql) =>
      sql.get<{ port: number }>("SELECT inet_server_port() AS port")
    );
    return this.servers.findIndex(({ port }) => port === row!.port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of [...this.proxies, ...this.servers]) {
      await one[Symbol.asyncDispose]();
    }
  }
}

const count = (db: Db) =>
  db.write((tx) => tx.run("UPDATE change_counter SET n = n + 1", [], "any"));

Deno.test("the host that accepts writes is used in any order of hosts, and none if none does", async () => {
  await using two = await Two.start();
  for (const order of [[0, 1], [1, 0], [0]]) {
    const db = await openPostgres({ url: two.url(...order) });
    assertEquals(await two.readBy(db), 0, `${order}`);
    await db.close();
  }
  const error = await assertRejects(
    () => openPostgres({ url: two.url(1) }),
    DbError,
  );
  assertEquals(error.kind, "away");
  const { port } = two.proxies[1];
  assertEquals(error.message, `127.0.0.1:${port}: it refuses writes`);
});

Deno.test("when a host refuses writes, its connections are replaced by ones to the host that accepts them", async () => {
  await using two = await Two.start();
  const db = await openPostgres({ url: two.url(0, 1), connections: 4 });
  try {
    await Promise.all([two.readBy(db), count(db)]);
    await two.refuseWrites(0);
    await until(
      () => count(db).then(() => false, ({ kind }) => kind === "readonly"),
      "that writes are refused",
    );
    assertEquals(await two.readBy(db), 0, "there is no better one");
    await two.acceptWrites(1);
    await until(async () => await two.readBy(db) === 1, "the other host");
    assertEquals(await count(db), 1);
  } finally {
    await db.close();
  }
});

Deno.test("a host found after close() is not used", async () => {
  await using two = await Two.start();
  const db = await openPostgres({ url: two.url(0, 1) });
  await Promise.all([two.readBy(db), count(db)]);
  await two.acceptWrites(1);
  await two.refuseWrites(0);
  await until(
    () => count(db).then(() => false, ({ kind }) => kind === "readonly"),
    "that writes are refused, so that it looks for another host",
  );
  await db.close();
  // A search that continued would open connections again, and fail.
  await two.servers[1].sql("postgres", "SELECT pg_sleep(0.5)");
});

Deno.test("waiting statements move from a host that hangs to one that accepts writes", async () => {
  await using two = await Two.start();
  const clock = new TestClock();
  const url = two.url(0, 1);
  const db = await openPostgres({ url, connections: 2, deps: { clock } });
  try {
    let looks = 0;
    db.wakeUps!.listen(() => looks++);
    await until(() => looks === 1, "that it listens");
    await Promise.all([two.readBy(db), count(db)]);
    two.proxies[0].hang(["answers"]);
    const taken = stopwatch();
    // Of each kind, one has been sent, and one waits for its connection.
    const waiting = [0, 1].flatMap(() => [two.readBy(db), count(db)]);
    await two.acceptWrites(1);
    // The listening connection sends a check, and gets no answer.
    clock.advance(4_000);
    assertEquals(await Promise.all(waiting), [1, 1, 1, 1]);
    const took = taken();
    assert(took < 5_000, `as long as a time-out: ${took} ms`);
    await until(() => {
      clock.advance(1_000);
      return looks === 2;
    }, "that it listens to the other host");
  } finally {
    await db.close();
  }
});

Deno.test("a commit is not acknowledged before the standby confirms it", async () => {
  await using server = await PostgresServer.start({}, {
    wal_level: "replica",
    max_wal_senders: "1",
    synchronous_commit: "on",
    synchronous_standby_names: "nobody",
  });
  const db = await openPostgres({ url: server.url("schema") });
  try {
    const refused = assertRejects(() => count(db), DbError);
    await until(async () => {
      const cancelled = await server.sql(
        "postgres",
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
         WHERE wait_event = 'SyncRep'`,
      );
      return cancelled.length > 0;
    }, "that the commit waits");
    assertEquals((await refused).kind, "unsure");
  } finally {
    await db.close();
  }
});

Deno.test("the standby takes over from a killed primary: 503 until then, and nothing is lost", async () => {
  await using servers = await ReplicatedServers.start();
  const { primary, standby } = servers;
  const database = new URL(await primary.database()).pathname;
  const databaseUrl = `postgres://postgres@127.0.0.1:${primary.port},` +
    `127.0.0.1:${standby.port}${database}`;
  await using service = await bootReplicas(primary, [
    { roles: ["api"], databaseUrl },
    { roles: ["api"], databaseUrl },
  ]);
  const [one, other] = service.apps;
  assertEquals((await one.upload(product("before"))).status, 200);
  await primary.stop("SIGKILL");
  const key = { "Idempotency-Key": "meanwhile" };
  for (const app of service.apps) {
    const answer = await app.upload(product("meanwhile"), "", key);
    assertEquals([answer.status, codeOf(answer)], [503, "unavailable"]);
    assertEquals(answer.headers.get("retry-after"), "5");
  }
  await servers.promote();
  await until(
    async () =>
      (await other.upload(product("meanwhile"), "", key)).status === 200,
    "that it goes on",
  );
  const rows = await service.row(
    "SELECT COUNT(*) AS products FROM products",
  );
  assertEquals(rows, { products: 2 });
});
