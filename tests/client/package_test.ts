/**
 * The package of the client on the platforms of its users, from the file that
 * npm packs. `deno task contracts` tries releases of Node.
 */
import { assert, assertEquals } from "@std/assert";
import manifest from "../../src/client/deno.json" with { type: "json" };
import npmManifest from "../../src/client/package.json" with { type: "json" };
import { CLIENT_VERSION } from "../../src/client/version.ts";
import { boot } from "../support/app.ts";
import { present, run } from "../support/foreign.ts";
import { temporaryFolder } from "../support/process.ts";
import { browserTest } from "../web/browser.ts";
import { moduleOf, packedClient, PROGRAM, RESULT } from "./package.ts";

const hasNpm = await present("the package of the client", ["npm", "--version"]);
const ROLES = { config: { roles: ["api", "images"] } } as const;

Deno.test("the manifests and the header have one version", () => {
  for (const { name, version } of [manifest, npmManifest]) {
    assertEquals([name, version], ["@seller-interface/client", CLIENT_VERSION]);
  }
});

Deno.test({
  name: "the package is small and needs neither Deno, Node nor other packages",
  ignore: !hasNpm,
  async fn() {
    await using folder = await temporaryFolder();
    const client = await packedClient(folder.path);
    const files = [...Deno.readDirSync(client)].map(({ name }) => name).sort();
    assertEquals(files, ["CHANGELOG.md", "README.md", "dist", "package.json"]);
    const code = await Deno.readTextFile(`${client}/dist/client.js`);
    const needs = /\bDeno\b|node:|\brequire\(|\bprocess\.|^import /m;
    assertEquals(needs.exec(code), null);
    assert(code.length < 64_000, `${code.length} bytes`);
    const types = await Deno.readTextFile(`${client}/dist/client.d.ts`);
    assertEquals(/^import|\bShape\b/m.exec(types), null);
  },
});

Deno.test({
  name: "the package runs in Node and in Deno",
  ignore: !hasNpm,
  async fn() {
    await using app = await boot(ROLES);
    for (
      const [program, ...args] of [
        ["node"],
        [Deno.execPath(), "run", "--no-config", "--node-modules-dir=manual"],
      ]
    ) {
      await using folder = await temporaryFolder();
      await packedClient(folder.path);
      const key = await app.addSeller(`of ${program.split("/").at(-1)}`);
      await Deno.writeTextFile(
        `${folder.path}/main.mjs`,
        moduleOf(app.url, key),
      );
      const more = args.length === 0 ? [] : ["--allow-net", "--quiet"];
      const { text } = await run(program, [...args, ...more, "main.mjs"], {
        cwd: folder.path,
      });
      assertEquals(text, `${RESULT}\n`);
    }
  },
});

browserTest("the package runs in a browser", async (openTab) => {
  if (!hasNpm) return;
  await using app = await boot(ROLES);
  await using folder = await temporaryFolder();
  const client = await packedClient(folder.path);
  await using tab = await openTab();
  await tab.page.route("**/packed.js", (route) =>
    route.fulfill({
      path: `${client}/dist/client.js`,
      contentType: "text/javascript",
    }));
  await tab.page.goto(`${app.url}/docs/client`);
  const result = await tab.page.evaluate(`(async () => {
    const client = await import("/packed.js");
    const [url, key] = [undefined, ${JSON.stringify(app.key)}];
    ${PROGRAM}
  })()`);
  assertEquals(result, RESULT);
  assertEquals(tab.faults, []);
});
