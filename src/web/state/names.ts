/**
 * The names of uploads and imports. The service keeps none of uploads, so the
 * browser that sent one remembers it.
 */
import type { Import, Transaction } from "../../client/mod.ts";
import { inBrowser } from "../lib/browser.ts";

/** The most names that are remembered; the oldest is forgotten first. */
const REMEMBERED = 1_000;

const storedNames = inBrowser("upload names");

/** Remembers the name of an upload, or of a request that was refused at once. */
export function nameUpload(id: string, name: string): void {
  const names = [...readNames().filter(([other]) => other !== id), [id, name]];
  storedNames.set(JSON.stringify(names.slice(-REMEMBERED)));
}

/** Null if another browser sent it, or gave it no name. */
export function nameOfUpload(id: string): string | null {
  return readNames().find(([other]) => other === id)?.[1] ?? null;
}

export function isImport(watched: Transaction | Import): watched is Import {
  return !("transaction_id" in watched);
}

/** What the history calls an upload or an import. */
export function uploadTitle(watched: Transaction | Import): string {
  const { undoes } = watched;
  if (isImport(watched)) {
    return undoes === undefined
      ? watched.name ?? "Import"
      : "Undo of an import";
  }
  return undoes === undefined
    ? nameOfUpload(watched.transaction_id) ?? "Upload"
    : `Undo of ${nameOfUpload(undoes) ?? "an upload"}`;
}

/** Its state in a few words; undefined: that of any other. */
export function uploadState(
  { status, images, products: { refused = 0 } }: Transaction | Import,
): string | undefined {
  if (refused === 0 || !status.startsWith("completed")) return undefined;
  const missing = images.failed > 0 ? ", images missing" : "";
  return `complete, ${refused} refused${missing}`;
}

/** The view that shows it. */
export function uploadView(
  watched: Transaction | Import,
): { view: string; id: string } {
  return isImport(watched)
    ? { view: "imports", id: watched.import_id }
    : { view: "uploads", id: watched.transaction_id };
}

function readNames(): string[][] {
  try {
    return JSON.parse(storedNames.get() ?? "[]");
  } catch {
    return [];
  }
}
