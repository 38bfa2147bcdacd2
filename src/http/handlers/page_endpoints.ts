/** The page at `/` and its assets: a few files held in memory. */
import { ifNoneMatch } from "@std/http/etag";
import { acceptsEncodings } from "@std/http/negotiation";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { notFound } from "../../lib/errors.ts";
import { escaped } from "../../lib/markup.ts";
import type { SandboxPage } from "../../services.ts";
import script from "../../web/dist/page.js" with { type: "text" };
import icon from "../../web/icon.svg" with { type: "text" };
import html from "../../web/index.html" with { type: "text" };
import base from "../../web/styles/base.css" with { type: "text" };
import parts from "../../web/styles/parts.css" with { type: "text" };
import views from "../../web/styles/views.css" with { type: "text" };
import type { Reply, RequestContext } from "../server/context.ts";
import { endpoint } from "../server/route.ts";

/** No external or inline content, and text is never parsed as markup. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const SECURITY = {
  "Content-Security-Policy": PAGE_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

interface Asset {
  type: string;
  plain: Uint8Array<ArrayBuffer>;
  gzip: Uint8Array<ArrayBuffer>;
  /** The hash of the content, part of its immutable URL. */
  hash: string;
}

function assetOf(type: string, text: string): Asset {
  const plain = new TextEncoder().encode(text);
  return {
    type: `${type}; charset=utf-8`,
    plain,
    gzip: new Uint8Array(gzipSync(plain, { level: 9 })),
    hash: createHash("sha256").update(plain).digest("hex").slice(0, 16),
  };
}

const ASSETS: ReadonlyMap<string, Asset> = new Map(
  [
    { name: "page.js", asset: assetOf("text/javascript", script) },
    { name: "page.css", asset: assetOf("text/css", base + parts + views) },
    { name: "icon.svg", asset: assetOf("image/svg+xml", icon) },
  ].map(({ name, asset }) => [hashedName(name, asset), asset]),
);

/** `page.js` becomes `page.0123456789abcdef.js`. */
function hashedName(name: string, { hash }: Asset): string {
  return name.replace(".", `.${hash}.`);
}

const HTML = [...ASSETS.keys()].reduce(
  (text, name) =>
    text.replace(
      `/assets/${name.replace(/\.\w{16}\./, ".")}`,
      `/assets/${name}`,
    ),
  html,
);
const PLAIN_PAGE = assetOf("text/html", HTML);

export const getPage = endpoint(null, (context) => {
  const { sandbox } = context.services;
  const page = sandbox === undefined ? PLAIN_PAGE : sandboxPage(sandbox);
  return Promise.resolve(serve(context, page, "no-cache"));
});

export const getAsset = endpoint(null, (context) => {
  const asset = ASSETS.get(context.params.name);
  if (asset === undefined) throw notFound("file");
  const kept = "public, max-age=31536000, immutable";
  return Promise.resolve(serve(context, asset, kept));
});

function serve({ request }: RequestContext, asset: Asset, kept: string): Reply {
  const { type, plain, gzip, hash } = asset;
  // Without the header every encoding is allowed, but such a client may not
  // decode any.
  const packed = request.headers.has("accept-encoding") &&
    acceptsEncodings(request, "gzip", "identity") === "gzip";
  const etag = packed ? `"${hash}-gzip"` : `"${hash}"`;
  const headers = {
    ...SECURITY,
    "Cache-Control": kept,
    ETag: etag,
    Vary: "Accept-Encoding",
  };
  if (!ifNoneMatch(request.headers.get("if-none-match"), etag)) {
    return { status: 304, body: null, headers };
  }
  return {
    body: packed ? gzip : plain,
    headers: {
      ...headers,
      "Content-Type": type,
      ...(packed && { "Content-Encoding": "gzip" }),
    },
  };
}

function sandboxPage(sandbox: SandboxPage): Asset {
  const meta = `<meta name="sandbox" content="${
    escaped(JSON.stringify(sandbox))
  }">`;
  return assetOf(
    "text/html",
    HTML.replace("</head>", () => `${meta}\n</head>`),
  );
}
