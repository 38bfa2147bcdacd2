/**
 * Reads the list of categories that an operator sends: up to 8 MiB, in steps.
 * One answer reports up to `DETAIL_LIMIT` problems of a list.
 */
import {
  readAttributeName,
  readAttributeValue,
  readCategory as readCategoryName,
  readScalar,
} from "../catalogue/product.ts";
import { RULED_FIELDS, type RuledField } from "../catalogue/category_rules.ts";
import type { StoredRule } from "../catalogue/category_rows.ts";
import { fieldForSynonym, TEXT_LIMITS } from "../catalogue/fields.ts";
import { jsonReaderFor } from "../json/reader.ts";
import {
  type Detail,
  DETAIL_LIMIT,
  type DetailCode,
  recordInvalid,
} from "../lib/errors.ts";
import { isNear, nearestName } from "../lib/nearest_name.ts";
import { quote, readDate, type ReadResult, trimSpace } from "../lib/values.ts";
import { readXmlInSteps, type RunXmlStep, XML } from "../xml/decode.ts";
import { type Kind, XML_LIMITS, type XmlAttributes } from "../xml/handlers.ts";
import { otherRootMessage } from "../xml/other_formats.ts";
import {
  type Attribute,
  isText,
  maybe,
  type Shape,
  some,
} from "../xml/shapes.ts";

export const CATEGORIES_LIMIT = 10_000;
const RULES_LIMIT = 100;
const VALUES_LIMIT = 1_000;
export const CATEGORIES_BYTE_LIMIT = 8 * 1_024 * 1_024;
/** Limit of the stored rules of one category, in characters of JSON. */
const STORED_RULES_LIMIT = 1_024 * 1_024;

/** The form of a rule in answers. */
type RuleNode = {
  "@field"?: string;
  "@attribute"?: string;
  "@required"?: boolean;
  "@from"?: string;
  value?: string[];
};

const RULE: Shape<RuleNode> = {
  type: "category_rule",
  attributes: {
    field: {
      form: { kind: "word", words: RULED_FIELDS },
      about: "the field that the rule concerns; a rule has either field " +
        "or attribute",
    },
    attribute: {
      form: { kind: "line", max: TEXT_LIMITS.attributeName },
      about: "the name of the attribute that the rule concerns",
    },
    required: {
      form: { kind: "boolean" },
      about: "true: a product must have the field or attribute",
    },
    from: {
      form: { kind: "date" },
      about: "the rule warns until 00:00 UTC of this day, then refuses",
    },
  },
  content: [
    some("value", { content: { kind: "string" } }, {
      max: VALUES_LIMIT,
      about: "the allowed values; without them any value is allowed",
    }),
  ],
};

export const CATEGORY: Shape<{ "@name": string; rule?: RuleNode[] }> = {
  type: "category",
  attributes: {
    name: {
      form: { kind: "line", max: TEXT_LIMITS.category },
      required: true,
      about: "the name that products use",
    },
  },
  content: [some("rule", RULE, { max: RULES_LIMIT })],
};

const CLOSED: Attribute = {
  form: { kind: "boolean" },
  about: "true: products may have only these categories",
};

export const CATEGORIES = {
  name: "categories",
  shape: {
    attributes: { closed: CLOSED },
    content: [some("category", CATEGORY, { max: CATEGORIES_LIMIT })],
  } satisfies Shape,
};

export interface NewCategory {
  name: string;
  rules: readonly StoredRule[];
}

/** A list of categories that an operator sends. */
export interface NewCategoryList {
  closed: boolean;
  categories: NewCategory[];
}

/** An element with the content that was read so far. */
interface Element {
  name: string;
  line: number;
  /** The path in problem details; "" for the root. */
  path: string;
  attributes: Record<string, string>;
  text: string;
  children: Element[];
  /** The number of child elements of each name. */
  counts: Record<string, number>;
  /** Whether the JSON value has a wrong type, so its content was not read. */
  hasWrongType?: true;
}

const LIMITS = {
  ...XML_LIMITS,
  // The maximum number of elements in a document of the allowed size.
  elements: Math.ceil(CATEGORIES_BYTE_LIMIT / "<r/>".length),
};

/**
 * Reads `<categories>`. Throws 400 if the document is malformed, and 422 with
 * other problems, at most `DETAIL_LIMIT` of them. Removes each block from
 * `blocks` when it reads the block.
 */
export async function readCategories(
  blocks: Uint8Array[],
  form: "xml" | "json",
  runStep: RunXmlStep,
): Promise<NewCategoryList> {
  const reader = new CategoriesReader(form);
  const begin = form === "xml" ? XML : jsonReaderFor({
    name: CATEGORIES.name,
    shape: attributesAsElements(CATEGORIES.shape),
  });
  await readXmlInSteps(blocks, reader, runStep, { limits: LIMITS, begin });
  return reader.finish();
}

