/**
 * What a process knows about the servers and sends to them: the places of rows
 * of no seller, even if their shard moves; the number of connections that a
 * statement over all servers takes; and that a server which falls silent is
 * left out before it counts as unreachable.
 */
import { assert, assertEquals } from "@std/assert";
import {
  CONFLICT_TRIES,
  type Db,
  inReach,
  isConflict,
  outageOf,
} from "../../src/database/db.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import type { Clock } from "../../src/deps.ts";
import { addSellersTo } from "../processes/service.ts";
import { TestClock, until } from "../support/clock.ts";
import { connectTo } from "../support/postgres.ts";
import { CitusCluster } from "../processes/citus_cluster.ts";
import { Statements } from "./statements.ts";
import { sectionsOf } from "../../src/database/sections.ts";

const cluster = CitusCluster.given();
const SHARDS = 8;
const WRITES = 5;
const READS = 5;
const ROWS = 64;
/** The interval at which a process checks whether shards have moved. */
const REFRESH_MS = 2_000;
/** How often a server falls silent, each time just after its return. */
const SILENCES = 3;
/** The pause between reads. */
const REST_MS = 20;
/**
 * The longest read during which a server falls silent: until the server is left
 * out, and once more without it.
 */
const LEFT_OUT_MS = 2_000;
/** The longest time until a silent server counts as unreachable. */
const KNOWN_MS = 5_000;
const AT_ONCE_MS = 1_000;

/** Writes a row on each server; returns their numbers. */
async function write(db: Db): Promise<number[]> {
  return await Promise.all(
    sectionsOf(db).map((part) =>
      part.write(async (tx) => {
        await tx.run(
          "INSERT INTO health (seller_no, looked_at) VALUES (?, 0)",
          [
            tx.localSellerNo,
          ],
          "any",
        );
        return tx.localSellerNo;
      })
    ),
  );
}

/** The numbers of the rows on each server. */
async function numbersOf(db: Db): Promise<number[][]> {
  return await Promise.all(
    sectionsOf(db).map((part) =>
      part.read(async (sql) => {
        const rows = await sql.all<{ no: number }>(
          `SELECT seller_no AS no FROM health
           WHERE looked_at = 0 ${inReach()} ORDER BY no DESC`,
        );
        return rows.map(({ no }) => no);
      })
    ),
  );
}

