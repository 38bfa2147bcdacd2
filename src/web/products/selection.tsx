/** Actions for the selected products: change, delete, retry failed images. */
import { uploadName } from "../state/names.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { STATUSES } from "../../catalogue/fields.ts";
import {
  ApiError,
  type Client,
  type DryRun,
  type Product,
  type ProductAttributes,
} from "../../client/mod.ts";
import {
  type BulkChange,
  bulkChangeProblem,
  bulkChangeTitle,
  type ProductEffect,
  productEffects,
  withPriceQuestions,
} from "./bulk.ts";
import { SALE_LABELS } from "./sale.tsx";
import { isoTimeOfInput } from "../lib/sale_times.ts";
import { saveFile } from "../lib/browser.ts";
import {
  ConfirmedButton,
  ErrorNote,
  errorSentence,
  Form,
  useAction,
} from "../ui/components.tsx";
import { formatCount, plural } from "../lib/format.ts";
import { goTo, linkTo } from "../state/route.ts";
import { readableName } from "../lib/texts.ts";
import { ProblemList } from "../ui/problem_list.tsx";

/** The changes that the form offers. */
const CHANGES = [
  { field: "price", operation: "percent", label: "Price by percent" },
  { field: "price", operation: "add", label: "Price by an amount" },
  { field: "price", operation: "set", label: "Price to a value" },
  { field: "quantity", operation: "set", label: "Quantity to a value" },
  { field: "quantity", operation: "add", label: "Quantity by a number" },
  { field: "status", operation: "set", label: "Status" },
  { field: "sale", operation: "percent", label: "Sale by percent" },
  { field: "sale", operation: "set", label: "Sale at a price" },
  { field: "sale", operation: "end", label: "No sale" },
] as const;

/** The times of a sale. */
const SALE_TIMES = ["from", "until"] as const;

/** The result of an action for the selected products. */
export interface BulkResult {
  text: string;
  /** The upload, if it can be undone. */
  transaction_id?: string;
  /**
   * Whether prices changed. Then the note offers to see the change, because the
   * view of the upload shows the former prices.
   */
  changesPrices?: boolean;
  /** Deleted products. They cannot be restored, but can be uploaded again. */
  deleted?: readonly Product[];
  /** The products for which the action failed. */
  failures?: readonly Failure[];
}

interface Failure {
  sku: string;
  message: string;
}

export function BulkTools({ client, products, onDone }: {
  client: Client;
  products: readonly Product[];
  /** Called after an action that may have changed products. */
  onDone: (result: BulkResult) => void;
}) {
  return (
    <section class="card" aria-label="Selected products">
      <ChangeForm client={client} products={products} onDone={onDone} />
      <div class="row">
        <Deletion client={client} products={products} onDone={onDone} />
        <RetryImages client={client} products={products} />
      </div>
    </section>
  );
}

/** A change with its effects and the result of its dry run. */
interface Preview {
  change: BulkChange;
  effects: readonly ProductEffect[];
  outcome: DryRun;
}

