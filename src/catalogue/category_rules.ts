/**
 * What the marketplace requires of the products in a category: the rules of its
 * published list, applied to one product. Pure; `category_rows.ts` reads the
 * list.
 */
import type { DetailCode, FieldProblem } from "../lib/errors.ts";
import { nearestNames } from "../lib/nearest_name.ts";
import { quote } from "../lib/values.ts";
import { type DocumentSyntax, SYNTAX } from "./document_syntax.ts";
import {
  type ProductAttribute,
  type ProductFields,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "./fields.ts";
import { lacksAttribute } from "./missing_attribute.ts";
import { sameAttributes, sameCategories } from "./product.ts";

/** A field that a rule may concern: one that a product may lack. */
export type RuledField = ScalarField | "images";

export const RULED_FIELDS: readonly RuledField[] = [
  ...SCALAR_NAMES.filter((field) => SCALAR_RULES[field].initial === null),
  "images",
];

/**
 * Fields that change all day; a change of them alone is never refused by a
 * rule.
 */
const EXEMPT_FIELDS: ReadonlySet<string> = new Set(
  ["price", "quantity", "availability", "status"],
);
const CHECKED_FIELDS: ReadonlySet<string> = new Set(
  RULED_FIELDS.filter((field) => !EXEMPT_FIELDS.has(field)),
);

/** Whether a change of the field must satisfy the rules about it. */
export function isCheckedByRules(field: string): boolean {
  return CHECKED_FIELDS.has(field);
}

/** What a rule requires of one field or attribute. */
export interface CategoryRule {
  /** Null: the rule is about an attribute. */
  field: RuledField | null;
  /** The name of an `<attribute>`; null: the rule is about a field. */
  attribute: string | null;
  required: boolean;
  /** The allowed values; if empty, any value is allowed. */
  values: ReadonlySet<string>;
  /**
   * A date: from 00:00 UTC on that day the rule refuses; before, it only warns.
   * null: it refuses already.
   */
  from: string | null;
}

export interface Category {
  name: string;
  rules: readonly CategoryRule[];
}

/** The categories that products of one plan have. */
export interface CategoryList {
  /** Whether a product may have no other category. */
  closed: boolean;
  /** Null if the list lacks the category. */
  find(name: string): Category | null;
  /**
   * All names of a closed list; empty if no product has an unknown category.
   */
  names: readonly string[];
  /** Today, as YYYY-MM-DD in UTC. */
  today: string;
}

/** How many names are compared for the messages of one plan: 15 ms at most. */
const COMPARISONS = 50_000;

/**
 * Suggests names that were probably meant, with a bounded number of
 * comparisons.
 */
export class Suggestions {
  #left: number;
  /** Earlier suggestions, by known names and what was written. */
  readonly #found = new Map<Iterable<string>, Map<string, string[]>>();

  constructor(comparisons = COMPARISONS) {
    this.#left = comparisons;
  }

  /**
   * The `count` names in `known` most like `written`; none after too many
   * comparisons.
   */
  of(written: string, known: Iterable<string>, count: number): string[] {
    const found = this.#found.get(known) ?? new Map<string, string[]>();
    const earlier = found.get(written);
    if (earlier !== undefined || this.#left <= 0) return earlier ?? [];
    const names = [...known];
    this.#left -= names.length;
    const nearest = nearestNames(written, names, count);
    this.#found.set(known, found.set(written, nearest));
    return nearest;
  }
}

/** What a rule that is not yet enforced will refuse. */
export interface RuleWarning extends FieldProblem {
  /** The date from which the rule refuses. */
  from: string;
}

export interface RuleFindings {
  problems: FieldProblem[];
  warnings: RuleWarning[];
}

/** The most problems and warnings of one product; further ones are left out. */
const MOST_FINDINGS = 25;

interface Change {
  /** Null for a new product. */
  before: ProductFields | null;
  after: ProductFields;
  /** Fields whose problems are already reported. */
  unread: ReadonlySet<string>;
  syntax: DocumentSyntax;
  suggestions: Suggestions;
}

/**
 * The findings for a product that is created, or that changes in its
 * categories, its attributes or a field with a rule. Null if the change
 * concerns no rule.
 */
export function ruleFindings(
  change: Change,
  list: CategoryList,
): RuleFindings | null {
  const { before, after, unread } = change;
  const categories = after.categories.map((name) => list.find(name));
  if (before !== null && !mustSatisfyRules(before, after, categories)) {
    return null;
  }
  const findings = new Findings(list.today);
  if (list.closed && !unread.has("categories")) {
    categories.forEach((category, n) => {
      if (category !== null) return;
      findings.add(null, unknownCategory(change, n, list));
    });
  }
  const product = ruledProduct(change);
  for (const category of categories) {
    for (const rule of category?.rules ?? []) {
      if (unread.has(rule.field ?? "attributes")) continue;
      const problems = problemsOf(product, category!, rule);
      for (const problem of problems) findings.add(rule.from, problem);
      if (findings.isFull) return findings;
    }
  }
  return findings.isEmpty ? null : findings;
}

/** The rules of these categories that a product breaks, whatever their dates. */
export function brokenRules(
  product: ProductFields,
  categories: readonly Category[],
): CategoryRule[] {
  const ruled = ruledProduct({
    after: product,
    syntax: SYNTAX.xml,
    suggestions: new Suggestions(0),
  });
  return categories.flatMap((category) =>
    category.rules.filter((rule) =>
      problemsOf(ruled, category, rule).length > 0
    )
  );
}

/** Collects findings; for each field only the first one of a kind. */
class Findings implements RuleFindings {
  readonly problems: FieldProblem[] = [];
  readonly warnings: RuleWarning[] = [];
  readonly #today: string;
  readonly #known = new Set<string>();

  constructor(today: string) {
    this.#today = today;
  }

  get isEmpty(): boolean {
    return this.problems.length + this.warnings.length === 0;
  }

  get isFull(): boolean {
    return this.problems.length + this.warnings.length >= MOST_FINDINGS;
  }

  add(from: string | null, problem: Finding): void {
    const { about, field, code, message } = problem;
    const isInForce = from === null || from <= this.#today;
    const key = `${isInForce} ${code} ${field} ${about}`;
    if (this.isFull || this.#known.has(key)) return;
    this.#known.add(key);
    if (isInForce) {
      this.problems.push({ field, code, message });
    } else {
      const warning = `${message} From ${from} on such a product is refused.`;
      this.warnings.push({ field, code, message: warning, from });
    }
  }
}

/** `about`: the attribute, if the field is the whole list of attributes. */
interface Finding extends FieldProblem {
  about: string;
}

/** Whether the change must satisfy the rules. */
function mustSatisfyRules(
  before: ProductFields,
  after: ProductFields,
  categories: readonly (Category | null)[],
): boolean {
  if (!sameCategories(before, after) || !sameAttributes(before, after)) {
    return true;
  }
  return categories.some((category) =>
    category?.rules.some(({ field }) =>
      field !== null && isCheckedByRules(field) && differs(before, after, field)
    )
  );
}

/**
 * Whether a field differs; rules about images only ask whether there are any.
 */
function differs(
  before: ProductFields,
  after: ProductFields,
  field: RuledField,
): boolean {
  return field === "images"
    ? before.images.length !== after.images.length
    : before[field] !== after[field];
}

/** A product, with the positions of its attributes. */
interface RuledProduct
  extends Pick<Change, "after" | "syntax" | "suggestions"> {
  attributes: ReadonlyMap<string, readonly [number, ProductAttribute][]>;
}

/** Groups attributes by name, because 500 rules may be about 100 of them. */
function ruledProduct(
  { after, syntax, suggestions }: Pick<
    Change,
    "after" | "syntax" | "suggestions"
  >,
): RuledProduct {
  const attributes = Map.groupBy(
    after.attributes.entries(),
    ([, { name }]) => name,
  );
  return { after, syntax, suggestions, attributes };
}

function problemsOf(
  change: RuledProduct,
  category: Category,
  rule: CategoryRule,
): Finding[] {
  return rule.field === null
    ? attributeProblems(change, category, rule)
    : fieldProblems(change, category, rule);
}

function fieldProblems(
  { after, syntax: { show, list }, suggestions }: RuledProduct,
  category: Category,
  { field, required, values }: CategoryRule,
): Finding[] {
  const name = field!;
  const isMissing = name === "images"
    ? after.images.length === 0
    : (after[name] ?? "") === "";
  if (isMissing) {
    const written = name === "images" ? list(name, "image") : show(name);
    return required
      ? [finding(
        name,
        "attribute_required",
        `is missing; the category ${quote(category.name)} needs it: write ` +
          `${written}.`,
      )]
      : [];
  }
  if (name === "images" || values.size === 0) return [];
  const value = String(after[name]);
  return values.has(value) ? [] : [finding(
    name,
    "not_in_list",
    notAmong(value, category, values, suggestions),
  )];
}

function attributeProblems(
  { attributes, syntax: { property }, suggestions }: RuledProduct,
  category: Category,
  { attribute, required, values }: CategoryRule,
): Finding[] {
  const name = attribute!;
  const sent = attributes.get(name);
  if (sent !== undefined) {
    const problems: Finding[] = [];
    for (const [n, { value }] of sent) {
      if (values.size === 0 || values.has(value)) continue;
      problems.push(finding(
        `attributes/attribute[${n + 1}]`,
        "not_in_list",
        notAmong(value, category, values, suggestions),
      ));
    }
    return problems;
  }
  if (!required) return [];
  return [finding(
    "attributes",
    "attribute_required",
    `${lacksAttribute(name)} ${quote(category.name)} needs: write ` +
      `${property(name)}${someOf(values)}.`,
    name,
  )];
}

/** How many nearest names a message shows. */
const NEAREST = 3;

function unknownCategory(
  { after: { categories }, suggestions }: Change,
  n: number,
  { names }: CategoryList,
): Finding {
  const nearest = suggestions.of(categories[n], names, NEAREST);
  const advice = nearest.length === 0
    ? "GET /seller_api/categories lists them."
    : `the nearest ${nearest.length === 1 ? "is" : "are"} ` +
      `${nearest.map(quote).join(", ")}.`;
  return finding(
    `categories/category[${n + 1}]`,
    "unknown_category",
    `is ${quote(categories[n])}, which is no category of this marketplace; ` +
      advice,
  );
}

function finding(
  field: string,
  code: DetailCode,
  message: string,
  about = "",
): Finding {
  return { field, code, message, about };
}

function notAmong(
  value: string,
  { name }: Category,
  values: ReadonlySet<string>,
  suggestions: Suggestions,
): string {
  const [nearest] = suggestions.of(value, values, 1);
  const allowed = nearest === undefined
    ? `one of ${values.size} values`
    : values.size === 1
    ? quote(nearest)
    : `one of ${values.size} values, of which ${quote(nearest)} is the nearest`;
  return `is ${quote(value)}; the category ${quote(name)} takes ${allowed}.`;
}

/** How many values a message lists. */
const SHOWN = 5;

function someOf(values: ReadonlySet<string>): string {
  if (values.size === 0) return "";
  const shown = [...values].slice(0, SHOWN).map(quote).join(", ");
  const more = values.size - SHOWN;
  return `, with ${shown}${more > 0 ? ` or one of ${more} others` : ""}`;
}
