import { assert, assertEquals } from "@std/assert";
import { readPrice } from "../../src/lib/values.ts";

/** The suggested meaning of a price that is refused; null if there is none. */
function meant(text: string): string | null {
  const read = readPrice(text);
  assert("problem" in read, text);
  return /write "(.*?)":/.exec(read.problem.message)?.[1] ?? null;
}

Deno.test("a price in a national format is refused with the format to write", () => {
  const prices: [string, string | null][] = [
    ["12,50", "12.50"],
    ["12,5", "12.5"],
    ["1.299,00", "1299.00"],
    ["1,299.00", "1299.00"],
    ["1 299,50 kr", "1299.50"],
    ["1\u00a0299,50", "1299.50"],
    ["1'299.50", "1299.50"],
    ["1,299,000", "1299000"],
    ["1,299,000.50", "1299000.50"],
    ["199 SEK", "199"],
    ["€12.00", "12.00"],
    ["+5", "5"],
    // Its meaning depends on the country.
    ["1,299", null],
    ["1.299 kr", null],
    ["-5", null],
    ["12.50-", null],
    ["1,2,3", null],
    [".5", null],
    ["5e3", null],
    ["1/2", null],
    ["free", null],
    ["12,90 Euro", "12.90"],
    ["US$ 12.90", "12.90"],
    // Without the other text, it would be another number.
    ["12,", null],
    ["12,9O", null],
    ["12. Sep", null],
    ["Nov 78", null],
    ["1290 ct", null],
  ];
  for (const [text, expected] of prices) {
    assertEquals([text, meant(text)], [text, expected]);
  }
});

Deno.test("the message for a price turned into a date by a spreadsheet says so", () => {
  for (const date of ["12. Sep", "Nov 78", "12-Sep", "12.09.2026"]) {
    const read = readPrice(date);
    assert("problem" in read, date);
    assertEquals(
      read.problem.message,
      `is "${date}", a date that a spreadsheet program made; it must be a ` +
        'decimal above 0 with a point, as in "199.00".',
    );
  }
});
