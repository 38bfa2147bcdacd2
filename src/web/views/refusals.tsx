/** Refused requests with their problems. */
import type { Client, Details, Refusal } from "../../client/mod.ts";
import { count, Moment, plural, Title } from "../parts.tsx";
import { ListFoot, useRows } from "../paging.tsx";
import { type Column, Table } from "../table.tsx";

const COLUMNS: readonly Column<Refusal>[] = [
  { label: "When", cell: ({ at }) => <Moment iso={at} /> },
  { label: "Request", look: "mono break", cell: ({ route }) => route || "–" },
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
  const { request_id, code, message, details } = refusal;
  const facts = (
    <span class="quiet">
      For a report: <code>{code}</code>, request <code>{request_id}</code>
    </span>
  );
  if (details === undefined) {
    return (
      <details>
        <summary>{message}</summary>
        {facts}
      </details>
    );
  }
  return (
    <details>
      <summary>
        {plural(details.detail.length + (details.more ?? 0), "problem")}
      </summary>
      <ProblemList details={details} />
      {facts}
    </details>
  );
}

/** Each problem with its position, and the number of those left out. */
export function ProblemList(
  { details: { detail, more = 0 } }: { details: Details },
) {
  return (
    <>
      <ul>
        {detail.map(({ product, line, message }, i) => (
          <li key={i}>
            {product !== undefined && `product ${product}, `}
            {line !== undefined && `line ${line}: `}
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
  const list = useRows(async (after, signal) => {
    const { refusals: rows, next } = await client
      .listAllRefusals({ seller, after }, { signal });
    return { rows, next };
  }, [client, seller]);
  const [when, ...rest] = COLUMNS;
  return (
    <>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Refused requests"
          columns={seller === undefined ? [when, OF_WHOM, ...rest] : COLUMNS}
          rows={list.rows}
          keyOf={({ request_id }) => request_id}
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
