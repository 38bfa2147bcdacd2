/** The format that an actor uses: XML or JSON. */
import { asJson } from "../../support/forms.ts";
import type { Call } from "./caller.ts";

/** Longer than any part of an import. */
const GAP_BYTES = 2 * 1_024 * 1_024;
export const GAP = `<!--${" ".repeat(GAP_BYTES)}-->`;

/** The share of actors that use JSON. */
export const JSON_SHARE = 0.35;
/** Paths whose answers differ between the formats. */
const PATHS = /^\/(seller_api|operator_api|readyz|healthz)/;
const ROOT = `{"products":[`;

/** Whether a request may be answered in JSON. */
export function mayBeJson({ path, headers }: Call): boolean {
  const accept = headers?.Accept ?? STREAM;
  return PATHS.test(path) && accept === STREAM;
}

const STREAM = "text/event-stream";

/** The `Accept` header of an actor that uses JSON. */
export function acceptJson({ headers }: Call): string {
  return headers?.Accept === STREAM
    ? `${STREAM}, application/json;q=0.9`
    : "application/json";
}

/**
 * A document in JSON, with its gaps and the space after it; null if JSON cannot
 * express it.
 */
export function inJson({ method, path, body }: Call): string | null {
  if (typeof body !== "string") return null;
  const convert = (xml: string) => asJson(xml, { method, url: urlOf(path) });
  const behind = body.slice(body.trimEnd().length);
  if (!body.includes(GAP)) {
    const json = convert(body);
    return json === null ? null : withNull(json) + behind;
  }
  const products = body.slice("<products>".length, -"</products>".length);
  const parts = products.split(GAP).map((part) => productsInJson(part));
  if (parts.includes(null)) return null;
  return `${ROOT}${parts.join(`,${" ".repeat(GAP_BYTES)}`)}]}`;
}

/** The entries of an array of products; null if JSON cannot express them. */
export function productsInJson(products: string): string | null {
  const url = urlOf("/seller_api/bulk_products");
  const json = asJson(`<products>${products}</products>`, {
    method: "POST",
    url,
  });
  return json && withNull(json.slice(ROOT.length, -"]}".length));
}

/** Writes empty elements as null, as most programs do. */
function withNull(json: string): string {
  return json.replaceAll(':""', ":null");
}

/** The URL of a path with a query. */
export function urlOf(path: string): string {
  return `http://service${path}`;
}
