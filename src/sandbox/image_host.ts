/** An image host for the sandbox that shows each outcome of a download. */
import type { Clock } from "../deps.ts";
import { picture, pictureType } from "./pictures.ts";

const SLOW_PIECES = 6;
const SLOW_PAUSE_MS = 500;
const PIECE_BYTES = 65_536;

/**
 * Answers `/images/KIND/NAME`, where a KIND is
 * - `good`: at once, with an ETag
 * - `missing`: 404
 * - `redirect`: 302 to the image of the kind `good`
 * - `vanishing`: a HEAD is answered 200, the download 404
 * - `slow`: the download takes three seconds
 * - `flaky`: the first download of a NAME is answered 503
 * - `broken`: the download is no image
 * - `oversized`: the download is longer than the service accepts
 *
 * Except for a HEAD of `missing` and `redirect`, every HEAD is answered 200.
 */
export function imageHost(
  { clock, imageLimit }: { clock: Clock; imageLimit: number },
): (request: Request) => Response {
  const seen = new Set<string>();
  return (request) => {
    const { pathname } = new URL(request.url);
    const [, kind, name] = /^\/images\/(\w+)\/([\w.-]+)$/.exec(pathname) ?? [];
    const bytes = name === undefined ? null : picture(name);
    if (bytes === null || kind === "missing") return text(404, "no image");
    if (kind === "redirect") {
      return text(302, "moved", { location: `/images/good/${name}` });
    }
    const headers: Record<string, string> = {
      "content-type": pictureType(name),
      ...kind === "good" ? { etag: `"${name}"` } : {},
    };
    if (request.method === "HEAD") return new Response(null, { headers });
    switch (kind) {
      case "good":
        return new Response(bytes, { headers });
      case "vanishing":
        return text(404, "gone");
      case "slow":
        return new Response(drip(bytes, clock), { headers });
      case "flaky":
        if (seen.has(pathname)) return new Response(bytes, { headers });
        seen.add(pathname);
        return text(503, "try again", { "retry-after": "1" });
      case "broken":
        return new Response("this is text, not an image", { headers });
      case "oversized":
        return new Response(oversized(bytes, imageLimit), { headers });
      default:
        return text(404, "no such kind of image");
    }
  };
}

function text(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(`${body}\n`, {
    status,
    headers: { "content-type": "text/plain", ...headers },
  });
}

function drip(
  bytes: Uint8Array<ArrayBuffer>,
  clock: Clock,
): ReadableStream<Uint8Array> {
  const size = Math.ceil(bytes.length / SLOW_PIECES);
  let cancel = () => {};
  let sent = 0;
  return new ReadableStream({
    async pull(controller) {
      await new Promise<void>((resolve) => {
        cancel = clock.after(SLOW_PAUSE_MS, resolve);
      });
      controller.enqueue(bytes.subarray(sent, sent + size));
      sent += size;
      if (sent >= bytes.length) controller.close();
    },
    cancel: () => cancel(),
  });
}

/** Bytes that start like an image and are longer than `limit`. */
function oversized(
  start: Uint8Array<ArrayBuffer>,
  limit: number,
): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      const piece = sent === 0 ? start : new Uint8Array(PIECE_BYTES);
      controller.enqueue(piece);
      sent += piece.length;
      if (sent > limit + PIECE_BYTES) controller.close();
    },
  });
}
