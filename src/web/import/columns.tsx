/** The columns of a table: which field each one is, with a preview. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { SCALAR_RULES } from "../../catalogue/fields.ts";
import type { Client } from "../../client/mod.ts";
import type { Table as Rows } from "./read/csv.ts";
import { valuesIn } from "./columns/guesses.ts";
import { type Target, TARGETS, targetsByName } from "./columns/headers.ts";
import { presetOf } from "./columns/presets.ts";
import { takeBook } from "./intake.ts";
import { type Chosen, chosenFor, keepChosen } from "./columns/mappings.ts";
import { HUNDREDTHS, type Reading, WEIGHT_UNITS } from "../lib/numbers.ts";
import { count, plural } from "../lib/format.ts";
import { skuProposals } from "./columns/proposals.ts";
import { type Answer, type Question, questionsOf } from "./check/questions.ts";
import { inSlices } from "../lib/slices.ts";
import {
  chosenIn,
  isAddress,
  isPrice,
  isRepeatable,
  type Mapping,
  mappingFor,
  valuesOf,
  withTarget,
} from "./columns/spreadsheet.ts";
import { type Column, Table } from "../ui/table.tsx";
import {
  checkRows,
  missing,
  repeated,
  type RowProblems,
} from "./check/table_checks.ts";
import { dropAll, type Spreadsheet } from "./intake_state.ts";
import { takeSheet } from "./send/upload.ts";
import { labelOf } from "./columns/sheet.ts";
import { readable, wordsOf } from "../lib/words.ts";

/** Rows of the preview, and examples of a column. */
const ROWS = 5;
const EXAMPLES = 3;
/** Rows among which examples are looked for. */
const EXAMPLE_ROWS = 1_000;

