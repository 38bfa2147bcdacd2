/** Components that the views of uploads and of imports share. */
import { useEffect, useState } from "preact/hooks";
import { UnlessReadOnly } from "../ui/changing.tsx";
import {
  describeOutcome,
  followInBackground,
  followUpload,
  notificationPermission,
  reportProgress,
  stopFollowing,
  type WatchedUpload,
  type WatchedUploadId,
} from "../state/background.ts";
import type {
  Client,
  ImageCounts,
  ImportResult,
  Result,
  UnsettledImage,
} from "../../client/mod.ts";
import { isImport, uploadView } from "../state/names.ts";
import {
  Announcer,
  ErrorNote,
  Figure,
  LocalTime,
  State,
  useAction,
} from "../ui/components.tsx";
import { formatCount, formatDuration, plural } from "../lib/format.ts";
import { linkTo, viewedSeller } from "../state/route.ts";
import { CounterSpeed } from "./speed.ts";
import type { Column } from "../ui/table.tsx";
import { ProductTitle } from "../ui/thumbnails.tsx";
import { UploadPriceChange } from "../products/price_history.tsx";
import { ProblemList, type RowOf } from "../ui/problem_list.tsx";

/** The latest state of an upload or import that the page follows. */
export interface UploadProgress<T> {
  watched: T | null;
  perSecond: number | null;
  connected: boolean;
  error: Error | null;
}

const INITIAL_PROGRESS: UploadProgress<never> = {
  watched: null,
  perSecond: null,
  connected: true,
  error: null,
};

/** Follows an upload until it is final; starts again if `restarts` changes. */
export function useUploadProgress<T extends WatchedUpload>(
  client: Client,
  which: WatchedUploadId,
  restarts: number,
): UploadProgress<T> {
  const [progressState, setProgressState] = useState<UploadProgress<T>>(
    INITIAL_PROGRESS,
  );
  const key = JSON.stringify(which);
  useEffect(() => {
    const controller = new AbortController();
    const isOperator = viewedSeller() !== null;
    let isFinished = true;
    setProgressState(INITIAL_PROGRESS);
    stopFollowing();
    const onRetry = () =>
      setProgressState((previous) => ({ ...previous, connected: false }));
    const options = { signal: controller.signal, retryFor: Infinity, onRetry };
    const watch = async () => {
      const speed = new CounterSpeed();
      for await (const watched of followUpload(client, which, options)) {
        isFinished = watched.finished_at !== null;
        reportProgress(watched);
        const { total, pending } = watched.images;
        speed.add(total - pending);
        const { perSecond } = speed;
        const rest = { perSecond, connected: true, error: null };
        setProgressState({ watched: watched as T, ...rest });
      }
    };
    watch().catch((error) => {
      if (!controller.signal.aborted) {
        setProgressState((previous) => ({ ...previous, error }));
      }
    });
    return () => {
      controller.abort();
      // An operator gets no notice, because its link would open the operator's
      // views.
      if (!isFinished && !isOperator) followInBackground(client, which);
    };
  }, [client, key, restarts]);
  return progressState;
}

/** Shows the progress of an upload in figures. */
export function Progress({ watched, perSecond, connected }: {
  watched: WatchedUpload;
  perSecond: number | null;
  connected: boolean;
}) {
  const { products, images, created_at, finished_at, progress, key } = watched;
  const speed = finished_at === null ? perSecond : averageSpeed(watched);
  const { id } = uploadView(watched);
  return (
    <section class="card" aria-label="Progress">
      <Announcer text={announcement(watched)} />
      <div class="row">
        <progress
          class="grow"
          max={100}
          value={progress}
          aria-label="Progress"
        />
        <strong class="percent">{progress} %</strong>
      </div>
      <dl class="figures">
        <Figure
          label="products"
          value={formatCount(products.total)}
          note={describeProducts(watched)}
        />
        <Figure label="images" value={formatCount(images.total)} />
        <Figure
          label="stored"
          value={formatCount(images.stored + images.reused)}
        />
        <Figure label="pending" value={formatCount(images.pending)} />
        <Figure
          label="failed"
          value={formatCount(images.failed)}
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
            : formatDuration(secondsTaken(watched))}
        />
      </dl>
      <p class="quiet">
        Sent <LocalTime iso={created_at} />
        {key && <>{" "}with the key {key.label || <code>{key.key_id}</code>}</>}
        {finished_at !== null && (
          <>
            , finished <LocalTime iso={finished_at} />
          </>
        )}
        {!connected && finished_at === null &&
          " · connection lost; reconnecting"}
      </p>
      {finished_at === null && (
        <p class="quiet">
          You can leave this page: the upload continues. <NoticeButton />
        </p>
      )}
      <details class="facts">
        <summary>For a problem report</summary>
        {isImport(watched) ? "import" : "upload"}{" "}
        <code class="break">{id}</code>
      </details>
    </section>
  );
}

