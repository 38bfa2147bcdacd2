/** Reads the start and end times of sales from cells and inputs. */
import { DAY_MS } from "../../lib/durations.ts";
import { parseTime } from "../../lib/values.ts";

const DATE = /^\d{4}-\d\d-\d\d$/;
/** A date that a spreadsheet program or a database writes with a time. */
const MIDNIGHT = /^(\d{4}-\d\d-\d\d)[T ]00:00(?::00(?:\.0+)?)?$/;
const DAY_FIRST = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?: 00:00(?::00)?)?$/;
const WITHOUT_ZONE = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)$/;
/** The time zone of a time in Google's feeds: `2026-12-01T08:00-0800`. */
const ZONE_OF_DIGITS = /([+-]\d\d)(\d\d)$/;
/** Two dates or times in one cell. */
const PERIOD = /^(\d{4}-[^/]+)\/(\d{4}-[^/]+)$/;

/**
 * Converts a time to the format of the interface; an unclear text stays
 * unchanged. A time without a time zone is in the browser's time zone.
 */
export function normaliseSaleTime(text: string): string {
  const [, date] = MIDNIGHT.exec(text) ?? [];
  if (date !== undefined) return date;
  const [, day, month, year] = DAY_FIRST.exec(text) ?? [];
  if (year !== undefined) {
    return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
  }
  const [, on, at] = WITHOUT_ZONE.exec(text) ?? [];
  if (on === undefined) return text.replace(ZONE_OF_DIGITS, "$1:$2");
  const time = new Date(`${on}T${at}`);
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}

/**
 * The start and end time in a cell such as `2026-12-01/2026-12-24`; null for
 * other texts.
 */
export function salePeriodIn(
  text: string,
): [from: string, until: string] | null {
  const [, from, until] = PERIOD.exec(text) ?? [];
  return from === undefined
    ? null
    : [normaliseSaleTime(from), normaliseSaleTime(until)];
}

/** The time of an `<input type="datetime-local">`; undefined if it is empty. */
export function isoTimeOfInput(text: string): string | undefined {
  return text === "" ? undefined : new Date(text).toISOString();
}

/** When a sale ends, in Unix milliseconds; null for an unclear text. */
export function saleEndOf(until: string): number | null {
  const time = parseTime(until);
  return time !== null && DATE.test(until) ? time + DAY_MS - 1 : time;
}
