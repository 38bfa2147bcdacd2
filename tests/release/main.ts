/**
 * `deno task release`: builds the program and the clients from the last commit,
 * and lists the differences from the former release. The results are in
 * `bin/release-VERSION`. A small database that this program makes is kept in
 * `tests/release/released`.
 *
 * It fails if a difference is incompatible with clients or operators of the
 * former release, unless the version announces it.
 */
import { compare as compareVersions, parse } from "@std/semver";
import { sqliteVersion } from "../../src/database/sqlite/version.ts";
import { VERSION } from "../../src/version.ts";
import { temporaryFolder } from "../support/process.ts";
import {
  differences,
  mayBreak,
  type Release,
  thisRelease,
} from "./contract.ts";
import { keepSamples, RELEASED } from "./sample.ts";
import { billOfMaterials, packagesOf } from "./sbom.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const PROGRAM = "seller-interface";

async function run(
  command: string,
  args: readonly string[],
  cwd = ROOT,
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    cwd,
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) fail(`${command} ${args.join(" ")}: ${decode(stderr)}`);
  return decode(stdout);
}

function fail(message: string): never {
  console.error(`error: ${message}`);
  Deno.exit(1);
}

/** The former release; null for the first one. */
function formerRelease(): Release | null {
  const releases = [...Deno.readDirSync(RELEASED)]
    .filter(({ name }) => name.endsWith(".json") && name !== `${VERSION}.json`)
    .map(({ name }): Release =>
      JSON.parse(Deno.readTextFileSync(new URL(name, RELEASED)))
    )
    .sort((a, b) => compareVersions(parse(a.version), parse(b.version)));
  return releases.at(-1) ?? null;
}

/**
 * Prints the differences from the former release; ends if they are not allowed.
 */
function compare(former: Release | null, next: Release): void {
  if (former === null) return console.log("the first release");
  const { added, removed, incompatible, unmigrated } = differences(
    former,
    next,
  );
  console.log(`since ${former.version}:`);
  for (const fact of added) console.log(`  + ${fact}`);
  for (const fact of removed) console.log(`  - ${fact}`);
  if (unmigrated.length > 0) {
    fail(`tables changed without a migration:\n  ${unmigrated.join("\n  ")}`);
  }
  if (incompatible.length === 0 || mayBreak(former.version, next.version)) {
    return;
  }
  fail(
    `${next.version} may not break what ${former.version} promised:\n` +
      incompatible.map((fact) => `  ${fact}`).join("\n"),
  );
}

/** Packs the client for TypeScript; returns the name of the file. */
async function packClient(folder: string): Promise<string[]> {
  const args = ["pack", "--silent", `--pack-destination=${folder}`];
  return [(await run("npm", args, `${ROOT}src/client`)).trim()];
}

/** Copies the client for Python, if `deno task contracts` has made it. */
async function copyWheel(folder: string): Promise<string[]> {
  const name = `seller_interface_client-${VERSION}-py3-none-any.whl`;
  try {
    await Deno.copyFile(`${ROOT}bin/clients/${name}`, `${folder}/${name}`);
    return [name];
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.log(`without ${name}: run \`deno task contracts\` first`);
    return [];
  }
}

async function checksum(file: string): Promise<string> {
  const bytes = await Deno.readFile(file);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

Deno.mkdirSync(RELEASED, { recursive: true });
const changed = await run("git", ["status", "--porcelain"]);
if (changed !== "") fail(`commit this first:\n${changed}`);
const release = thisRelease();
compare(formerRelease(), release);

// As git exports it, with the commit in `src/version.ts`.
await using source = await temporaryFolder();
const archive = `${source.path}/source.tar`;
await run("git", ["archive", "--output", archive, "HEAD"]);
await run("tar", ["xf", archive, "-C", source.path]);
await keepSamples(source.path, VERSION);
await run(Deno.execPath(), ["task", "compile"], source.path);

const folder = `${ROOT}bin/release-${VERSION}`;
await Deno.mkdir(folder, { recursive: true });
const { os, arch } = Deno.build;
const binary = `${PROGRAM}-${VERSION}-${os}-${arch}`;
await Deno.copyFile(`${source.path}/bin/${PROGRAM}`, `${folder}/${binary}`);
await Deno.chmod(`${folder}/${binary}`, 0o755);
// A runtime of another version of Deno, as in DENORT_BIN, cannot start it.
const said = await run(`${folder}/${binary}`, ["--version"]);
if (!said.includes(VERSION)) fail(`${binary} --version prints ${said}`);
const bill = billOfMaterials(
  { name: PROGRAM, version: VERSION },
  await packagesOf(source.path),
  [
    { name: "deno", version: Deno.version.deno },
    { name: "sqlite", version: sqliteVersion() },
  ],
);
await Deno.writeTextFile(`${folder}/sbom.cdx.json`, bill);
const clients = [...await packClient(folder), ...await copyWheel(folder)];
const sums = await Promise.all(
  [binary, "sbom.cdx.json", ...clients].map(async (name) =>
    `${await checksum(`${folder}/${name}`)}  ${name}\n`
  ),
);
await Deno.writeTextFile(`${folder}/SHA256SUMS`, sums.join(""));
const facts = new URL(`${VERSION}.json`, RELEASED);
await Deno.writeTextFile(facts, JSON.stringify(release, null, 1) + "\n");
console.log(`made ${folder}; commit ${RELEASED.pathname}, tag v${VERSION}`);
