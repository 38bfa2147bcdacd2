/** For the operator: the changes that operators made. */
import type { Client } from "../client.ts";
import { Moment, Title } from "../parts.tsx";
import { ListFoot, type ListOf, useRows } from "../paging.tsx";
import { type Change, readChange } from "../resources.ts";
import { type Column, Table } from "../table.tsx";

const AUDIT: ListOf<Change> = {
  path: "/operator_api/audit",
  list: "audit",
  row: "entry",
  read: readChange,
};

const COLUMNS: readonly Column<Change>[] = [
  { label: "When", cell: ({ at }) => <Moment iso={at} /> },
  { label: "Who", cell: ({ who }) => who },
  { label: "Action", cell: ({ action }) => action },
  { label: "Seller", look: "break", cell: ({ seller }) => seller ?? "–" },
  { label: "Detail", look: "break", cell: ({ detail }) => detail },
];

export function AuditView({ client }: { client: Client }) {
  const list = useRows(client, AUDIT);
  return (
    <>
      <Title>Audit log</Title>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Audit log"
          columns={COLUMNS}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
      <ListFoot list={list} empty="No operator has changed anything yet." />
    </>
  );
}
