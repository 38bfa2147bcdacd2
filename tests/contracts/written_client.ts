/**
 * What the typed client has from the tables of the service: the types and
 * shapes of documents, `src/client/types.ts`, and `src/client/operations.ts`.
 * `deno task client` writes both, a test holds them.
 */
import { ATTRIBUTE_NAMES } from "../../src/catalogue/fields.ts";
import { ANSWERS } from "../../src/contracts/answers.ts";
import { DOCUMENTS } from "../../src/contracts/documents.ts";
import {
  type Endpoint,
  type Parameter,
  PATH_PARAMETERS,
} from "../../src/contracts/endpoint.ts";
import { pathNames } from "../../src/contracts/openapi.ts";
import {
  type Attribute,
  type Child,
  isText,
  type Shape,
  type TextForm,
} from "../../src/xml/shapes.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { IMAGE_CODES } from "../../src/images/image.ts";
import { DETAIL_CODES, ERRORS } from "../../src/lib/errors.ts";
import { SELLER_ATTRIBUTES } from "../../src/sellers/administration.ts";
import { TRIGGERS } from "../../src/webhooks/trigger.ts";
import { DELIVERY_STATES } from "../../src/webhooks/webhook.ts";
import { formatted } from "../support/format.ts";

const CLIENT = new URL("../../src/client/", import.meta.url);

/** Unions with a name of their own. */
const WORDS: readonly (readonly [string, readonly string[]])[] = [
  ["ErrorCode", Object.keys(ERRORS)],
  ["DetailCode", Object.keys(DETAIL_CODES)],
  ["ImageCode", Object.keys(IMAGE_CODES)],
  ["Trigger", TRIGGERS],
  ["DeliveryState", DELIVERY_STATES],
  ["AttributeName", ATTRIBUTE_NAMES],
  ["SellerAttribute", SELLER_ATTRIBUTES],
];

/** Where the name of a type says too little outside of its document. */
const NAMES: Readonly<Record<string, string>> = {
  key: "SellerKey",
  product: "SentProduct",
  read_product: "Product",
  attribute: "ProductAttribute",
  image: "ProductImage",
};

/** What no schema says: a product is addressed by its id or its SKU. */
const ALSO: Readonly<Record<string, string>> = {
  product: "({ id: string } | { sku: string })",
  product_attributes: "({ id: string } | { sku: string })",
};

function pascal(name: string): string {
  return NAMES[name] ??
    name.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
}

function union(words: readonly string[]): string {
  const known = WORDS.find(([, list]) => list.join() === words.join());
  return known?.[0] ?? words.map((word) => JSON.stringify(word)).join(" | ");
}

/** The kind of a text for the decoder. */
function kindOf(
  { kind }: TextForm,
): "string" | "number" | "boolean" | "markup" {
  if (kind === "integer") return "number";
  if (kind === "any") return "markup";
  return kind === "boolean" ? "boolean" : "string";
}

function textType(form: TextForm): string {
  if (form.kind === "word") return union(form.words);
  const kind = kindOf(form);
  return kind === "markup" ? "string" : kind;
}

/** The only child, if it is repeated: the element is an array of it. */
function listed({ content, attributes }: Shape): Child | null {
  if (isText(content) || attributes !== undefined || content.length !== 1) {
    return null;
  }
  return content[0].max > 1 ? content[0] : null;
}

/** Without what the client does itself, or the type says. */
function comment(text: string | undefined): string {
  if (text === undefined) return "";
  const said = text.replace("; percent-encode what is special", "")
    .replace(/; required$/, "");
  return `/** ${said} */\n`;
}

/** The documentation of codes is a list, which the handbook has. */
function aboutOf({ about }: { about?: string }): string | undefined {
  return about?.startsWith("- ") ? undefined : about;
}

/** A plain text needs no name. */
function isNamed(shape: Shape): shape is Shape & { type: string } {
  return shape.type !== undefined &&
    (!isText(shape.content) || shape.attributes !== undefined);
}

/** The types and shapes that operations use, each under its name. */
class Declarations {
  /** In the order in which they were needed; what one uses stands before. */
  readonly texts = new Map<string, string>();

  /** The type of an element with this shape. */
  type(shape: Shape): string {
    const items = listed(shape);
    if (items !== null) return `${bracketed(this.type(items.shape))}[]`;
    if (!isNamed(shape)) return this.#structure(shape);
    this.#declare(shape.type, shape);
    return pascal(shape.type);
  }

  /** The shape as an expression for the decoder. */
  shape(shape: Shape): string {
    const items = listed(shape);
    if (items !== null) {
      return `{ list: ${JSON.stringify(items.name)}, of: ${
        this.shape(items.shape)
      } }`;
    }
    if (!isNamed(shape)) return this.#expression(shape);
    this.#declare(shape.type, shape);
    return constant(shape.type);
  }

