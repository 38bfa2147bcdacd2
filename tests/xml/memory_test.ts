/** The memory for reading the largest possible document of each kind. */
import { assert } from "@std/assert";

const PROCESS = new URL("./memory_process.ts", import.meta.url);
/** Bytes that V8 may have for objects: four times those of the document. */
const HEAP_MIB = 64;

/**
 * Reads it in a process that ends if it needs more memory; returns the number
 * of pieces.
 */
async function read(kind: string): Promise<number> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      `--v8-flags=--max-old-space-size=${HEAP_MIB},--max-semi-space-size=1`,
      PROCESS.pathname,
      kind,
    ],
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  assert(success, decode(stderr));
  return Number(decode(stdout));
}

for (
  const kind of [
    "line ends",
    "line ends in a text",
    "references",
    "empty comments",
    "comments in a text",
    "hyphens in a comment",
    "one text",
    "wide characters",
    "CDATA pieces",
    "brackets in CDATA",
    "elements",
    "attributes",
  ]
) {
  Deno.test(`16 MiB of ${kind} use less than four times their bytes`, async () => {
    assert(await read(kind) > 100);
  });
}
