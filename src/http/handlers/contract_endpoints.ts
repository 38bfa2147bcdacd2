/** Endpoints without a key: schemas, OpenAPI and the handbook. */
import { isDeepStrictEqual } from "node:util";
import { VERSION } from "../../version.ts";
import {
  REFERENCE_PAGES,
  referenceContents,
  referenceEntries,
  referencePage,
  withMeanings,
} from "../../contracts/docs.ts";
import { openApi } from "../../contracts/openapi.ts";
import {
  attributesSchema,
  productsSchema,
  responsesSchema,
} from "../../contracts/xsd.ts";
import type { Endpoint } from "../../contracts/endpoint.ts";
import { type Chapter, CHAPTERS } from "../../docs/chapters.ts";
import style from "../../docs/docs.css" with { type: "text" };
import search from "../../docs/search.js" with { type: "text" };
import { OPERATOR_FILES } from "../../docs/files.ts";
import {
  chapterPage,
  contentsPage,
  contentsText,
  referenceHtml,
  servedMarkdown,
} from "../../docs/page.ts";
import { searchEntries } from "../../docs/search_index.ts";
import {
  DEFAULT_MEANINGS,
  listMeanings,
  type TriggerMeaning,
} from "../../webhooks/trigger_meanings.ts";
import { DAY_MS } from "../../lib/durations.ts";
import { notFound } from "../../lib/errors.ts";
import { endpoint, type Handler } from "../server/route.ts";
import { CLIENT_SCRIPT, CLIENT_TYPES } from "./built_files.ts";
import { serveText, type StaticText, staticText } from "./static_text.ts";

/** Forbids external content, and inline scripts and styles. */
const DOCS_POLICY = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Referrer-Policy": "no-referrer",
};

export const getDocs = endpoint({
  operation: "getDocs",
  title: "List the chapters of the handbook",
  about: "The table of contents, as HTML.",
  answers: { type: "text/html" },
}, publishedText("text/html", contentsPage, DOCS_POLICY));

/** Files that chapters link to, and the script of the search. */
const FILES: readonly (readonly [string, Handler])[] = [
  ["client.js", publishedText("text/javascript", () => CLIENT_SCRIPT)],
  [
    "client.d.ts",
    publishedText("application/typescript", () => CLIENT_TYPES),
  ],
  ["search.js", publishedText("text/javascript", () => search)],
];

/** `endpoints` is called when the API reference is requested. */
export const getChapter = (endpoints: () => readonly Endpoint[]) =>
  endpoint({
    operation: "getChapter",
    title: "Read a chapter of the handbook",
    about:
      "One of the chapters is this API reference, which is generated from " +
      "the table of endpoints.",
    answers: { type: "text/html" },
  }, chapters(endpoints));

function chapters(endpoints: () => readonly Endpoint[]): Handler {
  const pages = new Map(FILES);
  const add = (
    name: string,
    read: (meanings: readonly TriggerMeaning[]) => Chapter,
    write: (chapter: Chapter) => Promise<string>,
    publish: typeof textWithMeanings = publishedText,
  ) => {
    pages.set(
      name,
      publish("text/html", (meanings) => write(read(meanings)), DOCS_POLICY),
    );
    pages.set(
      `${name}.md`,
      publish(
        "text/markdown",
        (meanings) => servedMarkdown(read(meanings).text),
      ),
    );
  };
  for (const { name, text } of CHAPTERS) {
    if (name === "webhooks") {
      const read = (meanings: readonly TriggerMeaning[]) => ({
        name,
        text: withMeanings(text, meanings),
      });
      add(name, read, chapterPage, textWithMeanings);
      continue;
    }
    const more = () => name === "api" ? referenceContents(endpoints()) : "";
    add(name, () => ({ name, text: text + more() }), chapterPage);
  }
  for (const { name } of REFERENCE_PAGES) {
    add(
      name,
      () => referencePage(endpoints(), name),
      (page) => referenceHtml(page, REFERENCE_PAGES),
    );
  }
  pages.set(
    "search.json",
    publishedText("application/json", () =>
      JSON.stringify([
        ...CHAPTERS.flatMap(searchEntries),
        ...referenceEntries(endpoints()),
      ])),
  );
  return (exchange) => {
    const page = pages.get(exchange.params.chapter);
    if (page === undefined) throw notFound("chapter");
    return page(exchange);
  };
}

