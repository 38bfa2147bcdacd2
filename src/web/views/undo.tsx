/** The undo of an upload: first a preview, then the undo. */
import { useState } from "preact/hooks";
import { type Client, type Problem, problemsOf } from "../client.ts";
import { ErrorNote, plural, useAction } from "../parts.tsx";
import {
  type ProductCounts,
  readProductCounts,
  type Transaction,
} from "../resources.ts";
import { goTo, linkTo } from "../route.ts";
import { find, numberOf, textOf } from "../xml.ts";

/** The most problems that the preview lists. */
const SHOWN = 20;

/** The effects of an undo. */
interface Preview {
  counts: ProductCounts;
  /** What was changed after the upload. */
  problems: Problem[];
  /** How many further problems were left out. */
  more: number;
}

export function UndoBar({ client, transaction }: {
  client: Client;
  transaction: Transaction;
}) {
  const { id, undoes, undoneBy } = transaction;
  const { created, updated, deleted } = transaction.products;
  return (
    <>
      {undoes !== null && (
        <p class="note">
          This is the undo of <a href={linkTo("uploads", undoes)}>an upload</a>.
        </p>
      )}
      {undoneBy !== null && (
        <p class="note">
          This upload was undone.{" "}
          <a href={linkTo("uploads", undoneBy)}>See its undo</a>
        </p>
      )}
      {undoneBy === null && created + updated + deleted > 0 && (
        <Undo key={id} client={client} id={id} />
      )}
    </>
  );
}

function Undo({ client, id }: { client: Client; id: string }) {
  const { busy, error, run } = useAction();
  const [preview, setPreview] = useState<Preview | null>(null);
  const path = `/seller_api/bulk_products/${encodeURIComponent(id)}/undo`;
  const ask = (query: string) =>
    client.read(`${path}?${query}`, { method: "POST" });
  const tryOut = async () => {
    const root = await ask("dry_run=true");
    const details = find(root, "dry_run/details");
    setPreview({
      counts: readProductCounts(find(root, "dry_run/products")),
      problems: problemsOf(details),
      more: numberOf(details, "more"),
    });
  };
  const undo = async (query: string) => {
    const undone = textOf(await ask(query), "transaction_id");
    if (undone !== null) goTo("uploads", undone);
  };
  return (
    <>
      {preview === null
        ? (
          <p>
            <button type="button" disabled={busy} onClick={() => run(tryOut)}>
              Undo this upload…
            </button>
          </p>
        )
        : (
          <PreviewNote
            preview={preview}
            busy={busy}
            onUndo={(query) => run(() => undo(query))}
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
  onUndo: (query: string) => void;
  onCancel: () => void;
}) {
  const { counts, problems, more } = preview;
  const isFree = problems.length === 0;
  const left = problems.length + more;
  return (
    <section class={isFree ? "note" : "note warn"} aria-label="Undo">
      <p>{effects(counts)}</p>
      {!isFree && (
        <>
          <p>
            {plural(left, "thing")} changed since would stay as they are:
          </p>
          <ul>
            {problems.slice(0, SHOWN).map(({ sku, message }, i) => (
              <li key={i}>
                <span class="mono">{sku}</span>: {message}
              </li>
            ))}
            {left > SHOWN && <li>and {left - SHOWN} more</li>}
          </ul>
        </>
      )}
      <p class="row">
        <button
          type="button"
          class="danger"
          disabled={busy}
          onClick={() => onUndo(isFree ? "" : "changed=keep")}
        >
          {isFree ? "Undo" : "Undo the rest"}
        </button>
        <button type="button" onClick={onCancel}>Cancel</button>
      </p>
    </section>
  );
}

function effects({ created, updated, deleted }: ProductCounts): string {
  const done = [
    updated > 0 && `${plural(updated, "product")} would be as before`,
    deleted > 0 && `${plural(deleted, "product")} would be deleted`,
    created > 0 && `${plural(created, "product")} would be created again`,
  ].filter(Boolean);
  return done.length === 0 ? "Nothing would change." : `${done.join(", ")}.`;
}
