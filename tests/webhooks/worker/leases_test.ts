import { assert, assertEquals } from "@std/assert";
import {
  claimDeliveries,
  queueHeads,
} from "../../../src/webhooks/rows/queue.ts";
import {
  INTERRUPTED,
  settleDelivery,
} from "../../../src/webhooks/rows/outcomes.ts";
import { expiredLeases } from "../../../src/jobs/lease_queue.ts";
import { DELIVERIES } from "../../../src/webhooks/webhook.ts";
import {
  DbError,
  type Param,
  type Query,
  queryText,
  type Tx,
} from "../../../src/database/db.ts";
import { until } from "../../support/clock.ts";
import { WebhookBench } from "../../support/webhook_bench.ts";
import { gate } from "../../support/webhook_sink.ts";
import { bothEngines } from "../../support/engine.ts";

const SECOND = 1_000;

bothEngines.test("deliveries created by another process are seen within two seconds", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const role = bench.start();
  await new Promise((done) => setTimeout(done, 20));
  const { emit } = bench;
  const notify = bench.signals.deliveries.notify;
  bench.signals.deliveries.notify = () => {};
  const event = await emit.call(bench, "order-1");
  bench.signals.deliveries.notify = notify;
  bench.clock.advance(2 * SECOND);
  await bench.delivery(event, "delivered");
  assert(role.trouble() === null);
});

/** Claims deliveries like a process that dies before sending them. */
async function claimAndDie(bench: WebhookBench): Promise<void> {
  const now = bench.clock.now();
  const [head] = await bench.db.read((sql) => queueHeads(sql, now));
  await bench.db.write((tx) =>
    claimDeliveries(tx, {
      ...head,
      limit: 1,
      lease: "of a process that died",
      now,
    })
  );
}

bothEngines.test("a start releases the leases of the former process and keeps the trace", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const event = await bench.emit("order-1");
  await claimAndDie(bench);
  await bench.delivery(event, "sending");
  bench.start();
  const delivery = await bench.delivery(event, "delivered");
  assertEquals(delivery.attempts, 2);
  assertEquals(
    (await bench.attempts(event)).map(({ error, status }) => [error, status]),
    [["interrupted", null], [null, 200]],
  );
});

bothEngines.test("a start keeps leases that another process has claimed since", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const role = bench.role();
  bench.clock.advance(1);
  const event = await bench.emit("order-1");
  await claimAndDie(bench);
  role.start();
  await bench.delivery(await bench.emit("order-2"), "delivered");
  assertEquals((await bench.delivery(event, "sending")).attempts, 1);
});

bothEngines.test("with other processes running, a start waits for leases to end", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const event = await bench.emit("order-1");
  await claimAndDie(bench);
  bench.role(true).start();
  bench.clock.advance(14 * SECOND);
  await new Promise((done) => setTimeout(done, 20));
  assertEquals(bench.sink.received.length, 0);
  bench.clock.advance(2 * SECOND);
  // A step in progress sleeps from its end on.
  await until(() => {
    bench.clock.advance(10);
    return bench.sink.received.length > 0;
  }, "the delivery");
  await bench.delivery(event, "delivered");
});

bothEngines.test("nothing is claimed for a URL that was replaced meanwhile", async () => {
  await using bench = await WebhookBench.open();
  await bench.register(bench.sink.url("/old"));
  const event = await bench.emit("order-1");
  const now = bench.clock.now();
  const [head] = await bench.db.read((sql) => queueHeads(sql, now));
  await bench.register(bench.sink.url("/new"));
  const request = { ...head, limit: 1, lease: "l", now };
  const claims = await bench.db.write((tx) => claimDeliveries(tx, request));
  assertEquals(claims, []);
  await bench.delivery(event, "pending");
});

bothEngines.test("a result is not recorded under a lost lease", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const event = await bench.emit("order-1");
  await claimAndDie(bench);
  const [claim] = await bench.db.read((sql) =>
    expiredLeases(sql, DELIVERIES, Infinity)
  );
  const settlement = { now: bench.clock.now(), fraction: 0 };
  const settle = (lease: string, code: number) =>
    bench.db.write((tx) =>
      settleDelivery(
        tx,
        { ...claim, lease },
        { ...INTERRUPTED, error: null, status: code },
        settlement,
      )
    );
  assertEquals(await settle("another", 500), null);
  await bench.delivery(event, "sending");
  assertEquals((await settle(claim.lease, 200))?.state, "delivered");
  assertEquals(await settle(claim.lease, 500), null);
  await bench.delivery(event, "delivered");
});

/** A delivery that is in flight until `open` is called. */
async function beginDelivery(bench: WebhookBench) {
  const { open, opened } = gate();
  bench.sink.answering = async () => {
    await opened;
    return new Response();
  };
  bench.start();
  const event = await bench.emit("order-1");
  await until(() => bench.sink.received.length === 1);
  return { event, open };
}

