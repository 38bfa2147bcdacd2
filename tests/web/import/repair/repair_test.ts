/** The corrections that the page offers for a cell with a problem. */
import { countKnownNames } from "../../../../src/web/import/columns/headers.ts";
import { assertEquals } from "@std/assert";
import {
  cellProblem,
  remediesOf,
} from "../../../../src/web/import/repair/repair.ts";
import { readTable } from "../../../../src/web/import/read/csv.ts";
import { mappingFor } from "../../../../src/web/import/columns/spreadsheet.ts";
import { finish } from "../../../support/work.ts";

function offeredFor(header: string, value: string): string[] {
  const table = finish(
    readTable(`SKU;${header}\nA-1;${value}\n`, countKnownNames),
  );
  const sheet = { name: "", table, mapping: mappingFor(table), book: null };
  const problem = { code: "not_a_number", message: "" } as const;
  const flaw = { problem, row: 0, column: 1 };
  return remediesOf(sheet, flaw).map(({ text }) => text);
}

Deno.test("a number is offered by itself if the rest of the cell means nothing", () => {
  assertEquals(offeredFor("Quantity", "10 pcs."), ["10"]);
  assertEquals(offeredFor("Price", "12,90 / "), ["12.90"]);
  assertEquals(offeredFor("Quantity", "10 Stück"), ["10"]);
  for (const stock of ["-3", "\u22123", "> 10", "2 x 5", "1O", "5. Jan"]) {
    assertEquals(offeredFor("Quantity", stock), [], stock);
  }
  for (const price of ["19,90 CHF", "$ 19,90", "from 19,90", "12. Sep"]) {
    assertEquals(offeredFor("Price", price), [], price);
  }
});

Deno.test("a share of 1 as VAT rate is offered in percent", () => {
  assertEquals(offeredFor("MwSt", "0,19"), ["19"]);
  assertEquals(offeredFor("MwSt", "0,055"), ["5.5"]);
});

Deno.test("problems of a weight are reported in the unit of its column", () => {
  const problemOf = (header: string, value: string) => {
    const table = finish(
      readTable(`SKU;${header}\nA-1;${value}\n`, countKnownNames),
    );
    const sheet = { name: "", table, mapping: mappingFor(table), book: null };
    return cellProblem(sheet, 0, 1);
  };
  const inKilograms = (text: string) =>
    `Weight is "${text}" in kg; it must be from 0.001 to 1000 kg, in whole grams.`;
  for (const text of ["0,0004", "0,2855", "5000"]) {
    assertEquals(problemOf("Gewicht (kg)", text), inKilograms(text));
  }
  assertEquals(problemOf("Gewicht (kg)", "0,285"), null);
  assertEquals(
    problemOf("Weight (g)", "1,5"),
    'Weight is "1.5 g"; it must be a whole number from 1 to 1000000.',
  );
});
