/**
 * Plans the effect of an undo on each product of a transaction, and finds the
 * later changes that prevent it.
 */
import type { Detail } from "../lib/errors.ts";
import type { RowWork } from "../lib/steps.ts";
import { quote } from "../lib/values.ts";
import { isoTime } from "../xml/encode.ts";
import { asSent } from "./contact.ts";
import type { Availability, ProductFields } from "./fields.ts";
import {
  availabilityAt,
  fieldConflicts,
  type Product,
  TIED_FIELDS,
} from "./product.ts";
import type { PlanData } from "./load.ts";
import { type Groups, groupsOf } from "./product_rows.ts";
import { quotaProblems } from "./product_quota.ts";
import type { ProductOutcome } from "./transaction_write.ts";
import type { PackedResults } from "./packed_results.ts";
import type { ProductResult } from "./transaction.ts";
import { columnValues } from "./product_values.ts";
import {
  fieldsOf,
  type FieldValues,
  fieldValues,
  formerSkus,
  IN_CURRENCY_OF_PRICE,
  sameValues,
  type UndoField,
  type UndoStep,
} from "./undo_record.ts";

/** The effect of an undo on one product. */
export interface UndoneProduct {
  /** Its position in the upload, from 1. */
  product: number;
  /** null if the product is created again, with a new id. */
  id: string | null;
  sku: string;
  result: ProductResult;
  /** null if it does not change. */
  change: ProductOutcome["change"];
}

export interface UndoPlan {
  /** The products that the transaction changed, in its order. */
  products: UndoneProduct[];
  /** Fields that changed since and are kept. */
  conflicts: Detail[];
  beyondQuota: Detail[];
}

export interface UndoDraft {
  steps: readonly UndoStep[];
  /** By the `index` of a step. */
  results: PackedResults;
}

/**
 * The products that an undo changes, the SKUs that they may get, and the groups
 * of columns that the plan needs.
 */
export function* productsNamedByUndo(
  { steps, results }: UndoDraft,
): RowWork<{ ids: string[]; skus: string[]; groups: Groups | null }> {
  const ids: string[] = [];
  const skus: string[] = [];
  const fields = new Set<UndoField>();
  let isPart = true;
  for (const step of steps) {
    ids.push(resultAt(results, step.index).id);
    for (const sku of formerSkus(step)) skus.push(sku);
    if (step.effect !== "update") isPart = false;
    else for (const { field } of step.fields) fields.add(field);
    yield;
  }
  return { ids, skus, groups: isPart ? groupsOf(fields) : null };
}

/**
 * The id and SKU of a step's product. Only refused products lack them, and
 * refused products have no step.
 */
function resultAt(results: PackedResults, index: number) {
  return results.at(index) as { id: string; sku: string };
}

/** Plans the undo of these steps; depends only on its arguments. */
export function* planUndo(
  { steps, results }: UndoDraft,
  { byId, bySku, quota, now }: PlanData,
): RowWork<UndoPlan> {
  const undoings: Undoing[] = [];
  for (const step of steps) {
    const named = resultAt(results, step.index);
    const current = byId.get(named.id) ?? null;
    undoings.push(new Undoing(step, current, named, now));
    yield;
  }
  yield* settle(undoings, bySku);
  const products: UndoneProduct[] = [];
  for (const undoing of undoings) {
    products.push(undoing.outcome());
    yield;
  }
  const recreated = products.filter(({ result }) => result === "created")
    .map(({ product, sku }) => ({ product, sku }));
  return {
    products,
    conflicts: undoings.flatMap(({ conflicts }) => conflicts),
    beyondQuota: quotaProblems(quota, recreated, { fill: false }),
  };
}

/** The conflicts of an undo without `keepChanged`. */
export function refusedConflicts({ conflicts }: UndoPlan): Detail[] {
  return conflicts.map(({ message, ...detail }) => ({
    ...detail,
    message: `${message} changed=keep leaves it and undoes the rest.`,
  }));
}

/**
 * Keeps the current values of fields that cannot be restored: a SKU that
 * another product has, and values that break a rule between fields. Repeats
 * until nothing changes, because a SKU that one product keeps cannot go to
 * another product.
 */
function* settle(
  undoings: readonly Undoing[],
  owners: ReadonlyMap<string, Product>,
): RowWork<void> {
  for (let settled = false; !settled;) {
    settled = true;
    const freedSkuIds = new Set(
      undoings.flatMap(({ freedSkuOf }) => freedSkuOf ?? []),
    );
    for (const undoing of undoings) {
      const owner = owners.get(undoing.wantedSku ?? "");
      const taken = owner !== undefined && !freedSkuIds.has(owner.id);
      if (taken) undoing.leaveSku(owner);
      if (undoing.leaveRuleBreakers() || taken) settled = false;
      yield;
    }
  }
}

/** The undo of a transaction's effect on one product. */
class Undoing {
  readonly conflicts: Detail[] = [];
  readonly #index: number;
  /** The SKU in the results of the transaction. */
  readonly #named: { id: string; sku: string };
  /** The stored product; null if it is deleted. */
  readonly #current: Product | null;
  /** The time of the undo, in Unix milliseconds. */
  readonly #now: number;
  /** Fields that get their former value back. */
  readonly #restored = new Map<UndoField, FieldValues>();
  /** The content of a deleted product that is created again. */
  #recreated: ProductFields | null = null;
  #isDeleted = false;

