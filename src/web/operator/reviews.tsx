/**
 * The operator's view of products that wait for a review, one at a time. A
 * decision is sent while the view shows the next product.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type {
  OperatorClient,
  ProductImage,
  ReviewedProduct,
} from "../../client/mod.ts";
import {
  ErrorNote,
  Form,
  LocalTime,
  Title,
  useAction,
  useLoaded,
  WhenLoaded,
} from "../ui/components.tsx";
import { every } from "../lib/browser.ts";
import { formatCount, plural } from "../lib/format.ts";
import { formatMoney } from "../lib/money.ts";
import { ListFoot, useRows } from "../ui/paging.tsx";
import { Thumbnail } from "../ui/thumbnails.tsx";
import { fieldLabel } from "../lib/words.ts";
import { reviewsWaiting } from "../state/background.ts";

/** The number of products loaded at once. */
const PAGE_SIZE = 50;
/** How often the view reloads the list when no product waits. */
const REFRESH_MS = 30_000;
/** More products are loaded when fewer than these follow the current one. */
const LOAD_MORE_BELOW = 20;

/** The reason of a rejection. */
interface Reason {
  code?: string;
  field?: string;
  message?: string;
}

type ListedReason = Reason & { code: string };

/** The decision, or the error with which its request failed. */
type Outcome = "approved" | "rejected" | Error;

export function ReviewsView({ client }: { client: OperatorClient }) {
  const list = useRows(async (after, signal) => {
    const { reviews: rows, next } = await client
      .reviews.list({ after, limit: PAGE_SIZE }, { signal });
    return { rows, next };
  }, [client]);
  const reasons = useLoaded(
    async (signal) => (await client.reasons.list({ signal })).reasons,
    [client],
  );
  const [at, setAt] = useState(0);
  const [isRejecting, setRejecting] = useState(false);
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(
    new Map(),
  );
  const { rows, more, busy, error } = list;
  const product = rows?.[at];
  const move = (by: number) => {
    setRejecting(false);
    setAt((at) => Math.min(Math.max(0, at + by), (rows?.length ?? 1) - 1));
  };
  const setOutcome = ({ id, changed_at }: ReviewedProduct, outcome: Outcome) =>
    setOutcomes((current) =>
      new Map(current).set(`${id} ${changed_at}`, outcome)
    );
  const outcomeOf = (one: ReviewedProduct) =>
    outcomes.get(`${one.id} ${one.changed_at}`);
  const decide = async (
    decision: "approved" | "rejected",
    reason: Reason = {},
  ) => {
    if (product === undefined || isDecided(outcomeOf(product))) return;
    setOutcome(product, decision);
    move(1);
    const { id, changed_at } = product;
    try {
      await client.reviews.decide({
        reviews: [{ product: id, decision, changed_at, ...reason }],
      });
    } catch (failure) {
      setOutcome(product, failure as Error);
    }
  };
  const reload = () => {
    setAt(0);
    // Decided products stay decided until the rows are loaded again.
    setOutcomes((current) =>
      new Map([...current].filter(([, one]) => isDecided(one)))
    );
    list.reload();
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    a: () => decide("approved"),
    r: () => setRejecting(true),
  });
  useEffect(() => {
    if (more && !busy && !error && at + LOAD_MORE_BELOW > (rows?.length ?? 0)) {
      more();
    }
  }, [at, more, busy, error]);
  const decidedCount =
    rows?.filter((one) => isDecided(outcomeOf(one))).length ?? 0;
  const waitingCount = rows === null ? null : rows.length - decidedCount;
  useEffect(() => {
    if (waitingCount === null) return;
    reviewsWaiting.set(
      waitingCount ? `${formatCount(waitingCount)}${more ? "+" : ""}` : null,
    );
  }, [waitingCount, more]);
  useEffect(() => {
    if (waitingCount === 0 && !busy) return every(REFRESH_MS, reload);
  }, [waitingCount, busy]);
  const failed = rows?.filter((one) => outcomeOf(one) instanceof Error) ?? [];
  return (
    <>
      <div class="bar">
        <Title>Review</Title>
        <button
          type="button"
          disabled={busy}
          onClick={reload}
        >
          Refresh
        </button>
      </div>
      <p class="quiet">
        {rows === null
          ? "…"
          : `${formatCount(decidedCount)} decided of ${
            formatCount(rows.length)
          }${more ? " and more" : ""}.`}{" "}
        Keys: J next, K back, A approve, R reject.
      </p>
      {failed.length > 0 && (
        <p class="note bad" role="alert">
          {plural(failed.length, "decision was", "decisions were")} not stored:
          {" "}
          {failed.map(({ sku }) => sku).join(", ")}. Refresh to see these
          products as they are now.
        </p>
      )}
      {product && (
        <ReviewCard
          product={product}
          outcome={outcomeOf(product)}
          isFirst={at === 0}
          isLast={at + 1 === rows?.length}
          onStep={move}
          onApprove={() => decide("approved")}
          onReject={() => setRejecting(true)}
        >
          {isRejecting && !isDecided(outcomeOf(product)) && (
            <WhenLoaded loaded={reasons}>
              {(known) => (
                <Rejection
                  key={product.id}
                  known={known}
                  onReject={(reason) => decide("rejected", reason)}
                  onCancel={() =>
                    setRejecting(false)}
                />
              )}
            </WhenLoaded>
          )}
        </ReviewCard>
      )}
      <ListFoot
        list={{ ...list, more: null }}
        empty="No product waits for a review. Each seller's settings determine which products are reviewed."
      />
      <details class="card">
        <summary>List of reasons</summary>
        <WhenLoaded loaded={reasons}>
          {(known) => (
            <ReasonsForm
              known={known}
              onSave={async (list) => {
                await client.reasons.put({ reasons: list });
                reasons.reload();
              }}
            />
          )}
        </WhenLoaded>
      </details>
    </>
  );
}

