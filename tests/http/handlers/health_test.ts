/** `/healthz` and `/readyz`. */
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals } from "@std/assert";
import { type Clock, systemClock } from "../../../src/deps.ts";
import { systemDisk } from "../../../src/lib/disk.ts";
import { type Answer, boot, child, textAt } from "../../support/app.ts";
import { passing, TestClock, until } from "../../support/clock.ts";
import { validateResponse } from "../../support/schemas.ts";
import { bothForms } from "../../support/forms.ts";

const OPERATOR = "operator-key";

function statusIn(answer: Answer): [number, string] {
  return [answer.status, textAt(answer.xml, "status")];
}

bothForms.test("without a key only health and readiness are visible", async () => {
  await using app = await boot({ config: { operatorKey: OPERATOR } });
  for (
    const [path, status] of [["/healthz", "alive"], ["/readyz", "ready"]]
  ) {
    const answer = await app.call(path, { key: null });
    assertEquals(statusIn(answer), [200, status]);
    assertEquals(answer.xml.children.map(({ name }) => name), ["status"]);
    assertEquals(answer.headers.get("cache-control"), "no-store");
    const head = await app.call(path, { key: null, method: "HEAD" });
    assertEquals([head.status, head.text], [200, ""]);
    assertEquals((await app.call(path, { method: "POST" })).status, 405);
  }
});

bothForms.test("the operator sees each check and the backlog", async () => {
  await using app = await boot({
    config: { operatorKey: OPERATOR, roles: ["api", "images", "webhooks"] },
  });
  const ask = (key: string | null) => app.call("/readyz", { key });
  await until(async () => (await ask(OPERATOR)).status === 200, "readiness");
  const { xml } = await ask(OPERATOR);
  assertEquals(
    child(xml, "checks").children.map(({ name, text }) => [name, text]),
    ["database", "queues", "images", "webhooks", "imports", "sales"].map((
      name,
    ) => [name, "ok"]),
  );
  assertEquals(
    child(xml, "backlog").children.map(({ name, text }) => [name, text]),
    [
      ["images", "0"],
      ["deliveries", "0"],
      ["imports", "0"],
      ["notices", "0"],
      ["sales", "0"],
      ["oldest_due_seconds", "0"],
    ],
  );
  assertEquals((await ask("guessed")).status, 401);
  assertEquals((await ask(app.key)).status, 401, "a seller is no operator");
});

bothForms.test("a database that cannot be written makes the service unready, not dead", async () => {
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  await using app = await boot({
    config: { operatorKey: OPERATOR },
    deps: { clock },
  });
  const ask = (key: string | null = null) => app.call("/readyz", { key });
  const rename = (from: string, to: string) =>
    app.app.db.write((tx) =>
      tx.run(`ALTER TABLE ${from} RENAME TO ${to}`, [], "any")
    );
  assertEquals(statusIn(await ask()), [200, "ready"]);
  await rename("health", "gone");
  now += 999;
  assertEquals(statusIn(await ask()), [200, "ready"], "remembered");
  now += 1;
  assertEquals(statusIn(await ask()), [503, "unavailable"]);
  const detailed = await ask(OPERATOR);
  assertEquals(
    textAt(detailed.xml, "checks/database"),
    "failed: the database refuses a write",
  );
  assertEquals(validateResponse(detailed.text), null);
  assertEquals((await app.call("/healthz", { key: null })).status, 200);
  await rename("gone", "health");
  now += 1_000;
  assertEquals(statusIn(await ask()), [200, "ready"]);
  const changes = app.log.filter(({ level }) => level !== "debug")
    .map(({ event, failed }) => [event, failed]);
  assertEquals(changes, [[
    "not_ready",
    "database: the database refuses a write",
  ], [
    "ready_again",
    undefined,
  ]]);
});

