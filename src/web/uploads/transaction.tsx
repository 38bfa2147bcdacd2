/** The view of one upload: the progress of its images, then its results. */
import { useMemo, useState } from "preact/hooks";
import type { Client, Result, Transaction } from "../../client/mod.ts";
import {
  ErrorNote,
  State,
  Title,
  useLoaded,
  WhenLoaded,
} from "../ui/components.tsx";
import { formatCount } from "../lib/format.ts";
import { uploadState, uploadTitle } from "../state/names.ts";
import { linkTo } from "../state/route.ts";
import { Table } from "../ui/table.tsx";
import { RefusedProductsNote } from "./refused_bar.tsx";
import { WarningNote } from "../ui/problem_list.tsx";
import { UndoBar } from "./undo.tsx";
import {
  Progress,
  resultColumns,
  RetryBar,
  useUploadProgress,
} from "./watched.tsx";

export function TransactionView({ client, id }: {
  client: Client;
  id: string;
}) {
  const [retries, setRetries] = useState(0);
  const progress = useUploadProgress<Transaction>(
    client,
    uploadId(id),
    retries,
  );
  const transaction = progress.watched;
  const finishedAt = transaction?.finished_at ?? null;
  const isLoaded = transaction !== null;
  const record = useLoaded(
    async (signal) => isLoaded ? await loadRecord(client, id, signal) : null,
    [client, id, isLoaded, finishedAt, retries],
  );
  return (
    <>
      <p>
        <a href={linkTo("uploads")}>All uploads</a>
      </p>
      <div class="bar">
        <Title>
          {transaction === null ? "Upload" : uploadTitle(transaction)}
        </Title>
        {transaction && (
          <State state={transaction.status} label={uploadState(transaction)} />
        )}
      </div>
      {progress.error && (
        <ErrorNote
          error={progress.error}
          onRetry={() => setRetries(retries + 1)}
        />
      )}
      {transaction && (
        <Progress
          watched={transaction}
          perSecond={progress.perSecond}
          connected={progress.connected}
        />
      )}
      {transaction && (
        <RetryBar
          client={client}
          watched={transaction}
          onRetried={() => setRetries(retries + 1)}
        />
      )}
      {transaction && transaction.products.refused !== undefined && (
        <RefusedProductsNote client={client} watched={transaction} />
      )}
      {finishedAt !== null && (
        <WarningNote warnings={record.data?.warnings} isStored />
      )}
      {transaction && <UndoBar client={client} watched={transaction} />}
      {(isLoaded || progress.error === null) && (
        <WhenLoaded loaded={record}>
          {({ results }) => (
            <Results
              client={client}
              id={id}
              results={results}
              reloadKey={finishedAt && `${retries} ${finishedAt}`}
            />
          )}
        </WhenLoaded>
      )}
    </>
  );
}

function uploadId(transaction_id: string): { transaction_id: string } {
  return { transaction_id };
}

type LoadedRecord = Pick<Transaction, "warnings"> & {
  results: readonly Result[];
};

/** The record of an upload, with the results of all its pages. */
async function loadRecord(
  client: Client,
  id: string,
  signal: AbortSignal,
): Promise<LoadedRecord> {
  const pages: Transaction[] = [];
  do {
    const { transaction } = await client.uploads.get(
      { ...uploadId(id), after: pages.at(-1)?.next },
      { signal },
    );
    pages.push(transaction);
  } while (pages.at(-1)?.next !== undefined);
  return {
    warnings: pages[0].warnings,
    results: pages.flatMap(({ results = [] }) => results),
  };
}

/** The number of rows that are shown at first, and that "Show more" adds. */
const ROWS_PER_STEP = 25;

function Results({ client, id, results, reloadKey }: {
  client: Client;
  id: string;
  results: readonly Result[];
  /**
   * Null while images are being downloaded; a change reloads the products.
   */
  reloadKey: string | null;
}) {
  const [failedOnly, setFailedOnly] = useState(false);
  const [shown, setShown] = useState(ROWS_PER_STEP);
  const failed = results.filter(({ image }) =>
    image.some(({ status }) => status === "failed")
  );
  const listedResults = useMemo(
    () => failedOnly && failed.length > 0 ? failed : failuresFirst(results),
    [results, failedOnly],
  );
  return (
    <section aria-label="Results">
      <div class="bar">
        <h2>Products</h2>
        {failed.length > 0 && (
          <label class="row">
            <input
              type="checkbox"
              checked={failedOnly}
              onChange={(event) => setFailedOnly(event.currentTarget.checked)}
            />
            only with failed images ({formatCount(failed.length)})
          </label>
        )}
      </div>
      <Table
        label="Products"
        columns={resultColumns(client, reloadKey, { transaction: id })}
        rows={listedResults.slice(0, shown)}
        keyOf={(result) => result.id ?? results.indexOf(result)}
      />
      {listedResults.length > shown && (
        <p>
          <button type="button" onClick={() => setShown(shown + ROWS_PER_STEP)}>
            Show more ({formatCount(listedResults.length - shown)})
          </button>
        </p>
      )}
    </section>
  );
}

/** Sorts refused products first, then products with failed images. */
function failuresFirst(results: readonly Result[]): readonly Result[] {
  const rank = ({ result, image }: Result) =>
    result === "refused"
      ? 0
      : image.some(({ status }) => status === "failed")
      ? 1
      : 2;
  return results.toSorted((a, b) => rank(a) - rank(b));
}
