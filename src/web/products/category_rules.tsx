/** The marketplace's rules for the categories of a product. */
import type { CategoryRule, Client } from "../../client/mod.ts";
import { fetchCategories } from "../lib/categories.ts";
import { fieldLabel } from "../lib/words.ts";
import { useLoaded } from "../ui/components.tsx";
import type { ListItem } from "./draft.ts";

/**
 * Lists the rules of the product's categories, with a button for each missing
 * attribute.
 */
export function CategoryRequirements({ client, names, attributes, onAdd }: {
  client: Client;
  names: readonly string[];
  attributes: readonly ListItem[];
  /** Adds an attribute to the form. */
  onAdd: (name: string) => void;
}) {
  const usedNames = names.map((name) => name.trim()).filter((name) =>
    name !== ""
  );
  const { data } = useLoaded(
    (signal) => fetchCategories(client, usedNames, signal),
    [client, usedNames.join("\n")],
  );
  const hasAttribute = (rule: CategoryRule) =>
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
                {rule.attribute !== undefined && !hasAttribute(rule) && (
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

/** The maximum number of values that the text of a rule shows. */
const SHOWN_VALUES = 12;

/**
 * A rule as text: "material: required; one of steel, porcelain; from 2027-01-01
 * on".
 */
export function ruleText(
  { field, attribute, required, value = [], from }: CategoryRule,
): string {
  const more = value.length - SHOWN_VALUES;
  const values = value.slice(0, SHOWN_VALUES).join(", ");
  const phrases = [
    required && "required",
    values && `one of ${values}${more > 0 ? ` and ${more} more` : ""}`,
    from && `from ${from} on`,
  ].filter(Boolean);
  const name = attribute ?? fieldLabel(field!);
  return `${name}: ${phrases.join("; ")}`;
}
