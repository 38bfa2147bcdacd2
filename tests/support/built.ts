/**
 * Builds what `deno task build` builds, if a source is newer. Imported before
 * the service, so that a single test file runs with current sources.
 */
import { outdated } from "../../src/build.ts";

const BUILD = new URL("../../src/build.ts", import.meta.url).pathname;

if (outdated().length > 0) {
  // Synchronous, so that later imports wait for the build.
  const { success, stderr } = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", BUILD],
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
