/**
 * Deletes old deliveries, bodies of events and secrets: jobs of
 * `administration/maintenance.ts`.
 */
import { MAINTENANCE, type ReadWrite } from "../database/db.ts";
import { untilNoneInAnySection } from "../jobs/periodic_jobs.ts";
import { DAY_MS } from "../lib/durations.ts";
import type { Services } from "../services.ts";
import { sweepDeliveries } from "./delivery_log.ts";
import { forgetFormerSecrets, type SecretOwner } from "./secrets.ts";
import { sectionsOf } from "../database/sections.ts";

type RetentionServices = Pick<Services, "config" | "deps" | "db">;

/** Deletes deliveries and bodies of events after SELLER_KEEP_EVENTS_DAYS. */
export async function* sweepEvents(
  { config, deps, db }: RetentionServices,
): AsyncGenerator<number, void> {
  const keptMs = config.keepEventsDays * DAY_MS;
  if (keptMs === 0) return;
  const now = deps.clock.now();
  yield* untilNoneInAnySection(db, (tx) => sweepDeliveries(tx, now, keptMs));
}

/** Deletes former secrets that no longer sign deliveries. */
export async function* sweepFormerSecrets(
  { deps, db }: Pick<RetentionServices, "deps" | "db">,
): AsyncGenerator<number, void> {
  const now = deps.clock.now();
  const forget = (section: ReadWrite, owner: SecretOwner) =>
    section.write((tx) => forgetFormerSecrets(tx, owner, now), MAINTENANCE);
  let changed = await forget(db, "sellers");
  for (const section of sectionsOf(db)) {
    changed += await forget(section, "webhooks");
  }
  yield changed;
}
