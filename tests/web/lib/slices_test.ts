/** Work on a long table occupies the page only for a moment at a time. */
import { linesWithProblems } from "../../../src/web/lib/markup.ts";
import { countKnownNames } from "../../../src/web/import/columns/headers.ts";
import { assert, assertEquals } from "@std/assert";
import { csvOf, readTable } from "../../../src/web/import/read/csv.ts";
import { runInSlices, type SlicedWork } from "../../../src/web/lib/slices.ts";
import {
  makeDocument,
  mappingFor,
} from "../../../src/web/import/columns/spreadsheet.ts";
import { checkRows } from "../../../src/web/import/check/table_checks.ts";
import { Random } from "../../support/random.ts";

const ROWS = 10_000;

/** The result of the work, and how often it may pause. */
function counted<T>(work: SlicedWork<T>): { value: T; pauses: number } {
  for (let pauses = 0;; pauses++) {
    const { done, value } = work.next();
    if (done) return { value, pauses };
  }
}

Deno.test("a slice ends at the first pause after its time, and the page rests", async () => {
  let time = 0;
  const events: string[] = [];
  function* work(): SlicedWork<string> {
    for (const ms of [5, 10, 15, 1, 50, 3]) {
      time += ms;
      events.push(`${ms}`);
      yield;
    }
    return "done";
  }
  const rest = () => {
    events.push("rest");
    return Promise.resolve();
  };
  const { signal } = new AbortController();
  const done = await runInSlices(work(), signal, { now: () => time, rest });
  assertEquals(done, "done");
  assertEquals(events.join(" "), "5 10 15 rest 1 50 rest 3");
});

Deno.test("cancelled work ends at its next pause", async () => {
  const left = new AbortController();
  let steps = 0;
  function* work(): SlicedWork<string> {
    for (; steps < 100; steps++) yield;
    return "done";
  }
  let time = 0;
  const now = () => time += 10;
  const rest = () => {
    if (steps > 5) left.abort();
    return Promise.resolve();
  };
  assertEquals(await runInSlices(work(), left.signal, { now, rest }), null);
  assert(steps < 10, `${steps}`);
  assertEquals(await runInSlices(work(), left.signal, { now, rest }), null);
  assert(steps < 10, "not even begun");
});

Deno.test("a long table is read, checked and converted to a document with many pauses", () => {
  const lines = Array.from(
    { length: ROWS },
    (_, n) => `A-${n};"Mug ""${n}""";5`,
  );
  const text = ["sku;title;quantity", ...lines].join("\n");
  const { value: table, pauses } = counted(readTable(text, countKnownNames));
  assertEquals(table.rows.length, ROWS);
  assert(pauses >= ROWS / 250, `${pauses} pauses of the reader`);
  const mapping = mappingFor(table);
  const checks = counted(checkRows(table, mapping));
  assertEquals(checks.value.rounded, null);
  assert(checks.pauses >= ROWS / 1_000, `${checks.pauses} of the checks`);
  const rows = [...table.rows.keys()];
  const document = counted(makeDocument(table, mapping, rows));
  assert(document.pauses >= ROWS / 250, `${document.pauses} of the document`);
});

Deno.test("problems of a long document are found with many pauses", () => {
  const products = Array.from(
    { length: ROWS },
    (_, n) => `<product><sku>A-${n}</sku>\n<price>x</price></product>`,
  );
  const text = `<products>\n${products.join("\n")}\n</products>`;
  const problems = [1, ROWS].map((product) => ({
    product,
    field: "price",
    code: "not_a_number" as const,
    message: "",
  }));
  const { value: lines, pauses } = counted(linesWithProblems(text, problems));
  assertEquals([...lines], [3, 2 * ROWS + 1]);
  assert(pauses >= ROWS * 6 / 250, `${pauses} pauses`);
});

Deno.test("the result of a read does not depend on where the reader pauses", () => {
  const random = new Random(1);
  const pick = <T>(values: readonly T[]) => values[random.below(values.length)];
  const TEXTS = ["a", "", "a;b", 'say "hi"', "two\nlines", "x, y", "\r\n;"];
  for (let round = 0; round < 20; round++) {
    const length = pick([1, 249, 250, 251, 499, 500, 501, 1_300]);
    const rows = Array.from(
      { length },
      (_, n) => [`S-${n}`, pick(TEXTS), pick(TEXTS)],
    );
    const text = csvOf([["sku", "one", "two"], ...rows]);
    const { value: table } = counted(readTable(text, countKnownNames));
    assertEquals(table.flaw, null);
    const trimmed = rows.map((row) => row.map((value) => value.trim()));
    assertEquals(table.rows, trimmed);
    assertEquals(table.numbers, rows.map((_, n) => n + 2));
  }
});

Deno.test("a flaw far down is reported with its row", () => {
  const lines = Array.from({ length: 700 }, (_, n) => `A-${n};Mug`);
  const flawOf = (line: string) => {
    const text = ["sku;title", ...lines, line, ...lines].join("\n");
    return counted(readTable(text, countKnownNames)).value.flaw ?? "";
  };
  assertEquals(flawOf("A;B"), "");
  assert(flawOf("A;B;C").startsWith("Row 702 has more values"));
  assert(flawOf('"B" C').startsWith("A quotation mark in row 702 is not"));
});
