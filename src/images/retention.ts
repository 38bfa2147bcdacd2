/**
 * Removes image files and rows that nothing needs: the command `images prune`,
 * and jobs of `operations/maintenance.ts`.
 */
import type { Clock } from "../deps.ts";
import { imageFile } from "./image.ts";
import { DAY_MS } from "../lib/durations.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import { inParallel } from "../lib/in_parallel.ts";
import {
  type ImageFile,
  type ImageStore,
  PREFIXES,
  sha256Of,
} from "./storage/blob_store.ts";
import { type Db, MAINTENANCE, type Sql } from "../database/db.ts";
import type { Services } from "../services.ts";
import {
  copiesUnder,
  forgetUnneeded,
  hasUnneeded,
  markUnneeded,
  neededCopiesUnder,
  refetchCopies,
} from "./rows/copies.ts";
import { heldLeases } from "./rows/queue.ts";
import { pause } from "../lib/waits.ts";

/** While images are being fetched, a younger file may be one of them. */
const YOUNG_MS = 10 * 60_000;
/** Files that are looked at concurrently. */
const AT_ONCE = 8;
/** Files whose rows one write marks as pruned. */
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
  for (const prefix of PREFIXES) {
    if (dryRun) {
      const unneeded = await unneededFiles(db, store, prefix, clock.now());
      unneeded.forEach(note);
      continue;
    }
    for await (const files of removeUnder(db, store, clock, prefix)) {
      files.forEach(note);
    }
  }
  if (dryRun) return report;
  if (!store.removesSafely) {
    await Array.fromAsync(refetchRemoved(db, store, report.files, clock));
  }
  const now = clock.now();
  await Array.fromAsync(sweepRows(db, { now, since: now }));
  return report;
}

type ImageServices = Pick<Services, "config" | "db" | "deps" | "images">;

/**
 * Removes the files and rows of images that nothing has needed for
 * SELLER_KEEP_IMAGES_DAYS. A file is removed first, its row once no upload
 * refers to it.
 */
export async function* sweepUnneeded(
  services: ImageServices,
): AsyncGenerator<number, void> {
  const { config, db, deps } = services;
  if (config.keepImagesDays === 0) return;
  const now = deps.clock.now();
  const since = now - config.keepImagesDays * DAY_MS;
  yield* sweepFiles(services, since);
  yield* sweepRows(db, { now, since });
}

/**
 * Removes the rows without a copy that nothing has needed since `since` and
 * that no upload refers to. Times in Unix milliseconds.
 */
async function* sweepRows(
  db: Db,
  times: { now: number; since: number },
): AsyncGenerator<number, void> {
  for (let after: string | null = BEFORE_ALL_IDS; after !== null;) {
    const from: string = after;
    const { last, deleted } = await db.write(
      (tx) => markUnneeded(tx, from, times),
      MAINTENANCE,
    );
    yield deleted;
    after = last;
  }
}

/**
 * Removes the files of images that nothing has needed since `since` (Unix
 * milliseconds).
 */
export async function* sweepFiles(
  { db, deps: { clock }, images }: Omit<ImageServices, "config">,
  since: number,
): AsyncGenerator<number, void> {
  const removed: string[] = [];
  for (const prefix of PREFIXES) {
    yield 0;
    const isUnneeded = (sql: Sql) => hasUnneeded(sql, prefix, since);
    if (!await db.read(isUnneeded, { single: true })) continue;
    const pieces = removeUnder(db, images, clock, prefix, since);
    for await (const files of pieces) {
      for (const { name } of files) removed.push(name);
      yield files.length;
    }
  }
  if (!images.removesSafely) {
    yield* refetchRemoved(db, images, removed, clock);
  }
}

/**
 * Removes, some at a time, the files below a prefix that nothing has needed
 * since `since` (Unix milliseconds), or without it that nothing needs now.
 */
async function* removeUnder(
  db: Db,
  store: ImageStore,
  clock: Clock,
  prefix: string,
  since?: number,
): AsyncGenerator<ImageFile[]> {
  await store.mend(prefix);
  const files = await unneededFiles(db, store, prefix, clock.now(), since);
  for (let start = 0; start < files.length; start += REMOVED_AT_ONCE) {
    const some = files.slice(start, start + REMOVED_AT_ONCE);
    yield await removeUnneeded(db, store, prefix, some, clock);
  }
}

async function unneededFiles(
  db: Db,
  store: ImageStore,
  prefix: string,
  now: number,
  since?: number,
): Promise<ImageFile[]> {
  const names = await store.names(prefix);
  if (names.length === 0) return [];
  // One snapshot, taken after the files were listed: a file without a row is
  // then still under a lease in it.
  const { needed, busy } = await db.read(async (sql) => ({
    needed: new Set(
      (await neededCopiesUnder(sql, prefix, since)).map(imageFile),
    ),
    busy: (await heldLeases(sql)).size > 0,
  }));
  const unneeded = names.filter((name) => !needed.has(name));
  const files = await inParallel(AT_ONCE, unneeded, (name) => store.look(name));
  return files.filter((file) => file !== null)
    .filter((file) => !busy || !isYoung(file, now));
}

/**
 * Marks the rows of these files as pruned, then removes the files, except those
 * that an upload has requested or a download has rewritten meanwhile.
 */
async function removeUnneeded(
  db: Db,
  store: ImageStore,
  prefix: string,
  files: readonly ImageFile[],
  clock: Clock,
): Promise<ImageFile[]> {
  const hashes = files.map(({ name }) => sha256Of(name));
  await db.write((tx) => forgetUnneeded(tx, hashes), MAINTENANCE);
  return await store.remove(files, async (files) => {
    const { used, busy } = await db.read(async (sql) => ({
      used: new Set((await copiesUnder(sql, prefix)).map(imageFile)),
      busy: (await heldLeases(sql)).size > 0,
    }));
    return files.filter((file) =>
      !used.has(file.name) && !(busy && isYoung(file, clock.now()))
    );
  });
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
  const leases = await db.read((sql) => heldLeases(sql));
  const deadline = clock.monotonic() + WAIT_MS;
  for (;;) {
    const held = await db.read((sql) => heldLeases(sql));
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
  const held = await db.read((sql) => heldLeases(sql));
  return leases.filter((lease) => !held.has(lease));
}
