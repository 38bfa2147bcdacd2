/** Reads a command's input from a file or from standard input. */
import { ServiceError } from "../lib/errors.ts";
import { UsageError } from "./command.ts";

/**
 * The bytes of a file; standard input for `-` or no name. Reads little more
 * than `limit`, so that the parser of the document reports that it is too long.
 */
export async function readInput(
  file: string | undefined,
  limit: number,
): Promise<Uint8Array> {
  try {
    if (file === undefined || file === "-") {
      return await readSome(Deno.stdin.readable, limit);
    }
    using opened = await Deno.open(file);
    return await readSome(opened.readable, limit);
  } catch (error) {
    if (file === undefined || !(error instanceof Error)) throw error;
    throw new UsageError(
      error instanceof Deno.errors.NotFound
        ? `There is no file ${file}.`
        : `${file} cannot be read (${error.message}).`,
    );
  }
}

async function readSome(
  stream: ReadableStream<Uint8Array>,
  limit: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > limit) break;
  }
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

/**
 * Turns a refusal into mistakes of the command line; each states the place in
 * `what` that was read.
 */
export async function asUsage<T>(
  what: string,
  fn: () => Promise<T>,
): Promise<T> {
  try {
    return await fn();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.details.length === 0) throw new UsageError(error.message);
    throw new UsageError(
      ...error.details.map(({ line, column, message }) =>
        line === undefined
          ? message
          : column === undefined
          ? `${what}, line ${line}: ${message}`
          : `${what}, line ${line}, column ${column}: ${message}`
      ),
    );
  }
}
