/** Keys of sellers and operators. Only the SHA-256 of a key is stored. */
import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import type { Deps } from "../deps.ts";

/** Characters of a key that lists show; too few to guess the rest. */
const PREFIX_LENGTH = 8;

/** Creates a key: a prefix for its kind, such as `sk_`, and 32 random bytes. */
export function newKey(ids: Pick<Deps["ids"], "random">, kind: string): string {
  return kind + Buffer.from(ids.random(32)).toString("base64url");
}

/** The first characters of a key, to distinguish it from others. */
export function keyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH);
}

/** What is stored of a key: its SHA-256 in hexadecimal. */
export function keyHash(key: string): string {
  return createHash("sha256").update(key, "utf8").digest("hex");
}

/** Compares two hashes in constant time. */
export function sameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, "hex"), Buffer.from(b, "hex"));
}
