/** Data that others wrote; it lies beside the project where it is present. */

const ROOT = new URL("../../../shared/corpora/", import.meta.url);

/** A file's bytes; null, with a line that says so, where it is absent. */
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

/** A JSON file's value, or null as `readCorpus`. */
export function readCorpusJson<T>(path: string): T | null {
  const bytes = readCorpus(path);
  return bytes === null ? null : JSON.parse(new TextDecoder().decode(bytes));
}
