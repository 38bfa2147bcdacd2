/** The view of one import: progress, problems, results and undo. */
import { useState } from "preact/hooks";
import { UnlessReadOnly } from "../ui/changing.tsx";
import type { Client, Import, ImportResult } from "../../client/mod.ts";
import { uploadState, uploadTitle } from "../state/names.ts";
import { ListFoot, useRows } from "../ui/paging.tsx";
import {
  ConfirmedButton,
  ErrorNote,
  State,
  Title,
  useAction,
  useLoaded,
} from "../ui/components.tsx";
import { formatCount } from "../lib/format.ts";
import { linkTo } from "../state/route.ts";
import { Table } from "../ui/table.tsx";
import { sentRow } from "../import/send/upload.ts";
import { stateLabel } from "../lib/texts.ts";
import { ProblemList, WarningNote } from "../ui/problem_list.tsx";
import { RefusedProductsNote } from "./refused_bar.tsx";
import { UndoBar } from "./undo.tsx";
import {
  Progress,
  resultColumns,
  RetryBar,
  useUploadProgress,
} from "./watched.tsx";

export function ImportView({ client, id }: { client: Client; id: string }) {
  const [retries, setRetries] = useState(0);
  const progress = useUploadProgress<Import>(
    client,
    { import_id: id },
    retries,
  );
  const { watched, error } = progress;
  const isOpen = watched?.status === "checking" ||
    watched?.status === "storing";
  const refused = watched?.products.refused ?? 0;
  return (
    <>
      <p>
        <a href={linkTo("uploads")}>All uploads</a>
      </p>
      <div class="bar">
        <Title>{watched === null ? "Import" : uploadTitle(watched)}</Title>
        {watched && (
          <State
            state={watched.status}
            label={uploadState(watched)}
          />
        )}
        {watched && isOpen && (
          <UnlessReadOnly>
            <CancelButton client={client} id={id} />
          </UnlessReadOnly>
        )}
      </div>
      {error && (
        <ErrorNote
          error={error}
          onRetry={() => setRetries(retries + 1)}
        />
      )}
      {watched && (
        <>
          <ImportStateNote {...watched} />
          <Progress
            watched={watched}
            perSecond={progress.perSecond}
            connected={progress.connected}
          />
          {watched.finished_at !== null && (
            <GeneralProblems client={client} id={id} />
          )}
          {!isOpen && refused > 0 && watched.undoes === undefined && (
            <RefusedProductsNote client={client} watched={watched} />
          )}
          <RetryBar
            client={client}
            watched={watched}
            onRetried={() => setRetries(retries + 1)}
          />
          <UndoBar client={client} watched={watched} />
          {!isOpen && <Results client={client} watched={watched} />}
        </>
      )}
    </>
  );
}

/** What a state means for the seller. */
const STATE_NOTES: Partial<Record<Import["status"], string>> = {
  checking: "The products are being checked. Nothing is stored yet.",
  storing: "The products are being stored, 250 at a time.",
  images: "All products are stored. Their images are being downloaded.",
  refused: "Nothing was stored.",
  cancelled:
    "The import was cancelled. Products stored before the cancellation remain.",
  failed:
    "The service could not finish the import. Products stored before the failure remain.",
};

function ImportStateNote({ status }: Import) {
  const text = STATE_NOTES[status];
  return text === undefined ? null : <p class="quiet">{text}</p>;
}

function CancelButton({ client, id }: { client: Client; id: string }) {
  const { busy, error, run } = useAction();
  return (
    <>
      <ConfirmedButton
        label="Cancel"
        question="Stop storing the products?"
        disabled={busy}
        onConfirm={() =>
          run(async () => {
            await client.imports.cancel({ import_id: id });
          })}
      />
      {error && <ErrorNote error={error} />}
    </>
  );
}

/** Problems without a product, and warnings. */
function GeneralProblems({ client, id }: { client: Client; id: string }) {
  const { data } = useLoaded(
    (signal) => client.imports.get({ import_id: id }, { signal }),
    [client, id],
  );
  const { problems: all = [], warnings, dry_run } = data?.import ?? {};
  const problems = all.filter(({ product }) => product === undefined);
  return (
    <>
      {problems.length > 0 && (
        <div class="note bad" role="alert">
          <ProblemList details={problems} />
        </div>
      )}
      <WarningNote
        warnings={warnings}
        isStored={!dry_run}
        rowOf={(product) => sentRow(id, product)}
      />
    </>
  );
}

const RESULT_KINDS = [
  "created",
  "updated",
  "unchanged",
  "deleted",
  "refused",
] as const;

function Results({ client, watched }: { client: Client; watched: Import }) {
  const { import_id, products, finished_at } = watched;
  const [result, setResult] = useState<ImportResult["result"] | undefined>(
    (products.refused ?? 0) > 0 ? "refused" : undefined,
  );
  const list = useRows(async (after, signal) => {
    const { results: rows, next } = await client
      .imports.results({ import_id, result, after }, { signal });
    return { rows, next };
  }, [client, import_id, result, finished_at]);
  return (
    <section aria-label="Results">
      <div class="bar">
        <h2>Products</h2>
        <select
          aria-label="Show the products"
          value={result ?? ""}
          onChange={({ currentTarget: { value } }) =>
            setResult(RESULT_KINDS.find((one) => one === value))}
        >
          <option value="">All ({formatCount(products.total)})</option>
          {RESULT_KINDS.filter((one) => (products[one] ?? 0) > 0).map((one) => (
            <option key={one} value={one}>
              {stateLabel(one)} ({formatCount(products[one] ?? 0)})
            </option>
          ))}
        </select>
      </div>
      {list.rows !== null && list.rows.length > 0 && (
        <Table
          label="Products"
          columns={resultColumns(
            client,
            finished_at,
            { rowOf: (product) => sentRow(import_id, product) },
          )}
          rows={list.rows}
          keyOf={(row) => list.rows!.indexOf(row)}
        />
      )}
      <ListFoot list={list} empty="No product has this result." />
    </section>
  );
}
