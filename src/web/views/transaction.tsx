/** One upload: its progress while images are fetched, then its result. */
import { useEffect, useMemo, useState } from "preact/hooks";
import {
  followInBackground,
  mayNotify,
  report,
  stopFollowing,
} from "../background.ts";
import type {
  Client,
  ImageCounts,
  Result,
  Transaction,
  UnsettledImage,
} from "../../client/mod.ts";
import { saveFile } from "../browser.ts";
import {
  Announcer,
  Await,
  count,
  duration,
  ErrorNote,
  Figure,
  Moment,
  plural,
  State,
  Title,
  useAction,
  useLoaded,
} from "../parts.tsx";
import { nameOfUpload, titleOf } from "../names.ts";
import { takeSheet } from "../intake.ts";
import { goTo, linkTo } from "../route.ts";
import { sheetOf } from "../sheet.ts";
import { Speed } from "../speed.ts";
import { type Column, Table } from "../table.tsx";
import { TitleOf } from "../thumbnails.tsx";
import { takeDocuments } from "../upload.ts";
import { ProblemList } from "./refusals.tsx";
import { UndoBar } from "./undo.tsx";

export function TransactionView({ client, id }: {
  client: Client;
  id: string;
}) {
  const [turn, setTurn] = useState(0);
  const live = useLive(client, id, turn);
  const final = live.transaction?.finished_at ?? null;
  const begun = live.transaction !== null;
  const results = useLoaded(
    async (signal) =>
      begun
        ? await Array.fromAsync(client.results(uploadAt(id), { signal }))
        : null,
    [client, id, begun, final, turn],
  );
  const { transaction } = live;
  return (
    <>
      <p>
        <a href={linkTo("uploads")}>All uploads</a>
      </p>
      <div class="bar">
        <Title>{titleOf(transaction ?? uploadAt(id))}</Title>
        {transaction && <State of={transaction.status} />}
      </div>
      {live.error && (
        <ErrorNote
          error={live.error}
          onRetry={() => setTurn(turn + 1)}
        />
      )}
      {transaction && (
        <Progress
          transaction={transaction}
          perSecond={live.perSecond}
          connected={live.connected}
        />
      )}
      {transaction && (
        <RetryBar
          client={client}
          transaction={transaction}
          onRetried={() => setTurn(turn + 1)}
        />
      )}
      {transaction && transaction.products.refused !== undefined && (
        <RefusedBar
          client={client}
          id={id}
          refused={transaction.products.refused}
        />
      )}
      {transaction && <UndoBar client={client} transaction={transaction} />}
      {(begun || live.error === null) && (
        <Await loaded={results}>
          {(data) => (
            <Results
              client={client}
              results={data}
              settled={final && `${turn} ${final}`}
            />
          )}
        </Await>
      )}
    </>
  );
}

function uploadAt(transaction_id: string): { transaction_id: string } {
  return { transaction_id };
}

interface Live {
  transaction: Transaction | null;
  perSecond: number | null;
  connected: boolean;
  error: Error | null;
}

const BEGUN: Live = {
  transaction: null,
  perSecond: null,
  connected: true,
  error: null,
};

function useLive(client: Client, id: string, turn: number): Live {
  const [live, setLive] = useState(BEGUN);
  useEffect(() => {
    const gone = new AbortController();
    let isOver = true;
    setLive(BEGUN);
    stopFollowing();
    const onRetry = () => setLive((last) => ({ ...last, connected: false }));
    const options = { signal: gone.signal, retryFor: Infinity, onRetry };
    const follow = async () => {
      const speed = new Speed();
      for await (const transaction of client.follow(uploadAt(id), options)) {
        isOver = transaction.finished_at !== null;
        report(transaction, titleOf(transaction));
        const { total, pending } = transaction.images;
        speed.add(total - pending);
        const { perSecond } = speed;
        setLive({ transaction, perSecond, connected: true, error: null });
      }
    };
    follow().catch((error) => {
      if (!gone.signal.aborted) setLive((last) => ({ ...last, error }));
    });
    return () => {
      gone.abort();
      if (!isOver) followInBackground(client, id, titleOf(uploadAt(id)));
    };
  }, [client, id, turn]);
  return live;
}

