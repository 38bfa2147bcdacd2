/** The undo of an upload or import, with a preview. */
import { useState } from "preact/hooks";
import { UnlessReadOnly } from "../ui/changing.tsx";
import type { WatchedUpload } from "../state/background.ts";
import type { Client, DryRun, ProductCounts } from "../../client/mod.ts";
import { isImport, uploadView } from "../state/names.ts";
import { ErrorNote, useAction } from "../ui/components.tsx";
import { plural } from "../lib/format.ts";
import { goTo, linkTo } from "../state/route.ts";
import {
  fetchUploadPriceChange,
  pricesOfChange,
} from "../products/price_history.tsx";

/** The maximum number of problems that the preview lists. */
const PROBLEMS_SHOWN = 20;

export function UndoBar({ client, watched }: {
  client: Client;
  watched: WatchedUpload;
}) {
  const { undoes, undone_by, status } = watched;
  const { created, updated, deleted = 0 } = watched.products;
  const { view, id } = uploadView(watched);
  const kind = isImport(watched) ? "import" : "upload";
  const isOpen = status === "checking" || status === "storing";
  return (
    <>
      {undoes !== undefined && (
        <p class="note">
          This is the undo of <a href={linkTo(view, undoes)}>an {kind}</a>.
        </p>
      )}
      {undone_by !== undefined && (
        <p class="note">
          This {kind} was undone.{" "}
          <a href={linkTo(view, undone_by)}>See its undo</a>
        </p>
      )}
      {undone_by === undefined && !isOpen && created + updated + deleted > 0 &&
        (
          <UnlessReadOnly>
            <Undo
              key={id}
              kind={kind}
              undoing={isImport(watched)
                ? undoOfImport(client, id)
                : undoOfUpload(client, id)}
              onBegun={(undo) => goTo(view, undo)}
            />
          </UnlessReadOnly>
        )}
    </>
  );
}

interface Preview extends DryRun {
  /** The price changes of some products, as texts. */
  prices?: readonly string[];
}

/** The requests that preview and start an undo. */
interface UndoRequests {
  preview(): Promise<Preview>;
  /** Starts the undo; returns its id. */
  begin(changed?: "keep"): Promise<string>;
}

function undoOfUpload(client: Client, transaction_id: string): UndoRequests {
  return {
    preview: async () => {
      const { dry_run } = await client
        .uploads.undo({ transaction_id, changed: "keep", dry_run: true });
      const unrestored = new Set(dry_run.details?.map(({ sku }) => sku));
      const prices = await priceChangesOfUndo(
        client,
        transaction_id,
        unrestored,
      );
      return { ...dry_run, prices };
    },
    begin: async (changed) =>
      (await client.uploads.undo({ transaction_id, changed })).transaction_id,
  };
}

/** The maximum number of products whose price changes the preview lists. */
const PRICED_PRODUCTS_LIMIT = 5;

/** The price changes that the undo of an upload would make, as texts. */
async function priceChangesOfUndo(
  client: Client,
  transaction_id: string,
  excluded: ReadonlySet<string | undefined>,
): Promise<string[]> {
  const found: string[] = [];
  let examined = 0;
  for await (const one of client.uploads.results({ transaction_id })) {
    const { id, sku, result } = one;
    if (result !== "updated" || id === undefined || excluded.has(sku)) continue;
    if (examined++ === PRICED_PRODUCTS_LIMIT) break;
    const change = await fetchUploadPriceChange(client, id, transaction_id);
    if (change === null) continue;
    const [former, present] = pricesOfChange(change);
    found.push(`${sku}: price ${present} → ${former}`);
  }
  return found;
}

function undoOfImport(client: Client, import_id: string): UndoRequests {
  const undo = async (more: { changed?: "keep"; dry_run?: boolean }) =>
    (await client.imports.undo({ import_id, ...more })).import_id;
  return {
    preview: async () => {
      const id = await undo({ changed: "keep", dry_run: true });
      const { products, problems: details } = await client.imports
        .waitFor({ import_id: id });
      await client.imports.cancel({ import_id: id });
      return { products, details };
    },
    begin: (changed) => undo({ changed }),
  };
}

function Undo({ kind, undoing, onBegun }: {
  kind: string;
  undoing: UndoRequests;
  onBegun: (id: string) => void;
}) {
  const { busy, error, run } = useAction();
  const [preview, setPreview] = useState<Preview | null>(null);
  return (
    <>
      {preview === null
        ? (
          <p>
            <button
              type="button"
              disabled={busy}
              onClick={() =>
                run(async () => setPreview(await undoing.preview()))}
            >
              {busy ? "Checking…" : `Undo this ${kind}…`}
            </button>
          </p>
        )
        : (
          <PreviewNote
            preview={preview}
            busy={busy}
            onUndo={(changed) =>
              run(async () => onBegun(await undoing.begin(changed)))}
            onCancel={() => setPreview(null)}
          />
        )}
      {error && <ErrorNote error={error} />}
    </>
  );
}

function PreviewNote({ preview, busy, onUndo, onCancel }: {
  preview: Preview;
  busy: boolean;
  onUndo: (changed?: "keep") => void;
  onCancel: () => void;
}) {
  const { products, details: problems = [], more = 0, prices } = preview;
  const isComplete = problems.length === 0;
  const conflictCount = problems.length + more;
  const effect = describeUndo(products, isComplete);
  return (
    <section class={isComplete ? "note" : "note warn"} aria-label="Undo">
      <p>{effect ?? "Nothing would change."}</p>
      {prices !== undefined && prices.length > 0 && (
        <ul>
          {prices.map((text) => <li key={text}>{text}</li>)}
          {products.updated > prices.length && <li>…</li>}
        </ul>
      )}
      {!isComplete && (
        <>
          <p>These have changed since, so they stay as they are:</p>
          <ul>
            {problems.slice(0, PROBLEMS_SHOWN).map(({ sku, message }, i) => (
              <li key={i}>
                <span class="mono">{sku}</span>: {message}
              </li>
            ))}
            {conflictCount > PROBLEMS_SHOWN && (
              <li>and {conflictCount - PROBLEMS_SHOWN} more</li>
            )}
          </ul>
        </>
      )}
      <p class="row">
        {effect !== null && (
          <button
            type="button"
            class="danger"
            disabled={busy}
            onClick={() => onUndo(isComplete ? undefined : "keep")}
          >
            {isComplete ? "Undo" : "Undo the rest"}
          </button>
        )}
        <button type="button" onClick={onCancel}>Cancel</button>
      </p>
    </section>
  );
}

/** The effect of an undo as a sentence; null if it would change nothing. */
function describeUndo(
  { created, updated, deleted = 0 }: ProductCounts,
  isComplete: boolean,
): string | null {
  const phrases = [
    updated > 0 &&
    `${plural(updated, "product")} would be restored${
      isComplete ? "" : ", except what changed since"
    }`,
    deleted > 0 && `${plural(deleted, "product")} would be deleted`,
    created > 0 && `${plural(created, "product")} would be created again`,
  ].filter(Boolean);
  return phrases.length === 0 ? null : `${phrases.join(", ")}.`;
}