Deno.test("if the database's disk is nearly full the service is not ready, though small writes succeed", async () => {
  let now = 0;
  let bytes = 1e9;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  await using app = await boot({
    config: { operatorKey: OPERATOR, databaseUrl: null },
    deps: {
      clock,
      disk: { ...systemDisk, free: () => Promise.resolve(bytes) },
    },
  });
  const ask = () => app.call("/readyz", { key: OPERATOR });
  assertEquals(statusIn(await ask()), [200, "ready"]);
  bytes = 4_096;
  now += 1_000;
  const full = await ask();
  assertEquals(statusIn(full), [503, "unavailable"]);
  assertEquals(
    textAt(full.xml, "checks/database"),
    "failed: less than 1 MiB is free on its disk",
  );
  bytes = 1e9;
  now += 1_000;
  assertEquals(statusIn(await ask()), [200, "ready"]);
});

Deno.test("during the start, a short time of not being ready is not logged", async () => {
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  await using app = await boot({ deps: { clock } });
  const logged = () =>
    app.log.map(({ event }) => `${event}`)
      .filter((event) => event.includes("ready"));
  const ask = () => app.call("/readyz", { key: null });
  const rename = (from: string, to: string) =>
    app.app.db.write((tx) =>
      tx.run(`ALTER TABLE ${from} RENAME TO ${to}`, [], "any")
    );
  await rename("health", "gone");
  for (const at of [0, 9_999]) {
    now = at;
    assertEquals(statusIn(await ask()), [503, "unavailable"]);
    assertEquals(logged(), []);
  }
  now += 1_000;
  await ask();
  assertEquals(logged(), ["not_ready"]);
  await rename("gone", "health");
  now += 1_000;
  assertEquals(statusIn(await ask()), [200, "ready"]);
  assertEquals(logged(), ["not_ready", "ready_again"]);
});

bothForms.test("a locked database makes the service unready within a second", async () => {
  const clock = new TestClock();
  await using app = await boot({
    config: { operatorKey: OPERATOR, databaseUrl: null },
    deps: { clock },
  });
  const ask = () => app.call("/readyz", { key: OPERATOR });
  assertEquals(statusIn(await ask()), [200, "ready"]);
  const other = new DatabaseSync(`${app.config.dataDir}/seller.db`);
  other.exec("BEGIN IMMEDIATE");
  using stack = new DisposableStack();
  // Otherwise the closing service would wait for the lock for ever.
  stack.defer(() => clock.advance(10_000));
  stack.use(other);
  const began = clock.monotonic() + 1_000;
  clock.advance(1_000);
  for (let look = 0; look < 3; look++) {
    const answers = Promise.all([ask(), ask()]);
    let hasEnded = false;
    answers.finally(() => hasEnded = true);
    await until(async () => {
      // Time passes only with the answers of the service.
      assertEquals((await app.call("/healthz", { key: null })).status, 200);
      if (!hasEnded) clock.advance(20);
      return hasEnded;
    });
    for (const answer of await answers) {
      assertEquals(statusIn(answer), [503, "unavailable"]);
      assert(textAt(answer.xml, "checks/database").startsWith("failed: "));
    }
    clock.advance(1_000);
  }
  const took = clock.monotonic() - began;
  assert(took < 6_300, `${took} ms for three looks`);
  other.close();
  await until(
    async () => (await passing(clock, ask())).status === 200,
    "readiness",
  );
});

bothForms.test("readiness without a key is computed at most once a second", async () => {
  let now = 0;
  const clock: Clock = { ...systemClock, now: () => now, monotonic: () => now };
  await using app = await boot({ deps: { clock } });
  const seen = new Set<number>();
  for (now = 5_000; now < 7_000; now += 100) {
    await Promise.all(
      Array.from({ length: 5 }, () => app.call("/readyz", { key: null })),
    );
    const row = await app.app.db.read((sql) =>
      sql.get<{ looked_at: number }>("SELECT looked_at FROM health")
    );
    seen.add(row!.looked_at);
  }
  assertEquals([...seen], [5_000, 6_000]);
});
