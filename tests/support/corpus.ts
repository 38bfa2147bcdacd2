/**
 * Test data from other projects, in a folder beside this project, if present.
 */

const ROOT = new URL("../../../shared/corpora/", import.meta.url);

/** The bytes of a file; null if it is missing, which is printed. */
export function readCorpus(path: string): Uint8Array<ArrayBuffer> | null {
  const url = new URL(path, ROOT);
  try {
    return Deno.readFileSync(url);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.log(`not tried: there is no ${url.pathname}`);
    return null;
  }
}

/** The value of a JSON file; null like `readCorpus`. */
export function readCorpusJson<T>(path: string): T | null {
  const bytes = readCorpus(path);
  return bytes === null ? null : JSON.parse(new TextDecoder().decode(bytes));
}
