/**
 * Sellers move beneath four processes: one gets a shard of its own, which moves
 * to another server, then a server is added and shards are rebalanced onto it,
 * under uploads, updates, images, events and a follower of the feed. Each write
 * can be read as soon as it is acknowledged, and the follower's copy equals
 * what the sellers read. Then one seller after the other gets a shard of its
 * own under thousands of updates.
 */
import { assert, assertEquals } from "@std/assert";
import type pg from "pg";
import { connectTo } from "../support/postgres.ts";
import { Processes } from "../processes/processes.ts";
import { PostgresStore } from "../processes/store.ts";
import { Traffic } from "../processes/traffic.ts";
import { pause } from "../support/clock.ts";
import { CitusCluster } from "../processes/citus_cluster.ts";
import { followed } from "./follower.ts";
import { makeStage, SETTLE_MS } from "./stage.ts";

const cluster = CitusCluster.given();
const SELLERS = 4;
/** The longest wait of a write for a shard that moves. */
const WAIT_MS = 6_000;
/** The longest wait for a shard that is split, which blocks writes. */
const BLOCKED_MS = 15_000;
/** How long the traffic continues while nothing moves. */
const REST_MS = 5_000;

/** How many sellers get shards of their own, one after the other. */
const DIVIDED = 5;
/** The products of each of them, and the pause between updates. */
const SKUS = 2;
const UPDATE_MS = 10;
/** The number of the large seller. */
const LARGE = 1;

interface Place {
  host: string;
  port: number;
  shard: number;
}

async function ask<T>(client: pg.Client, text: string): Promise<T[]> {
  return (await client.query(text)).rows as T[];
}

/** The server of the large seller. */
async function placeOf(client: pg.Client): Promise<Place> {
  const [place] = await ask<Place>(
    client,
    `SELECT nodename AS host, nodeport AS port, shardid AS shard
     FROM citus_shards WHERE table_name = 'seller_counters'::regclass
       AND shardid = get_shard_id_for_distribution_column(
         'seller_counters', ${LARGE})`,
  );
  return place;
}

/** Gives a seller a separate shard. */
async function isolate(client: pg.Client, seller = LARGE): Promise<void> {
  await client.query(
    `SELECT isolate_tenant_to_new_shard(
       'seller_counters', ${seller}, 'CASCADE', 'block_writes')`,
  );
}

/** Moves the shard to another server. */
async function move(client: pg.Client): Promise<void> {
  const { host, port, shard } = await placeOf(client);
  const [to] = await ask<Omit<Place, "shard">>(
    client,
    `SELECT nodename AS host, nodeport AS port FROM pg_dist_node
     WHERE shouldhaveshards AND nodeport <> ${port} LIMIT 1`,
  );
  await client.query(
    `SELECT citus_move_shard_placement(${shard},
       '${host}', ${port}, '${to.host}', ${to.port})`,
  );
  assertEquals((await placeOf(client)).port, to.port);
}

if (cluster !== null) {
  Deno.test("sellers move to another server and nothing is lost (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const stage = await makeStage(
      cluster,
      stack,
      `moves${Date.now()}`,
      SELLERS,
      true,
    );
    const { traffic, database, processes } = stage;
    const all = [...processes.keys.keys()];
    // Connects as the service's own user.
    const client = await connectTo(await cluster.url(0, database));
    stack.defer(() => client.end());
    const shards = async (node: number) => {
      const port = Number(new URL(await cluster.url(node, database)).port);
      const [{ n }] = await ask<{ n: number }>(
        client,
        `SELECT count(*)::int AS n FROM citus_shards
         WHERE table_name = 'seller_counters'::regclass
           AND nodeport = ${port}`,
      );
      return n;
    };
    await followed(stage, async () => {
      const steps = {
        none: () => pause(REST_MS),
        isolated: async () => {
          const before = await placeOf(client);
          await isolate(client);
          assert((await placeOf(client)).shard !== before.shard);
        },
        moved: () => move(client),
        rebalanced: async () => {
          const added = Number(await cluster.run("add"));
          assertEquals(await shards(added), 0);
          await client.query("SELECT citus_rebalance_start()");
          await client.query("SELECT citus_rebalance_wait()");
          assert(await shards(added) > 0, "no shard has moved");
        },
      };
      await traffic.during(async () => {
        await traffic.wentOn();
        for (const [name, make] of Object.entries(steps)) {
          const before = traffic.told(all);
          traffic.forget();
          await make();
          await traffic.wentOn();
          const { acknowledged, refused, unanswered, slowestMs } = traffic.told(
            all,
          );
          console.log(name, {
            answered: acknowledged - before.acknowledged,
            refused: refused - before.refused,
            slowestMs,
          });
          assertEquals(unanswered, before.unanswered, name);
          const limit = name === "isolated" ? BLOCKED_MS : WAIT_MS;
          assert(slowestMs < limit, `${name}: ${slowestMs} ms`);
        }
      }, SETTLE_MS);
      console.log(await traffic.figures());
    });
  });

  Deno.test("updates acknowledged while sellers get their own shards are stored (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const database = `divided${Date.now()}`;
    const url = await cluster.database(database);
    stack.defer(() => cluster.forget(database));
    const names = Array.from({ length: DIVIDED + 1 }, (_, n) => `s${n + 1}`);
    // Few shards, so that the sellers share them.
    const store = await PostgresStore.open(url, 4);
    const processes = stack.use(
      await Processes.start(store, { roles: ["api", "api"], sellers: names }),
    );
    const client = await connectTo(url);
    stack.defer(() => client.end());
    const traffic = stack.use(
      new Traffic(processes, {
        uploaders: 0,
        skus: SKUS,
        emitters: 0,
        restMs: () => UPDATE_MS,
        compares: true,
      }),
    );
    await traffic.writing(async () => {
      for (let seller = 1; seller <= DIVIDED; seller++) {
        await isolate(client, seller);
        await traffic.wentOn();
      }
    });
    const { acknowledged, refused, slowestMs } = traffic.told(names);
    const metrics = await processes.metrics();
    console.log({
      updates: acknowledged,
      refused,
      slowestMs,
      repeated: metrics.map((text) =>
        text.match(/^seller_db_retries.* [1-9].*/mg)
      ),
    });
  });
}
