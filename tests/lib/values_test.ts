import { assertEquals } from "@std/assert";
import {
  codePoints,
  compareDecimals,
  fits,
  gtinCheckDigit,
  lineReader,
  parseTime,
  readCurrency,
  readDate,
  readGtin,
  readPrice,
  type ReadResult,
  readSku,
  readVatRate,
} from "../../src/lib/values.ts";

function outcome<T>(read: ReadResult<T>): T | string {
  return "value" in read ? read.value : read.problem.code;
}

function table<T>(
  name: string,
  read: (text: string) => ReadResult<T>,
  rows: readonly (readonly [string, T | string])[],
): void {
  Deno.test(name, () => {
    for (const [text, expected] of rows) {
      assertEquals(outcome(read(text)), expected, `${name}: ${text}`);
    }
  });
}

table("readPrice() keeps decimals exact in one spelling", readPrice, [
  ["199", "199"],
  ["199.00", "199"],
  ["199.10", "199.1"],
  ["0.0001", "0.0001"],
  ["007.50", "7.5"],
  ["9999999999.9999", "9999999999.9999"],
  ["10000000000", "out_of_range"],
  ["1.00001", "out_of_range"],
  ["0", "out_of_range"],
  ["0.0000", "out_of_range"],
  ["-1", "out_of_range"],
  ["-0.5", "out_of_range"],
  ["-1,99", "not_a_number"],
  ["+1", "not_a_number"],
  ["1,99", "not_a_number"],
  ["1 000", "not_a_number"],
  [".5", "not_a_number"],
  ["5.", "not_a_number"],
  ["1e3", "not_a_number"],
  ["Infinity", "not_a_number"],
  ["٣", "not_a_number"],
]);

table("readVatRate() takes 0 to 100 with two decimals", readVatRate, [
  ["0", "0"],
  ["25", "25"],
  ["12.50", "12.5"],
  ["100.00", "100"],
  ["100.01", "out_of_range"],
  ["101", "out_of_range"],
  ["5.555", "out_of_range"],
  ["-1", "out_of_range"],
]);

table("readGtin() verifies length and check digit", readGtin, [
  ["4006381333931", "4006381333931"],
  ["4006381333932", "bad_check_digit"],
  ["96385074", "96385074"],
  ["036000291452", "036000291452"],
  ["10012345678902", "10012345678902"],
  ["123", "out_of_range"],
  ["12345678901", "out_of_range"],
  ["400638133393X", "not_a_number"],
]);

table("readDate() takes dates that exist", readDate, [
  ["2026-12-01", "2026-12-01"],
  ["2024-02-29", "2024-02-29"],
  ["2023-02-29", "not_a_date"],
  ["2000-02-29", "2000-02-29"],
  ["1900-02-29", "not_a_date"],
  ["0004-02-29", "0004-02-29"],
  ["2026-13-01", "not_a_date"],
  ["2026-00-10", "not_a_date"],
  ["2026-04-31", "not_a_date"],
  ["0000-01-01", "not_a_date"],
  ["01.12.2026", "not_a_date"],
  ["2026-12-01T00:00:00Z", "not_a_date"],
]);

Deno.test("parseTime() accepts only existing dates and times with a zone", () => {
  const day = Date.UTC(2026, 1, 28);
  const rows: [string, number | null][] = [
    ["2026-02-28", day],
    ["2026-02-28T01:02Z", day + 62 * 60_000],
    ["2026-02-28T01:02:03.5+01:00", day + 2 * 60_000 + 3_500],
    ["2026-02-29", null],
    ["2026-02-29T01:02Z", null],
    ["2026-02-28T25:00Z", null],
    ["2026-02-28T01:02", null],
    ["2026-02-28T01:02 01:00", null],
    ["28 Feb 2026", null],
  ];
  for (const [text, time] of rows) assertEquals(parseTime(text), time, text);
});

table("readCurrency() takes ISO 4217 codes in capitals", readCurrency, [
  ["SEK", "SEK"],
  ["EUR", "EUR"],
  ["sek", "not_in_list"],
  ["XXX", "not_in_list"],
  ["DEM", "not_in_list"],
  ["", "not_in_list"],
]);

table("readSku() takes one line of 64, but no dot segment", readSku, [
  ["A-1", "A-1"],
  ["a/b c%2F", "a/b c%2F"],
  ["__proto__", "__proto__"],
  [".", "not_allowed"],
  ["..", "not_allowed"],
  ["...", "..."],
  ["x".repeat(64), "x".repeat(64)],
  ["x".repeat(65), "too_long"],
  ["😀".repeat(64), "😀".repeat(64)],
  ["😀".repeat(65), "too_long"],
  ["a\nb", "not_one_line"],
  ["a\tb", "not_one_line"],
  ["a\u0085b", "not_one_line"],
  ["a\uffffb", "not_one_line"],
]);

Deno.test("lineReader() names a character that one line cannot have", () => {
  const read = lineReader(10)("a\u0007b");
  assertEquals(
    "problem" in read && read.problem.message.includes("U+0007"),
    true,
  );
});

Deno.test("codePoints() and fits() count code points", () => {
  for (
    const text of ["", "a", "😀", "a😀b", "\ud83d", "\ude00\ud83d", "e\u0301"]
  ) {
    assertEquals(codePoints(text), [...text].length, JSON.stringify(text));
    for (let max = 0; max < 6; max++) {
      assertEquals(fits(text, max), [...text].length <= max);
    }
  }
});

Deno.test("compareDecimals() compares as numbers do, but exactly", () => {
  const ordered = [
    "0",
    "0.0001",
    "0.001",
    "0.1",
    "0.11",
    "1",
    "1.5",
    "2",
    "10",
    "9999999999.9998",
    "9999999999.9999",
  ];
  ordered.forEach((a, i) =>
    ordered.forEach((b, j) =>
      assertEquals(
        Math.sign(compareDecimals(a, b)),
        Math.sign(i - j),
        `${a} ${b}`,
      )
    )
  );
});

Deno.test("gtinCheckDigit() catches every single wrong digit", () => {
  const digits = "400638133393";
  const check = gtinCheckDigit(digits);
  for (let at = 0; at < digits.length; at++) {
    for (let other = 0; other < 10; other++) {
      if (String(other) === digits[at]) continue;
      const wrong = digits.slice(0, at) + other + digits.slice(at + 1);
      assertEquals(gtinCheckDigit(wrong) === check, false, wrong);
    }
  }
});
