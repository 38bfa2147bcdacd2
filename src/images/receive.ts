/**
 * Receives an image that a seller uploads: the image worker checks and stores
 * it as it does a download, and its row is written before and after that.
 */
import { ServiceError } from "../lib/errors.ts";
import type { Holder } from "../lib/holders.ts";
import { splitIntoPieces } from "../lib/pieces.ts";
import { inSpan } from "../lib/tracing.ts";
import { requireActive } from "../sellers/access.ts";
import type { Caller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import { type AcceptedImage, imageFile } from "./image.ts";
import {
  recordArriving,
  recordUploaded,
  type UploadRecord,
} from "./uploaded_images.ts";

/** Bytes that are sent to the worker at a time. */
const PIECE = 64 * 1024;

/**
 * Passes uploads to an image worker. Its methods throw a `ServiceError`: 422
 * for an image that is not accepted, 503 if the worker or the store fails.
 */
export interface ImageReceiver extends Holder {
  /** Begins an upload, which `abort` ends early; dispose of it at the end. */
  begin(abort: AbortSignal): ReceivedImage;
}

/** One upload in the image worker. */
export interface ReceivedImage extends Disposable {
  /** Adds the next bytes, which must not be used afterwards. */
  append(piece: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Inspects the image after its last byte. */
  inspect(): Promise<AcceptedImage>;
  /** Stores the inspected image. */
  keep(): Promise<void>;
}

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
  const { db, deps, images, signals } = services;
  const own = db.of(seller.no);
  const wasStored = await own.write(async (tx) => {
    await requireActive(tx, seller);
    return await recordArriving(tx, record);
  });
  await deps.maybe?.("image row written");
  if (wasStored && await images.stat(imageFile(record.image)) !== null) return;
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
