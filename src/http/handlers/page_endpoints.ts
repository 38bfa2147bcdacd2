/** The page at `/` and its assets, a few files in memory. */
import { createHash } from "node:crypto";
import { notFound } from "../../lib/errors.ts";
import { escaped } from "../../lib/markup.ts";
import icon from "../../web/icon.svg" with { type: "text" };
import html from "../../web/index.html" with { type: "text" };
import base from "../../web/styles/base.css" with { type: "text" };
import parts from "../../web/styles/parts.css" with { type: "text" };
import views from "../../web/styles/views.css" with { type: "text" };
import { endpoint } from "../server/route.ts";
import { PAGE_SCRIPTS } from "./built_files.ts";
import { serveText, type StaticText, staticText } from "./static_text.ts";

/**
 * No external content, no inline scripts and styles, and text is never parsed
 * as markup. `trusted-types` allows the URL of the worker that reads workbooks.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types workbook",
].join("; ");

const SECURITY = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
};
const HEADERS = { ...SECURITY, "Cache-Control": "no-cache" };
const ASSET_HEADERS = {
  ...SECURITY,
  "Cache-Control": "public, max-age=31536000, immutable",
};

/** Assets by the names under which scripts import them. */
const FILES: ReadonlyMap<string, StaticText> = new Map([
  ...Object.entries(PAGE_SCRIPTS).map(([name, script]) =>
    [name, staticText("text/javascript", script)] as const
  ),
  ["page.css", staticText("text/css", base + parts + views)],
  ["icon.svg", staticText("image/svg+xml", icon)],
]);

/** A segment of the assets' paths, which changes with the assets' contents. */
const VERSION = createHash("sha256")
  .update([...FILES.values()].map(({ hash }) => hash).join())
  .digest("hex").slice(0, 16);

/**
 * The scripts that `page.js` imports first; preloading them saves the browser a
 * wait.
 */
const PRELOADED = PAGE_SCRIPTS["page.js"].matchAll(
  /(?:from|import)"\.(\/[^"]+)"/g,
)
  .map(([, path]) => `<link rel="modulepreload" href="/assets${path}">\n`);
const HTML = html.replace("</head>", [...PRELOADED, "</head>"].join("    "))
  .replaceAll("/assets/", `/assets/${VERSION}/`);
/** The page by its `<meta>` elements, which are the same for all requests. */
const PAGES = new Map<string, StaticText>();

export const getPage = endpoint(null, (exchange) => {
  const { sandbox, config: { imageLimit } } = exchange.services;
  const page = pageWithMetas({
    "image-limit": `${imageLimit}`,
    ...(sandbox !== undefined && { sandbox: JSON.stringify(sandbox) }),
  });
  return Promise.resolve(serveText(exchange, page, HEADERS));
});

export const getAsset = endpoint(null, (exchange) => {
  const { version, name } = exchange.params;
  const asset = version === VERSION ? FILES.get(name) : undefined;
  if (asset === undefined) throw notFound("file");
  return Promise.resolve(serveText(exchange, asset, ASSET_HEADERS));
});

/** The page with `<meta>` elements, from which its scripts read values. */
function pageWithMetas(values: Readonly<Record<string, string>>): StaticText {
  const metas = Object.entries(values).map(([name, content]) =>
    `<meta name="${name}" content="${escaped(content)}">\n`
  ).join("    ");
  const known = PAGES.get(metas);
  if (known !== undefined) return known;
  const page = staticText(
    "text/html",
    HTML.replace("</head>", () => `${metas}</head>`),
  );
  PAGES.set(metas, page);
  return page;
}
