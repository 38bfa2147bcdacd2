/** The uploads of late, the newest first. */
import type { Client } from "../client.ts";
import { count, Moment, State, Title } from "../parts.tsx";
import { ListFoot, type ListOf, useRows } from "../paging.tsx";
import { readTransaction, type Transaction } from "../resources.ts";
import { linkTo } from "../route.ts";
import { type Column, Table } from "../table.tsx";

const UPLOADS: ListOf<Transaction> = {
  path: "/seller_api/bulk_products",
  list: "transactions",
  row: "transaction",
  read: readTransaction,
};

const COLUMNS: readonly Column<Transaction>[] = [
  {
    label: "Uploaded",
    cell: ({ id, createdAt }) => (
      <a href={linkTo("uploads", id)}>
        <Moment iso={createdAt} />
      </a>
    ),
  },
  { label: "State", cell: ({ status }) => <State of={status} /> },
  {
    label: "Products",
    right: true,
    cell: ({ products }) => count(products.total),
  },
  {
    label: "New",
    right: true,
    cell: ({ products }) => count(products.created),
  },
  {
    label: "Changed",
    right: true,
    cell: ({ products }) => count(products.updated),
  },
  { label: "Images", right: true, cell: ({ images }) => count(images.total) },
  {
    label: "Failed",
    right: true,
    look: ({ images }) => images.failed > 0 ? "bad" : "",
    cell: ({ images }) => count(images.failed),
  },
];

export function UploadsView({ client }: { client: Client }) {
  const list = useRows(client, UPLOADS);
  return (
    <>
      <div class="bar">
        <Title>History of uploads</Title>
        <button type="button" disabled={list.busy} onClick={list.reload}>
          Refresh
        </button>
      </div>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Uploads"
          columns={COLUMNS}
          rows={list.rows}
          keyOf={({ id }) => id}
        />
      )}
      <ListFoot list={list} empty="Nothing was uploaded yet." />
    </>
  );
}
