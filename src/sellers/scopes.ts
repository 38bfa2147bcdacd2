/** The scopes of sellers' keys. */

/**
 * `read` allows every GET; each other scope allows reading and changing what it
 * is named after.
 */
export const SCOPES = ["read", "products", "webhooks", "keys"] as const;
export type Scope = typeof SCOPES[number];

/** What a route needs: a scope, or any key of a seller. */
export type NeededScope = Scope | "any";

/** The scopes of which a key needs at least one. */
export function scopesOf(
  scope: NeededScope,
  method: string,
): readonly Scope[] {
  if (scope === "any") return SCOPES;
  const reads = method === "GET" || method === "HEAD";
  return reads && scope !== "read" ? ["read", scope] : [scope];
}
