/** Turns a chapter into HTML. Raw HTML in it becomes text. */
import { marked, Renderer, type Tokens } from "marked";
import { escaped } from "../lib/markup.ts";

export interface Heading {
  depth: number;
  id: string;
  html: string;
}

export interface Rendered {
  html: string;
  /** In order; the first is the title. */
  headings: readonly Heading[];
}

/** The id that GitHub gives a heading, so that one link fits both. */
export function headingId(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}\- _]/gu, "")
    .replaceAll(" ", "-");
}

/** Chapters link to each other's files; below `/docs` the names have no `.md`. */
function served(href: string): string {
  return href.replace(/^([\w-]+)\.md(?=#|$)/, "/docs/$1");
}

class ChapterRenderer extends Renderer {
  readonly headings: Heading[] = [];

  override heading({ depth, text, tokens }: Tokens.Heading): string {
    const html = this.parser.parseInline(tokens);
    const id = headingId(text);
    this.headings.push({ depth, id, html });
    return `<h${depth} id="${id}">${html}</h${depth}>\n`;
  }

  override link(token: Tokens.Link): string {
    const href = served(token.href);
    return /^(https:\/\/|\/|#)/.test(href)
      ? super.link({ ...token, href })
      : this.parser.parseInline(token.tokens);
  }

  /** The policy of the pages allows none. */
  override image({ text }: Tokens.Image): string {
    return escaped(text);
  }

  /** Scrolls by itself, also for those who use a keyboard. */
  override table(token: Tokens.Table): string {
    const label = token.header.map(({ text }) => text).join(", ");
    return `<div class="wide" tabindex="0" role="region" aria-label="${
      escaped(label)
    }">${super.table(token)}</div>\n`;
  }

  override code({ text }: Tokens.Code): string {
    return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return escaped(text);
  }
}

export function render(markdown: string): Rendered {
  const renderer = new ChapterRenderer();
  const html = marked.parse(markdown, { async: false, renderer });
  return { html, headings: renderer.headings };
}
