/** Recent uploads, refused ones included, the newest first. */
import { useEffect } from "preact/hooks";
import { every } from "../browser.ts";
import type { Client } from "../client.ts";
import { nameOfUpload } from "../names.ts";
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

/** How often the list is reloaded while images are being fetched. */
const LOOK_AGAIN_MS = 3_000;

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
    label: "Upload",
    look: "break",
    cell: (entry) =>
      "transaction" in entry
        ? (
          <a href={linkTo("uploads", entry.transaction.id)}>
            {titleOf(entry.transaction)}
          </a>
        )
        : "Refused upload",
  },
  { label: "When", cell: ({ at }) => <Moment iso={at} /> },
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

function titleOf({ id, undoes }: Transaction): string {
  return undoes === null
    ? nameOfUpload(id) ?? "Upload"
    : `Undo of ${nameOfUpload(undoes) ?? "an upload"}`;
}

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
  const isRunning = list.rows?.some(({ finishedAt }) => finishedAt === null);
  useEffect(() => {
    if (isRunning) return every(LOOK_AGAIN_MS, list.reload);
  }, [isRunning]);
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
        empty={entries.length > 0 ? "None was accepted." : (
          <>
            Nothing was uploaded yet. <a href={linkTo("upload")}>Upload some</a>
          </>
        )}
      />
    </>
  );
}
