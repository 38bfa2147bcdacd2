/** The undo of an upload: first a preview, then the undo. */
import { useState } from "preact/hooks";
import type {
  Client,
  DryRun,
  ProductCounts,
  Transaction,
} from "../../client/mod.ts";
import { ErrorNote, plural, useAction } from "../parts.tsx";
import { goTo, linkTo } from "../route.ts";

/** The most problems that the preview lists. */
const SHOWN = 20;

export function UndoBar({ client, transaction }: {
  client: Client;
  transaction: Transaction;
}) {
  const { transaction_id, undoes, undone_by } = transaction;
  const { created, updated, deleted = 0 } = transaction.products;
  return (
    <>
      {undoes !== undefined && (
        <p class="note">
          This is the undo of <a href={linkTo("uploads", undoes)}>an upload</a>.
        </p>
      )}
      {undone_by !== undefined && (
        <p class="note">
          This upload was undone.{" "}
          <a href={linkTo("uploads", undone_by)}>See its undo</a>
        </p>
      )}
      {undone_by === undefined && created + updated + deleted > 0 && (
        <Undo key={transaction_id} client={client} id={transaction_id} />
      )}
    </>
  );
}

function Undo({ client, id }: { client: Client; id: string }) {
  const { busy, error, run } = useAction();
  const [preview, setPreview] = useState<DryRun | null>(null);
  const tryOut = async () => {
    const { dry_run } = await client
      .undoUpload({ transaction_id: id, dry_run: true });
    setPreview(dry_run);
  };
  const undo = async (changed?: "keep") => {
    const { transaction_id } = await client
      .undoUpload({ transaction_id: id, changed });
    goTo("uploads", transaction_id);
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
            onUndo={(changed) => run(() => undo(changed))}
            onCancel={() => setPreview(null)}
          />
        )}
      {error && <ErrorNote error={error} />}
    </>
  );
}

function PreviewNote({ preview, busy, onUndo, onCancel }: {
  preview: DryRun;
  busy: boolean;
  onUndo: (changed?: "keep") => void;
  onCancel: () => void;
}) {
  const { products, details } = preview;
  const { detail: problems = [], more = 0 } = details ?? {};
  const isFree = problems.length === 0;
  const left = problems.length + more;
  return (
    <section class={isFree ? "note" : "note warn"} aria-label="Undo">
      <p>{effects(products)}</p>
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
          onClick={() => onUndo(isFree ? undefined : "keep")}
        >
          {isFree ? "Undo" : "Undo the rest"}
        </button>
        <button type="button" onClick={onCancel}>Cancel</button>
      </p>
    </section>
  );
}

function effects(
  { created, updated, deleted = 0 }: ProductCounts,
): string {
  const done = [
    updated > 0 && `${plural(updated, "product")} would be as before`,
    deleted > 0 && `${plural(deleted, "product")} would be deleted`,
    created > 0 && `${plural(created, "product")} would be created again`,
  ].filter(Boolean);
  return done.length === 0 ? "Nothing would change." : `${done.join(", ")}.`;
}
