/**
 * Which seller's image quota a stored copy counts against. Each URL counts
 * once, with the bytes of its copy: for the seller that pays for it already,
 * otherwise for the first registered of those that wait for it and have room.
 * It counts until the copy is pruned; other sellers show it free of charge.
 */
import { inLists, marks, type Sql, type Tx } from "../../database/db.ts";
import { addUsage, lockUsage } from "../../sellers/usage_rows.ts";

/** A seller that may pay for an image. */
interface Payer {
  imageId: string;
  sellerId: string;
  /** Bytes of the present copy if this seller pays for it, otherwise 0. */
  paid: number;
  /** Bytes that the seller's quota leaves for a replacement. */
  room: number;
}

/**
 * The sellers that may pay for these images, by image, in order of preference.
 */
async function payersOf(
  sql: Sql,
  imageIds: readonly string[],
  defaultQuota: number,
): Promise<Map<string, Payer[]>> {
  const payers = new Map<string, Payer[]>();
  for (const list of inLists(imageIds)) {
    const ids = marks(list.length);
    const found = await sql.all<Payer>(
      `SELECT p.image_id AS "imageId", p.seller_id AS "sellerId", p.paid,
         COALESCE(s.image_quota, ?) - COALESCE(u.used, 0) + p.paid AS room
       FROM (SELECT id AS image_id, payer_id AS seller_id,
               COALESCE(bytes, 0) AS paid, 0 AS place
             FROM images WHERE id IN (${ids}) AND payer_id IS NOT NULL
             UNION ALL
             SELECT a.image_id, a.seller_id, 0, 1
             FROM image_askers a JOIN images i ON i.id = a.image_id
             WHERE a.image_id IN (${ids})
               AND (i.payer_id IS NULL OR i.payer_id <> a.seller_id)) p
       JOIN sellers s ON s.id = p.seller_id AND s.status <> 'removed'
       LEFT JOIN seller_usage u
         ON u.seller_id = p.seller_id AND u.resource = 'image_bytes'
       ORDER BY p.image_id, p.place, p.seller_id`,
      [defaultQuota, ...list, ...list],
    );
    for (const payer of found) {
      const others = payers.get(payer.imageId);
      if (others === undefined) payers.set(payer.imageId, [payer]);
      else others.push(payer);
    }
  }
  return payers;
}

/**
 * The largest copy, in bytes, that the quota of any waiting seller allows for
 * each of these images. Omits images that only the service itself waits for.
 */
export async function roomOf(
  sql: Sql,
  imageIds: readonly string[],
  defaultQuota: number,
): Promise<Map<string, number>> {
  const rooms = new Map<string, number>();
  for (const [id, payers] of await payersOf(sql, imageIds, defaultQuota)) {
    const most = payers.reduce((most, { room }) => Math.max(most, room), 0);
    rooms.set(id, most);
  }
  return rooms;
}

/** A copy that was downloaded. */
export interface NewCopy {
  id: string;
  bytes: number;
}

/**
 * Counts new copies against quotas; their rows are locked and not yet changed.
 * Returns the ids of those that no seller has room for; they count as before.
 */
export async function chargeCopies(
  tx: Tx,
  copies: readonly NewCopy[],
  defaultQuota: number,
): Promise<Set<string>> {
  const refused = new Set<string>();
  if (copies.length === 0) return refused;
  const ids = copies.map(({ id }) => id);
  const waiting = await payersOf(tx, ids, defaultQuota);
  const sellers = new Set(
    [...waiting.values()].flatMap((payers) =>
      payers.map(({ sellerId }) => sellerId)
    ),
  );
  await lockUsage(tx, sellers, "image_bytes");
  const candidates = await payersOf(tx, ids, defaultQuota);
  const added = new Map<string, number>();
  const add = (sellerId: string, bytes: number) =>
    added.set(sellerId, (added.get(sellerId) ?? 0) + bytes);
  const payerIds: [string, string][] = [];
  for (const { id, bytes } of copies) {
    const payers = candidates.get(id) ?? [];
    const payer = payers.find(({ sellerId, room }) =>
      bytes + (added.get(sellerId) ?? 0) <= room
    );
    if (payer === undefined) {
      if (payers.length > 0) refused.add(id);
      continue;
    }
    for (const { sellerId, paid } of payers) add(sellerId, -paid);
    add(payer.sellerId, bytes);
    payerIds.push([payer.sellerId, id]);
  }
  await addUsage(tx, "image_bytes", added);
  await tx.runMany("UPDATE images SET payer_id = ? WHERE id = ?", payerIds);
  return refused;
}

/**
 * Removes the copies of these images from the quotas; their rows are locked.
 */
export async function refundCopies(
  tx: Tx,
  imageIds: readonly string[],
): Promise<void> {
  const freed = new Map<string, number>();
  for (const list of inLists([...new Set(imageIds)])) {
    const rows = await tx.all<{ payer_id: string; bytes: number }>(
      `SELECT payer_id, SUM(bytes) AS bytes FROM images
       WHERE id IN (${marks(list.length)}) AND payer_id IS NOT NULL
         AND bytes IS NOT NULL GROUP BY payer_id`,
      list,
    );
    for (const { payer_id, bytes } of rows) {
      freed.set(payer_id, (freed.get(payer_id) ?? 0) - bytes);
    }
  }
  await addUsage(tx, "image_bytes", freed);
}
