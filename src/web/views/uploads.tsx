/** Recent uploads, refused ones included, the newest first. */
import { useEffect } from "preact/hooks";
import { every } from "../browser.ts";
import type { Client, Refusal, Transaction } from "../../client/mod.ts";
import { titleOf } from "../names.ts";
import {
  count,
  ErrorNote,
  Moment,
  State,
  Title,
  useLoaded,
} from "../parts.tsx";
import { ListFoot, useRows } from "../paging.tsx";
import { linkTo } from "../route.ts";
import { type Column, Table } from "../table.tsx";
import { Reasons } from "./refusals.tsx";

/** How often the list is reloaded while images are being fetched. */
const LOOK_AGAIN_MS = 3_000;

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
      "transaction" in entry ? count(read(entry.transaction)) : null,
  };
}

const COLUMNS: readonly Column<Entry>[] = [
  {
    label: "Upload",
    look: "break",
    cell: (entry) =>
      "transaction" in entry
        ? (
          <a href={linkTo("uploads", entry.transaction.transaction_id)}>
            {titleOf(entry.transaction)}
          </a>
        )
        : "Refused check or upload",
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

/** Whether the refused request was an upload. */
function isUpload({ route }: Refusal): boolean {
  return route === "POST /seller_api/bulk_products";
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
  const oldest = isWhole ? "" : transactions.at(-1)?.created_at ?? "";
  const entries: Entry[] = [
    ...transactions.map((transaction) => ({
      transaction,
      at: transaction.created_at,
    })),
    ...refusals.filter(({ at }) => at >= oldest)
      .map((refusal) => ({ refusal, at: refusal.at })),
  ];
  return entries.sort((a, b) => a.at < b.at ? 1 : -1);
}

export function UploadsView({ client }: { client: Client }) {
  const list = useRows(async (after, signal) => {
    const { transactions: rows, next } = await client
      .listTransactions({ after }, { signal });
    return { rows, next };
  }, [client]);
  const refusals = useLoaded(async (signal) => {
    const { refusals } = await client.listRefusals({ limit: 100 }, { signal });
    return refusals.filter(isUpload);
  }, [client]);
  const reload = () => {
    list.reload();
    refusals.reload();
  };
  const isRunning = list.rows?.some(({ finished_at }) => finished_at === null);
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
            "transaction" in entry
              ? entry.transaction.transaction_id
              : entry.refusal.request_id}
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
