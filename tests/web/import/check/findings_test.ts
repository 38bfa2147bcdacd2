/** The page's findings about a table, and the effect of answers. */
import { assert, assertEquals } from "@std/assert";
import type { Finding } from "../../../../src/web/import/check/finding.ts";
import {
  findingsIn,
  type FindingSource,
} from "../../../../src/web/import/check/findings.ts";
import { countKnownNames } from "../../../../src/web/import/columns/headers.ts";
import { NOTHING_CHOSEN } from "../../../../src/web/import/columns/mappings.ts";
import { mappingFor } from "../../../../src/web/import/columns/spreadsheet.ts";
import { readTable } from "../../../../src/web/import/read/csv.ts";
import { finish } from "../../../support/work.ts";

function sourceOf(csv: string): FindingSource {
  const table = finish(readTable(csv, countKnownNames));
  const mapping = mappingFor(table);
  return {
    table,
    mapping,
    chosen: NOTHING_CHOSEN,
    questions: [],
    note: table.note,
    answered: new Set(),
  };
}

const beginning = (severity: Finding["severity"], text: string) =>
  [severity, text] as const;

/** Tables, and how a finding of each begins. */
const CASES: readonly (readonly [
  string,
  readonly (readonly [Finding["severity"], string])[],
])[] = [
  ["SKU;Title;Price (SEK);Stock\nA;Mug;5;1\n", [
    beginning("good", "Every field that a new product needs has a column."),
  ]],
  ["SKU;Title\nA;Mug\n", [
    beginning("warning", "No column holds: Price"),
  ]],
  ["SKU;Title;Price\nA;Mug;5\n", [
    beginning("blocks", "Every price needs its currency"),
  ]],
  ["Title;Price (SEK);What\nMug;5;A\n", [
    beginning("blocks", "Choose the column with the SKU."),
    beginning("note", "1 of 3 columns left out"),
  ]],
  ["SKU;Title;Price (SEK)\nA;Mug;5;6\n", [
    beginning("blocks", "Row 2 has more values than there are columns."),
  ]],
  ["SKU;Title;Price (SEK)\nA;Mug;1.299\n", [
    beginning("blocks", "Price (SEK): Does 1.299 mean 1299, or 1.299?"),
  ]],
  ["SKU;Title;Price (SEK)\nA;Mug;5\n;Bowl;6\n", [
    beginning("warning", "1 row has no SKU"),
  ]],
  ["SKU;Title;Price (SEK);EAN\nA;Mug;5;7,3123E+12\n", [
    beginning("warning", "A spreadsheet program has rounded long numbers"),
  ]],
];

for (const [csv, expected] of CASES) {
  Deno.test(`the findings of ${JSON.stringify(csv)}`, () => {
    const findings = finish(findingsIn(sourceOf(csv)));
    for (const [severity, text] of expected) {
      const found = findings.find((one) =>
        one.text.toLowerCase().startsWith(text.toLowerCase())
      );
      assertEquals(
        found?.severity,
        severity,
        findings.map(({ text }) => text).join("\n"),
      );
    }
  });
}

Deno.test("an answer changes only its question's values, and not the original table", () => {
  const source = sourceOf(
    "SKU;Title;Price (SEK);Stock\nA;Mug;5;-\n;Bowl;6;2\nSum;;11;2\n",
  );
  const before = structuredClone(source.table);
  const findings = finish(findingsIn(source));
  const answers = findings.flatMap(({ answers }) => answers);
  assert(answers.length > 3, findings.map(({ text }) => text).join("\n"));
  for (const { label, apply } of answers) {
    const next = apply(source)!;
    assertEquals(source.table, before, label);
    assertEquals(next.mapping.targets.length, next.table.header.length, label);
  }
  const use = answers.find(({ label }) => label === "Use this SKU")!;
  assertEquals(use.apply(source)!.table.rows[1][0], "BOWL");
  const dash = answers.find(({ label }) => label === "Yes: 0")!;
  assertEquals(dash.apply(source)!.table.rows[0][3], "0");
});

Deno.test("a question stays until it has an answer, whatever the mapping", () => {
  const source = sourceOf("SKU;Title;Price (SEK)\nA;Mug;1.299\n");
  const [question] = finish(findingsIn(source))
    .filter(({ isQuestion }) => isQuestion);
  const { table, mapping } = question.answers[1].apply(source)!;
  const answered = new Set([question.text]);
  const next = finish(findingsIn({ ...source, table, mapping, answered }));
  assertEquals(next.filter(({ severity }) => severity === "blocks"), []);
});
