/** Labels of fields, and titles and remedies of problems, for merchants. */
import { capitalised } from "./texts.ts";
import {
  LISTS,
  SALE,
  SCALAR_RULES,
  type ScalarField,
} from "../../catalogue/fields.ts";
import { missingAttributeIn } from "../../catalogue/missing_attribute.ts";
import type { Detail, DetailCode } from "../../client/mod.ts";
import { type CodeEntry, DETAIL_CODES } from "../../lib/errors.ts";

/** The label of the field at a path such as `images/image[2]`. */
export function fieldLabel(path: string): string {
  const [field, unit] = path.replace(/\[\d+\]/g, "").split(/\/?@/);
  const [name, part] = field.split("/");
  const label = isScalar(name)
    ? SCALAR_RULES[name].label
    : name === SALE
    ? `Sale ${part ?? ""}`.trim()
    : name in LISTS
    ? capitalised(name)
    : `<${field.split("/").at(-1)}>`;
  return unit === undefined ? label : `${label}, ${unit}`;
}

function isScalar(name: string): name is ScalarField {
  return Object.hasOwn(SCALAR_RULES, name);
}

/** The allowed values of a field; null if the field has no list of values. */
export function valuesOfField(field: string): readonly string[] | null {
  if (!isScalar(field)) return null;
  const { form } = SCALAR_RULES[field];
  return form.kind === "word" ? form.words : null;
}

/**
 * Titles of problems. A title follows the label of the field, or stands alone
 * if the problem has no field.
 */
const PROBLEMS: Readonly<Record<DetailCode, string>> = {
  required: "is missing",
  too_long: "is too long",
  too_many: "has too many entries",
  not_a_number: "is not a number",
  out_of_range: "is too small or too large",
  not_in_list: "is not one of the allowed values",
  attribute_required: "is missing; its category needs it",
  unknown_category: "is not a category of this marketplace",
  unknown_contact: "is not one of your contacts",
  not_a_date: "is not a date",
  not_one_line: "has a line break or a control character",
  not_allowed: "breaks a rule",
  unknown_element: "is not a field",
  unknown_attribute: "is not an attribute",
  unexpected_text: "has text where none is allowed",
  repeated_element: "is repeated",
  repeated_value: "has the same entry twice",
  duplicate_sku: "is already used by an earlier product",
  duplicate_product: "is the same product as an earlier one",
  sku_taken: "is taken by another product",
  name_taken: "is taken",
  too_many_missing: "would set too many products to 0",
  quota_exceeded: "This exceeds your quota",
  changed_since: "was changed since",
  too_old: "is too long ago",
  not_found: "belongs to no product",
  unknown_id: "belongs to no product",
  price_jump: "changes by more than is allowed at once",
  bad_check_digit: "has a wrong digit",
  bad_url: "has an invalid address",
  image_unavailable: "cannot be downloaded",
  image_blocked: "has an address that is not public",
  unknown_image: "is not one of your uploaded pictures",
  image_incomplete: "is not complete",
  image_too_large: "is too large",
  image_not_an_image: "is not a picture",
  image_unsupported_type: "has a type that is not accepted",
  image_corrupt: "is damaged",
  image_too_many_pixels: "has too many pixels",
  image_too_many_frames: "has too many frames",
  image_quota_exceeded: "This exceeds your quota",
  image_unprocessable: "could not be read",
  url_blocked: "has an address that is not public",
  unresolved: "has a host that does not exist",
  wrong_type: "has the wrong type",
  syntax: "The file is broken here",
  internal: "could not be processed by the service",
  limit: "The file is too large or too deep",
};

/** Remedies for merchants; the remedies in the handbook are for programmers. */
const REMEDIES: Partial<Record<DetailCode, string>> = {
  changed_since: "Undo the other changes; this product stays as it is.",
  image_unavailable:
    "Open each address in a browser. It must show the image itself, without a sign-in or a redirect.",
  price_jump:
    "Correct the price. If the price is right, confirm it; in a document, write the stored price as expected.",
  out_of_range: "Correct the number where it is wrong.",
  required:
    "Add the value, or store the other products now and this product later.",
  syntax: "Correct the text at this place.",
  unknown_element: "Use the name that the message proposes, or remove it.",
  unknown_id: "Name the product by its SKU instead.",
};

/** The title of a group of problems with the same code and the same field. */
export function problemTitle(
  { code, field = "", message }: Pick<Detail, "code" | "field" | "message">,
): string {
  // A newer service may have more codes.
  const problem = PROBLEMS[code] ?? code.replaceAll("_", " ");
  const path = field.replace(/\[\d+\]/g, "");
  return path === "" || /^[A-Z]/.test(problem)
    ? capitalised(problem)
    : `${missingAttributeIn(message) ?? fieldLabel(path)} ${problem}`;
}

/** The remedy for problems of a code, in this field if one is given. */
export function remedyOf(code: DetailCode, field = ""): string {
  const kind = isScalar(field) ? SCALAR_RULES[field].form.kind : null;
  if (code === "not_a_number" && kind === "integer") {
    return "Write a whole number with digits only, such as 1299.";
  }
  if (code === "not_a_number" && kind === "digits") {
    return "Write all digits of the number below the bar code.";
  }
  const entry: CodeEntry | undefined = DETAIL_CODES[code];
  return REMEDIES[code] ?? entry?.remedy.replaceAll("`", "") ?? "";
}
