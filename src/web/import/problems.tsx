/** The problems of a document in groups, with a filter and a button to save. */
import { useMemo, useState } from "preact/hooks";
import { saveFile } from "../lib/browser.ts";
import type { Client, Detail, DetailCode } from "../../client/mod.ts";
import { csvOf } from "./read/csv.ts";
import { mayBeConfirmed } from "./check/objections.ts";
import { problemTitle, remedyOf, valuesOfField } from "../lib/words.ts";
import { readableName } from "../lib/texts.ts";
import { ErrorFacts, Form } from "../ui/components.tsx";
import { formatCount, plural } from "../lib/format.ts";
import { ConfirmButton } from "./confirm_button.tsx";
import type { Upload } from "./send/upload_state.ts";
import {
  commonValue,
  isEditable,
  problemsIn,
  replaceValues,
} from "./send/upload.ts";

/** With more problems, there is a filter and only the first group is expanded. */
const FEW_PROBLEMS = 12;

/** Problems of one kind in one field. */
interface Group {
  /** The code and the title. */
  key: string;
  title: string;
  found: Detail[];
}

export function Problems({ client, current, place, onFind }: {
  client: Client;
  current: Upload;
  /** The problem whose text is selected. */
  place: Detail | null;
  onFind: (found: Detail) => void;
}) {
  const all = useMemo(() => problemsIn(current), [current.step]);
  const [filter, setFilter] = useState("");
  const groups = useMemo(() => grouped(matching(all, filter)), [all, filter]);
  const shown = groups.reduce((sum, { found }) => sum + found.length, 0);
  const { step } = current;
  const { more, error } = step.name === "refused"
    ? step.refusal
    : { more: 0, error: null };
  return (
    <section class="problems" aria-label="Problems">
      <div class="note bad" role="alert">
        <p>
          <strong>
            {all.length === 0 ? error?.title : headline(all, more)}
          </strong>
          {all.length > 0 &&
            ` ${
              error?.code === "changed_since"
                ? error.message
                : "None of these products was stored."
            }`}
        </p>
        {error && <ErrorFacts error={error} />}
      </div>
      {all.length > FEW_PROBLEMS && (
        <div class="row">
          <input
            type="search"
            class="grow"
            aria-label="Filter the problems"
            placeholder="Filter: SKU, field, text"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
          <span class="quiet" role="status">
            {filter === ""
              ? ""
              : `${formatCount(shown)} of ${formatCount(all.length)}`}
          </span>
        </div>
      )}
      {groups.map((group, i) => (
        <GroupView
          key={`${filter === ""} ${group.key}`}
          client={client}
          group={group}
          current={current}
          isOpen={i === 0 || all.length <= FEW_PROBLEMS}
          place={place}
          onFind={onFind}
        />
      ))}
      {more > 0 && (
        <p class="quiet">
          {plural(more, "further problem")}{" "}
          will be listed once some of these are corrected.
        </p>
      )}
      {all.length > 0 && (
        <p>
          <button type="button" onClick={() => saveProblems(current, all)}>
            Save the list as a file
          </button>
        </p>
      )}
    </section>
  );
}

function headline(all: readonly Detail[], more: number): string {
  const problems = plural(all.length + more, "problem");
  const products = new Set(
    all.map(({ product }) => product)
      .filter((product) => product !== undefined),
  ).size;
  // Problems beyond the list may concern other products.
  return products === 0 || more > 0
    ? `${problems}.`
    : `${problems} in ${plural(products, "product")}.`;
}

function matching(all: readonly Detail[], filter: string): readonly Detail[] {
  const text = filter.trim().toLowerCase();
  return text === ""
    ? all
    : all.filter(({ sku, field, message, code }) =>
      [sku, field, message, code]
        .some((part) => part?.toLowerCase().includes(text))
    );
}

/** Groups problems; the largest group is the first. */
function grouped(all: readonly Detail[]): Group[] {
  const groups = new Map<string, Group>();
  for (const found of all) {
    const title = problemTitle(found);
    const key = `${found.code} ${title}`;
    const group = groups.get(key);
    if (group !== undefined) group.found.push(found);
    else groups.set(key, { key, title, found: [found] });
  }
  return [...groups.values()].sort((a, b) => b.found.length - a.found.length);
}

/** Whether the page does not send the product without a confirmation. */
function isHeldBack({ step }: Upload, problem: Detail): boolean {
  return step.name === "refused" && problem.sku !== undefined &&
    problem.product !== undefined &&
    step.refusal.heldBackProducts.includes(problem.product) &&
    mayBeConfirmed(problem);
}

