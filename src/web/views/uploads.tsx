/** Recent uploads, refused ones included, the newest first. */
import type { Client } from "../client.ts";
import {
  count,
  ErrorNote,
  Moment,
  State,
  Title,
  useLoaded,
} from "../parts.tsx";
import { ListFoot, type ListOf, useRows } from "../paging.tsx";
import {
  readRefusal,
  readTransaction,
  type Refusal,
  type Transaction,
} from "../resources.ts";
import { linkTo } from "../route.ts";
import { type Column, Table } from "../table.tsx";
import { childrenOf, find } from "../xml.ts";
import { Reasons } from "./refusals.tsx";

const UPLOADS: ListOf<Transaction> = {
  path: "/seller_api/bulk_products",
  list: "transactions",
  row: "transaction",
  read: readTransaction,
};

/** An accepted or a refused upload. */
type Entry =
  | { transaction: Transaction; at: string }
  | { refusal: Refusal; at: string };

/** A column of counts, which only accepted uploads have. */
function figures(
  label: string,
  read: (transaction: Transaction) => number,
): Column<Entry> {
  return {
    label,
    right: true,
    cell: (entry) =>
      "transaction" in entry ? count(read(entry.transaction)) : "–",
  };
}

const COLUMNS: readonly Column<Entry>[] = [
  {
    label: "Uploaded",
    cell: (entry) =>
      "transaction" in entry
        ? (
          <a href={linkTo("uploads", entry.transaction.id)}>
            <Moment iso={entry.at} />
          </a>
        )
        : <Moment iso={entry.at} />,
  },
  {
    label: "State",
    cell: (entry) =>
      "transaction" in entry ? <State of={entry.transaction.status} /> : (
        <>
          <State of="refused" /> <Reasons refusal={entry.refusal} />
        </>
      ),
  },
  figures("Products", ({ products }) => products.total),
  figures("New", ({ products }) => products.created),
  figures("Changed", ({ products }) => products.updated),
  figures("Images", ({ images }) => images.total),
  {
    ...figures("Failed", ({ images }) => images.failed),
    look: (entry) =>
      "transaction" in entry && entry.transaction.images.failed > 0
        ? "bad"
        : "",
  },
];

/** Whether the refused request was an upload. */
function isUpload({ route }: Refusal): boolean {
  return route === `POST ${UPLOADS.path}`;
}

/**
 * Accepted and refused uploads by time. Refused ones are shown as far back as
 * accepted ones; `isWhole` means that the accepted ones are complete.
 */
function merged(
  transactions: readonly Transaction[],
  refusals: readonly Refusal[],
  isWhole: boolean,
): Entry[] {
  const oldest = isWhole ? "" : transactions.at(-1)?.createdAt ?? "";
  const entries: Entry[] = [
    ...transactions.map((transaction) => ({
      transaction,
      at: transaction.createdAt,
    })),
    ...refusals.filter(({ at }) => at >= oldest)
      .map((refusal) => ({ refusal, at: refusal.at })),
  ];
  return entries.sort((a, b) => a.at < b.at ? 1 : -1);
}

export function UploadsView({ client }: { client: Client }) {
  const list = useRows(client, UPLOADS);
  const refusals = useLoaded(async (signal) => {
    const path = "/seller_api/refusals?limit=100";
    const root = await client.read(path, { signal });
    return childrenOf(find(root, "refusals"), "refusal").map(readRefusal)
      .filter(isUpload);
  }, [client]);
  const reload = () => {
    list.reload();
    refusals.reload();
  };
  const entries = list.rows === null
    ? []
    : merged(list.rows, refusals.data ?? [], list.more === null);
  return (
    <>
      <div class="bar">
        <Title>History of uploads</Title>
        <button type="button" disabled={list.busy} onClick={reload}>
          Refresh
        </button>
      </div>
      {entries.length > 0 && (
        <Table
          label="Uploads"
          columns={COLUMNS}
          rows={entries}
          keyOf={(entry) =>
            "transaction" in entry ? entry.transaction.id : entry.refusal.id}
        />
      )}
      {refusals.error && <ErrorNote error={refusals.error} />}
      <ListFoot
        list={list}
        empty={entries.length > 0
          ? "None was accepted."
          : "Nothing was uploaded yet."}
      />
    </>
  );
}