  /** The elements of an answer, as a type. */
  answer(children: readonly Child[]): string {
    return `{ ${children.map((child) => this.#property(child)).join("\n")} }`;
  }

  /** The same as an expression. */
  elements(children: readonly Child[]): string {
    const entries = children.map(({ name, shape, max }) =>
      max === 1
        ? `${name}: ${this.shape(shape)}`
        : `${name}: { repeated: ${this.shape(shape)} }`
    );
    return `{ ${entries.join(", ")} }`;
  }

  #declare(name: string, shape: Shape): void {
    if (this.texts.has(name)) return;
    const type = this.#structure(shape);
    const expression = this.#expression(shape);
    const also = ALSO[name];
    const declared = also !== undefined
      ? `export type ${pascal(name)} = ${type} & ${also};`
      : type.endsWith("}")
      ? `export interface ${pascal(name)} ${type}`
      : `export type ${pascal(name)} = ${type};`;
    this.texts.set(
      name,
      `${declared}\n\nexport const ${constant(name)}: Shape = ${expression};`,
    );
  }

  #structure(shape: Shape): string {
    const { content, attributes, orText } = shape;
    if (isText(content)) {
      const type = textType(content);
      const value = content.empty ? `${type} | null` : type;
      if (attributes === undefined) return value;
      const { textName = "value", plain } = shape;
      const own = `{ ${textName}: ${plain ? value : type}\n${
        attributeProperties(attributes, content.empty === true && !plain)
      } }`;
      const alone = plain ? `${type} | ` : "";
      return `${alone}${own}${content.empty ? " | null" : ""}`;
    }
    const properties = [
      attributeProperties(attributes ?? {}, false),
      ...content.map((child) => this.#property(child)),
    ].join("\n");
    const type = `{ ${properties} }`;
    return orText ? `${type} | "none"` : type;
  }

  #property(child: Child): string {
    const { name, shape, min, max } = child;
    const type = this.type(shape);
    const optional = max === 1 && min === 0 ? "?" : "";
    const many = max === 1 ? type : `${bracketed(type)}[]`;
    return `${comment(aboutOf(child))}${name}${optional}: ${many};`;
  }

  #expression(shape: Shape): string {
    const { content, attributes, orText } = shape;
    const written = attributes && attributeShapes(attributes);
    if (isText(content)) {
      const kind = `text: "${kindOf(content)}"`;
      const orNull = content.empty ? ", orNull: true" : "";
      return written === undefined
        ? textConstant(content)
        : `{ ${kind}${orNull}, name: "${
          shape.textName ?? "value"
        }", attributes: ${written}${shape.plain ? ", plain: true" : ""} }`;
    }
    return `{ elements: ${this.elements(content)}${
      written === undefined ? "" : `, attributes: ${written}`
    }${orText ? ", orText: true" : ""} }`;
  }
}

function bracketed(type: string): string {
  return /[|&]/.test(type.replace(/\{[^]*\}/g, "")) ? `(${type})` : type;
}

function constant(name: string): string {
  return pascal(name).replace(/(?<=[a-z])([A-Z])/g, "_$1").toUpperCase();
}

function textConstant(form: TextForm): string {
  const names = {
    string: "TEXT",
    number: "NUMBER",
    boolean: "BOOLEAN",
    markup: "MARKUP",
  };
  return `${names[kindOf(form)]}${form.empty ? "_OR_NULL" : ""}`;
}

/** What clears a field needs no attribute; what sets it does. */
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

function attributeShapes(
  attributes: Readonly<Record<string, Attribute>>,
): string {
  const entries = Object.entries(attributes).map(([name, { form }]) =>
    `${name}: ${textConstant({ ...form, empty: undefined })}`
  );
  return `{ ${entries.join(", ")} }`;
}

/** The type of a parameter of the query. */
function parameterType({ schema = {} }: Parameter): string {
  if (Array.isArray(schema.enum)) return union(schema.enum);
  if (schema.type === "integer") return "number";
  return schema.type === "boolean" ? "boolean" : "string";
}

function isKeyed({ parameters = [] }: Endpoint): boolean {
  return parameters.some(({ name }) => name === "Idempotency-Key");
}

/** A property of what a method takes. */
interface Property {
  text: string;
  required: boolean;
}

