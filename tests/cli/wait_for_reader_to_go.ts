/**
 * Preloaded into the program, which then starts once nothing reads its output.
 */
const filler = new Uint8Array(4_096);
try {
  for (;;) Deno.stdout.writeSync(filler);
} catch (error) {
  if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
}
