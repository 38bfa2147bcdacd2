/** Refused requests with their problems. */
import type { Client, Problem } from "../client.ts";
import { count, Moment, plural, Title } from "../parts.tsx";
import { ListFoot, type ListOf, useRows } from "../paging.tsx";
import { readRefusal, type Refusal } from "../resources.ts";
import { type Column, Table } from "../table.tsx";

const COLUMNS: readonly Column<Refusal>[] = [
  { label: "When", cell: ({ at }) => <Moment iso={at} /> },
  { label: "Request", look: "mono break", cell: ({ route }) => route ?? "–" },
  { label: "Status", right: true, cell: ({ status }) => status },
  { label: "Code", look: "mono", cell: ({ code }) => code },
  { label: "Why", cell: (refusal) => <Reasons refusal={refusal} /> },
];

const OF_WHOM: Column<Refusal> = {
  label: "Seller",
  look: "break",
  cell: ({ seller }) => seller,
};

/** The message, with its problems behind a toggle. */
export function Reasons({ refusal }: { refusal: Refusal }) {
  const { id, message, problems, more } = refusal;
  const facts = (
    <span class="quiet">
      For a report: <code>{refusal.code}</code>, request <code>{id}</code>
    </span>
  );
  if (problems.length === 0) {
    return (
      <details>
        <summary>{message}</summary>
        {facts}
      </details>
    );
  }
  return (
    <details>
      <summary>{plural(problems.length + more, "problem")}</summary>
      <ProblemList problems={problems} more={more} />
      {facts}
    </details>
  );
}

/** Each problem with its position, and the number of those left out. */
export function ProblemList({ problems, more }: {
  problems: readonly Problem[];
  more: number;
}) {
  return (
    <>
      <ul>
        {problems.map(({ product, line, message }, i) => (
          <li key={i}>
            {product !== null && `product ${product}, `}
            {line !== null && `line ${line}: `}
            {message}
          </li>
        ))}
      </ul>
      {more > 0 && <p class="quiet">and {count(more)} more</p>}
    </>
  );
}

/** For the operator: the refusals of one seller, or of all. */
export function Refusals({ client, seller }: {
  client: Client;
  /** An id. */
  seller?: string;
}) {
  const query = seller === undefined ? "" : `?seller=${seller}`;
  const refusals: ListOf<Refusal> = {
    path: `/operator_api/refusals${query}`,
    list: "refusals",
    row: "refusal",
    read: readRefusal,
  };
  const list = useRows(client, refusals);
  const [when, ...rest] = COLUMNS;
  return (
    <>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Refused requests"
          columns={seller === undefined ? [when, OF_WHOM, ...rest] : COLUMNS}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
      <ListFoot list={list} empty="Nothing was refused." />
    </>
  );
}

export function RefusalsView({ client }: { client: Client }) {
  return (
    <>
      <Title>Refused requests</Title>
      <Refusals client={client} />
    </>
  );
}
