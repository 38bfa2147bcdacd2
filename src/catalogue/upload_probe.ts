/**
 * Probes the images of a document: one HEAD for each distinct URL, except those
 * of images that the seller has uploaded.
 */
import { type Detail, type DetailCode, ServiceError } from "../lib/errors.ts";
import { imageAddress, isUploaded, validatorOf } from "../images/image.ts";
import type { LockedImages } from "../images/requests.ts";
import { findUploaded } from "../images/uploaded_images.ts";
import { inParallel } from "../lib/in_parallel.ts";
import type { OutboundErrorKind } from "../net/errors.ts";
import {
  type Answer,
  OutboundError,
  type RequestOptions,
} from "../net/outbound.ts";
import type { OutboundRequest } from "../net/request.ts";
import type { Services } from "../services.ts";
import type { ProductsDocument } from "./document.ts";

/** The longest time of all HEADs of a request together. */
const HEADS_TIMEOUT_MS = 25_000;
/** The longest time of one HEAD, from its beginning. */
const HEAD_TIMEOUT_MS = 5_000;
/** The most HEADs of a request that run or wait to run. */
const AT_ONCE = 128;
/** No HEAD begins later than this, so each has its full time. */
const LAST_BEGIN_MS = HEADS_TIMEOUT_MS - HEAD_TIMEOUT_MS;

/**
 * The result of a HEAD. `not_asked` says nothing about the URL: the HEAD waited
 * too long in the queue, or was aborted.
 */
export type ProbedImage =
  | { validator: string | null }
  | "uploaded"
  | ImageProblem
  | "not_asked";

/** The distinct URLs of a document, in its order. */
export function imageUrls({ rows }: ProductsDocument): Set<string> {
  return new Set(rows.flatMap(({ images }) => images.map(({ url }) => url)));
}

/**
 * Finds the images of a document that the seller has uploaded. The key of each
 * result is the image's path, as in its row, whichever host the document names.
 * Any other URL of this service is a problem. URLs of other hosts are left out.
 */
export async function findUploadedImages(
  { db, publicUrl }: Pick<Services, "db" | "publicUrl">,
  sellerNo: number,
  { rows }: ProductsDocument,
): Promise<Map<string, ProbedImage>> {
  const found = new Map<string, ProbedImage>();
  const named = rows.flatMap(({ images, patch }) =>
    [...images, ...patch.images ?? []].flatMap((image) => {
      const address = imageAddress(image.url);
      return address === null ? [] : [{ image, ...address }];
    })
  );
  if (named.length === 0) return found;
  const paths = named.map(({ path }) => path);
  const uploaded = await db.of(sellerNo).read(
    (sql) => findUploaded(sql, sellerNo, paths),
  );
  const own = publicUrl();
  for (const { image, base, path } of named) {
    if (uploaded.has(path)) {
      image.url = path;
      found.set(path, "uploaded");
    } else if (base === "" || base === own) {
      image.url = path;
      found.set(path, UNKNOWN_IMAGE);
    }
  }
  return found;
}

/** For whom images are probed; see `RequestOptions`. */
interface Asker {
  owner: string;
  background?: boolean;
  signal?: AbortSignal;
}

/**
 * Sends a HEAD to each image URL that is not in `known`; returns all of them.
 */
export async function probeImages(
  { outbound, deps }: Pick<Services, "outbound" | "deps">,
  named: ReadonlySet<string>,
  asker: Asker,
  known: ReadonlyMap<string, ProbedImage> = new Map(),
): Promise<Map<string, ProbedImage>> {
  const urls = new Set([...named].filter((url) => !known.has(url)));
  if (urls.size === 0) return new Map(known);
  const probes = new Probes(outbound, asker);
  const cancel = deps.clock.after(LAST_BEGIN_MS, () => probes.stopSending());
  try {
    const probed = await inParallel(
      AT_ONCE,
      hostsInTurn(urls),
      async (url) => [url, await probes.probe(url)] as const,
    );
    return new Map([...known, ...probed]);
  } finally {
    cancel();
  }
}

