/**
 * Sellers move beneath four processes: one gets a shard of its own, which moves
 * to another server, then a server is added and shards are rebalanced onto it,
 * under uploads, updates, images, events and a follower of the feed. Nothing is
 * lost, and the follower's copy is what the sellers read out.
 */
import { assert, assertEquals } from "@std/assert";
import type pg from "pg";
import { connectTo } from "../support/postgres.ts";
import { Cluster } from "./cluster.ts";
import { followed } from "./follower.ts";
import { makeStage, SETTLE_MS } from "./stage.ts";

const cluster = Cluster.given();
const SELLERS = 4;
/** No write waits longer for a shard that moves. */
const WAIT_MS = 6_000;
/** Nor for one that is divided, with writes blocked. */
const BLOCKED_MS = 15_000;
/** How long the traffic goes on while nothing moves. */
const REST_MS = 5_000;

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

/** Where the large seller is. */
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

/** Gives the large seller a shard of its own. */
async function isolate(client: pg.Client): Promise<void> {
  const before = await placeOf(client);
  await client.query(
    `SELECT isolate_tenant_to_new_shard(
       'seller_counters', ${LARGE}, 'CASCADE', 'block_writes')`,
  );
  assert((await placeOf(client)).shard !== before.shard);
}

/** Moves it to another server. */
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
  Deno.test("sellers move to another server, and nothing is lost (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const stage = await makeStage(
      cluster,
      stack,
      `moves${Date.now()}`,
      SELLERS,
    );
    const { traffic, database, processes } = stage;
    const all = [...processes.keys.keys()];
    // As the service's own user.
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
        none: () => new Promise<void>((done) => setTimeout(done, REST_MS)),
        isolated: () => isolate(client),
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
}
