/** Cells copied between the page and a spreadsheet program. */
import { assertEquals } from "@std/assert";
import {
  clipboardTextOf,
  parseClipboardCells,
} from "../../../src/web/lib/clipboard.ts";
import { Random } from "../../support/random.ts";

const CASES: readonly (readonly [string, readonly (readonly string[])[]])[] = [
  ["a", [["a"]]],
  ["", [[""]]],
  ["a\tb\r\nc\td\r\n", [["a", "b"], ["c", "d"]]],
  ["a\tb\nc", [["a", "b"], ["c"]]],
  ["\t\n", [["", ""]]],
  ["a\n\nb\n", [["a"], [""], ["b"]]],
  ['"two\nlines"\tb', [["two\nlines", "b"]]],
  ['"a ""b""\n"\n', [['a "b"\n']]],
  // No program puts such a cell into quotation marks.
  ['"Mug"\t5" tube', [['"Mug"', '5" tube']]],
  ['"open\tb', [['"open', "b"]]],
];

for (const [text, expected] of CASES) {
  Deno.test(`the cells of ${JSON.stringify(text)}`, () => {
    assertEquals(parseClipboardCells(text), expected);
  });
}

Deno.test("copied cells are pasted unchanged", () => {
  const random = new Random(7);
  const characters = ["a", '"', "\t", "\n", "\r\n", " ", "5"];
  for (let round = 0; round < 2_000; round++) {
    const columns = 1 + random.below(3);
    const rows = Array.from(
      { length: 1 + random.below(3) },
      () =>
        Array.from({ length: columns }, () =>
          Array.from(
            { length: random.below(4) },
            () => characters[random.below(characters.length)],
          ).join("")),
    );
    // An empty last row is the line end of the row before.
    if (rows.at(-1)!.join("\t") === "") continue;
    assertEquals(parseClipboardCells(clipboardTextOf(rows)), rows);
  }
});
