/** The columns of a table: which field each one is, with a preview. */
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Client } from "../../client/mod.ts";
import type { Table as Rows } from "../csv.ts";
import { dropAll, type Spreadsheet, takeColumns } from "../intake.ts";
import { count, plural } from "../parts.tsx";
import { inSlices } from "../slices.ts";
import {
  type Mapping,
  mappingFor,
  rememberMapping,
  type Target,
  TARGETS,
  valuesOf,
} from "../spreadsheet.ts";
import { type Column, Table } from "../table.tsx";
import {
  checkRows,
  missing,
  repeated,
  type RowProblems,
} from "../table_checks.ts";

/** Rows of the preview, and examples of a column. */
const ROWS = 5;
const EXAMPLES = 3;
/** Rows among which examples are looked for. */
const EXAMPLE_ROWS = 1_000;

export function ColumnsView({ client, spreadsheet }: {
  client: Client;
  spreadsheet: Spreadsheet;
}) {
  const { name, table } = spreadsheet;
  const [mapping, setMapping] = useState<Mapping>(() => mappingFor(table));
  const lacking = missing(mapping);
  const problems = useRowProblems(table, mapping.targets);
  const { rounded, thousands, repeatedSku } = problems ?? {};
  const examples = useMemo(() => examplesOf(table), [table]);
  const [isPreparing, setPreparing] = useState(false);
  const twice = repeated(mapping);
  const { targets, currency } = mapping;
  const hasNoCurrency = targets.includes("price") &&
    !targets.includes("currency") && currency === "";
  const check = () => {
    rememberMapping(table, mapping);
    setPreparing(true);
    takeColumns(client, spreadsheet, mapping);
  };
  const setTarget = (column: number, target: Target) =>
    setMapping({
      ...mapping,
      targets: mapping.targets.map((old, i) => i === column ? target : old),
    });
  return (
    <>
      <div class="bar">
        <strong class="cut grow">{name}</strong>
        <span class="quiet">{plural(table.rows.length, "row")}</span>
        <button type="button" onClick={dropAll}>Another file</button>
        <button
          type="button"
          class="main"
          disabled={!targets.includes("sku") || hasNoCurrency ||
            table.flaw !== null || twice.length > 0 || problems === null ||
            problems.repeatedSku !== null || isPreparing}
          onClick={check}
        >
          {isPreparing
            ? "Preparing…"
            : `Check ${plural(table.rows.length, "product")}`}
        </button>
      </div>
      <p class={lacking.length === 0 ? "note good" : "note warn"}>
        {lacking.length === 0
          ? "Every field that a new product needs has a column."
          : `No column holds: ${
            lacking.join(", ")
          }. New products need that; products that exist keep what they have.`}
        {!targets.includes("sku") && " Choose the column with the SKU."}
        {hasNoCurrency &&
          " Every price needs its currency: enter it below the columns."}
      </p>
      {table.flaw !== null && (
        <p class="note bad" role="alert">
          {table.flaw}{" "}
          Values would be sent in wrong columns, so nothing of this file can be
          sent.
        </p>
      )}
      {twice.length > 0 && (
        <p class="note bad" role="alert">
          Several columns are the same field, which can have one value:{" "}
          {twice.join(", ")}. Leave out all but one.
        </p>
      )}
      {repeatedSku && (
        <p class="note bad" role="alert">
          Rows {repeatedSku.first} and {repeatedSku.second} have the same SKU,
          {" "}
          {repeatedSku.sku}.{" "}
          Leave one of them: the later one would replace what the earlier one
          stores.
        </p>
      )}
      {thousands && (
        <p class="note warn">
          A price such as {thousands}{" "}
          is sent as it is, with decimals behind the point. If it is of
          thousands, write it without a point.
        </p>
      )}
      {rounded && (
        <p class="note warn">
          A spreadsheet program has rounded long numbers, as in{" "}
          {rounded}. Give that column the format “Text” there, enter the numbers
          anew, and save the file again.
        </p>
      )}
      <Table
        label="Columns"
        rows={table.header.map((header, column) => ({ header, column }))}
        keyOf={({ column }) => column}
        columns={[
          {
            label: "Column",
            look: "break",
            cell: ({ header, column }) => header || `column ${column + 1}`,
          },
          {
            label: "Is the field",
            cell: ({ header, column }) => (
              <select
                aria-label={`Field of ${header || `column ${column + 1}`}`}
                value={mapping.targets[column]}
                onChange={(event) =>
                  setTarget(column, event.currentTarget.value as Target)}
              >
                {TARGETS.map(({ target, label }) => (
                  <option key={target} value={target}>{label}</option>
                ))}
              </select>
            ),
          },
          {
            label: "For example",
            look: "quiet break",
            cell: ({ column }) => examples[column],
          },
        ]}
      />
      {mapping.targets.includes("price") &&
        !mapping.targets.includes("currency") && (
        <p class="row">
          <label for="currency">Currency of all prices</label>
          <input
            id="currency"
            size={5}
            maxLength={3}
            placeholder="SEK"
            value={mapping.currency}
            onInput={(event) =>
              setMapping({
                ...mapping,
                currency: event.currentTarget.value.toUpperCase(),
              })}
          />
        </p>
      )}
      <Preview spreadsheet={spreadsheet} mapping={mapping} />
    </>
  );
}

/** What is told of the rows; null until all have been looked at. */
function useRowProblems(
  table: Rows,
  targets: readonly Target[],
): RowProblems | null {
  const [found, setFound] = useState<
    { targets: readonly Target[]; problems: RowProblems } | null
  >(null);
  useEffect(() => {
    const left = new AbortController();
    inSlices(checkRows(table, targets), left.signal).then((problems) => {
      if (problems !== null) setFound({ targets, problems });
    });
    return () => left.abort();
  }, [table, targets]);
  return found?.targets === targets ? found.problems : null;
}

/** For each column. */
function examplesOf({ header, rows }: Rows): string[] {
  const some = rows.slice(0, EXAMPLE_ROWS);
  return header.map((_, column) => {
    const values = some.map((row) => row[column].slice(0, 60))
      .filter((value) => value !== "");
    return [...new Set(values)].slice(0, EXAMPLES).join(" · ");
  });
}

/** What the first rows become. */
function Preview({ spreadsheet: { table }, mapping }: {
  spreadsheet: Spreadsheet;
  mapping: Mapping;
}) {
  const rows = useMemo(
    () =>
      table.rows.slice(0, ROWS).map((row, i) => ({
        number: table.numbers[i],
        values: valuesOf(row, mapping),
      })),
    [table, mapping],
  );
  const shown = TARGETS.filter(({ target }) =>
    target !== "" && target !== "attribute" && mapping.targets.includes(target)
  );
  const columns: readonly Column<typeof rows[number]>[] = [
    { label: "Row", right: true, cell: ({ number }) => count(number) },
    ...shown.map(({ target, label }) => ({
      label,
      look: "break",
      cell: ({ values }: typeof rows[number]) =>
        values.get(target)?.join(" · ") ?? "–",
    })),
  ];
  return (
    <section>
      <h2>The first products</h2>
      <Table
        label="Preview"
        columns={columns}
        rows={rows}
        keyOf={({ number }) => number}
      />
    </section>
  );
}
