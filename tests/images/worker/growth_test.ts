/**
 * The image worker runs for months, so nothing of an image may stay in memory.
 */
import { assert } from "@std/assert";

/** Each measurement has some dozens of bytes of noise. */
const BYTES = 400;

Deno.test("a fetched image leaves nothing on the heap", async () => {
  const program = new URL("./growth.ts", import.meta.url).pathname;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--v8-flags=--expose-gc", program],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  const text = new TextDecoder().decode(stdout);
  const growth: Record<string, number> = JSON.parse(text);
  for (const bytes of Object.values(growth)) assert(bytes < BYTES, text);
});
