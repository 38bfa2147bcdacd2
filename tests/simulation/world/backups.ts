/** Checks that a copy of the database has what was stored when it was made. */
import type { Scene } from "./actor.ts";
import { hold } from "./broken_rule.ts";
import { checkCounts } from "./counters.ts";
import type { Copy } from "./stage.ts";

const IDS = `SELECT id FROM products UNION ALL SELECT id FROM transactions
  UNION ALL SELECT id FROM events UNION ALL SELECT id FROM webhooks
  UNION ALL SELECT id FROM sellers`;

/** Makes a copy, which may fail only during another fault. */
export async function checkBackup({ stage, trouble }: Scene): Promise<void> {
  const { scheduler } = stage;
  const idsOf = (rows: readonly { id: string }[]) =>
    new Set(rows.map(({ id }) => id));
  const begun = scheduler.time;
  const before = idsOf(stage.rows<{ id: string }>(IDS));
  scheduler.trace(() => "a backup begins");
  let copy: Copy;
  try {
    copy = await stage.backUp();
  } catch (error) {
    scheduler.trace(() => `no backup: ${error}`);
    hold(trouble.since("ours", begun), "alive", "a backup is made", `${error}`);
    return;
  }
  using made = copy;
  scheduler.trace(() => "a backup is made");
  const after = idsOf(stage.rows<{ id: string }>(IDS));
  const there = idsOf(made.rows<{ id: string }>(IDS));
  const lost = before.intersection(after).difference(there);
  hold(lost.size === 0, "true", "a backup has what was stored", [...lost]);
  checkCounts((sql) => made.rows(sql));
}
