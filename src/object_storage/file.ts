/**
 * Transfers one file as an object: in parts of bounded size, of which only a
 * few are in memory, so that the file may have any size. The object appears
 * completely or not at all, and replaces no other object. It carries the
 * SHA-256 of the file, which the download compares.
 */
import { pause } from "../lib/waits.ts";
import { createHash } from "node:crypto";
import type { Clock } from "../deps.ts";
import { inParallel } from "../lib/in_parallel.ts";
import { StoreError } from "../lib/store_error.ts";
import { parseTree, type XmlElement } from "../xml/decode.ts";
import { element } from "../xml/encode.ts";
import { type S3Answer, type S3Client, sha256Hex } from "./client.ts";

/** The protocol allows 10,000 parts, each of at least 5 MiB except the last. */
const MOST_PARTS = 10_000;
const MIB = 1024 * 1024;
const PART_BYTES = 8 * MIB;
/** Parts in memory at once. */
const AT_ONCE = 3;
/** The time limit for a part. */
const PART_MS = 5 * 60_000;
/**
 * The time limit for completing an upload, because the server may not join the
 * parts before.
 */
const COMPLETE_MS = 10 * 60_000;
/** Pauses before a request is repeated that the storage did not execute. */
const PAUSES_MS = [1_000, 2_000, 5_000, 10_000, 20_000];
const ANSWER_BYTES = 64 * 1024;

/** The header that carries the SHA-256 of the file. */
const SHA256 = "x-amz-meta-sha256";

export interface ObjectPlace {
  client: S3Client;
  /** The key below the prefix of the client. */
  key: string;
}

export interface TransferOptions {
  clock: Clock;
  /** Ends the transfer, which then throws the signal's reason. */
  abort: AbortSignal;
  /**
   * Bytes of a part; 8 MiB by default, and more if there would be too many
   * parts.
   */
  partBytes?: number;
}

/** Whether there is an object with that key. Throws a `StoreError`. */
export async function hasObject(place: ObjectPlace): Promise<boolean> {
  return await storedObject(place) !== null;
}

/**
 * Sends a file. Throws a `StoreError`, of kind `condition` if there is another
 * object with that key. A failed upload leaves nothing.
 */
export async function sendFile(
  place: ObjectPlace,
  path: string,
  options: TransferOptions,
): Promise<void> {
  const { size } = await Deno.stat(path);
  const sha256 = await sha256OfFile(path);
  const upload = new Upload(place, options);
  await upload.begin(sha256);
  try {
    const parts = transferParts(size, options);
    const etags = await inParallel(
      AT_ONCE,
      parts,
      async (part) => await upload.part(part, await readPart(path, part)),
    );
    await upload.complete(etags, sha256);
  } catch (error) {
    await upload.cancel();
    throw error;
  }
  const found = await storedObject(place);
  if (found?.bytes !== size || found.sha256 !== sha256) {
    throw new StoreError(
      "unusable",
      `${place.key}: the key has another object.`,
    );
  }
}

/**
 * Receives an object into a new file. Throws a `StoreError`, also if `sendFile`
 * did not send the object.
 */
export async function receiveFile(
  { client, key }: ObjectPlace,
  path: string,
  options: TransferOptions,
): Promise<void> {
  const { clock, abort } = options;
  const found = await storedObject({ client, key });
  if (found === null) throw new StoreError("unusable", `There is no ${key}.`);
  const hash = createHash("sha256");
  using file = await Deno.open(path, {
    write: true,
    createNew: true,
    mode: 0o600,
  });
  for (const { start, end } of transferParts(found.bytes, options)) {
    if (start === end) continue;
    const bytes = await retrying(clock, abort, async () => {
      const answer = await client.send({
        method: "GET",
        file: key,
        headers: { range: `bytes=${start}-${end - 1}`, "if-match": found.etag },
        abort,
      });
      return await answerBody(answer, end - start);
    });
    if (bytes.length !== end - start) {
      throw new StoreError("unusable", `${key}: the answer has another range.`);
    }
    hash.update(bytes);
    await writeAll(file, bytes);
  }
  const { sha256 } = found;
  if (sha256 !== null && sha256 !== hash.digest("hex")) {
    throw new StoreError("unusable", `${key} is not what was stored there.`);
  }
}

interface Part {
  /** Number of the part, from 1. */
  number: number;
  start: number;
  /** Exclusive. */
  end: number;
}

/** The parts of a file: at least one, which may be empty. */
function transferParts(
  size: number,
  { partBytes = PART_BYTES }: TransferOptions,
): Part[] {
  const bytes = Math.max(partBytes, Math.ceil(size / MOST_PARTS / MIB) * MIB);
  const parts = Math.max(1, Math.ceil(size / bytes));
  return Array.from({ length: parts }, (_, n) => ({
    number: n + 1,
    start: n * bytes,
    end: Math.min(size, (n + 1) * bytes),
  }));
}

interface StoredObject {
  bytes: number;
  etag: string;
  /** null if `sendFile` did not send it. */
  sha256: string | null;
}

