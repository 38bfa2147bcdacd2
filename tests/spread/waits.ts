/**
 * Processes that use different servers: a change in one of them ends the waits
 * in all others within a second, even while a server is unreachable.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Db, Sql } from "../../src/database/db.ts";
import { openPostgres } from "../../src/database/postgres/engine.ts";
import { boot, product, type TestApp, textAt } from "../support/app.ts";
import { pause, until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { CitusCluster } from "../processes/citus_cluster.ts";

const cluster = CitusCluster.given();
const OPERATOR = "op";
/** The longest time from a change until every process sees it. */
const SEEN_MS = 1_000;
const AGAIN_MS = 100;
/** The time in which a process leaves its own unreachable server. */
const LEFT_MS = 2_000;
const SHARDS = 8;

/** The URLs of a new database, one through each node. */
async function entriesOf(
  cluster: CitusCluster,
  name: string,
): Promise<string[]> {
  await cluster.database(name);
  const nodes = [0, ...await cluster.workers()];
  return await Promise.all(nodes.map((node) => cluster.url(node, name)));
}

/** Milliseconds from the end of `doing` to the end of the last of `seeing`. */
async function delayOf(
  doing: Promise<unknown>,
  seeing: readonly Promise<unknown>[],
): Promise<number> {
  await doing;
  const since = performance.now();
  await Promise.all(seeing);
  return performance.now() - since;
}

if (cluster !== null) {
  Deno.test("waiting requests end within a second of the change, on any process (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const host = stack.use(new ImageHost());
    const apps: TestApp[] = [];
    for (const databaseUrl of await entriesOf(cluster, `waits${Date.now()}`)) {
      const [first] = apps;
      apps.push(stack.use(
        await boot({
          config: {
            databaseUrl,
            databaseShards: SHARDS,
            operatorKey: OPERATOR,
            roles: first === undefined ? ["api", "images"] : ["api"],
          },
          seller: first && { id: first.sellerId, key: first.key },
        }),
      ));
    }
    for (const { log } of apps) {
      const spread = log.find(({ event }) => event === "database_spread");
      assertEquals([spread?.servers, spread?.shards], [
        apps.length - 1,
        SHARDS,
      ]);
    }
    for (const [n, app] of apps.entries()) {
      const others = apps.filter((other) => other !== app);
      // Fetching the image takes a moment, in which the others begin to wait.
      const uploaded = await app.upload(product(
        `A-${n}`,
        `<images><image>${host.url}/slow/${n}.png</image></images>`,
      ));
      const path = `/seller_api/bulk_products/${
        textAt(uploaded.xml, "transaction_id")
      }`;
      const isOver = async () =>
        (await app.call(path)).text.includes("completed");
      const waiting = others.map((other) => other.call(`${path}?wait=30`));
      const streams = others.map(async (other) => {
        const headers = { Accept: "text/event-stream" };
        const { text } = await other.call(path, { headers });
        assertStringIncludes(text, "event: final");
      });
      const images = await delayOf(until(isOver, "the image"), [
        ...waiting,
        ...streams,
      ]);
      assert(images < SEEN_MS, `images: ${images} ms`);
      for (const answer of await Promise.all(waiting)) {
        assertEquals(textAt(answer.xml, "transaction/status"), "completed");
      }

      const before = await app.call("/seller_api/events");
      const after = textAt(before.xml, "next");
      const pulls = others.map((other) =>
        other.call(`/seller_api/events?after=${after}&wait=30`)
      );
      const event = app.call("/operator_api/events", {
        method: "POST",
        key: OPERATOR,
        body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
          `<reference>${n}</reference><data><order>${n}</order></data></event>`,
      });
      const events = await delayOf(event, pulls);
      assert(events < SEEN_MS, `events: ${events} ms`);
      for (const { text } of await Promise.all(pulls)) {
        assertStringIncludes(text, `<order>${n}</order>`);
      }
    }
  });

  Deno.test("a wake-up reaches processes connected to another server, even while the first is unreachable (spread)", async () => {
    await using stack = new AsyncDisposableStack();
    const heard: string[][] = [];
    const dbs: Db[] = [];
    for (const url of await entriesOf(cluster, `wakes${Date.now()}`)) {
      const db = await openPostgres({ url, connections: 2, shards: SHARDS });
      stack.defer(() => db.close());
      const list: string[] = [];
      db.wakeUps!.listen((wakeUp) => void list.push(wakeUp?.key ?? "look"));
      dbs.push(db);
      heard.push(list);
    }
    await until(() => heard.every((list) => list.length > 0), "all listen");
    let sent = 0;
    /**
     * A wake-up that each process sends must reach all others. Wake-ups are
     * lost until all know the new server, so it is sent again.
     */
    const allHear = async () => {
      for (const [n, db] of dbs.entries()) {
        const key = `${sent++}`;
        const others = heard.filter((_, other) => other !== n);
        await until(async () => {
          db.wakeUps!.send("progress", key);
          await pause(AGAIN_MS);
          return others.every((list) => list.includes(key));
        }, `wake-up ${key}`);
      }
    };
    await allHear();
    await cluster.run("kill", "0");
    try {
      const since = performance.now();
      const read = (sql: Sql) => sql.all("SELECT name FROM sellers");
      await until(
        () => dbs[0].read(read).then(() => true, () => false),
        "another server is entered",
      );
      assert(performance.now() - since < LEFT_MS);
      await allHear();
    } finally {
      await cluster.run("up", "0");
    }
    await allHear();
  });
}
