/** The name of a missing attribute, which only the message of a detail has. */
import { quote } from "../lib/values.ts";

/** The beginning of the message about an attribute that a product lacks. */
export function lacksAttribute(name: string): string {
  return `has no ${quote(name)}, which the category`;
}

const LACKS = /^attributes has no "([^]*)", which the category "/;

/** The missing attribute in a detail's message; null if none is missing. */
export function lackingAttribute(message: string): string | null {
  return LACKS.exec(message)?.[1] ?? null;
}
