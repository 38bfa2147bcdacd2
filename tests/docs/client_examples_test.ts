/**
 * The chapter on the client: its examples run one after the other with the
 * client that the service offers, and print what the chapter says. `deno task
 * docs` writes them as a module, which `deno check` checks.
 */
import { assert, assertEquals } from "@std/assert";
import { boot } from "../support/app.ts";
import { blocks, chapter } from "../support/handbook.ts";
import { ImageHost } from "../support/image_host.ts";
import { temporaryFolder } from "../support/process.ts";
import { clientExamples, storedExamples } from "./written_examples.ts";

Deno.test("the chapter shows the module of examples", async () => {
  const isCurrent = await clientExamples() === await storedExamples();
  assert(isCurrent, "tests/docs/client_examples.ts: run `deno task docs`");
});

Deno.test("the examples of the client print what the handbook says", async () => {
  await using host = new ImageHost();
  await using app = await boot({
    config: { roles: ["api", "images"], operatorKey: "operator" },
  });
  await using folder = await temporaryFolder();
  const { status, text: client } = await app
    .call("/docs/client.js", { key: null });
  assertEquals(status, 200);
  await Deno.writeTextFile(`${folder.path}/client.js`, client);
  const code = (await clientExamples())
    .replaceAll("../../src/client/dist/client.js", "./client.js")
    .replaceAll("http://127.0.0.1:8080", app.url)
    .replaceAll("http://127.0.0.1:8081/images", host.url)
    .replaceAll('"demo"', JSON.stringify(app.key));
  await Deno.writeTextFile(`${folder.path}/main.ts`, code);
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--allow-net", `${folder.path}/main.ts`],
    env: { NO_COLOR: "1" },
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const printed = blocks(chapter("client"))
    .filter(({ language }) => language === "text")
    .map(({ code }) => code).join("");
  assertEquals(
    decode(stdout).replace("acme ", "demo "),
    printed,
    decode(stderr),
  );
});
