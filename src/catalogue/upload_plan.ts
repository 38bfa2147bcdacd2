/**
 * What each row of a document does to stored products, or why it cannot. Reads
 * stored products (in a write it locks them), writes nothing.
 */
import { type Detail, fieldDetail, type FieldProblem } from "../lib/errors.ts";
import type { ProductFields } from "./fields.ts";
import {
  applyPatch,
  type Product,
  type ProductContent,
  sameFields,
  skuTaken,
} from "./product.ts";
import type { PlannedResult } from "./transaction.ts";
import { quote } from "../lib/values.ts";
import type { Sql } from "../database/db.ts";
import { lockProducts } from "./product_rows.ts";
import {
  type DecodedProduct,
  lineOf,
  type ProductsDocument,
} from "./document.ts";

/** The stored products that a document speaks of. */
interface Stored {
  byId: ReadonlyMap<string, Product>;
  bySku: ReadonlyMap<string, Product>;
}

async function loadStored(
  sql: Sql,
  sellerNo: number,
  { rows }: ProductsDocument,
): Promise<Stored> {
  const products = await lockProducts(sql, sellerNo, {
    ids: rows.flatMap(({ id }) => id ?? []),
    skus: rows.flatMap(({ sku }) => sku ?? []),
  });
  return {
    byId: new Map(products.map((product) => [product.id, product])),
    bySku: new Map(products.map((product) => [product.sku, product])),
  };
}

/** The plan for one product. */
export interface PlannedProduct {
  /** Its row in the document. */
  row: DecodedProduct;
  result: PlannedResult;
  /** The stored product; null for a new one. */
  before: Product | null;
  /** The product after the write. */
  product: ProductContent;
  /** Whether the document lists its images. */
  asksImages: boolean;
  /** Id of the product whose SKU it takes, which has to give it up. */
  takesSkuOf: string | null;
}

/** The result of a document; a product with a problem must not be stored. */
export interface Plan {
  problems: Detail[];
  /** Those that address a product of their own, in document order. */
  products: PlannedProduct[];
}

/** Plans a whole document; `uuid` gives new products their ids. */
export async function makePlan(
  sql: Sql,
  sellerNo: number,
  document: ProductsDocument,
  uuid: () => string,
): Promise<Plan> {
  const stored = await loadStored(sql, sellerNo, document);
  const reservations = new SkuReservations(stored, document.rows);
  const plan: Plan = { problems: [], products: [] };
  for (const row of document.rows) {
    planRow(plan, row, stored, reservations, uuid);
  }
  return plan;
}

function planRow(
  plan: Plan,
  row: DecodedProduct,
  stored: Stored,
  reservations: SkuReservations,
  uuid: () => string,
): void {
  const target = findTarget(row, stored);
  if ("problems" in target) {
    reservations.reserveSku(row);
    for (const problem of target.problems) plan.problems.push(problem);
    return;
  }
  const { current } = target;
  const place = { product: row.product, sku: row.sku ?? current?.sku };
  const reservation = reservations.reserve(row, current);
  const { fields, problems } = applyPatch(current, row.patch, row.unread);
  // The row that a new product conflicts with may have the fields that it
  // lacks.
  const told = "clash" in reservation
    ? problems.filter(({ code }) => code !== "required")
    : problems;
  for (const detail of detailsOf(row, place, told)) plan.problems.push(detail);
  if ("clash" in reservation) {
    plan.problems.push({ ...place, ...reservation.clash });
    return;
  }
  const planned = planProduct(row, current, fields, uuid);
  plan.products.push({ ...planned, takesSkuOf: reservation.takesSkuOf });
}

/**
 * The product that a row addresses, null for a new one; or the problem with the
 * address, nothing if it is already reported.
 */
type Target = { current: Product | null } | { problems: Detail[] };

function findTarget(row: DecodedProduct, { byId, bySku }: Stored): Target {
  if (row.id !== null) {
    const current = byId.get(row.id);
    return current === undefined ? { problems: [unknownId(row)] } : { current };
  }
  if (row.sku !== null) return { current: bySku.get(row.sku) ?? null };
  if (row.unread.has("id")) return { problems: [] };
  const problems = withoutAddress(row);
  // Only a new product can have an invalid SKU, which is already reported.
  return row.unread.has("sku")
    ? { problems: problems.filter(({ field }) => field !== "sku") }
    : { problems };
}

