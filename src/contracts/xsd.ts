/**
 * Writes the schemas in XML Schema 1.0. The schemas of uploads accept every
 * document that the service accepts.
 */
import { ANSWERS } from "./answers.ts";
import { DOCUMENTS } from "./documents.ts";
import { escaped } from "../lib/markup.ts";
import {
  type Child,
  isText,
  type Shape,
  type TextForm,
} from "../xml/shapes.ts";

/** `<xs:NAME ATTRIBUTES>` with this content, or an empty element. */
function tag(name: string, attributes: string, ...content: string[]): string {
  const start = `<xs:${name}${attributes === "" ? "" : ` ${attributes}`}`;
  const lines = content.filter((text) => text !== "").join("\n");
  if (lines === "") return `${start}/>`;
  return `${start}>\n${lines.replace(/^/gm, "  ")}\n</xs:${name}>`;
}

type Facet = [name: string, value: string | number];

function restriction(base: string, ...facets: Facet[]): string {
  const facetTags = facets.map(([name, value]) =>
    tag(name, `value="${escaped(`${value}`)}"`)
  );
  return tag("restriction", `base="xs:${base}"`, ...facetTags);
}

const UUID = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
const DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
const TIME = `${DATE}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z`;

/** Restricts a text. `xs:token` ignores white space at both ends. */
function textRestriction(form: TextForm): string {
  switch (form.kind) {
    case "line":
      return restriction("token", ["minLength", 1], ["maxLength", form.max]);
    case "text":
      return restriction("string", ["maxLength", form.max]);
    case "decimal": {
      const { before, after } = form;
      const pattern = `[0-9]{1,${before}}(\\.[0-9]{1,${after}})?`;
      return restriction("token", ["pattern", pattern]);
    }
    case "integer":
      if ((form.min ?? 0) < 0) {
        return restriction(
          "integer",
          ["minInclusive", form.min!],
          ["maxInclusive", form.max],
        );
      }
      return restriction(
        "nonNegativeInteger",
        ["pattern", "[0-9]+"],
        ["maxInclusive", form.max],
      );
    case "word":
      return restriction(
        "token",
        ...form.words.map((word): Facet => ["enumeration", word]),
      );
    case "digits":
      return restriction("token", [
        "pattern",
        form.lengths.map((length) => `[0-9]{${length}}`).join("|"),
      ]);
    case "capitals":
      return restriction("token", ["pattern", `[A-Z]{${form.length}}`]);
    case "date":
      return restriction("date", ["pattern", DATE]);
    case "time":
      return restriction("dateTime", ["pattern", TIME]);
    case "uuid":
      return restriction("token", ["pattern", UUID]);
    case "boolean":
      return restriction("boolean", ["pattern", "true|false"]);
    case "string":
    case "any":
      return restriction("string");
  }
}

/** The simple type of a text; anonymous without a name. */
function simpleType(form: TextForm, name = ""): string {
  const attribute = name === "" ? "" : `name="${name}"`;
  const text = textRestriction(form);
  if (!form.empty || form.kind === "text" || form.kind === "string") {
    return tag("simpleType", attribute, text);
  }
  const empty = tag("simpleType", "", restriction("token", ["length", 0]));
  const union = tag("union", "", tag("simpleType", "", text), empty);
  return tag("simpleType", attribute, union);
}

/** A type that allows any elements, attributes and text. */
function anyType(name: string): string {
  const any = 'minOccurs="0" maxOccurs="unbounded" processContents="skip"';
  const sequence = tag("sequence", "", tag("any", any));
  const attribute = tag("anyAttribute", 'processContents="skip"');
  return tag("complexType", `${name} mixed="true"`.trim(), sequence, attribute);
}

/** Xerces refuses schemas with a higher maxOccurs. */
const LARGEST_MAX_OCCURS = 5_000;

function occurrence({ min, max }: Child): string {
  const minOccurs = min === 1 ? "" : ` minOccurs="${min}"`;
  if (max === 1) return minOccurs;
  const limit = max > LARGEST_MAX_OCCURS ? "unbounded" : max;
  return `${minOccurs} maxOccurs="${limit}"`;
}

function documentation(about: string | undefined): string {
  if (about === undefined) return "";
  const text = `<xs:documentation>${escaped(about)}</xs:documentation>`;
  return tag("annotation", "", text);
}

