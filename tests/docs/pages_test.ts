/** The handbook as the service serves it under `/docs`. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { REFERENCE_PAGES } from "../../src/contracts/docs.ts";
import { CHAPTER_GROUPS, CHAPTERS } from "../../src/docs/chapters.ts";
import { headingId, render } from "../../src/docs/markdown.ts";
import { chapterPage, servedMarkdown } from "../../src/docs/page.ts";
import type { SearchEntry } from "../../src/docs/search_index.ts";
import { boot } from "../support/app.ts";
import { chapter, chapters } from "../support/handbook.ts";

const PATHS = [
  "/docs",
  ...[...CHAPTERS, ...REFERENCE_PAGES].map(({ name }) => `/docs/${name}`),
];

function idsOf(html: string): string[] {
  return [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
}

const LANDMARK =
  /<(nav|main|aside|section|form)\b[^>]*>|<[^>]+\srole="region"[^>]*>/g;

/** Tag and label of each region that a screen reader lists. */
function landmarksOf(html: string): string[] {
  return [...html.matchAll(LANDMARK)].map(([tag, name = "region"]) => {
    const [, how, value] = /aria-label(ledby)?="([^"]*)"/.exec(tag) ?? [];
    const label = how === undefined
      ? value
      : new RegExp(`id="${value}"[^>]*>(.*?)</`).exec(html)![1];
    return `${name} ${label}`;
  });
}

/** Files for contributors, which the service does not show. */
const FOR_CONTRIBUTORS = [
  "agent-evaluation",
  "architecture",
  "dependencies",
  "experiments",
  "style",
]
  .map((name) => `src/docs/${name}.md`);

Deno.test("every file is a chapter, except those only for contributors", () => {
  const served = CHAPTERS.map(({ name, text }) => ({
    file: `src/docs/${name}.md`,
    text,
  }));
  assertEquals(
    served.sort((a, b) => a.file < b.file ? -1 : 1),
    chapters().filter(({ file }) =>
      !FOR_CONTRIBUTORS.includes(file) && file !== "src/docs/contents.md"
    ),
  );
});

Deno.test("the contents list the chapters in the order of /docs, then those for contributors", () => {
  const served = CHAPTER_GROUPS.map(({ title, chapters }) => ({
    title,
    files: chapters.map(({ name }) => `src/docs/${name}.md`),
  }));
  const contributors = { title: "For contributors", files: FOR_CONTRIBUTORS };
  const lines = [...served, contributors].flatMap(({ title, files }) => [
    `${title}:`,
    ...files.map((file) => {
      const text = Deno.readTextFileSync(
        new URL(`../../${file}`, import.meta.url),
      );
      const name = file.replace("src/docs/", "");
      return `- [${/^# (.+)/.exec(text)![1]}](${name})`;
    }),
  ]);
  const listed = chapter("contents").split("\n")
    .map((line) => /^For .+:$|^- \[.+\]\(.+?\)/.exec(line)?.[0])
    .filter((line) => line !== undefined);
  assertEquals(listed, lines);
});

Deno.test("the reference is served as Markdown, with links between its pages", async () => {
  await using app = await boot();
  const get = async (path: string) =>
    (await app.call(path, { key: null })).text;
  assertStringIncludes(
    await get("/docs/api.md"),
    "| [Undo an upload](api-uploads.md#undo-an-upload) |",
  );
  const uploads = await get("/docs/api-uploads.md");
  assertStringIncludes(
    uploads,
    "\n## Undo an upload\n\n" +
      "`POST /seller_api/bulk_products/:transaction_id/undo`\n",
  );
  assertStringIncludes(uploads, "| `?changed=` |");
  assertStringIncludes(uploads, "\nAnswer:\n\n```\n<?xml ");
});

Deno.test("every chapter is served as Markdown at the address in llms.txt", async () => {
  await using app = await boot();
  const get = (path: string) => app.call(path, { key: null });
  const { text } = await get("/llms.txt");
  const paths = [...text.matchAll(/\]\((\S+\.md)\)/g)].map(([, path]) => path);
  assertEquals(
    paths,
    [...CHAPTERS, ...REFERENCE_PAGES].map(({ name }) => `/docs/${name}.md`),
  );
  assertStringIncludes(
    text,
    "\n- [Images](/docs/images.md): Upload a file; Download from a host;",
  );
  const markdown = await Promise.all(paths.map(get));
  for (const [i, { text }] of CHAPTERS.entries()) {
    assert(markdown[i].text.startsWith(servedMarkdown(text)), paths[i]);
  }
  // A reader of a single chapter can run its examples.
  for (const [i, { text }] of markdown.entries()) {
    for (const [, variable] of text.matchAll(/"\$(api|operator|key|xml)\b/g)) {
      assertStringIncludes(text, `\n${variable}=`, paths[i]);
    }
    assert(!text.includes("<!-- written by"), paths[i]);
    // The variables do not separate an example from the sentence that
    // introduces it.
    assert(!/:\n\nThe examples need these/.test(text), paths[i]);
  }
  const [{ headers }] = markdown;
  assertEquals(headers.get("content-type"), "text/markdown; charset=utf-8");
});

const SEARCH = '<script src="/docs/search.js" defer></script>';

