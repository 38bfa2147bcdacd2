/**
 * Generates two modules of the typed client from the service's tables: the types
 * of documents in JSON, `src/client/types.ts`, and `src/client/operations.ts`.
 * `deno task client` writes both, and a test checks them.
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
import { pathParameterNames } from "../../src/contracts/openapi.ts";
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
import { CALLS, type ClientKind } from "./client_calls.ts";

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

/** A comment, without what the client does itself or the type shows. */
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
  /** In the order of first use; a type comes after the types that it uses. */
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
      const [replacing, additional] = [true, false].map((is) =>
        Object.fromEntries(
          Object.entries(attributes).filter(([, { replacesText = false }]) =>
            replacesText === is
          ),
        )
      );
      const own = `{ ${textName}: ${plain ? value : type}\n${
        attributeProperties(additional, content.empty === true && !plain)
      } }`;
      const others = Object.entries(replacing).map(([name, one]) =>
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

  /** The array, and the members next to it. */
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
  const inPath = pathParameterNames(path).map((name) => {
    const { about, words } = PATH_PARAMETERS[name];
    return property(name, about, words ? union(words) : "string", true);
  });
  const document = sends === undefined ? [] : [
    property(
      sends.root,
      "the document, as an object or encoded",
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

/** The name of the type of an operation's input: `ListProductsQuery`. */
function inputName({ operation, method }: Endpoint): string {
  return pascal(operation) + (method === "GET" ? "Query" : "Input");
}

/** The name of the type of an operation's answer; the second is a dry run's. */
export function answerName({ operation }: Endpoint, n: number): string {
  return `${pascal(operation)}${n === 0 ? "" : "DryRun"}Answer`;
}

/** The named types of an operation: its input and its answers. */
function operationTypes(
  endpoint: Endpoint,
  declarations: Declarations,
): string[] {
  const input = inputOf(endpoint, declarations).map(({ text }) => text);
  const about = `of \`${endpoint.method} ${endpoint.path}\``;
  return [
    ...input.length === 0 ? [] : [
      `/** The input ${about}. */\n` +
      `export interface ${inputName(endpoint)} { ${input.join("\n")} }`,
    ],
    ...answersOf(endpoint).map((children, n) =>
      `/** The answer ${about}${n === 0 ? "" : " with `dry_run`"}. */\n` +
      `export interface ${answerName(endpoint, n)} ${
        declarations.answer(children)
      }`
    ),
  ];
}

const DRY_RUN = "/** check everything, but store nothing */\ndry_run: true";

/** The signatures of an operation as a method with this name. */
function method(
  name: string,
  endpoint: Endpoint,
  declarations: Declarations,
): string {
  const { title, about, method, path } = endpoint;
  const head = `/**\n * ${title}. ${about}\n *\n * \`${method} ${path}\`\n */`;
  const input = inputOf(endpoint, declarations);
  const optional = input.some(({ required }) => required) ? "" : "?";
  const signature = (more: string, answer: string) => {
    const given = input.length === 0
      ? ""
      : `input${optional}: ${inputName(endpoint)}${more}, `;
    return `${name}(${given}options?: CallOptions): ${answer};`;
  };
  const list = pagesOf(endpoint);
  if (list !== null) {
    const entry = declarations.type(itemsOf(list.shape).shape);
    return [head, signature("", `List<${answerName(endpoint, 0)}, ${entry}>`)]
      .join("\n");
  }
  const answers = answersOf(endpoint);
  if (answers.length === 0) {
    return [head, signature("", `Promise<${bodyType(endpoint)}>`)].join("\n");
  }
  // The first answer is that without `dry_run`.
  return [
    head,
    ...answers.map((_, n) =>
      signature(
        answers.length === 1
          ? ""
          : n === 0
          ? " & { dry_run?: false }"
          : ` & { ${DRY_RUN} }`,
        `Promise<${answerName(endpoint, n)}>`,
      )
    ),
  ].join("\n");
}

/** The method whose answer is the text of its XML. */
function xmlMethod(
  name: string,
  endpoint: Endpoint,
  declarations: Declarations,
): string {
  const input = inputOf(endpoint, declarations);
  const optional = input.some(({ required }) => required) ? "" : "?";
  const dryRun = answersOf(endpoint).length > 1
    ? " & { dry_run?: boolean }"
    : "";
  const given = input.length === 0
    ? ""
    : `input${optional}: ${inputName(endpoint)}${dryRun}, `;
  return `${name}(${given}options?: CallOptions): Promise<string>;`;
}

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

/** The row of an operation, by the name of its method. */
function row(name: string, endpoint: Endpoint): string {
  const {
    method,
    path,
    sends,
    sendsImage,
    answers,
    access,
    errors = [],
    parameters = [],
  } = endpoint;
  const list = pagesOf(endpoint);
  const takesNone = pathParameterNames(path).length === 0 &&
    sends === undefined &&
    !sendsImage && !parameters.some((one) => one.in !== "header");
  return `${name}: { ${takesNone ? "inputless: true, " : ""}${
    method === "GET" ? "" : `method: "${method}", `
  }path: "${path}"${sends === undefined ? "" : `, sends: "${sends.root}"`}${
    sendsImage ? ', sendsFile: "image"' : ""
  }${takesIdempotencyKey(endpoint) ? ", takesIdempotencyKey: true" : ""}${
    errors.includes("reference_reused") ? ", hasReference: true" : ""
  }${access === "metrics" ? ", bearer: true" : ""}${
    Array.isArray(answers) ? "" : `, answer: ${BODIES[bodyType(endpoint)]}`
  }${list === null ? "" : `, pages: "${list.name}"`}${
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
  "`deno task client`\n * writes this file from the tables of the service.";
const TYPES_HEAD = `/**
 * The types of documents and answers. ${WRITTEN}
 */
`;
const OPERATIONS_HEAD = `/**
 * The operations of the interface: signatures and paths. ${WRITTEN}
 */
import type { CallOptions, Encoded } from "./connection.ts";
import type { List } from "./list.ts";
import type { OperationTable } from "./operation.ts";
`;

/** A method of a client. */
interface Call {
  noun: string;
  verb: string;
  endpoint: Endpoint;
}

/** The methods of a client in the order of the table of endpoints. */
function callsOf(kind: ClientKind): Call[] {
  return ENDPOINTS.flatMap((endpoint) => {
    const { operation } = endpoint;
    const call = CALLS[operation];
    if (call === undefined) {
      throw new Error(
        `${operation} has no name in tests/contracts/client_calls.ts.`,
      );
    }
    const { clients, name } = call;
    const [noun, verb] = name.split(".");
    return clients.includes(kind) ? [{ noun, verb, endpoint }] : [];
  });
}

/** Methods by noun, each written by `write`. */
function byNoun(
  calls: readonly Call[],
  write: (call: Call) => string,
  separator: string,
): string {
  return [...Map.groupBy(calls, ({ noun }) => noun)]
    .map(([noun, own]) => `${noun}: { ${own.map(write).join(separator)} }`)
    .join(separator === ", " ? ", " : ";\n");
}

/** The signatures and the table of one client. */
function clientOperations(kind: ClientKind, declarations: Declarations) {
  const calls = callsOf(kind);
  const name = pascal(kind);
  const methods = byNoun(
    calls,
    ({ verb, endpoint }) => method(verb, endpoint, declarations),
    "\n\n",
  );
  const xmlMethods = byNoun(
    calls,
    ({ verb, endpoint }) => xmlMethod(verb, endpoint, declarations),
    "\n",
  );
  const rows = byNoun(calls, ({ verb, endpoint }) => row(verb, endpoint), " ")
    .replaceAll("};\n", "},\n");
  return [
    `/** The operations of a client for ${kind}s, by noun. */\n` +
    `export interface ${name}Operations { ${methods} }`,
    `/** The same operations; each returns its answer as XML text. */\n` +
    `export interface ${name}XmlOperations { ${xmlMethods} }`,
    `export const ${kind.toUpperCase()}_OPERATIONS: OperationTable<${name}Operations> = { ${rows} };`,
  ];
}

/** The generated modules by name, in the layout of `deno fmt`. */
export async function clientModules(): Promise<Record<string, string>> {
  const declarations = new Declarations();
  const clients = (["seller", "operator"] as const)
    .flatMap((kind) => clientOperations(kind, declarations));
  const named = ENDPOINTS.flatMap((one) => operationTypes(one, declarations));
  declarations.type(DOCUMENTS.delivered_event);
  declarations.type(ANSWERS.error[0].shape);
  const types = [
    ...WORDS.map(([name, words]) =>
      `export type ${name} = ${
        words.map((word) => JSON.stringify(word)).join(" | ")
      };`
    ),
    ...declarations.texts.values(),
  ].join("\n\n");
  const operations = [
    ...named,
    ...clients,
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
