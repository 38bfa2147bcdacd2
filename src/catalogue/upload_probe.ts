/** Probes the images of a document: one HEAD for each distinct URL. */
import { type Detail, type DetailCode, ServiceError } from "../lib/errors.ts";
import { validatorOf } from "../images/image.ts";
import { inParallel } from "../lib/in_parallel.ts";
import type { OutboundErrorKind } from "../net/errors.ts";
import { OutboundError, type RequestOptions } from "../net/outbound.ts";
import type { OutboundRequest } from "../net/request.ts";
import type { Services } from "../services.ts";
import type { ProductsDocument } from "./document.ts";

/** All HEADs of a request together may take this long. */
const HEADS_TIMEOUT_MS = 25_000;
/** The longest time of one HEAD, from its begin. */
const HEAD_TIMEOUT_MS = 5_000;
/** The most HEADs of a request that run or wait to run. */
const AT_ONCE = 128;
/** No HEAD begins later than this, so each has its full time. */
const LAST_BEGIN_MS = HEADS_TIMEOUT_MS - HEAD_TIMEOUT_MS;

/**
 * The result of a HEAD. `not_asked` says nothing about the URL: the HEAD waited
 * too long in the queue, or the service stopped.
 */
export type ProbedImage = { validator: string | null } | {
  code: DetailCode;
  seen: string;
} | "not_asked";

/** The distinct URLs of a document, in its order. */
export function imageUrls({ rows }: ProductsDocument): Set<string> {
  return new Set(rows.flatMap(({ images }) => images.map(({ url }) => url)));
}

/** Sends one HEAD to each image URL, for the seller `owner`. */
export async function probeImages(
  { outbound, deps }: Pick<Services, "outbound" | "deps">,
  urls: ReadonlySet<string>,
  owner: string,
): Promise<Map<string, ProbedImage>> {
  if (urls.size === 0) return new Map();
  const group = new Set<OutboundRequest>();
  const options = { timeoutMs: HEAD_TIMEOUT_MS, group, owner };
  let isLate = false;
  const cancel = deps.clock.after(LAST_BEGIN_MS, () => {
    isLate = true;
    for (const head of group) head.stopWaiting();
  });
  try {
    const probed = await inParallel(
      AT_ONCE,
      [...urls],
      async (url) => {
        if (isLate) return [url, "not_asked"] as const;
        return [url, await probeImage(outbound, url, options)] as const;
      },
    );
    return new Map(probed);
  } finally {
    cancel();
  }
}

/** Detail codes of the reasons for which no HEAD is sent. */
const NOT_SENT: Partial<Record<OutboundErrorKind, DetailCode>> = {
  blocked: "image_blocked",
  unresolved: "unresolved",
};

async function probeImage(
  outbound: Services["outbound"],
  url: string,
  options: RequestOptions,
): Promise<ProbedImage> {
  try {
    const answer = await outbound.head(url, options);
    if (answer.status === 200) {
      return { validator: validatorOf(answer.headers) };
    }
    const location = answer.headers("location");
    const to = location === null ? "" : ` (to ${location.slice(0, 200)})`;
    return {
      code: "image_unavailable",
      seen: `answered ${answer.status}${to}; an image URL must answer 200.`,
    };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    if (error.isOurs) return "not_asked";
    const { kind, message, elapsedMs } = error;
    const code = NOT_SENT[kind];
    return code === undefined
      ? {
        code: "image_unavailable",
        seen: `got no answer after ${Math.round(elapsedMs)} ms: ${message}`,
      }
      : { code, seen: `was not sent: ${message}` };
  }
}

/** A detail for each product that uses a URL which did not answer 200. */
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
        message: `HEAD ${url} ${image.seen}`,
      });
    }
  }
  return problems;
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
      `${LAST_BEGIN_MS / 1_000} s, because the service has too much to do; ` +
      "nothing of this request was stored. Send it again, with fewer images " +
      "if their hosts are slow.",
    { headers: { "Retry-After": "5" } },
  );
}

function isProbeProblem(
  image: ProbedImage,
): image is { code: DetailCode; seen: string } {
  return typeof image === "object" && "code" in image;
}

/** The version that the HEAD saw; null if unknown. */
export function validatorFrom(image: ProbedImage | undefined): string | null {
  return typeof image === "object" && "validator" in image
    ? image.validator
    : null;
}
