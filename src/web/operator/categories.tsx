/** For the operator: the marketplace's categories and their rules. */
import { useState } from "preact/hooks";
import { ApiError, type Category, type Client } from "../../client/mod.ts";
import { UnlessViewing } from "../ui/changing.tsx";
import { ListFoot, useRows } from "../ui/paging.tsx";
import { ErrorNote, Form, Title, useAction } from "../ui/components.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { ruleText } from "../products/category_rules.tsx";
import { ProblemList } from "../ui/problem_list.tsx";

const COLUMNS: readonly Column<Category>[] = [
  { label: "Category", cell: ({ name }) => name },
  {
    label: "Rules",
    classes: "fill",
    cell: ({ rule = [] }) => rule.map(ruleText).join(" · ") || "–",
  },
];

export function CategoriesView({ client }: { client: Client }) {
  const [q, setQ] = useState("");
  const [isClosed, setClosed] = useState(false);
  const list = useRows(async (after, signal) => {
    const { categories, next } = await client
      .listAllCategories({ after }, { signal });
    setClosed(categories.closed ?? false);
    return { rows: categories.category ?? [], next };
  }, [client]);
  const rows =
    list.rows?.filter(({ name }) =>
      name.toLowerCase().includes(q.toLowerCase())
    ) ?? [];
  return (
    <>
      <Title>Categories</Title>
      <p class="quiet">
        {isClosed
          ? "Products may use only these categories."
          : "Products may also use other categories."}{" "}
        A rule with a date warns before that date, and refuses from then on.
      </p>
      <UnlessViewing>
        <PutList client={client} onPut={list.reload} />
      </UnlessViewing>
      <label class="row">
        Find
        <input
          type="search"
          value={q}
          onInput={(event) => setQ(event.currentTarget.value)}
        />
      </label>
      {rows.length > 0 && (
        <Table
          label="Categories"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ name }) => name}
        />
      )}
      <ListFoot
        list={list}
        empty="There is no list: products may use any categories."
      />
    </>
  );
}

/** Uploads a list of categories: first a check of the file, then the change. */
function PutList({ client, onPut }: { client: Client; onPut: () => void }) {
  const [file, setFile] = useState<Blob | null>(null);
  const [checked, setChecked] = useState(false);
  const { busy, error, run } = useAction();
  const send = async (dry_run: boolean) => {
    setChecked(false);
    const text = await file!.text();
    const type = text.trimStart().startsWith("{")
      ? "application/json"
      : "text/xml";
    const categories = new Blob([text], { type });
    await client.putCategories({ categories, dry_run });
    if (dry_run) return setChecked(true);
    onPut();
  };
  return (
    <Form class="card" onSubmit={() => run(() => send(true))}>
      <p class="row">
        <input
          type="file"
          aria-label="A list of categories, XML or JSON"
          accept=".xml,.json"
          onChange={({ currentTarget: { files } }) => {
            setChecked(false);
            setFile(files?.[0] ?? null);
          }}
        />
        <button type="submit" disabled={busy || file === null}>Check</button>
        <button
          type="button"
          class="main"
          disabled={busy || !checked}
          onClick={() => run(() => send(false))}
        >
          Replace the list
        </button>
      </p>
      {checked && (
        <p class="note good" role="status">
          The list has no problems. “Replace the list” puts it into force.
        </p>
      )}
      {error && <ErrorNote error={error} />}
      {error instanceof ApiError && error.details.length > 10 && (
        <ProblemList details={error.details.slice(10)} more={error.more} />
      )}
    </Form>
  );
}
