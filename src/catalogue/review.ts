/**
 * The operator's review of products. A seller's policy says which products wait
 * for a decision. A change of price or stock alone is reviewed only if the
 * product was rejected because of that field.
 *
 *                 created, or changed under `changes`
 *                                 │
 *      ┌──────────────────────────▼──────────────────────────┐
 *      │                       pending                       │
 *      └─┬────────────▲──────────────────┬────────────▲──────┘
 *        │ decision   │ changed under    │ decision   │ corrected
 *        ▼            │ `changes`        ▼            │
 *      ┌──────────────┴──────┐  decision  ┌────────────┴───────┐
 *      │      approved       ├───────────▶│      rejected      │
 *      └─────────────────────┘◀───────────┴────────────────────┘
 *
 * A product that existed before the policy has no state until it is changed. A
 * pending product whose change is reverted returns to its former state: there
 * is nothing left to decide.
 */
import {
  LIST_NAMES,
  type ProductFields,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "./fields.ts";
import type { Param } from "../database/db.ts";
import type { ReviewPolicy } from "../sellers/review_policy.ts";

export const REVIEW_STATES = ["pending", "approved", "rejected"] as const;
export type ReviewState = typeof REVIEW_STATES[number];

/** Decisions of an operator; each is also the resulting state. */
export const DECISIONS = ["approved", "rejected"] as const;
export type Decision = typeof DECISIONS[number];

/**
 * Fields whose change makes a product wait under the policy `changes`, in the
 * order of a document.
 */
export const REVIEWED_FIELDS = [
  "title",
  "description",
  "gtin",
  "brand",
  "categories",
  "images",
] as const satisfies (keyof ProductFields)[];
export type ReviewedFields = Pick<
  ProductFields,
  typeof REVIEWED_FIELDS[number]
>;

/** Fields that are reviewed while a product waits or is rejected. */
const FIELDS_UNDER_REVIEW: (keyof ProductFields)[] = [
  ...SCALAR_NAMES.filter((field) =>
    field !== "status" &&
    ["master data", "texts"].includes(SCALAR_RULES[field].group)
  ),
  ...LIST_NAMES,
];

/** The reason of a decision; each property may be null. */
export interface Reason {
  code: string | null;
  /** A field of the product, or a path in it as in details. */
  field: string | null;
  message: string | null;
}

const NO_REASON: Reason = { code: null, field: null, message: null };

export interface Review extends Reason {
  state: ReviewState;
  /** When the state began, in Unix milliseconds. */
  at: number;
  /** When the reviewed version was created. */
  changedAt: number;
  /**
   * The fields at the last approval, or before the policy began; null if they
   * have not changed since.
   */
  former: ReviewedFields | null;
  /**
   * The state to return to once the fields equal `former`; missing if there is
   * none, because the product has since been rejected.
   */
  formerState?: typeof NO_STATE | "approved";
}

/** The state of a product that is not reviewed. */
export const NO_STATE = "none";

/** The columns with the review of a product; null if there is none. */
export interface ReviewColumns {
  review_state: ReviewState | null;
  review_at: number | null;
  /** The other properties, as JSON. */
  review: string | null;
}

export const NO_REVIEW: ReviewColumns = {
  review_state: null,
  review_at: null,
  review: null,
};

export function reviewOf(
  { review_state: state, review_at: at, review }: ReviewColumns,
): Review | null {
  return state === null ? null : {
    state,
    at: at!,
    ...JSON.parse(review!) as Omit<Review, "state" | "at">,
  };
}

/** The values of `review_state`, `review_at` and `review`. */
export function reviewColumnValues({ state, at, ...rest }: Review): Param[] {
  return [state, at, JSON.stringify(rest)];
}

/** The columns of a product on which its review depends. */
type Reviewed = ProductFields & ReviewColumns;

/**
 * The review of a product that was created (`before` is null) or changed, under
 * a review policy; null if the review does not change; `NO_STATE` if the
 * product no longer has a review.
 */
export function reviewAfter(
  policy: ReviewPolicy,
  before: Reviewed | null,
  after: ProductFields,
  now: number,
): Review | typeof NO_STATE | null {
  if (policy === "none") return null;
  if (before === null) return pendingReview(null, now);
  const review = reviewOf(before);
  switch (review?.state) {
    case "pending":
      if (!isCorrected(before, after, review)) return null;
      return revertedReview(review, after, now) ??
        { ...review, changedAt: changedAfter(review, now) };
    case "rejected":
      return isCorrected(before, after, review)
        ? {
          ...pendingReview(review, now),
          ...reasonOf(review),
          former: review.former,
        }
        : null;
    default:
      return policy === "changes" &&
          differs(REVIEWED_FIELDS, before, after)
        ? {
          ...pendingReview(review, now),
          former: reviewedFields(before),
          formerState: review?.state ?? NO_STATE,
        }
        : null;
  }
}

/**
 * The former state, if the fields equal the former ones; null if the product
 * stays pending.
 */
function revertedReview(
  review: Review,
  after: ProductFields,
  now: number,
): Review | typeof NO_STATE | null {
  const { former, formerState } = review;
  const isReverted = formerState !== undefined && former !== null &&
    !differs(REVIEWED_FIELDS, former, after);
  if (!isReverted) return null;
  if (formerState === NO_STATE) return NO_STATE;
  return { ...pendingReview(review, now), state: formerState };
}

/** Whether an attribute of a product is reviewed. */
export function isUnderReview(attribute: string): boolean {
  return (FIELDS_UNDER_REVIEW as string[]).includes(attribute);
}

/** Whether a change of this field alone may change the review of a product. */
export function mayChangeReview(
  field: keyof ProductFields,
  columns: ReviewColumns,
): boolean {
  if (isUnderReview(field)) return true;
  return columns.review_state === "rejected" &&
    namedField(reviewOf(columns)!) === field;
}

function pendingReview(former: Review | null | undefined, now: number): Review {
  const changedAt = former ? changedAfter(former, now) : now;
  return { state: "pending", at: now, changedAt, ...NO_REASON, former: null };
}

/**
 * The time of a change: later than the former version, even if the clock was
 * set back.
 */
function changedAfter({ changedAt }: Review, now: number): number {
  return Math.max(now, changedAt + 1);
}

/**
 * Whether a change concerns the reviewer. A change of price or stock concerns
 * the reviewer only if the rejection was about that field.
 */
function isCorrected(
  before: ProductFields,
  after: ProductFields,
  review: Review,
): boolean {
  if (differs(FIELDS_UNDER_REVIEW, before, after)) return true;
  const named = namedField(review) as keyof ProductFields;
  return review.state === "rejected" && named in after &&
    differs([named], before, after);
}

/** The field at the beginning of a path such as `images/image[2]`. */
function namedField({ field }: Reason): string {
  return field?.split(/[/[@]/)[0] ?? "";
}

function reasonOf({ code, field, message }: Reason): Reason {
  return { code, field, message };
}

function reviewedFields(product: ProductFields): ReviewedFields {
  const { title, description, categories, brand, gtin, images } = product;
  return { title, description, categories, brand, gtin, images };
}

/**
 * The review after a decision; null if the product already has that decision.
 */
export function withDecision(
  product: ProductFields,
  review: Review,
  { decision, ...reason }: Reason & { decision: Decision },
  now: number,
): Review | null {
  const isSame = review.state === decision && review.code === reason.code &&
    review.field === reason.field && review.message === reason.message;
  if (isSame) return null;
  const former = decision === "approved"
    ? null
    : review.state === "approved"
    ? reviewedFields(product)
    : review.former;
  return {
    state: decision,
    at: now,
    changedAt: review.changedAt,
    ...reasonOf(reason),
    former,
  };
}

/** The reviewed fields that changed since the last approval. */
export function changedFields(
  product: ProductFields,
  { former }: Review,
): (keyof ReviewedFields)[] {
  if (former === null) return [];
  return REVIEWED_FIELDS.filter((field) =>
    valuesDiffer(former[field], product[field])
  );
}

function differs<F extends keyof ProductFields>(
  fields: readonly F[],
  one: Pick<ProductFields, F>,
  other: Pick<ProductFields, F>,
): boolean {
  return fields.some((field) => valuesDiffer(one[field], other[field]));
}

/** Whether two values of a field differ; lists are compared entry by entry. */
function valuesDiffer(one: unknown, other: unknown): boolean {
  if (one === other) return false;
  return typeof one !== "object" || one === null ||
    JSON.stringify(one) !== JSON.stringify(other);
}
