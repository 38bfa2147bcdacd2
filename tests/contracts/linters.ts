/**
 * Checks the OpenAPI description by linters and a generator. Not part of `deno
 * task check`, because npx fetches some 200 MB: `deno task contracts`.
 */
import "../support/built.ts";
import { assert, assertEquals } from "@std/assert";
import { openApi } from "../../src/contracts/openapi.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { temporaryFolder } from "../support/process.ts";

const REDOCLY = "@redocly/cli@2.77.0";
const SPECTRAL = "@stoplight/spectral-cli@6.16.3";
const TYPES = "openapi-typescript@7.13.0";

async function npx(folder: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("npx", {
    args: ["--yes", ...args],
    cwd: folder,
    stdin: "null",
  }).output();
  const text = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes))
    .join("\n");
  assert(success, text);
  return text;
}

async function described(): Promise<AsyncDisposable & { path: string }> {
  const folder = await temporaryFolder();
  await Deno.writeTextFile(
    `${folder.path}/openapi.json`,
    openApi(ENDPOINTS, "1.0.0"),
  );
  return folder;
}

Deno.test("Redocly finds no error", async () => {
  await using folder = await described();
  await npx(folder.path, REDOCLY, "lint", "openapi.json");
});

Deno.test("Spectral finds no error", async () => {
  await using folder = await described();
  await Deno.writeTextFile(
    `${folder.path}/.spectral.yaml`,
    'extends: ["spectral:oas"]\n',
  );
  await npx(folder.path, SPECTRAL, "lint", "openapi.json");
});

Deno.test("a typed client is generated, and compiles", async () => {
  await using folder = await described();
  await npx(folder.path, TYPES, "openapi.json", "-o", "types.ts");
  await Deno.writeTextFile(
    `${folder.path}/client.ts`,
    'import type { operations } from "./types.ts";\n' +
      'type Answers = operations["getTransaction"]["responses"];\n' +
      'type Final = Answers[200]["content"]["application/json"];\n' +
      "export const status = (answer: Final): string =>\n" +
      "  answer.transaction.status;\n",
  );
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "client.ts"],
    cwd: folder.path,
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
});
