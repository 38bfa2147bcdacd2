/** The history: uploads, imports and refused uploads, the newest first. */
import { useEffect } from "preact/hooks";
import { UnlessReadOnly } from "../ui/changing.tsx";
import { every } from "../lib/browser.ts";
import type { WatchedUpload } from "../state/background.ts";
import type { Client, Refusal } from "../../client/mod.ts";
import { uploadState, uploadTitle, uploadView } from "../state/names.ts";
import {
  ErrorNote,
  LocalTime,
  State,
  Title,
  useLoaded,
} from "../ui/components.tsx";
import { formatCount } from "../lib/format.ts";
import { ListFoot, type LoadedRows, useRows } from "../ui/paging.tsx";
import { linkTo } from "../state/route.ts";
import { type Column, Table } from "../ui/table.tsx";
import { RefusalReasons } from "./refusals.tsx";

/** How often the list is reloaded while an upload is in progress. */
const REFRESH_MS = 3_000;

/**
 * A row of the history: an accepted upload, or one that was refused at once.
 */
type Entry =
  | { watched: WatchedUpload; at: string }
  | { refusal: Refusal; at: string };

/** A column of counts; the cells of refused uploads are empty. */
function countColumn(
  label: string,
  read: (watched: WatchedUpload) => number,
): Column<Entry> {
  return {
    label,
    right: true,
    cell: (entry) =>
      "watched" in entry ? formatCount(read(entry.watched)) : null,
  };
}

function UploadLink({ watched }: { watched: WatchedUpload }) {
  const { view, id } = uploadView(watched);
  return <a href={linkTo(view, id)}>{uploadTitle(watched)}</a>;
}

const COLUMNS: readonly Column<Entry>[] = [
  {
    label: "Upload",
    classes: "break",
    cell: (entry) =>
      "watched" in entry
        ? <UploadLink watched={entry.watched} />
        : refusalTitle(entry.refusal),
  },
  { label: "When", cell: ({ at }) => <LocalTime iso={at} /> },
  {
    label: "State",
    cell: (entry) =>
      "watched" in entry
        ? (
          <State
            state={entry.watched.status}
            label={uploadState(entry.watched)}
          />
        )
        : (
          <>
            <State
              state="refused"
              label={entry.refusal.dry_run ? "check refused" : undefined}
            />{" "}
            <RefusalReasons refusal={entry.refusal} />
          </>
        ),
  },
  countColumn("Products", ({ products }) => products.total),
  countColumn("New", ({ products }) => products.created),
  countColumn("Changed", ({ products }) => products.updated),
  countColumn("Images", ({ images }) => images.total),
  {
    ...countColumn("Failed", ({ images }) => images.failed),
    classes: (entry) =>
      "watched" in entry && entry.watched.images.failed > 0 ? "bad" : "",
  },
];

/** The endpoints whose refusals are in the history. */
const UPLOAD_ROUTES: readonly string[] = [
  "POST /seller_api/bulk_products",
  "POST /seller_api/bulk_attributes",
  "POST /seller_api/imports",
];

function isUploadRefusal({ route }: Refusal): boolean {
  return UPLOAD_ROUTES.includes(route);
}

/** The name of a refused request; a dry run is called a check. */
function refusalTitle({ name, dry_run }: Refusal): string {
  if (dry_run) return name === undefined ? "Check" : `Check of ${name}`;
  return name ?? "Refused at once";
}

/**
 * Merges all entries, the newest first. If a list has more pages, entries older
 * than its last loaded row are left out, because rows between them are missing.
 */
function mergeByTime(
  lists: readonly LoadedRows<WatchedUpload>[],
  refusals: readonly Refusal[],
): Entry[] {
  const loadedTo = lists.filter(({ more }) => more !== null)
    .map(({ rows }) => rows?.at(-1)?.created_at ?? "");
  const oldest = loadedTo.reduce((a, b) => a > b ? a : b, "");
  const watched = lists.flatMap(({ rows }) => rows ?? []);
  const entries: Entry[] = [
    ...watched.map((watched) => ({ watched, at: watched.created_at })),
    ...refusals.map((refusal) => ({ refusal, at: refusal.at })),
  ];
  return entries.filter(({ at }) => at >= oldest)
    .sort((a, b) => b.at.localeCompare(a.at));
}

export function UploadsView({ client }: { client: Client }) {
  const uploads = useRows<WatchedUpload>(async (after, signal) => {
    const { transactions: rows, next } = await client
      .uploads.list({ after }, { signal });
    return { rows, next };
  }, [client]);
  const imports = useRows<WatchedUpload>(async (after, signal) => {
    const { imports, next } = await client.imports.list({ after }, { signal });
    // The history leaves out dry runs.
    return { rows: imports.filter(({ dry_run }) => !dry_run), next };
  }, [client]);
  const refusals = useLoaded(async (signal) => {
    const { refusals } = await client.refusals.list({ limit: 100 }, { signal });
    return refusals.filter(isUploadRefusal);
  }, [client]);
  const lists = [imports, uploads];
  const list = mergeLists(lists);
  const reload = () => {
    list.reload();
    refusals.reload();
  };
  const isRunning = list.rows?.some(({ finished_at }) => finished_at === null);
  useEffect(() => {
    if (isRunning) return every(REFRESH_MS, list.reload);
  }, [isRunning]);
  const entries = list.rows === null
    ? []
    : mergeByTime(lists, refusals.data ?? []);
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
            "watched" in entry
              ? uploadView(entry.watched).id
              : entry.refusal.request_id}
        />
      )}
      {refusals.error && <ErrorNote error={refusals.error} />}
      <ListFoot
        list={list}
        empty={entries.length > 0 ? "No upload was accepted." : (
          <>
            Nothing was uploaded yet.{" "}
            <UnlessReadOnly>
              <a href={linkTo("upload")}>Upload some</a>
            </UnlessReadOnly>
          </>
        )}
      />
    </>
  );
}

/** Combines several lists into one. */
function mergeLists<T>(lists: readonly LoadedRows<T>[]): LoadedRows<T> {
  const isLoaded = lists.every(({ rows }) => rows !== null);
  const loadMore = lists.flatMap(({ more }) => more ?? []);
  const rows = lists.flatMap(({ rows }) => rows ?? []);
  return {
    rows: isLoaded ? rows : null,
    busy: lists.some(({ busy }) => busy),
    error: lists.find(({ error }) => error !== null)?.error ?? null,
    more: loadMore.length === 0
      ? null
      : () => loadMore.forEach((more) => more()),
    reload: () => lists.forEach(({ reload }) => reload()),
  };
}
