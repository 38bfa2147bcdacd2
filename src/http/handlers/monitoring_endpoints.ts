/** Health, metrics and the operator's overview. */
import {
  countBacklog,
  failingWebhooks,
  oldestDueMs,
  totalCounts,
} from "../../administration/backlog.ts";
import { describeDatabase } from "../../monitoring/database_info.ts";
import { lastHours } from "../../monitoring/hourly_counts.ts";
import { isoTime } from "../../xml/encode.ts";
import { type Db, outageOf } from "../../database/db.ts";
import type { Clock } from "../../deps.ts";
import { waitAtMost } from "../../lib/waits.ts";
import { sellerByName } from "../../sellers/seller_rows.ts";
import { QUEUE_NAMES, QUEUES } from "../../jobs/queues.ts";
import type { BacklogNode, QueueNode } from "../../contracts/answers.ts";
import { partialNode } from "../server/list.ts";
import { SERVER_OF_SELLER } from "../server/parameters.ts";
import { endpoint } from "../server/route.ts";

export const getHealth = endpoint({
  operation: "getHealth",
  title: "Check liveness",
  about: "200 while the process runs.",
  answers: ["health"],
}, () => Promise.resolve({ xml: { status: "alive" }, headers: NO_STORE }));

export const getReadiness = endpoint({
  operation: "getReadiness",
  title: "Check readiness",
  about: "200 if the service can work, else 503. With an operator key, the " +
    "answer has the result of each check.",
  answers: ["health"],
  isProbe: true,
}, async ({ services, isOperator }) => {
  const detailed = await isOperator();
  const { db, deps, health } = services;
  const checks = await health.check();
  const isPartlyDown = db.spread?.servers.some(({ isUp }) => !isUp) ?? false;
  const ready = [...checks.values()].every((problem) => problem === null);
  return {
    status: ready ? 200 : 503,
    xml: {
      status: ready ? "ready" : "unavailable",
      checks: detailed
        ? Object.fromEntries(
          [...checks].map(([name, problem]) => [
            name,
            problem !== null
              ? `failed: ${problem}`
              : isPartlyDown && name === "database"
              ? "partly"
              : "ok",
          ]),
        )
        : undefined,
      backlog: detailed && checks.get("database") === null
        ? await backlogNode(db, deps.clock)
        : undefined,
    },
    headers: NO_STORE,
  };
});

export const getDatabase = endpoint({
  operation: "getDatabase",
  title: "List the database servers",
  about:
    "For each server of the database: whether it answered the last check, at " +
    "most 5 seconds ago, and how many sellers and bytes it has. There is one " +
    "server, unless Citus spreads the sellers over several.",
  parameters: [SERVER_OF_SELLER],
  answers: ["database"],
  errors: ["not_found"],
}, async ({ services: { config, db }, query }) => {
  const name = query.get(SERVER_OF_SELLER.name);
  const seller = name === null
    ? null
    : await db.read((sql) => sellerByName(sql, name));
  const { databaseUrl } = config;
  const { engine, shards, servers } = await describeDatabase(
    { db, databaseUrl },
    seller?.no ?? null,
  );
  const server = servers.map(({ bytes, ...known }) => (
    { ...known, bytes: bytes ?? undefined }
  ));
  return {
    xml: {
      database: { engine, shards: shards ?? undefined, servers: { server } },
    },
  };
});

const NO_STORE = { "Cache-Control": "no-store" };

/** If counting the backlog takes longer, the answer has no backlog. */
const BACKLOG_MS = 1_000;

/**
 * The element `<backlog>`; undefined if the backlog cannot be counted, for
 * example because a server has just become unreachable. Readiness does not
 * depend on the backlog.
 */
async function backlogNode(
  db: Db,
  clock: Clock,
): Promise<BacklogNode | undefined> {
  let node: BacklogNode | undefined;
  const counting = db.read(async (sql) => {
    const now = clock.now();
    const backlog = await countBacklog(sql);
    const oldestMs = await oldestDueMs(sql, "deliveries", now);
    const oldest_due_seconds = Math.floor(oldestMs / 1_000);
    node = { ...totalCounts(backlog), oldest_due_seconds };
  });
  try {
    await waitAtMost(clock, BACKLOG_MS, counting);
  } catch (error) {
    if (outageOf(error) === null) throw error;
  }
  return node;
}

export const getMetrics = endpoint({
  operation: "getMetrics",
  title: "Read the metrics",
  about: "The metrics in the text format of Prometheus. The answer is 404 if " +
    "neither SELLER_METRICS_KEY nor an operator key is set.",
  answers: { type: "text/plain" },
  errors: ["not_found"],
}, async ({ services }) => {
  const { text, type } = await services.metrics.text();
  return { body: text, headers: { "Content-Type": type } };
});

/** How many hours of counts the status has. */
const HOURS = 24;
/** How many failing webhooks the status lists at most. */
const FAILING_LIMIT = 100;

export const getStatus = endpoint({
  operation: "getStatus",
  title: "Read the status of the service",
  about:
    "The queues; the failing webhooks (the 100 that have failed longest); " +
    "uploads, images and deliveries of the last 24 hours; and the free " +
    "space on the disks of the process that answers.",
  answers: ["status"],
}, async ({ services }) => {
  const disks = await services.disks.update();
  return await services.db.read(async (sql) => {
    const backlog = await countBacklog(sql);
    const now = services.deps.clock.now();
    const queues: QueueNode[] = [];
    for (const name of QUEUE_NAMES) {
      const { waiting, inFlight } = backlog.queues[name];
      const oldestMs = QUEUES[name].showsAge
        ? await oldestDueMs(sql, name, now)
        : null;
      queues.push({
        name,
        waiting,
        in_progress: inFlight,
        oldest_due_seconds: oldestMs === null
          ? undefined
          : Math.floor(oldestMs / 1_000),
      });
    }
    const failing = await failingWebhooks(sql, FAILING_LIMIT);
    const hours = await lastHours(sql, now, HOURS);
    return {
      xml: {
        backlog: {
          ...totalCounts(backlog),
          held_deliveries: backlog.held,
          exhausted_deliveries: backlog.exhausted,
          pending_reviews: backlog.reviews,
        },
        queues: { queue: queues },
        failing_webhooks: {
          webhook: failing.map((webhook) => ({
            seller: webhook.seller,
            trigger: webhook.trigger,
            url: webhook.url,
            failures: webhook.failures,
            failing_since: isoTime(webhook.failingSince),
            disabled_at: webhook.disabledAt === null
              ? undefined
              : isoTime(webhook.disabledAt),
          })),
        },
        hours: {
          hour: hours.map(({ at, counts }) => ({
            "@from": isoTime(at),
            ...counts,
          })),
        },
        disks: {
          disk: disks.map(({ holds, freePercent, isLow }) => ({
            holds,
            free_percent: freePercent,
            low: isLow || undefined,
          })),
        },
        partial: partialNode(sql),
      },
    };
  });
});
