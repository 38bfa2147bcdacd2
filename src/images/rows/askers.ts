/**
 * Which sellers wait for an image. A pending job belongs to every seller that
 * requested it: each has a row in `image_askers`, deleted when the job ends.
 */
import type { ImageState } from "../image.ts";
import type { Tx } from "../../database/db.ts";

/** The locked row of an image, as far as a request needs it. */
export interface AskedImage {
  id: string;
  url: string;
  origin: string;
  state: ImageState;
  lease_id: string | null;
  /** Attempts that have ended, since the row was inserted. */
  attempts: number;
  /** The retry schedule counts attempts after this one. */
  after_attempt: number;
}

/** The columns of an `AskedImage`. */
export const ASKED =
  "id, url, origin, state, lease_id, attempts, after_attempt";

/** The attempts that do not count for a request made now. */
export function attemptsBefore(
  { attempts, lease_id }: Pick<AskedImage, "attempts" | "lease_id">,
): number {
  // The attempt in progress began before the request.
  return lease_id === null ? attempts : attempts + 1;
}

export function isSettled({ state }: Pick<AskedImage, "state">): boolean {
  return state !== "pending";
}

/** A seller's request to fetch an image. */
export interface Ask {
  image: AskedImage;
  sellerId: string;
}

/**
 * Queues images for sellers. A finished job starts again; a pending one is
 * joined: it is due at once, and its retry schedule starts again, because the
 * new request has just seen its host answer.
 */
export async function askFor(
  tx: Tx,
  asks: readonly Ask[],
  at: number,
): Promise<void> {
  const images = [...new Set(asks.map(({ image }) => image))];
  await tx.runMany(
    `UPDATE images SET state = 'pending', crashes = 0, code = NULL,
       message = NULL, after_attempt = attempts WHERE id = ?`,
    images.filter(isSettled).map(({ id }) => [id]),
  );
  const retried = images.filter((image) =>
    !isSettled(image) && attemptsBefore(image) > image.after_attempt
  );
  await tx.runMany(
    "UPDATE images SET after_attempt = ? WHERE id = ?",
    retried.map((image) => [attemptsBefore(image), image.id]),
  );
  await setDue(tx, retried.map(({ id }) => ({ id, dueAt: at })));
  await tx.runMany(
    `INSERT INTO image_askers (image_id, seller_id, origin, due_at)
     VALUES (?, ?, ?, ?) ON CONFLICT (image_id, seller_id) DO NOTHING`,
    asks.map(({ image, sellerId }) => [image.id, sellerId, image.origin, at]),
  );
}

/** Sets when the next attempt may start, in Unix milliseconds. */
export async function setDue(
  tx: Tx,
  images: readonly { id: string; dueAt: number }[],
): Promise<void> {
  await tx.runMany(
    "UPDATE image_askers SET due_at = ? WHERE image_id = ?",
    images.map(({ id, dueAt }) => [dueAt, id]),
  );
}

/** Deletes the askers of these images. */
export async function dropAskers(
  tx: Tx,
  imageIds: readonly string[],
): Promise<void> {
  await tx.runMany(
    "DELETE FROM image_askers WHERE image_id = ?",
    imageIds.map((id) => [id]),
  );
}
