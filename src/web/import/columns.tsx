/** The view that maps the columns of a table to fields, with a preview. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { SCALAR_RULES } from "../../catalogue/fields.ts";
import type { Category, Client } from "../../client/mod.ts";
import type { Table as Rows } from "./read/csv.ts";
import { sampledValues } from "./columns/guesses.ts";
import type { ColumnField } from "../lib/column_field.ts";
import { TARGETS } from "./columns/headers.ts";
import { openWorkbook } from "./intake.ts";
import {
  type ChosenColumns,
  chosenFor,
  keepChosen,
} from "./columns/mappings.ts";
import { HUNDREDTHS, type NumberFormat, WEIGHT_UNITS } from "../lib/numbers.ts";
import { formatCount, plural } from "../lib/format.ts";
import { contactNames } from "../ui/contact_choice.tsx";
import { contactQuestions } from "./check/contact_questions.ts";
import {
  categoriesIn,
  findCategories,
  needFindings,
} from "./check/category_needs.ts";
import { findingsIn, type FindingSource } from "./check/findings.ts";
import type { Finding, FindingAnswer } from "./check/finding.ts";
import { runInSlices } from "../lib/slices.ts";
import {
  chosenIn,
  type ColumnMapping,
  isAddress,
  isPrice,
  mappingFor,
  rowValues,
  withTarget,
} from "./columns/spreadsheet.ts";
import { useLoaded } from "../ui/components.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { withCellsChanged } from "./columns/sheet.ts";
import { discardIntake, type Spreadsheet } from "./intake_state.ts";
import { useStore } from "../lib/store.ts";
import { openPictures } from "../pictures/current.ts";
import { lazy } from "../ui/lazy.tsx";
import { loadPictures } from "./load_pictures.ts";
import { withPictureColumn } from "./picture_rows.ts";
import { openMappedTable } from "./send/upload.ts";
import { valuesOfField } from "../lib/words.ts";
import { readableName } from "../lib/texts.ts";

/** The number of rows in the preview. */
const PREVIEW_ROWS = 5;
const EXAMPLES_PER_COLUMN = 3;
/** The number of rows in which examples are searched. */
const EXAMPLE_ROWS = 1_000;

const TablePictures = lazy(async () => (await loadPictures()).TablePictures);

/** Loads earlier choices for these column names, then shows the columns. */
export function ColumnsView({ client, spreadsheet }: {
  client: Client;
  spreadsheet: Spreadsheet;
}) {
  const [chosen, setChosen] = useState<ChosenColumns | null>(null);
  const { header } = spreadsheet.table;
  useEffect(() => {
    chosenFor(client, header).then(setChosen);
  }, [client, header]);
  return chosen === null
    ? <p class="quiet" role="status">{spreadsheet.name} is being read…</p>
    : <Columns client={client} spreadsheet={spreadsheet} chosen={chosen} />;
}

