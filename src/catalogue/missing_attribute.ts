/** The attribute that a detail is about, which its message alone names. */
import { quote } from "../lib/values.ts";

/** The beginning of the message about an attribute that a product lacks. */
export function lacksAttribute(name: string): string {
  return `has no ${quote(name)}, which the category`;
}

const LACKS = /^attributes has no "([^]*)", which the category "/;

/** The attribute in the message of a detail; null if it is about no such one. */
export function lackingAttribute(message: string): string | null {
  return LACKS.exec(message)?.[1] ?? null;
}