  constructor(
    step: UndoStep,
    current: Product | null,
    named: { id: string; sku: string },
    now: number,
  ) {
    this.#index = step.index;
    this.#named = named;
    this.#current = current;
    this.#now = now;
    if (step.effect === "delete") this.#recreated = step.former;
    else if (current === null) {
      if (step.effect === "update") {
        this.#conflict("id", "is that of a product that was deleted since.");
      }
    } else if (step.effect === "create") {
      this.#isDeleted = step.isAsLeft(columnValues(current));
      if (!this.#isDeleted) {
        const at = isoTime(current.updated_at);
        this.#conflict(
          "id",
          "is that of a product that was changed since it was created, last " +
            `at ${at}.`,
        );
      }
    } else this.#restore(current, step.fields);
  }

  #restore(
    current: Product,
    fields: (UndoStep & { effect: "update" })["fields"],
  ): void {
    const values = columnValues(current);
    for (const { field, former, isAsLeft } of fields) {
      const present = fieldValues(values, field);
      if (sameValues(present, former)) continue;
      if (isAsLeft(present)) this.#restored.set(field, former);
      // The transaction did not change the field; the record has it for the
      // currency of other fields.
      else if (isAsLeft(former)) continue;
      else {
        this.#conflict(field, `was changed since${nowIs(current, field)}.`);
      }
    }
    this.#leaveOtherCurrency(current, fields);
    this.#leaveAvailability(current);
  }

  /** Keeps amounts that would get another currency. */
  #leaveOtherCurrency(
    current: Product,
    fields: (UndoStep & { effect: "update" })["fields"],
  ): void {
    const price = fields.find(({ field }) => field === "price");
    const currency = price && fieldsOf("price", price.former).currency;
    const next = this.#restored.has("price") ? currency : current.currency;
    // Records of the first release lack the price if it did not change.
    const why = currency === undefined
      ? "the record of the transaction does not have its currency."
      : `it is in ${currency}, and price is in ${next} now.`;
    if (currency === next) return;
    for (const field of IN_CURRENCY_OF_PRICE) {
      if ((this.#restored.get(field)?.[0] ?? null) === null) continue;
      this.#restored.delete(field);
      this.#conflict(field, `cannot get its former value back: ${why}`);
    }
  }

  /** Keeps the availability if a later quantity has set it. */
  #leaveAvailability(current: Product): void {
    const { quantity } = current;
    const former = this.#restored.get("availability")?.[0] as
      | Availability
      | undefined;
    if (former === undefined || quantity === null) return;
    if (availabilityAt(former, quantity) === former) return;
    if (!this.conflicts.some(({ field }) => field === "quantity")) return;
    this.#restored.delete("availability");
    this.#conflict(
      "availability",
      "cannot get its former value back, because quantity was changed since" +
        `${nowIs(current, "quantity")}.`,
    );
  }

  /** The SKU that the product gets; null if its SKU does not change. */
  get wantedSku(): string | null {
    return this.#recreated?.sku ??
      this.#restored.get("sku")?.[0] as string | undefined ?? null;
  }

  /** The product's id if its current SKU becomes free. */
  get freedSkuOf(): string | null {
    const frees = this.#isDeleted || this.#restored.has("sku");
    return frees ? this.#current!.id : null;
  }

  /** Keeps the current SKU, because another product has the former SKU. */
  leaveSku(owner: Product): void {
    this.#conflict(
      "sku",
      `cannot be ${quote(owner.sku)} again: it is the SKU of another product ` +
        `of yours, with the id ${owner.id}.`,
    );
    this.#recreated = null;
    this.#restored.delete("sku");
  }

  /** Keeps fields that would break a rule; returns whether there were any. */
  leaveRuleBreakers(): boolean {
    if (this.#current === null || this.#restored.size === 0) return false;
    const left = this.#restored.size;
    const patch = this.#patch();
    const fields = { ...this.#current, ...patch };
    const problems = fieldConflicts(this.#current, patch, fields, this.#now);
    for (const problem of problems) {
      const [field] = problem.field.split("/");
      const tied = TIED_FIELDS.find((names) =>
        (names as readonly string[]).includes(field)
      )!;
      for (const name of tied as readonly UndoField[]) {
        if (!this.#restored.delete(name)) continue;
        this.#conflict(
          name,
          "cannot get its former value back, because of a field that was changed since: " +
            `${problem.field} ${problem.message}`,
        );
      }
    }
    return this.#restored.size < left;
  }

  #patch(): Partial<ProductFields> {
    const fields = this.#restored.entries()
      .map(([field, values]) => fieldsOf(field, values));
    return Object.assign({}, ...fields);
  }

  #conflict(field: UndoField | "id", message: string): void {
    this.conflicts.push({
      product: this.#index + 1,
      sku: this.#current?.sku ?? this.#named.sku,
      field,
      code: "changed_since",
      message: `${field} ${message}`,
    });
  }

  outcome(): UndoneProduct {
    const product = this.#index + 1;
    const { result, change } = this.#change();
    const { sku } = change?.after ?? this.#current ?? this.#named;
    const id = result === "created" ? null : this.#named.id;
    return { product, id, sku, result, change };
  }

  #change(): Pick<UndoneProduct, "result" | "change"> {
    const before = this.#current;
    if (this.#recreated !== null) {
      const change = { before: null, after: this.#recreated };
      return { result: "created", change };
    }
    if (before !== null && this.#isDeleted) {
      return { result: "deleted", change: { before, after: null } };
    }
    if (before === null || this.#restored.size === 0) {
      return { result: "unchanged", change: null };
    }
    const after = { ...before, ...this.#patch() };
    return { result: "updated", change: { before, after } };
  }
}

/** Shows the current value of a field, if it is short. */
function nowIs(product: Product, field: UndoField): string {
  const value = product[field];
  if (value === null) return "; it is empty now";
  if (typeof value === "object" || field === "price") return "";
  return `; it is ${quote(`${asSent(field, value)}`)} now`;
}
