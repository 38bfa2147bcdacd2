/**
 * The files for operators, each checked by the program that reads it, if that
 * is installed. Debian has them in the packages systemd, caddy and nginx-light
 * (with which another test sends requests); `docker build` is not tested.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { OPERATOR_FILES } from "../../src/docs/files.ts";
import { SETTINGS } from "../../src/config.ts";
import { boot } from "../support/app.ts";
import { operatorFile } from "../support/handbook.ts";
import { hasProgram, runProgram, temporaryFolder } from "../support/process.ts";

const FOLDER = new URL("../../src/docs/files/", import.meta.url).pathname;
/** The highest allowed exposure of the unit, of 10. */
const MOST_EXPOSURE = 2.0;

Deno.test("each file for operators is served, and printed by `file`", async () => {
  await using app = await boot();
  for (const { name, type } of OPERATOR_FILES) {
    const answer = await app.call(`/docs/files/${name}`, { key: null });
    assertEquals(answer.status, 200, name);
    assertEquals(answer.headers.get("content-type"), `${type}; charset=utf-8`);
    assertEquals(answer.text, operatorFile(name));
    const { code, stdout } = await runProgram(["file", name]);
    assertEquals([code, stdout], [0, operatorFile(name)], name);
  }
  const names = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).sort();
  assertEquals(OPERATOR_FILES.map(({ name }) => name).sort(), names);
  const { status } = await app.call("/docs/files/passwd", { key: null });
  assertEquals(status, 404);
});

Deno.test("`file` lists the files, and names the nearest one", async () => {
  const list = await runProgram(["file"]);
  assertEquals(list.stdout.trimEnd().split("\n").length, OPERATOR_FILES.length);
  const wrong = await runProgram(["file", "nginx"]);
  assertEquals(wrong.code, 2);
  assertMatch(wrong.stderr, /there is no file "nginx".*"nginx\.conf"/);
});

Deno.test("variables in the files are settings", () => {
  const known = Object.values(SETTINGS).map(({ variable }) => variable);
  for (const { name, text } of OPERATOR_FILES) {
    for (const [variable] of text.matchAll(/SELLER_[A-Z0-9_]+/g)) {
      assert(known.includes(variable), `${name}: ${variable}`);
    }
  }
});

tried("the unit keeps to what the service needs", "--version", [
  "systemd-analyze",
  "security",
  "--offline=true",
  "--no-pager",
  `${FOLDER}seller-interface.service`,
], (output) => {
  const [, exposure] = /exposure level for \S+: ([\d.]+)/.exec(output)!;
  assert(Number(exposure) <= MOST_EXPOSURE, exposure);
});

tried("Caddy reads its file", "version", [
  "caddy",
  "validate",
  "--adapter",
  "caddyfile",
  "--config",
  "Caddyfile",
], (output) => assertMatch(output, /Valid configuration/));

/**
 * A test with a program that may be missing (`ask` makes it print something and
 * end); passes a folder.
 */
function tried(
  title: string,
  ask: string,
  [program, ...args]: readonly string[],
  check: (output: string) => void,
): void {
  const ignore = !hasProgram(program, ask);
  if (ignore) console.log(`not tried: ${title}, without ${program}`);
  Deno.test({
    name: title,
    ignore,
    async fn() {
      await using home = await temporaryFolder();
      const { success, stdout, stderr } = await new Deno.Command(program, {
        args,
        cwd: FOLDER,
        env: { HOME: home.path, XDG_DATA_HOME: home.path },
      }).output();
      const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      const output = decode(stdout) + decode(stderr);
      assert(success, output);
      check(output);
    },
  });
}
