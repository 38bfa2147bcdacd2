/** Reads dropped folders, and sorts the files by their kind. */
import type { DroppedItems } from "../lib/browser.ts";
import type { ImageType } from "../../images/image_types.ts";
import {
  type ChosenFile,
  HEAD_BYTES,
  kindOfFile,
  type UnsentFile,
} from "./kinds.ts";

/** The most files that are taken at once; further ones are named. */
const MOST_FILES = 10_000;
/** The files read at once, before other work may go on. */
const AT_ONCE = 20;

/** Chosen files by their kind. */
export interface SortedFiles {
  pictures: readonly { path: string; file: File; type: ImageType }[];
  /** Tables and documents, which may contain products. */
  products: readonly ChosenFile[];
  unsent: readonly UnsentFile[];
  /** Names of files that an operating system has added. */
  systemFiles: readonly string[];
}

/** The files in dropped files and folders, in the order of their paths. */
async function filesIn(
  entries: readonly FileSystemEntry[],
): Promise<{ files: ChosenFile[]; unsent: UnsentFile[] }> {
  const files: ChosenFile[] = [];
  const unsent: UnsentFile[] = [];
  const open = [...entries].reverse();
  while (open.length > 0) {
    const entry = open.pop()!;
    const path = entry.fullPath.replace(/^\//, "");
    if (files.length >= MOST_FILES) {
      const why = `Not read: at most ${MOST_FILES} files are read at once.`;
      unsent.push({ path, why });
      continue;
    }
    try {
      if (entry.isDirectory) {
        const inside = await entriesOf(entry as FileSystemDirectoryEntry);
        for (const one of inside) open.push(one);
      } else {
        files.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
      }
    } catch {
      unsent.push({ path, why: UNREADABLE });
    }
  }
  return { files, unsent };
}

/** Why a file that cannot be read is not sent. */
export const UNREADABLE =
  "The browser cannot read it. It may have been moved or changed.";

/** The entries of a folder, in reverse order of their names. */
async function entriesOf(
  folder: FileSystemDirectoryEntry,
): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  // The browser returns at most 100 entries at once.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject)
    );
    if (some.length === 0) break;
    for (const one of some) all.push(one);
  }
  return all.sort((a, b) => a.name < b.name ? 1 : -1);
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** Sorts what was dropped by its kind. */
export async function sortDropped(
  { entries, files }: Pick<DroppedItems, "entries" | "files">,
): Promise<SortedFiles & { all: readonly ChosenFile[] }> {
  const read = entries.length === 0
    ? { files: chosenFiles(files), unsent: [] }
    : await filesIn(entries);
  const sorted = await sortFiles(read.files);
  const isEmpty = read.files.length === 0 && read.unsent.length === 0;
  const unsent = [
    ...read.unsent,
    ...sorted.unsent,
    ...(isEmpty
      ? entries.map(({ name }) => ({ path: name, why: "It has no files." }))
      : []),
  ];
  return { ...sorted, unsent, all: read.files };
}

/** Files from a file chooser; a chosen folder gives them paths. */
function chosenFiles(files: readonly File[]): ChosenFile[] {
  return files.map((file) => ({
    path: file.webkitRelativePath || file.name,
    file,
  }));
}

/** Sorts files by their kind, which their first bytes tell. */
async function sortFiles(
  files: readonly ChosenFile[],
): Promise<SortedFiles> {
  const pictures = [];
  const products = [];
  const unsent = [];
  const systemFiles = [];
  for (let from = 0; from < files.length; from += AT_ONCE) {
    const some = files.slice(from, from + AT_ONCE);
    const heads = await Promise.all(some.map(({ file }) => headOf(file)));
    for (const [i, { path, file }] of some.entries()) {
      const head = heads[i];
      const kind = head === null
        ? { name: "unsent", why: UNREADABLE, isPicture: false } as const
        : kindOfFile(path, head);
      if (kind.name === "picture") {
        pictures.push({ path, file, type: kind.type });
      } else if (kind.name === "products") products.push({ path, file });
      else if (kind.name === "of system") systemFiles.push(file.name);
      else unsent.push({ path, ...kind });
    }
  }
  return { pictures, products, unsent, systemFiles };
}

/** The first bytes of a file; null if the browser cannot read it. */
async function headOf(file: File): Promise<Uint8Array | null> {
  try {
    return new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  } catch {
    return null;
  }
}
