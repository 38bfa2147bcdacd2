/**
 * Who waits for an image. A pending job belongs to every seller that asked for
 * it: each has a row in `image_askers`, which goes when the job has ended.
 */
import type { ImageState } from "../image.ts";
import type { Tx } from "../../database/db.ts";

/** The row of an image, locked, as far as asking for it goes. */
export interface AskedImage {
  id: string;
  url: string;
  origin: string;
  state: ImageState;
  lease_id: string | null;
  /** All that ever ended. */
  attempts: number;
  /** The retry schedule counts those beyond. */
  after_attempt: number;
}

/** The columns of an `AskedImage`. */
export const ASKED =
  "id, url, origin, state, lease_id, attempts, after_attempt";

/** The attempts that do not count for whoever asks now. */
export function attemptsBefore(
  { attempts, lease_id }: Pick<AskedImage, "attempts" | "lease_id">,
): number {
  // The one under way began before it was asked.
  return lease_id === null ? attempts : attempts + 1;
}

export function isSettled({ state }: Pick<AskedImage, "state">): boolean {
  return state !== "pending";
}

/** A seller that is to have an image fetched. */
export interface Ask {
  image: AskedImage;
  sellerId: string;
}

/**
 * Puts images into the queues of sellers. A settled one is begun anew; one that
 * is pending is joined: it is due at once, and its retry schedule begins again,
 * because whoever asks now has just seen its host answer.
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

/** Sets when the next attempt may begin, in Unix milliseconds. */
export async function setDue(
  tx: Tx,
  images: readonly { id: string; dueAt: number }[],
): Promise<void> {
  await tx.runMany(
    "UPDATE image_askers SET due_at = ? WHERE image_id = ?",
    images.map(({ id, dueAt }) => [dueAt, id]),
  );
}

/** Nobody waits for these images any more. */
export async function dropAskers(
  tx: Tx,
  imageIds: readonly string[],
): Promise<void> {
  await tx.runMany(
    "DELETE FROM image_askers WHERE image_id = ?",
    imageIds.map((id) => [id]),
  );
}
