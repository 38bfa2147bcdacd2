/** Parses an operator's decisions about products. */
import { type Detail, fieldDetail, ServiceError } from "../lib/errors.ts";
import { readId } from "../lib/ids.ts";
import {
  invalid,
  lineReader,
  ok,
  parseTime,
  quote,
  type ReadResult,
  trimSpace,
  wordReader,
} from "../lib/values.ts";
import type { XmlElement } from "../xml/decode.ts";
import {
  elements,
  inAnyOrder,
  many,
  maybe,
  one,
  STRING,
  UUID,
  word,
} from "../xml/shapes.ts";
import { readFields, readRoot } from "../xml/small_document.ts";
import { type Decision, DECISIONS, type Reason } from "../catalogue/review.ts";

/** The most decisions in a document. */
const DECISIONS_LIMIT = 250;
/** The most bytes of a document with decisions. */
export const DECISIONS_BYTES = 1_024 * 1_024;

/** The most characters of each element of a reason. */
export const REASON_LENGTHS = { code: 64, field: 200, message: 1_000 } as const;

/** A reason of a rejection; each element is optional. */
export const REASON_ELEMENTS = [
  maybe("code", STRING, "a code that the operator chose"),
  maybe("field", STRING, "a field of the product"),
  maybe("message", STRING, "what is wrong, and what would be right"),
] as const;

const REVIEW = {
  name: "review",
  shape: inAnyOrder(
    one("product", UUID),
    one("decision", word(DECISIONS)),
    ...REASON_ELEMENTS,
    maybe(
      "changed_at",
      STRING,
      "the product's changed_at as you read it; refused if the " +
        "product was changed since",
    ),
  ),
};

export const REVIEWS = {
  name: "reviews",
  shape: elements(
    many(REVIEW.name, REVIEW.shape, { min: 1, max: DECISIONS_LIMIT }),
  ),
};

/** A decision about one product. */
export interface ProductDecision extends Reason {
  /** null: the decision has a problem and is not carried out. */
  decision: Decision | null;
  productId: string;
  /** The `changed_at` of the reviewed version; null: any version. */
  changedAt: number | null;
  /** Its position in the document, from 1, and its line. */
  product?: number;
  line?: number;
}

/** The texts of a decision, by the names of its elements. */
export type DecisionTexts = Partial<
  Record<
    "product" | "decision" | "code" | "field" | "message" | "changed_at",
    { text: string; line?: number }
  >
>;

const readers = {
  product: (text: string) => {
    const id = readId(text);
    return id === null
      ? invalid<string>("not_allowed", `is ${quote(text)}, which is no id.`)
      : ok(id);
  },
  decision: wordReader(DECISIONS),
  code: lineReader(REASON_LENGTHS.code),
  field: lineReader(REASON_LENGTHS.field),
  message: lineReader(REASON_LENGTHS.message),
  changed_at: (text: string) => {
    const time = parseTime(text);
    return time === null
      ? invalid<number>(
        "not_a_date",
        `is ${quote(text)}; write the product's <changed_at> as it was read.`,
      )
      : ok(time);
  },
};
/**
 * Reads `<reviews>`; adds its problems to `details`. Throws 422 for another
 * document, 413 for too many decisions.
 */
export function readDecisions(
  root: XmlElement,
  details: Detail[],
): ProductDecision[] {
  for (const detail of readRoot(root, REVIEWS.name)) details.push(detail);
  if (root.children.length > DECISIONS_LIMIT) {
    throw new ServiceError(
      "too_many_products",
      `The document has more than ${DECISIONS_LIMIT} reviews; split it.`,
    );
  }
  if (root.children.length === 0) {
    details.push({
      line: root.line,
      field: "review",
      code: "required",
      message: "<reviews> has no <review>; send at least one.",
    });
  }
  const seen = new Map<string, number>();
  return root.children.flatMap((element, index) => {
    const place = { product: index + 1, line: element.line };
    const { fields, details: others } = readFields(element, REVIEW);
    for (const detail of others) details.push({ ...place, ...detail });
    const decision = readDecision(Object.fromEntries(fields), place, details);
    if (decision === null) return [];
    const first = seen.get(decision.productId);
    seen.set(decision.productId, first ?? place.product);
    if (first !== undefined) {
      details.push({
        ...place,
        field: "product",
        code: "repeated_value",
        message:
          `product repeats that of review ${first}; send one decision for each product.`,
      });
    }
    return [decision];
  });
}

/**
 * Reads one decision, and adds its problems to `details`; null if it names no
 * product.
 */
export function readDecision(
  texts: DecisionTexts,
  place: Pick<Detail, "product" | "line">,
  details: Detail[],
): ProductDecision | null {
  const found = details.length;
  const value = <T>(
    field: keyof typeof readers,
    read: (text: string) => ReadResult<T>,
    required = false,
  ): T | null => {
    const sent = texts[field];
    const text = trimSpace(sent?.text ?? "");
    if (text === "" && !required) return null;
    const result: ReadResult<T> = text === ""
      ? invalid("required", "is missing; it must be given.")
      : read(text);
    if ("value" in result) return result.value;
    const line = sent?.line ?? place.line;
    details.push(
      fieldDetail({ field, ...result.problem }, { ...place, line }),
    );
    return null;
  };
  const productId = value("product", readers.product, true);
  const decision = value("decision", readers.decision, true);
  const read = {
    code: value("code", readers.code),
    field: value("field", readers.field),
    message: value("message", readers.message),
    changedAt: value("changed_at", readers.changed_at),
  };
  if (decision === "rejected" && read.code === null && read.message === null) {
    details.push({
      ...place,
      field: "code",
      code: "required",
      message: "code is missing; a rejection needs a code or a message.",
    });
  }
  if (productId === null) return null;
  const isValid = details.length === found;
  return { productId, ...read, ...place, decision: isValid ? decision : null };
}
