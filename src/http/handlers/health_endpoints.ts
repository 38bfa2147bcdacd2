/** `/healthz` and `/readyz`, for monitoring. */
import { countBacklog } from "../../operations/backlog.ts";
import type { Db } from "../../database/db.ts";
import { oldestDueDelivery } from "../../webhooks/delivery_log.ts";
import type { BacklogNode } from "../../contracts/answers.ts";
import type { Handler } from "../server/context.ts";

/** `GET /healthz`: the process runs and answers. */
export const getHealth: Handler<"health"> = () =>
  Promise.resolve({ xml: { status: "alive" }, headers: NOT_KEPT });

/**
 * `GET /readyz`: whether the service can do its work. Only the operator sees
 * the individual checks.
 */
export const getReadiness: Handler<"health"> = async (
  { services, isOperator },
) => {
  const detailed = await isOperator();
  const { db, deps, health } = services;
  const checks = await health.look();
  const ready = [...checks.values()].every((trouble) => trouble === null);
  return {
    status: ready ? 200 : 503,
    xml: {
      status: ready ? "ready" : "unavailable",
      checks: detailed
        ? Object.fromEntries(
          [...checks].map(([name, trouble]) => [
            name,
            trouble === null ? "ok" : `failed: ${trouble}`,
          ]),
        )
        : undefined,
      backlog: detailed && checks.get("database") === null
        ? await backlogNode(db, deps.clock.now())
        : undefined,
    },
    headers: NOT_KEPT,
  };
};

const NOT_KEPT = { "Cache-Control": "no-store" };

function backlogNode(db: Db, now: number): Promise<BacklogNode> {
  return db.read(async (sql) => {
    const { images, deliveries } = await countBacklog(sql);
    const late = now - (await oldestDueDelivery(sql, now) ?? now);
    return {
      images,
      deliveries,
      oldest_due_seconds: Math.floor(late / 1_000),
    };
  });
}
