/** The page at `/` and its assets: a few files held in memory. */
import { notFound } from "../../lib/errors.ts";
import { escaped } from "../../lib/markup.ts";
import type { SandboxPage } from "../../services.ts";
import script from "../../web/dist/page.js" with { type: "text" };
import icon from "../../web/icon.svg" with { type: "text" };
import workbook from "../../web/dist/workbook.js" with { type: "text" };
import html from "../../web/index.html" with { type: "text" };
import base from "../../web/styles/base.css" with { type: "text" };
import parts from "../../web/styles/parts.css" with { type: "text" };
import views from "../../web/styles/views.css" with { type: "text" };
import { endpoint } from "../server/route.ts";
import { serveText, type StaticText, staticText } from "./static_text.ts";

/**
 * No external or inline content, and text is never parsed as markup. The one
 * policy names the script of the thread that reads workbooks.
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

/** By the name that `index.html` uses. */
const FILES: ReadonlyMap<string, StaticText> = new Map([
  ["page.js", staticText("text/javascript", script)],
  ["workbook.js", staticText("text/javascript", workbook)],
  ["page.css", staticText("text/css", base + parts + views)],
  ["icon.svg", staticText("image/svg+xml", icon)],
]);

/** `page.js` becomes `page.0123456789abcdef.js`. */
const hashedName = (name: string) =>
  name.replace(".", `.${FILES.get(name)!.hash}.`);

const ASSETS = new Map(
  FILES.entries().map(([name, file]) => [hashedName(name), file]),
);
const HTML = html.replaceAll(
  /\/assets\/([\w.]+)/g,
  (_, name) => `/assets/${hashedName(name)}`,
);
const PLAIN_PAGE = staticText("text/html", HTML);

export const getPage = endpoint(null, (context) => {
  const { sandbox } = context.services;
  const page = sandbox === undefined ? PLAIN_PAGE : sandboxPage(sandbox);
  return Promise.resolve(serveText(context, page, HEADERS));
});

export const getAsset = endpoint(null, (context) => {
  const asset = ASSETS.get(context.params.name);
  if (asset === undefined) throw notFound("file");
  return Promise.resolve(serveText(context, asset, ASSET_HEADERS));
});

function sandboxPage(sandbox: SandboxPage): StaticText {
  const meta = `<meta name="sandbox" content="${
    escaped(JSON.stringify(sandbox))
  }">`;
  return staticText(
    "text/html",
    HTML.replace("</head>", () => `${meta}\n</head>`),
  );
}
