/**
 * Warnings of an upload: the values that a category rule will refuse from a
 * date on. The products are stored.
 */
import { type Detail, DETAIL_LIMIT } from "../lib/errors.ts";

export interface Warning extends Detail {
  /** The date from which the value is refused: YYYY-MM-DD, from 00:00 UTC. */
  from: string;
}

/** The warnings that are kept; the others are only counted. */
export interface Warnings {
  list: readonly Warning[];
  more: number;
}

export const NO_WARNINGS: Warnings = { list: [], more: 0 };

/** The first `room` warnings. */
export function firstWarnings(
  warnings: readonly Warning[],
  room = DETAIL_LIMIT,
): Warnings {
  const list = warnings.slice(0, Math.max(0, room));
  return { list, more: warnings.length - list.length };
}

/** The text in the column; null if there are no warnings. */
export function packWarnings({ list, more }: Warnings): string | null {
  return list.length + more === 0 ? null : JSON.stringify({ list, more });
}

export function unpackWarnings(packed: string | null | undefined): Warnings {
  return packed ? JSON.parse(packed) : NO_WARNINGS;
}
