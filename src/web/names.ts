/**
 * The file names of uploads. The service keeps no name, so the browser that
 * sent a file remembers it.
 */
import type { Transaction } from "../client/mod.ts";
import { inBrowser } from "./browser.ts";

/** The most names that are remembered; the oldest is forgotten first. */
const REMEMBERED = 1_000;

const kept = inBrowser("upload names");

/** Remembers the name of an upload. */
export function nameUpload(id: string, name: string): void {
  const names = [...read().filter(([other]) => other !== id), [id, name]];
  kept.set(JSON.stringify(names.slice(-REMEMBERED)));
}

/** Null if another browser sent it. */
export function nameOfUpload(id: string): string | null {
  return read().find(([other]) => other === id)?.[1] ?? null;
}

/** What the history calls a transaction. */
export function titleOf(
  { transaction_id, undoes }: Pick<Transaction, "transaction_id" | "undoes">,
): string {
  return undoes === undefined
    ? nameOfUpload(transaction_id) ?? "Upload"
    : `Undo of ${nameOfUpload(undoes) ?? "an upload"}`;
}

function read(): string[][] {
  try {
    return JSON.parse(kept.get() ?? "[]");
  } catch {
    return [];
  }
}