function ChangeForm({ client, products, onDone }: {
  client: Client;
  products: readonly Product[];
  onDone: (result: BulkResult) => void;
}) {
  const { busy, error, run } = useAction();
  const [changeIndex, setChangeIndex] = useState(0);
  const [typed, setTyped] = useState("");
  const [times, setTimes] = useState({ from: "", until: "" });
  const [problem, setProblem] = useState<string | null>(null);
  const [preview, setPreview] = useState<Preview | null>(null);
  const { field, operation } = CHANGES[changeIndex];
  const isStatus = field === "status";
  const isSale = field === "sale" && operation !== "end";
  const text = isStatus && typed === "" ? STATUSES[0] : typed;
  // Another selection makes the preview outdated.
  useEffect(() => setPreview(null), [products]);
  const setInputs = (next: number, value: string) => {
    setChangeIndex(next);
    setTyped(value);
    setProblem(null);
    setPreview(null);
  };
  const showPreview = () => {
    const change = {
      ...{ field, operation, text },
      ...(isSale && {
        from: isoTimeOfInput(times.from) ?? "",
        until: isoTimeOfInput(times.until) ?? "",
      }),
    } as BulkChange;
    const problem = bulkChangeProblem(change);
    setProblem(problem);
    if (problem !== null) return;
    run(async () => {
      const effects = productEffects(products, change);
      const outcome = effects.length === 0
        ? EMPTY_DRY_RUN
        : await dryRun(client, effects.map(({ sent }) => sent));
      const jumps = field === "price" ? await priceJumps(client, effects) : [];
      setPreview({
        change,
        effects: withPriceQuestions(effects, jumps),
        outcome,
      });
    });
  };
  const store = ({ change, effects, outcome }: Preview) =>
    run(async () => {
      const { transaction_id, refused = 0 } = await client.uploads
        .setAttributes({
          products: effects.map(({ sent }) => sent),
          accept: "valid",
          name: uploadName(bulkChangeTitle(change)),
        });
      const { updated, refused: refusedBefore = 0 } = outcome.products;
      const newlyRefused = refused - refusedBefore;
      const text = `${plural(updated - newlyRefused, "product")} changed.`;
      onDone({
        transaction_id,
        changesPrices: change.field === "price",
        text: refused === 0 ? text : `${text} ${formatCount(refused)} refused.`,
      });
    });
  return (
    <>
      <Form class="row" onSubmit={showPreview}>
        <span class="field">
          <label for="bulk-change">Change</label>
          <select
            id="bulk-change"
            value={changeIndex}
            onChange={(event) =>
              setInputs(Number(event.currentTarget.value), "")}
          >
            {CHANGES.map(({ label }, i) => (
              <option key={label} value={i}>{label}</option>
            ))}
          </select>
        </span>
        {operation !== "end" && (
          <span class="field">
            <label for="bulk-value">{isStatus ? "Status" : "Value"}</label>
            {isStatus
              ? (
                <select
                  id="bulk-value"
                  value={text}
                  onChange={(event) =>
                    setInputs(changeIndex, event.currentTarget.value)}
                >
                  {STATUSES.map((word) => (
                    <option key={word} value={word}>
                      {readableName(word)}
                    </option>
                  ))}
                </select>
              )
              : (
                <input
                  id="bulk-value"
                  required
                  value={typed}
                  placeholder={operation === "percent"
                    ? "−10 %"
                    : operation === "add"
                    ? "+5 or −5"
                    : ""}
                  aria-invalid={problem !== null}
                  aria-describedby="bulk-problem"
                  onInput={(event) =>
                    setInputs(changeIndex, event.currentTarget.value)}
                />
              )}
          </span>
        )}
        {isSale &&
          SALE_TIMES.map((name) => (
            <span key={name} class="field">
              <label for={`bulk-${name}`}>{SALE_LABELS[name]}</label>
              <input
                id={`bulk-${name}`}
                type={"datetime-local" as "text"}
                value={times[name]}
                onInput={(event) => {
                  setTimes({ ...times, [name]: event.currentTarget.value });
                  setInputs(changeIndex, typed);
                }}
              />
            </span>
          ))}
        <button
          type="submit"
          class={preview === null ? "main" : ""}
          disabled={busy}
        >
          {busy && preview === null
            ? "Checking…"
            : `Preview for ${plural(products.length, "product")}`}
        </button>
      </Form>
      {problem !== null && (
        <p id="bulk-problem" class="bad" role="alert">{problem}</p>
      )}
      {preview !== null && (
        <PreviewNote
          preview={preview}
          withoutValue={products.length - preview.effects.length}
          busy={busy}
          onStore={() => store(preview)}
          onCancel={() => setPreview(null)}
        />
      )}
      {error && <ErrorNote error={error} />}
    </>
  );
}

const EMPTY_DRY_RUN: DryRun = {
  products: { total: 0, created: 0, updated: 0, unchanged: 0 },
};

/**
 * The dry run of a change. If no product can be changed, the service answers
 * with an error; then the result counts all products as refused.
 */
async function dryRun(
  client: Client,
  products: ProductAttributes[],
): Promise<DryRun> {
  try {
    const { dry_run } = await client
      .uploads.setAttributes({ products, dry_run: true, accept: "valid" });
    return dry_run;
  } catch (error) {
    if (!(error instanceof ApiError) || error.details.length === 0) throw error;
    const { length } = products;
    return {
      products: { ...EMPTY_DRY_RUN.products, total: length, refused: length },
      details: [...error.details],
    };
  }
}