/** All fields that a new product lacks, and how to address a stored product. */
function withoutAddress(row: DecodedProduct): Detail[] {
  return detailsOf(row, {}, applyPatch(null, row.patch, row.unread).problems)
    .map((detail) =>
      detail.field !== "sku" ? detail : {
        ...detail,
        message: "sku is missing; a product is addressed by <sku> or <id>.",
      }
    );
}

/** Problems of a row's fields; of a field that was not sent, on its line. */
function detailsOf(
  row: DecodedProduct,
  place: Pick<Detail, "sku">,
  problems: readonly FieldProblem[],
): Detail[] {
  return problems.map((problem) => {
    const line = lineOf(row, problem.field);
    return fieldDetail(problem, { product: row.product, ...place, line });
  });
}

function unknownId(row: DecodedProduct): Detail {
  return {
    product: row.product,
    ...(row.sku !== null && { sku: row.sku }),
    line: lineOf(row, "id"),
    field: "id",
    code: "unknown_id",
    message:
      `id ${quote(row.id!)} is not one of your products; leave <id> out to ` +
      "address a product by its SKU.",
  };
}

type Clash = Pick<Detail, "line" | "field" | "code" | "message">;

/** Which row of this document uses which SKU, and which stored product. */
class SkuReservations {
  readonly #stored: Stored;
  readonly #skus = new Map<string, DecodedProduct>();
  readonly #targets = new Map<string, DecodedProduct>();
  /** Ids of the products that give up their SKU in this document. */
  readonly #leaving = new Set<string>();

  constructor(stored: Stored, rows: readonly DecodedProduct[]) {
    this.#stored = stored;
    for (const { id, sku } of rows) {
      const current = id === null ? undefined : stored.byId.get(id);
      if (current && sku !== null && sku !== current.sku) {
        this.#leaving.add(current.id);
      }
    }
  }

  /** Reserves the SKU of a row that addresses no product. */
  reserveSku(row: DecodedProduct): void {
    if (row.sku !== null && !this.#skus.has(row.sku)) {
      this.#skus.set(row.sku, row);
    }
  }

  /**
   * Reserves a row's SKU and product; returns a conflict with an earlier row or
   * with a stored product's SKU. Refused rows reserve as well.
   */
  reserve(
    row: DecodedProduct,
    current: Product | null,
  ): { clash: Clash } | { takesSkuOf: string | null } {
    const sku = row.sku ?? current!.sku;
    const field = row.sku === null ? "id" : "sku";
    const line = lineOf(row, field);
    const namesake = this.#skus.get(sku);
    const twin = current === null ? undefined : this.#targets.get(current.id);
    if (namesake === undefined) this.#skus.set(sku, row);
    if (twin === undefined && current !== null) {
      this.#targets.set(current.id, row);
    }
    if (namesake !== undefined && (row.sku !== null || twin === undefined)) {
      return {
        clash: {
          line,
          field,
          code: "duplicate_sku",
          message: `sku ${quote(sku)} is already used by product ` +
            `${namesake.product} on line ${namesake.line}; a document may ` +
            "name a SKU only once.",
        },
      };
    }
    if (twin !== undefined) {
      return {
        clash: {
          line,
          field,
          code: "duplicate_product",
          message: `This is the product with the id ${current!.id}, which is ` +
            `product ${twin.product} already, on line ${twin.line}; a SKU ` +
            "that becomes free can be given to a new product in the next " +
            "request.",
        },
      };
    }
    if (current === null) return { takesSkuOf: null };
    const owner = this.#stored.bySku.get(sku);
    if (!owner || owner.id === current.id) return { takesSkuOf: null };
    if (this.#leaving.has(owner.id)) return { takesSkuOf: owner.id };
    return { clash: fieldDetail(skuTaken(sku, owner.id), { line }) };
  }
}

function planProduct(
  row: DecodedProduct,
  before: Product | null,
  fields: ProductFields,
  uuid: () => string,
): Omit<PlannedProduct, "takesSkuOf"> {
  const asksImages = row.patch.images !== undefined;
  if (before === null) {
    const product = { ...fields, id: uuid() };
    return { row, result: "created", before, product, asksImages };
  }
  if (sameFields(before, fields)) {
    const product = before;
    return { row, result: "unchanged", before, product, asksImages };
  }
  const product = { ...before, ...fields };
  return { row, result: "updated", before, product, asksImages };
}
