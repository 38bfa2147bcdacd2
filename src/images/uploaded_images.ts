/**
 * Images that sellers upload: rows of `images` whose URL is the path of their
 * file. The row is written before the file; from then on the file counts
 * against the quota. `retention.ts` deletes rows whose file was never stored,
 * and rows that no product has named within a week.
 */
import { recordInvalid, type ServiceError } from "../lib/errors.ts";
import {
  insertInto,
  placeholders,
  splitIntoLists,
  type Sql,
  type Tx,
} from "../database/db.ts";
import { addUsage } from "../sellers/usage_rows.ts";
import {
  type AcceptedImage,
  imagePath,
  type ImageState,
  QUOTA_EXCEEDED,
  UPLOADED,
} from "./image.ts";
import { copiesBeyondQuota } from "./rows/quota.ts";
import { touchProductsOf } from "./shown_images.ts";

/** The paths among `paths` that are images of the seller's uploads. */
export async function findUploaded(
  sql: Sql,
  sellerNo: number,
  paths: Iterable<string>,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const list of splitIntoLists([...new Set(paths)])) {
    const rows = await sql.all<{ url: string }>(
      `SELECT url FROM images WHERE seller_no = ?
         AND url_key IN (${placeholders(list.length)})
         AND sha256 IS NOT NULL AND state <> 'arriving'`,
      [sellerNo, ...list],
    );
    for (const { url } of rows) found.add(url);
  }
  return found;
}

interface UploadedRow {
  id: string;
  state: ImageState;
  sha256: string | null;
  bytes: number | null;
}

const LOCK_OR_CREATE = insertInto(
  "images",
  [
    ...["seller_no", "id", "url_key", "url", "origin"],
    ...["state", "attempts", "crashes", "created_at"],
  ],
  `ON CONFLICT (seller_no, url_key) DO UPDATE SET state = images.state
   RETURNING id, state, sha256, bytes`,
  `(?, ?, ?, ?, '${UPLOADED}', 'arriving', 0, 0, ?)`,
);

export interface UploadRecord {
  sellerNo: number;
  image: AcceptedImage;
  /** The id of a new row. */
  id: string;
  /** The quota in bytes of sellers without their own. */
  imageQuota: number;
}

/**
 * Records an image whose file is about to be stored, and counts its bytes.
 *
 * @throws {ServiceError} 422 if it would exceed the quota
 */
export async function recordArriving(
  tx: Tx,
  record: UploadRecord,
): Promise<void> {
  const { sellerNo, image: { sha256 } } = record;
  const { id, state } = await recordCopy(tx, record);
  if (state !== "arriving") return;
  await tx.runMany(
    "UPDATE images SET sha256 = ? WHERE seller_no = ? AND id = ?",
    [[sha256, sellerNo, id]],
    1,
  );
}

/**
 * Records that the file is stored. Then products can name the image; products
 * that already name it show it.
 *
 * @throws {ServiceError} 422 if it would exceed the quota
 */
export async function recordUploaded(
  tx: Tx,
  record: UploadRecord,
): Promise<void> {
  const { sellerNo, image: { sha256 } } = record;
  const { id, state, sha256: former } = await recordCopy(tx, record);
  // An attempt in progress looks for the lost file. Without a lease it has no
  // effect; the next attempt finds the new file.
  const change = state === "pending"
    ? "lease_id = NULL, lease_until = NULL, due_at = ?"
    : "code = NULL, message = NULL, stored_at = ?";
  const states: Partial<Record<ImageState, ImageState>> = {
    arriving: "uploaded",
    failed: "stored",
    pruned: "stored",
  };
  await tx.runMany(
    `UPDATE images SET sha256 = ?, state = ?, ${change}
     WHERE seller_no = ? AND id = ?`,
    [[sha256, states[state] ?? state, tx.now(), sellerNo, id]],
    1,
  );
  if (former === null) await touchProductsOf(tx, sellerNo, [id]);
}

/** Locks or creates the row, and counts the image; returns the former row. */
async function recordCopy(
  tx: Tx,
  { sellerNo, image, id, imageQuota }: UploadRecord,
): Promise<UploadedRow> {
  const path = imagePath(image);
  const now = tx.now();
  const [row] = await tx.returning<UploadedRow>(
    LOCK_OR_CREATE,
    [sellerNo, id, path, path, now],
    1,
  );
  const { type, bytes, width, height } = image;
  const more = bytes - (row.bytes ?? 0);
  if (more > 0) {
    const copy = { id: row.id, more };
    const refused = await copiesBeyondQuota(tx, sellerNo, [copy], imageQuota);
    if (refused.size > 0) throw quotaExceeded();
  }
  await tx.runMany(
    `UPDATE images SET type = ?, bytes = ?, width = ?, height = ?,
       stored_at = ?, unneeded_since = NULL
     WHERE seller_no = ? AND id = ?`,
    [[type, bytes, width, height, now, sellerNo, row.id]],
    1,
  );
  await addUsage(tx, sellerNo, "image_bytes", more);
  return row;
}

function quotaExceeded(): ServiceError {
  const { code, message } = QUOTA_EXCEEDED;
  return recordInvalid([{ code, message }]);
}
