/**
 * The folder of stored images: `<first two digits>/<SHA-256>.<type>`, and
 * `<lease>.part` for what is being written.
 */
import { createHash } from "node:crypto";
import { basename, extname } from "node:path";
import { imageFile } from "../domain/image.ts";
import type { Db } from "../store/db.ts";
import {
  copiesUnder,
  forgetUnneeded,
  neededCopiesUnder,
  refetchCopies,
  type StoredCopy,
} from "../store/image_copies.ts";
import { heldLeases } from "../store/image_queue.ts";

const PART = ".part";
/** Ends the name of a file that is about to be removed. */
const ASIDE = ".unneeded";
const STORED = /^[0-9a-f]{64}\.[a-z]+$/;
/** `00` … `ff`. */
const PREFIXES = Array.from(
  { length: 256 },
  (_, n) => n.toString(16).padStart(2, "0"),
);
/** While images are being fetched, a file as young as this may be one of them. */
const YOUNG_MS = 10 * 60_000;

/** Where images lie below the data folder. */
export function imageFolder(dataDir: string): string {
  return `${dataDir}/images`;
}

/** Where a download is written before it has its name. */
export function partFile(folder: string, lease: string): string {
  return `${folder}/${lease}${PART}`;
}

/** Makes the folder and those in it, so that no download has to. */
export function makeFolders(folder: string): void {
  for (const prefix of PREFIXES) {
    Deno.mkdirSync(`${folder}/${prefix}`, { recursive: true });
  }
}

/**
 * Removes half-written files of attempts that nobody is at any more. Answers
 * how many there were.
 */
export async function sweepParts(db: Db, folder: string): Promise<number> {
  const parts = await unclaimedParts(db, folder);
  for (const name of parts) await removeFile(`${folder}/${name}`);
  return parts.length;
}

/**
 * Has every image fetched again whose file is gone (after a power failure, say,
 * or because somebody removed it). Answers how many URLs that are.
 */
export async function refetchMissing(
  db: Db,
  folder: string,
  at: number,
  abort: AbortSignal,
): Promise<number> {
  let urls = 0;
  for (const prefix of PREFIXES) {
    if (abort.aborted) break;
    const copies = await db.read((sql) => copiesUnder(sql, prefix));
    if (copies.length === 0) continue;
    // Looked up after the rows: a file is there before its row is.
    const files = new Set(await filesIn(`${folder}/${prefix}`));
    const missing = copies
      .filter(({ sha256, type }) => !files.has(`${sha256}.${type}`))
      .map(({ sha256 }) => sha256);
    if (missing.length === 0) continue;
    urls += await db.write((tx) => refetchCopies(tx, missing, at));
  }
  return urls;
}

export interface VerifyReport {
  /** How many stored images there are, each counted once. */
  checked: number;
  /** Files, relative to `images/`, that are not there. */
  missing: string[];
  /** Files whose bytes are not those that were stored. */
  damaged: string[];
}

/** Reads every stored image and compares its SHA-256. Changes nothing. */
export async function verifyImages(
  db: Db,
  dataDir: string,
): Promise<VerifyReport> {
  const report: VerifyReport = { checked: 0, missing: [], damaged: [] };
  for (const prefix of PREFIXES) {
    for (const copy of await db.read((sql) => copiesUnder(sql, prefix))) {
      report.checked++;
      const found = await judge(imageFolder(dataDir), copy);
      if (found !== "sound") report[found].push(imageFile(copy));
    }
  }
  return report;
}

async function judge(
  folder: string,
  copy: StoredCopy,
): Promise<"sound" | "missing" | "damaged"> {
  try {
    using file = await Deno.open(`${folder}/${imageFile(copy)}`);
    const hash = createHash("sha256");
    for await (const piece of file.readable) hash.update(piece);
    return hash.digest("hex") === copy.sha256 ? "sound" : "damaged";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "missing";
    throw error;
  }
}

export interface PruneReport {
  /** Files, relative to `images/`, that nothing needs. */
  files: string[];
  /** What they take together. */
  bytes: number;
  /** Whether they were removed. */
  removed: boolean;
}

export interface PruneOptions {
  /** Only find, remove nothing. */
  dryRun: boolean;
  /** Unix milliseconds. */
  now: number;
}

/**
 * Finds the files of images that no product shows and no unfinished upload
 * waits for, and half-written ones that nobody is at; removes them unless it is
 * a dry run. May be called while the service runs; while that fetches images,
 * files of the last ten minutes are left for the next time.
 */
