/**
 * Builds what `deno task build` makes, where a source is newer: imported before
 * the service, so that a single test file runs with current sources.
 */
import { outdated } from "../../src/build.ts";

const BUILD = new URL("../../src/build.ts", import.meta.url).pathname;

if (outdated().length > 0) {
  // Without a pause, so that no later import begins before the end.
  const { success, stderr } = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", BUILD],
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