/** A form for the operator's list of reasons, with one reason in each line. */
function ReasonsForm({ known, onSave }: {
  known: readonly ListedReason[];
  onSave: (list: ListedReason[]) => Promise<void>;
}) {
  const [text, setText] = useState(() => known.map(reasonLine).join("\n"));
  const { busy, error, run } = useAction();
  return (
    <Form onSubmit={() => run(() => onSave(parseReasons(text)))}>
      <p class="field">
        <label for="reasons">
          One per line: code | field | message
        </label>
        <textarea
          id="reasons"
          rows={8}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </p>
      {error && <ErrorNote error={error} />}
      <button type="submit" class="main" disabled={busy}>Save reasons</button>
    </Form>
  );
}

function reasonLine({ code, field = "", message }: ListedReason): string {
  const parts = message ? [code, field, message] : [code, field];
  return parts.join(" | ");
}

function parseReasons(text: string): ListedReason[] {
  return text.split("\n").filter((line) => line.trim() !== "").map((line) => {
    const [code, field, ...message] = line.split("|");
    return {
      code: code.trim(),
      field: field?.trim() || undefined,
      message: message.join("|").trim() || undefined,
    };
  });
}

function isDecided(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && !(outcome instanceof Error);
}

/** Calls the function of a pressed key, except in form fields. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      if (ctrlKey || metaKey || altKey) return;
      if ((target as Element).closest("input, textarea, select")) return;
      const action = latest.current[key.toLowerCase()];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

function ReviewCard(
  {
    product,
    outcome,
    isFirst,
    isLast,
    onStep,
    onApprove,
    onReject,
    children,
  }: {
    product: ReviewedProduct;
    outcome: Outcome | undefined;
    isFirst: boolean;
    isLast: boolean;
    onStep: (by: number) => void;
    onApprove: () => void;
    onReject: () => void;
    /** Shown below the buttons. */
    children: ComponentChildren;
  },
) {
  const { sku, title, seller, price, changed, review } = product;
  const isReviewDecided = isDecided(outcome);
  const unchangedFields = FIELDS.filter((field) => !changed.includes(field));
  const emptyFields = unchangedFields.filter((field) =>
    isEmptyValue(product[field])
  ).map(fieldLabel);
  return (
    <article class="card" aria-label={sku}>
      <div class="bar">
        <h2>{title}</h2>
        {isReviewDecided && (
          <span class={outcome === "approved" ? "good" : "bad"}>
            {`${outcome}`}
          </span>
        )}
      </div>
      <p class="quiet">
        {seller}, SKU <span class="mono break">{sku}</span>
        {price && <>, {formatMoney(price.amount, price.currency)}</>}, waits
        {" "}
        <LocalTime iso={review?.at} />
      </p>
      {review && hasReason(review) && (
        <p class="note warn">
          Rejected before: {[review.code, review.field, review.message]
            .filter(Boolean).join(", ")}
        </p>
      )}
      {outcome instanceof Error && <ErrorNote error={outcome} />}
      <p class="row">
        <button type="button" disabled={isReviewDecided} onClick={onApprove}>
          Approve
        </button>
        <button type="button" disabled={isReviewDecided} onClick={onReject}>
          Reject…
        </button>
        <button type="button" disabled={isFirst} onClick={() => onStep(-1)}>
          Back
        </button>
        <button type="button" disabled={isLast} onClick={() => onStep(1)}>
          Next
        </button>
      </p>
      {children}
      {changed.map((field) => (
        <section key={field} aria-label={`${fieldLabel(field)}, changed`}>
          <h3>{fieldLabel(field)} changed</h3>
          <div class="halves">
            <div>
              <p class="quiet">before</p>
              <FieldText value={product.former?.[field]} />
            </div>
            <div>
              <p class="quiet">now</p>
              <FieldText value={product[field]} />
            </div>
          </div>
        </section>
      ))}
      {unchangedFields.filter((field) => !isEmptyValue(product[field])).map((
        field,
      ) => (
        <section key={field}>
          <h3>{fieldLabel(field)}</h3>
          <FieldText value={product[field]} />
        </section>
      ))}
      {emptyFields.length > 0 && (
        <p class="quiet">Not given: {emptyFields.join(", ")}</p>
      )}
    </article>
  );
}