/** The SKUs of products whose prices change by more than the seller's limit. */
async function priceJumps(
  client: Client,
  effects: readonly ProductEffect[],
): Promise<string[]> {
  if (effects.length === 0) return [];
  const { details = [] } = await dryRun(
    client,
    effects.map(({ sent }) => {
      const { amount, currency } = sent.price!;
      return { ...sent, price: { amount, currency } };
    }),
  );
  return details.filter(({ code }) => code === "price_jump")
    .map(({ sku }) => sku!);
}

/** The maximum number of effects or failures that a list shows. */
const SHOWN_LIMIT = 5;

function PreviewNote({ preview, withoutValue, busy, onStore, onCancel }: {
  preview: Preview;
  /** The number of products without the value to change. */
  withoutValue: number;
  busy: boolean;
  onStore: () => void;
  onCancel: () => void;
}) {
  const { outcome: { products, details, more }, effects } = preview;
  const { updated, unchanged, refused = 0 } = products;
  const questionable = effects.filter(({ question }) => question !== null);
  const changing = effects.filter(({ from, to }) => from !== to);
  return (
    <section
      class={refused + questionable.length > 0 ? "note warn" : "note"}
      aria-label="Preview"
      role="status"
    >
      <p>
        {[
          `${plural(updated, "product")} would change`,
          unchanged > 0 && `${formatCount(unchanged)} would stay the same`,
          withoutValue > 0 &&
          `${formatCount(withoutValue)} have no value to change`,
          refused > 0 && `${formatCount(refused)} cannot be changed`,
        ].filter(Boolean).join(", ")}.
      </p>
      {updated > 0 && (
        <ul>
          {changing.slice(0, SHOWN_LIMIT).map(({ sku, from, to }) => (
            <li key={sku}>
              <span class="mono">{sku}</span>: {from} → {to}
            </li>
          ))}
          {changing.length > SHOWN_LIMIT && <li>…</li>}
        </ul>
      )}
      {updated > 0 && questionable.length > 0 && (
        <p>
          {questionable[0].sku}: {questionable[0].question}
          {questionable.length > 1 &&
            ` The same question applies to ${
              plural(questionable.length - 1, "other product")
            }.`}
        </p>
      )}
      {details && <ProblemList details={details} more={more} />}
      <p class="row">
        {updated > 0 && (
          <button
            type="button"
            class="main"
            disabled={busy}
            onClick={onStore}
          >
            {questionable.length > 0 ? "It is correct: change" : "Change"}{" "}
            {refused > 0
              ? `${formatCount(updated)}, leave ${
                formatCount(refused)
              } unchanged`
              : plural(updated, "product")}
          </button>
        )}
        <button type="button" onClick={onCancel}>Cancel</button>
      </p>
    </section>
  );
}

/** The maximum number of SKUs in the question before a deletion. */
const SKUS_IN_QUESTION = 3;

function Deletion({ client, products, onDone }: {
  client: Client;
  products: readonly Product[];
  onDone: (result: BulkResult) => void;
}) {
  const { busy, error, run } = useAction();
  const [progress, setProgress] = useState({ deleted: 0, failed: 0 });
  const stopped = useRef(false);
  useEffect(() => () => void (stopped.current = true), []);
  const remove = () =>
    run(async () => {
      stopped.current = false;
      const deleted: Product[] = [];
      const failures: Failure[] = [];
      for (const product of products) {
        if (stopped.current) break;
        setProgress({ deleted: deleted.length, failed: failures.length });
        try {
          await deleteOne(client, product.id);
          deleted.push(product);
        } catch (error) {
          failures.push({
            sku: product.sku ?? product.id,
            message: errorSentence(error as Error),
          });
          // An error that concerns all products ends the deletion.
          if (!concernsOneProduct(error)) break;
        }
      }
      const untried = products.length - deleted.length - failures.length;
      const sentences = [
        `${plural(deleted.length, "product")} deleted.`,
        failures.length > 0 &&
        `${formatCount(failures.length)} could not be deleted.`,
        untried > 0 && `${formatCount(untried)} not tried.`,
      ];
      onDone({
        text: sentences.filter(Boolean).join(" "),
        deleted,
        failures,
      });
    });
  if (busy) {
    return (
      <span class="row" role="status">
        Deleted {formatCount(progress.deleted)} of{" "}
        {formatCount(products.length)}
        {progress.failed > 0 && `, ${formatCount(progress.failed)} failed`}
        <button type="button" onClick={() => void (stopped.current = true)}>
          Stop
        </button>
      </span>
    );
  }
  const others = products.length - SKUS_IN_QUESTION;
  const names =
    products.slice(0, SKUS_IN_QUESTION).map(({ sku }) => sku).join(", ") +
    (others > 0 ? ` and ${formatCount(others)} more` : "");
  return (
    <>
      <ConfirmedButton
        label={`Delete ${plural(products.length, "product")}`}
        question={`Delete ${names} for good? Afterwards you can save the deleted products as a file.`}
        onConfirm={remove}
      />
      {error && <ErrorNote error={error} />}
    </>
  );
}

