/**
 * The parts of the typed client that are generated from the service's tables:
 * the types of documents in JSON, `src/client/types.ts`, and
 * `src/client/operations.ts`. `deno task client` writes both, and a test checks
 * them.
 */
import { ATTRIBUTE_NAMES } from "../../src/catalogue/fields.ts";
import { ANSWERS } from "../../src/contracts/answers.ts";
import { DOCUMENTS } from "../../src/contracts/documents.ts";
import {
  type Endpoint,
  type Parameter,
  PATH_PARAMETERS,
  takesIdempotencyKey,
} from "../../src/contracts/endpoint.ts";
import { pathNames } from "../../src/contracts/openapi.ts";
import {
  type Attribute,
  type Child,
  isText,
  type Listed,
  listedIn,
  type Shape,
  type TextForm,
} from "../../src/xml/shapes.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { IMAGE_CODES } from "../../src/images/image.ts";
import { DETAIL_CODES, ERRORS } from "../../src/lib/errors.ts";
import { SELLER_ATTRIBUTE_NAMES } from "../../src/administration/sellers.ts";
import { REFUSAL_CODES } from "../../src/sellers/refusals.ts";
import { TRIGGERS } from "../../src/webhooks/trigger.ts";
import { DELIVERY_STATES } from "../../src/webhooks/webhook.ts";
import { formatted } from "../support/format.ts";

const CLIENT = new URL("../../src/client/", import.meta.url);

/** Unions with their own name. */
const WORDS: readonly (readonly [string, readonly string[]])[] = [
  ["ErrorCode", Object.keys(ERRORS)],
  ["DetailCode", Object.keys(DETAIL_CODES)],
  ["ImageCode", Object.keys(IMAGE_CODES)],
  ["Trigger", TRIGGERS],
  ["DeliveryState", DELIVERY_STATES],
  ["AttributeName", ATTRIBUTE_NAMES],
  ["SellerAttribute", SELLER_ATTRIBUTE_NAMES],
];

/** Names of types that would be unclear outside of their document. */
const NAMES: Readonly<Record<string, string>> = {
  key: "SellerKey",
  product: "SentProduct",
  read_product: "Product",
  attribute: "ProductAttribute",
  image: "ProductImage",
};

/**
 * A rule that no schema expresses: a product is addressed by its id or its SKU.
 */
const ALSO: Readonly<Record<string, string>> = {
  product: "({ id: string } | { sku: string })",
  product_attributes: "({ id: string } | { sku: string })",
};

function pascal(name: string): string {
  return NAMES[name] ??
    name.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
}

/** These types, and those that are derived from them. */
const UNIONS: typeof WORDS = [
  ...WORDS,
  ["ErrorCode | DetailCode", REFUSAL_CODES],
];

function union(words: readonly string[]): string {
  const known = UNIONS.find(([, list]) => list.join() === words.join());
  return known?.[0] ?? words.map((word) => JSON.stringify(word)).join(" | ");
}

function textType(form: TextForm): string {
  switch (form.kind) {
    case "word":
      return union(form.words);
    case "integer":
      return "number";
    case "any":
      return "unknown";
    default:
      return form.kind === "boolean" ? "boolean" : "string";
  }
}

/** The list that an element represents; null if it is none. */
function arrayIn(shape: Shape): Child | null {
  const listed = listedIn(shape);
  return listed?.others.length === 0 ? listed.items : null;
}

/** Without what the client does itself, or the type shows. */
function comment(text: string | undefined): string {
  if (text === undefined) return "";
  const printed = text.replace("; percent-encode special characters", "")
    .replace(/; required$/, "");
  return `/** ${printed} */\n`;
}

/** The documentation of codes is a list, which is in the handbook. */
function aboutOf({ about }: { about?: string }): string | undefined {
  return about?.startsWith("- ") ? undefined : about;
}

/** A plain text needs no name. */
function isNamed(shape: Shape): shape is Shape & { type: string } {
  return shape.type !== undefined &&
    (!isText(shape.content) || shape.attributes !== undefined);
}

/** The types that operations use, by name. */
class Declarations {
  /**
   * In the order of their first use; the types that one uses come before it.
   */
  readonly texts = new Map<string, string>();

  /** The type of an element of this shape. */
  type(shape: Shape): string {
    const items = arrayIn(shape);
    if (items !== null) return `${bracketed(this.type(items.shape))}[]`;
    if (!isNamed(shape)) return this.#structure(shape);
    this.#declare(shape.type, shape);
    return pascal(shape.type);
  }

  /** The elements of an answer, as a type. */
  answer(children: readonly Child[]): string {
    return `{ ${children.map((child) => this.#property(child)).join("\n")} }`;
  }