/** The handbook for language models (llmstxt.org). */
export const getLlmsText = endpoint(
  null,
  publishedText("text/plain", () => contentsText(REFERENCE_PAGES)),
);

const DOWNLOADS = new Map(
  OPERATOR_FILES.map(({ name, type, text }) => [
    name,
    publishedText(type, () => text),
  ]),
);

/** A file that operators download. */
export const getOperatorFile = endpoint(null, (exchange) => {
  const file = DOWNLOADS.get(exchange.params.file);
  if (file === undefined) throw notFound("file");
  return file(exchange);
});

/** The style of the handbook. */
export const getDocsStyle = endpoint(
  null,
  publishedText("text/css", () => style),
);

/** How long an answer with `security.txt` is valid. */
const CONTACT_MS = 180 * DAY_MS;

/**
 * `security.txt` says where to report vulnerabilities (RFC 9116). The answer is
 * 404 unless the operator has set SELLER_SECURITY_CONTACT.
 */
export const getSecurityContact = endpoint(
  null,
  ({ services: { config, deps } }) => {
    const { securityContact } = config;
    if (securityContact === null) throw notFound("file");
    const expires = new Date(deps.clock.now() + CONTACT_MS).toISOString();
    return Promise.resolve({
      body: `Contact: ${securityContact}\nExpires: ${expires}\n`,
      headers: {
        "Content-Type": "text/plain; charset=utf-8",
        "Cache-Control": "no-cache",
        "X-Content-Type-Options": "nosniff",
      },
    });
  },
);

export const getOpenApi = (endpoints: () => readonly Endpoint[]) =>
  endpoint(
    {
      operation: "getOpenApi",
      title: "Read the OpenAPI description",
      about: "The description of all endpoints in OpenAPI 3.1.",
      answers: { type: "application/json" },
    },
    textWithMeanings(
      "application/json",
      (meanings) => openApi(endpoints(), VERSION, meanings),
    ),
  );

export const getProductsSchema = schemaEndpoint(
  "getProductsSchema",
  "Read the schema of uploads",
  productsSchema,
);

export const getAttributesSchema = schemaEndpoint(
  "getAttributesSchema",
  "Read the schema of attribute updates",
  attributesSchema,
);

export const getResponsesSchema = schemaEndpoint(
  "getResponsesSchema",
  "Read the schema of answers",
  responsesSchema,
);

function schemaEndpoint(operation: string, title: string, write: () => string) {
  const type = "application/xml";
  const about = "The schema in XML Schema 1.0.";
  const documentation = { operation, title, about, answers: { type } };
  return endpoint(documentation, publishedText(type, write));
}

/** A handler that serves a text, which is created at the first request. */
function publishedText(
  type: string,
  write: (meanings: readonly TriggerMeaning[]) => string | Promise<string>,
  more: Record<string, string> = {},
): Handler {
  let written: Promise<StaticText> | undefined;
  const create = async () => staticText(type, await write(DEFAULT_MEANINGS));
  return async (exchange) =>
    serveText(exchange, await (written ??= create()), withRevalidation(more));
}

/**
 * A handler that serves a text with the meanings of triggers. The text is
 * created again when the meanings have changed. While the database cannot be
 * read, the text has the default meanings.
 */
function textWithMeanings(
  type: string,
  write: (meanings: readonly TriggerMeaning[]) => string | Promise<string>,
  more: Record<string, string> = {},
): Handler {
  let written:
    | { meanings: readonly TriggerMeaning[]; text: Promise<StaticText> }
    | undefined;
  return async (exchange) => {
    const meanings = await exchange.services.db
      .read(listMeanings, { single: true })
      .catch(() => DEFAULT_MEANINGS);
    if (!isDeepStrictEqual(written?.meanings, meanings)) {
      const create = async () => staticText(type, await write(meanings));
      written = { meanings, text: create() };
    }
    return serveText(exchange, await written!.text, withRevalidation(more));
  };
}

function withRevalidation(
  more: Record<string, string>,
): Record<string, string> {
  return { ...more, "Cache-Control": "no-cache" };
}
