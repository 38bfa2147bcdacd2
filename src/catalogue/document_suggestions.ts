/** Suggestions for unknown names in a document of products. */
import { isNear, nearestName } from "../lib/nearest_name.ts";
import type { DocumentSyntax } from "./document_syntax.ts";
import { fieldForSynonym, isList, LISTS, TEXT_LIMITS } from "./fields.ts";

/** Names of sale prices in other systems, without "_" and "-". */
const OF_A_SALE =
  /^(sale|special|promo|promotion|discount)(price|start|begin|end|from|to|date|effective|$)/;

/** Advice about fields of other systems for which a product has no field. */
function adviceOn(
  name: string,
  known: readonly string[],
  show: DocumentSyntax["show"],
): string | null {
  const written = name.toLowerCase().replace(/[-_]/g, "");
  if (known.includes("sale") && OF_A_SALE.test(written)) {
    return `; a sale is ${show("sale")}, with ${show("price")}, ` +
      `${show("from")} and ${show("until")}.`;
  }
  if (known.includes("parent_sku") && /^variants?$/.test(written)) {
    return "; send each variant as a separate product, all with the same " +
      `${show("parent_sku")}.`;
  }
  return null;
}

/**
 * The end of a message about an unknown name: the name that was probably meant,
 * otherwise how to send the value as an attribute of the product, or all known
 * names. `requiredNote` is appended if a field was meant.
 */
export function suggestion(
  name: string,
  known: readonly string[],
  { show, list, property }: Pick<DocumentSyntax, "show" | "list" | "property">,
  requiredNote: (field: string) => string = () => "",
): string {
  const advice = adviceOn(name, known, show);
  if (advice !== null) return advice;
  const usualName = fieldForSynonym(name);
  if (usualName !== null && known.includes(usualName)) {
    return isList(usualName)
      ? `; write ${list(usualName, LISTS[usualName].item)}.`
      : `; it is called ${show(usualName)}${requiredNote(usualName)}.`;
  }
  if (known.length === 0) return ": nothing is allowed here.";
  if (known.length === 1) return `; the known name is ${show(known[0])}.`;
  const nearest = nearestName(name.toLowerCase(), known);
  if (isNear(name.toLowerCase(), nearest)) {
    return `; the nearest known name is ${show(nearest)}${
      requiredNote(nearest)
    }.`;
  }
  return known.includes("attributes")
    ? "; a property of the product is an attribute: write " +
      `${property(name.slice(0, TEXT_LIMITS.attributeName))}.`
    : `; the known names are ${known.map(show).join(", ")}.`;
}
