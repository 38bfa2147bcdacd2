/** Writes the API reference, a chapter of the handbook, from the tables. */
import { DETAIL_CODES, ERROR_STATUS, type ErrorCode } from "../lib/errors.ts";
import type { Generated } from "../docs/page.ts";
import { escaped } from "../lib/markup.ts";
import { IMAGE_CODES } from "../images/image.ts";
import { TRIGGERS } from "../webhooks/trigger.ts";
import { READ_ONLY, SENT_PRODUCT } from "./documents.ts";
import { type Endpoint, errorsOf, PATH_PARAMETERS } from "./endpoint.ts";
import { ANSWER_EXAMPLES } from "./examples.ts";
import { pathNames } from "./openapi.ts";
import { type Child, isText, type TextForm } from "./shapes.ts";

/** The meaning of each code; a test compares the handbook with it. */
export const ERROR_ABOUT: Readonly<Record<ErrorCode, string>> = {
  malformed_xml:
    "The body is not well-formed XML, not UTF-8, has a DOCTYPE or a " +
    "processing instruction, or passes a structural limit; one detail " +
    "has <line> and <column>.",
  malformed_request:
    "Broken percent-encoding or gzip, an unusable request line, Host or " +
    "header, or a query parameter that the request does not take.",
  unsupported_version: "v is not 1.1.",
  unauthorized: "The key is missing, unknown or revoked.",
  forbidden: "The operator key may only read.",
  suspended: "The operator has suspended this seller. Nothing is lost: " +
    "deliveries and images wait until the operator ends the suspension.",
  not_found:
    "No such path, or no such transaction, product or webhook of this " +
    "seller.",
  method_not_allowed: "The path takes other methods: see Allow.",
  request_timeout: "The body was not complete after 30 s.",
  conflict: "The Idempotency-Key was used with another request, or its first " +
    "request is still in progress (Retry-After), or the transaction was " +
    "undone already.",
  too_many_products: "More than 250 products in a document.",
  body_too_large: "The body, decompressed, is longer than SELLER_BODY_LIMIT.",
  unsupported_media_type:
    "Content-Type is not text/xml or application/xml, or " +
    "Content-Encoding is not gzip.",
  record_invalid:
    "The request contains mistakes; <details> lists each of them. Nothing " +
    "was stored.",
  rate_limited:
    "Too many requests a minute, or too many at once (16 uploads, 32 " +
    "request bodies, 64 waiting requests, 64 lists or statuses of a seller, " +
    "or 32 MiB of answers that were not read), or too many wrong " +
    "keys from your address. Wait for Retry-After seconds.",
  internal: "The service failed. The request id finds the log line.",
  unavailable:
    "The service cannot work at the moment, for example because the disk " +
    "is full or 64 uploads are in progress. Try again after Retry-After " +
    "seconds.",
};

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

/** What a text may be, in words. */
function described(form: TextForm): string {
  const words = formWords(form);
  return form.empty ? `${words}; empty clears it` : words;
}

function formWords(form: TextForm): string {
  switch (form.kind) {
    case "line":
      return `1 to ${form.max.toLocaleString("en")} characters on one line`;
    case "text":
      return `up to ${form.max.toLocaleString("en")} characters`;
    case "decimal":
      return `a decimal, up to ${form.before} digits before the point and ` +
        `${form.after} after it`;
    case "integer":
      return `0 to ${form.max.toLocaleString("en")}`;
    case "word":
      return form.words.map(code).join(", ");
    case "digits":
      return `${form.lengths.join(", ")} digits with a right check digit`;
    case "date":
      return `a date, ${code("YYYY-MM-DD")}`;
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

function codeTable(
  id: string,
  title: string,
  about: string,
  codes: Readonly<Record<string, string>>,
): string {
  const rows = Object.entries(codes)
    .map(([name, meaning]) => [code(name), escaped(meaning)]);
  return `<section id="${id}"><h2>${title}</h2><p>${about}</p>
${table(title, ["code", "meaning"], rows)}</section>`;
}

function errors(): string {
  const rows = (Object.keys(ERROR_STATUS) as ErrorCode[]).map((name) => [
    `<code id="error-${name}">${name}</code>`,
    `${ERROR_STATUS[name]}`,
    escaped(ERROR_ABOUT[name]),
  ]);
  return `<section id="errors"><h2>Errors</h2>
<p>Every failure is answered with a status and a document like this.</p>
${example("An error", ANSWER_EXAMPLES.error)}
${table("Error codes", ["code", "status", "meaning"], rows)}</section>`;
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