/** The metadata of an object; null if it does not exist. */
async function storedObject(
  { client, key }: ObjectPlace,
): Promise<StoredObject | null> {
  const answer = await client.send({ method: "HEAD", file: key });
  if (answer === null) return null;
  await answer.drop();
  return {
    bytes: Number(answer.header("content-length")),
    etag: answer.header("etag") ?? "*",
    sha256: answer.header(SHA256),
  };
}

/** One multipart upload. */
class Upload {
  readonly #place: ObjectPlace;
  readonly #options: TransferOptions;
  #id = "";

  constructor(place: ObjectPlace, options: TransferOptions) {
    this.#place = place;
    this.#options = options;
  }

  async begin(sha256: string): Promise<void> {
    const { client, key } = this.#place;
    const answer = await this.#retrying(() =>
      client.send({
        method: "POST",
        file: key,
        query: { uploads: "" },
        headers: { [SHA256]: sha256 },
        abort: this.#options.abort,
      })
    );
    const root = await documentOf(answer);
    this.#id = childText(root, "UploadId");
  }

  /** Returns the entity tag of the part. */
  async part(
    { number }: Part,
    body: Uint8Array<ArrayBuffer>,
  ): Promise<string> {
    const { client, key } = this.#place;
    const sha256 = sha256Hex(body);
    const answer = await this.#retrying(() =>
      client.send({
        method: "PUT",
        file: key,
        query: { partNumber: `${number}`, uploadId: this.#id },
        body,
        sha256,
        abort: this.#options.abort,
        limitMs: PART_MS,
      })
    );
    await answer?.drop();
    const etag = answer?.header("etag") ?? null;
    if (etag !== null) return etag;
    throw new StoreError("unusable", `${key}: the upload is gone.`);
  }

  /** Creates the object, unless another one with that key has other bytes. */
  async complete(etags: readonly string[], sha256: string): Promise<void> {
    try {
      await this.#retrying(() => this.#complete(etags));
    } catch (error) {
      // The answer of an earlier request may have been lost.
      const found = await storedObject(this.#place).catch(() => null);
      if (found?.sha256 !== sha256) throw error;
    }
  }

  async #complete(etags: readonly string[]): Promise<void> {
    const { client, key } = this.#place;
    const body = new TextEncoder().encode(
      element("CompleteMultipartUpload", {
        Part: etags.map((ETag, n) => ({ PartNumber: n + 1, ETag })),
      }),
    );
    const answer = await client.send({
      method: "POST",
      file: key,
      query: { uploadId: this.#id },
      headers: { "if-none-match": "*" },
      body,
      sha256: sha256Hex(body),
      abort: this.#options.abort,
      limitMs: COMPLETE_MS,
    });
    // The status is sent before the parts are joined, so it is always 200.
    const root = await documentOf(answer);
    if (root.name === "CompleteMultipartUploadResult") return;
    const code = childText(root, "Code");
    const kind = code === "PreconditionFailed" ? "condition" : "away";
    throw new StoreError(kind, `${key}: ${code.slice(0, 100)}.`);
  }

  /**
   * Removes the parts. Never rejects, because the caller throws the error that
   * caused the cancellation.
   */
  async cancel(): Promise<void> {
    const { client, key } = this.#place;
    const query = { uploadId: this.#id };
    try {
      const answer = await client.send({ method: "DELETE", file: key, query });
      await answer?.drop();
    } catch {
      // A lifecycle rule of the bucket removes incomplete uploads.
    }
  }

  #retrying<T>(request: () => Promise<T>): Promise<T> {
    const { clock, abort } = this.#options;
    return retrying(clock, abort, request);
  }
}

/** Repeats a request, with pauses, while the storage is unavailable. */
async function retrying<T>(
  clock: Clock,
  abort: AbortSignal,
  request: () => Promise<T>,
): Promise<T> {
  for (const ms of PAUSES_MS) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof StoreError && error.kind === "away")) throw error;
      // The next request fails once `abort` has fired.
      await pause(clock, ms, abort);
    }
  }
  return await request();
}

async function answerBody(
  answer: S3Answer | null,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (answer !== null) return await answer.bytes(most);
  throw new StoreError("unusable", "The object is gone.");
}

async function documentOf(answer: S3Answer | null): Promise<XmlElement> {
  const bytes = await answerBody(answer, ANSWER_BYTES);
  try {
    return parseTree(bytes);
  } catch (error) {
    throw new StoreError("unusable", "An answer is not readable XML.", error);
  }
}

function childText({ name, children }: XmlElement, child: string): string {
  const text = children.find((one) => one.name === child)?.text ?? "";
  if (text !== "") return text;
  throw new StoreError("unusable", `An answer <${name}> has no <${child}>.`);
}

async function readPart(
  path: string,
  { start, end }: Part,
): Promise<Uint8Array<ArrayBuffer>> {
  using file = await Deno.open(path);
  await file.seek(start, Deno.SeekMode.Start);
  const bytes = new Uint8Array(end - start);
  for (let at = 0; at < bytes.length;) {
    const read = await file.read(bytes.subarray(at));
    if (read === null) throw new Error(`${path} became shorter`);
    at += read;
  }
  return bytes;
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    at += await file.write(bytes.subarray(at));
  }
}

async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  using file = await Deno.open(path);
  for await (const piece of file.readable) hash.update(piece);
  return hash.digest("hex");
}