function Columns({ client, spreadsheet, chosen }: {
  client: Client;
  spreadsheet: Spreadsheet;
  chosen: ChosenColumns;
}) {
  const { name, book, encoding } = spreadsheet;
  const [table, setTable] = useState(spreadsheet.table);
  const [mapping, setMapping] = useState<ColumnMapping>(() =>
    mappingFor(table, chosen)
  );
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set());
  const source = useMemo(
    () => ({ ...spreadsheet, table, mapping, chosen, answered }),
    [spreadsheet, table, mapping, chosen, answered],
  );
  const { findings: found, isCurrent } = useFindings(source);
  const categories = useCategories(client, table, mapping);
  const contacts = useContactNames(client);
  const findings = [
    ...contactQuestions({ table, mapping }, chosen, contacts)
      .filter(({ text }) => !answered.has(text)),
    ...found,
    ...needFindings({ table, mapping }, categories),
  ];
  const asked = useRef<HTMLDivElement>(null);
  const examples = useMemo(() => examplesOf(table), [table]);
  const check = () => {
    keepChosen(client, table.header, chosenIn(table, mapping))
      // If this request fails, the choices are not stored.
      .catch(() => {});
    openMappedTable(client, { name, table, mapping, book });
  };
  const choose = ({ text, isQuestion }: Finding, { apply }: FindingAnswer) => {
    const next = apply({ table, mapping });
    if (next === null) return;
    if (isQuestion) setAnswered(new Set([...answered, text]));
    // The focused button is removed, so the focus moves.
    asked.current?.focus();
    setTable(next.table);
    setMapping(next.mapping);
  };
  const hasPictures = useStore(openPictures) !== null;
  const sheet = useMemo(
    () => ({ name, table, mapping, book }),
    [name, table, mapping, book],
  );
  const latestSheet = useRef(sheet);
  latestSheet.current = sheet;
  const setTarget = (column: number, target: ColumnField) =>
    setMapping(withTarget(table, mapping, column, target));
  const setUnit = (column: number, unit: string) =>
    setMapping({
      ...mapping,
      numberFormats: mapping.numberFormats
        .with(column, { ...mapping.numberFormats[column], unit }),
    });
  return (
    <>
      <div class="bar">
        <strong class="cut grow">{name}</strong>
        {book !== null && book.sheets.length > 1 && (
          <select
            aria-label="Sheet"
            value={book.sheet}
            onChange={(event) =>
              openWorkbook(name, book.file, event.currentTarget.value)}
          >
            {book.sheets.map((sheet) => <option key={sheet}>{sheet}</option>)}
          </select>
        )}
        {encoding !== null && (
          <select
            aria-label="Encoding"
            value={encoding.name}
            onChange={(event) => encoding.choose(event.currentTarget.value)}
          >
            {encoding.all.map(({ name, label }) => (
              <option key={name} value={name}>{label}</option>
            ))}
          </select>
        )}
        <span class="quiet">{plural(table.rows.length, "row")}</span>
        <button type="button" onClick={discardIntake}>Another file</button>
        <button
          type="button"
          class="main"
          disabled={!isCurrent ||
            findings.some(({ severity }) => severity === "blocks")}
          onClick={check}
        >
          Check {plural(table.rows.length, "product")}
        </button>
      </div>
      {hasPictures && (
        <TablePictures
          client={client}
          sheet={sheet}
          rows={null}
          onPlace={(changesIn) => {
            const wide = withPictureColumn(latestSheet.current);
            const filled = withCellsChanged(wide, changesIn(wide));
            setTable(filled.table);
            setMapping(filled.mapping);
          }}
        />
      )}
      <div ref={asked} class="questions" tabIndex={-1}>
        {findings.map((finding) => (
          <FindingNote
            key={finding.text}
            finding={finding}
            isCurrent={isCurrent}
            onChoose={(choice) => choose(finding, choice)}
          />
        ))}
      </div>
      <Table
        label="Columns"
        rows={table.header.map((header, column) => ({ header, column }))}
        keyOf={({ column }) => column}
        columns={[
          {
            label: "Column",
            classes: "break",
            cell: ({ header, column }) => header || `column ${column + 1}`,
          },
          {
            label: "Field",
            cell: ({ header, column }) => (
              <select
                aria-label={`Field of ${header || `column ${column + 1}`}`}
                value={mapping.targets[column]}
                onChange={(event) =>
                  setTarget(column, event.currentTarget.value as ColumnField)}
              >
                {TARGETS.map(({ target, label }) => (
                  <option key={target} value={target}>{label}</option>
                ))}
              </select>
            ),
          },
          {
            label: "Read as",
            classes: "quiet",
            cell: ({ header, column }) => (
              <UnitInput
                name={header || `column ${column + 1}`}
                target={mapping.targets[column]}
                numberFormat={mapping.numberFormats[column]}
                hasPaths={mapping.targets[column] === "images" &&
                  sampledValues(table.rows, column, 1)
                    .some((value) => !isAddress(value))}
                onUnit={(unit) => setUnit(column, unit)}
              />
            ),
          },
          {
            label: "Examples",
            classes: "quiet break",
            cell: ({ column }) => examples[column],
          },
        ]}
      />
      <SharedValues mapping={mapping} onMapping={setMapping} />
      <Preview table={table} mapping={mapping} />
    </>
  );
}

