/** How a store's error is told apart from everybody else's. */
import type { StoreFailure } from "../image.ts";
import { StoreError } from "./blob_store.ts";

/** ENOSPC and EDQUOT of Linux and macOS. */
const NO_ROOM = /\(os error (?:28|69|122)\)/;
/** What Deno writes behind an error of the system that has no class. */
const OF_THE_SYSTEM = /\(os error \d+\)/;

/** Whether an error came from the image store or the system's file calls. */
export function isStorageError(error: unknown): boolean {
  return error instanceof StoreError ||
    Object.values(Deno.errors).some((kind) => error instanceof kind) ||
    OF_THE_SYSTEM.test(String(error));
}

/** What the operator is told of a store's error. */
export function storeFailureOf(error: unknown): StoreFailure {
  const full = error instanceof StoreError
    ? error.kind === "full"
    : NO_ROOM.test(String(error));
  return { full, cause: String(error).slice(0, 500) };
}