/** One URL of each host in turn, so that a slow host delays no other one. */
function hostsInTurn(urls: ReadonlySet<string>): string[] {
  const byHost = [...Map.groupBy(urls, hostOf).values()];
  if (byHost.length === 1) return byHost[0];
  const ordered: string[] = [];
  for (let n = 0; ordered.length < urls.size; n++) {
    for (const own of byHost) if (n < own.length) ordered.push(own[n]);
  }
  return ordered;
}

/** Scheme, host and port of a URL; "" if it cannot be parsed. */
function hostOf(url: string): string {
  return URL.parse(url)?.origin ?? "";
}

/** Detail codes of the reasons for which no HEAD is sent. */
const NOT_SENT: Partial<Record<OutboundErrorKind, DetailCode>> = {
  blocked: "image_blocked",
  unresolved: "unresolved",
};

/**
 * A host that answered none of the HEADs of a request gets no more after this
 * many broken connections, or after a time-out.
 */
const BROKEN_LIMIT = 12;

/** How a host answered the HEADs of a request. */
interface HostAnswers {
  origin: string;
  answered: number;
  unanswered: number;
  hasTimedOut: boolean;
}

/** The HEADs of one request. */
class Probes {
  readonly #outbound: Services["outbound"];
  readonly #options: RequestOptions & { group: Set<OutboundRequest> };
  readonly #hosts = new Map<string, HostAnswers>();
  #isLate = false;

  constructor(outbound: Services["outbound"], asker: Asker) {
    this.#outbound = outbound;
    this.#options = {
      ...asker,
      timeoutMs: HEAD_TIMEOUT_MS,
      group: new Set(),
    };
  }

  stopSending(): void {
    this.#isLate = true;
    for (const head of this.#options.group) head.stopWaiting();
  }

  /** A HEAD whose connection broke is sent once more, before all others. */
  async probe(url: string): Promise<ProbedImage> {
    const host = this.#hostAnswers(url);
    const hasEnded = () => this.#isLate || isSilent(host);
    if (hasEnded()) return unasked(host);
    let first: OutboundError | null = null;
    const mayRepeat = (error: OutboundError) => {
      this.#countUnanswered(host);
      first = error;
      return !hasEnded();
    };
    const onTimeout = () => {
      host.hasTimedOut = true;
      this.#countUnanswered(host);
    };
    try {
      const options = { ...this.#options, mayRepeat, onTimeout };
      const answer = await this.#outbound.head(url, options);
      host.answered++;
      return probedBy(answer);
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      const isSecond = first !== null && error !== first;
      if (isSecond && error.kind === "reset") this.#countUnanswered(host);
      return first !== null && error.isOurs
        ? problemOf(first, host, false)
        : problemOf(error, host, isSecond);
    }
  }

  /** Counts an unanswered HEAD; cancels those that wait for a silent host. */
  #countUnanswered(host: HostAnswers): void {
    host.unanswered++;
    if (!isSilent(host)) return;
    for (const head of this.#options.group) {
      if (head.origin === host.origin) head.stopWaiting();
    }
  }

  #hostAnswers(url: string): HostAnswers {
    const origin = hostOf(url);
    const host = this.#hosts.get(origin) ??
      { origin, answered: 0, unanswered: 0, hasTimedOut: false };
    this.#hosts.set(origin, host);
    return host;
  }
}

interface ImageProblem {
  code: DetailCode;
  /** The result of the HEAD; for `unknown_image`, the message after the URL. */
  seen: string;
}

const UNKNOWN_IMAGE = {
  code: "unknown_image",
  seen: "is not an image that you have uploaded: upload it, or send the URL " +
    "from which it was downloaded.",
} as const;

