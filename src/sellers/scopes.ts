/** What keys of sellers open. */

/**
 * `read` opens every GET; each other one opens what it names, to read and to
 * change.
 */
export const SCOPES = ["read", "products", "webhooks", "keys"] as const;
export type Scope = typeof SCOPES[number];

/** What a route asks of a key: a scope, or only that it is a seller's. */
export type NeededScope = Scope | "any";

/** Scopes of which a key needs one. */
export function scopesOf(
  scope: NeededScope,
  method: string,
): readonly Scope[] {
  if (scope === "any") return SCOPES;
  const reads = method === "GET" || method === "HEAD";
  return reads && scope !== "read" ? ["read", scope] : [scope];
}