function hasReason({ code, field, message }: Reason): boolean {
  return [code, field, message].some((part) => part !== undefined);
}

/** The fields that are shown below the title, in this order. */
const FIELDS = [
  "images",
  "description",
  "categories",
  "brand",
  "gtin",
] as const;

type FieldValue =
  | string
  | null
  | undefined
  | readonly (string | ProductImage)[];

function isEmptyValue(value: FieldValue): value is null | undefined {
  return value === null || value === undefined || value.length === 0;
}

function FieldText({ value }: { value: FieldValue }) {
  if (isEmptyValue(value)) return <p class="quiet">none</p>;
  if (typeof value === "string") return <p class="break">{value}</p>;
  return (
    <ul class="gallery">
      {value.map((entry) =>
        typeof entry === "string"
          ? <li key={entry}>{entry}</li>
          : <Picture key={entry.url} image={entry} />
      )}
    </ul>
  );
}

function Picture({ image }: { image: ProductImage }) {
  return (
    <li>
      <span class="frame">
        <Thumbnail image={image} size={96} />
      </span>
      <span>
        <span class="mono break">{image.url}</span>
        {image.alt && <span>{image.alt}</span>}
      </span>
    </li>
  );
}

function Rejection({ known, onReject, onCancel }: {
  known: readonly ListedReason[];
  onReject: (reason: Reason) => void;
  onCancel: () => void;
}) {
  const [{ code = "", field = "", message = "" }, setReason] = useState<
    Reason
  >(known[0] ?? {});
  const first = useRef<HTMLDivElement>(null);
  useEffect(
    () => first.current?.querySelector<HTMLElement>("select, input")?.focus(),
    [],
  );
  const input = (
    name: keyof Reason,
    label: string,
    value: string,
    classes = "",
  ) => (
    <span class={`field ${classes}`}>
      <label for={`reason-${name}`}>{label}</label>
      <input
        id={`reason-${name}`}
        class={classes}
        value={value}
        onInput={({ currentTarget }) =>
          setReason({ code, field, message, [name]: currentTarget.value })}
      />
    </span>
  );
  return (
    <Form
      class="card"
      aria-label="Reject"
      onKeyDown={({ key }) => {
        if (key === "Escape") onCancel();
      }}
      onSubmit={() =>
        onReject({
          code: code.trim() || undefined,
          field: field.trim() || undefined,
          message: message.trim() || undefined,
        })}
    >
      <div class="row" ref={first}>
        {known.length > 0 && (
          <span class="field">
            <label for="reason">Reason</label>
            <select
              id="reason"
              value={code}
              onKeyDown={({ key, currentTarget }) => {
                if (key === "Enter" && code !== "") {
                  currentTarget.form!.requestSubmit();
                }
              }}
              onChange={({ currentTarget }) =>
                setReason(
                  known.find(({ code }) => code === currentTarget.value) ?? {},
                )}
            >
              {known.map(({ code }) => (
                <option key={code} value={code}>{code}</option>
              ))}
              <option value="">another one</option>
            </select>
          </span>
        )}
        {input("code", "Code", code)}
        {input("field", "Field", field)}
        {input("message", "Message to the seller", message, "grow")}
      </div>
      <p class="row">
        <button
          type="submit"
          class="main"
          disabled={!code.trim() && !message.trim()}
        >
          Reject
        </button>
        <button type="button" onClick={onCancel}>Cancel</button>
      </p>
    </Form>
  );
}