function attributes(shape: Shape): string[] {
  return Object.entries(shape.attributes ?? {}).map(([name, attribute]) =>
    tag(
      "attribute",
      `name="${name}"${attribute.required ? ' use="required"' : ""}`,
      documentation(attribute.about),
      simpleType(attribute.form),
    )
  );
}

class Schema {
  /** Named types, in the order of their first use. */
  readonly #types = new Map<string, string>();

  element(child: Child): string {
    const { shape, name } = child;
    const attributes = `name="${name}"${occurrence(child)}`;
    const about = documentation(child.about);
    if (shape.type === undefined) {
      return tag("element", attributes, about, this.#type(shape));
    }
    if (!this.#types.has(shape.type)) {
      // Adds the key first, so that the types of inner elements come later.
      this.#types.set(shape.type, "");
      this.#types.set(shape.type, this.#type(shape));
    }
    return tag("element", `${attributes} type="${shape.type}"`, about);
  }

  /** Elements in a fixed order (`sequence`) or in any order (`all`). */
  group(
    kind: "sequence" | "all",
    attributes: string,
    children: readonly Child[],
  ): string {
    const elements = children.map((child) => this.element(child));
    return tag(kind, attributes, ...elements);
  }

  document(about: string, root: string): string {
    const namespace = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"';
    const content = [documentation(about), root, ...this.#types.values()];
    return '<?xml version="1.0" encoding="UTF-8"?>\n' +
      tag("schema", namespace, ...content) + "\n";
  }

  #type(shape: Shape): string {
    const { content } = shape;
    const name = shape.type === undefined ? "" : `name="${shape.type}"`;
    const attributeTags = attributes(shape);
    if (isText(content) && content.kind === "any") return anyType(name);
    if (isText(content)) {
      return attributeTags.length === 0
        ? simpleType(content, shape.type)
        : tag("complexType", name, this.#textWith(content, attributeTags));
    }
    const mixed = shape.orText ? ' mixed="true"' : "";
    const kind = shape.anyOrder ? "all" : "sequence";
    const optional = shape.orText || shape.empty ? 'minOccurs="0"' : "";
    const group = this.group(kind, optional, content);
    return tag("complexType", name + mixed, group, ...attributeTags);
  }

  /** Text with attributes: an extension of a type, which must have a name. */
  #textWith(form: TextForm, attributeTags: readonly string[]): string {
    const { kind, ...rest } = form;
    const name = [kind, ...Object.values(rest)].join("_");
    this.#types.set(name, simpleType(form, name));
    const extension = tag("extension", `base="${name}"`, ...attributeTags);
    return tag("simpleContent", "", extension);
  }
}

/** `products-1.1.xsd`: the document of a bulk upload. */
export function productsSchema(): string {
  return documentSchema("Products in a bulk upload", DOCUMENTS.products);
}

/** `attributes-1.1.xsd`: the document of `bulk_attributes`. */
export function attributesSchema(): string {
  const about = "Products in bulk_attributes";
  return documentSchema(about, DOCUMENTS.attributes);
}

function documentSchema(about: string, shape: Shape): string {
  const schema = new Schema();
  const root = schema.element({ name: "products", shape, min: 1, max: 1 });
  return schema.document(
    `${about}. Elements of a product may come in any order. ` +
      "A field whose element is left out keeps its value; an empty element " +
      "clears the field. White space around a value is ignored.",
    root,
  );
}

/** `responses-1.1.xsd`: every answer. */
export function responsesSchema(): string {
  const schema = new Schema();
  const groups = answerGroups().map((children) =>
    schema.group("sequence", "", children)
  );
  const choice = tag("choice", "", ...groups);
  const type = tag("complexType", "", choice);
  const root = tag("element", 'name="service"', type);
  return schema.document("Every answer of the service.", root);
}

/**
 * The alternatives for the content of `<service>`. Answers with the same first
 * element are merged, because a validator chooses by the first element.
 */
function answerGroups(): Child[][] {
  const groups = new Map<string, Child[]>();
  for (const children of Object.values<readonly Child[]>(ANSWERS)) {
    const { name } = children[0];
    const group = groups.get(name);
    if (group === undefined) {
      groups.set(name, [...children]);
      continue;
    }
    for (const child of children.slice(1)) {
      const isInGroup = group.some(({ name }) => name === child.name);
      if (!isInGroup) group.push({ ...child, min: 0 });
    }
  }
  return [...groups.values()];
}