bothEngines.test("a lease is renewed while the endpoint is slow", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const { event, open } = await beginDelivery(bench);
  bench.role(true).start();
  const leased = async () => {
    const row = await bench.db.read((sql) =>
      sql.get<{ lease_until: number }>("SELECT lease_until FROM deliveries")
    );
    return row!.lease_until;
  };
  // In small steps, so that the database keeps up with the clock.
  for (let passed = 0; passed < 18 * SECOND; passed += SECOND / 2) {
    bench.clock.advance(SECOND / 2);
    await until(async () => await leased() - bench.clock.now() >= 5 * SECOND);
  }
  assertEquals(bench.sink.received.length, 1);
  open();
  assertEquals((await bench.delivery(event, "delivered")).attempts, 1);
});

bothEngines.test("a stop releases attempts that hang; the next start sends them", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const { open, opened } = gate();
  bench.sink.answering = async (_, count) => {
    if (count === 1) await opened;
    return new Response();
  };
  const role = bench.start();
  const event = await bench.emit("order-1");
  await until(() => bench.sink.received.length === 1);
  await bench.stopped(role);
  const given = await bench.delivery(event, "retrying");
  assertEquals(given.lastAnswer, "interrupted");
  assert(given.dueAt! <= bench.clock.now());
  open();
  bench.start();
  assertEquals((await bench.delivery(event, "delivered")).attempts, 2);
  const [one, two] = bench.sink.received;
  assertEquals(one.headers.get("webhook-id"), two.headers.get("webhook-id"));
});

bothEngines.test("deliveries in progress are not sent again after a stall of this process", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const { event, open } = await beginDelivery(bench);
  // Its own lease has expired at its next check.
  bench.clock.advance(19 * SECOND);
  bench.signals.deliveries.notify();
  await new Promise((done) => setTimeout(done, 50));
  open();
  assertEquals((await bench.delivery(event, "delivered")).attempts, 1);
  assertEquals(bench.sink.received.length, 1);
});

bothEngines.test("deliveries whose payloads cannot be read are not claimed", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const event = await bench.emit("order-1");
  const { db } = bench;
  const write = db.write.bind(db);
  const failing = (tx: Tx): Tx =>
    new Proxy(tx, {
      get(_, name) {
        const value = Reflect.get(tx, name, tx);
        if (typeof value !== "function") return value;
        if (name !== "all") return value.bind(tx);
        return (text: Query, params: Param[]) => {
          if (!queryText(text, "postgres").includes("events.body")) {
            return tx.all(text, params);
          }
          db.write = write;
          throw new DbError("full", "broken on purpose");
        };
      },
    });
  db.write =
    ((fn, options) =>
      write((tx) => fn(failing(tx)), options)) as typeof db.write;
  bench.start();
  // The pause after any failed step.
  await until(() => db.write === write, "the failure");
  await until(() => bench.clock.waiting > 0, "the pause of the role");
  assertEquals((await bench.delivery(event, "pending")).attempts, 0);
  bench.clock.advance(SECOND);
  assertEquals((await bench.delivery(event, "delivered")).attempts, 1);
});

bothEngines.test("an outcome that the database refuses is recorded later, and the delivery is sent once", async () => {
  await using bench = await WebhookBench.open();
  await bench.register();
  const { db } = bench;
  const write = db.write.bind(db);
  let refused = 0;
  let away = false;
  db.write = ((fn, options) => {
    if (!away) return write(fn, options);
    refused++;
    return Promise.reject(new DbError("busy", "broken on purpose"));
  }) as typeof db.write;
  bench.sink.answering = () => {
    away = true;
    return new Response();
  };
  const role = bench.start();
  const event = await bench.emit("order-1");
  await until(() => away, "the request");
  await until(() => {
    bench.clock.advance(SECOND);
    return refused > 10 &&
      role.trouble() === "another process holds the database's lock";
  }, "tries to record it, and the trouble told");
  away = false;
  bench.sink.answering = () => new Response();
  await until(async () => {
    bench.clock.advance(SECOND / 10);
    await new Promise((done) => setTimeout(done, 5));
    const [found] = await bench.deliveries();
    return found.state === "delivered";
  }, "the record");
  assertEquals((await bench.delivery(event, "delivered")).attempts, 1);
  assertEquals(bench.sink.received.length, 1);
  await until(() => {
    bench.clock.advance(SECOND);
    return role.trouble() === null;
  }, "the end of the trouble, at the next look");
});

bothEngines.test("an attempt broken by a stall of this process is no failure of the webhook", async () => {
  await using bench = await WebhookBench.open();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { open, opened } = gate();
  let tries = 0;
  const serving = (async () => {
    for await (const connection of listener) {
      await connection.read(new Uint8Array(4_096));
      if (++tries === 1) await opened;
      else {
        const answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        await connection.write(new TextEncoder().encode(answer));
      }
      connection.close();
      if (tries === 2) break;
    }
  })();
  await bench.register(`http://127.0.0.1:${listener.addr.port}/hook`);
  bench.start();
  const event = await bench.emit("order-1");
  await until(() => tries === 1, "the first try");
  bench.clock.stall(60 * SECOND);
  open();
  await until(() => {
    bench.clock.advance(SECOND / 10);
    return tries === 2;
  }, "the second try");
  await bench.delivery(event, "delivered");
  assertEquals(
    (await bench.attempts(event)).map(({ error, status }) => [error, status]),
    [["interrupted", null], [null, 200]],
  );
  await serving;
});
