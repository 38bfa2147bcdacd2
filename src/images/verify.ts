/**
 * Compares image files with their rows: the command `images verify`, and a job
 * of `operations/maintenance.ts`.
 */
import { createHash } from "node:crypto";
import { imageFile } from "./image.ts";
import { inParallel } from "../lib/in_parallel.ts";
import { type ImageStore, PREFIXES } from "./storage/blob_store.ts";
import { type Db, UPKEEP } from "../database/db.ts";
import type { Services } from "../services.ts";
import { copiesUnder, refetchCopies, type StoredCopy } from "./rows/copies.ts";

/** Files that are read concurrently. */
const AT_ONCE = 8;

/**
 * Fetches every image again whose file is missing, for example after a power
 * failure or a manual deletion.
 */
export async function* refetchMissing(
  { db, deps, images, signals }: Pick<
    Services,
    "db" | "deps" | "images" | "signals"
  >,
): AsyncGenerator<number, void> {
  for (const prefix of PREFIXES) {
    const copies = await db.read((sql) => copiesUnder(sql, prefix));
    if (copies.length === 0) continue;
    // Listed after the rows were read, because files are written before rows.
    const files = new Set(await images.names(prefix));
    const missing = copies.filter((copy) => !files.has(imageFile(copy)))
      .map(({ sha256 }) => sha256);
    if (missing.length > 0) {
      const at = deps.clock.now();
      const urls = await db.write(
        (tx) => refetchCopies(tx, missing, at),
        UPKEEP,
      );
      deps.log.warn("image_files_missing", { urls });
      signals.images.announce();
    }
    yield missing.length;
  }
}

export interface VerifyReport {
  /** How many stored images there are, each counted once. */
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
    const copies = await db.read((sql) => copiesUnder(sql, prefix));
    const found = await inParallel(
      AT_ONCE,
      copies,
      (copy) => judge(store, copy),
    );
    report.checked += copies.length;
    for (const [n, copy] of copies.entries()) {
      const verdict = found[n];
      if (verdict !== "sound") report[verdict].push(imageFile(copy));
    }
  }
  return report;
}

async function judge(
  store: ImageStore,
  copy: StoredCopy,
): Promise<"sound" | "missing" | "damaged"> {
  const image = await store.read(imageFile(copy));
  if (image === null) return "missing";
  const hash = createHash("sha256");
  for await (const piece of image.body) hash.update(piece);
  return hash.digest("hex") === copy.sha256 ? "sound" : "damaged";
}
