/** `GET /images/<first two digits>/<SHA-256>.<type>`: stored images, no key. */
import { ifNoneMatch } from "@std/http/etag";
import { notFound } from "../domain/errors.ts";
import { IMAGE_TYPES } from "../domain/image.ts";
import type { Handler, Reply } from "./context.ts";

/** The only names there are; nothing else is ever looked for on the disk. */
const NAME = new RegExp(
  `^([0-9a-f]{2})[0-9a-f]{62}\\.(${IMAGE_TYPES.join("|")})$`,
);
/** Bytes read at a time. */
const CHUNK = 64 * 1024;

export const getImage: Handler = async ({ services, request, params }) => {
  const { folder, file } = params;
  const match = NAME.exec(file);
  if (match === null || match[1] !== folder) throw notFound("image");
  const etag = `"${file.slice(0, 64)}"`;
  const headers = {
    "Content-Type": `image/${match[2]}`,
    "Cache-Control": "public, max-age=31536000, immutable",
    "ETag": etag,
    "Accept-Ranges": "bytes",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "cross-origin",
  };
  const path = `${services.config.dataDir}/images/${folder}/${file}`;
  const opened = await openFile(path);
  try {
    const size = (await opened.stat()).size;
    return await answer(request, opened, size, headers);
  } catch (error) {
    opened.close();
    throw error;
  }
};

async function openFile(path: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw notFound("image");
    throw error;
  }
}

/** Closes the file where nothing of it is sent. */
async function answer(
  request: Request,
  file: Deno.FsFile,
  size: number,
  headers: Record<string, string>,
): Promise<Reply> {
  const none = (status: number, more: Record<string, string> = {}): Reply => {
    file.close();
    return { status, body: null, headers: { ...headers, ...more } };
  };
  if (!ifNoneMatch(request.headers.get("if-none-match"), headers.ETag)) {
    return none(304);
  }
  const range = wantedRange(request, size, headers.ETag);
  if (range === "unsatisfiable") {
    return none(416, { "Content-Range": `bytes */${size}` });
  }
  const { start, end } = range ?? { start: 0, end: size };
  const status = range === null ? 200 : 206;
  const sent = {
    "Content-Length": `${end - start}`,
    ...(range !== null && {
      "Content-Range": `bytes ${start}-${end - 1}/${size}`,
    }),
  };
  if (request.method === "HEAD") return none(status, sent);
  await file.seek(start, Deno.SeekMode.Start);
  const body = part(file, end - start);
  return { status, body, headers: { ...headers, ...sent } };
}

/** Bytes from `start` up to, not including, `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * The part that is asked for (RFC 9110, 14): null for the whole, which is also
 * the answer to several parts and to what is no range of bytes.
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

/** One range of a `Range` header, against a file of `size` bytes. */
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

/** The next `length` bytes of a file, which is closed behind them. */
function part(file: Deno.FsFile, length: number): ReadableStream<Uint8Array> {
  let left = length;
  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = new Uint8Array(Math.min(CHUNK, left));
        const read = left === 0 ? null : await file.read(chunk);
        if (read === null && left > 0) throw new Error("the image is cut off");
        left -= read ?? 0;
        if (read !== null) controller.enqueue(chunk.subarray(0, read));
        if (left > 0) return;
        file.close();
        controller.close();
      } catch (error) {
        file.close();
        throw error;
      }
    },
    cancel: () => file.close(),
  }, { highWaterMark: 0 });
}
