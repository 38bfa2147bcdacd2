/** Updates one attribute of one product. */
import {
  fieldDetail,
  type FieldProblem,
  notFound,
  recordInvalid,
  type ServiceError,
} from "../lib/errors.ts";
import {
  applyPatch,
  type Product,
  type ProductPatch,
  readScalar,
  sameFields,
  skuTaken,
} from "./product.ts";
import { readId } from "../lib/ids.ts";
import {
  ATTRIBUTE_NAMES,
  fieldCalled,
  SCALAR_RULES,
  type ScalarField,
  type UpdateGroup,
} from "./fields.ts";
import type { Seller } from "../sellers/seller.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../database/db.ts";
import { findProducts, lockGroup, writeProduct } from "./product_rows.ts";

export interface AttributeUpdate {
  seller: Seller;
  skuOrId: string;
  attribute: string;
  /** The text from the path, decoded; an empty one clears the attribute. */
  value: string;
}

/**
 * Updates one attribute by the rules of uploads. Throws `not_found` for an
 * unknown product, 422 for an unknown attribute or an invalid value.
 */
export async function updateAttribute(
  { db }: Services,
  { seller, skuOrId, attribute, value }: AttributeUpdate,
): Promise<void> {
  const read = readPatch(attribute, value);
  const group = "patch" in read ? read.group : "sku";
  // Two writes of one SKU concern one product. An id, or a SKU that changes,
  // may also be the key of another product.
  const isAlone = readId(skuOrId) !== null || attribute === "sku";
  const shared = isAlone ? undefined : {
    kind: "attributes",
    key: `${String(seller.no).padStart(16, "0")} ${skuOrId}`,
  };
  await db.write(async (tx) => {
    const current = await lockGroup(tx, seller.no, skuOrId, group);
    if (current === null) throw notFound("product");
    if ("problem" in read) throw invalid(current, read.problem);
    const { fields, problems } = applyPatch(current, read.patch);
    if (problems.length > 0) throw invalid(current, ...problems);
    if (sameFields(current, fields)) return;
    if (fields.sku !== current.sku) {
      await refuseTakenSku(tx, seller, current, fields.sku);
    }
    await writeProduct(tx, seller, current, { ...fields, id: current.id });
  }, { seller: seller.no, owner: seller.id, shared, changes: true });
}

function readPatch(
  attribute: string,
  value: string,
): { patch: ProductPatch; group: UpdateGroup } | { problem: FieldProblem } {
  if (!(ATTRIBUTE_NAMES as string[]).includes(attribute)) {
    const called = fieldCalled(attribute);
    const hint = called === null ? "" : ` It is called ${called}.`;
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
  const read = readScalar(field, value);
  return "problem" in read
    ? { problem: { field, ...read.problem } }
    : { patch: { [field]: read.value }, group: SCALAR_RULES[field].group };
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

function invalid(
  product: Product,
  ...problems: FieldProblem[]
): ServiceError {
  const place = { sku: product.sku };
  return recordInvalid(problems.map((problem) => fieldDetail(problem, place)));
}
