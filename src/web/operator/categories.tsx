/** The operator's view of the marketplace's categories and their rules. */
import { useState } from "preact/hooks";
import {
  ApiError,
  type Category,
  type OperatorClient,
} from "../../client/mod.ts";
import { UnlessReadOnly } from "../ui/changing.tsx";
import { plural } from "../lib/format.ts";
import { ListFoot, useRows } from "../ui/paging.tsx";
import { ErrorNote, Form, Title, useAction } from "../ui/components.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { ruleText } from "../products/category_rules.tsx";
import { ProblemList } from "../ui/problem_list.tsx";

const CATEGORY_COLUMNS: readonly Column<Category>[] = [
  { label: "Category", cell: ({ name }) => name },
  {
    label: "Rules",
    classes: "fill",
    cell: ({ rule = [] }) =>
      rule.length === 0
        ? "–"
        : rule.map((one, i) => <div key={i}>{ruleText(one)}</div>),
  },
];

export function CategoriesView({ client }: { client: OperatorClient }) {
  const [q, setQ] = useState("");
  const [isClosed, setClosed] = useState(false);
  const list = useRows(async (after, signal) => {
    const { categories, next } = await client
      .categories.list({ q, after }, { signal });
    setClosed(categories.closed ?? false);
    return { rows: categories.category ?? [], next };
  }, [client, q]);
  return (
    <>
      <Title>Categories</Title>
      <p class="quiet">
        {isClosed
          ? "Products may use only these categories."
          : "Products may also use other categories."}{" "}
        A rule with a date warns before that date and refuses from that date on.
      </p>
      <UnlessReadOnly>
        <ListUpload client={client} onReplaced={list.reload} />
      </UnlessReadOnly>
      <label class="row">
        Find
        <input
          type="search"
          value={q}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
      </label>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Categories"
          columns={CATEGORY_COLUMNS}
          rows={list.rows}
          keyOf={({ name }) => name}
        />
      )}
      <ListFoot
        list={list}
        empty={q === ""
          ? "There is no list: products may use any categories."
          : "No category’s name contains this text."}
      />
    </>
  );
}

/** A form that uploads a list of categories: checks the file, then stores it. */
function ListUpload(
  { client, onReplaced }: { client: OperatorClient; onReplaced: () => void },
) {
  const [file, setFile] = useState<Blob | null>(null);
  const [step, setStep] = useState<"chosen" | "checked" | "stored">("chosen");
  const { busy, error, run } = useAction();
  const send = async (dry_run: boolean) => {
    setStep("chosen");
    const text = await file!.text();
    const type = text.trimStart().startsWith("{")
      ? "application/json"
      : "text/xml";
    const categories = new Blob([text], { type });
    await client.categories.put({ categories, dry_run });
    setStep(dry_run ? "checked" : "stored");
    if (!dry_run) onReplaced();
  };
  return (
    <Form class="card" onSubmit={() => run(() => send(true))}>
      <p class="row">
        <input
          type="file"
          aria-label="A list of categories, XML or JSON"
          accept=".xml,.json"
          onChange={({ currentTarget: { files } }) => {
            setStep("chosen");
            setFile(files?.[0] ?? null);
          }}
        />
        <button type="submit" disabled={busy || file === null}>Check</button>
        <button
          type="button"
          class="main"
          disabled={busy || step !== "checked"}
          onClick={() => run(() => send(false))}
        >
          Replace the list
        </button>
      </p>
      {step !== "chosen" && (
        <p class="note good" role="status">
          {step === "stored"
            ? "The list is stored and applies to new uploads."
            : "The list has no problems. “Replace the list” stores it."}
        </p>
      )}
      {error && <ListProblems error={error} />}
    </Form>
  );
}

/** The problems of a refused list, with their lines. */
function ListProblems({ error }: { error: Error }) {
  if (!(error instanceof ApiError) || error.details.length === 0) {
    return <ErrorNote error={error} />;
  }
  const { details, more } = error;
  return (
    <div class="note bad" role="alert">
      <p>{plural(details.length + more, "problem")}.</p>
      <ProblemList details={details} more={more} />
    </div>
  );
}
