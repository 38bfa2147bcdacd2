/** Takes files, with code that is loaded for the first one. */
import type { Client } from "../../client/mod.ts";
import { STALE_PAGE } from "../lib/texts.ts";
import { intake } from "./intake_state.ts";

/** Reads, repairs and sends files. */
export const loadFiles = () => import("./files.ts");

/** Accepts a file. */
export async function openDroppedFile(
  client: Client | null,
  file: File,
  handle: FileSystemFileHandle | null = null,
): Promise<void> {
  await (await filesFor(file.name))?.takeAnyFile(client, file, handle);
}

/**
 * Accepts pasted text: a document, or rows of a spreadsheet; false: neither.
 */
export async function openText(
  client: Client | null,
  text: string,
): Promise<boolean> {
  return await (await filesFor("The text"))?.takeText(client, text) ?? true;
}

/** Null if the code cannot be loaded; the page then says so. */
async function filesFor(name: string) {
  try {
    return await loadFiles();
  } catch {
    const refused = { name, what: "not read", remedy: STALE_PAGE };
    intake.set({ name: "refused", refused });
    return null;
  }
}
