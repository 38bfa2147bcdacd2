/** Distinguishes errors of the image store from all others. */
import type { StoreFailure } from "../image.ts";
import { StoreError } from "../../lib/store_error.ts";

/** ENOSPC and EDQUOT of Linux and macOS. */
const NO_ROOM = /\(os error (?:28|69|122)\)/;
/** The mark in the message of a system error for which Deno has no class. */
const SYSTEM_ERROR = /\(os error \d+\)/;

/** Whether an error comes from the image store or a system call on files. */
export function isStorageError(error: unknown): boolean {
  return error instanceof StoreError ||
    Object.values(Deno.errors).some((kind) => error instanceof kind) ||
    SYSTEM_ERROR.test(String(error));
}

/** Describes a store's error for the operator. */
export function storeFailureOf(error: unknown): StoreFailure {
  const full = error instanceof StoreError
    ? error.kind === "full"
    : NO_ROOM.test(String(error));
  return { full, cause: String(error).slice(0, 500) };
}
