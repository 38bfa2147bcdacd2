import type { Param } from "./db.ts";

/**
 * Conditions with their values; a condition with several placeholders has a
 * list of values.
 */
export type Conditions = Readonly<
  Record<string, Param | readonly Param[] | undefined>
>;

/**
 * The WHERE clause of the conditions whose value is neither null nor undefined,
 * and the values.
 */
export function where(
  conditions: Conditions,
): { where: string; params: Param[] } {
  const given = Object.entries(conditions)
    .filter((each): each is [string, Param | Param[]] =>
      (each[1] ?? null) !== null
    );
  const text = given.map(([condition]) => condition).join(" AND ");
  const params = given.flatMap(([, value]) => value);
  return { where: text === "" ? "" : `WHERE ${text}`, params };
}
