/**
 * `deno task compile` needs a runtime (`denort`) that Deno fetches once from
 * its vendor. This test replaces it with the Deno executable: the resulting
 * file cannot run, but everything that would be inside is packed and can be
 * read.
 */
import "../support/built.ts";
import { assert, assertEquals } from "@std/assert";
import { CHAPTERS } from "../../src/docs/chapters.ts";
import {
  compileArguments,
  programFlags,
  temporaryFolder,
} from "../support/process.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** The packed files and their description follow the runtime, at the end. */
const TAIL_BYTES = 32 * 1024 * 1024;

interface Description {
  v8_flags: string[];
  permissions: Record<string, string[] | boolean | null>;
  otel_config: { tracing_enabled: boolean; metrics_enabled: boolean };
  env_vars_from_env_file: Record<string, string>;
  entrypoint_key: string;
}

/** Runs the task's command; returns the packed bytes. */
async function compile(output: string): Promise<string> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const [variable, value] = tasks.compile.command.split(" ")[0].split("=");
  const result = await new Deno.Command(Deno.execPath(), {
    args: ["compile", "--no-check", ...await compileArguments(output)],
    cwd: ROOT,
    env: {
      DENORT_BIN: Deno.execPath(),
      [variable]: value,
    },
  }).output();
  assert(result.success, new TextDecoder().decode(result.stderr));
  return await tail(output);
}

async function tail(file: string): Promise<string> {
  using opened = await Deno.open(file);
  const { size } = await opened.stat();
  const length = Math.min(size, TAIL_BYTES);
  await opened.seek(-length, Deno.SeekMode.End);
  const bytes = new Uint8Array(length);
  for (let read = 0; read < length;) {
    read += await opened.read(bytes.subarray(read)) ?? length;
  }
  return bytesAsText(bytes);
}

function bytesAsText(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

/** The JSON object that begins at the last occurrence of `start`. */
function lastObject(text: string, start: string): Description {
  const from = text.lastIndexOf(start);
  assert(from >= 0, `nothing starts with ${start}`);
  for (
    let to = text.indexOf("}", from);
    to >= 0;
    to = text.indexOf("}", to + 1)
  ) {
    try {
      return JSON.parse(text.slice(from, to + 1));
    } catch {
      // Not the end of the object yet.
    }
  }
  throw new Error("the object does not end");
}

Deno.test("the binary holds everything, with the permissions and settings of the tasks", async () => {
  await using folder = await temporaryFolder();
  const packed = await compile(`${folder.path}/seller-interface`);
  const description = lastObject(packed, '{"argv":');
  assertEquals(description.entrypoint_key, "main.ts");
  const worker = await Deno.readFile(`${ROOT}src/images/worker/worker.ts`);
  assert(packed.includes(bytesAsText(worker)), "the worker is missing");
  const page = await Deno.readFile(`${ROOT}src/web/dist/scripts.json`);
  assert(packed.includes(bytesAsText(page)), "the page is missing");

  for (
    const name of ["aws4fetch", "pg", "marked", "@platformatic/prom-client"]
  ) {
    assert(packed.includes(`"name": "${name}"`), `${name} is missing`);
  }
  for (const name of ["playwright-core", "libxml2-wasm", "axe-core", "saxes"]) {
    assert(!packed.includes(`"name": "${name}"`), `${name} is for tests alone`);
  }

  for (const { name, text } of CHAPTERS) {
    const bytes = bytesAsText(new TextEncoder().encode(text));
    assert(packed.includes(bytes), `${name} is missing`);
  }

  const { prompt, allow_import: _, ...baked } = description.permissions;
  assertEquals(prompt, false, "a service has nobody to prompt");
  const given = Object.entries(baked).filter(([, value]) => value !== null);
  assertEquals(Object.fromEntries(given), {
    allow_env: ["SELLER_*"],
    ignore_env: [],
    allow_net: [],
    deny_net: [
      "0.0.0.0/8",
      "169.254.0.0/16",
      "224.0.0.0/4",
      "100.100.100.200",
      "[fd00:ec2::254]",
    ],
    allow_read: [],
    allow_sys: ["setPriority", "statfs"],
    allow_write: [],
  });
  assertEquals(description.otel_config.tracing_enabled, false);
  assertEquals(description.otel_config.metrics_enabled, false);
  assertEquals(description.env_vars_from_env_file, {});
  assertEquals(description.v8_flags.slice(-3), [
    "--max-semi-space-size=16",
    "--heap-growing-percent=100",
    "--gc-memory-reducer-start-delay-ms=5000",
  ]);
});

Deno.test("one task sets the program's permissions, and all others use that task", async () => {
  const flags = await programFlags();
  assert(flags.includes("--no-prompt"));
  assert(!flags.includes("--allow-all"));
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const commands = Object.entries<{ command?: string }>(tasks)
    .map(([name, { command = "" }]) => ({ name, command }));
  const running = commands.filter(({ command }) => / main\.ts\b/.test(command));
  assertEquals(running.map(({ name }) => name), ["program"]);
  const using = commands.filter(({ command }) =>
    command.includes("deno task -q program")
  );
  assertEquals(using.map(({ name }) => name), [
    "dev",
    "start",
    "cli",
    "binary-file",
  ]);
});
