/**
 * Images: sellers upload them, and everybody may read stored images without a
 * key, at `/images/<first two digits>/<SHA-256>.<type>`.
 */
import { ifNoneMatch } from "@std/http/etag";
import { notFound } from "../../lib/errors.ts";
import { imagePath, typeOfFile } from "../../images/image.ts";
import { receiveImage } from "../../images/receive.ts";
import type { ByteRange, ImageStore } from "../../images/storage/blob_store.ts";
import { endpoint, type Reply } from "../server/route.ts";
import type { Streamed } from "../server/sending.ts";

export const uploadImage = endpoint({
  operation: "uploadImage",
  title: "Upload an image",
  about:
    "The request body is the file. The image is checked and stored like a " +
    "downloaded image; your products can then have its URL. The same file " +
    "always has the same URL.",
  sendsImage: true,
  answers: ["image"],
  errors: ["rate_limited"],
  waits: true,
}, async (exchange) => {
  const { services, seller, requestId } = exchange;
  const chunks = await exchange.image();
  const { abort } = exchange;
  const image = await receiveImage(services, { seller, chunks, abort });
  const { type, width, height, bytes } = image;
  services.deps.log.info("image_uploaded", {
    request_id: requestId,
    seller: seller.name,
    image: image.sha256,
    bytes,
  });
  const url = services.publicUrl() + imagePath(image);
  return {
    xml: { image: { url, type: `image/${type}`, width, height, bytes } },
  };
});

export const getImage = endpoint({
  operation: "getImage",
  title: "Read a stored image",
  about: "The path is the href of a product's image. The file never changes. " +
    "Byte ranges are supported.",
  answers: { type: "image/*" },
}, async ({ services, request, params }) => {
  const { folder, file } = params;
  const name = `${folder}/${file}`;
  const type = typeOfFile(name);
  if (type === null) throw notFound("image");
  const headers = {
    "Content-Type": `image/${type}`,
    "Cache-Control": "public, max-age=31536000, immutable",
    "ETag": `"${file.slice(0, 64)}"`,
    "Accept-Ranges": "bytes",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "cross-origin",
  };
  return await imageAnswer(request, services.images, name, headers);
});

/**
 * Reads only the bytes that are sent. A whole image takes one request to the
 * image store, a range two.
 */
async function imageAnswer(
  request: Request,
  store: ImageStore,
  name: string,
  headers: { ETag: string } & Record<string, string>,
): Promise<Reply> {
  const changed = ifNoneMatch(
    request.headers.get("if-none-match"),
    headers.ETag,
  );
  const ranged = request.headers.has("range");
  if (changed && !ranged && request.method === "GET") {
    const { bytes, body } = requireImage(await store.read(name));
    return {
      body: streamed(body),
      headers: { ...headers, "Content-Length": `${bytes}` },
    };
  }
  const { bytes: size } = requireImage(await store.stat(name));
  if (!changed) return { status: 304, body: null, headers };
  const range = wantedRange(request, size, headers.ETag);
  if (range === "unsatisfiable") {
    const none = { "Content-Range": `bytes */${size}` };
    return { status: 416, body: null, headers: { ...headers, ...none } };
  }
  const { start, end } = range ?? { start: 0, end: size };
  const sent = {
    ...headers,
    "Content-Length": `${end - start}`,
    ...range !== null && {
      "Content-Range": `bytes ${start}-${end - 1}/${size}`,
    },
  };
  const status = range === null ? 200 : 206;
  if (request.method === "HEAD") return { status, body: null, headers: sent };
  const { body } = requireImage(await store.read(name, { start, end }));
  return { status, body: streamed(body), headers: sent };
}

/**
 * A body for a reader without a key. These bodies are limited in number, not in
 * bytes.
 */
function streamed(stream: ReadableStream<Uint8Array>): Streamed {
  return { stream, memoryBytes: 0 };
}

function requireImage<T>(image: T | null): T {
  if (image === null) throw notFound("image");
  return image;
}

/**
 * The requested range (RFC 9110, 14); null for the whole file, which is also
 * sent for several ranges and for units other than bytes.
 */
function wantedRange(
  { method, headers }: Request,
  size: number,
  etag: string,
): ByteRange | "unsatisfiable" | null {
  const wanted = headers.get("range");
  if (wanted === null || method !== "GET") return null;
  const condition = headers.get("if-range");
  if (condition !== null && condition !== etag) return null;
  return parseRange(wanted, size);
}

/** Parses a `Range` header with one range, for a file of `size` bytes. */
export function parseRange(
  header: string,
  size: number,
): ByteRange | "unsatisfiable" | null {
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header);
  if (match === null || match[0].trim() === "bytes=-") return null;
  const [first, last] = [match[1], match[2]];
  if (first === "" && last === "") return null;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return null;
  if (start >= size) return "unsatisfiable";
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  return { start, end };
}
