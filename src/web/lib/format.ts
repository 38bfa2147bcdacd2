/** Numbers, amounts and lists as people read them. */
import { noun } from "../../lib/plural.ts";

const NUMBER = new Intl.NumberFormat("en");

/** A number with grouped thousands. */
export function count(value: number): string {
  return NUMBER.format(value);
}

/** `1 product`, `2 products`. */
export function plural(value: number, one: string, many?: string): string {
  return `${count(value)} ${noun(value, one, many)}`;
}

/** A size in readable units. */
export function bytes(size: number): string {
  if (size < 1_000) return plural(size, "byte");
  if (size < 1_000_000) return `${(size / 1_000).toFixed(1)} kB`;
  return `${(size / 1_000_000).toFixed(1)} MB`;
}

/** A duration in readable units. */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** Joins the sentences that apply; those that do not are false. */
export function sentences(...all: readonly (string | false)[]): string {
  return all.filter(Boolean).join(" ");
}

/** A name with some of its numbers: `rows 2, 5 and 8 more`. */
export function listed(name: string, numbers: readonly number[]): string {
  const shown = numbers.slice(0, 3).join(", ");
  const more = numbers.length > 3 ? ` and ${numbers.length - 3} more` : "";
  return `${name}${numbers.length === 1 ? "" : "s"} ${shown}${more}`;
}
