/** Opens files, with code that is loaded for the first one. */
import type { Client } from "../../client/mod.ts";
import { STALE_PAGE } from "../lib/texts.ts";
import { intake } from "./intake_state.ts";

/** Loads the code that reads, corrects and sends files. */
export const loadFiles = () => import("./files.ts");

/** Opens a file. */
export async function openDroppedFile(
  client: Client | null,
  file: File,
  handle: FileSystemFileHandle | null = null,
): Promise<void> {
  await (await filesFor(file.name))?.openAnyFile(client, file, handle);
}

/**
 * Opens pasted text. Returns false if the text is neither a document nor rows.
 */
export async function openText(
  client: Client | null,
  text: string,
): Promise<boolean> {
  return await (await filesFor("The text"))?.openPastedText(client, text) ??
    true;
}

/** Loads the code; null, with an error on the page, if that fails. */
async function filesFor(name: string) {
  try {
    return await loadFiles();
  } catch {
    const refused = { name, what: "not read", remedy: STALE_PAGE };
    intake.set({ name: "refused", refused });
    return null;
  }
}
