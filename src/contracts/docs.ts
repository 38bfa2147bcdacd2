/** Writes the API reference, a chapter of the handbook, from the tables. */
import type { Generated } from "../docs/page.ts";
import type { SearchEntry } from "../docs/search_index.ts";
import { escaped } from "../lib/markup.ts";
import {
  type Endpoint,
  errorsOf,
  mediaTypes,
  PATH_PARAMETERS,
} from "./endpoint.ts";
import { type Scope, scopesOf } from "../sellers/scopes.ts";
import { ANSWER_EXAMPLES } from "./examples.ts";
import { pathNames } from "./openapi.ts";
import type { TextForm } from "../xml/shapes.ts";

/** The pages of the reference; an endpoint is on the first one that fits. */
const PAGES = [
  page("api-uploads", "Uploads and imports", /^\/seller_api\/(bulk_|imports)/),
  page("api-products", "Products", /^\/seller_api\/products/),
  page(
    "api-webhooks",
    "Webhooks and events",
    /^\/seller_api\/(webhooks|events)/,
  ),
  page(
    "api-account",
    "Account, keys, mappings, refused requests",
    /^\/seller_api\/(account|keys|mappings|refusals)/,
  ),
  page(
    "api-catalogue",
    "Operator: events and catalogue",
    /^\/operator_api\/(events|products)/,
  ),
  page(
    "api-sellers",
    "Operator: sellers and keys",
    /^\/operator_api\/(sellers|keys)/,
  ),
  page("api-reviews", "Operator: review", /^\/operator_api\/review/),
  page(
    "api-operations",
    "Operator: status, refusals, audit log",
    /^\/operator_api\//,
  ),
  page("api-service", "Health, metrics, images, contracts", /^\//),
];

function page(name: string, title: string, paths: RegExp) {
  return { name, title, paths };
}

/** The names of the pages of the reference, as paths below `/docs`. */
export const REFERENCE_PAGES: readonly string[] = PAGES
  .map(({ name }) => name);

function code(text: string): string {
  return `<code>${escaped(text)}</code>`;
}

/** A table; the cells are HTML already. */
function table(
  caption: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return "";
  const head = header.map((name) => `<th scope="col">${name}</th>`).join("");
  const body = rows.map(([first, ...rest]) =>
    `<tr><th scope="row">${first}</th>${
      rest.map((cell) => `<td>${cell}</td>`).join("")
    }</tr>`
  ).join("\n");
  return `<div class="wide" tabindex="0" role="group" aria-label="${
    escaped(caption)
  }"><table>
<caption>${escaped(caption)}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}
</tbody></table></div>`;
}

function example(title: string, text: string): string {
  return `<figure><figcaption>${escaped(title)}</figcaption>
<pre tabindex="0" aria-label="${escaped(title)}"><code>${
    escaped(text)
  }</code></pre></figure>`;
}

/** What a text may be, in words; `code` marks what is written as it is. */
export function formWords(
  form: TextForm,
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
    default:
      return "text";
  }
}

function parameterRows(endpoint: Endpoint): string[][] {
  const segments = pathNames(endpoint.path).map((name) => {
    const { about, words } = PATH_PARAMETERS[name];
    const list = words === undefined ? "" : `: ${words.map(code).join(", ")}`;
    return [code(`:${name}`), escaped(about) + list];
  });
  const others = (endpoint.parameters ?? []).map((
    { name, about, in: place },
  ) => [
    code(place === "header" ? `${name}:` : `?${name}=`),
    escaped(about),
  ]);
  return [...segments, ...others];
}

function answerParts({ answers, example: own }: Endpoint): string {
  if (answers === null) return "<p>Answered with 204 and no body.</p>";
  if ("type" in answers) {
    const types = mediaTypes(answers).map(code).join(" or ");
    return `<p>Answered as ${types}.</p>`;
  }
  return answers.map((name) =>
    example(
      answers.length === 1 ? "Answer" : `Answer: ${name}`,
      own ?? ANSWER_EXAMPLES[name],
    )
  )
    .join("\n");
}

function section(endpoint: Endpoint): string {
  const { operation, method, path, title, about, sends, scope } = endpoint;
  const errors = errorsOf(endpoint).map(code).join(", ");
  return `<section id="${operation}" aria-labelledby="${operation}-title">
<h2 id="${operation}-title">${escaped(title)}</h2>
<p class="route"><span class="method">${method}</span> ${code(path)}</p>
<p>${escaped(about)}</p>
${scope === undefined ? "" : scopeLine(scope, method)}
${
    table(
      `Parameters: ${title}`,
      ["parameter", "meaning"],
      parameterRows(endpoint),
    )
  }
${sends === undefined ? "" : example("Request body", sends.example)}
${answerParts(endpoint)}
<p><a href="/docs/errors#statuses-and-codes">Errors</a>: ${errors}</p>
</section>`;
}

function scopeLine(scope: Scope, method: string): string {
  const scopes = scopesOf(scope, method).map(code).join(" or ");
  return `<p><a href="/docs/keys#scopes">Scope</a> of the key: ${scopes}</p>`;
}

function pageOf({ path }: Endpoint): string {
  return PAGES.find(({ paths }) => paths.test(path))!.name;
}

/** Links to all pages; below the one shown, to its endpoints. */
function pageLinks(endpoints: readonly Endpoint[], shown?: string): string {
  return PAGES.map(({ name, title }) => {
    if (name !== shown) {
      return `<li><a href="/docs/${name}">${escaped(title)}</a></li>`;
    }
    const links = endpoints.map(({ operation, title }) =>
      `<li><a href="#${operation}">${escaped(title)}</a></li>`
    );
    return `<li>${escaped(title)}<ul>${links.join("")}</ul></li>`;
  }).join("");
}

/** The chapter after its introduction: a table of the endpoints of each page. */
export function apiReference(endpoints: readonly Endpoint[]): Generated {
  const html = PAGES.map(({ name, title }) => {
    const rows = endpoints.filter((endpoint) => pageOf(endpoint) === name)
      .map(({ operation, method, path, title }) => [
        `<a href="/docs/${name}#${operation}">${escaped(title)}</a>`,
        `<span class="method">${method}</span> ${code(path)}`,
      ]);
    return `<h2 id="${name}"><a href="/docs/${name}">${escaped(title)}</a></h2>
${table(title, ["what it does", "request"], rows)}`;
  });
  return { html: html.join("\n"), sections: pageLinks(endpoints) };
}

export function referenceEntries(
  endpoints: readonly Endpoint[],
): SearchEntry[] {
  return endpoints.map((endpoint) => {
    const { operation, method, path, title, about } = endpoint;
    return {
      path: `/docs/${pageOf(endpoint)}#${operation}`,
      chapter: "API reference",
      section: `${title}, ${method} ${path}`,
      text: about,
    };
  });
}

export function referencePage(
  endpoints: readonly Endpoint[],
  name: string,
): Generated {
  const { title } = PAGES.find((page) => page.name === name)!;
  const own = endpoints.filter((endpoint) => pageOf(endpoint) === name);
  return {
    html: `<h1>${escaped(title)}</h1>\n${own.map(section).join("\n")}`,
    sections: pageLinks(own, name),
  };
}
