/**
 * Test data from other projects, in a folder beside this project, if present.
 */

const ROOT = new URL("../../../shared/corpora/", import.meta.url);

/** The bytes of a file; null if it is missing. */
export function readCorpus(path: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Deno.readFileSync(new URL(path, ROOT));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return null;
  }
}

/**
 * Registers the tests of a file; if it is missing, an ignored test that names
 * it.
 */
export function withCorpus(
  path: string,
  register: (bytes: Uint8Array<ArrayBuffer>) => void,
): void {
  const bytes = readCorpus(path);
  if (bytes !== null) return register(bytes);
  Deno.test.ignore(
    `the tests with corpora/${path}, which is missing`,
    () => {},
  );
}

/** Like `withCorpus`, with the value of a JSON file. */
export function withCorpusJson<T>(
  path: string,
  register: (value: T) => void,
): void {
  withCorpus(
    path,
    (bytes) => register(JSON.parse(new TextDecoder().decode(bytes))),
  );
}
