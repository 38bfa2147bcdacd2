/** The requirements of the marketplace for products in their categories. */
import type { CategoryRule, Client } from "../../client/mod.ts";
import { fetchCategories } from "../lib/categories.ts";
import { fieldLabel } from "../lib/words.ts";
import { useLoaded } from "../ui/components.tsx";
import type { Item } from "./draft.ts";

/**
 * The rules of the product's categories, with buttons for missing attributes.
 */
export function CategoryNeeds({ client, names, attributes, onAdd }: {
  client: Client;
  names: readonly string[];
  attributes: readonly Item[];
  /** Adds an attribute to the form. */
  onAdd: (name: string) => void;
}) {
  const wanted = names.map((name) => name.trim()).filter((name) => name !== "");
  const { data } = useLoaded(
    (signal) => fetchCategories(client, wanted, signal),
    [client, wanted.join("\n")],
  );
  const has = (rule: CategoryRule) =>
    attributes.some(({ note: name }) => name.trim() === rule.attribute);
  return (
    <>
      {data?.filter(({ rule = [] }) => rule.length > 0).map((category) => (
        <div key={category.name} class="quiet">
          {category.name}
          <ul>
            {category.rule!.map((rule, i) => (
              <li key={i}>
                {ruleText(rule)}{" "}
                {rule.attribute !== undefined && !has(rule) && (
                  <button
                    type="button"
                    class="small"
                    onClick={() => onAdd(rule.attribute!)}
                  >
                    Add {rule.attribute}
                  </button>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
}

/** The most values of a rule that are shown. */
const SHOWN = 12;

/**
 * A rule as text: "material: required; one of steel, porcelain; from 2027-01-01
 * on".
 */
export function ruleText(
  { field, attribute, required, value = [], from }: CategoryRule,
): string {
  const more = value.length - SHOWN;
  const values = value.slice(0, SHOWN).join(", ");
  const parts = [
    required && "required",
    values && `one of ${values}${more > 0 ? ` and ${more} more` : ""}`,
    from && `from ${from} on`,
  ].filter(Boolean);
  const name = attribute ?? fieldLabel(field!);
  return `${name}: ${parts.join("; ")}`;
}
