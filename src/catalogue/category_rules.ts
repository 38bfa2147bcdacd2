/**
 * What the marketplace requires of the products in a category: the rules of its
 * published list, applied to one product. Pure; `category_rows.ts` reads the
 * list.
 */
import type { DetailCode, FieldProblem } from "../lib/errors.ts";
import { nearestNames } from "../lib/nearest_name.ts";
import { quote } from "../lib/values.ts";
import { asSent } from "./contact.ts";
import { type DocumentSyntax, SYNTAX } from "./document_syntax.ts";
import {
  type ProductFields,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "./fields.ts";
import { missingAttributeText } from "./missing_attribute.ts";
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

/** A category, with its rules arranged for the check of many products. */
export class Category {
  readonly name: string;
  readonly rules: readonly CategoryRule[];
  /** The rules about fields. */
  readonly fieldRules: readonly CategoryRule[];
  /** The rules about attributes, by the name of the attribute. */
  readonly attributeRules: ReadonlyMap<string, readonly CategoryRule[]>;
  /** The rules that require an attribute. */
  readonly requiredAttributes: readonly CategoryRule[];

  constructor(name: string, rules: readonly CategoryRule[]) {
    this.name = name;
    this.rules = rules;
    this.fieldRules = rules.filter(({ field }) => field !== null);
    const others = rules.filter(({ attribute }) => attribute !== null);
    this.attributeRules = Map.groupBy(others, ({ attribute }) => attribute!);
    this.requiredAttributes = others.filter(({ required }) => required);
  }
}

/** The categories of products that are planned together. */
export interface CategoryList {
  /** Whether a product may have no other category. */
  closed: boolean;
  /** Null if the list lacks the category. */
  find(name: string): Category | null;
  /**
   * All names of a closed list, to suggest the nearest ones; empty if no product
   * has an unknown category.
   */
  names: readonly string[];
  /** Today, as YYYY-MM-DD in UTC. */
  today: string;
}

/**
 * The most names that are compared for the messages of one plan, in 15 ms at
 * most.
 */
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

/** A finding of a rule that only warns until a date. */
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

/** The rules of a plan, and the terms for messages about them. */
export interface Rules {
  list: CategoryList;
  syntax: DocumentSyntax;
  suggestions: Suggestions;
}

interface Change {
  /** Null for a new product. */
  before: ProductFields | null;
  after: ProductFields;
  /** Fields that could not be read; their problems are already reported. */
  unread: ReadonlySet<string>;
}

/**
 * The findings for a product that is created, or that changes in its
 * categories, its attributes or a field with a rule. Null if there is no
 * finding.
 */
export function ruleFindings(
  { before, after, unread }: Change,
  rules: Rules,
): RuleFindings | null {
  const { list } = rules;
  const categories = after.categories.map((name) => list.find(name));
  if (before !== null && !mustSatisfyRules(before, after, categories)) {
    return null;
  }
  const findings = new Findings(list.today);
  if (list.closed && !unread.has("categories")) {
    for (let n = 0; n < categories.length; n++) {
      if (categories[n] !== null) continue;
      findings.add(null, unknownCategory(after, n, rules));
    }
  }
  for (const category of categories) {
    if (category !== null) {
      checkProduct({ after, unread, rules }, category, findings);
    }
  }
  return findings.found;
}

/** The rules of these categories that a product breaks, whatever their dates. */
export function brokenRules(
  product: ProductFields,
  categories: readonly Category[],
): ReadonlySet<CategoryRule> {
  const check: RuleCheck = {
    after: product,
    unread: new Set(),
    rules: { syntax: SYNTAX.xml, suggestions: new Suggestions(0) },
  };
  const broken = new Set<CategoryRule>();
  const report: Report = {
    isFull: false,
    broken: (rule) => broken.add(rule),
  };
  for (const category of categories) checkProduct(check, category, report);
  return broken;
}

/** Receives the rules that a product breaks. */
interface Report {
  /** Whether further findings are ignored. */
  readonly isFull: boolean;
  broken(rule: CategoryRule, finding: Finding): void;
}

/** Collects findings; for each field only the first one of a kind. */
class Findings implements Report {
  readonly #today: string;
  /** Null for most products: they break no rule. */
  found: RuleFindings & { known: Set<string> } | null = null;

  constructor(today: string) {
    this.#today = today;
  }

  get isFull(): boolean {
    const { found } = this;
    return found !== null &&
      found.problems.length + found.warnings.length >= MOST_FINDINGS;
  }

  broken({ from }: CategoryRule, finding: Finding): void {
    this.add(from, finding);
  }

  add(from: string | null, problem: Finding): void {
    if (this.isFull) return;
    const { problems, warnings, known } = this.found ??= {
      problems: [],
      warnings: [],
      known: new Set(),
    };
    const { about, field, code, message } = problem;
    const isInForce = from === null || from <= this.#today;
    const key = `${isInForce} ${code} ${field} ${about}`;
    if (known.has(key)) return;
    known.add(key);
    if (isInForce) problems.push({ field, code, message });
    else {
      const warning = `${message} From ${from} on, such a product is refused.`;
      warnings.push({ field, code, message: warning, from });
    }
  }
}

/** `about`: the attribute that is missing; empty if a field is concerned. */
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
    category?.fieldRules.some(({ field }) =>
      isCheckedByRules(field!) && differs(before, after, field!)
    )
  );
}

