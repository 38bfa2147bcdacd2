/**
 * Sellers move beneath four processes: one gets a shard of its own, which moves
 * to another server, then a server is added and shards are rebalanced onto it,
 * under uploads, updates, images, events and a follower of the feed. Nothing is
 * lost, and the follower's copy is what the sellers read out.
 */
import { assert, assertEquals } from "@std/assert";
import type pg from "pg";
import type { XmlElement } from "../../src/xml/decode.ts";
import { parseTree } from "../../src/xml/decode.ts";
import { OPERATOR } from "../crash/cluster.ts";
import { child } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { connectTo } from "../support/postgres.ts";
import { nextOf } from "../support/read_out.ts";
import { Cluster } from "./cluster.ts";
import { makeStage, SETTLE_MS, type Stage } from "./stage.ts";

const cluster = Cluster.given();
const SELLERS = 4;
const PAGE = 250;
/** How long the traffic goes on while nothing moves. */
const REST_MS = 5_000;
/** Before the feed is asked again at its end. */
const AGAIN_MS = 200;

/** Reads a list of any process; asks again after a 503. */
async function read(
  { processes }: Stage,
  path: string,
  key: string,
): Promise<XmlElement> {
  for (;;) {
    const response = await fetch(`${processes.nextUrl()}${path}`, {
      headers: { "x-service-auth": key },
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status === 200) return parseTree(bytes);
    assertEquals(response.status, 503, new TextDecoder().decode(bytes));
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}

/** A product without what only the feed says. */
function contentOf(product: XmlElement): string {
  return product.children.map(({ source }) => source).join("");
}

/** A copy of the catalogue, by the id of the product. */
class Follower {
  readonly products = new Map<string, string>();
  #after = "";

  constructor(private readonly stage: Stage) {}

  /** Reads what is new; false if there was nothing. */
  async follow(): Promise<boolean> {
    const after = this.#after === "" ? "" : `&after=${this.#after}`;
    const path = `/operator_api/products?limit=${PAGE}${after}`;
    const page = await read(this.stage, path, OPERATOR);
    const products = child(page, "products").children;
    for (const product of products) {
      const id = child(product, "id").text;
      if (product.attributes.deleted_at !== undefined) this.products.delete(id);
      else this.products.set(id, contentOf(product));
    }
    this.#after = nextOf(page) ?? this.#after;
    return products.length > 0;
  }
}

/** What all sellers read out, by the id of the product. */
async function readOut(stage: Stage): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const key of stage.processes.keys.values()) {
    for (let after: string | null = "";;) {
      const page: XmlElement = await read(
        stage,
        `/seller_api/products?limit=${PAGE}${after && `&after=${after}`}`,
        key,
      );
      for (const product of child(page, "products").children) {
        found.set(child(product, "id").text, contentOf(product));
      }
      after = nextOf(page);
      if (after === null) break;
    }
  }
  return found;
}

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
    `SELECT isolate_tenant_to_new_shard('seller_counters', ${LARGE}, 'CASCADE')`,
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
    const follower = new Follower(stage);
    let over = false;
    const following = (async () => {
      while (!over) {
        if (await follower.follow()) continue;
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    })();
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
    try {
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
        }
      }, SETTLE_MS);
      console.log(await traffic.figures());
      const expected = await readOut(stage);
      await until(
        () => follower.products.size === expected.size,
        "the whole catalogue",
      );
    } finally {
      over = true;
      await following;
    }
    while (await follower.follow()) continue;
    const expected = await readOut(stage);
    for (const [id, product] of expected) {
      assertEquals(follower.products.get(id), product);
    }
    assertEquals(follower.products.size, expected.size);
  });
}
