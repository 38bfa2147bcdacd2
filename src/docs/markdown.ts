/** Renders a chapter as HTML; raw HTML in it is escaped, comments are left out. */
import { marked, Renderer, type Tokens } from "marked";
import { escaped } from "../lib/markup.ts";

export interface Heading {
  depth: number;
  id: string;
  /** As Markdown. */
  text: string;
  html: string;
}

/** The id that GitHub gives a heading, so that links work in both places. */
export function headingId(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}\- _]/gu, "")
    .replaceAll(" ", "-");
}

/**
 * The address of a link when the chapter is served: chapters link to files in
 * their folder; below `/docs`, links have no `.md`.
 */
function servedHref(href: string): string {
  return href.replace(/^([\w-]+)\.md(?=#|$)/, "/docs/$1")
    .replace(/^files\//, "/docs/files/");
}

class ChapterRenderer extends Renderer {
  override heading({ depth, text, tokens }: Tokens.Heading): string {
    const html = this.parser.parseInline(tokens);
    return `<h${depth} id="${headingId(text)}">${html}</h${depth}>\n`;
  }

  override link(token: Tokens.Link): string {
    const href = servedHref(token.href);
    return /^(https:\/\/|\/|#)/.test(href)
      ? super.link({ ...token, href })
      : this.parser.parseInline(token.tokens);
  }

  /** The pages' Content-Security-Policy allows no images. */
  override image({ text }: Tokens.Image): string {
    return escaped(text);
  }

  /** A table scrolls by itself, also with the keyboard. */
  override table(token: Tokens.Table): string {
    const label = token.header.map(({ text }) => text).join(", ");
    return `<div class="wide" tabindex="0" role="group" aria-label="${
      escaped(label)
    }">${super.table(token)}</div>\n`;
  }

  override code({ text }: Tokens.Code): string {
    return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    // Comments are for those who write the chapter.
    return text.startsWith("<!--") ? "" : escaped(text);
  }
}

/** Renders a chapter as HTML, which takes milliseconds. */
export function render(markdown: string): string {
  const renderer = new ChapterRenderer();
  return marked.parse(markdown, { async: false, renderer });
}

/** Returns the headings of a chapter without rendering the rest. */
export function headingsOf(markdown: string): Heading[] {
  const renderer = new ChapterRenderer();
  const headings: Heading[] = [];
  let code = false;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("```")) code = !code;
    const [, marks, text] = /^(#{1,6}) (.+)$/.exec(line) ?? [];
    if (code || text === undefined) continue;
    const html = marked.parseInline(text, { async: false, renderer });
    headings.push({ depth: marks.length, id: headingId(text), text, html });
  }
  return headings;
}
