/** The handbook as files, with its tables, links and headings. */
import { headingId } from "../../src/docs/markdown.ts";

const ROOT = new URL("../../", import.meta.url);
const FOLDER = new URL("src/docs/", ROOT);

export interface Chapter {
  /** Path from the root of the project. */
  file: string;
  text: string;
}

/** Experiments, for contributors only. */
const NOT_SERVED = "experiments.md";

/** Every chapter, by name. */
export function chapters(): Chapter[] {
  return [...Deno.readDirSync(FOLDER)]
    .filter(({ name }) => name.endsWith(".md") && name !== NOT_SERVED)
    .map(({ name }) => ({
      file: `src/docs/${name}`,
      text: Deno.readTextFileSync(new URL(name, FOLDER)),
    }))
    .sort((a, b) => a.file < b.file ? -1 : 1);
}

/** The text of one chapter; `name` is its file's, without `.md`. */
export function chapter(name: string): string {
  return Deno.readTextFileSync(new URL(`${name}.md`, FOLDER));
}

/** The text of a file for operators. */
export function operatorFile(name: string): string {
  return Deno.readTextFileSync(new URL(`files/${name}`, FOLDER));
}

export function readme(): Chapter {
  const text = Deno.readTextFileSync(new URL("README.md", ROOT));
  return { file: "README.md", text };
}

/** The rows of every table with these headers; cells without code marks. */
export function tables(text: string, ...header: string[]): string[][] {
  const blocks = text.trim().split("\n\n").map((block) =>
    block.split("\n").map((line) =>
      line.replace(/^\| ?| ?\|$/g, "").trim().split(/ *\| */)
        .map((cell) => cell.replaceAll("`", ""))
    )
  );
  const found = blocks.filter(([first]) => first.join() === header.join());
  if (found.length === 0) throw new Error(`no table ${header.join(" | ")}`);
  return found.flatMap((rows) => rows.slice(2));
}

/** The text without code blocks. */
export function prose(text: string): string {
  return text.replace(/^```[^]*?^```$/gm, "");
}

/** The targets of links, as written. */
export function links(text: string): string[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target);
}

/** The targets of `#…` links: headings, with the ids that GitHub gives them. */
export function anchors(text: string): string[] {
  return [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    headingId(heading)
  );
}

export interface Block {
  language: string;
  code: string;
}

/** The code blocks, in order. */
export function blocks(text: string): Block[] {
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)]
    .map(([, language, code]) => ({ language, code }));
}
