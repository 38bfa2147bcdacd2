/** Updates one attribute of one product. */
import {
  fieldDetail,
  type FieldProblem,
  notFound,
  recordInvalid,
  ServiceError,
} from "../lib/errors.ts";
import {
  applyPatch,
  type Product,
  type ProductPatch,
  readScalar,
  sameFields,
  skuTaken,
} from "./product.ts";
import { dayOf, trimSpace } from "../lib/values.ts";
import { readId } from "../lib/ids.ts";
import {
  applyDifference,
  type Difference,
  differenceNotAllowed,
  differenceWithValue,
} from "./difference.ts";
import {
  executeOnce,
  findKeyUse,
  type KeyedRequest,
  type KeyUse,
  storeKeyUse,
} from "./idempotency.ts";
import {
  type Expectation,
  expectationProblem,
  readExpected,
} from "./expected.ts";
import {
  ATTRIBUTE_NAMES,
  CHANGE,
  EXPECTED,
  fieldForSynonym,
  LIST_NAMES,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
  type UpdateGroup,
} from "./fields.ts";
import type { Caller, Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../database/db.ts";
import { findProducts, lockGroup, writeProduct } from "./product_rows.ts";
import { lockAgainstRemoval } from "../sellers/access.ts";
import {
  isCheckedByRules,
  ruleFindings,
  Suggestions,
} from "./category_rules.ts";
import { findList } from "./category_rows.ts";
import { contactNamesIn, namesContact, resolveContacts } from "./contact.ts";
import { findContacts } from "./contact_rows.ts";
import { SYNTAX } from "./document_syntax.ts";
import { priceJumpProblem } from "./price_jump.ts";
import { isUnderReview, mayChangeReview } from "./review.ts";
import { findPolicy, reviewChanges } from "./review_rows.ts";

export interface AttributeUpdate {
  seller: Caller;
  skuOrId: string;
  attribute: string;
  /** The decoded text from the path; an empty one clears the attribute. */
  value: string;
  /** The percent by which a price may change; null: any. */
  priceJump: number | null;
  /**
   * The value that the attribute must have now, as text; undefined or null:
   * any.
   */
  expected?: string | null;
  /** Whether the value is a difference to add to the current value. */
  isDifference?: boolean;
  /** null: repeating the request repeats the update. */
  idempotency?: KeyedRequest | null;
}

export interface AttributeOutcome {
  /** Whether the Idempotency-Key was used before, so that nothing was done. */
  repeated: boolean;
}

/**
 * Updates one attribute by the rules of uploads. Throws `not_found` for an
 * unknown product, 422 for an unknown attribute or an invalid value,
 * `changed_since` if the attribute does not have the expected value.
 */
export function updateAttribute(
  services: Services,
  update: AttributeUpdate,
): Promise<AttributeOutcome> {
  return executeOnce<AttributeOutcome>(services, {
    seller: update.seller,
    request: update.idempotency ?? null,
    body: [],
    again: () => REPEATED,
    carryOut: (use) => writeUpdate(services, update, use),
  });
}

const DONE: AttributeOutcome = { repeated: false };
const REPEATED: AttributeOutcome = { repeated: true };

async function writeUpdate(
  services: Services,
  update: AttributeUpdate,
  use: KeyUse | null,
): Promise<AttributeOutcome> {
  const { db } = services;
  const { seller, skuOrId, attribute } = update;
  const read = readUpdate(update);
  const group = "problem" in read ? "sku" : read.group;
  // Writes with the same SKU in the path update one product, so they can share
  // a transaction. An id, or a SKU that changes, may name a product that
  // another write names by its SKU; a review also depends on the seller.
  const isAlone = readId(skuOrId) !== null || attribute === "sku" ||
    isUnderReview(attribute);
  const shared = isAlone ? undefined : {
    kind: "attributes",
    key: `${String(seller.no).padStart(16, "0")} ${skuOrId}`,
  };
  return await db.of(seller.no).write(async (tx) => {
    const current = await lockGroup(tx, seller.no, skuOrId, group);
    const used = use && await findKeyUse(tx, seller, use);
    if (used !== null) return REPEATED;
    if (current === null) throw notFound("product");
    if ("problem" in read) throw invalid(current, read.problem);
    if (read.expected !== null) refuseUnexpected(current, read.expected);
    const named = patchOf(read, current);
    const { patch, unknown } = namesContact(attribute)
      ? await withContacts(tx, seller, named, current)
      : { patch: named, unknown: [] };
    const { fields, problems } = applyPatch(current, patch, tx.now());
    if (unknown.length + problems.length > 0) {
      throw invalid(current, ...unknown, ...problems);
    }
    if (use !== null) await storeKeyUse(tx, seller.no, {}, use);
    if (sameFields(current, fields)) return DONE;
    if (fields.sku !== current.sku) {
      await refuseTakenSku(tx, seller, current, fields.sku);
    }
    const field = attribute as ScalarField;
    if (field === "price" && read.expected === null) {
      const problem = priceJumpProblem(current, fields, update.priceJump);
      if (problem !== null) throw invalid(current, problem);
    }
    // Rules and review need all columns. The row is locked, so one read is
    // enough.
    let reading: Promise<Product[]> | undefined;
    const wholeProduct = async () => {
      reading ??= findProducts(tx, seller.no, { ids: [current.id] });
      return (await reading)[0];
    };
    if (isCheckedByRules(field)) {
      const value = fields[field];
      await refuseByRules(tx, services, { field, value, wholeProduct });
    }
    const review = mayChangeReview(field, current)
      ? await policyAndWhole(tx, seller, wholeProduct)
      : null;
    const product = { ...fields, id: current.id };
    const by = { what: "attribute", keyId: seller.keyId };
    await writeProduct(tx, seller, current, product, by);
    if (review === null) return DONE;
    const { policy, before } = review;
    const after = { ...before, [field]: fields[field] };
    await reviewChanges(tx, seller.no, policy, [{ before, after }]);
    return DONE;
  }, { shared, changes: true });
}

interface ReadUpdate {
  change: ProductPatch | Difference;
  group: UpdateGroup;
  expected: Expectation | null;
}

function patchOf({ change }: ReadUpdate, current: Product): ProductPatch {
  if (!("by" in change)) return change;
  const { field } = change;
  const changed = applyDifference(current, change);
  if ("problem" in changed) throw invalid(current, changed.problem);
  return { [field]: changed.value };
}

/** The patch with the stored value of a contact that it names. */
async function withContacts(
  tx: Tx,
  { no }: Seller,
  patch: ProductPatch,
  current: Product,
): Promise<ReturnType<typeof resolveContacts>> {
  const names = contactNamesIn(patch);
  const contacts = names.length === 0
    ? null
    : await findContacts(tx, no, names);
  return resolveContacts(patch, current, contacts, new Suggestions());
}

/** The policy and the whole product; null if nothing is reviewed. */
async function policyAndWhole(
  tx: Tx,
  { no }: Seller,
  wholeProduct: () => Promise<Product>,
) {
  await lockAgainstRemoval(tx, no);
  const policy = await findPolicy(tx, no);
  return policy === "none" ? null : { policy, before: await wholeProduct() };
}

function readUpdate(
  { attribute, value, expected = null, isDifference = false }: AttributeUpdate,
): ReadUpdate | { problem: FieldProblem } {
  if (!(ATTRIBUTE_NAMES as string[]).includes(attribute)) {
    const usualName = fieldForSynonym(attribute);
    const hint = usualName !== null
      ? ` It is called ${usualName}.`
      : ([...SCALAR_NAMES, ...LIST_NAMES] as string[]).includes(attribute)
      ? " An upload, POST /seller_api/bulk_products, changes it."
      : "";
    return {
      problem: {
        field: attribute.slice(0, 100),
        code: "unknown_attribute",
        message: "is not an attribute that can be updated; write one of " +
          `${ATTRIBUTE_NAMES.join(", ")}.${hint}`,
      },
    };
  }
  const field = attribute as ScalarField;
  return isDifference
    ? readChange(field, value, expected)
    : readValue(field, value, expected);
}

function readChange(
  field: ScalarField,
  value: string,
  expected: string | null,
): ReadUpdate | { problem: FieldProblem } {
  const { group, difference } = SCALAR_RULES[field];
  const refused = difference === undefined
    ? differenceNotAllowed(field)
    : expected !== null
    ? differenceWithValue(EXPECTED)
    : null;
  if (refused !== null) return { problem: { field: CHANGE, ...refused } };
  const read = difference!.read(trimSpace(value));
  if ("problem" in read) return { problem: { field, ...read.problem } };
  return { change: { field, by: read.value as number }, group, expected: null };
}

function readValue(
  field: ScalarField,
  value: string,
  expected: string | null,
): ReadUpdate | { problem: FieldProblem } {
  const { group } = SCALAR_RULES[field];
  const read = readScalar(field, value);
  if ("problem" in read) return { problem: { field, ...read.problem } };
  const change = { [field]: read.value };
  if (expected === null) return { change, group, expected };
  const former = readExpected(field, expected);
  if ("problem" in former) {
    return { problem: { field: EXPECTED, ...former.problem } };
  }
  return { change, group, expected: { field, ...former, unit: null } };
}

function refuseUnexpected(current: Product, expected: Expectation): void {
  const problem = expectationProblem(current, expected);
  if (problem === null) return;
  const details = [fieldDetail(problem, { sku: current.sku })];
  throw new ServiceError("changed_since", details[0].message, { details });
}

async function refuseTakenSku(
  tx: Tx,
  seller: Seller,
  current: Product,
  sku: string,
): Promise<void> {
  const [owner] = await findProducts(tx, seller.no, { skus: [sku] });
  if (owner === undefined) return;
  throw invalid(current, skuTaken(sku, owner.id));
}

/**
 * Throws 422 if a rule of one of the product's categories refuses the change.
 */
async function refuseByRules(
  tx: Tx,
  { categories, deps }: Pick<Services, "categories" | "deps">,
  { field, value, wholeProduct }: {
    field: ScalarField;
    value: string | number | null;
    /** Reads all columns of the product. */
    wholeProduct: () => Promise<Product>;
  },
): Promise<void> {
  const head = await findList(tx);
  if (head === null) return;
  const before = await wholeProduct();
  const names = new Set(before.categories);
  const today = dayOf(deps.clock.now());
  const list = await categories.find(tx, head.version, names, today);
  const found = list && ruleFindings({
    before,
    after: { ...before, [field]: value },
    unread: new Set(),
  }, { list, syntax: SYNTAX.xml, suggestions: new Suggestions() });
  if (found !== null && found.problems.length > 0) {
    throw invalid(before, ...found.problems);
  }
}

function invalid(
  product: Product,
  ...problems: FieldProblem[]
): ServiceError {
  const place = { sku: product.sku };
  return recordInvalid(problems.map((problem) => fieldDetail(problem, place)));
}
