/** `deno task build`, in a copy of the source without built files. */
import { assert, assertEquals } from "@std/assert";
import { temporaryFolder } from "./support/process.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const BUILT = [
  "src/web/dist/scripts.json",
  "src/client/dist/client.js",
  "src/client/dist/client.d.ts",
];

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (name === "dist") continue;
    const copy = isDirectory ? copyFolder : Deno.copyFile;
    await copy(`${from}/${name}`, `${to}/${name}`);
  }
}

/** The source as after a checkout. */
async function checkout(root: string): Promise<void> {
  await copyFolder(`${ROOT}src`, `${root}/src`);
  await copyFolder(`${ROOT}tests/support`, `${root}/tests/support`);
  for (const name of ["deno.json", "deno.lock", "main.ts"]) {
    await Deno.copyFile(ROOT + name, `${root}/${name}`);
  }
}

async function run(root: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: root,
    env: { NO_COLOR: "1" },
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert(success, decode(stderr));
  return decode(stdout);
}

function build(root: string): Promise<string> {
  return run(root, "run", "-A", "src/build.ts");
}

/** A number for each built file, which changes when it is built again. */
function versions(root: string): (number | null)[] {
  return BUILT.map((path) => Deno.statSync(`${root}/${path}`).ino);
}

Deno.test("a fresh checkout runs with one command, which builds what changed", async () => {
  await using folder = await temporaryFolder();
  const root = folder.path;
  await checkout(root);
  const help = await run(root, "task", "--quiet", "cli", "help");
  assert(help.includes("serve"), help);
  const first = versions(root);
  for (const path of BUILT) {
    assertEquals(
      await Deno.readTextFile(`${root}/${path}`),
      await Deno.readTextFile(ROOT + path),
      "each machine builds the same",
    );
  }

  await build(root);
  assertEquals(versions(root), first, "nothing changed");

  await Deno.writeTextFile(
    `${root}/src/web/page.tsx`,
    '\nconsole.log("built again");\n',
    { append: true },
  );
  await build(root);
  const [scripts, ...client] = versions(root);
  assert(scripts !== first[0]);
  assertEquals(client, first.slice(1));
  const page = await Deno.readTextFile(`${root}/src/web/dist/scripts.json`);
  assert(page.includes("built again"));
});

Deno.test("without a build, the program names the command to run", async () => {
  await using folder = await temporaryFolder();
  await checkout(folder.path);
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "main.ts", "serve", "--sandbox"],
    cwd: folder.path,
    env: { NO_COLOR: "1" },
  }).output();
  assertEquals(code, 1);
  const printed = new TextDecoder().decode(stderr);
  assert(printed.includes("run `deno task build`"), printed);
});
