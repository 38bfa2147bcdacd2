/** Records the SKU and the stored product that each row of a document uses. */
import { type Detail, fieldDetail } from "../lib/errors.ts";
import { quote } from "../lib/values.ts";
import { type DecodedProduct, lineOfField } from "./decoded_product.ts";
import type { PlanData } from "./load.ts";
import { type Product, skuTaken } from "./product.ts";

type Stored = Pick<PlanData, "byId" | "bySku">;

/** A row that uses a SKU or a product. */
type SkuUser = Pick<DecodedProduct, "product" | "line">;

/** SKUs and ids in earlier parts of the document. */
export interface UsedBefore {
  skus: ReadonlyMap<string, SkuUser>;
  ids: ReadonlyMap<string, SkuUser>;
}

const NOTHING: UsedBefore = { skus: new Map(), ids: new Map() };

type Clash = Pick<Detail, "line" | "field" | "code" | "message">;

export class SkuReservations {
  readonly #stored: Stored;
  readonly #skus: Map<string, SkuUser>;
  readonly #targets: Map<string, SkuUser>;
  /** Ids of products that give up their SKU in this document. */
  readonly #freedSkuIds = new Set<string>();

  constructor(
    stored: Stored,
    rows: readonly DecodedProduct[],
    before: UsedBefore = NOTHING,
  ) {
    this.#stored = stored;
    this.#skus = new Map(before.skus);
    this.#targets = new Map(before.ids);
    for (const { id, sku } of rows) {
      const current = id === null ? undefined : stored.byId.get(id);
      if (current && sku !== null && sku !== current.sku) {
        this.#freedSkuIds.add(current.id);
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
   * with a stored product's SKU. Refused rows also reserve.
   */
  reserve(
    row: DecodedProduct,
    current: Product | null,
  ): { clash: Clash } | { takesSkuOf: string | null } {
    const sku = row.sku ?? current!.sku;
    const field = row.sku === null ? "id" : "sku";
    const line = lineOfField(row, field);
    const skuUser = this.#skus.get(sku);
    const targetUser = current === null
      ? undefined
      : this.#targets.get(current.id);
    if (skuUser === undefined) this.#skus.set(sku, row);
    if (targetUser === undefined && current !== null) {
      this.#targets.set(current.id, row);
    }
    const clash = (code: Clash["code"], message: string) => ({
      clash: { line, field, code, message },
    });
    if (
      skuUser !== undefined && (row.sku !== null || targetUser === undefined)
    ) {
      return clash(
        "duplicate_sku",
        `sku ${quote(sku)} is already used by product ${skuUser.product} on ` +
          `line ${skuUser.line}; a document may name a SKU only once.`,
      );
    }
    if (targetUser !== undefined) {
      return clash(
        "duplicate_product",
        `This is the product with the id ${current!.id}, which is product ` +
          `${targetUser.product} already, on line ${targetUser.line}; a SKU that becomes ` +
          "free can be given to a new product in the next request.",
      );
    }
    if (current === null) return { takesSkuOf: null };
    const owner = this.#stored.bySku.get(sku);
    if (!owner || owner.id === current.id) return { takesSkuOf: null };
    if (this.#freedSkuIds.has(owner.id)) return { takesSkuOf: owner.id };
    return { clash: fieldDetail(skuTaken(sku, owner.id), { line }) };
  }
}