if (cluster !== null) {
  Deno.test("rows of no seller: their server is known, even after their shard moved (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const clock = new TestClock();
    const { db, url } = await open("beside", stack, clock);
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

  Deno.test("a write whose statement changed too few rows runs again, even one for all sellers of a server (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const { db } = await open("few", stack);
    const [first] = await write(db);
    const writers = {
      seller: db.of(first),
      server: db.spread!.serverOf(first)!,
    };
    for (const [name, writer] of Object.entries(writers)) {
      /** Changes no row in its first attempts. */
      const attempt = async (failing: number) => {
        let tries = 0;
        await writer.write((tx) =>
          tx.run(
            "UPDATE health SET looked_at = 1 WHERE seller_no = ? AND ? > 0",
            [first, ++tries > failing ? 1 : 0],
            1,
          )
        ).catch((error) => {
          if (!isConflict(error)) throw error;
          tries = Infinity;
        });
        return tries;
      };
      assertEquals(await attempt(1), 2, name);
      assertEquals(await attempt(CONFLICT_TRIES - 1), CONFLICT_TRIES, name);
      assertEquals(await attempt(CONFLICT_TRIES), Infinity, name);
    }
  });

  Deno.test("a statement that asks all servers keeps its connections to them (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const { db, database } = await open("sessions", stack, new TestClock());
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
    // Each shard takes some time.
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

  Deno.test("a server that falls silent is excluded at once, even at the start of a process (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const { db } = await open("silent", stack);
    const all = sectionsOf(db).length;
    const [, node] = await cluster.workers();
    await cluster.run("pause", `${node}`);
    stack.defer(async () => void await cluster.run("resume", `${node}`));
    await until(() => sectionsOf(db).length < all, "that it is left out");
    assert(db.spread!.servers.every(({ isUp }) => isUp), "it is away");
  });

  for (const isEntered of [false, true]) {
    const which = isEntered ? "the server that was entered" : "a server";
    Deno.test(`${which} that falls silent again and again delays no read of all sellers (spread)`, async () => {
      await using stack = new AsyncDisposableStack();
      const name = `again${Date.now()}`;
      const [, node] = await cluster.workers();
      await cluster.database(name);
      const url = await cluster.url(isEntered ? node : 0, name);
      const db = await openPostgres({ url, connections: 4, shards: SHARDS });
      stack.defer(() => db.close());
      await write(db);
      const all = sectionsOf(db).length;
      let hasEnded = false;
      let slowestMs = 0;
      const errors: unknown[] = [];
      const read = async (text: string) => {
        while (!hasEnded) {
          const since = performance.now();
          await db.read((sql) => sql.all(`${text} WHERE true ${inReach()}`))
            .catch((error) => void errors.push(error));
          slowestMs = Math.max(slowestMs, performance.now() - since);
          await new Promise((done) => setTimeout(done, REST_MS));
        }
      };
      const reading = Promise.all([
        // More reads than there are connections for reads.
        ...Array.from({ length: 6 }, () => read("SELECT 1 FROM health")),
        read("SELECT 1 FROM api_keys"),
      ]);
      for (let n = 0; n < SILENCES; n++) {
        await pause(node, stack);
        await until(() => isAway(db), "that it is away");
        await cluster.run("resume", `${node}`);
        await until(() => sectionsOf(db).length === all, "its return");
      }
      hasEnded = true;
      await reading;
      assertEquals(errors.map(String), []);
      assert(slowestMs < LEFT_OUT_MS, `a read took ${slowestMs} ms`);
    });
  }

  Deno.test("tables on all servers are not changed while one is known to be unreachable (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const { db } = await open("everywhere", stack);
    await addSellersTo(db, ["first"]);
    const [{ no }] = await db.read((sql) =>
      sql.all<{ no: number }>("SELECT seller_no AS no FROM sellers")
    );
    const home = await db.spread!.locate(no);
    const node = await otherThan(home!.name);
    await pause(node, stack);
    const since = performance.now();
    // Begins before the state of the server is known.
    const error = await failureOf(addSellersTo(db, ["second"]));
    assert(outageOf(error) !== null, `${error}`);
    assert(performance.now() - since < KNOWN_MS, "as soon as it is away");
    assert(isAway(db), "it is away");
    for (
      const write of [
        () => addSellersTo(db, ["third"]),
        () =>
          db.of(no).write((tx) =>
            tx.run("DELETE FROM api_keys WHERE seller_no = ?", [no], "any")
          ),
      ]
    ) {
      const since = performance.now();
      const error = await failureOf(write());
      assert(outageOf(error) !== null, `${error}`);
      assert(performance.now() - since < AT_ONCE_MS, "at once");
    }
  });
}

/** A new database, closed when the test ends. */
async function open(
  prefix: string,
  stack: AsyncDisposableStack,
  clock?: Clock,
) {
  const database = `${prefix}${Date.now()}`;
  const url = await cluster!.database(database);
  const db = await openPostgres({
    url,
    connections: 2,
    shards: SHARDS,
    ...(clock && { deps: { clock } }),
  });
  stack.defer(() => db.close());
  return { db, url, database };
}

/** Silences a worker, at most until the test ends. */
async function pause(
  node: number,
  stack: AsyncDisposableStack,
): Promise<void> {
  await cluster!.run("pause", `${node}`);
  stack.defer(async () => void await cluster!.run("resume", `${node}`));
}

/** The number of a worker other than the named one. */
async function otherThan(name: string): Promise<number> {
  for (const node of await cluster!.workers()) {
    const { host } = new URL(await cluster!.url(node, "seller"));
    if (host !== name) return node;
  }
  throw new Error("there is one worker only");
}

function isAway(db: Db): boolean {
  return db.spread!.servers.some(({ isUp }) => !isUp);
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(() => null, (error) => error);
}
