/** One HEAD for each distinct image URL of a document, and what came of it. */
import type { Detail, DetailCode } from "../lib/errors.ts";
import { validatorOf } from "../images/image.ts";
import { OutboundError } from "../net/outbound.ts";
import type { Services } from "../services.ts";
import type { ProductsDocument } from "./document.ts";

/** One HEAD may take this long. */
const HEAD_TIMEOUT_MS = 5_000;
/** All HEADs of a request together may take this long. */
const HEADS_TIMEOUT_MS = 25_000;

/** What the HEAD of a URL came to. */
export type Head = { validator: string | null } | {
  code: DetailCode;
  seen: string;
};

/** Asks each distinct image URL once, in the turn of the seller `owner`. */
export async function probeImages(
  { outbound, deps }: Pick<Services, "outbound" | "deps">,
  document: ProductsDocument,
  owner: string,
): Promise<Map<string, Head>> {
  const urls = new Set<string>();
  for (const row of document.rows) {
    for (const image of row.images) urls.add(image.url);
  }
  if (urls.size === 0) return new Map();
  const deadline = new AbortController();
  const { signal } = deadline;
  const cancel = deps.clock.after(HEADS_TIMEOUT_MS, () => deadline.abort());
  try {
    return new Map(
      await Promise.all([...urls].map(async (url) => {
        return [
          url,
          await probeImage(outbound, url, { signal, owner }),
        ] as const;
      })),
    );
  } finally {
    cancel();
  }
}

async function probeImage(
  outbound: Services["outbound"],
  url: string,
  options: { signal: AbortSignal; owner: string },
): Promise<Head> {
  try {
    const timeoutMs = HEAD_TIMEOUT_MS;
    const answer = await outbound.head(url, { timeoutMs, ...options });
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
    return {
      code: error.kind === "blocked" ? "image_blocked" : "image_unavailable",
      seen: error.kind === "aborted"
        ? `got no answer within the ${HEADS_TIMEOUT_MS / 1_000} s that all ` +
          "images of a request have together."
        : `got no answer after ${Math.round(error.elapsedMs)} ms: ` +
          error.message,
    };
  }
}

/** A detail for each product that uses a URL which did not answer 200. */
export function imageProblems(
  document: ProductsDocument,
  heads: ReadonlyMap<string, Head>,
): Detail[] {
  const problems: Detail[] = [];
  for (const row of document.rows) {
    for (const { url, line, field } of row.images) {
      const head = heads.get(url);
      if (head === undefined || "validator" in head) continue;
      problems.push({
        product: row.product,
        ...(row.sku !== null && { sku: row.sku }),
        line,
        field,
        code: head.code,
        message: `HEAD ${url} ${head.seen}`,
      });
    }
  }
  return problems;
}
