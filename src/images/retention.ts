/**
 * Removes image files and rows that nothing needs: the command `images prune`,
 * and jobs of `operations/maintenance.ts`.
 */
import type { Clock } from "../deps.ts";
import { imageFile, IMAGES } from "./image.ts";
import { DAY_MS } from "../lib/durations.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import { inParallel } from "../lib/in_parallel.ts";
import {
  type ImageFile,
  type ImageStore,
  PREFIXES,
} from "./storage/blob_store.ts";
import { type Db, MAINTENANCE } from "../database/db.ts";
import type { Services } from "../services.ts";
import {
  copiesUnder,
  forgetUnneeded,
  type ImageKey,
  neededCopiesUnder,
  refetchCopies,
} from "./rows/copies.ts";
import { positionOf, setPosition } from "./rows/positions.ts";
import { heldLeases } from "../jobs/lease_queue.ts";
import { pause } from "../lib/waits.ts";

/** While images are being fetched, a younger file may be one of them. */
const YOUNG_MS = 10 * 60_000;
/** Files that are looked at concurrently. */
const AT_ONCE = 8;
/** Files that are removed together. */
const REMOVED_AT_ONCE = 100;
/** How often, and how long, `images prune` waits for downloads to end. */
const LOOK_AGAIN_MS = 500;
const WAIT_MS = 2 * 60_000;

/** Removes partial downloads of attempts that have ended. */
export async function* sweepParts(
  { db, images }: Pick<Services, "db" | "images">,
): AsyncGenerator<number, void> {
  for (const lease of await unclaimedParts(db, images)) {
    await images.parts.remove(lease);
    yield 1;
  }
}

export interface PruneReport {
  /** Files that nothing needs, relative to the image store. */
  files: string[];
  /** Their total size. */
  bytes: number;
  /** Whether they were removed. */
  removed: boolean;
}

export interface PruneOptions {
  /** Finds files without removing them. */
  dryRun: boolean;
  clock: Clock;
}

/**
 * Finds the files of images that no product shows and no unfinished upload
 * waits for, and partial downloads of ended attempts. Unless it is a dry run,
 * removes them, and rows without a file that no upload refers to. May run beside
 * the service; while that fetches images, files of the last ten minutes are left
 * for the next run.
 */
export async function pruneImages(
  db: Db,
  store: ImageStore,
  { dryRun, clock }: PruneOptions,
): Promise<PruneReport> {
  const report: PruneReport = { files: [], bytes: 0, removed: !dryRun };
  const note = ({ name, bytes }: ImageFile) => {
    report.files.push(name);
    report.bytes += bytes;
  };
  for (const lease of await unclaimedParts(db, store)) {
    const part = dryRun
      ? await store.parts.look(lease)
      : await store.parts.remove(lease);
    if (part !== null) note(part);
  }
  const now = clock.now();
  if (!dryRun) await Array.fromAsync(forgetRows(db, { now, since: now }));
  const copiesOf = dryRun ? neededCopiesUnder : copiesUnder;
  for (const prefix of PREFIXES) {
    if (!dryRun) await store.mend(prefix);
    const files = await unneededFiles(db, store, prefix, now, copiesOf);
    const removing = dryRun
      ? [files]
      : removeFiles({ db, images: store, clock }, prefix, files);
    for await (const gone of removing) gone.forEach(note);
  }
  if (!dryRun && !store.removesSafely) {
    await Array.fromAsync(refetchRemoved(db, store, report.files, clock));
  }
  return report;
}

type ImageServices = Pick<Services, "config" | "db" | "deps" | "images">;

/**
 * Gives up the images that nothing has needed for SELLER_KEEP_IMAGES_DAYS, and
 * removes the files that no seller's row names any more.
 */
export async function* sweepUnneeded(
  services: ImageServices,
): AsyncGenerator<number, void> {
  const { config, db, deps } = services;
  if (config.keepImagesDays === 0) return;
  const now = deps.clock.now();
  const since = now - config.keepImagesDays * DAY_MS;
  yield* forgetRows(db, { now, since });
  yield* sweepFiles(services);
}

/** The job that removes the files of removed sellers; its name and position. */
export const UNNAMED_FILES = "unnamed_files";

/** Removes the files that no row names, after rows of a seller were deleted. */
export async function* sweepUnnamed(
  services: Omit<ImageServices, "config">,
): AsyncGenerator<number, void> {
  const { db } = services;
  const position = await db.read((sql) => positionOf(sql, UNNAMED_FILES));
  if (position === "") return;
  yield* sweepFiles(services);
  await db.write(async (tx) => {
    const present = await positionOf(tx, UNNAMED_FILES);
    if (present === position) await setPosition(tx, UNNAMED_FILES, "");
  }, MAINTENANCE);
}

/**
 * Gives up the images that nothing has needed since `since`. Times in Unix
 * milliseconds.
 */