/**
 * Whether a field differs. Of images only the number is compared, because a
 * rule can only require that there is one.
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

/** A product to check, and what the messages about it need. */
interface RuleCheck extends Omit<Change, "before"> {
  rules: Omit<Rules, "list">;
}

/**
 * Checks a product by the rules of one category. Looks rules up by the few
 * attributes of the product, because a category may have many rules.
 */
function checkProduct(
  product: RuleCheck,
  category: Category,
  report: Report,
): void {
  const { after: { attributes }, unread } = product;
  for (const rule of category.fieldRules) {
    if (unread.has(rule.field!)) continue;
    if (report.isFull) return;
    const found = fieldFinding(product, category, rule);
    if (found !== null) report.broken(rule, found);
  }
  if (unread.has("attributes")) return;
  for (let n = 0; n < attributes.length && !report.isFull; n++) {
    const { name, value } = attributes[n];
    for (const rule of category.attributeRules.get(name) ?? NO_RULES) {
      if (rule.values.size === 0 || rule.values.has(value)) continue;
      report.broken(rule, wrongAttribute(product, category, rule, n));
    }
  }
  if (category.requiredAttributes.length === 0) return;
  const names = new Set(attributes.map(({ name }) => name));
  for (const rule of category.requiredAttributes) {
    if (names.has(rule.attribute!)) continue;
    if (report.isFull) return;
    report.broken(rule, missingAttribute(product, category, rule));
  }
}

const NO_RULES: readonly CategoryRule[] = [];

function fieldFinding(
  { after, rules: { syntax: { show, list }, suggestions } }: RuleCheck,
  category: Category,
  { field, required, values }: CategoryRule,
): Finding | null {
  const name = field!;
  const isMissing = name === "images"
    ? after.images.length === 0
    : (after[name] ?? "") === "";
  if (isMissing) {
    if (!required) return null;
    const written = name === "images" ? list(name, "image") : show(name);
    return finding(
      name,
      "attribute_required",
      `is missing; the category ${quote(category.name)} needs it: write ` +
        `${written}.`,
    );
  }
  if (name === "images" || values.size === 0) return null;
  const value = String(asSent(name, after[name]));
  if (values.has(value)) return null;
  const message = notAmong(value, category, values, suggestions);
  return finding(name, "not_in_list", message);
}

function wrongAttribute(
  { after: { attributes }, rules: { suggestions } }: RuleCheck,
  category: Category,
  { values }: CategoryRule,
  n: number,
): Finding {
  return finding(
    `attributes/attribute[${n + 1}]`,
    "not_in_list",
    notAmong(attributes[n].value, category, values, suggestions),
  );
}

function missingAttribute(
  { rules: { syntax: { property } } }: RuleCheck,
  category: Category,
  { attribute, values }: CategoryRule,
): Finding {
  const name = attribute!;
  return finding(
    "attributes",
    "attribute_required",
    `${missingAttributeText(name)} ${quote(category.name)} needs: write ` +
      `${property(name)}${allowedValuesText(values)}.`,
    name,
  );
}

/** How many nearest names a message shows. */
const NEAREST = 3;

function unknownCategory(
  { categories }: ProductFields,
  n: number,
  { list: { names }, suggestions }: Rules,
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
  return `is ${quote(value)}; the category ${quote(name)} allows ${allowed}.`;
}

/** How many values a message lists. */
const SHOWN = 5;

function allowedValuesText(values: ReadonlySet<string>): string {
  if (values.size === 0) return "";
  const shown = [...values].slice(0, SHOWN).map(quote).join(", ");
  const more = values.size - SHOWN;
  return `, with ${shown}${more > 0 ? ` or one of ${more} others` : ""}`;
}
