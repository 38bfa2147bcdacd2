/**
 * Receives an image that a seller uploads. The image worker checks and stores
 * the image like a download. The row of the image is written before and after
 * the file is stored.
 */
import { ServiceError } from "../lib/errors.ts";
import { splitIntoPieces } from "../lib/pieces.ts";
import { inSpan } from "../lib/tracing.ts";
import { requireActive } from "../sellers/access.ts";
import type { Caller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import type { AcceptedImage } from "./image.ts";
import type { ReceivedImage } from "./image_receiver.ts";
import {
  recordArriving,
  recordUploaded,
  type UploadRecord,
} from "./uploaded_images.ts";

/**
 * The bytes that are sent to the worker at a time. The number is large, because
 * each answer of the worker takes long on a busy machine.
 */
const PIECE = 256 * 1024;

export interface ImageUpload {
  seller: Caller;
  /** The file; a chunk is valid until the next one is requested. */
  chunks: AsyncIterable<Uint8Array>;
  /** Fires when the client disconnects or the service stops. */
  abort: AbortSignal;
}

/**
 * Receives and stores an image. If it throws, the image is not stored for the
 * seller.
 */
export async function receiveImage(
  services: Services,
  { seller, chunks, abort }: ImageUpload,
): Promise<AcceptedImage> {
  const { config, deps, imageReceiver } = services;
  using received = imageReceiver.begin(abort);
  const image = await inSpan("image.receive", async () => {
    for await (const piece of splitIntoPieces(chunks, PIECE)) {
      await received.append(piece);
    }
    return await received.inspect();
  });
  await store(services, seller, received, {
    sellerNo: seller.no,
    image,
    id: deps.ids.uuid(),
    imageQuota: config.imageQuota,
  });
  return image;
}

async function store(
  services: Services,
  seller: Caller,
  received: ReceivedImage,
  record: UploadRecord,
): Promise<void> {
  const { db, deps, signals } = services;
  const own = db.of(seller.no);
  await own.write(async (tx) => {
    await requireActive(tx, seller);
    await recordArriving(tx, record);
  });
  await deps.maybe?.("image row written");
  // The file is stored even if it was stored before, because it may be lost.
  await received.keep();
  await deps.maybe?.("image file stored");
  await own.write(async (tx) => {
    await requireActive(tx, seller);
    await recordUploaded(tx, record);
    tx.onCommit(() => signals.images.announce());
  });
}

/** 503: the image cannot be stored at the moment. */
export function notStored(why: string): ServiceError {
  return new ServiceError(
    "unavailable",
    `${why}; the image was not stored. Send it again.`,
    { headers: { "Retry-After": "5" } },
  );
}
