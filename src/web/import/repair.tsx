/**
 * Corrects a table with problems: a grid of the rows with problems, and
 * remedies for the selected cell.
 */
import { useMemo, useState } from "preact/hooks";
import { saveFile } from "../lib/browser.ts";
import type { Client } from "../../client/mod.ts";
import {
  type CellAddress,
  type CellText,
  Grid,
  type GridColumn,
} from "../ui/grid.tsx";
import { isMadeDate } from "../../lib/made_dates.ts";
import { Form, useLoaded } from "../ui/components.tsx";
import { formatCount, plural } from "../lib/format.ts";
import { formatMoney } from "../lib/money.ts";
import {
  cellProblem,
  type ColumnKey,
  gridColumns,
  isConfirmable,
  isCorrectedAt,
  problemSentence,
  remediesOf,
  resemblesStoredSku,
  type TableProblem,
  tableProblemsIn,
} from "./repair/repair.ts";
import { type CellChange, correctedFile, skuOfRow } from "./columns/sheet.ts";
import type { TableUpload } from "./send/upload_state.ts";
import { loadProduct } from "../ui/thumbnails.tsx";
import { addColumn, editCells, undoStep } from "./send/upload.ts";
import { ConfirmButton } from "./confirm_button.tsx";

type TableCell = CellAddress<ColumnKey>;

export function Repair({ client, current, busy }: {
  client: Client;
  current: TableUpload;
  /** Whether the table is being checked, so that it cannot be changed. */
  busy: boolean;
}) {
  const { sheet, changed, steps } = current;
  const { table } = sheet;
  const tableProblems = useMemo(() => tableProblemsIn(current), [
    current.step,
    sheet,
  ]);
  const [kind, setKind] = useState("");
  const titles = useMemo(
    () => Map.groupBy(tableProblems, ({ title }) => title),
    [tableProblems],
  );
  const wanted = titles.get(kind) ?? tableProblems;
  const rows = useMemo(
    () => [...new Set(wanted.map(({ row }) => row))],
    [wanted],
  );
  const columns = useMemo(() => gridColumns(sheet, tableProblems), [
    sheet,
    tableProblems,
  ]);
  const [place, setPlace] = useState<TableCell | null>(null);
  const shown = visiblePlace(current, place, rows, columns, wanted);
  /** The rows with a problem that a change in this column would solve. */
  const rowsAt = (some: readonly TableProblem[], { column }: TableCell) => [
    ...new Set(
      some.filter((tableProblem) => isCorrectedAt(sheet, tableProblem, column))
        .map(({ row }) => row),
    ),
  ];
  const isChanged = ({ row, column }: TableProblem) =>
    changed.has(`${row}:${column}`);
  const titleAt = useMemo(
    () =>
      new Map(
        tableProblems.map(({ row, column, title }) =>
          [`${row}:${column ?? columns[0]?.at}`, title] as const
        ),
      ),
    [tableProblems, columns],
  );
  const messageAt = (row: number, at: ColumnKey) =>
    typeof at === "number" && changed.has(`${row}:${at}`)
      ? { text: cellProblem(sheet, row, at), isChanged: true }
      : { text: titleAt.get(`${row}:${at}`) ?? null, isChanged: false };
  /** Writes texts into cells. A field without a column gets a new column. */
  const write = (cells: readonly CellText<ColumnKey>[]) => {
    if (busy) return;
    const columns = new Map<ColumnKey, number>();
    for (const { column } of cells) {
      if (columns.has(column)) continue;
      const own = typeof column === "number" ? column : addColumn(column);
      columns.set(column, own);
    }
    editCells(
      cells.map(({ row, column, text }): CellChange => ({
        row,
        column: columns.get(column)!,
        text,
      })),
    );
  };
  const save = async () => {
    const problems = Map.groupBy(
      tableProblems.filter((tableProblem) => !isChanged(tableProblem)),
      ({ row }) => row,
    );
    const texts = new Map(
      [...problems].map(([row, some]) =>
        [row, some.map(problemSentence)] as const
      ),
    );
    const { content, ending } = await correctedFile(sheet, texts);
    saveFile(
      content,
      `${sheet.name.replace(/\.\w+$/, "")}-corrected.${ending}`,
    );
  };
  const confirmable = useMemo(
    () => wanted.filter((tableProblem) => isConfirmable(sheet, tableProblem)),
    [wanted, sheet],
  );
  const { step } = current;
  const more = step.name === "refused" ? step.refusal.more : 0;
  const inRows = new Set(tableProblems.map(({ row }) => row)).size;
  return (
    <section class="repair" aria-label="Problems" aria-busy={busy}>
      <p class="note bad" role="alert">
        <span>
          <strong>
            {plural(tableProblems.length, "problem")} in{" "}
            {plural(inRows, "row")}.
          </strong>{" "}
          None of these rows was stored. Correct the cells, then check again.
          {more > 0 &&
            ` ${plural(more, "further problem")} will be listed then.`}
        </span>
      </p>
      <div class="row">
        <select
          aria-label="Show the problems"
          value={titles.has(kind) ? kind : ""}
          onChange={(event) => {
            setKind(event.currentTarget.value);
            setPlace(null);
          }}
        >
          <option value="">
            All problems ({formatCount(tableProblems.length)})
          </option>
          {[...titles].map(([title, { length }]) => (
            <option key={title} value={title}>
              {title} ({formatCount(length)})
            </option>
          ))}
        </select>
        <button
          type="button"
          disabled={busy || steps.length === 0}
          onClick={undoStep}
        >
          Undo{steps.length > 0 && ` (${formatCount(steps.length)})`}
        </button>
        {confirmable.length > 1 && (
          <ConfirmButton
            client={client}
            skus={[...new Set(confirmable.map(({ problem }) => problem.sku!))]}
            adds={confirmable.every(resemblesStoredSku)}
            disabled={busy}
          />
        )}
        <button type="button" onClick={save}>
          Download the corrected file
        </button>
      </div>
      {shown !== null && (
        <CellPanel
          key={`${shown.row}:${shown.column}`}
          client={client}
          current={current}
          place={shown}
          label={columns.find(({ at }) => at === shown.column)?.label ?? ""}
          tableProblems={tableProblems.filter((tableProblem) =>
            tableProblem.row === shown.row &&
            (tableProblem.column === null ||
              isCorrectedAt(sheet, tableProblem, shown.column))
          )}
          below={rowsAt(wanted, shown).filter((row) => row > shown.row)}
          needing={rowsAt(tableProblems, shown)}
          busy={busy}
          write={write}
        />
      )}
      <Grid
        label="Rows with problems"
        rows={rows}
        columns={columns}
        nameOf={(row) => `${table.numbers[row]}`}
        textAt={(row, at) => typeof at === "number" ? table.rows[row][at] : ""}
        messageAt={messageAt}
        place={shown}
        onPlace={setPlace}
        onWrite={write}
        onUndo={undoStep}
      />
    </section>
  );
}