function Progress({ transaction, perSecond, connected }: {
  transaction: Transaction;
  perSecond: number | null;
  connected: boolean;
}) {
  const { products, images, finished_at, progress } = transaction;
  const speed = finished_at === null ? perSecond : averageSpeed(transaction);
  return (
    <section class="card" aria-label="Progress">
      <Announcer text={announcement(transaction)} />
      <div class="row">
        <progress
          class="grow"
          max={100}
          value={progress}
          aria-label="Images settled"
        />
        <strong class="percent">{progress} %</strong>
      </div>
      <dl class="figures">
        <Figure
          label="products"
          value={count(products.total)}
          note={changes(transaction)}
        />
        <Figure label="images" value={count(images.total)} />
        <Figure label="stored" value={count(images.stored + images.reused)} />
        <Figure label="pending" value={count(images.pending)} />
        <Figure
          label="failed"
          value={count(images.failed)}
          tone={images.failed > 0 ? "bad" : ""}
        />
        <Figure
          label="speed"
          value={speed === null ? "–" : `${speed.toFixed(1)}/s`}
        />
        <Figure
          label={finished_at === null ? "time left" : "took"}
          value={finished_at === null
            ? timeLeft(images, perSecond)
            : duration(secondsTaken(transaction))}
        />
      </dl>
      <p class="quiet">
        Uploaded <Moment iso={transaction.created_at} />
        {finished_at !== null && (
          <>
            , finished <Moment iso={finished_at} />
          </>
        )}
        {!connected && finished_at === null &&
          " · the connection was lost; it is being made again"}
      </p>
      {finished_at === null && (
        <p class="quiet">
          You may leave this page: the images are fetched without it.{" "}
          <NoticeButton />
        </p>
      )}
      <details class="facts">
        <summary>For a report</summary>
        upload <code class="break">{transaction.transaction_id}</code>
      </details>
    </section>
  );
}

/** Asks the browser to allow a notice when the upload ends. */
function NoticeButton() {
  const [may, setMay] = useState(mayNotify);
  if (may !== "default") return null;
  return (
    <button
      type="button"
      class="small"
      onClick={async () => setMay(await Notification.requestPermission())}
    >
      Tell me when it is done
    </button>
  );
}

function changes({ products }: Transaction): string {
  const { created, updated, unchanged, deleted = 0, refused = 0 } = products;
  return [
    created > 0 && `${count(created)} new`,
    updated > 0 && `${count(updated)} changed`,
    unchanged > 0 && `${count(unchanged)} unchanged`,
    refused > 0 && `${count(refused)} refused`,
    deleted > 0 && `${count(deleted)} deleted`,
  ].filter(Boolean).join(", ");
}

function secondsTaken({ created_at, finished_at }: Transaction): number {
  return (Date.parse(finished_at ?? created_at) - Date.parse(created_at)) /
    1_000;
}

function averageSpeed(transaction: Transaction): number | null {
  const seconds = secondsTaken(transaction);
  const { total } = transaction.images;
  return total === 0 || seconds < 0.05 ? null : total / seconds;
}

function timeLeft(images: ImageCounts, perSecond: number | null): string {
  return perSecond === null ? "–" : duration(images.pending / perSecond);
}

/** Announces quarters only, which is often enough for a screen reader. */
function announcement({ finished_at, images, progress }: Transaction): string {
  if (finished_at === null) {
    return `${Math.floor(progress / 25) * 25} percent of the images settled.`;
  }
  return images.failed === 0
    ? "The upload is complete."
    : `The upload is complete; ${plural(images.failed, "image")} failed.`;
}

function RetryBar({ client, transaction, onRetried }: {
  client: Client;
  transaction: Transaction;
  onRetried: () => void;
}) {
  const { busy, error, run } = useAction();
  const { failed } = transaction.images;
  if (transaction.finished_at === null) return null;
  if (failed === 0 && error === null) return null;
  const retry = async () => {
    const upload = uploadAt(transaction.transaction_id);
    const { images } = await client.retryImages(upload);
    if (images.retried > 0) onRetried();
  };
  return (
    <div class="note warn">
      <p class="row">
        <span class="grow">
          {plural(failed, "image")}{" "}
          could not be fetched. The products are stored without.
        </span>
        <button type="button" disabled={busy} onClick={() => run(retry)}>
          {busy ? "Asking…" : `Retry ${plural(failed, "failed image")}`}
        </button>
      </p>
      {error && <ErrorNote error={error} />}
    </div>
  );
}