/**
 * In JSON an XML attribute is a member like any other and may follow the child
 * elements. So the JSON reader reports attributes as elements.
 */
function attributesAsElements({ content, attributes = {} }: Shape): Shape {
  if (isText(content)) return { content };
  return {
    anyOrder: true,
    content: [
      ...Object.entries(attributes).map(([name, { form }]) =>
        maybe(name, { content: form })
      ),
      ...content.map((child) => ({
        ...child,
        shape: attributesAsElements(child.shape),
      })),
    ],
  };
}

const ALLOWED_CONTENT: Readonly<
  Record<string, { attributes: string[]; item?: string }>
> = {
  categories: {
    attributes: Object.keys(CATEGORIES.shape.attributes),
    item: "category",
  },
  category: { attributes: Object.keys(CATEGORY.attributes!), item: "rule" },
  rule: { attributes: Object.keys(RULE.attributes!), item: "value" },
  value: { attributes: [] },
};

/** The handlers of the XML and JSON readers. A category is checked when it ends. */
class CategoriesReader {
  readonly #isJson: boolean;
  readonly #problems: Detail[] = [];
  #omittedProblemCount = 0;
  readonly #openElements: Element[] = [];
  /** The number of open elements that are unknown or inside an unknown one. */
  #unknownDepth = 0;
  /** The line of each category, by its name. */
  readonly #lines = new Map<string, number>();
  readonly #list: NewCategoryList = { closed: false, categories: [] };
  #rootLine = 1;

  constructor(form: "xml" | "json") {
    this.#isJson = form === "json";
  }

  /** Returns the list; throws 422 if it has problems. */
  finish(): NewCategoryList {
    const { closed, categories } = this.#list;
    if (closed && categories.length === 0 && this.#problems.length === 0) {
      this.#addProblem(
        "categories",
        this.#rootLine,
        "required",
        "has no category, and a closed list without categories would " +
          "refuse every product; add categories, or do not send closed.",
      );
    }
    if (this.#problems.length > 0) {
      // Problems of an element are found later than those of its content.
      const inOrder = this.#problems
        .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
      throw recordInvalid(inOrder, this.#omittedProblemCount);
    }
    return this.#list;
  }

  open(name: string, attributes: XmlAttributes, line: number): void {
    const parent = this.#openElements.at(-1);
    if (this.#unknownDepth > 0) {
      this.#unknownDepth++;
      return;
    }
    if (parent === undefined) return this.#openRoot(name, attributes, line);
    const { attributes: known, item } = ALLOWED_CONTENT[parent.name] ??
      { attributes: [] };
    const isAttribute = this.#isJson && known.includes(name);
    if (name !== item && !isAttribute) {
      this.#unknownDepth = 1;
      return this.#reportUnknownElement(parent, name, line);
    }
    const n = parent.counts[name] = (parent.counts[name] ?? 0) + 1;
    const segment = isAttribute ? `@${name}` : `${name}[${n}]`;
    const path = parent.path === "" ? segment : `${parent.path}/${segment}`;
    this.#openElements.push(newElement(name, attributes, line, path));
  }

  text(text: string): void {
    if (this.#unknownDepth === 0) this.#openElements.at(-1)!.text += text;
  }

  close(): void {
    if (this.#unknownDepth > 0) {
      this.#unknownDepth--;
      return;
    }
    const element = this.#openElements.pop()!;
    const parent = this.#openElements.at(-1);
    if (element.hasWrongType) return;
    if (parent === undefined) return this.#closeRoot(element);
    if (element.path.includes("@")) {
      parent.attributes[element.name] = element.text;
    } else if (element.name === "category") this.#addCategory(element);
    else parent.children.push(element);
  }

  wrongType(
    member: string | null,
    found: Kind,
    expected: string,
    line: number,
  ): void {
    const element = this.#openElements.at(-1)!;
    const { path, name } = element;
    const isList = expected === "an array";
    const segment = isList
      ? ALLOWED_CONTENT[name].item!
      : member && `@${member}`;
    if (!isList && member === null) element.hasWrongType = true;
    this.#addProblem(
      [path, segment].filter(Boolean).join("/") || "categories",
      line,
      found === "missing" ? "required" : "wrong_type",
      `is ${found}; it must be ${expected}.`,
    );
  }

  unknown(name: string, line: number): void {
    this.open(name, {}, line);
    this.close();
  }