/** A button that asks the browser for permission to show notices. */
function NoticeButton() {
  const [permission, setPermission] = useState(notificationPermission);
  if (permission !== "default") return null;
  return (
    <button
      type="button"
      class="small"
      onClick={async () =>
        setPermission(await Notification.requestPermission())}
    >
      Tell me when it is done
    </button>
  );
}

function describeProducts({ products }: WatchedUpload): string {
  const { created, updated, unchanged, deleted = 0, refused = 0 } = products;
  return [
    created > 0 && `${formatCount(created)} new`,
    updated > 0 && `${formatCount(updated)} changed`,
    unchanged > 0 && `${formatCount(unchanged)} unchanged`,
    refused > 0 && `${formatCount(refused)} refused`,
    deleted > 0 && `${formatCount(deleted)} deleted`,
  ].filter(Boolean).join(", ");
}

function secondsTaken({ created_at, finished_at }: WatchedUpload): number {
  return (Date.parse(finished_at ?? created_at) - Date.parse(created_at)) /
    1_000;
}

function averageSpeed(watched: WatchedUpload): number | null {
  const seconds = secondsTaken(watched);
  const { total } = watched.images;
  return total === 0 || seconds < 0.05 ? null : total / seconds;
}

function timeLeft(images: ImageCounts, perSecond: number | null): string {
  return perSecond === null ? "–" : formatDuration(images.pending / perSecond);
}

/** A text for screen readers, which changes only after each quarter. */
function announcement(watched: WatchedUpload): string {
  return watched.finished_at === null
    ? `${Math.floor(watched.progress / 25) * 25} percent done.`
    : describeOutcome(watched);
}

function FailedImages({ images }: { images: readonly UnsettledImage[] }) {
  const failed = images.filter(({ status }) => status === "failed");
  if (failed.length === 0) return null;
  return (
    <ul>
      {failed.map((image) => <FailedImage key={image.url} image={image} />)}
    </ul>
  );
}

function FailedImage({ image }: { image: UnsettledImage }) {
  const { url, message, attempts } = image;
  return (
    <li class="failure">
      <span class="mono break">{url}</span>
      <span>{message} ({plural(attempts, "attempt")})</span>
    </li>
  );
}

/** A note that offers to download failed images again. */
export function RetryBar({ client, watched, onRetried }: {
  client: Client;
  watched: WatchedUpload;
  onRetried: () => void;
}) {
  const { busy, error, run } = useAction();
  const { failed } = watched.images;
  if (watched.finished_at === null) return null;
  if (failed === 0 && error === null) return null;
  const retry = async () => {
    const { retried } = isImport(watched)
      ? await client.imports.retryImages({
        import_id: watched.import_id,
      })
      : (await client.uploads.retryImages({
        transaction_id: watched.transaction_id,
      }))
        .images;
    if (retried > 0) onRetried();
  };
  return (
    <div class="note warn">
      <p class="row">
        <span class="grow">
          {plural(failed, "image")}{" "}
          could not be downloaded. The products are stored without them.
        </span>
        <UnlessReadOnly>
          <button type="button" disabled={busy} onClick={() => run(retry)}>
            {busy ? "Starting…" : `Retry ${plural(failed, "failed image")}`}
          </button>
        </UnlessReadOnly>
      </p>
      {error && <ErrorNote error={error} />}
    </div>
  );
}

/** The columns of the results: SKU, result, product. */
export function resultColumns(
  client: Client,
  reloadKey: string | null,
  { rowOf, transaction }: { rowOf?: RowOf; transaction?: string },
): readonly Column<Result | ImportResult>[] {
  return [
    {
      label: "SKU",
      classes: "mono sku",
      cell: ({ id, sku, result }) =>
        id === undefined || result === "deleted"
          ? sku
          : <a href={linkTo("products", id)}>{sku}</a>,
    },
    { label: "Result", cell: ({ result }) => <State state={result} /> },
    {
      label: "Product",
      classes: "fill bare",
      cell: ({ id, result, image, details, more }) => (
        <div class="pictured">
          {id !== undefined && result !== "deleted" && (
            <ProductTitle client={client} id={id} reloadKey={reloadKey} />
          )}
          {result === "updated" && transaction !== undefined && (
            <UploadPriceChange
              client={client}
              id={id!}
              transaction={transaction}
            />
          )}
          <FailedImages images={image} />
          {details && (
            <ProblemList details={details} more={more} rowOf={rowOf} />
          )}
        </div>
      ),
    },
  ];
}
