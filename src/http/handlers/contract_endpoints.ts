/** The published contracts, without a key: schemas, OpenAPI, documentation. */
import { isDeepStrictEqual } from "node:util";
import type { Db } from "../../database/db.ts";
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
import { notFound } from "../../lib/errors.ts";
import { endpoint, type Handler } from "../server/route.ts";
import { CLIENT, CLIENT_TYPES } from "./built_files.ts";
import { serveText, type StaticText, staticText } from "./static_text.ts";

type ReadMeanings = (db: Db) => Promise<readonly TriggerMeaning[]>;

const defaultMeanings: ReadMeanings = () => Promise.resolve(DEFAULT_MEANINGS);

/** Without the database they are the default ones. */
const presentMeanings: ReadMeanings = (db) =>
  db.read(listMeanings).catch(() => DEFAULT_MEANINGS);

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
  about: "The contents, as HTML.",
  answers: { type: "text/html" },
}, publishedText("text/html", contentsPage, DOCS_POLICY));

/** Files that chapters link to for download, and the search. */
const FILES: readonly (readonly [string, Handler])[] = [
  ["client.js", publishedText("text/javascript", () => CLIENT)],
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
    meaningsFrom?: ReadMeanings,
  ) => {
    const html = (meanings: readonly TriggerMeaning[]) => write(read(meanings));
    const markdown = (meanings: readonly TriggerMeaning[]) =>
      servedMarkdown(read(meanings).text);
    pages.set(
      name,
      publishedText("text/html", html, DOCS_POLICY, meaningsFrom),
    );
    pages.set(
      `${name}.md`,
      publishedText("text/markdown", markdown, {}, meaningsFrom),
    );
  };
  const webhooks = CHAPTERS.find(({ name }) => name === "webhooks")!;
  for (const { name, text } of CHAPTERS) {
    const more = () => name === "api" ? referenceContents(endpoints()) : "";
    add(name, () => ({ name, text: text + more() }), chapterPage);
  }
  add(
    webhooks.name,
    (meanings) => ({
      ...webhooks,
      text: withMeanings(webhooks.text, meanings),
    }),
    chapterPage,
    presentMeanings,
  );
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

const TO_TAKE = new Map(
  OPERATOR_FILES.map(({ name, type, text }) => [
    name,
    publishedText(type, () => text),
  ]),
);

/** A file for operators. */
export const getOperatorFile = endpoint(null, (exchange) => {
  const file = TO_TAKE.get(exchange.params.file);
  if (file === undefined) throw notFound("file");
  return file(exchange);
});

/** The style of the handbook. */
export const getDocsStyle = endpoint(
  null,
  publishedText("text/css", () => style),
);

/** The validity of `security.txt`, from each answer on. */
const CONTACT_MS = 180 * 24 * 3_600_000;

/** Where to report vulnerabilities (RFC 9116), if the operator has set it. */
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
      about: "OpenAPI 3.1.",
      answers: { type: "application/json" },
    },
    publishedText(
      "application/json",
      (meanings) => openApi(endpoints(), VERSION, meanings),
      {},
      presentMeanings,
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
  const about = "XML Schema 1.0.";
  const documentation = { operation, title, about, answers: { type } };
  return endpoint(documentation, publishedText(type, write));
}

/**
 * Serves a text, which is created at the first request, and again when the
 * meanings of triggers in it have changed.
 */
function publishedText(
  type: string,
  write: (meanings: readonly TriggerMeaning[]) => string | Promise<string>,
  more: Record<string, string> = {},
  read: ReadMeanings = defaultMeanings,
): Handler {
  let written:
    | { meanings: readonly TriggerMeaning[]; text: Promise<StaticText> }
    | undefined;
  const headers = { ...more, "Cache-Control": "no-cache" };
  return async (exchange) => {
    const meanings = await read(exchange.services.db);
    if (!isDeepStrictEqual(written?.meanings, meanings)) {
      const create = async () => staticText(type, await write(meanings));
      written = { meanings, text: create() };
    }
    return serveText(exchange, await written!.text, headers);
  };
}
