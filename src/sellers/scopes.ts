/** What keys of sellers open. */

/**
 * `read` opens every GET; each other one opens what it names, to read and to
 * change.
 */
export const SCOPES = ["read", "products", "webhooks", "keys"] as const;
export type Scope = typeof SCOPES[number];

/** Scopes of which a key needs one. */
export function scopesOf(scope: Scope, method: string): readonly Scope[] {
  const reads = method === "GET" || method === "HEAD";
  return reads && scope !== "read" ? ["read", scope] : [scope];
}
