/** Looking at files and folders that others may remove at any moment. */
import type { ImageFile } from "./blob_store.ts";

/** A file below the folder; null if it is not there any more. */
export async function lookAt(
  folder: string,
  name: string,
): Promise<ImageFile | null> {
  const found = await unlessGone(Deno.lstat(`${folder}/${name}`));
  if (found === null) return null;
  return { name, bytes: found.size, written: found.mtime?.getTime() ?? 0 };
}

/** Names of the files in a folder, in order; none if there is no folder. */
export async function filesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (entry.isFile) names.push(entry.name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return names.sort();
}

/** What came of looking at a file or moving it; null if there was none. */
export async function unlessGone<T>(done: Promise<T>): Promise<T | null> {
  try {
    return await done;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
