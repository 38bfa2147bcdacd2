/**
 * The message about a missing attribute, and the attribute's name in it: a
 * detail has no other place for that name.
 */
import { quote } from "../lib/values.ts";

/** The beginning of the message about an attribute that a product lacks. */
export function missingAttributeText(name: string): string {
  return `has no ${quote(name)}, which the category`;
}

const MISSING_ATTRIBUTE = /^attributes has no "([^]*)", which the category "/;

/** The missing attribute in a detail's message; null if none is missing. */
export function missingAttributeIn(message: string): string | null {
  return MISSING_ATTRIBUTE.exec(message)?.[1] ?? null;
}
