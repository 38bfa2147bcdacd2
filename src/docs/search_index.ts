/** The index of the handbook's search: each section as plain text. */
import type { Chapter } from "./chapters.ts";
import { headingId } from "./markdown.ts";

export interface SearchEntry {
  /** The path of the chapter, with the section's id. */
  path: string;
  chapter: string;
  /** Empty for the text before the first section. */
  section: string;
  text: string;
}

/** The sections of a chapter, in order. */
export function searchEntries({ name, text }: Chapter): SearchEntry[] {
  const entries: SearchEntry[] = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    const [, heading] = isCode ? [] : /^#{1,3} (.+)$/.exec(line) ?? [];
    if (heading === undefined) entries.at(-1)!.text += `${plain(line)} `;
    else if (entries.length === 0) {
      const [path, chapter] = [`/docs/${name}`, plain(heading)];
      entries.push({ path, chapter, section: "", text: "" });
    } else {
      const [{ chapter }] = entries;
      const path = `/docs/${name}#${headingId(heading)}`;
      entries.push({ path, chapter, section: plain(heading), text: "" });
    }
  }
  return entries.map((entry) => ({
    ...entry,
    text: entry.text.replace(/\s+/g, " ").trim(),
  }));
}

/** The line without the marks of Markdown. */
function plain(line: string): string {
  return line.replace(/^<!--.*-->$|^```\w*$|^\| -.*$/, "")
    .replace(/\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/[|`*]/g, " ").replace(/ +/g, " ").trim();
}
