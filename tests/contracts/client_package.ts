/**
 * The packed client in the releases of Node that it supports, and whether
 * `npm pack` and `deno publish` accept it. Not part of `deno task check`,
 * because the releases come from npm: `deno task contracts`.
 */
import { assertEquals } from "@std/assert";
import { boot } from "../support/app.ts";
import { present, run } from "../support/foreign.ts";
import { temporaryFolder } from "../support/process.ts";
import { moduleOf, packedClient, RESULT } from "../client/package.ts";

const CLIENT = new URL("../../src/client/", import.meta.url).pathname;

for (const release of ["22", "24"]) {
  const npx = ["--yes", "-p", `node@${release}`, "node"];
  const isPresent = await present(
    `Node ${release}`,
    ["npx", ...npx, "--version"],
  );
  Deno.test({
    name: `the package of the client runs in Node ${release}`,
    ignore: !isPresent,
    async fn() {
      await using app = await boot({ config: { roles: ["api", "images"] } });
      await using folder = await temporaryFolder();
      const cwd = folder.path;
      await packedClient(cwd);
      await Deno.writeTextFile(`${cwd}/main.mjs`, moduleOf(app.url, app.key));
      const version = await run("npx", [...npx, "--version"], { cwd });
      assertEquals(version.text.slice(0, 4), `v${release}.`);
      const { text } = await run("npx", [...npx, "main.mjs"], { cwd });
      assertEquals(text, `${RESULT}\n`);
    },
  });
}

Deno.test("deno publish finds nothing wrong but the missing licence", async () => {
  const { text } = await run(
    Deno.execPath(),
    ["publish", "--dry-run", "--allow-dirty"],
    { cwd: CLIENT, env: { NO_COLOR: "1" } },
  );
  const errors = text.match(/^error\[[^\]]+\]/gm);
  assertEquals(errors, ["error[missing-license]"], text);
});
