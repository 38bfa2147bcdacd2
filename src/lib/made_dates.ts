/**
 * Recognizes dates into which spreadsheet programs turn numbers such as 12.9
 * and 11.78.
 */

const DATE =
  /^\d{1,2}[./]\d{1,2}[./]\d{2,4}$|^\d{4}-\d\d-\d\d(?:[T ][\d:]{5,8})?$/;
/** Short names of months in the languages of the page. */
const MONTHS = new Set(
  ("jan feb mar apr may jun jul aug sep oct nov dec mär mrz mai okt dez maj " +
    "janv févr mars avr juin juil août sept déc ene abr ago dic sty lut kwi " +
    "cze lip sie wrz paź lis gru mrt mei").split(" "),
);

/**
 * Whether a text may be a number that a spreadsheet program has turned into a
 * date, for example `12. Sep`, `Nov 78` or `12.09.2026`.
 */
export function isMadeDate(text: string): boolean {
  const [one = "", other = ""] = text.toLowerCase().split(/[.\s-]+/)
    .filter(Boolean);
  const isDay = (part: string) => /^\d{1,2}$/.test(part);
  return DATE.test(text) || isDay(one) && MONTHS.has(other) ||
    MONTHS.has(one) && isDay(other);
}
