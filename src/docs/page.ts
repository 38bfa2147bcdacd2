/**
 * Renders the pages of the handbook as plain HTML; only the search needs a
 * script.
 */
import { type Chapter, CHAPTER_GROUPS, CHAPTERS } from "./chapters.ts";
import { headingsOf, render } from "./markdown.ts";
import { escaped } from "../lib/markup.ts";
import { yieldToIo } from "../lib/yield_to_io.ts";

/** A page and its title, in Markdown. */
interface Titled {
  name: string;
  title: string;
  /** The titles of its sections. */
  sections?: string[];
}

/** `GET /docs`: every chapter with its sections. */
export function contentsPage(): string {
  const parts = CHAPTER_GROUPS.map(({ title, chapters }) => {
    const items = chapters.map((chapter) => {
      const path = `/docs/${chapter.name}`;
      return `<li><a href="${path}">${titleOf(chapter)}</a><ul>${
        sectionsOf(chapter, path)
      }</ul></li>`;
    });
    return `<h2>${title}</h2>\n<ul class="contents">${items.join("\n")}</ul>`;
  });
  const main = `<h1>Handbook</h1>\n${parts.join("\n")}`;
  return page("handbook", navigation(), main);
}

/**
 * `GET /llms.txt`: links to every chapter, with its sections, and to every page
 * of the reference.
 */
export function contentsText(reference: readonly Titled[]): string {
  const parts = CHAPTER_GROUPS.map(({ title, chapters }) =>
    listOf(
      title,
      chapters.map(({ name, text }) => {
        const [first, ...others] = headingsOf(text);
        const sections = others.filter(({ depth }) => depth === 2)
          .map(({ text }) => text);
        return { name, title: first.text, sections };
      }),
    )
  );
  parts.push(listOf("API reference", reference));
  return "# Seller interface\n\n> Sellers of a marketplace upload products by " +
    "XML or JSON over HTTP, and get orders by webhooks.\n\n" +
    "The chapters explain and have examples; the API reference has every " +
    "request with its parameters and answers. [OpenAPI 3.1](/openapi.json), " +
    `of 0.3 MB, has the same for programs.\n${parts.join("")}`;
}

/** Links to pages in Markdown. */
function listOf(title: string, pages: readonly Titled[]): string {
  const items = pages.map(({ name, title, sections = [] }) => {
    const link = `- [${title}](/docs/${name}.md)`;
    return sections.length === 0 ? link : `${link}: ${sections.join("; ")}`;
  });
  return `\n## ${title}\n\n${items.join("\n")}\n`;
}

/** `GET /docs/:chapter`. */
export function chapterPage(chapter: Chapter): Promise<string> {
  return pageOf(chapter, chapter.name, sectionsOf(chapter, ""));
}

/** A page of the reference, whose chapter is `api`. */
export function referenceHtml(
  shown: Chapter,
  reference: readonly Titled[],
): Promise<string> {
  const sections = reference.map(({ name, title }) => {
    const own = name === shown.name ? `<ul>${sectionsOf(shown, "")}</ul>` : "";
    return `<li><a href="/docs/${name}">${escaped(title)}</a>${own}</li>`;
  });
  return pageOf(shown, "api", sections.join(""));
}

/**
 * The page of a chapter. In the navigation, `sections` follows the chapter
 * `name`.
 */
async function pageOf(
  shown: Chapter,
  name: string,
  sections: string,
): Promise<string> {
  const html = render(servedMarkdown(shown.text));
  // Both `render` and `navigation` can take 20 ms the first time.
  await yieldToIo();
  return page(titleOf(shown), navigation({ name, sections }), html);
}

/**
 * The Markdown of a chapter, without the marks of generated text, and with the
 * variables of its examples, which another chapter sets.
 */
export function servedMarkdown(chapter: string): string {
  const text = chapter.replace(MARKS, "");
  const name = ["api", "operator"].find((name) => text.includes(`"$${name}`));
  if (name === undefined || text.includes(`\n${name}=`)) return text;
  const other = CHAPTERS.find(({ text }) => text.includes(`\n${name}=`))!.text;
  const from = other.indexOf("```sh\n");
  const variables = other.slice(from, other.indexOf("\n```\n", from));
  const example = text.lastIndexOf("```sh\n", text.indexOf(`"$${name}`));
  // The variables must not separate an example from the paragraph that
  // introduces it.
  const above = text.slice(0, example).trimEnd();
  const place = above.endsWith(":") ? above.lastIndexOf("\n\n") + 2 : example;
  const product = name === "api"
    ? ", and the product of the [quick start](quick-start.md)"
    : "";
  return `${text.slice(0, place)}The examples need these variables of your ` +
    `shell${product}:\n\n${variables}\n\`\`\`\n\n${text.slice(place)}`;
}

const MARKS = /^<!-- (written by `deno task docs`|until here) -->\n\n?/gm;

/** The first heading of a chapter, in HTML. */
function titleOf(chapter: Chapter): string {
  return headingsOf(chapter.text)[0].html;
}

/** Links to the sections of a chapter that is served at `path`. */
function sectionsOf(chapter: Chapter, path: string): string {
  return headingsOf(chapter.text).filter(({ depth }) => depth === 2)
    .map(({ id, html }) => `<li><a href="${path}#${id}">${html}</a></li>`)
    .join("");
}

/** Links to all chapters, and to the sections of the chapter that is shown. */
function navigation(shown?: { name: string; sections: string }): string {
  const parts = CHAPTER_GROUPS.map(({ title, chapters }) => {
    const items = chapters.map((chapter) => {
      const here = chapter.name === shown?.name;
      const link = `<a href="/docs/${chapter.name}"${
        here ? ' aria-current="page"' : ""
      }>${titleOf(chapter)}</a>`;
      return `<li>${link}${here ? `<ul>${shown.sections}</ul>` : ""}</li>`;
    });
    return `<li>${title}<ul>${items.join("")}</ul></li>`;
  });
  return `<nav aria-label="Chapters"><ul>${parts.join("\n")}</ul></nav>`;
}

/** `title`, `nav` and `main` are HTML. */
function page(title: string, nav: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Seller interface: ${title}</title>
<link rel="stylesheet" href="/docs.css">
<script src="/docs/search.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><a href="/docs">Seller interface: handbook</a>
<a href="/">The page</a> <a href="/openapi.json">OpenAPI</a>
<form id="search" role="search" hidden>
<label>Search <input type="search" autocomplete="off"></label>
<span role="status"></span>
<ul></ul>
</form></header>
${nav}
<main id="main">
${main}
</main>
</body>
</html>
`;
}
