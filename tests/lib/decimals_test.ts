import { assert, assertEquals } from "@std/assert";
import { readPrice } from "../../src/lib/values.ts";

/** What a price that is not read is said to mean; null where nothing is. */
function meant(text: string): string | null {
  const read = readPrice(text);
  assert("problem" in read, text);
  return /write "(.*?)":/.exec(read.problem.message)?.[1] ?? null;
}

Deno.test("a price in a national form is refused with the form to write", () => {
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
    // One thing here, another there.
    ["1,299", null],
    ["1.299 kr", null],
    ["-5", null],
    ["12.50-", null],
    ["1,2,3", null],
    [".5", null],
    ["5e3", null],
    ["1/2", null],
    ["free", null],
    ["12,", "12"],
  ];
  for (const [text, expected] of prices) {
    assertEquals([text, meant(text)], [text, expected]);
  }
});
