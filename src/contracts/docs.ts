/** Writes the API reference, a chapter of the handbook, from the tables. */
import { type CodeEntry, DETAIL_CODES, ERRORS } from "../lib/errors.ts";
import type { Generated } from "../docs/page.ts";
import { escaped } from "../lib/markup.ts";
import { IMAGE_CODES } from "../images/image.ts";
import { TRIGGERS } from "../webhooks/trigger.ts";
import { READ_ONLY, SENT_PRODUCT } from "./documents.ts";
import { type Endpoint, errorsOf, PATH_PARAMETERS } from "./endpoint.ts";
import { ANSWER_EXAMPLES } from "./examples.ts";
import { pathNames } from "./openapi.ts";
import { type Child, isText, type TextForm } from "./shapes.ts";

const GROUPS: readonly [Endpoint["access"], string][] = [
  ["seller", "For sellers"],
  ["operator", "For the operator"],
  ["metrics", "For monitoring"],
  ["public", "For everybody"],
];

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
  return `<div class="wide" tabindex="0" role="region" aria-label="${
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

/** What a text may be, in HTML. */
function described(form: TextForm): string {
  const words = formWords(form, code);
  return form.empty ? `${words}; empty clears it` : words;
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

/** Rows for elements and for their XML attributes that can be sent. */
function fieldRows(children: readonly Child[], path = ""): string[][] {
  return children.flatMap(({ name, shape, max, about }) => {
    const { content, attributes = {} } = shape;
    const field = path + name;
    const rules = [
      max === 1 ? "" : `up to ${max}`,
      isText(content) ? described(content) : "",
      escaped(about ?? ""),
    ];
    const sent = Object.entries(attributes)
      .filter(([, attribute]) => attribute.about !== READ_ONLY)
      .map(([attribute, { form, about }]) => [
        code(`${field}/@${attribute}`),
        about === undefined ? described(form) : escaped(about),
      ]);
    return [
      [code(field), rules.filter((rule) => rule !== "").join("; ")],
      ...sent,
      ...(isText(content) ? [] : fieldRows(content, `${field}/`)),
    ];
  });
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
  if ("type" in answers) return `<p>Answered as ${code(answers.type)}.</p>`;
  return answers.map((name) =>
    example(
      answers.length === 1 ? "Answer" : `Answer: ${name}`,
      own ?? ANSWER_EXAMPLES[name],
    )
  )
    .join("\n");
}

function section(endpoint: Endpoint): string {
  const { operation, method, path, title, about, sends } = endpoint;
  const errors = errorsOf(endpoint)
    .map((name) => `<a href="#error-${name}">${code(name)}</a>`).join(", ");
  return `<section id="${operation}" aria-labelledby="${operation}-title">
<h3 id="${operation}-title">${escaped(title)}</h3>
<p class="route"><span class="method">${method}</span> ${code(path)}</p>
<p>${escaped(about)}</p>
${
    table(
      `Parameters: ${title}`,
      ["parameter", "meaning"],
      parameterRows(endpoint),
    )
  }
${sends === undefined ? "" : example("Request body", sends.example)}
${answerParts(endpoint)}
<p>Errors: ${errors}</p>
</section>`;
}

function sections(endpoints: readonly Endpoint[]): string {
  const groups = GROUPS.map(([access, title]) => {
    const links = endpoints.filter((endpoint) => endpoint.access === access)
      .map(({ operation, title }) =>
        `<li><a href="#${operation}">${escaped(title)}</a></li>`
      );
    return `<li><a href="#${access}">${title}</a><ul>${
      links.join("")
    }</ul></li>`;
  });
  const rest = [
    ["#product", "Fields of a product"],
    ["#errors", "Errors"],
    ["#details", "Detail codes"],
    ["#images", "Image codes"],
    ["#triggers", "Triggers"],
  ].map(([href, title]) => `<li><a href="${href}">${title}</a></li>`);
  return [...groups, ...rest].join("");
}

/** Markdown without anything but code, as HTML. */
function inline(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

function errors(): string {
  const rows = Object.entries(ERRORS)
    .map(([name, { status, meaning, remedy }]) => [
      `<code id="error-${name}">${name}</code>`,
      `${status}`,
      inline(meaning),
      inline(remedy),
    ]);
  return `<section id="errors"><h2>Errors</h2>
<p>Every failure is answered with a status and a document like this.</p>
${example("An error", ANSWER_EXAMPLES.error)}
${
    table("Error codes", ["code", "status", "meaning", "what to do"], rows)
  }</section>`;
}

function codeTable(
  id: string,
  title: string,
  about: string,
  codes: Readonly<Record<string, CodeEntry>>,
): string {
  const rows = Object.entries(codes).map(([name, { meaning, remedy }]) => [
    code(name),
    inline(meaning),
    inline(remedy),
  ]);
  return `<section id="${id}"><h2>${title}</h2><p>${about}</p>
${table(title, ["code", "meaning", "what to do"], rows)}</section>`;
}

function productFields(): string {
  const { content } = SENT_PRODUCT;
  const rows = isText(content) ? [] : fieldRows(content);
  return `<section id="product"><h2>Fields of a product</h2>
<p>In any order. A new product needs ${code("sku")}, ${code("title")},
${code("price")}, and ${code("quantity")} or ${code("availability")}. What is
left out keeps its value.</p>
${table("Elements of a product", ["element", "value"], rows)}</section>`;
}

/** The chapter after its introduction. */
export function apiReference(endpoints: readonly Endpoint[]): Generated {
  const groups = GROUPS.map(([access, title]) =>
    `<h2 id="${access}">${title}</h2>\n` +
    endpoints.filter((endpoint) => endpoint.access === access)
      .map(section).join("\n")
  );
  const html = `${groups.join("\n")}
${productFields()}
${errors()}
${
    codeTable(
      "details",
      "Detail codes",
      "What is wrong with one value of a request.",
      DETAIL_CODES,
    )
  }
${
    codeTable(
      "images",
      "Image codes",
      "Why an image could not be fetched.",
      IMAGE_CODES,
    )
  }
<section id="triggers"><h2>Triggers</h2>
<p>${TRIGGERS.map(code).join(", ")}</p></section>`;
  return { html, sections: sections(endpoints) };
}
