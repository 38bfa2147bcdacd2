/**
 * Receives all files of one drop or choice. Opens one file with products, adds
 * the pictures, and reports the other files.
 */
import type { Client } from "../../client/mod.ts";
import type { DroppedItems } from "../lib/browser.ts";
import { openPictures } from "../pictures/current.ts";
import { sortDropped } from "../pictures/dropped.ts";
import { type ChosenFile, NOT_A_PICTURE } from "../pictures/kinds.ts";
import type { PictureSet } from "../pictures/picture_set.ts";
import { openAnyFile } from "./intake.ts";
import { intake } from "./intake_state.ts";
import { loadPictures } from "./load_pictures.ts";
import { loadedCode } from "./loaded_code.ts";
import { upload } from "./send/upload_state.ts";

/** Receives dropped files and folders. */
export async function takeDropped(
  client: Client | null,
  { entries, files, handle }: DroppedItems,
): Promise<void> {
  const sorted = await sortDropped({ entries, files });
  const { all, pictures, products, unsent } = sorted;
  const hasPictures = pictures.length > 0 ||
    unsent.some(({ isPicture = false }) => isPicture);
  // `openAnyFile` shows why a file of another kind cannot be opened.
  if (all.length === 1 && !hasPictures) {
    return await openAnyFile(client, all[0].file, handle);
  }
  const opened = fileToOpen(products);
  const left = products.filter((file) => file !== opened);
  const code = await loadedCode(
    all[0]?.file.name ?? "The folder",
    loadPictures,
  );
  if (code === null) return;
  const set = openSet(code.PictureSet);
  set.add({
    ...sorted,
    unsent: [
      ...unsent,
      ...left.map(({ path }) => ({ path, why: whyNotOpened(opened) })),
    ],
  });
  openPictures.set(set);
  if (opened !== undefined) await openAnyFile(client, opened.file);
}

/** The set that receives pictures: the open set, unless it is already used. */
function openSet(Pictures: typeof PictureSet): PictureSet {
  const current = openPictures.value;
  return current === null || current.state.value.placed !== null
    ? new Pictures()
    : current;
}

/**
 * The file with products to open: one outside of folders, or the only one in a
 * folder. A file in a folder does not replace an open file.
 */
function fileToOpen(products: readonly ChosenFile[]): ChosenFile | undefined {
  const beside = products.find(({ path }) => !path.includes("/"));
  const isFree = upload.value === null && intake.value.name !== "spreadsheet";
  return beside ??
    (products.length === 1 && isFree ? products[0] : undefined);
}

function whyNotOpened(opened: ChosenFile | undefined): string {
  return opened === undefined
    ? `${NOT_A_PICTURE} If it has products, drop it alone.`
    : `One file with products is opened at once, now ${opened.path}. Drop this one later.`;
}
