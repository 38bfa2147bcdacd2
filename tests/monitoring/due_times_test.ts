/** A clock that is set back while the service is down. */
import { assertEquals } from "@std/assert";
import { systemClock, systemIds } from "../../src/deps.ts";
import { IMAGES } from "../../src/images/image.ts";
import { moveTimesBack } from "../../src/jobs/lease_queue.ts";
import { boot, product, textAt } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { bothEngines } from "../support/engine.ts";
import { ImageHost } from "../support/image_host.ts";
import { WebhookSink } from "../support/webhook_sink.ts";

const OPERATOR = "operator-key";
const HOUR = 3_600_000;
const AHEAD = 240 * HOUR;

bothEngines.test("work delayed by a clock that was ahead continues at the next start", async () => {
  await using images = new ImageHost();
  await using sink = new WebhookSink();
  const early = await boot({
    config: { operatorKey: OPERATOR },
    deps: {
      clock: { ...systemClock, now: () => systemClock.now() + AHEAD },
    },
  });
  const { config: { dataDir }, sellerId: id, key } = early;
  await early.call("/seller_api/webhooks", {
    method: "POST",
    body: "<webhook><trigger>order_created</trigger>" +
      `<url>${sink.url()}</url></webhook>`,
  });
  const events: string[] = [];
  for (const reference of ["new", "failed", "failed lately"]) {
    const answer = await early.call("/operator_api/events", {
      key: OPERATOR,
      method: "POST",
      body: "<event><seller>acme</seller><trigger>order_created</trigger>" +
        `<reference>${reference}</reference></event>`,
    });
    events.push(textAt(answer.xml, "event_id"));
  }
  const uploaded = await early.upload(
    ["due", "claimed"].map((name) =>
      product(
        name,
        `<images><image>${images.url}/good/${name}.png</image></images>`,
      )
    ).join(""),
  );
  const lately = systemClock.now() + 20 * HOUR;
  await early.app.db.write(async (tx) => {
    await tx.run(
      "UPDATE deliveries SET failures = 1 WHERE event_id = ?",
      [events[1]],
      "any",
    );
    await tx.run(
      "UPDATE deliveries SET failures = 8, due_at = ? WHERE event_id = ?",
      [lately, events[2]],
      "any",
    );
    await tx.run(
      `UPDATE images SET due_at = NULL, lease_id = ?, lease_until = ?
       WHERE url LIKE '%claimed.png'`,
      [systemIds.uuid(), systemClock.now() + AHEAD],
      "any",
    );
  });
  await early.app.close();

  await using app = await boot({
    config: { dataDir, roles: ["api", "images", "webhooks"] },
    seller: { id, key },
  });
  const { app: { db } } = app;
  await until(async () => {
    const status = await app.status(uploaded, "?wait=1");
    return sink.received.length === 2 && textAt(status, "progress") === "100";
  }, "images and deliveries");
  assertEquals(
    sink.received.map(({ headers }) => headers.get("webhook-id")).sort(),
    events.slice(0, 2).sort(),
  );
  const row = await db.read((sql) =>
    sql.get(
      `SELECT due_at AS due FROM deliveries WHERE event_id = ?`,
      [events[2]],
    )
  );
  assertEquals(row, { due: lately }, "a retry of ours is not touched");
});

bothEngines.test("a lease ends on time although the clock was set back", async () => {
  await using images = new ImageHost();
  await using app = await boot();
  const { db } = app.app;
  const names = ["dead", "renewed"];
  await app.upload(
    names.map((name) =>
      product(
        name,
        `<images><image>${images.url}/good/${name}.png</image></images>`,
      )
    ).join(""),
  );
  const now = systemClock.now();
  const lease = (name: string, until: number) =>
    db.write((tx) =>
      tx.run(
        `UPDATE images SET due_at = NULL, lease_id = ?, lease_until = ?
         WHERE url LIKE ?`,
        [
          systemIds.uuid(),
          until,
          `%/${name}.png`,
        ],
        "any",
      )
    );
  await lease("dead", now + HOUR + 9_000);
  await lease("renewed", now + 14_000);
  await db.write((tx) => moveTimesBack(tx, IMAGES, now, HOUR));
  const rows = await db.read((sql) =>
    sql.all<{ until: number }>(
      'SELECT lease_until AS "until" FROM images ORDER BY url',
    )
  );
  const left = rows.map(({ until }) => Number(until) - now);
  assertEquals(left, [9_000, 14_000]);
});
