/** What people call fields and values. */
import { LISTS, SCALAR_RULES, type ScalarField } from "../catalogue/fields.ts";

/** What people call the field at a path such as `images/image[2]`. */
export function labelOf(path: string): string {
  const [field, unit] = path.replace(/\[\d+\]/g, "").split(/\/?@/);
  const [name] = field.split("/");
  const label = isScalar(name)
    ? SCALAR_RULES[name].label
    : name in LISTS
    ? capitalised(name)
    : `<${field.split("/").at(-1)}>`;
  return unit === undefined ? label : `${label}, ${unit}`;
}

function isScalar(name: string): name is ScalarField {
  return Object.hasOwn(SCALAR_RULES, name);
}

/** `in_stock` as `In stock`. */
export function readable(word: string): string {
  return capitalised(word.replaceAll("_", " "));
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
