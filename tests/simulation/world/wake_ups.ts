/** Waiting work continues at once if nothing fails and nothing takes long. */
import type { Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import type { Seller } from "./seller.ts";

/**
 * The longest time from a commit until the work that waits for it continues, in
 * virtual milliseconds.
 */
export const WAKE_MS = 50;

/** Whether waiting work must continue within `WAKE_MS`. */
export function wakesAtOnce({ world }: Scene): boolean {
  return world.isPrompt && !world.isPriced;
}

/** Whether requests of a seller may be refused for their rate. */
export function isTight({ world }: Scene, { plan }: Seller): boolean {
  const rate = plan.rateLimit ?? world.settings.rateLimit;
  return rate > 0 && rate < 1_000;
}

/** Work that an answer has made due is in progress. */
export async function checkBegun(scene: Scene): Promise<void> {
  if (!wakesAtOnce(scene)) return;
  const { stage, caller } = scene;
  await caller.sleep(WAKE_MS);
  for (const queue of ["images", "imports"]) {
    const [{ due, claimed }] = stage.rows<{ due: number; claimed: number }>(
      `SELECT COUNT(*) FILTER (WHERE due_at <= ?) AS due,
         COUNT(lease_id) AS claimed FROM ${queue}`,
      stage.now() - WAKE_MS,
    );
    // Other work may wait for work in progress, also on an import that was
    // cancelled: its row has no lease any more.
    const isBusy = claimed > 0 ||
      Object.keys(stage.held())
        .some((what) => what.endsWith(`: ${queue}.in_flight`));
    hold(
      due === 0 || isBusy,
      "alive",
      `${queue} that are due are begun within ${WAKE_MS} ms`,
      due,
    );
  }
}