/** Deletes a product; succeeds if the product is already deleted. */
async function deleteOne(client: Client, sku_or_id: string): Promise<void> {
  try {
    await client.products.delete({ sku_or_id });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}

/** Whether an error concerns one product, so that others can be deleted. */
function concernsOneProduct(error: unknown): boolean {
  return error instanceof ApiError && ![401, 403, 429].includes(error.status);
}

/** The failed images of a product. */
export function failedImages({ images = [] }: Product) {
  return images.filter(({ status }) => status === "failed");
}

/** Sends products with failed images again, so that the images are downloaded. */
function RetryImages({ client, products }: {
  client: Client;
  products: readonly Product[];
}) {
  const { busy, error, run } = useAction();
  const affected = products.filter((one) => failedImages(one).length > 0);
  if (affected.length === 0) return null;
  const images = affected.reduce(
    (sum, one) => sum + failedImages(one).length,
    0,
  );
  const fetchAgain = () =>
    run(async () => {
      const { import_id } = await client.imports.create({
        products: affected.map(({ id, images = [] }) => ({
          id,
          images: images.map(({ url, alt }) => ({ url, alt })),
        })),
        accept: "valid",
        name: "Failed images again",
      });
      goTo("imports", import_id);
    });
  return (
    <>
      <button type="button" disabled={busy} onClick={fetchAgain}>
        {busy ? "Starting…" : `Retry ${plural(images, "failed image")}`}
      </button>
      {error && <ErrorNote error={error} />}
    </>
  );
}

/** A note about the result of an action, with a link to undo the action. */
export function BulkResultNote({ result }: { result: BulkResult }) {
  const { text, transaction_id, deleted = [], failures = [] } = result;
  const note = useRef<HTMLDivElement>(null);
  // The focused button is removed after the action, so the note gets the focus.
  useEffect(() => note.current?.focus(), [result]);
  return (
    <div
      ref={note}
      tabIndex={-1}
      class={failures.length > 0 ? "note warn" : "note good"}
      role="status"
    >
      <p>
        {text}{" "}
        {transaction_id !== undefined && (
          <a href={linkTo("uploads", transaction_id)}>
            {result.changesPrices
              ? "See or undo the change"
              : "Undo the change…"}
          </a>
        )}
      </p>
      {failures.length > 0 && (
        <ul>
          {failures.slice(0, SHOWN_LIMIT).map(({ sku, message }) => (
            <li key={sku}>
              <span class="mono">{sku}</span>: {message}
            </li>
          ))}
          {failures.length > SHOWN_LIMIT && <li>…</li>}
        </ul>
      )}
      {deleted.length > 0 && (
        <p>
          <button
            type="button"
            onClick={() => saveDeleted(deleted)}
          >
            Save {plural(deleted.length, "deleted product")} as a file
          </button>{" "}
          <span class="quiet">
            To create the deleted products again, upload that file. The file has
            the values at the time of the selection.
          </span>
        </p>
      )}
    </div>
  );
}

async function saveDeleted(products: readonly Product[]): Promise<void> {
  const { deletedProductsFile } = await import("./catalogue_file.ts");
  saveFile(deletedProductsFile(products), "deleted-products.xml");
}