function inputOf(endpoint: Endpoint, declarations: Declarations): Property[] {
  const { path, sends, parameters = [] } = endpoint;
  const inPath = pathNames(path).map((name) => {
    const { about, words } = PATH_PARAMETERS[name];
    return property(name, about, words ? union(words) : "string", true);
  });
  const document = sends === undefined ? [] : [
    property(
      sends.root,
      "or an XML document",
      `${declarations.type(DOCUMENTS[sends.document ?? sends.root])} | Encoded`,
      true,
    ),
  ];
  const inQuery = parameters
    .filter((one) => one.in !== "header" && !hasOwnAnswer(one, endpoint))
    .map((one) =>
      property(one.name, one.about, parameterType(one), one.required ?? false)
    );
  return [...inPath, ...document, ...inQuery];
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

/** Whether it is a dry run with an answer of its own: another signature. */
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

function row(endpoint: Endpoint, declarations: Declarations): string {
  const { operation, method, path, sends, answers, access } = endpoint;
  const children = new Map(
    answersOf(endpoint).flat().map((child) => [child.name, child]),
  );
  const answer = Array.isArray(answers)
    ? declarations.elements([...children.values()])
    : BODIES[bodyType(endpoint)];
  const list = pagesOf(endpoint);
  return `${operation}: { ${
    method === "GET" ? "" : `method: "${method}", `
  }path: "${path}"${sends === undefined ? "" : `, sends: "${sends.root}"`}${
    isKeyed(endpoint) ? ", keyed: true" : ""
  }${access === "metrics" ? ", bearer: true" : ""}, answer: ${answer}${
    list === null ? "" : `, pages: "${list.name}"`
  } },`;
}

/** The list in an answer that comes in pages. */
function pagesOf(endpoint: Endpoint): Child | null {
  const children = answersOf(endpoint).flat();
  const isPaged = children.some(({ name }) => name === "next");
  return isPaged ? children[0] : null;
}

const WRITTEN =
  "Written from the\n * tables of the service by `deno task client`.";
const TYPES_HEAD = `/**
 * What documents hold, and the shapes by which they are read. ${WRITTEN}
 */
`;
const OPERATIONS_HEAD = `/**
 * The operations of the interface: signatures and paths. ${WRITTEN}
 */
import type { CallOptions, Encoded } from "./connection.ts";
`;

/** The written modules by name, as `deno fmt` lays them out. */
export async function clientModules(): Promise<Record<string, string>> {
  const declarations = new Declarations();
  const methods = ENDPOINTS.map((one) => method(one, declarations));
  const rows = ENDPOINTS.map((one) => row(one, declarations));
  const documents = Object.keys(DOCUMENTS)
    .filter((root) => ENDPOINTS.some(({ sends }) => sends?.root === root))
    .map((root) => `${root}: ${declarations.shape(DOCUMENTS[root])},`);
  declarations.shape(DOCUMENTS.delivered_event);
  declarations.shape(ANSWERS.error[0].shape);
  const lists = ENDPOINTS.flatMap((endpoint) => {
    const list = pagesOf(endpoint);
    return list === null ? [] : [
      `${endpoint.operation}: ${declarations.type(listed(list.shape)!.shape)};`,
    ];
  });
  const types = [
    ...WORDS.map(([name, words]) =>
      `export type ${name} = ${
        words.map((word) => JSON.stringify(word)).join(" | ")
      };`
    ),
    ...declarations.texts.values(),
    "/** Documents that are sent, by root. */\n" +
    `export const DOCUMENTS: Readonly<Record<string, Shape>> = { ${
      documents.join("\n")
    } };`,
  ].join("\n\n");
  const operations = [
    "/** Every operation, by name. */\n" +
    `export interface Operations { ${methods.join("\n\n")} }`,
    "/** What the lists hold that come in pages. */\n" +
    `export interface Entries { ${lists.join("\n")} }`,
    "export const OPERATIONS: Readonly<Record<keyof Operations, Operation>> = {\n" +
    rows.join("\n") + "\n};",
  ].join("\n\n");
  const shapes = await Deno.readTextFile(new URL("shape.ts", CLIENT));
  return {
    "types.ts": await formatted(
      TYPES_HEAD + importUsed(types, shapes, "./shape.ts") + types,
    ),
    "operations.ts": await formatted(
      OPERATIONS_HEAD + importUsed(operations, shapes, "./shape.ts") +
        importUsed(operations, types, "./types.ts") + operations,
    ),
  };
}

/** Imports what a text uses of the exports of another module. */
function importUsed(text: string, module: string, path: string): string {
  const code = text.replaceAll(/\/\*\*[^]*?\*\//g, "");
  const names = module.matchAll(/^export (type|interface|const) (\w+)/gm)
    .filter(([, , name]) => new RegExp(`\\b${name}\\b`).test(code))
    .map(([, kind, name]) => kind === "const" ? name : `type ${name}`);
  return `import { ${[...names].join(", ")} } from "${path}";\n`;
}

/** A written module as it is. */
export function storedModule(name: string): Promise<string> {
  return Deno.readTextFile(new URL(name, CLIENT));
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(await clientModules())) {
    await Deno.writeTextFile(new URL(name, CLIENT), text);
  }
}
