/** A server that becomes unreachable, comes back, or breaks connections. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { DbError, LOCK_WAIT_MS } from "../../../src/database/db.ts";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import { type Answer, codeOf, product, textAt } from "../../support/app.ts";
import { passing, TestClock, until } from "../../support/clock.ts";
import { add } from "../../support/counters.ts";
import { ImageHost } from "../../support/image_host.ts";
import {
  connectTo,
  ownServer,
  PostgresServer,
} from "../../support/postgres.ts";
import { Proxy } from "../../support/proxy.ts";
import { bootReplicas } from "../../support/replicas.ts";
import { WebhookSink } from "../../support/webhook_sink.ts";
import { stopwatch } from "../../support/starvation.ts";

const server = await ownServer();

const EVENT = "/operator_api/events";

function event(reference: string) {
  return {
    method: "POST",
    key: "operator",
    body: `<event><seller>acme</seller><trigger>order_created</trigger>` +
      `<reference>${reference}</reference></event>`,
  };
}

Deno.test("while the server is unreachable all requests are 503, then everything continues", async () => {
  await using falling = await PostgresServer.start();
  await using images = new ImageHost();
  await using sink = new WebhookSink();
  await using service = await bootReplicas(falling, [
    { roles: ["api"] },
    { roles: ["api", "images"] },
    { roles: ["webhooks"] },
  ], { config: { operatorKey: "operator" } });
  const [api, other] = service.apps;
  const image = (path: string) =>
    `<images><image>${images.url}${path}</image></images>`;
  await api.call("/seller_api/webhooks", {
    method: "POST",
    body: `<webhook><trigger>order_created</trigger>` +
      `<url>${sink.url()}</url></webhook>`,
  });
  const before = await api.upload(product("before", image("/hang/a.png")));
  await until(() => images.count("/hang/a.png") === 1, "a download");
  assertEquals((await api.call(EVENT, event("before"))).status, 200);

  await falling.stop();
  const key = { "Idempotency-Key": "one" };
  const asked: (() => Promise<Answer>)[] = [
    () => api.upload(product("meanwhile"), "", key),
    () => other.upload(product("meanwhile"), "", key),
    () => api.call("/seller_api/webhooks"),
    () =>
      api.call("/seller_api/products/before/attribute/brand/B", {
        method: "PUT",
      }),
    () => api.call(EVENT, event("meanwhile")),
  ];
  const refused = await Promise.all(asked.map((ask) => ask()));
  for (const answer of refused) {
    assertEquals([answer.status, codeOf(answer)], [503, "unavailable"]);
    assertEquals(answer.headers.get("retry-after"), "5");
    assert(!/postgres|connect|127\.0/i.test(answer.text), answer.text);
  }
  const [upload, , read] = refused.map(({ xml }) =>
    textAt(xml, "error/message")
  );
  assert(upload.startsWith("The service cannot store anything "), upload);
  assert(read.startsWith("The service cannot read its database "), read);
  assertEquals((await api.call("/readyz", { key: null })).status, 503);
  assertEquals((await api.call("/healthz", { key: null })).status, 200);
  images.release();

  await falling.start();
  const ready = async () =>
    (await api.call("/readyz", { key: null })).status === 200;
  await until(ready, "readiness");
  for (const ask of asked) {
    const { status } = await ask();
    assert(status === 200 || status === 204, `${status}`);
  }
  const record = await api.status(before, "?wait=30");
  assertEquals(textAt(record, "images/stored"), "1");
  await until(() => sink.received.length >= 2, "both events");
  const after = await other.upload(product("after", image("/good/b.png")));
  assertEquals(
    textAt(await api.status(after, "?wait=30"), "status"),
    "completed",
  );
  const count = await service.row<{ products: number; transactions: number }>(
    `SELECT (SELECT COUNT(*) FROM products) AS products,
       (SELECT COUNT(*) FROM transactions) AS transactions`,
  );
  assertEquals(count, { products: 3, transactions: 3 });
});

Deno.test("/readyz omits a backlog that cannot be counted and does not wait for it", async () => {
  await using service = await bootReplicas(server, [{ roles: ["api"] }], {
    config: { operatorKey: "operator" },
  });
  const [api] = service.apps;
  const ask = () => api.call("/readyz", { key: "operator" });
  const names = (answer: Answer) => answer.xml.children.map(({ name }) => name);
  // On a busy machine a count may also take too long.
  const isWhole = async () => names(await ask()).includes("backlog");
  await until(isWhole, "the backlog");
  const locked = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const locking = api.app.db.write(async (tx) => {
    await tx.run("LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE", [], "any");
    locked.resolve();
    await ended.promise;
  });
  await locked.promise;
  try {
    const taken = stopwatch();
    const answer = await ask();
    assertEquals([answer.status, names(answer)], [200, ["status", "checks"]]);
    assert(taken() < LOCK_WAIT_MS, "it waits for the lock");
  } finally {
    ended.resolve();
    await locking;
  }
  await until(isWhole, "the backlog again");
});

Deno.test("each upload is stored once or refused, whatever connections break", async () => {
  await using service = await bootReplicas(server, [
    { roles: ["api"] },
    { roles: ["api"] },
  ]);
  let hasEnded = false;
  let cut = 0;
  const cutting = (async () => {
    while (!hasEnded) {
      cut += (await server.sql(
        "postgres",
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'seller-interface'`,
      )).length;
      await new Promise((done) => setTimeout(done, 15));
    }
  })();
  const refused: number[] = [];
  const uploadUntilStored = async (i: number) => {
    for (let tries = 0;; tries++) {
      const { status } = await service.apps[(i + tries) % 2].upload(
        Array.from({ length: 20 }, (_, n) => product(`A-${i}-${n}`)).join(""),
        "",
        { "Idempotency-Key": `key-${i}` },
      );
      if (status === 200) return;
      refused.push(status);
      assert(status === 503 || status === 409, `${status}`);
      await new Promise((done) => setTimeout(done, 10));
    }
  };
  for (let round = 0; round < 3; round++) {
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => uploadUntilStored(round * 8 + n)),
    );
  }
  hasEnded = true;
  await cutting;
  assert(cut > 30, `only ${cut} connections were cut`);
  const counts = await service.row(
    `SELECT COUNT(*) AS uploads, SUM(products_created) AS created,
       SUM(products_unchanged) AS unchanged,
       (SELECT COUNT(*) FROM products) AS products FROM transactions`,
  );
  assertEquals(counts, {
    uploads: 24,
    created: 480,
    unchanged: 0,
    products: 480,
  });
});

Deno.test("many processes may start on an empty database at once", async () => {
  const url = await server.database({ empty: true });
  const all = await Promise.all(
    Array.from({ length: 5 }, () => openPostgres({ url, connections: 2 })),
  );
  for (const db of all) await db.close();
});

Deno.test("a database of another program and a wrong name, port or encoding are refused", async () => {
  const url = await server.database({ empty: true });
  await server.sql(
    new URL(url).pathname.slice(1),
    "CREATE TABLE theirs (x int)",
  );
  const kindOf = async (url: string) =>
    (await assertRejects(() => openPostgres({ url }), DbError)).kind;
  assertEquals(await kindOf(url), "corrupt");
  assertEquals(await kindOf(server.url("nowhere")), "away");
  assertEquals(await kindOf("postgres://u:p@127.0.0.1:1/d"), "away");
  await server.sql(
    "postgres",
    "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0",
  );
  assertEquals(await kindOf(server.url("latin")), "corrupt");
});

Deno.test("a wake-up reaches other processes, even after the connection broke", async () => {
  const url = await server.database();
  const one = await openPostgres({ url, connections: 2 });
  const two = await openPostgres({ url, connections: 2 });
  try {
    const heard: string[] = [];
    const deaf: string[] = [];
    const noting = (list: string[]): Parameters<
      NonNullable<typeof one.wakeUps>["listen"]
    >[0] =>
    (wakeUp) =>
      list.push(wakeUp === null ? "look" : `${wakeUp.topic} ${wakeUp.key}`);
    one.wakeUps!.listen(noting(deaf));
    two.wakeUps!.listen(noting(heard));
    await until(() => heard.length + deaf.length === 2, "both listen");
    assertEquals([heard, deaf], [["look"], ["look"]]);
    one.wakeUps!.send("progress", "t1");
    one.wakeUps!.send("progress", "t1");
    for (let i = 2; i <= 250; i++) one.wakeUps!.send("progress", `t${i}`);
    await until(() => heard.length >= 251, "what was sent");
    assertEquals(
      heard.slice(1),
      Array.from({ length: 250 }, (_, i) => `progress t${i + 1}`),
    );
    assertEquals(deaf, ["look"], "nobody wakes himself");
    await server.sql(
      "postgres",
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'",
    );
    await until(() => heard.at(-1) === "look", "that some were missed");
    one.wakeUps!.send("images", "");
    await until(() => heard.at(-1) === "images ", "the next");
    const name = new URL(url).pathname.slice(1);
    const before = heard.length;
    for (const strange of ["hello", "5", "[0, 1]"]) {
      await server.sql(name, `NOTIFY seller_interface, '${strange}'`);
    }
    await until(() => heard.length === before + 3, "that somebody called");
    assertEquals(heard.slice(before), ["look", "look", "look"]);
  } finally {
    await one.close();
    await two.close();
  }
});

Deno.test("wake-ups are combined while one is on its way", async () => {
  const url = await server.database();
  const heard: string[] = [];
  const other = await connectTo(url);
  other.on("notification", ({ payload }) => heard.push(payload!));
  await other.query("LISTEN seller_interface");
  await using proxy = new Proxy(server.port);
  const away = new URL(url);
  away.port = `${proxy.port}`;
  const timeouts = { silenceMs: 1_000 };
  const db = await openPostgres({ url: away.href, timeouts });
  try {
    await db.read((sql) => sql.all("SELECT 1"), { single: true });
    proxy.hang(["answers"]);
    for (const key of ["one", "two", "three", "two"]) {
      db.wakeUps!.send("events", key);
      await new Promise((done) => setImmediate(done));
      await until(() => heard.length > 0, "the first");
    }
    proxy.resume();
    await until(() => heard.length > 1, "the others");
    const wakeUps = heard.map((payload) =>
      JSON.parse(payload).slice(1).map(([, key]: string[]) => key)
    );
    assertEquals(wakeUps, [["one"], ["two", "three"]]);
  } finally {
    await db.close();
    await other.end();
  }
});

Deno.test("after one connection falls silent, no other older connection is used", async () => {
  await using proxy = new Proxy(server.port);
  const url = new URL(await server.database());
  url.port = `${proxy.port}`;
  const silenceMs = 3_000;
  const db = await openPostgres({
    url: url.href,
    connections: 8,
    timeouts: { silenceMs },
  });
  const use = () =>
    Promise.all(Array.from({ length: 4 }, async (_, i) => {
      const look = `SELECT pg_sleep(0.05), ${i}`;
      await Promise.all([
        db.read((sql) => sql.all(look)),
        db.write((tx) => tx.all(look)),
      ]);
    }));
  try {
    await use();
    proxy.mute();
    await Promise.all([
      db.read((sql) => sql.get("SELECT 1")),
      db.write((tx) => tx.get("SELECT 1")),
    ]);
    const taken = stopwatch();
    await use();
    const took = taken();
    assert(took < silenceMs, `${took} ms`);
  } finally {
    await db.close();
  }
});

Deno.test("writes behind a lock of another process wait at the same time", async () => {
  const url = await server.database();
  const timeouts = { lockWaitMs: 1_000 };
  const [holder, db] = await Promise.all([
    openPostgres({ url, connections: 2 }),
    openPostgres({ url, connections: 2, timeouts }),
  ]);
  const blocked = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const holding = holder.write(async (tx) => {
    await tx.get("SELECT 1");
    begun.resolve();
    await blocked.promise;
  }, { order: "one" });
  try {
    await begun.promise;
    const look = () => db.write((tx) => tx.get("SELECT 1"), { order: "one" });
    const taken = stopwatch();
    const refused = await Promise.allSettled([look(), look(), look(), look()]);
    const took = taken();
    const kinds = refused.map((one) =>
      one.status === "rejected" ? (one.reason as DbError).kind : one.status
    );
    assertEquals(kinds, Array(4).fill("busy"));
    assert(took < 2_500, `${took} ms`);
    blocked.resolve();
    await holding;
    await look();
  } finally {
    blocked.resolve();
    await db.close();
    await holder.close();
  }
});

Deno.test("a row that another process keeps locked delays only the write that needs it", async () => {
  const url = await server.database();
  const [holder, db] = await Promise.all([
    openPostgres({ url, connections: 2 }),
    openPostgres({ url, connections: 2, timeouts: { lockWaitMs: 200 } }),
  ]);
  const names = ["b", "c", "d", "e"];
  await holder.write(async (tx) => {
    await tx.run(
      "CREATE TABLE counters (name TEXT PRIMARY KEY, n INTEGER)",
      [],
      "any",
    );
    const insert = "INSERT INTO counters (name, n) VALUES (?, 0)";
    await tx.runMany(insert, names.map((name) => [name]), "any");
  });
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const holding = holder.write(async (tx) => {
    await add("c")(tx);
    begun.resolve();
    await held.promise;
  });
  try {
    await begun.promise;
    const outcomes = await Promise.allSettled(
      names.map((key) => db.write(add(key), { shared: { kind: "test", key } })),
    );
    assertEquals(
      outcomes.map((one) =>
        one.status === "rejected" ? (one.reason as DbError).kind : one.status
      ),
      ["fulfilled", "busy", "fulfilled", "fulfilled"],
    );
  } finally {
    held.resolve();
    await holding;
    await db.close();
    await holder.close();
  }
});

Deno.test("a silent connection is not listened to forever", async () => {
  await using server = await PostgresServer.start();
  await using proxy = new Proxy(server.port);
  const url = new URL(await server.database());
  url.port = `${proxy.port}`;
  const clock = new TestClock();
  const db = await openPostgres({
    url: url.href,
    connections: 2,
    deps: { clock },
  });
  try {
    let looks = 0;
    db.wakeUps!.listen(() => looks++);
    await until(() => looks === 1, "that it listens");
    proxy.mute();
    await until(() => {
      clock.advance(1_000);
      return looks === 2;
    }, "that it listens again");
  } finally {
    await db.close();
  }
});

Deno.test("close() ends although a server is silent", async () => {
  await using proxy = new Proxy(server.port);
  const url = new URL(await server.database());
  url.port = `${proxy.port}`;
  const clock = new TestClock();
  const db = await openPostgres({ url: url.href, deps: { clock } });
  let looks = 0;
  db.wakeUps!.listen(() => looks++);
  await until(() => looks === 1, "that it listens");
  proxy.mute();
  await passing(clock, db.close());
});

Deno.test("LISTEN on a silent server is given up", async () => {
  await using proxy = new Proxy(server.port);
  const url = new URL(await server.database());
  url.port = `${proxy.port}`;
  const clock = new TestClock();
  const db = await openPostgres({ url: url.href, deps: { clock } });
  try {
    let looks = 0;
    proxy.muteOnce("LISTEN");
    db.wakeUps!.listen(() => looks++);
    await until(() => {
      clock.advance(1_000);
      return looks === 1;
    }, "that it listens");
  } finally {
    await passing(clock, db.close());
  }
});
