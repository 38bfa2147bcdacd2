/**
 * Writes the API reference from the tables of endpoints and answers. The
 * reference consists of handbook pages in Markdown.
 */
import { eventInXml } from "../webhooks/event.ts";
import type { TriggerMeaning } from "../webhooks/trigger_meanings.ts";
import { deliveredExample } from "./examples.ts";
import type { Chapter } from "../docs/chapters.ts";
import { headingId } from "../docs/markdown.ts";
import type { SearchEntry } from "../docs/search_index.ts";
import {
  type Endpoint,
  errorsOf,
  mediaTypes,
  PATH_PARAMETERS,
} from "./endpoint.ts";
import { imageTypes } from "../images/image_types.ts";
import type { Form } from "../lib/values.ts";
import { type NeededScope, scopesOf } from "../sellers/scopes.ts";
import { ANSWER_EXAMPLES } from "./examples.ts";
import { pathParameterNames } from "./openapi.ts";

/**
 * The pages of the reference. The first page whose pattern matches an
 * endpoint's path describes that endpoint.
 */
export const REFERENCE_PAGES = [
  referencePageOf(
    "api-uploads",
    "Uploads and imports",
    /^\/seller_api\/(bulk_|imports|images)/,
  ),
  referencePageOf(
    "api-products",
    "Products and contacts",
    /^\/seller_api\/(products|contacts)/,
  ),
  referencePageOf(
    "api-webhooks",
    "Webhooks and events",
    /^\/seller_api\/(webhooks|events)/,
  ),
  referencePageOf(
    "api-account",
    "Account, keys, mappings, refused requests",
    /^\/seller_api\/(account|keys|mappings|refusals)/,
  ),
  referencePageOf(
    "api-catalogue",
    "Operator: events and catalogue",
    /^\/operator_api\/(events|products|contacts)/,
  ),
  referencePageOf(
    "api-sellers",
    "Operator: sellers and keys",
    /^\/operator_api\/(sellers|keys)/,
  ),
  referencePageOf("api-reviews", "Operator: review", /^\/operator_api\/review/),
  referencePageOf(
    "api-operations",
    "Operator: status, refusals, audit log",
    /^\/operator_api\//,
  ),
  referencePageOf("api-service", "Health, metrics, images, contracts", /^\//),
];

function referencePageOf(name: string, title: string, paths: RegExp) {
  return { name, title, paths };
}

/** Describes the values that a field may have. `code` formats literal text. */
export function describeForm(
  form: Form,
  code: (text: string) => string,
): string {
  const number = (n: number) => n.toLocaleString("en");
  switch (form.kind) {
    case "line":
      return `1 to ${number(form.max)} characters on one line`;
    case "text":
      return `up to ${number(form.max)} characters`;
    case "decimal":
      return `a decimal, up to ${form.before} digits before the point and ` +
        `${form.after} after it`;
    case "integer":
      return `a whole number, ${form.min ?? 0} to ${number(form.max)}`;
    case "word":
      return `one of ${form.words.map(code).join(", ")}`;
    case "digits":
      return `${form.lengths.join(", ")} digits with a correct check digit`;
    case "date":
      return `a date such as ${code("2026-12-01")}`;
  }
}

function code(text: string): string {
  return `\`${text}\``;
}

/** A table in Markdown; empty without rows. */
function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return "";
  const separator = header.map(() => "---");
  return [header, separator, ...rows].map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function example(title: string, text: string): string {
  return `${title}:\n\n\`\`\`\n${text.trimEnd()}\n\`\`\``;
}

function parameterRows(endpoint: Endpoint): string[][] {
  const inPath = pathParameterNames(endpoint.path).map((name) => {
    const { about, words } = PATH_PARAMETERS[name];
    const list = words === undefined ? "" : `: ${words.map(code).join(", ")}`;
    return [code(`:${name}`), about + list];
  });
  const others = (endpoint.parameters ?? []).map((
    { name, about, in: location },
  ) => [code(location === "header" ? `${name}:` : `?${name}=`), about]);
  return [...inPath, ...others];
}

function answerTexts({ answers, example: ownExample }: Endpoint): string[] {
  if (answers === null) return ["The answer is 204 without a body."];
  if ("type" in answers) {
    const types = mediaTypes(answers).map(code).join(" or ");
    return [`The media type of the answer is ${types}.`];
  }
  return answers.map((name) =>
    example(
      answers.length === 1 ? "Answer" : `Answer, ${code(name)}`,
      ownExample ?? ANSWER_EXAMPLES[name],
    )
  );
}

function section(endpoint: Endpoint): string {
  const { method, path, title, about, sends, sendsImage, scope } = endpoint;
  const errors = errorsOf(endpoint).map(code).join(", ");
  return [
    `## ${title}`,
    code(`${method} ${path}`),
    about,
    scope === undefined ? "" : scopeLine(scope, method),
    table(["parameter", "meaning"], parameterRows(endpoint)),
    sends === undefined ? "" : example("Request body", sends.example),
    sendsImage ? `The request body is an image: ${imageTypes("or")}.` : "",
    ...answerTexts(endpoint),
    `[Errors](errors.md#statuses-and-codes): ${errors}`,
  ].filter((paragraph) => paragraph !== "").join("\n\n");
}

function scopeLine(scope: NeededScope, method: string): string {
  const scopes = scopesOf(scope, method).map(code).join(" or ");
  return `[Scope](keys.md#scopes) of the key: ${scopes}`;
}

function pageOf({ path }: Endpoint): string {
  return REFERENCE_PAGES.find(({ paths }) => paths.test(path))!.name;
}

/** Lists the endpoints by page, for the end of the chapter "API reference". */
export function referenceContents(endpoints: readonly Endpoint[]): string {
  const sections = REFERENCE_PAGES.map(({ name, title }) => {
    const rows = endpoints.filter((endpoint) => pageOf(endpoint) === name)
      .map(({ method, path, title }) => [
        `[${title}](${name}.md#${headingId(title)})`,
        code(`${method} ${path}`),
      ]);
    return `\n## ${title}\n\n${table(["what it does", "request"], rows)}\n`;
  });
  return sections.join("");
}

/** Writes the page of this name. */
export function referencePage(
  endpoints: readonly Endpoint[],
  name: string,
): Chapter {
  const { title } = REFERENCE_PAGES.find((page) => page.name === name)!;
  const sections = endpoints.filter((endpoint) => pageOf(endpoint) === name)
    .map(section);
  return { name, text: [`# ${title}`, ...sections].join("\n\n") + "\n" };
}

/** The entries of the search index, one for each endpoint. */
export function referenceEntries(
  endpoints: readonly Endpoint[],
): SearchEntry[] {
  return endpoints.map((endpoint) => {
    const { method, path, title, about } = endpoint;
    return {
      path: `/docs/${pageOf(endpoint)}#${headingId(title)}`,
      chapter: "API reference",
      section: `${title}, ${method} ${path}`,
      text: about,
    };
  });
}

/**
 * Adds the operator's descriptions and examples of triggers to the chapter on
 * webhooks: the descriptions replace those in the table, the examples follow
 * the table.
 */
export function withMeanings(
  chapter: string,
  meanings: readonly TriggerMeaning[],
): string {
  const operatorMeanings = meanings.filter(({ isOwn }) => isOwn);
  if (operatorMeanings.length === 0) return chapter;
  const replaceRow = (line: string) => {
    const meaning = operatorMeanings.find(({ trigger }) =>
      line.startsWith(`| \`${trigger}\` `)
    );
    if (meaning === undefined) return line;
    const about = meaning.about.replaceAll("\n", " ").replaceAll("|", "\\|");
    return `| \`${meaning.trigger}\` | ${about} |`;
  };
  const examples = operatorMeanings.map((meaning) =>
    `The data of \`${meaning.trigger}\`:\n\n\`\`\`xml\n${
      eventInXml(deliveredExample(meaning))
    }\n\`\`\`\n`
  );
  return chapter.split("\n").map(replaceRow).join("\n").replace(
    "\n## Recover what you missed\n",
    (heading) => `\n${examples.join("\n")}${heading}`,
  );
}
