/**
 * Compares image files with their rows: the command `images verify`, and a job
 * of `administration/maintenance.ts`.
 */
import { createHash } from "node:crypto";
import { imageFile } from "./image.ts";
import { inParallel } from "../lib/in_parallel.ts";
import { type ImageStore, PREFIXES, sha256Of } from "./storage/blob_store.ts";
import { type Db, MAINTENANCE } from "../database/db.ts";
import type { Services } from "../services.ts";
import {
  copiesAfter,
  refetchCopies,
  storedCopiesUnder,
  type StoredCopy,
} from "./rows/copies.ts";
import { readPosition, writePosition } from "../jobs/positions.ts";
import { sectionsOf } from "../database/sections.ts";

/** Files that are read concurrently. */
const AT_ONCE = 8;

/** The name of the job, under which its position is stored. */
export const MISSING_IMAGES = "missing_images";
/** Copies that one step compares with the files. */
const STEP = 1_000;
/** Steps of one run. */
const STEPS = 10;

/**
 * Checks all copies in turn, some in each run. If the file of a copy is
 * missing, for example after a power failure or a restore, fetches the image
 * again. A run takes the same time for any number of images, and a restart does
 * not begin from the start.
 */
export async function* refetchMissing(
  { db, deps, images, signals }: Pick<
    Services,
    "db" | "deps" | "images" | "signals"
  >,
): AsyncGenerator<number, void> {
  for (let step = 0; step < STEPS; step++) {
    const { from, copies } = await db.read(async (sql) => {
      const from = await readPosition(sql, MISSING_IMAGES);
      return { from, copies: await copiesAfter(sql, from, STEP) };
    });
    // The files are checked after the rows were read, because files are written
    // before rows.
    const missing = new Set(await images.missing(copies.map(imageFile)));
    // An unreachable store looks empty, so probe it first.
    if (missing.size > 0) await images.probe();
    const missingHashes = [...missing].map(sha256Of);
    const isLast = copies.length < STEP;
    const position = isLast ? "" : copies[copies.length - 1].sha256;
    if (position !== from || missingHashes.length > 0) {
      const at = deps.clock.now();
      let urls = 0;
      for (const section of missingHashes.length === 0 ? [] : sectionsOf(db)) {
        urls += await section.write(
          (tx) => refetchCopies(tx, missingHashes, at),
          MAINTENANCE,
        );
      }
      await db.write(
        (tx) => writePosition(tx, MISSING_IMAGES, position),
        MAINTENANCE,
      );
      if (urls > 0) {
        deps.log.warn("image_files_missing", { urls });
        signals.images.announce();
      }
    }
    yield missingHashes.length;
    if (isLast) return;
  }
}

export interface VerifyReport {
  /** The number of stored images, each counted once. */
  checked: number;
  /** Missing files, as `imageFile()` names them. */
  missing: string[];
  /** Files whose content differs from what was stored. */
  damaged: string[];
}

/** Reads every stored image and compares its SHA-256. Read-only. */
export async function verifyImages(
  db: Db,
  store: ImageStore,
): Promise<VerifyReport> {
  const report: VerifyReport = { checked: 0, missing: [], damaged: [] };
  for (const prefix of PREFIXES) {
    const copies = await db.read((sql) => storedCopiesUnder(sql, prefix));
    const found = await inParallel(
      AT_ONCE,
      copies,
      (copy) => checkCopy(store, copy),
    );
    report.checked += copies.length;
    for (const [n, copy] of copies.entries()) {
      const verdict = found[n];
      if (verdict !== "sound") report[verdict].push(imageFile(copy));
    }
  }
  return report;
}

async function checkCopy(
  store: ImageStore,
  copy: StoredCopy,
): Promise<"sound" | "missing" | "damaged"> {
  const image = await store.read(imageFile(copy));
  if (image === null) return "missing";
  const hash = createHash("sha256");
  for await (const piece of image.body) hash.update(piece);
  return hash.digest("hex") === copy.sha256 ? "sound" : "damaged";
}
