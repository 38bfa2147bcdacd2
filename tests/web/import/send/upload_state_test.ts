/** The states of a file on its way to the catalogue. */
import { assert, assertEquals } from "@std/assert";
import { withCellsChanged } from "../../../../src/web/import/columns/sheet.ts";
import {
  applyChange,
  type DocumentUpload,
  newUpload,
  NO_REFUSAL,
  type TableUpload,
  type UploadChange,
} from "../../../../src/web/import/send/upload_state.ts";
import { Random } from "../../../support/random.ts";

const ROWS = 4;
const COLUMNS = 3;

function tableUpload(): TableUpload {
  const rows = Array.from(
    { length: ROWS },
    (_, row) => Array.from({ length: COLUMNS }, (_, at) => `${row}${at}`),
  );
  return {
    ...newUpload("a.csv"),
    kind: "table",
    sheet: {
      name: "a.csv",
      table: {
        header: ["SKU", "Title", "Price"],
        rows,
        numbers: [2, 3, 4, 5],
        delimiter: ",",
        flaw: null,
      },
      mapping: {
        targets: ["sku", "title", "price"],
        numberFormats: rows[0].map(
          () => ({ decimalSeparator: "", unit: "" } as const),
        ),
        nameColumns: [-1, -1, -1],
        values: {},
        commas: false,
        isOwn: false,
      },
      book: null,
    },
    ownColumns: COLUMNS,
    rows: [...rows.keys()],
    changed: new Map(),
    steps: [],
  };
}

function documentUpload(): DocumentUpload {
  return {
    ...newUpload("a.xml"),
    kind: "document",
    size: 11,
    text: "<products/>",
    bytes: null,
    handle: null,
    changedAt: 0,
    isLaidOut: false,
  };
}

function edit(
  current: TableUpload,
  changes: { row: number; column: number; text: string }[],
): TableUpload {
  const { sheet } = current;
  return applyChange(current, {
    name: "cells edited",
    changes,
    inverse: changes.map(({ row, column }) => ({
      row,
      column,
      text: sheet.table.rows[row][column],
    })),
    sheet: withCellsChanged(sheet, changes),
    unconfirmed: [],
  }) as TableUpload;
}

function undo(current: TableUpload): TableUpload {
  const changes = current.steps.at(-1)!;
  return applyChange(current, {
    name: "cells edited",
    changes,
    inverse: null,
    sheet: withCellsChanged(current.sheet, changes),
    unconfirmed: [],
  }) as TableUpload;
}

Deno.test("every step of corrections can be undone, and the table is as before", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new Random(seed);
    const states = [tableUpload()];
    for (let step = 0; step < 6; step++) {
      const row = random.below(ROWS);
      const column = random.below(COLUMNS);
      const text = `${random.below(4)}`;
      states.push(edit(states.at(-1)!, [{ row, column, text }]));
    }
    let current = states.pop()!;
    while (states.length > 0) {
      current = undo(current);
      const before = states.pop()!;
      assertEquals(current.sheet, before.sheet);
      assertEquals(current.changed, before.changed);
      assertEquals(current.steps, before.steps);
    }
    assertEquals(current.changed.size, 0);
  }
});

Deno.test("a correction needs a check", () => {
  const table = tableUpload();
  const document = documentUpload();
  const corrected = [
    edit(table, [{ row: 0, column: 1, text: "Mug" }]),
    applyChange(document, { name: "text edited", text: "<a/>" }),
  ];
  for (const now of corrected) {
    assert(now.edited && now.corrected);
    const step = { name: "checking", percent: null } as const;
    const checked = applyChange(now, { name: "begun", step });
    assertEquals([checked.edited, checked.corrected], [false, true]);
  }
});

Deno.test("a row's confirmation is withdrawn when the row changes", () => {
  const confirmed = applyChange(tableUpload(), {
    name: "confirmed",
    skus: ["A", "B"],
  });
  const now = applyChange(confirmed, {
    name: "cells edited",
    changes: [],
    inverse: [],
    sheet: tableUpload().sheet,
    unconfirmed: ["A"],
  });
  assertEquals([...now.confirmed], ["B"]);
});

Deno.test("a change of a table changes no document, and vice versa", () => {
  const { sheet } = tableUpload();
  const document = documentUpload();
  const ofTables: UploadChange[] = [
    { name: "column added", sheet },
    {
      name: "cells edited",
      changes: [],
      inverse: [],
      sheet,
      unconfirmed: [],
    },
    { name: "left shown", rows: [], problems: [], stored: new Map() },
  ];
  for (const change of ofTables) {
    assertEquals(applyChange(document, change), document);
  }
  const table = tableUpload();
  assertEquals(applyChange(table, { name: "text edited", text: "" }), table);
});

Deno.test("rows that an import left out can be corrected, but not those it stored", () => {
  const edited = edit(tableUpload(), [{ row: 0, column: 1, text: "Mug" }]);
  const stored = new Map([["00", "row 2"]]);
  const left = applyChange(edited, {
    name: "left shown",
    rows: [1],
    problems: [],
    stored,
  }) as TableUpload;
  assertEquals(left.steps, []);
  assertEquals(left.rows, [1]);
  assertEquals(left.stored, stored);
  assertEquals(left.step, {
    name: "refused",
    refusal: { ...NO_REFUSAL, leftOutCount: 1 },
  });
});
