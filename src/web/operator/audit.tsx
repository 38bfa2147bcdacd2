/** The operator's view of the changes that operators made. */
import type { AuditEntry, OperatorClient } from "../../client/mod.ts";
import { LocalTime, Title } from "../ui/components.tsx";
import { ListFoot, useRows } from "../ui/paging.tsx";
import { type Column, Table } from "../ui/table.tsx";

const COLUMNS: readonly Column<AuditEntry>[] = [
  { label: "When", cell: ({ at }) => <LocalTime iso={at} /> },
  { label: "Who", cell: ({ who }) => who },
  { label: "Action", cell: ({ action }) => action },
  { label: "Seller", classes: "break", cell: ({ seller }) => seller || "–" },
  { label: "Detail", classes: "break", cell: ({ detail }) => detail },
];

export function AuditView({ client }: { client: OperatorClient }) {
  const list = useRows(async (after, signal) => {
    const { audit: rows, next } = await client.audit.list({ after }, {
      signal,
    });
    return { rows, next };
  }, [client]);
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