Deno.test("no page needs a key, a script or another host", async () => {
  await using app = await boot();
  for (const path of PATHS) {
    const { status, text, headers } = await app.call(path, { key: null });
    assertEquals(status, 200, path);
    assert(!text.includes("deno task docs`"), `a comment of ${path}`);
    assertEquals(headers.get("content-type"), "text/html; charset=utf-8");
    const policy = headers.get("content-security-policy")!;
    assertStringIncludes(
      policy,
      "default-src 'none'; style-src 'self'; script-src 'self'; " +
        "connect-src 'self';",
    );
    assertStringIncludes(text, '<form id="search" role="search" hidden>');
    const rest = text.replace(SEARCH, "");
    assert(!/<script|<style|\sstyle=|\son\w+=|<img|<iframe/i.test(rest), path);
    assert(!/\ssrc=|<link[^>]+"https?:/.test(rest), path);
  }
  const style = await app.call("/docs.css", { key: null });
  assertEquals(
    [style.status, style.headers.get("content-type")],
    [200, "text/css; charset=utf-8"],
  );
  assertEquals((await app.call("/docs/nothing")).status, 404);
});

Deno.test("every link of every page has an existing page and id as its target", async () => {
  await using app = await boot();
  const pages = new Map<string, string>();
  for (const path of PATHS) {
    const { status, text } = await app.call(path, { key: null });
    assertEquals(status, 200, path);
    const ids = idsOf(text);
    assertEquals(new Set(ids).size, ids.length, `${path}: an id twice`);
    pages.set(path, text);
  }
  for (const [path, html] of pages) {
    for (const [, href] of html.matchAll(/href="([^"]*)"/g)) {
      if (/^https:\/\//.test(href)) continue;
      const [target, id] = href.split("#");
      const page = target === "" ? path : target;
      if (id !== undefined) {
        assert(idsOf(pages.get(page) ?? "").includes(id), `${path}: ${href}`);
      } else {
        const { status } = await app.call(page, { key: null });
        assertEquals(status, 200, `${path}: ${href}`);
      }
    }
  }
});

Deno.test("no page has two regions of one label", async () => {
  await using app = await boot();
  for (const path of PATHS) {
    const { text } = await app.call(path, { key: null });
    const labels = landmarksOf(text);
    assertEquals(labels, [...new Set(labels)], path);
  }
});

Deno.test("the search covers every section and every endpoint", async () => {
  await using app = await boot();
  const { status, text } = await app.call("/docs/search.json", { key: null });
  assertEquals(status, 200);
  const entries: SearchEntry[] = JSON.parse(text);
  for (const { path } of entries) {
    const [page, id] = path.split("#");
    if (id === undefined) continue;
    const { text } = await app.call(page, { key: null });
    assert(idsOf(text).includes(id), path);
  }
  const paths = new Set(entries.map(({ path }) => path));
  assertEquals(paths.size, entries.length);
  for (const { name } of CHAPTERS) assert(paths.has(`/docs/${name}`), name);
  assert(paths.has("/docs/api-uploads#undo-an-upload"));
  const repeat = entries.find(({ path }) =>
    path === "/docs/upload#repeat-a-request-safely"
  )!;
  assertEquals(repeat.section, "Repeat a request safely");
  assertStringIncludes(repeat.text, "an Idempotency-Key of up to 255");
});

Deno.test("the whole text of a chapter is shown", async () => {
  await using app = await boot();
  for (const { name, text } of CHAPTERS) {
    const page = await app.call(`/docs/${name}`, { key: null });
    const shown = page.text.replace(/<[^>]+>/g, "")
      .replaceAll("&lt;", "<").replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"').replaceAll("&#39;", "'")
      .replaceAll("&amp;", "&");
    for (const [, , code] of text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)) {
      assertStringIncludes(shown, code.trimEnd(), name);
    }
    for (const [, words] of text.matchAll(/^- ([\w ,;]{30,})$/gm)) {
      assertStringIncludes(shown, words, name);
    }
  }
});

Deno.test("every row of a table is rendered inside its table", () => {
  for (const { name, text } of CHAPTERS) {
    const prose = render(text).replace(
      /<pre.*?<\/pre>|<code>.*?<\/code>/gs,
      "",
    );
    assert(!prose.includes("|"), `${name}: an empty line tears a table`);
  }
});

Deno.test("raw HTML in a chapter becomes text, in a block and in a line", () => {
  const html = render(
    "<script>a()</script>\n\nA <b onclick=x>line</b> & `<i>`.\n\n" +
      "[x](javascript:alert%281%29) ![y](https://a.example/z.png)",
  );
  assert(!/<(script|b|i|img)\b/.test(html), html);
  assert(!/href="javascript:/i.test(html), html);
  assertStringIncludes(html, "&lt;script&gt;a()&lt;/script&gt;");
  assertStringIncludes(html, "<code>&lt;i&gt;</code>");
});

Deno.test("headings have the ids that GitHub gives them", () => {
  for (
    const [heading, id] of [
      ["Read products out", "read-products-out"],
      ["Backup, restore, upgrade", "backup-restore-upgrade"],
      ["10,000 sellers & `more`", "10000-sellers--more"],
      ["C++ / Ärger_1", "c--ärger_1"],
    ]
  ) assertEquals(headingId(heading), id);
});

Deno.test("a page is rendered in pieces, and other pages are served between them", async () => {
  let turns = 0;
  let isWritten = false;
  const page = chapterPage(CHAPTERS[0]).finally(() => isWritten = true);
  while (!isWritten) {
    await new Promise((done) => setImmediate(done));
    turns++;
  }
  assertStringIncludes(await page, "<h1");
  assert(turns > 1);
});
