/** Reads metadata of files and folders that others may remove at any moment. */
import type { ImageFile } from "./blob_store.ts";
import { withDiskThread } from "./disk_call.ts";

/**
 * Metadata of a file in the folder; null if it no longer exists or is no
 * regular file: opening a FIFO would wait for its writer.
 */
export async function statFile(
  folder: string,
  name: string,
): Promise<ImageFile | null> {
  const found = await unlessGone(() => Deno.stat(`${folder}/${name}`));
  if (!found?.isFile) return null;
  return { name, bytes: found.size, written: found.mtime?.getTime() ?? 0 };
}

/**
 * Names of the files in a folder, sorted; none if the folder does not exist.
 */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await unlessGone(() => Array.fromAsync(Deno.readDir(folder)));
  return (entries ?? []).filter(({ isFile }) => isFile)
    .map(({ name }) => name).sort();
}

/** The result of a file call; null if the file does not exist. */
export async function unlessGone<T>(
  call: () => Promise<T>,
): Promise<T | null> {
  try {
    return await withDiskThread(call);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