export async function pruneImages(
  db: Db,
  dataDir: string,
  { dryRun, now }: PruneOptions,
): Promise<PruneReport> {
  const folder = imageFolder(dataDir);
  const report: PruneReport = { files: [], bytes: 0, removed: !dryRun };
  const note = ({ name, bytes }: ImageFile) => {
    report.files.push(name);
    report.bytes += bytes;
  };
  for (const name of await unclaimedParts(db, folder)) {
    const part = await lookAt(folder, name);
    if (part === null) continue;
    if (!dryRun) await removeFile(`${folder}/${name}`);
    note(part);
  }
  for (const prefix of PREFIXES) {
    if (!dryRun) await putBackLeftOver(folder, prefix);
    const unneeded = await unneededFiles(db, folder, prefix, now);
    const found = dryRun || unneeded.length === 0
      ? unneeded
      : await removeUnneeded(db, folder, prefix, unneeded, now);
    found.forEach(note);
  }
  return report;
}

interface ImageFile {
  /** Relative to the folder of the images. */
  name: string;
  bytes: number;
  /** When it was written, Unix milliseconds. */
  written: number;
}

async function unneededFiles(
  db: Db,
  folder: string,
  prefix: string,
  now: number,
): Promise<ImageFile[]> {
  const names = (await filesIn(`${folder}/${prefix}`))
    .filter((name) => STORED.test(name));
  if (names.length === 0) return [];
  // One snapshot, taken after the look at the files: what has a file but no row
  // yet is still under a lease in it.
  const { needed, busy } = await db.read(async (sql) => ({
    needed: new Set((await neededCopiesUnder(sql, prefix)).map(imageFile)),
    busy: (await heldLeases(sql)).size > 0,
  }));
  const files: ImageFile[] = [];
  for (const name of names.map((name) => `${prefix}/${name}`)) {
    if (needed.has(name)) continue;
    const file = await lookAt(folder, name);
    if (file === null || (busy && isYoung(file, now))) continue;
    files.push(file);
  }
  return files;
}

/**
 * Has the rows give up these files, then removes them. An upload may want one
 * at any moment, and a download write it anew. So each is set aside first, and
 * looked up after that: what is wanted again then goes back to its place.
 */
async function removeUnneeded(
  db: Db,
  folder: string,
  prefix: string,
  files: readonly ImageFile[],
  now: number,
): Promise<ImageFile[]> {
  const sha256s = files.map(({ name }) => basename(name, extname(name)));
  await db.write((tx) => forgetUnneeded(tx, sha256s));
  for (const { name } of files) {
    await moveFile(`${folder}/${name}`, `${folder}/${name}${ASIDE}`);
  }
  const { used, busy } = await db.read(async (sql) => ({
    used: new Set((await copiesUnder(sql, prefix)).map(imageFile)),
    busy: (await heldLeases(sql)).size > 0,
  }));
  const removed: ImageFile[] = [];
  for (const file of files) {
    const { name } = file;
    const aside = await lookAt(folder, name + ASIDE);
    if (aside === null) continue;
    if (used.has(name) || (busy && isYoung(aside, now))) {
      await putBack(folder, name);
    } else {
      await removeFile(`${folder}/${name}${ASIDE}`);
      removed.push(file);
    }
  }
  return removed;
}

/** What was set aside by somebody who then died. */
async function putBackLeftOver(folder: string, prefix: string): Promise<void> {
  for (const name of await filesIn(`${folder}/${prefix}`)) {
    if (!name.endsWith(ASIDE)) continue;
    await putBack(folder, `${prefix}/${name.slice(0, -ASIDE.length)}`);
  }
}

/** Gives a file that was set aside its name again, unless a newer one has it. */
async function putBack(folder: string, name: string): Promise<void> {
  const path = `${folder}/${name}`;
  if (await lookAt(folder, name) === null) await moveFile(path + ASIDE, path);
  else await removeFile(path + ASIDE);
}

/** It may be of an image that is being fetched and has no row yet. */
function isYoung({ written }: ImageFile, now: number): boolean {
  return written > now - YOUNG_MS;
}

/** A file below the folder; null if it is not there any more. */
async function lookAt(folder: string, name: string): Promise<ImageFile | null> {
  const found = await unlessGone(Deno.lstat(`${folder}/${name}`));
  if (found === null) return null;
  return { name, bytes: found.size, written: found.mtime?.getTime() ?? 0 };
}

async function unclaimedParts(db: Db, folder: string): Promise<string[]> {
  const parts = (await filesIn(folder)).filter((name) => name.endsWith(PART));
  if (parts.length === 0) return [];
  // Looked up after the files: whoever began later is not among them.
  const held = await db.read((sql) => heldLeases(sql));
  return parts.filter((name) => !held.has(name.slice(0, -PART.length)));
}

/** Names of the files in a folder, in order; none if there is no folder. */
async function filesIn(folder: string): Promise<string[]> {
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

async function removeFile(path: string): Promise<void> {
  await unlessGone(Deno.remove(path));
}

async function moveFile(from: string, to: string): Promise<void> {
  await unlessGone(Deno.rename(from, to));
}

/** What came of looking at a file or moving it; null if there was none. */
async function unlessGone<T>(done: Promise<T>): Promise<T | null> {
  try {
    return await done;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
