/**
 * Removes image files and rows that nothing needs: the command `images prune`,
 * and jobs of `administration/maintenance.ts`.
 */
import type { Clock } from "../deps.ts";
import { imageFile, IMAGES } from "./image.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import { BEFORE_ALL_IDS } from "../lib/ids.ts";
import { inParallel } from "../lib/in_parallel.ts";
import {
  type ImageFile,
  type ImageStore,
  PREFIXES,
} from "./storage/blob_store.ts";
import { type Db, MAINTENANCE, type Tx } from "../database/db.ts";
import type { Services } from "../services.ts";
import {
  copiesUnder,
  forgetUnnamed,
  forgetUnneeded,
  hasUnnamed,
  type ImageKey,
  neededCopiesUnder,
} from "./rows/copies.ts";
import { readPosition, writePosition } from "../jobs/positions.ts";
import { untilNoneInAnySection } from "../jobs/periodic_jobs.ts";
import { currentLeases } from "../jobs/lease_queue.ts";
import { sectionsOf } from "../database/sections.ts";

/**
 * While images are being fetched, a file younger than this may belong to one of
 * them.
 */
const YOUNG_MS = 10 * 60_000;
/** How many files are checked concurrently. */
const AT_ONCE = 8;
/** How many files are removed together. */
const REMOVED_AT_ONCE = 100;

