/**
 * Images whose seller was removed. Those that no other seller needs are deleted
 * with their files: a job of `operations/maintenance.ts`. `unneeded_since` is 0
 * in the row of an image that is still to be looked at.
 */
import { MAINTENANCE, marks, type Sql, type Tx } from "../database/db.ts";
import { untilNone } from "../jobs/periodic_jobs.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import type { Services } from "../services.ts";
import { byUrl } from "./requests.ts";
import { forgetCopies, NEEDED } from "./rows/copies.ts";
import { sweepFiles } from "./retention.ts";

/** Images that one write looks at. */
const SWEEP_IMAGES = 250;

/** Has the images of these URLs looked at, as one user of each has gone. */
export async function abandonImages(
  tx: Tx,
  urls: readonly string[],
): Promise<void> {
  const images = Array.from(new Set(urls), (url) => ({ url })).sort(byUrl);
  await tx.runMany(
    "UPDATE images SET unneeded_since = 0 WHERE url = ?",
    images.map(({ url }) => [url]),
  );
}

const ASKED = `EXISTS (SELECT 1 FROM image_askers a
  WHERE a.image_id = images.id)`;

const NAMED = `EXISTS (SELECT 1 FROM transaction_images t
  WHERE t.image_id = images.id)`;

/** Removes the abandoned images that are not needed. */
export async function* sweepAbandoned(
  services: Pick<Services, "db" | "deps" | "images">,
): AsyncGenerator<number, void> {
  const { db } = services;
  if (!await db.read(hasAbandoned, { single: true })) return;
  for (let after: string | null = BEFORE_ALL_IDS; after !== null;) {
    const from: string = after;
    after = await db.write((tx) => sweepSome(tx, from), MAINTENANCE);
    yield 0;
  }
  if (!await db.read(hasAbandoned, { single: true })) return;
  yield* sweepFiles(services, 0);
  yield* untilNone(() => db.write(forgetShared, MAINTENANCE));
  yield* untilNone(() => db.write(deleteAbandoned, MAINTENANCE));
}

async function hasAbandoned(sql: Sql): Promise<boolean> {
  const row = await sql.get(
    "SELECT 1 AS one FROM images WHERE unneeded_since = 0 LIMIT 1",
  );
  return row !== undefined;
}

/**
 * Keeps what somebody needs, and rows without a copy that an upload names; gives
 * up pending images that nobody waits for. An attempt in progress is looked at
 * again when it has ended. Returns the id of the last image, null at the end.
 */
async function sweepSome(tx: Tx, after: string): Promise<string | null> {
  const images = await tx.all<{ id: string; url: string }>(
    `SELECT id, url FROM images WHERE unneeded_since = 0 AND id > ?
     ORDER BY id LIMIT ${SWEEP_IMAGES}`,
    [after],
  );
  const last = images.length < SWEEP_IMAGES
    ? null
    : images[images.length - 1].id;
  const ids = images.sort(byUrl).map(({ id }) => [id]);
  await tx.runMany(
    `UPDATE images SET state = 'pruned' WHERE id = ? AND state = 'pending'
       AND lease_id IS NULL AND NOT ${ASKED}`,
    ids,
  );
  await tx.runMany(
    `UPDATE images SET unneeded_since = NULL WHERE id = ?
       AND (${ASKED} OR (state <> 'pending' AND (${NEEDED}
         OR (sha256 IS NULL AND ${NAMED}))))`,
    ids,
  );
  return last;
}

/**
 * Gives up copies whose file another URL has too, which keeps it; returns how
 * many.
 */
async function forgetShared(tx: Tx): Promise<number> {
  const images = await tx.all<{ id: string }>(
    `SELECT id FROM images WHERE unneeded_since = 0 AND NOT ${NEEDED}
       AND EXISTS (SELECT 1 FROM images other
                   WHERE other.sha256 = images.sha256
                     AND COALESCE(other.unneeded_since, 1) <> 0)
     ORDER BY url LIMIT ${SWEEP_IMAGES} /* FOR UPDATE */`,
  );
  const ids = images.map(({ id }) => id);
  await forgetCopies(tx, ids);
  return ids.length;
}

/** Deletes rows that no upload names and that have no copy; returns how many. */
async function deleteAbandoned(tx: Tx): Promise<number> {
  const images = await tx.all<{ id: string }>(
    `SELECT id FROM images WHERE unneeded_since = 0 AND sha256 IS NULL
       AND NOT ${NEEDED} AND NOT ${NAMED}
     ORDER BY url LIMIT ${SWEEP_IMAGES} /* FOR UPDATE */`,
  );
  if (images.length === 0) return 0;
  const ids = images.map(({ id }) => id);
  const these = `image_id IN (${marks(ids.length)})`;
  await tx.run(`DELETE FROM image_answers WHERE ${these}`, ids);
  await tx.run(`DELETE FROM changed_images WHERE ${these}`, ids);
  await tx.runMany("DELETE FROM images WHERE id = ?", ids.map((id) => [id]));
  return ids.length;
}