async function* forgetRows(
  db: Db,
  times: { now: number; since: number },
): AsyncGenerator<number, void> {
  let after: ImageKey | null = { sellerNo: 0, id: BEFORE_ALL_IDS };
  while (after !== null) {
    const from: ImageKey = after;
    const { last, forgotten } = await db.write(
      (tx) => forgetUnneeded(tx, from, times),
      MAINTENANCE,
    );
    yield forgotten;
    after = last;
  }
}

/** Removes the files that no row names. */
async function* sweepFiles(
  { db, deps: { clock }, images }: Omit<ImageServices, "config">,
): AsyncGenerator<number, void> {
  const removed: string[] = [];
  for (const prefix of PREFIXES) {
    yield 0;
    await images.mend(prefix);
    const files = await unneededFiles(db, images, prefix, clock.now());
    const removing = removeFiles({ db, images, clock }, prefix, files);
    for await (const gone of removing) {
      for (const { name } of gone) removed.push(name);
      yield gone.length;
    }
  }
  if (!images.removesSafely) {
    yield* refetchRemoved(db, images, removed, clock);
  }
}

/** The files below a prefix that belong to none of the copies. */
async function unneededFiles(
  db: Db,
  store: ImageStore,
  prefix: string,
  now: number,
  copiesOf = copiesUnder,
): Promise<ImageFile[]> {
  const names = await store.names(prefix);
  if (names.length === 0) return [];
  // Read after the files were listed: a file without a row is under a lease.
  const { used, busy } = await usedUnder(db, prefix, copiesOf);
  const unneeded = names.filter((name) => !used.has(name));
  const files = await inParallel(AT_ONCE, unneeded, (name) => store.look(name));
  return files.filter((file) => file !== null)
    .filter((file) => !busy || !isYoung(file, now));
}

/** The names of copies below a prefix, and whether any lease is held. */
function usedUnder(db: Db, prefix: string, copiesOf = copiesUnder) {
  return db.read(async (sql) => ({
    used: new Set((await copiesOf(sql, prefix)).map(imageFile)),
    busy: (await heldLeases(sql, IMAGES)).size > 0,
  }));
}

/**
 * Removes files of a prefix, some at a time, except those that a row names again
 * or that a download has rewritten meanwhile.
 */
async function* removeFiles(
  { db, images, clock }: { db: Db; images: ImageStore; clock: Clock },
  prefix: string,
  files: readonly ImageFile[],
): AsyncGenerator<ImageFile[]> {
  for (let start = 0; start < files.length; start += REMOVED_AT_ONCE) {
    const some = files.slice(start, start + REMOVED_AT_ONCE);
    yield await images.remove(some, async (present) => {
      const { used, busy } = await usedUnder(db, prefix);
      return present.filter((file) =>
        !used.has(file.name) && !(busy && isYoung(file, clock.now()))
      );
    });
  }
}

/**
 * Between the last check of a file and its removal a download may have
 * rewritten it. Its row is written before its lease ends; so once the present
 * leases have ended, every row without a file is known and fetched again.
 */
async function* refetchRemoved(
  db: Db,
  store: ImageStore,
  names: readonly string[],
  clock: Clock,
): AsyncGenerator<number, void> {
  const removed = new Set(names);
  if (removed.size === 0) return;
  yield* leasesEnded(db, clock);
  for (const prefix of new Set(names.map((name) => name.slice(0, 2)))) {
    const copies = (await db.read((sql) => copiesUnder(sql, prefix)))
      .filter((copy) => removed.has(imageFile(copy)));
    for (const copy of copies) {
      if (await store.look(imageFile(copy)) !== null) continue;
      const at = clock.now();
      yield await db.write((tx) => refetchCopies(tx, [copy.sha256], at));
    }
  }
}

/** Returns when none of the present leases is held any more. */
async function* leasesEnded(
  db: Db,
  clock: Clock,
): AsyncGenerator<number, void> {
  const leases = await db.read((sql) => heldLeases(sql, IMAGES));
  const deadline = clock.monotonic() + WAIT_MS;
  for (;;) {
    const held = await db.read((sql) => heldLeases(sql, IMAGES));
    if (leases.isDisjointFrom(held)) return;
    if (clock.monotonic() > deadline) return;
    await pause(clock, LOOK_AGAIN_MS);
    yield 0;
  }
}

/** It may belong to an image that is being fetched and has no row yet. */
function isYoung({ written }: ImageFile, now: number): boolean {
  return written > now - YOUNG_MS;
}

async function unclaimedParts(db: Db, store: ImageStore): Promise<string[]> {
  const leases = await store.parts.leases();
  if (leases.length === 0) return [];
  // Read after the files were listed, so later downloads are not among them.
  const held = await db.read((sql) => heldLeases(sql, IMAGES));
  return leases.filter((lease) => !held.has(lease));
}
