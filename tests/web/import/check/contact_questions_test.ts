/** Columns of tables that may name contacts. */
import { assertEquals } from "@std/assert";
import { contactQuestions } from "../../../../src/web/import/check/contact_questions.ts";
import type { TableAndMapping } from "../../../../src/web/import/check/finding.ts";
import { countKnownNames } from "../../../../src/web/import/columns/headers.ts";
import { mappingFor } from "../../../../src/web/import/columns/spreadsheet.ts";
import { readTable } from "../../../../src/web/import/read/csv.ts";
import { finish } from "../../../support/work.ts";

const NOTHING = { targets: {}, units: {}, values: {} };

function mapped(maker: string, values = ["Acme", "Other"]) {
  const rows = values.map((value, n) => `A${n},Mug,5,SEK,1,${value}`);
  const text = ["SKU,Title,Price,Currency,Quantity," + maker, ...rows].join(
    "\n",
  );
  const table = finish(readTable(text, countKnownNames));
  return { table, mapping: mappingFor(table) };
}

const ask = (of: TableAndMapping, names: readonly string[]) =>
  contactQuestions(of, NOTHING as never, names);

Deno.test("a column of makers is the brand, in each language", () => {
  for (
    const name of [
      "Manufacturer",
      "manufacturer",
      "Hersteller",
      "Tillverkare",
      "Fabricant",
      "Fabricante",
      "Producent",
      "Fabrikant",
      "Manufacturer name",
    ]
  ) {
    const { mapping } = mapped(name);
    assertEquals(mapping.targets.at(-1), "brand", name);
  }
});

Deno.test("a column of makers that names a contact is asked about", () => {
  const table = mapped("Hersteller");
  assertEquals(ask(table, []), []);
  assertEquals(ask(table, ["kockums"]), []);
  const [asked, ...others] = ask(table, ["Other"]);
  assertEquals(others, []);
  assertEquals(
    asked.text,
    "Hersteller: is “Other” the brand, or your contact of this name?",
  );
  const [brand, contact] = asked.answers;
  assertEquals(brand.apply(table)!.mapping.targets.at(-1), "brand");
  const after = contact.apply(table)!;
  assertEquals(after.mapping.targets.at(-1), "manufacturer");
  assertEquals(ask(after, ["Other"]), []);
  // The brand's own column does not name contacts.
  assertEquals(ask(mapped("Brand"), ["Acme"]), []);
});

Deno.test("a column of contacts without any contact is asked about", () => {
  for (const name of ["Responsible person", "Verantwortliche Person"]) {
    const table = mapped(name, ["Acme GmbH", "Weg 1"]);
    assertEquals(table.mapping.targets.at(-1), "responsible_person", name);
    const [asked] = ask(table, ["kockums"]);
    assertEquals(
      asked.text,
      `${name}: “Acme GmbH” is none of your contacts. Is the column the ` +
        "Responsible person?",
    );
    const [leave] = asked.answers;
    assertEquals(leave.apply(table)!.mapping.targets.at(-1), "");
    assertEquals(ask(table, ["Acme GmbH"]), []);
  }
});
