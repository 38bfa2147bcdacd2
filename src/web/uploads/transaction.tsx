/** One upload: its progress while images are downloaded, then its result. */
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
import { RefusedBar } from "./refused_bar.tsx";
import { WarningNote } from "../ui/problem_list.tsx";
import { UndoBar } from "./undo.tsx";
import { Progress, resultColumns, RetryBar, useLive } from "./watched.tsx";

export function TransactionView({ client, id }: {
  client: Client;
  id: string;
}) {
  const [turn, setTurn] = useState(0);
  const live = useLive<Transaction>(client, uploadAt(id), turn);
  const transaction = live.watched;
  const final = transaction?.finished_at ?? null;
  const begun = transaction !== null;
  const record = useLoaded(
    async (signal) => begun ? await loadRecord(client, id, signal) : null,
    [client, id, begun, final, turn],
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
      {live.error && (
        <ErrorNote
          error={live.error}
          onRetry={() => setTurn(turn + 1)}
        />
      )}
      {transaction && (
        <Progress
          watched={transaction}
          perSecond={live.perSecond}
          connected={live.connected}
        />
      )}
      {transaction && (
        <RetryBar
          client={client}
          watched={transaction}
          onRetried={() => setTurn(turn + 1)}
        />
      )}
      {transaction && transaction.products.refused !== undefined && (
        <RefusedBar client={client} watched={transaction} />
      )}
      {final !== null && (
        <WarningNote warnings={record.data?.warnings} isStored />
      )}
      {transaction && <UndoBar client={client} watched={transaction} />}
      {(begun || live.error === null) && (
        <WhenLoaded loaded={record}>
          {({ results }) => (
            <Results
              client={client}
              id={id}
              results={results}
              settled={final && `${turn} ${final}`}
            />
          )}
        </WhenLoaded>
      )}
    </>
  );
}

function uploadAt(transaction_id: string): { transaction_id: string } {
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
      { ...uploadAt(id), after: pages.at(-1)?.next },
      { signal },
    );
    pages.push(transaction);
  } while (pages.at(-1)?.next !== undefined);
  return {
    warnings: pages[0].warnings,
    results: pages.flatMap(({ results = [] }) => results),
  };
}

/** The number of rows drawn at first, and added by "more". */
const ROWS = 25;

function Results({ client, id, results, settled }: {
  client: Client;
  id: string;
  results: readonly Result[];
  /**
   * Null while images are being downloaded; a change reloads the products.
   */
  settled: string | null;
}) {
  const [failedOnly, setFailedOnly] = useState(false);
  const [shown, setShown] = useState(ROWS);
  const failed = results.filter(({ image }) =>
    image.some(({ status }) => status === "failed")
  );
  const wanted = useMemo(
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
        columns={resultColumns(client, settled, { transaction: id })}
        rows={wanted.slice(0, shown)}
        keyOf={(result) => result.id ?? results.indexOf(result)}
      />
      {wanted.length > shown && (
        <p>
          <button type="button" onClick={() => setShown(shown + ROWS)}>
            Show more ({formatCount(wanted.length - shown)})
          </button>
        </p>
      )}
    </section>
  );
}

/** Refused products first, then those with failed images, then the others. */
function failuresFirst(results: readonly Result[]): readonly Result[] {
  const rank = ({ result, image }: Result) =>
    result === "refused"
      ? 0
      : image.some(({ status }) => status === "failed")
      ? 1
      : 2;
  return results.toSorted((a, b) => rank(a) - rank(b));
}