/** The columns, once it is known what was chosen for such ones before. */
export function ColumnsView({ client, spreadsheet }: {
  client: Client;
  spreadsheet: Spreadsheet;
}) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
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
  chosen: Chosen;
}) {
  const { name, note, book, encoding } = spreadsheet;
  const [table, setTable] = useState(spreadsheet.table);
  const [mapping, setMapping] = useState<Mapping>(() =>
    mappingFor(table, chosen)
  );
  const lacking = missing(mapping);
  const problems = useRowProblems(table, mapping);
  const {
    rounded,
    bareWeight,
    path,
    alike,
    html = 0,
    replaced = 0,
    unstocked = 0,
  } = problems ?? {};
  const asked = useRef<HTMLDivElement>(null);
  const [answered, setAnswered] = useState<ReadonlySet<string>>(new Set());
  const ofColumns = useMemo(
    () =>
      problems === null ? [] : questionsOf(table, mapping, problems, chosen),
    [table, mapping, problems, chosen],
  );
  const questions = [...spreadsheet.questions, ...ofColumns].filter((
    { text },
  ) => !answered.has(text));
  const preset = presetOf(table.header);
  const examples = useMemo(() => examplesOf(table), [table]);
  const twice = repeated(mapping);
  const { targets, values } = mapping;
  const hasNoCurrency = targets.includes("price") &&
    !targets.includes("currency") && (values.currency ?? "") === "";
  const check = () => {
    keepChosen(client, table.header, chosenIn(table, mapping))
      // Without it, the same is chosen anew.
      .catch(() => {});
    takeSheet(client, { name, table, mapping, book });
  };
  const answer = ({ text }: Question, { again, leave = [], ...to }: Answer) => {
    if (again !== undefined) return again();
    setAnswered(new Set([...answered, text]));
    // The button that had the focus goes.
    asked.current?.focus();
    if (to.table !== undefined) setTable(to.table);
    const left = to.mapping ?? mapping;
    const targets = left.targets.map((target, column) =>
      leave.includes(column) ? "" : target
    );
    setMapping({ ...left, targets });
  };
  const setTarget = (column: number, target: Target) =>
    setMapping(withTarget(table, mapping, column, target));
  const setUnit = (column: number, unit: string) =>
    setMapping({
      ...mapping,
      readings: mapping.readings
        .with(column, { ...mapping.readings[column], unit }),
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
              takeBook(name, book.file, event.currentTarget.value)}
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
        <button type="button" onClick={dropAll}>Another file</button>
        <button
          type="button"
          class="main"
          disabled={!targets.includes("sku") || hasNoCurrency ||
            table.flaw !== null || twice.length > 0 || problems === null ||
            problems.bareWeight !== null || questions.length > 0}
          onClick={check}
        >
          Check {plural(table.rows.length, "product")}
        </button>
      </div>
      <p class={lacking.length === 0 ? "note good" : "note warn"}>
        {lacking.length === 0
          ? "Every field that a new product needs has a column."
          : `No column holds: ${
            lacking.join(", ")
          }. New products need it; products that exist keep what they have.`}
        {!targets.includes("sku") && " Choose the column with the SKU."}
        {hasNoCurrency &&
          " Every price needs its currency: enter it below the columns."}
      </p>
      <div ref={asked} class="questions" tabIndex={-1}>
        {questions.map((question) => (
          <div key={question.text} class="note bad" role="alert">
            <p>{question.text}</p>
            <p class="row">
              {question.answers.map((one) => (
                <button
                  key={one.label}
                  type="button"
                  onClick={() => answer(question, one)}
                >
                  {one.label}
                </button>
              ))}
            </p>
          </div>
        ))}
      </div>
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
      {bareWeight && (
        <p class="note bad" role="alert">
          Neither the column of the weight nor a value such as {bareWeight}{" "}
          says whether these are grams or kilograms. Choose the unit.
        </p>
      )}
      {preset && (
        <p class="note good">
          This is an export of {preset.shop}; its columns are known.
        </p>
      )}
      {note !== "" && <p class="note">{note}</p>}
      <MissingSkus table={table} mapping={mapping} onTable={setTable} />
      {path && (
        <p class="note warn">
          An image such as {path}{" "}
          is a path in your shop. Enter the address before it, beside its column
          below; or leave the column out.
        </p>
      )}
      {html > 0 && (
        <p class="note">
          {plural(html, "description")} {html === 1 ? "is" : "are"}{" "}
          HTML, and sent as text without its tags.
        </p>
      )}
      {unstocked > 0 && (
        <p class="note">
          {plural(unstocked, "row")} {unstocked === 1 ? "has" : "have"}{" "}
          no quantity: products that exist keep what they have.
        </p>
      )}
      <LeftOut table={table} targets={targets} />
      <Rivals table={table} targets={targets} />
      {replaced > 0 && (
        <p class="note warn">
          {plural(replaced, "compare-at price")} {replaced === 1 ? "is" : "are"}
          {" "}
          not sent: beside a sale price, the price stands there instead.
        </p>
      )}
      {alike && (
        <p class="note warn">
          The SKUs <code>{alike[0]}</code> and <code>{alike[1]}</code>{" "}
          differ only in capital letters or spaces, or in what is not seen: they
          would be two products.
        </p>
      )}
      {rounded && (
        <p class="note warn">
          A spreadsheet program has rounded long numbers, as in{" "}
          {rounded}: their last digits are not in this file. Drop the file that
          your shop exported, without opening it in Excel before; or import it
          there with Data → From Text, that column as “Text”, and save it anew.
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
            label: "Read as",
            look: "quiet",
            cell: ({ header, column }) => (
              <UnitOf
                name={header || `column ${column + 1}`}
                target={mapping.targets[column]}
                reading={mapping.readings[column]}
                hasPaths={valuesIn(table.rows, column, 1)
                  .some((value) => !isAddress(value))}
                onUnit={(unit) => setUnit(column, unit)}
              />
            ),
          },
          {
            label: "For example",
            look: "quiet break",
            cell: ({ column }) => examples[column],
          },
        ]}
      />
      <ForAllRows mapping={mapping} onMapping={setMapping} />
      <Preview table={table} mapping={mapping} />
    </>
  );
}

/** Rows without a SKU, and what may be theirs. */
function MissingSkus({ table, mapping, onTable }: {
  table: Rows;
  mapping: Mapping;
  onTable: (table: Rows) => void;
}) {
  const proposals = useMemo(
    () => skuProposals(table, mapping),
    [table, mapping.targets],
  );
  if (proposals.size === 0) return null;
  const column = mapping.targets.indexOf("sku");
  const use = () =>
    onTable({
      ...table,
      rows: table.rows.map((row, i) =>
        row.with(column, proposals.get(i) ?? row[column])
      ),
    });
  return (
    <div class="note warn">
      <p>
        {plural(proposals.size, "row")} {proposals.size === 1 ? "has" : "have"}
        {" "}
        no SKU, which every product needs. Made of their names:{" "}
        {[...proposals.values()].slice(0, EXAMPLES).join(", ")}
        {proposals.size > EXAMPLES && ", …"}
      </p>
      <p>
        <button type="button" onClick={use}>
          Use {proposals.size === 1
            ? "this SKU"
            : `these ${count(proposals.size)} SKUs`}
        </button>
      </p>
    </div>
  );
}

/** What is told of the rows; null until all have been looked at. */
function useRowProblems(
  table: Rows,
  mapping: Mapping,
): RowProblems | null {
  const { targets, readings } = mapping;
  const [found, setFound] = useState<
    { readings: readonly Reading[]; problems: RowProblems } | null
  >(null);
  useEffect(() => {
    const left = new AbortController();
    inSlices(checkRows(table, mapping), left.signal).then((problems) => {
      if (problems !== null) setFound({ readings, problems });
    });
    return () => left.abort();
  }, [table, targets, readings]);
  return found?.readings === readings ? found.problems : null;
}