/** The cell if it is still shown, else the cell of the first problem. */
function visiblePlace(
  { sheet: { mapping } }: TableUpload,
  place: TableCell | null,
  rows: readonly number[],
  columns: readonly GridColumn<ColumnKey>[],
  tableProblems: readonly TableProblem[],
): TableCell | null {
  if (place !== null && rows.includes(place.row)) {
    const { row, column } = place;
    // A column may have been added for the field.
    const shown = columns.find(({ at }) =>
      at === column || typeof at === "number" && mapping.targets[at] === column
    );
    if (shown !== undefined) return { row, column: shown.at };
  }
  const [first] = tableProblems;
  return first === undefined || columns.length === 0
    ? null
    : { row: first.row, column: first.column ?? columns[0].at };
}

/** The problems of a cell, and their remedies. */
function CellPanel(
  { client, current, place, label, tableProblems, below, needing, busy, write }:
    {
      client: Client;
      current: TableUpload;
      place: TableCell;
      label: string;
      tableProblems: readonly TableProblem[];
      /** The rows below with a problem that this column would solve. */
      below: readonly number[];
      /** All rows with a problem that this column would solve. */
      needing: readonly number[];
      busy: boolean;
      write: (cells: readonly CellText<ColumnKey>[]) => void;
    },
) {
  const { sheet, changed } = current;
  const { row, column } = place;
  const text = typeof column === "number" ? sheet.table.rows[row][column] : "";
  const isChanged = changed.has(`${row}:${column}`);
  const wrong = isChanged && typeof column === "number"
    ? cellProblem(sheet, row, column)
    : null;
  const same = useMemo(
    () =>
      (text === "" ? needing : current.rows).filter((one) =>
        (typeof column === "number" ? sheet.table.rows[one][column] : "") ===
          text
      ),
    [sheet, column, text, needing.length],
  );
  const target = typeof column === "number"
    ? sheet.mapping.targets[column]
    : column;
  const into = (rows: readonly number[], value: string) =>
    write(rows.map((row) => ({ row, column, text: value })));
  const confirmable = tableProblems.find((tableProblem) =>
    isConfirmable(sheet, tableProblem)
  );
  const problems = isChanged
    ? tableProblems.filter((tableProblem) => tableProblem.column === null)
    : tableProblems;
  return (
    <div class="card cell" role="group" aria-label="The cell">
      <p>
        <b>Row {sheet.table.numbers[row]}, {label}</b>
        {isChanged && " "}
        {isChanged && <span class="state warn">changed</span>}
      </p>
      {problems.map((tableProblem) => (
        <p key={tableProblem.title} class="bad">
          {problemSentence(tableProblem)}{" "}
          <span class="quiet">{tableProblem.remedy}</span>
        </p>
      ))}
      {wrong !== null && <p class="bad">{wrong}</p>}
      {target === "price" && isMadeDate(text) && (
        <StoredPrice client={client} sku={skuOfRow(sheet, row)} />
      )}
      <div class="row">
        {!isChanged &&
          tableProblems.flatMap((tableProblem) =>
            remediesOf(sheet, tableProblem)
          )
            .map((remedy) => (
              <button
                key={remedy.label}
                type="button"
                disabled={busy}
                onClick={() => into([row], remedy.text)}
              >
                {remedy.label}
              </button>
            ))}
        {!isChanged && confirmable !== undefined && (
          <ConfirmButton
            client={client}
            skus={[confirmable.problem.sku!]}
            adds={resemblesStoredSku(confirmable)}
            disabled={busy}
          />
        )}
        {below.length > 0 && isChanged && wrong === null && (
          <button
            type="button"
            disabled={busy}
            onClick={() => into(below, text)}
          >
            Fill down into {plural(below.length, "row")}
          </button>
        )}
        {target === "gtin" && text !== "" && problems.length > 0 && (
          <button
            type="button"
            disabled={busy}
            onClick={() => into(same, "")}
          >
            Leave it out in {plural(same.length, "row")}
          </button>
        )}
      </div>
      {same.length > 1 && !isChanged && !UNIQUE_FIELDS.includes(target) && (
        <ReplaceForm
          key={text}
          text={text}
          rows={same.length}
          busy={busy}
          onReplace={(value) => into(same, value)}
        />
      )}
    </div>
  );
}

/** Shows the stored price if the price in the file was damaged. */
function StoredPrice({ client, sku }: { client: Client; sku: string }) {
  const { data } = useLoaded(
    async (signal) =>
      sku === "" ? null : await loadProduct(client, sku, signal),
    [client, sku],
  );
  return data?.price
    ? (
      <p>
        The price is {formatMoney(data.price.amount, data.price.currency)} now.
      </p>
    )
    : null;
}

/** Fields whose values identify one product, so they must differ in all rows. */
const UNIQUE_FIELDS: readonly ColumnKey[] = ["sku", "gtin"];

/** A form that replaces a value in every row with this value. */
function ReplaceForm({ text, rows, busy, onReplace }: {
  text: string;
  rows: number;
  busy: boolean;
  onReplace: (value: string) => void;
}) {
  const [value, setValue] = useState("");
  return (
    <Form class="row" onSubmit={() => onReplace(value)}>
      <label class="field grow">
        <span class="cut">
          {text === "" ? "Where it is missing" : `Instead of “${text}”`}
        </span>
        <input
          required
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={busy}>
        {text === "" ? "Fill" : "Replace in"} {plural(rows, "row")}
      </button>
    </Form>
  );
}