/** Whether a host gets no more HEADs in this request. */
function isSilent(
  { answered, unanswered, hasTimedOut }: HostAnswers,
): boolean {
  return answered === 0 && (hasTimedOut || unanswered >= BROKEN_LIMIT);
}

/**
 * The result for a URL that got no HEAD, because of the host or of this
 * service.
 */
function unasked({ unanswered }: HostAnswers): ProbedImage {
  if (unanswered === 0) return "not_asked";
  return {
    code: "image_unavailable",
    seen: `was not sent: the host left ${unanswered} of the HEADs before it ` +
      "unanswered.",
  };
}

function probedBy({ status, headers }: Answer): ProbedImage {
  if (status === 200) return { validator: validatorOf(headers) };
  const location = headers("location");
  const to = location === null ? "" : ` (to ${location.slice(0, 200)})`;
  return {
    code: "image_unavailable",
    seen: `answered ${status}${to}; an image URL must answer 200.`,
  };
}

/**
 * The result for a URL after an error; `again`: whether this was the second
 * HEAD.
 */
function problemOf(
  { kind, isOurs, message, elapsedMs, atOnce }: OutboundError,
  host: HostAnswers,
  again: boolean,
): ProbedImage {
  if (kind === "queued") return unasked(host);
  if (isOurs) return "not_asked";
  const code = NOT_SENT[kind];
  if (code !== undefined) return { code, seen: `was not sent: ${message}` };
  const got = again ? "again got no answer" : "got no answer";
  const sent = atOnce === undefined
    ? ""
    : ` At most ${atOnce} HEADs were sent to this host at once.`;
  return {
    code: "image_unavailable",
    seen: `${got} after ${Math.round(elapsedMs)} ms: ${message}${sent}`,
  };
}

/** A detail for each image of a product whose probe found a problem. */
export function imageProblems(
  document: ProductsDocument,
  probed: ReadonlyMap<string, ProbedImage>,
): Detail[] {
  const problems: Detail[] = [];
  for (const row of document.rows) {
    for (const { url, line, field } of row.images) {
      const image = probed.get(url);
      if (image === undefined || !isProbeProblem(image)) continue;
      problems.push({
        product: row.product,
        ...(row.sku !== null && { sku: row.sku }),
        line,
        field,
        code: image.code,
        message: image === UNKNOWN_IMAGE
          ? `${url} ${image.seen}`
          : `HEAD ${url} ${image.seen}`,
      });
    }
  }
  return problems;
}

/**
 * A detail for each uploaded image of a product that was removed after
 * `findUploadedImages`.
 */
export function removedImageProblems(
  document: ProductsDocument,
  locked: LockedImages,
): Detail[] {
  const removed = new Map<string, ProbedImage>();
  for (const [url, { sha256, state }] of locked) {
    const isThere = sha256 !== null && state !== "arriving";
    if (isUploaded(url) && !isThere) removed.set(url, UNKNOWN_IMAGE);
  }
  return removed.size === 0 ? [] : imageProblems(document, removed);
}

/** @throws {ServiceError} 503 if not every URL was probed. */
export function requireAllProbed(
  probed: ReadonlyMap<string, ProbedImage>,
): void {
  const left = probed.values().filter((image) => image === "not_asked");
  const count = [...left].length;
  if (count === 0) return;
  throw new ServiceError(
    "unavailable",
    `${count} of ${probed.size} image URLs could not be checked within ` +
      `${
        LAST_BEGIN_MS / 1_000
      } s, because their hosts are slow, or the service ` +
      "has too much to do; nothing of this request was stored. Send it again, " +
      "with fewer images if their hosts are slow.",
    { headers: { "Retry-After": "5" } },
  );
}

function isProbeProblem(
  image: ProbedImage,
): image is { code: DetailCode; seen: string } {
  return typeof image === "object" && "code" in image;
}

/** The validator from the HEAD; null if unknown. */
export function validatorFrom(image: ProbedImage | undefined): string | null {
  return typeof image === "object" && "validator" in image
    ? image.validator
    : null;
}
