/** The published contracts, without a key: schemas, OpenAPI, documentation. */
import { VERSION } from "../../version.ts";
import { ifNoneMatch } from "@std/http/etag";
import { createHash } from "node:crypto";
import { apiReference } from "../../contracts/docs.ts";
import { openApi } from "../../contracts/openapi.ts";
import { productsSchema, responsesSchema } from "../../contracts/xsd.ts";
import type { Endpoint } from "../../contracts/endpoint.ts";
import { CHAPTERS } from "../../docs/chapters.ts";
import client from "../../client/dist/client.js" with { type: "text" };
import clientTypes from "../../client/dist/client.d.ts" with { type: "text" };
import alerts from "../../docs/alerts.yml" with { type: "text" };
import dashboard from "../../docs/dashboard.json" with { type: "text" };
import style from "../../docs/docs.css" with { type: "text" };
import { chapterPage, contentsPage, type Generated } from "../../docs/page.ts";
import { notFound } from "../../lib/errors.ts";
import type { Handler } from "../server/context.ts";

/** Forbids external content, scripts and inline styles. */
const DOCS_POLICY = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "style-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Referrer-Policy": "no-referrer",
};

/** `GET /docs` */
export const getDocs = published("text/html", contentsPage, DOCS_POLICY);

/** Files that chapters link to for download. */
const FILES: readonly (readonly [string, Handler])[] = [
  ["alerts.yml", published("application/yaml", () => alerts)],
  ["client.js", published("text/javascript", () => client)],
  ["client.d.ts", published("application/typescript", () => clientTypes)],
  ["dashboard.json", published("application/json", () => dashboard)],
];

/** `GET /docs/:chapter`; calls `endpoints` when the reference is requested. */
export function getChapter(endpoints: () => readonly Endpoint[]): Handler {
  const generated: Record<string, () => Generated> = {
    api: () => apiReference(endpoints()),
  };
  const pages = new Map(FILES);
  for (const chapter of CHAPTERS) {
    const write = () => chapterPage(chapter, generated[chapter.name]);
    pages.set(chapter.name, published("text/html", write, DOCS_POLICY));
  }
  return (context) => {
    const page = pages.get(context.params.chapter);
    if (page === undefined) throw notFound("chapter");
    return page(context);
  };
}

/** The style of the handbook. */
export const getDocsStyle = published("text/css", () => style);

/** `GET /openapi.json` */
export const getOpenApi = (endpoints: () => readonly Endpoint[]): Handler =>
  published("application/json", () => openApi(endpoints(), VERSION));

/** `GET /seller_api/schemas/products-1.1.xsd` */
export const getProductsSchema = published("application/xml", productsSchema);

/** `GET /seller_api/schemas/responses-1.1.xsd` */
export const getResponsesSchema = published("application/xml", responsesSchema);

/** Serves a text, which is created at the first request. */
function published(
  type: string,
  write: () => string | Promise<string>,
  more: Record<string, string> = {},
): Handler {
  let written: Promise<{ body: Uint8Array<ArrayBuffer>; etag: string }>;
  const text = async () => {
    const body = new TextEncoder().encode(await write());
    const hash = createHash("sha256").update(body).digest("hex");
    // Weak, because the server may compress the text.
    return { body, etag: `W/"${hash.slice(0, 32)}"` };
  };
  return async ({ request }) => {
    const { body, etag } = await (written ??= text());
    const headers = {
      ...more,
      "Content-Type": `${type}; charset=utf-8`,
      "Cache-Control": "no-cache",
      "ETag": etag,
      "X-Content-Type-Options": "nosniff",
    };
    return ifNoneMatch(request.headers.get("if-none-match"), etag)
      ? { body, headers }
      : { status: 304, body: null, headers };
  };
}