  #openRoot(name: string, attributes: XmlAttributes, line: number): void {
    if (name !== "categories") {
      throw recordInvalid([{
        line,
        field: name.slice(0, 100),
        code: "unknown_element",
        message: otherRootMessage(name.slice(0, 100), "categories"),
      }]);
    }
    this.#rootLine = line;
    const withoutNamespaces = Object.entries(attributes)
      .filter(([name]) => !/^(xmlns$|xmlns:|xsi:)/.test(name));
    this.#openElements.push(
      newElement(name, Object.fromEntries(withoutNamespaces), line, ""),
    );
  }

  #closeRoot(root: Element): void {
    this.#checkContent(root);
    this.#list.closed = this.#readBoolean(root, "closed");
  }

  #addCategory(element: Element): void {
    const n = this.#list.categories.length + 1;
    if (n === CATEGORIES_LIMIT + 1) {
      this.#addProblem(
        element.path,
        element.line,
        "too_many",
        `is beyond the limit of ${CATEGORIES_LIMIT} categories.`,
      );
    }
    this.#checkContent(element);
    const name = this.#readAttribute(element, "name", readCategoryName) ?? "";
    const firstLine = this.#lines.get(name);
    if (name !== "" && firstLine !== undefined) {
      this.#addProblem(
        `${element.path}/@name`,
        element.line,
        "repeated_value",
        `repeats ${quote(name)} of line ${firstLine}; a list may have each ` +
          "category once.",
      );
    }
    this.#lines.set(name, element.line);
    this.#checkCount(element, "rule", RULES_LIMIT);
    const rules = element.children.slice(0, RULES_LIMIT)
      .map((rule) => this.#readRule(rule));
    const length = JSON.stringify(rules).length;
    if (length > STORED_RULES_LIMIT) {
      this.#addProblem(
        element.path,
        element.line,
        "too_long",
        `has rules of ${length} characters; ${STORED_RULES_LIMIT} are allowed.`,
      );
    }
    // The rules of a list with problems are not stored, because the list is
    // refused.
    const isValid = this.#problems.length === 0;
    this.#list.categories.push({ name, rules: isValid ? rules : [] });
  }

  #readRule(element: Element): StoredRule {
    this.#checkContent(element);
    const { path, line, attributes } = element;
    const rule: StoredRule = {};
    const field = this.#readAttribute(element, "field", readField, false);
    const attribute = this.#readAttribute(
      element,
      "attribute",
      readAttributeName,
      false,
    );
    if (field !== undefined) rule.field = field;
    if (attribute !== undefined) rule.attribute = attribute;
    const subjects = ["field", "attribute"]
      .filter((name) => name in attributes);
    if (subjects.length !== 1) {
      this.#addProblem(
        path,
        line,
        subjects.length === 0 ? "required" : "not_allowed",
        subjects.length === 0
          ? "has neither field nor attribute; write one of them."
          : "has both field and attribute; write only one of them.",
      );
    }
    if (this.#readBoolean(element, "required")) rule.required = true;
    const from = this.#readAttribute(element, "from", readDate, false);
    if (from !== undefined) rule.from = from;
    const values = this.#readValues(element, rule);
    if (values.length > 0) rule.values = values;
    // An invalid `required` has its own problem, so none is added here.
    const isRequirement = rule.required || "required" in attributes &&
        attributes.required !== "false";
    if (!isRequirement && element.children.length === 0) {
      this.#addProblem(
        path,
        line,
        "required",
        'has no requirement; write required="true", or the allowed values.',
      );
    }
    return rule;
  }

  #readValues(element: Element, { field }: StoredRule): string[] {
    this.#checkCount(element, "value", VALUES_LIMIT);
    const values = new Set<string>();
    for (const value of element.children.slice(0, VALUES_LIMIT)) {
      const { path, line, text } = value;
      this.#checkContent(value, true);
      if (field === "images") {
        this.#addProblem(
          path,
          line,
          "not_allowed",
          "is not allowed here: a rule about images can only require them.",
        );
        break;
      }
      const read = readValue(field as RuledField | undefined, trimSpace(text));
      if ("problem" in read) {
        this.#addProblem(path, line, read.problem.code, read.problem.message);
      } else if (values.has(read.value)) {
        this.#addProblem(
          path,
          line,
          "repeated_value",
          `repeats ${quote(read.value)}; a rule may have each value once.`,
        );
      } else values.add(read.value);
    }
    return [...values];
  }

  /** The value of an XML attribute; undefined if it is missing or invalid. */
  #readAttribute<T>(
    { attributes, path, line }: Element,
    name: string,
    read: (text: string) => ReadResult<T>,
    required = true,
  ): T | undefined {
    const sent = attributes[name];
    if (sent === undefined && !required) return;
    const text = trimSpace(sent ?? "");
    const result: ReadResult<T> = text !== "" ? read(text) : {
      problem: {
        code: "required",
        message: sent === undefined ? "is missing." : "is empty.",
      },
    };
    if ("value" in result) return result.value;
    const { code, message } = result.problem;
    this.#addProblem(
      path === "" ? `@${name}` : `${path}/@${name}`,
      line,
      code,
      message,
    );
  }

  #readBoolean(element: Element, name: string): boolean {
    return this.#readAttribute(element, name, readBoolean, false) ?? false;
  }

  /** Adds a problem if an element has too many child elements of this name. */
  #checkCount(
    { path, line, counts }: Element,
    name: string,
    max: number,
  ): void {
    if ((counts[name] ?? 0) <= max) return;
    this.#addProblem(
      path,
      line,
      "too_many",
      `has ${counts[name]} elements <${name}>; ${max} are allowed.`,
    );
  }

  /** Adds a problem for each unknown XML attribute and for unexpected text. */
  #checkContent(element: Element, mayHaveText = false): void {
    const { name, path, line, text, attributes } = element;
    const known = ALLOWED_CONTENT[name].attributes;
    for (const attribute of Object.keys(attributes)) {
      if (known.includes(attribute)) continue;
      this.#addProblem(
        `${path || "categories"}/@${attribute.slice(0, 100)}`,
        line,
        "unknown_attribute",
        `is not known here; ${correctionFor(attribute, known)}`,
      );
    }
    if (mayHaveText || trimSpace(text) === "") return;
    this.#addProblem(
      path || "categories",
      line,
      "unexpected_text",
      `has the text ${quote(trimSpace(text))} between its elements.`,
    );
  }

  #reportUnknownElement(parent: Element, name: string, line: number): void {
    const { attributes, item } = ALLOWED_CONTENT[parent.name] ??
      { attributes: [] };
    const shown = name.slice(0, 100);
    const field = parent.path === "" ? shown : `${parent.path}/${shown}`;
    const refuse = (message: string, pointer?: string) =>
      this.#addProblem(field, line, "unknown_element", message, pointer);
    if (item === undefined) {
      return refuse("is not allowed here; write only text.");
    }
    if (!this.#isJson) {
      return refuse(`is not known here; <${parent.name}> contains <${item}>.`);
    }
    // Answers enclose the list in a member `categories`; requests leave it out.
    if (field === "categories") {
      return refuse(
        "encloses the document; send only its content.",
        "/categories",
      );
    }
    refuse(`is not known here; ${correctionFor(shown, [...attributes, item])}`);
  }

  #addProblem(
    field: string,
    line: number,
    code: DetailCode,
    message: string,
    pointer = pointerOfField(field),
  ): void {
    if (this.#problems.length === DETAIL_LIMIT) {
      this.#omittedProblemCount++;
      return;
    }
    const detail: Detail = {
      line,
      field,
      code,
      message: `${field} ${message}`,
    };
    this.#problems.push(
      this.#isJson ? { ...detail, pointer } : detail,
    );
  }
}

