/** Values of products; some have a unit. */
import { SCALAR_RULES, type ScalarField } from "../../catalogue/fields.ts";
import type { Product } from "../../client/mod.ts";

/** A field as text, without its unit. */
export function shownText(product: Product, name: ScalarField): string {
  const value = product[name];
  if (value === null || typeof value !== "object") return `${value ?? ""}`;
  return `${"amount" in value ? value.amount : value.value}`;
}

/** The value of a field with its unit; an empty currency is left out. */
export function withUnit(
  name: ScalarField,
  text: string,
  currency: string,
): unknown {
  const { unit } = SCALAR_RULES[name];
  if (unit === undefined) return text;
  if (unit.column !== "currency") {
    return { value: text, [unit.name]: unit.example };
  }
  return { amount: text, currency: currency === "" ? undefined : currency };
}
