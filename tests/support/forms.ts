/**
 * Tests that XML and JSON must both pass. They are written for XML, and run
 * again with answers in JSON, which are converted to the equivalent XML.
 */
import "./built.ts";
import { AsyncLocalStorage } from "node:async_hooks";
import { type AnswerName, ANSWERS } from "../../src/contracts/answers.ts";
import { DOCUMENTS } from "../../src/contracts/documents.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { parseTarget, Router } from "../../src/http/server/router.ts";
import {
  element,
  serviceDocument,
  type XmlNode,
} from "../../src/xml/encode.ts";
import { jsonWriter } from "../../src/json/encode.ts";
import { valueFromXml } from "../../src/json/instance.ts";
import { parseTree, type XmlElement } from "../../src/xml/decode.ts";
import {
  type Child,
  isText,
  listedIn,
  one,
  type Shape,
} from "../../src/xml/shapes.ts";
import { bothEngines } from "./engine.ts";

const inJson = new AsyncLocalStorage<true>();

type Test = (t: Deno.TestContext) => void | Promise<void>;

function again(name: string, fn: Test): void {
  Deno.test(`${name} (JSON)`, (t) => inJson.run(true, () => fn(t)));
}

/** Registers a test once for each format. */
export const bothForms = {
  test(name: string, fn: Test): void {
    Deno.test(name, fn);
    again(name, fn);
  },
};

/** Registers a test once for each engine, and once in JSON. */
export const contract = {
  test(name: string, fn: Test): void {
    bothEngines.test(name, fn);
    again(name, fn);
  },
};

/** Whether the calling test runs in JSON. */
export function isInJson(): boolean {
  return inJson.getStore() ?? false;
}

const router = new Router(ROUTES);

/** The shape of the answer to a request; null if it is not converted. */
function answerShape(
  method: string,
  url: string,
  status: number,
): Shape | null {
  const match = router.match(method, parseTarget(url).segments);
  const answers = match !== null && "route" in match
    ? match.route.documentation?.answers
    : null;
  const isDocument = answers !== null && answers !== undefined &&
    "type" in answers;
  if (status < 400 && isDocument) return null;
  const names = status < 400 || status === 503 && Array.isArray(answers)
    ? answers as readonly AnswerName[]
    : [];
  const content = [...names, "error" as const]
    .flatMap((name): readonly Child[] => ANSWERS[name]);
  return { content };
}

type Json = null | string | number | boolean | Json[] | {
  [name: string]: Json;
};

/** Converts an answer in JSON to the equivalent XML. */
export function asXml(
  json: string,
  { method, url, status }: { method: string; url: string; status: number },
): string {
  const shape = answerShape(method, url, status);
  if (shape === null) return json;
  const document = serviceDocument(
    nodeOf(JSON.parse(json), shape) as XmlNode,
  );
  return typeof document === "string"
    ? document
    : document.map((block) => new TextDecoder().decode(block)).join("");
}

/**
 * Converts a document that a route accepts to JSON; null if there is no
 * equivalent.
 */
export function asJson(
  xml: string,
  { method, url }: { method: string; url: string },
): string | null {
  const match = router.match(method, parseTarget(url).segments);
  if (match === null || !("route" in match)) return null;
  const sends = match.route.documentation?.sends;
  if (sends === undefined) return null;
  const shape = DOCUMENTS[sends.document ?? sends.root];
  const bytes = new TextEncoder().encode(xml);
  let tree: XmlElement;
  try {
    tree = parseTree(bytes);
  } catch {
    return null;
  }
  if (tree.name !== sends.root || !isOfShape(tree, shape)) return null;
  const instance = valueFromXml(bytes, shape) as XmlNode;
  const listed = listedIn(shape);
  if (listed === null) return jsonWriter(shape)(instance);
  const { name, shape: item } = listed.items;
  const write = jsonWriter(item);
  // Each product begins on its own line, because problems include lines.
  let line = 1;
  const items = (instance[name] as XmlNode[]).map((one, n) => {
    const before = "\n".repeat(tree.children[n].line - line);
    line = tree.children[n].line;
    return before + write(one);
  });
  return `{"${sends.root}":[${items.join(",")}]}`;
}

/** Converts a JSON document that a route accepts to XML. */
export function xmlOfSent(
  json: string,
  { method, url }: { method: string; url: string },
): string {
  const match = router.match(method, parseTarget(url).segments);
  if (match === null || !("route" in match)) throw new Error(`no route ${url}`);
  const { root, document = root } = match.route.documentation!.sends!;
  const shape = DOCUMENTS[document];
  const value = JSON.parse(json);
  const node = listedIn(shape) === null
    ? nodeOf(value, shape)
    : childNode(one(root, shape), (name) => value[name]);
  return element(root, (node ?? null) as XmlNode | null);
}

/** Whether an element contains only what its shape allows. */
function isOfShape(element: XmlElement, shape: Shape): boolean {
  const { content, attributes = {}, plain } = shape;
  const names = Object.keys(element.attributes);
  if (!names.every((name) => name in attributes)) return false;
  if (isText(content)) {
    if (content.kind === "any") return true;
    const isPlain = shape.attributes === undefined || plain || names.length > 0;
    return element.children.length === 0 && isPlain;
  }
  // JSON has nothing for values that only the service sets.
  if (names.length > 0 || element.text.trim() !== "") return false;
  const seen = new Set<string>();
  return element.children.every((child) => {
    const known = content.find(({ name }) => name === child.name);
    if (known === undefined || (seen.has(child.name) && known.max === 1)) {
      return false;
    }
    seen.add(child.name);
    return isOfShape(child, known.shape);
  });
}

/** Converts a value to a node of its shape; throws if it does not match. */
function nodeOf(value: Json, shape: Shape): XmlNode[string] {
  const { content, attributes = {}, textName = "value" } = shape;
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) throw new Error("an array is not in its shape");
  const node: XmlNode = {};
  const left = new Map(Object.entries(value));
  const take = (name: string): Json | undefined => {
    const taken = left.get(name);
    left.delete(name);
    return taken;
  };
  for (const name of Object.keys(attributes)) {
    node[`@${name}`] = take(name) as string | undefined;
  }
  if (isText(content)) {
    if (shape.attributes === undefined) return anyNode(value);
    node["#text"] = take(textName) as string | undefined;
  } else {
    for (const child of content) node[child.name] = childNode(child, take);
  }
  if (left.size > 0) throw new Error(`${[...left.keys()]} is not in the shape`);
  return node;
}

function childNode(
  { name, shape, max }: Child,
  take: (name: string) => Json | undefined,
): XmlNode[string] {
  const value = take(name);
  const items = (items: Json | undefined, shape: Shape) =>
    (items as Json[]).map((item) => nodeOf(item, shape) as XmlNode);
  if (value === undefined) return undefined;
  if (max > 1) return items(value, shape);
  const listed = listedIn(shape);
  if (listed === null) return nodeOf(value, shape);
  const others = listed.others.map((child) =>
    [child.name, childNode(child, take)] as const
  );
  return {
    [listed.items.name]: items(value, listed.items.shape),
    ...Object.fromEntries(others),
  };
}

function anyNode(value: Json): XmlNode {
  return value as XmlNode;
}
