/** Reads dropped files and folders, and sorts the files by their kind. */
import type { DroppedItems } from "../lib/browser.ts";
import type { ImageType } from "../../images/image_types.ts";
import {
  type ChosenFile,
  HEAD_BYTES,
  kindOfFile,
  type UnsentFile,
} from "./kinds.ts";

/** The maximum number of files; further files are reported as not sent. */
const FILE_LIMIT = 10_000;
/** The number of files that are read at the same time. */
const FILES_PER_BATCH = 20;

/** Chosen files by their kind. */
export interface SortedFiles {
  pictures: readonly { path: string; file: File; type: ImageType }[];
  /** Tables and documents, which may contain products. */
  products: readonly ChosenFile[];
  unsent: readonly UnsentFile[];
  /** The names of files that an operating system has added. */
  systemFiles: readonly string[];
}

/** The files in dropped files and folders, in the order of their paths. */
async function filesIn(
  entries: readonly FileSystemEntry[],
): Promise<{ files: ChosenFile[]; unsent: UnsentFile[] }> {
  const files: ChosenFile[] = [];
  const unsent: UnsentFile[] = [];
  const pending = [...entries].reverse();
  while (pending.length > 0) {
    const entry = pending.pop()!;
    const path = entry.fullPath.replace(/^\//, "");
    if (files.length >= FILE_LIMIT) {
      const why = `Not read, because only ${FILE_LIMIT} files are read.`;
      unsent.push({ path, why });
      continue;
    }
    try {
      if (entry.isDirectory) {
        const inside = await entriesOf(entry as FileSystemDirectoryEntry);
        for (const one of inside) pending.push(one);
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
  "The browser cannot read the file, which may have been moved or changed.";

/** The entries of a folder, in reverse order of their names. */
async function entriesOf(
  folder: FileSystemDirectoryEntry,
): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  // The browser returns at most 100 entries in one call.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject)
    );
    if (batch.length === 0) break;
    for (const one of batch) all.push(one);
  }
  return all.sort((a, b) => a.name < b.name ? 1 : -1);
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** Sorts the dropped files by their kind. */
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
      ? entries.map(({ name }) => ({ path: name, why: "The folder is empty." }))
      : []),
  ];
  return { ...sorted, unsent, all: read.files };
}

/** The files of a file chooser. Files of a chosen folder have a path. */
function chosenFiles(files: readonly File[]): ChosenFile[] {
  return files.map((file) => ({
    path: file.webkitRelativePath || file.name,
    file,
  }));
}

/** Sorts files by their kind, which follows from the name and the first bytes. */
async function sortFiles(
  files: readonly ChosenFile[],
): Promise<SortedFiles> {
  const pictures = [];
  const products = [];
  const unsent = [];
  const systemFiles = [];
  for (let from = 0; from < files.length; from += FILES_PER_BATCH) {
    const batch = files.slice(from, from + FILES_PER_BATCH);
    const heads = await Promise.all(batch.map(({ file }) => headOf(file)));
    for (const [i, { path, file }] of batch.entries()) {
      const head = heads[i];
      const kind = head === null
        ? { name: "unsent", why: UNREADABLE, isPicture: false } as const
        : kindOfFile(path, head);
      if (kind.name === "picture") {
        pictures.push({ path, file, type: kind.type });
      } else if (kind.name === "products") products.push({ path, file });
      else if (kind.name === "system file") systemFiles.push(file.name);
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