/** Whose the SKUs are that an upload has stored. */
async function storedIn(
  client: Client,
  id: string,
): Promise<Map<string, string>> {
  const stored = new Map<string, string>();
  let product = 0;
  for await (const { sku, result } of client.results(uploadAt(id))) {
    product++;
    if (sku !== undefined && result !== "refused") {
      stored.set(sku, `product ${product} of the same upload`);
    }
  }
  return stored;
}

/** Offers the refused products for correction. */
function RefusedBar({ client, id, refused }: {
  client: Client;
  id: string;
  refused: number;
}) {
  const { busy, error, run } = useAction();
  const name = `refused-${nameOfUpload(id) ?? `${id}.xml`}`;
  const load = () => client.getRefusedProducts(uploadAt(id));
  const download = async () => saveFile(new Blob([await load()]), name);
  const correct = async () => {
    const text = await load();
    const stored = await storedIn(client, id);
    const sheet = sheetOf(name, text);
    goTo("upload");
    if (sheet !== null) takeSheet(client, sheet, { stored });
    else takeDocuments(client, name, [{ name, text }], { stored });
  };
  return (
    <div class="note warn">
      <p class="row">
        <span class="grow">
          {plural(refused, "product")}{" "}
          refused. Correct them here, or in a file that names their problems in
          comments; then upload them.
        </span>
        <button
          type="button"
          class="main"
          disabled={busy}
          onClick={() => run(correct)}
        >
          Correct them here
        </button>
        <button type="button" disabled={busy} onClick={() => run(download)}>
          Download the refused products
        </button>
      </p>
      {error && <ErrorNote error={error} />}
    </div>
  );
}

/** Rows drawn at first and at each request for more. */
const ROWS = 25;

function Results({ client, results, settled }: {
  client: Client;
  results: readonly Result[];
  /**
   * Changes when new images may be stored; null while they are being fetched.
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
            only with failed images ({count(failed.length)})
          </label>
        )}
      </div>
      <Table
        label="Products"
        columns={columnsFor(client, settled)}
        rows={wanted.slice(0, shown)}
        keyOf={(result) => result.id ?? results.indexOf(result)}
      />
      {wanted.length > shown && (
        <p>
          <button type="button" onClick={() => setShown(shown + ROWS)}>
            Show more ({count(wanted.length - shown)})
          </button>
        </p>
      )}
    </section>
  );
}

/** What needs attention first; otherwise in the order sent. */
function failuresFirst(results: readonly Result[]): readonly Result[] {
  const rank = ({ result, image }: Result) =>
    result === "refused"
      ? 0
      : image.some(({ status }) => status === "failed")
      ? 1
      : 2;
  return results.toSorted((a, b) => rank(a) - rank(b));
}

function columnsFor(
  client: Client,
  settled: string | null,
): readonly Column<Result>[] {
  return [
    {
      label: "SKU",
      look: "mono sku",
      cell: ({ id, sku, result }) =>
        id === undefined || result === "deleted"
          ? sku
          : <a href={linkTo("products", id)}>{sku}</a>,
    },
    { label: "Result", cell: ({ result }) => <State of={result} /> },
    {
      label: "Product",
      look: "fill bare",
      cell: ({ id, result, image, details }) => (
        <div class="pictured">
          {id !== undefined && result !== "deleted" && (
            <TitleOf client={client} id={id} settled={settled} />
          )}
          <Failures images={image} />
          {details && <ProblemList details={details} />}
        </div>
      ),
    },
  ];
}

function Failures({ images }: { images: readonly UnsettledImage[] }) {
  const failed = images.filter(({ status }) => status === "failed");
  if (failed.length === 0) return null;
  return (
    <ul>
      {failed.map((image) => <Failure key={image.url} image={image} />)}
    </ul>
  );
}

function Failure({ image }: { image: UnsettledImage }) {
  const { url, message, attempts } = image;
  return (
    <li class="failure">
      <span class="mono break">{url}</span>
      <span>{message} ({plural(attempts, "try", "tries")})</span>
    </li>
  );
}
