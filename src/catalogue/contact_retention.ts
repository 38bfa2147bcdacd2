/**
 * Deletes the rows of contacts that their sellers deleted and that no product
 * names.
 */
import { inReach, LIMIT, MAINTENANCE, type Tx } from "../database/db.ts";
import { sectionsOf } from "../database/sections.ts";
import { DAY_MS } from "../lib/durations.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import type { Services } from "../services.ts";
import { type ContactKey, storedContact } from "./contact.ts";
import { CONTACT_FIELDS } from "./fields.ts";

/** How many deleted contacts one write examines; each takes two look-ups. */
const STEP_ROWS = 50;

interface Deleted extends ContactKey {
  sellerNo: number;
  unneededSince: number | null;
}

type Place = Pick<Deleted, "sellerNo" | "id">;

/**
 * Deletes the rows of deleted contacts that no product has named for so long
 * that no undo can name them again. Their tombstones stay.
 */
export async function* sweepContacts(
  { config, db, deps }: Pick<Services, "config" | "db" | "deps">,
): AsyncGenerator<number, void> {
  const now = deps.clock.now();
  // The undo of an import may last for some hours.
  const since = now - (config.undoDays + 1) * DAY_MS;
  for (const section of sectionsOf(db)) {
    let after: Place | null = { sellerNo: 0, id: BEFORE_ALL_IDS };
    while (after !== null) {
      const from: Place = after;
      const { last, deleted } = await section.write(
        (tx) => deleteUnneeded(tx, from, { now, since }),
        MAINTENANCE,
      );
      yield deleted;
      after = last;
    }
  }
}

/**
 * Examines the next deleted contacts after `after`: records `now` for contacts
 * that no product names any more, and deletes contacts that no product has
 * named since `since`. Returns the last contact (null at the end) and how many
 * were deleted.
 */
async function deleteUnneeded(
  tx: Tx,
  after: Place,
  { now, since }: { now: number; since: number },
): Promise<{ last: Place | null; deleted: number }> {
  const rows = await tx.all<Deleted>(
    `SELECT seller_no AS "sellerNo", id, name,
       unneeded_since AS "unneededSince"
     FROM contacts
     WHERE (seller_no, id) > (?, ?) AND deleted_at IS NOT NULL ${inReach()}
     ORDER BY seller_no, id ${LIMIT}`,
    [after.sellerNo, after.id, STEP_ROWS],
  );
  let deleted = 0;
  for (const row of rows) {
    const { sellerNo, id, unneededSince } = row;
    const isNamed = await isNamedByProduct(tx, row);
    if (isNamed === (unneededSince !== null)) {
      await tx.run(
        "UPDATE contacts SET unneeded_since = ? WHERE seller_no = ? AND id = ?",
        [isNamed ? null : now, sellerNo, id],
        1,
      );
    } else if (unneededSince !== null) {
      // If an undo names the contact again, it has set the time to null.
      deleted += await tx.run(
        `DELETE FROM contacts
         WHERE seller_no = ? AND id = ? AND unneeded_since <= ?`,
        [sellerNo, id, since],
        "any",
      );
    }
  }
  const last = rows.length < STEP_ROWS ? null : rows[STEP_ROWS - 1];
  return { last, deleted };
}

async function isNamedByProduct(
  tx: Tx,
  { sellerNo, ...contact }: Deleted,
): Promise<boolean> {
  for (const field of CONTACT_FIELDS) {
    const row = await tx.get(
      `SELECT 1 FROM products WHERE seller_no = ? AND ${field} = ? LIMIT 1`,
      [sellerNo, storedContact(contact)],
    );
    if (row !== undefined) return true;
  }
  return false;
}

/**
 * Keeps the contacts with these ids, because an undo makes products name them
 * again.
 */
export async function keepContacts(
  tx: Tx,
  sellerNo: number,
  ids: ReadonlySet<string>,
): Promise<void> {
  if (ids.size === 0) return;
  await tx.runMany(
    `UPDATE contacts SET unneeded_since = NULL
     WHERE seller_no = ? AND id = ? AND unneeded_since IS NOT NULL`,
    [...ids].sort().map((id) => [sellerNo, id]),
    "any",
  );
}