/** Fields of which all products may have the same value. */
const SHARED = TARGETS.filter(({ target }) =>
  target === "currency" ||
  target in SCALAR_RULES && !["sku", "title", "price", "gtin"].includes(target)
);

/** Values that all products have, of fields without a column. */
function ForAllRows({ mapping, onMapping }: {
  mapping: Mapping;
  onMapping: (mapping: Mapping) => void;
}) {
  const { targets, values } = mapping;
  const free = SHARED.filter(({ target }) => !targets.includes(target));
  const isShown = ({ target }: typeof free[number]) =>
    Object.hasOwn(values, target) ||
    target === "currency" && targets.includes("price");
  const set = (target: Target, text: string | undefined) => {
    const { [target]: _, ...others } = values;
    onMapping({
      ...mapping,
      values: text === undefined ? others : { ...values, [target]: text },
    });
  };
  return (
    <div class="row">
      {free.filter(isShown).map(({ target, label }) => {
        const words = wordsOf(target);
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
                    <option key={word} value={word}>{readable(word)}</option>
                  ))}
                </select>
              )}
          </label>
        );
      })}
      <select
        aria-label="One value for all products"
        value=""
        onChange={(event) => set(event.currentTarget.value as Target, "")}
      >
        <option value="">One value for all products…</option>
        {free.filter((one) => !isShown(one)).map(({ target, label }) => (
          <option key={target} value={target}>{label}</option>
        ))}
      </select>
    </div>
  );
}

/** How the numbers of a column are read, with a choice of their unit. */
function UnitOf({ name, target, reading, hasPaths, onUnit }: {
  name: string;
  target: Target;
  reading: Reading;
  /** Of images. */
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
        aria-label={`Address before ${name}`}
        placeholder="https://shop.example/media"
        value={reading.unit}
        onInput={(event) => onUnit(event.currentTarget.value.trim())}
      />
    );
  }
  if (units === null) return null;
  const none = target === "weight" ? "as each value says" : "amounts";
  return (
    <span class="row">
      <select
        aria-label={`Unit of ${name}`}
        value={reading.unit}
        onChange={(event) => onUnit(event.currentTarget.value)}
      >
        {units.map((unit) => (
          <option key={unit} value={unit}>
            {unit === "" ? none : unit === HUNDREDTHS ? "cents, öre" : unit}
          </option>
        ))}
      </select>
      {reading.point === "," && "decimal comma"}
      {reading.point === "." && "decimal point"}
    </span>
  );
}

/** The columns that are not sent, though they have values. */
function LeftOut({ table: { header, rows }, targets }: {
  table: Rows;
  targets: readonly Target[];
}) {
  const values = useMemo(
    () =>
      header.map((_, i) =>
        rows.reduce((all, row) => row[i] === "" ? all : all + 1, 0)
      ),
    [header, rows],
  );
  const left = [...header.keys()]
    .filter((i) => targets[i] === "" && values[i] > 0);
  return left.length === 0 ? null : (
    <details class="note">
      <summary>
        {count(left.length)} of {plural(header.length, "column")} left out
      </summary>
      {left.map((i) =>
        `${header[i] || `column ${i + 1}`} (${plural(values[i], "value")})`
      ).join(", ")}
    </details>
  );
}

/** Columns that are left out because another one is the same field. */
function Rivals({ table: { header, rows }, targets }: {
  table: Rows;
  targets: readonly Target[];
}) {
  const rivals = targetsByName(header).flatMap((target, column) => {
    const used = targets.indexOf(target || "sku");
    return target && targets[column] === "" && !isRepeatable(target) &&
        used >= 0 && rows.some((row) => row[column] !== "")
      ? [`${header[column]} (${header[used]} is the ${labelOf(target)})`]
      : [];
  });
  return rivals.length === 0 ? null : (
    <p class="note warn">
      Left out, as another column is the same field: {rivals.join(", ")}.
    </p>
  );
}

/** For each column. */
function examplesOf({ header, rows }: Rows): string[] {
  const some = rows.slice(0, EXAMPLE_ROWS);
  return header.map((_, column) =>
    valuesIn(some, column, EXAMPLES).map((value) => value.slice(0, 60))
      .join(" · ")
  );
}

/** What the first rows become. */
function Preview({ table, mapping }: {
  table: Rows;
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
    target !== "" && target !== "attribute" &&
    (mapping.targets.includes(target) || mapping.values[target])
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
