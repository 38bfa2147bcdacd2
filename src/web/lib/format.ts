/** Formats numbers, sizes, durations and lists for people. */
import { noun } from "../../lib/plural.ts";

const NUMBER = new Intl.NumberFormat("en");

/** A number with grouped thousands. */
export function formatCount(value: number): string {
  return NUMBER.format(value);
}

/** `1 product`, `2 products`. */
export function plural(value: number, one: string, many?: string): string {
  return `${formatCount(value)} ${noun(value, one, many)}`;
}

/** A size in readable units. */
export function formatBytes(size: number): string {
  if (size < 1_000) return plural(size, "byte");
  if (size < 1_000_000) return `${(size / 1_000).toFixed(1)} kB`;
  return `${(size / 1_000_000).toFixed(1)} MB`;
}

/** A duration in readable units. */
export function formatDuration(seconds: number): string {
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** Joins sentences; a sentence that does not apply is false. */
export function joinSentences(...all: readonly (string | false)[]): string {
  return all.filter(Boolean).join(" ");
}

/** A name with its first numbers: `rows 2, 5, 6 and 8 more`. */
export function nameWithNumbers(
  name: string,
  numbers: readonly number[],
): string {
  const shown = numbers.slice(0, 3).join(", ");
  const more = numbers.length > 3 ? ` and ${numbers.length - 3} more` : "";
  return `${name}${numbers.length === 1 ? "" : "s"} ${shown}${more}`;
}
