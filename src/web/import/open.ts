/** Opens files. The code that reads files is loaded for the first file. */
import type { Client } from "../../client/mod.ts";
import type { DroppedItems } from "../lib/browser.ts";
import { loadedCode } from "./loaded_code.ts";

/** Loads the code that reads, corrects and sends files. */
export const loadFiles = () => import("./files.ts");

/** Opens dropped files: one file with products, and pictures. */
export async function openDropped(
  client: Client | null,
  dropped: DroppedItems,
): Promise<void> {
  const { name } = dropped.files[0];
  const code = await loadedCode(name, loadFiles);
  await code?.takeDropped(client, dropped);
}

/** Opens chosen files. */
export function openFiles(
  client: Client | null,
  files: readonly File[],
  handle: FileSystemFileHandle | null = null,
): Promise<void> {
  return openDropped(client, { entries: [], files, handle });
}

/**
 * Opens pasted text. Returns false if the text is neither a document nor rows.
 */
export async function openText(
  client: Client | null,
  text: string,
): Promise<boolean> {
  const code = await loadedCode("The text", loadFiles);
  return await code?.openPastedText(client, text) ?? true;
}