/** Removes partial downloads that a killed process left behind. */
export async function* sweepTemporaryFiles(
  { deps, images }: Pick<Services, "deps" | "images">,
): AsyncGenerator<number, void> {
  yield await images.sweepTemporaryFiles(deps.clock.now() - HOUR_MS);
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
 * waits for. Unless it is a dry run, removes them, and the rows without a file
 * to which no upload refers. The service may run at the same time; while it is
 * fetching images, files of the last ten minutes are not removed.
 */
export async function pruneImages(
  db: Db,
  images: ImageStore,
  { dryRun, clock }: PruneOptions,
): Promise<PruneReport> {
  const report: PruneReport = { files: [], bytes: 0, removed: !dryRun };
  const note = ({ name, bytes }: ImageFile) => {
    report.files.push(name);
    report.bytes += bytes;
  };
  if (dryRun) {
    for (const prefix of PREFIXES) {
      const names = await images.names(prefix);
      (await unneededCopies(db, images, names, clock, neededCopiesUnder))
        .forEach(note);
    }
    return report;
  }
  const now = clock.now();
  await Array.fromAsync(forgetRows(db, { now, since: now }));
  await Array.fromAsync(sweepFiles({ db, images, clock }, note));
  return report;
}

type ImageServices = Pick<Services, "config" | "db" | "deps" | "images">;

/**
 * Deletes the copies of images that nothing has needed for
 * SELLER_KEEP_IMAGES_DAYS, and removes the files to which no row refers any
 * more.
 */
export async function* sweepUnneeded(
  services: ImageServices,
): AsyncGenerator<number, void> {
  const { config, db, deps } = services;
  if (config.keepImagesDays === 0) return;
  const now = deps.clock.now();
  const since = now - config.keepImagesDays * DAY_MS;
  yield* forgetRows(db, { now, since });
  yield* sweepFiles({ ...services, clock: deps.clock });
}

/**
 * The name of the job, and of its position, that removes the files of removed
 * sellers and of uploaded images that no product has named.
 */
export const UNNAMED_FILES = "unnamed_files";

/**
 * The time from the removal of a seller to the last search for its files. Its
 * downloads may still write files within `YOUNG_MS`, and a file is removed only
 * when it is older than `YOUNG_MS`.
 */
const UNNAMED_MS = 2 * YOUNG_MS;

/**
 * Schedules the removal of files to which no row refers any more: from now on
 * until `UNNAMED_MS` have passed.
 */
export async function markUnnamed(tx: Tx): Promise<void> {
  const now = tx.now();
  await writePosition(tx, UNNAMED_FILES, `${now} ${now + UNNAMED_MS}`);
}

/** The least time for which an uploaded image is kept without a product. */
const UNNAMED_DAYS = 7;
/** How long the file of an uploaded image may take to be stored. */
const ARRIVING_MS = HOUR_MS;

/**
 * Deletes the rows of uploaded images that no product has named, and schedules
 * the removal of their files. The limit is the start of a day, so that
 * files are searched once a day.
 */
export async function* sweepUnnamedImages(
  { db, deps: { clock } }: Pick<Services, "db" | "deps">,
): AsyncGenerator<number, void> {
  const now = clock.now();
  const times = {
    uploadedBy: now - now % DAY_MS - UNNAMED_DAYS * DAY_MS,
    arrivingBy: now - ARRIVING_MS,
  };
  if (!await db.read((sql) => hasUnnamed(sql, times), { single: true })) return;
  // The removal of the files is scheduled before the rows are deleted, so that
  // the files are removed even if the process is killed in between.
  await db.write(markUnnamed, MAINTENANCE);
  yield* untilNoneInAnySection(db, (tx) => forgetUnnamed(tx, times));
}

/**
 * Removes the files to which no row refers, after rows of a seller were
 * deleted. The position has the times of the next run and of the last run; it
 * is "" once the last run has ended.
 */
export async function* sweepUnnamed(
  services: Omit<ImageServices, "config">,
): AsyncGenerator<number, void> {
  const { db, deps: { clock } } = services;
  const position = await db.read((sql) => readPosition(sql, UNNAMED_FILES));
  const [next, last = next] = position.split(" ").map(Number);
  const now = clock.now();
  if (position === "" || now < next) return;
  yield* sweepFiles({ ...services, clock });
  const following = Math.min(now + YOUNG_MS, last);
  await db.write(async (tx) => {
    const present = await readPosition(tx, UNNAMED_FILES);
    if (present !== position) return;
    const then = now >= last ? "" : `${following} ${last}`;
    await writePosition(tx, UNNAMED_FILES, then);
  }, MAINTENANCE);
}

/**
 * Deletes the copies of images that nothing has needed since `since`. Times in
 * Unix milliseconds.
 */
async function* forgetRows(
  db: Db,
  times: { now: number; since: number },
): AsyncGenerator<number, void> {
  for (const section of sectionsOf(db)) {
    let after: ImageKey | null = { sellerNo: 0, id: BEFORE_ALL_IDS };
    while (after !== null) {
      const from: ImageKey = after;
      const { last, forgotten } = await section.write(
        (tx) => forgetUnneeded(tx, from, times),
        MAINTENANCE,
      );
      yield forgotten;
      after = last;
    }
  }
}

/**
 * Removes the files to which no row refers; calls `note` with each. If a
 * download writes a file again at the moment of its removal, `refetchMissing`
 * fetches the image again.
 */
async function* sweepFiles(
  { db, clock, images }: Pick<Services, "db" | "images"> & { clock: Clock },
  note: (file: ImageFile) => void = () => {},
): AsyncGenerator<number, void> {
  for (const prefix of PREFIXES) {
    yield 0;
    const found = await unneededCopies(
      db,
      images,
      await images.names(prefix),
      clock,
    );
    for (let start = 0; start < found.length; start += REMOVED_AT_ONCE) {
      const names = found.slice(start, start + REMOVED_AT_ONCE)
        .map(({ name }) => name);
      // A row may refer to some of these files by now.
      const files = await unneededCopies(db, images, names, clock);
      await inParallel(AT_ONCE, files, ({ name }) => images.remove(name));
      files.forEach(note);
      yield files.length;
    }
  }
}

/**
 * The files among `names`, which share a prefix, that belong to no copy;
 * excludes young files while images are being fetched.
 */
async function unneededCopies(
  db: Db,
  images: ImageStore,
  names: readonly string[],
  clock: Clock,
  copiesOf = copiesUnder,
): Promise<ImageFile[]> {
  if (names.length === 0) return [];
  // The rows are read after the files were listed, so a new file without a row
  // belongs to a job under a lease.
  const { used, busy } = await db.read(async (sql) => ({
    used: new Set((await copiesOf(sql, names[0].slice(0, 2))).map(imageFile)),
    busy: (await currentLeases(sql, IMAGES)).size > 0,
  }));
  const unused = names.filter((name) => !used.has(name));
  const files = await inParallel(AT_ONCE, unused, (name) => images.stat(name));
  const latest = busy ? clock.now() - YOUNG_MS : Infinity;
  return files.filter((file) => file !== null)
    .filter(({ written }) => written <= latest);
}
