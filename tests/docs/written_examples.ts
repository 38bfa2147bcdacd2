/** The examples of the chapter on the client as one module. */
import { formatted } from "../support/format.ts";
import { blocks, chapter } from "../support/handbook.ts";

const FILE = new URL("client_examples.ts", import.meta.url);
const HEAD = `/**
 * The examples of the handbook's chapter on the client, for the type checker.
 * Written by \`deno task docs\`.
 */
`;

/** The module, as `deno fmt` lays it out. */
export function clientExamples(): Promise<string> {
  const code = blocks(chapter("client"))
    .filter(({ language }) => language === "ts").map(({ code }) => code)
    .join("\n")
    .replaceAll('"./client.js"', '"../../src/client/dist/client.js"');
  return formatted(HEAD + code);
}

/** The module as it is. */
export function storedExamples(): Promise<string> {
  return Deno.readTextFile(FILE);
}

if (import.meta.main) await Deno.writeTextFile(FILE, await clientExamples());