  #declare(name: string, shape: Shape): void {
    if (this.texts.has(name)) return;
    const type = this.#structure(shape);
    const also = ALSO[name];
    this.texts.set(
      name,
      also !== undefined
        ? `export type ${pascal(name)} = ${type} & ${also};`
        : type.endsWith("}")
        ? `export interface ${pascal(name)} ${type}`
        : `export type ${pascal(name)} = ${type};`,
    );
  }

  #structure(shape: Shape): string {
    const { content, attributes, orText } = shape;
    if (isText(content)) {
      const type = textType(content);
      const value = content.empty ? `${type} | null` : type;
      if (attributes === undefined) return value;
      const { textName = "value", plain } = shape;
      const [alone, beside] = [true, false].map((is) =>
        Object.fromEntries(
          Object.entries(attributes).filter(([, { alone = false }]) =>
            alone === is
          ),
        )
      );
      const own = `{ ${textName}: ${plain ? value : type}\n${
        attributeProperties(beside, content.empty === true && !plain)
      } }`;
      const others = Object.entries(alone).map(([name, one]) =>
        `{ ${
          attributeProperties({ [name]: { ...one, required: true } }, false)
        } }`
      );
      return [
        ...plain ? [type] : [],
        own,
        ...others,
        ...content.empty ? ["null"] : [],
      ].join(" | ");
    }
    const properties = [
      attributeProperties(attributes ?? {}, false),
      ...content.map((child) => this.#property(child)),
    ].join("\n");
    const type = `{ ${properties} }`;
    return orText ? `${type} | "none"` : type;
  }

  #property(child: Child): string {
    const { name, shape, min, max, mayBeLeftOut } = child;
    const listed = max === 1 ? listedIn(shape) : null;
    if (listed !== null) return this.#listProperties(child, listed);
    const type = this.type(shape);
    const optional = mayBeLeftOut || (max === 1 && min === 0) ? "?" : "";
    const one = shape.empty && !isText(shape.content) ? `${type} | null` : type;
    const many = max === 1 ? one : `${bracketed(type)}[]`;
    return `${comment(aboutOf(child))}${name}${optional}: ${many};`;
  }

  /** The array, and the members beside it. */
  #listProperties(
    { name, shape, min, about }: Child,
    { items, others }: Listed,
  ): string {
    const type = bracketed(this.type(items.shape));
    const own = `${comment(about ?? items.about)}${name}${
      min === 0 ? "?" : ""
    }: ${type}[]${shape.empty ? " | null" : ""};`;
    return [own, ...others.map((child) => this.#property(child))].join("\n");
  }
}

function bracketed(type: string): string {
  return /[|&]/.test(type.replace(/\{[^]*\}/g, "")) ? `(${type})` : type;
}

/** Clearing a field needs no attribute; setting it does. */
function attributeProperties(
  attributes: Readonly<Record<string, Attribute>>,
  isCleared: boolean,
): string {
  return Object.entries(attributes).map(([name, attribute]) => {
    const optional = attribute.required || isCleared ? "" : "?";
    const type = textType(attribute.form);
    const orEmpty = attribute.form.empty && type !== "string" ? ' | ""' : "";
    return `${comment(attribute.about)}${name}${optional}: ${type}${orEmpty};`;
  }).join("\n");
}

/** The type of a query parameter. */
function parameterType({ schema = {} }: Parameter): string {
  if (Array.isArray(schema.enum)) return union(schema.enum);
  if (schema.type === "integer") return "number";
  return schema.type === "boolean" ? "boolean" : "string";
}

/** A property of a method's input. */
interface Property {
  text: string;
  required: boolean;
}

function inputOf(endpoint: Endpoint, declarations: Declarations): Property[] {
  const { path, sends, sendsImage, parameters = [] } = endpoint;
  const inPath = pathNames(path).map((name) => {
    const { about, words } = PATH_PARAMETERS[name];
    return property(name, about, words ? union(words) : "string", true);
  });
  const document = sends === undefined ? [] : [
    property(
      sends.root,
      "or a document that is encoded already",
      `${declarations.type(DOCUMENTS[sends.document ?? sends.root])} | Encoded`,
      true,
    ),
  ];
  const inQuery = parameters
    .filter((one) => one.in !== "header" && !hasOwnAnswer(one, endpoint))
    .map((one) =>
      property(one.name, one.about, parameterType(one), one.required ?? false)
    );
  const file = sendsImage ? [property("image", "the file", "Blob", true)] : [];
  return [...inPath, ...document, ...file, ...inQuery];
}

function property(
  name: string,
  about: string,
  type: string,
  required: boolean,
): Property {
  const optional = required ? "" : "?";
  return { text: `${comment(about)}${name}${optional}: ${type};`, required };
}

/**
 * Whether an operation has a dry run with a different answer, which needs
 * another signature.
 */
function hasOwnAnswer({ name }: Parameter, { answers }: Endpoint): boolean {
  return name === "dry_run" && Array.isArray(answers) && answers.length > 1;
}

function method(endpoint: Endpoint, declarations: Declarations): string {
  const { answers, operation, title, about, method, path } = endpoint;
  const input = inputOf(endpoint, declarations);
  const isOptional = !input.some(({ required }) => required);
  const properties = input.map(({ text }) => text).join("\n");
  const signature = (type: string, more = "") => {
    const given = `${properties}\n${more}`.trim();
    const object = given === "" ? "Record<string, never>" : `{ ${given} }`;
    return `${operation}(input${isOptional ? "?" : ""}: ${object}, ` +
      `options?: CallOptions): Promise<${type}>;`;
  };
  const types = answersOf(endpoint)
    .map((children) => declarations.answer(children));
  const signatures = !Array.isArray(answers)
    ? [signature(bodyType(endpoint))]
    : types.length === 1
    ? [signature(types[0])]
    // The second answer is that of a dry run.
    : [
      signature(types[0], "dry_run?: false;"),
      signature(types[1], `${comment(DRY_RUN)}dry_run: true;`),
    ];
  const head = `/**\n * ${title}. ${about}\n *\n * \`${method} ${path}\`\n */`;
  return [head, ...signatures].join("\n");
}

const DRY_RUN = "does everything but the write";

function answersOf({ answers }: Endpoint): (readonly Child[])[] {
  return Array.isArray(answers)
    ? answers.map((name: keyof typeof ANSWERS) => ANSWERS[name])
    : [];
}

function bodyType({ answers }: Endpoint): "string" | "Blob" | "void" {
  if (answers === null) return "void";
  return (answers as { type: string }).type.startsWith("image/")
    ? "Blob"
    : "string";
}

const BODIES = { string: '"text"', Blob: '"blob"', void: "null" };

function row(endpoint: Endpoint): string {
  const { operation, method, path, sends, sendsImage, answers, access } =
    endpoint;
  const list = pagesOf(endpoint);
  return `${operation}: { ${
    method === "GET" ? "" : `method: "${method}", `
  }path: "${path}"${sends === undefined ? "" : `, sends: "${sends.root}"`}${
    sendsImage ? ', sendsFile: "image"' : ""
  }${takesIdempotencyKey(endpoint) ? ", keyed: true" : ""}${
    access === "metrics" ? ", bearer: true" : ""
  }${Array.isArray(answers) ? "" : `, answer: ${BODIES[bodyType(endpoint)]}`}${
    list === null ? "" : `, pages: "${list.name}"`
  }${
    list === null || listedIn(list.shape) !== null
      ? ""
      : `, item: "${itemsOf(list.shape).name}"`
  } },`;
}

/** The list in an answer that comes in pages. */
function pagesOf(endpoint: Endpoint): Child | null {
  const children = answersOf(endpoint).flat();
  const isPaged = children.some(({ name }) => name === "next");
  return isPaged ? children[0] : null;
}

/** The entries of a list; one with XML attributes is an object in JSON. */
function itemsOf({ content }: Shape): Child {
  return (content as readonly Child[])[0];
}

const WRITTEN =
  "Written from the\n * tables of the service by `deno task client`.";
const TYPES_HEAD = `/**
 * What documents hold. ${WRITTEN}
 */
`;
const OPERATIONS_HEAD = `/**
 * The operations of the interface: signatures and paths. ${WRITTEN}
 */
import type { CallOptions, Encoded } from "./connection.ts";
import type { Operation } from "./operation.ts";
`;

/** The generated modules by name, in the layout of `deno fmt`. */
export async function clientModules(): Promise<Record<string, string>> {
  const declarations = new Declarations();
  const methods = ENDPOINTS.map((one) => method(one, declarations));
  const rows = ENDPOINTS.map(row);
  declarations.type(DOCUMENTS.delivered_event);
  declarations.type(ANSWERS.error[0].shape);
  const lists = ENDPOINTS.flatMap((endpoint) => {
    const list = pagesOf(endpoint);
    return list === null ? [] : [
      `${endpoint.operation}: ${declarations.type(itemsOf(list.shape).shape)};`,
    ];
  });
  const types = [
    ...WORDS.map(([name, words]) =>
      `export type ${name} = ${
        words.map((word) => JSON.stringify(word)).join(" | ")
      };`
    ),
    ...declarations.texts.values(),
  ].join("\n\n");
  const operations = [
    "/** Every operation, by name. */\n" +
    `export interface Operations { ${methods.join("\n\n")} }`,
    "/** What the lists hold that come in pages. */\n" +
    `export interface Entries { ${lists.join("\n")} }`,
    "export const OPERATIONS: Readonly<Record<keyof Operations, Operation>> = {\n" +
    rows.join("\n") + "\n};",
  ].join("\n\n");
  return {
    "types.ts": await formatted(TYPES_HEAD + types),
    "operations.ts": await formatted(
      OPERATIONS_HEAD + importUsed(operations, types) + operations,
    ),
  };
}

/** Imports the types that a text uses. */
function importUsed(text: string, types: string): string {
  const code = text.replaceAll(/\/\*\*[^]*?\*\//g, "");
  const names = types.matchAll(/^export (?:type|interface) (\w+)/gm)
    .filter(([, name]) => new RegExp(`\\b${name}\\b`).test(code))
    .map(([, name]) => name);
  return `import type { ${[...names].join(", ")} } from "./types.ts";\n`;
}

/** The present text of a generated module. */
export function storedModule(name: string): Promise<string> {
  return Deno.readTextFile(new URL(name, CLIENT));
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(await clientModules())) {
    await Deno.writeTextFile(new URL(name, CLIENT), text);
  }
}
