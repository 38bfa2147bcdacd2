/**
 * The folder of stored images: `<first two digits>/<SHA-256>.<type>`, and
 * `<lease>.part` for what is being written.
 */
import { createHash } from "node:crypto";
import { imageFile } from "../domain/image.ts";
import type { Db } from "../store/db.ts";
import {
  copiesUnder,
  refetchCopies,
  type StoredCopy,
} from "../store/image_copies.ts";
import { heldLeases } from "../store/image_queue.ts";

const PART = ".part";
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
  /** Files, relative to `images/`, that nothing refers to. */
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
 * Finds files of images that no URL refers to, and half-written ones that
 * nobody is at, and removes them unless it is a dry run. May be called while
 * the service runs; files just written are then left for the next time.
 */
export async function pruneImages(
  db: Db,
  dataDir: string,
  { dryRun, now }: PruneOptions,
): Promise<PruneReport> {
  const folder = imageFolder(dataDir);
  const report: PruneReport = { files: [], bytes: 0, removed: !dryRun };
  const consider = async (name: string, since: number) => {
    const { size, mtime } = await Deno.lstat(`${folder}/${name}`);
    if (mtime !== null && mtime.getTime() > since) return;
    report.files.push(name);
    report.bytes += size;
    if (!dryRun) await removeFile(`${folder}/${name}`);
  };
  const unclaimed = await unclaimedParts(db, folder);
  for (const name of unclaimed) await consider(name, Infinity);
  for (const prefix of PREFIXES) {
    const names = (await filesIn(`${folder}/${prefix}`))
      .filter((name) => STORED.test(name));
    if (names.length === 0) continue;
    // One snapshot, taken after the look at the files: what has a file but no
    // row yet is still under a lease in it.
    const { used, busy } = await db.read(async (sql) => ({
      used: new Set((await copiesUnder(sql, prefix)).map(imageFile)),
      busy: (await heldLeases(sql)).size > 0,
    }));
    for (const name of names.map((name) => `${prefix}/${name}`)) {
      if (!used.has(name)) {
        await consider(name, busy ? now - YOUNG_MS : Infinity);
      }
    }
  }
  return report;
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
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