/** The CSS class of each severity. */
const SEVERITY_CLASSES = {
  blocks: "bad",
  warning: "warn",
  note: "",
  good: "good",
};

function FindingNote({ finding, isCurrent, onChoose }: {
  finding: Finding;
  /** Whether the findings concern the current table and can be answered. */
  isCurrent: boolean;
  onChoose: (choice: FindingAnswer) => void;
}) {
  const { severity, text, more, answers } = finding;
  const classes = `note ${SEVERITY_CLASSES[severity]}`;
  if (more !== undefined) {
    return (
      <details class={classes}>
        <summary>{text}</summary>
        {more}
      </details>
    );
  }
  return (
    <div class={classes} role={severity === "blocks" ? "alert" : undefined}>
      <p>{text}</p>
      {answers.length > 0 && (
        <p class="row">
          {answers.map((choice) => (
            <button
              key={choice.label}
              type="button"
              disabled={!isCurrent}
              onClick={() => onChoose(choice)}
            >
              {choice.label}
            </button>
          ))}
        </p>
      )}
    </div>
  );
}

/**
 * The findings of a table. Until all rows are checked, they are the findings of
 * the former table.
 */
function useFindings(
  source: FindingSource,
): { findings: readonly Finding[]; isCurrent: boolean } {
  const [found, setFound] = useState<
    { source: FindingSource | null; findings: readonly Finding[] }
  >({ source: null, findings: [] });
  useEffect(() => {
    const left = new AbortController();
    runInSlices(findingsIn(source), left.signal).then((findings) => {
      if (findings !== null) setFound({ source, findings });
    });
    return () => left.abort();
  }, [source]);
  return { findings: found.findings, isCurrent: found.source === source };
}

/** The categories of the table's products, each with its rules. */
function useCategories(
  client: Client,
  table: Rows,
  mapping: ColumnMapping,
): readonly Category[] {
  const names = useMemo(
    () => categoriesIn({ table, mapping }),
    [table, mapping.targets, mapping.commas],
  );
  const { data } = useLoaded(
    (signal) => findCategories(client, names, signal),
    [client, names.join("\n")],
  );
  return data ?? [];
}

/** The names of the seller's contacts; null until they are loaded. */
function useContactNames(client: Client): readonly string[] | null {
  const { data } = useLoaded(
    (signal) => contactNames(client, signal),
    [client],
  );
  return data;
}

/** Fields that can have one value for all products. */
const SHARED = TARGETS.filter(({ target }) =>
  target === "currency" ||
  target in SCALAR_RULES && !["sku", "title", "price", "gtin"].includes(target)
);

/** Inputs for values of all products, for fields without a column. */
function SharedValues({ mapping, onMapping }: {
  mapping: ColumnMapping;
  onMapping: (mapping: ColumnMapping) => void;
}) {
  const { targets, values } = mapping;
  const free = SHARED.filter(({ target }) => !targets.includes(target));
  const isShown = ({ target }: typeof free[number]) =>
    Object.hasOwn(values, target) ||
    target === "currency" && targets.includes("price");
  const set = (target: ColumnField, text: string | undefined) => {
    const { [target]: _, ...others } = values;
    onMapping({
      ...mapping,
      values: text === undefined ? others : { ...values, [target]: text },
    });
  };
  return (
    <div class="row">
      {free.filter(isShown).map(({ target, label }) => {
        const words = valuesOfField(target);
        const onInput = (event: { currentTarget: { value: string } }) =>
          set(target, event.currentTarget.value);
        return (
          <label key={target} class="field">
            {label} of all {target === "currency" ? "prices" : "products"}
            {words === null
              ? (
                <input
                  size={target === "currency" ? 5 : 12}
                  maxLength={target === "currency" ? 3 : undefined}
                  placeholder={target === "currency" ? "SEK" : ""}
                  value={values[target] ?? ""}
                  onInput={onInput}
                />
              )
              : (
                <select value={values[target]} onChange={onInput}>
                  <option value="">–</option>
                  {words.map((word) => (
                    <option key={word} value={word}>
                      {readableName(word)}
                    </option>
                  ))}
                </select>
              )}
          </label>
        );
      })}
      <select
        aria-label="One value for all products"
        value=""
        onChange={(event) => set(event.currentTarget.value as ColumnField, "")}
      >
        <option value="">One value for all products…</option>
        {free.filter((one) => !isShown(one)).map(({ target, label }) => (
          <option key={target} value={target}>{label}</option>
        ))}
      </select>
    </div>
  );
}