function GroupView({ client, group, current, isOpen, place, onFind }: {
  client: Client;
  group: Group;
  current: Upload;
  isOpen: boolean;
  place: Detail | null;
  onFind: (found: Detail) => void;
}) {
  const [open, setOpen] = useState(isOpen);
  return (
    <details
      class="group"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        {group.title} <b class="count">{formatCount(group.found.length)}</b>
        <span class="unseen">
          {group.found.length === 1 ? "problem" : "problems"}
        </span>
      </summary>
      {open && (
        <p class="quiet remedy">
          {remedyOf(group.found[0].code, group.found[0].field)}
        </p>
      )}
      {open && group.found.length > 1 && (
        <ReplaceForm group={group} current={current} />
      )}
      {open && (
        <ol>
          {group.found.map((found, i) => (
            <li key={i}>
              <ProblemRow
                problem={found}
                current={found === place}
                onFind={() => onFind(found)}
              />
              {isHeldBack(current, found) && (
                <ConfirmButton
                  client={client}
                  skus={[found.sku!]}
                  adds={false}
                />
              )}
            </li>
          ))}
        </ol>
      )}
    </details>
  );
}

/** The codes of problems that concern a whole value. */
const WHOLE_VALUE_CODES: readonly DetailCode[] = [
  "not_a_number",
  "out_of_range",
  "not_in_list",
  "not_a_date",
  "not_allowed",
  "bad_check_digit",
  "bad_url",
  "image_unavailable",
  "image_blocked",
];

/** A form that replaces the same wrong value in many products. */
function ReplaceForm({ group: { found }, current }: {
  group: Group;
  current: Upload;
}) {
  const [value, setValue] = useState("");
  const [isDone, setDone] = useState(false);
  const { code, field } = found[0];
  const common = useMemo(
    () =>
      current.kind === "document" && WHOLE_VALUE_CODES.includes(code)
        ? commonValue(current, found)
        : null,
    // The value at the time of the check. Later edits change the text.
    [found[0]],
  );
  if (isDone) {
    return (
      <p class="remedy" role="status">
        Replaced in {plural(found.length, "product")}. Check again.
      </p>
    );
  }
  if (common === null || current.kind === "table" || !isEditable(current)) {
    return null;
  }
  const words = valuesOfField(field ?? "");
  const given = {
    value,
    required: true,
    "aria-label": `Instead of ${common}`,
  };
  return (
    <Form
      class="row remedy"
      onSubmit={() => {
        replaceValues(current, found, value);
        setDone(true);
      }}
    >
      <span>
        Replace <b>{common}</b> in all {formatCount(found.length)} by
      </span>
      {words === null
        ? (
          <input
            {...given}
            class="grow"
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        )
        : (
          <select
            {...given}
            onChange={(event) => setValue(event.currentTarget.value)}
          >
            <option value="">– choose –</option>
            {words.map((word) => (
              <option key={word} value={word}>{readableName(word)}</option>
            ))}
          </select>
        )}
      <button type="submit">Replace</button>
    </Form>
  );
}

function ProblemRow({ problem, current, onFind }: {
  problem: Detail;
  current: boolean;
  onFind: () => void;
}) {
  const { line, column, sku, product, field, message } = problem;
  return (
    <button
      type="button"
      class="problem"
      disabled={line === undefined}
      aria-current={current ? "location" : undefined}
      onClick={onFind}
    >
      <span class="where">
        {line !== undefined && <b>line {line}</b>}
        {column !== undefined && <span>column {column}</span>}
        {(sku ?? product) !== undefined && (
          <span>{sku ?? `product ${product}`}</span>
        )}
        {field !== undefined && <span class="mono">{field}</span>}
      </span>
      <span class="what">{message}</span>
    </button>
  );
}

function saveProblems(
  { fileName }: Upload,
  all: readonly Detail[],
): void {
  const text = csvOf([
    ["product", "SKU", "line", "field", "problem", "code"],
    ...all.map((problem) => [
      problem.product ?? null,
      problem.sku ?? null,
      problem.line ?? null,
      problem.field ?? null,
      problem.message,
      problem.code,
    ]),
  ]);
  saveFile(
    new Blob([text], { type: "text/csv" }),
    `${fileName.replace(/\.\w+$/, "")}-problems.csv`,
  );
}
