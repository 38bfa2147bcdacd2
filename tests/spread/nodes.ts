/**
 * What a process knows of the servers and asks of them: where rows of no seller
 * lie, also when their shard moves; how many connections a statement to all of
 * them takes; and that one which falls silent is left out before it counts as
 * away.
 */
import { assert, assertEquals } from "@std/assert";
import { type Db, partsOf } from "../../src/database/db.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { TestClock, until } from "../support/clock.ts";
import { connectTo } from "../support/postgres.ts";
import { Cluster } from "./cluster.ts";
import { Statements } from "./statements.ts";

const cluster = Cluster.given();
const SHARDS = 8;
const WRITES = 5;
const READS = 5;
const ROWS = 64;
/** After which a process looks whether shards have moved. */
const REFRESH_MS = 2_000;

/** Writes a row on each server; their numbers. */
async function write(db: Db): Promise<number[]> {
  return await Promise.all(
    partsOf(db).map((part) =>
      part.write(async (tx) => {
        await tx.run(
          "INSERT INTO health (seller_no, looked_at) VALUES (?, 0)",
          [
            tx.beside,
          ],
          "any",
        );
        return tx.beside;
      })
    ),
  );
}

/** The numbers of the rows, of each server. */
async function numbersOf(db: Db): Promise<number[][]> {
  return await Promise.all(
    partsOf(db).map((part) =>
      part.read(async (sql) => {
        const rows = await sql.all<{ no: number }>(
          `SELECT seller_no AS no FROM health
           WHERE looked_at = 0 ${sql.ofPart()} ORDER BY no DESC`,
        );
        return rows.map(({ no }) => no);
      })
    ),
  );
}

if (cluster !== null) {
  Deno.test("rows of no seller: their server is known, also when their shard has moved (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const url = await cluster.database(`beside${Date.now()}`);
    const clock = new TestClock();
    const db = await openPostgres({
      url,
      connections: 2,
      shards: SHARDS,
      deps: { clock },
    });
    stack.defer(() => db.close());
    const [first, second] = await write(db);
    {
      using statements = new Statements();
      for (let n = 0; n < WRITES; n++) {
        await db.of(first).write(
          (tx) =>
            tx.run("UPDATE health SET looked_at = 0 WHERE seller_no = ?", [
              first,
            ], "any"),
        );
      }
      const sent = [...statements.sent.values()];
      assertEquals(sent.map(({ text }) => text.slice(0, 13)), [
        "UPDATE health",
      ]);
    }

    const client = await connectTo(url);
    stack.defer(() => client.end());
    await client.query(
      `SELECT citus_move_shard_placement(placed.shardid, placed.nodename,
         placed.nodeport, node.nodename, node.nodeport, 'block_writes')
       FROM citus_shards AS placed, pg_dist_node AS node
       WHERE placed.shardid =
           get_shard_id_for_distribution_column('health', ${first})
         AND node.shouldhaveshards AND node.nodeport <> placed.nodeport`,
    );
    const all = [first, second].sort((a, b) => b - a);
    await until(async () => {
      clock.advance(REFRESH_MS);
      const [[one], [two]] = await Promise.all(
        [first, second].map((no) =>
          db.spread!.locate(no).then((server) => [server?.name])
        ),
      );
      return one !== undefined && one === two;
    }, "the shard has moved");
    assertEquals(await numbersOf(db), [[], all]);
  });

  Deno.test("a statement that asks all servers keeps its connections to them (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const database = `sessions${Date.now()}`;
    const url = await cluster.database(database);
    const db = await openPostgres({
      url,
      connections: 2,
      shards: SHARDS,
      deps: { clock: new TestClock() },
    });
    stack.defer(() => db.close());
    const [worker] = await cluster.workers();
    const client = await connectTo(await cluster.url(worker, database));
    stack.defer(() => client.end());
    const sessions = async () => {
      const { rows } = await client.query(
        `SELECT sessions::int AS n FROM pg_stat_database
         WHERE datname = current_database()`,
      );
      const [{ n }] = rows as { n: number }[];
      return n;
    };
    await client.query(
      `INSERT INTO health (seller_no, looked_at)
       SELECT n, 0 FROM generate_series(-${ROWS}, -1) AS n`,
    );
    // Each shard takes its time.
    const read = async () => {
      const rows = await db.read((sql) =>
        sql.all("SELECT 1 FROM health WHERE pg_sleep(0.01) IS NOT NULL")
      );
      assertEquals(rows.length, ROWS);
    };
    await read();
    const before = await sessions();
    for (let n = 0; n < READS; n++) await read();
    const made = await sessions() - before;
    assert(made < READS, `${made} connections`);
  });

  Deno.test("a server that falls silent is left out at once, also at the start of a process (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const url = await cluster.database(`silent${Date.now()}`);
    const db = await openPostgres({ url, connections: 2, shards: SHARDS });
    stack.defer(() => db.close());
    const all = partsOf(db).length;
    const [, node] = await cluster.workers();
    await cluster.run("pause", `${node}`);
    stack.defer(async () => void await cluster.run("resume", `${node}`));
    await until(() => partsOf(db).length < all, "that it is left out");
    assert(db.spread!.holding.every(({ isUp }) => isUp), "it is away");
  });
}