/** An input for the unit of a column. */
function UnitInput({ name, target, numberFormat, hasPaths, onUnit }: {
  name: string;
  target: ColumnField;
  numberFormat: NumberFormat;
  /** Whether the images are paths, not URLs. */
  hasPaths: boolean;
  onUnit: (unit: string) => void;
}) {
  const units = target === "weight"
    ? ["", ...Object.keys(WEIGHT_UNITS)]
    : isPrice(target)
    ? ["", HUNDREDTHS]
    : null;
  if (target === "images" && hasPaths) {
    return (
      <input
        aria-label={`Address before the paths in ${name}`}
        placeholder="https://shop.example/media"
        value={numberFormat.unit}
        onInput={(event) => onUnit(event.currentTarget.value.trim())}
      />
    );
  }
  if (units === null) return null;
  const none = target === "weight" ? "unit in each value" : "amounts";
  return (
    <span class="row">
      <select
        aria-label={`Unit of ${name}`}
        value={numberFormat.unit}
        onChange={(event) => onUnit(event.currentTarget.value)}
      >
        {units.map((unit) => (
          <option key={unit} value={unit}>
            {unit === "" ? none : unit === HUNDREDTHS ? "cents, öre" : unit}
          </option>
        ))}
      </select>
      {numberFormat.decimalSeparator === "," && "decimal comma"}
      {numberFormat.decimalSeparator === "." && "decimal point"}
    </span>
  );
}

/** The examples of each column. */
function examplesOf({ header, rows }: Rows): string[] {
  const some = rows.slice(0, EXAMPLE_ROWS);
  return header.map((_, column) =>
    sampledValues(some, column, EXAMPLES_PER_COLUMN).map((value) =>
      value.slice(0, 60)
    )
      .join(" · ")
  );
}

/** The maximum number of list entries in the preview. */
const ENTRIES_SHOWN = 3;

/** The first entries of a list, with the number of the others. */
function shortened(entries: readonly string[]): string {
  const shown = entries.slice(0, ENTRIES_SHOWN).join(" · ");
  const more = entries.length - ENTRIES_SHOWN;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/**
 * The maximum length of the values of a narrow preview column. Other columns
 * have a minimum width, and break long words.
 */
const NARROW = 24;

/** The first rows as they will be sent. */
function Preview({ table, mapping }: {
  table: Rows;
  mapping: ColumnMapping;
}) {
  const rows = useMemo(
    () =>
      table.rows.slice(0, PREVIEW_ROWS).map((row, i) => ({
        number: table.numbers[i],
        values: rowValues(row, mapping),
      })),
    [table, mapping],
  );
  const shown = TARGETS.filter(({ target }) =>
    target !== "" && target !== "attribute" &&
    (mapping.targets.includes(target) || mapping.values[target])
  );
  const columns: readonly Column<typeof rows[number]>[] = [
    { label: "Row", right: true, cell: ({ number }) => formatCount(number) },
    ...shown.map(({ target, label }) => {
      const text = ({ values }: typeof rows[number]) =>
        shortened(values.get(target) ?? []);
      const isLong = rows.some((row) => text(row).length > NARROW);
      return {
        label,
        classes: isLong ? "break" : "",
        cell: (row: typeof rows[number]) => text(row) || "–",
      };
    }),
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