/** The end of a message: what to write instead of an unknown name. */
function correctionFor(name: string, known: readonly string[]): string {
  if (known.length === 0) return "leave it out.";
  const near = nearestName(name, known);
  return isNear(name, near)
    ? `did you mean "${near}"?`
    : `the known names are ${known.join(", ")}.`;
}

function newElement(
  name: string,
  attributes: XmlAttributes,
  line: number,
  path: string,
): Element {
  return {
    name,
    line,
    path,
    attributes: { ...attributes },
    text: "",
    children: [],
    counts: {},
  };
}

/** Converts a path to a JSON pointer: `category[2]/@name` to `/category/1/name`. */
function pointerOfField(field: string): string {
  if (field === "categories") return "";
  const segments = field.split("/").map((segment) => {
    const [, name, n] = /^(\w+)\[(\d+)\]$/.exec(segment) ?? [];
    return name === undefined
      ? segment.replace("@", "")
      : `${name}/${Number(n) - 1}`;
  });
  return `/${segments.join("/")}`;
}

function readField(text: string): ReadResult<string> {
  const fields: readonly string[] = RULED_FIELDS;
  if (fields.includes(text)) return { value: text };
  const synonym = fieldForSynonym(text);
  const near = synonym !== null && fields.includes(synonym)
    ? synonym
    : nearestName(text, fields);
  return {
    problem: {
      code: "not_in_list",
      message:
        `is ${quote(text)}, which is not a field that a rule can concern; ` +
        `the nearest is "${near}".`,
    },
  };
}

function readBoolean(text: string): ReadResult<boolean> {
  return text === "true" || text === "false" ? { value: text === "true" } : {
    problem: {
      code: "not_in_list",
      message: `is ${quote(text)}; it must be true or false.`,
    },
  };
}

/** Reads an allowed value with the reader of the product's field. */
function readValue(
  field: RuledField | undefined,
  text: string,
): ReadResult<string> {
  if (text === "") {
    return { problem: { code: "required", message: "is empty." } };
  }
  if (field === undefined || field === "images") {
    return readAttributeValue(text);
  }
  const read = readScalar(field, text);
  return "problem" in read ? read : { value: String(read.value) };
}
