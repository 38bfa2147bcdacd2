import type { Param } from "./db.ts";

/**
 * A WHERE of the conditions whose value is neither null nor undefined, and these
 * values; a condition with several has a list.
 */
export function where(
  conditions: Readonly<Record<string, Param | readonly Param[] | undefined>>,
): { where: string; params: Param[] } {
  const given = Object.entries(conditions)
    .filter((each): each is [string, Param | Param[]] =>
      (each[1] ?? null) !== null
    );
  const text = given.map(([condition]) => condition).join(" AND ");
  const params = given.flatMap(([, value]) => value);
  return { where: text === "" ? "" : `WHERE ${text}`, params };
}
