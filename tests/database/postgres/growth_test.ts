/**
 * The engine runs for months, so nothing of a transaction may stay in memory.
 */
import { assert } from "@std/assert";
import { ownServer } from "../../support/postgres.ts";

const server = await ownServer();

/** Each measurement has some bytes of noise. */
const BYTES = 100;

Deno.test("a read and a write leave nothing on the heap", async () => {
  const program = new URL("./growth.ts", import.meta.url).pathname;
  const run = ["run", "-A", "--no-check", "--v8-flags=--expose-gc", program];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...run, await server.database()],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  const text = new TextDecoder().decode(stdout);
  const growth: Record<string, number> = JSON.parse(text);
  for (const bytes of Object.values(growth)) assert(bytes < BYTES, text);
});
