/** The scopes of sellers' keys. */

/**
 * `read` allows every GET. Each other scope allows reading and changing the
 * resources that it is named after.
 */
export const SCOPES = ["read", "products", "webhooks", "keys"] as const;
export type Scope = typeof SCOPES[number];

/** The scope that a route needs; `any`: every key of a seller is accepted. */
export type NeededScope = Scope | "any";

/** The scopes that allow a request. A key needs at least one of them. */
export function scopesOf(
  scope: NeededScope,
  method: string,
): readonly Scope[] {
  if (scope === "any") return SCOPES;
  const reads = method === "GET" || method === "HEAD";
  return reads && scope !== "read" ? ["read", scope] : [scope];
}
