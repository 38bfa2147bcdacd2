/**
 * Runs the shell examples of the handbook against a sandbox, chapter by
 * chapter. A block of XML or text after a shell block is its expected output.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { CHAPTERS } from "../../src/docs/chapters.ts";
import { servedMarkdown } from "../../src/docs/page.ts";
import { blocks, readme } from "../support/handbook.ts";
import {
  type Program,
  startProgram,
  temporaryFolder,
} from "../support/process.ts";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

interface Example {
  where: string;
  /** The variables that the page sets. */
  variables: string;
  shell: string;
  /** The expected output; null if none follows. */
  output: string | null;
}

/** The blocks that call the service or write a file for it, in order. */
function examplesOf(where: string, text: string): Example[] {
  const found = blocks(servedMarkdown(text));
  const variables = found.map(({ code }) => code)
    .filter((code) => /^\w+=http/.test(code)).join("");
  return found.flatMap(({ language, code }, i) => {
    if (language !== "sh") return [];
    if (!/\bcurl -s|^cat > [\w.]+ /.test(code)) return [];
    const next = found[i + 1];
    const answered = next !== undefined && /^(xml|text)$/.test(next.language);
    const output = answered ? next.code : null;
    return [{ where, variables, shell: code, output }];
  });
}

/** Removes values that differ between runs, and space between tags. */
function comparable(output: string): string {
  return output.replaceAll(UUID, "ID")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/whsec_[\w+/=]+/g, "SECRET")
    .replaceAll(
      /<(duration_ms|queued|image_bytes|import_bytes|notices)>\d+/g,
      "<$1>N",
    )
    .replaceAll(/<last_used_at>TIME<.last_used_at>/g, "<last_used_at/>")
    .replaceAll(/\s+</g, "<").replaceAll(/>\s+/g, ">").trim();
}

async function bash(script: string, cwd?: string): Promise<string> {
  const { stdout, stderr, success } = await new Deno.Command("bash", {
    args: ["-euc", script],
    cwd,
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert(success, `${script}\n${decode(stdout)}\n${decode(stderr)}`);
  return decode(stdout);
}

async function canRun(): Promise<boolean> {
  try {
    await bash("curl --version");
    return true;
  } catch {
    console.log("The examples are left out: bash or curl is missing.");
    return false;
  }
}

/** Replaces the handbook's addresses by those of the sandbox. */
async function addressesOf(sandbox: Program): Promise<[string, string][]> {
  const line = await sandbox.line(/^curl -s \S+\/hook$/);
  return [
    ["127.0.0.1:8080", new URL(sandbox.url).host],
    ["127.0.0.1:8081", new URL(line.split(" ").at(-1)!).host],
  ];
}

Deno.test({
  name: "the shell examples print what the handbook says",
  ignore: !await canRun(),
  async fn() {
    await using folder = await temporaryFolder();
    await using sandbox = await startProgram([
      "serve",
      "--sandbox",
      "--port=0",
    ]);
    const addresses = await addressesOf(sandbox);
    const real = (text: string) =>
      addresses.reduce((text, [said, is]) => text.replaceAll(said, is), text);
    const said = (text: string) =>
      addresses.reduce((text, [said, is]) => text.replaceAll(is, said), text);
    const examples = [
      ...CHAPTERS.flatMap(({ name, text }) => examplesOf(name, text)),
      ...examplesOf("README", readme().text),
    ];
    assertGreater(examples.length, 15);
    const ids = new Map<string, string>();
    for (const { where, variables, shell, output } of examples) {
      const script = shell.replaceAll(UUID, (id) => ids.get(id) ?? id);
      const run = await bash(real(variables + script), folder.path);
      const printed = said(run);
      const what = `${where}: ${shell}${printed}`;
      if (output === null) assert(!/<error>|"error":/.test(printed), what);
      else {
        assertEquals(comparable(printed), comparable(output), what);
        const written = output.match(UUID) ?? [];
        written.forEach((id, i) => ids.set(id, printed.match(UUID)![i]));
      }
    }
    // A killed process leaves its temporary folder behind.
    assertEquals((await sandbox.stop()).code, 0);
  },
});
