/** Reads a small document: a root with one element for each field. */
import { type Detail, fieldDetail, recordInvalid } from "../lib/errors.ts";
import { isNear, nearestName } from "../lib/nearest_name.ts";
import { quote, type ReadResult, trimSpace } from "../lib/values.ts";
import { otherRootMessage } from "./other_formats.ts";
import type { XmlElement } from "./decode.ts";
import {
  type Child,
  isText,
  listedIn,
  type Root,
  type Shape,
} from "./shapes.ts";

/** The most bytes of a small document. */
export const SMALL_DOCUMENT_BYTES = 64 * 1_024;

export interface DocumentFields<N extends string> {
  /** The fields found, by name; text untrimmed. */
  fields: ReadonlyMap<N, XmlElement>;
  /** A problem for everything that does not belong in the document. */
  details: Detail[];
}

/**
 * Finds the fields of an element. Throws 422 if it has another name; `details`
 * lists every other problem.
 */
export function readFields<V>(
  root: XmlElement,
  { name: rootName, shape }: Root<V>,
): DocumentFields<keyof V & string> {
  const details = readRoot(root, rootName);
  const content = shape.content as readonly Child[];
  const [texts, others] = partition(content, ({ shape }) => isOnlyText(shape));
  const names = [...texts, ...others].map(({ name }) => name);
  const fields = new Map<string, XmlElement>();
  for (const child of root.children) {
    const former = fields.get(child.name);
    if (!names.includes(child.name)) {
      details.push(unknownElement(child, names, rootName));
    } else if (former !== undefined) {
      details.push({
        line: child.line,
        field: child.name,
        code: "repeated_element",
        message: `${child.name} is repeated; the first is on line ` +
          `${former.line}.`,
      });
    } else {
      fields.set(child.name, child);
      // bounded: an element has 64 attributes at most
      details.push(...attributeProblems(child));
      if (!texts.some(({ name }) => name === child.name)) continue;
      for (const detail of markup(child)) details.push(detail);
    }
  }
  return { fields: fields as Map<keyof V & string, XmlElement>, details };
}

/** The problems of the root itself. Throws 422 for another root. */
export function readRoot(root: XmlElement, name: string): Detail[] {
  if (root.name !== name) throw otherRoot(root, name);
  return rootProblems(root);
}

/** Whether an element may have text and nothing else. */
function isOnlyText({ content }: Shape): boolean {
  return isText(content) && content.kind !== "any";
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean) {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

/**
 * The value of a required field; undefined after a problem, which is added to
 * `details`. `line` is the document's line, which is reported for a missing
 * field.
 */
export function readField<T>(
  field: string,
  sent: { text: string; line?: number } | undefined,
  read: (text: string) => ReadResult<T>,
  details: Detail[],
  line?: number,
): T | undefined {
  const text = sent && trimSpace(sent.text);
  const message = sent === undefined
    ? "is missing."
    : "is empty; it must be given.";
  const result: ReadResult<T> = text
    ? read(text)
    : { problem: { code: "required", message } };
  if ("value" in result) return result.value;
  const place = { line: sent?.line ?? line };
  details.push(fieldDetail({ field, ...result.problem }, place));
}

/**
 * Adds a problem to `details` if the name in a document is not the one in the
 * path.
 */
export function checkName(
  sent: XmlElement | undefined,
  nameOfPath: string,
  details: Detail[],
): void {
  const name = trimSpace(sent?.text ?? "");
  const wanted = trimSpace(nameOfPath);
  if (sent === undefined || name === wanted) return;
  const message = `is ${quote(name)}, and the path has ${quote(wanted)}; ` +
    "send the name of the path, or leave it out.";
  const problem = { field: sent.name, code: "not_allowed", message } as const;
  details.push(fieldDetail(problem, { line: sent.line }));
}

/**
 * The trimmed texts of a list's elements; undefined if the list is missing.
 * Problems are added to `details`.
 */
export function listOf(
  list: XmlElement | undefined,
  shape: Shape,
  details: Detail[],
): string[] | undefined {
  if (list === undefined) return;
  const { name } = listedIn(shape)!.items;
  for (const detail of textBeside(list)) details.push(detail);
  return list.children.flatMap((item) => {
    if (item.name !== name) {
      details.push(unknownElement(item, [name]));
      return [];
    }
    for (const detail of [...attributeProblems(item), ...markup(item)]) {
      details.push(detail);
    }
    return [trimSpace(item.text)];
  });
}

function otherRoot({ name, line }: XmlElement, expected: string) {
  return recordInvalid([{
    line,
    field: shown(name),
    code: "unknown_element",
    message: otherRootMessage(shown(name), expected),
  }]);
}

function rootProblems(root: XmlElement): Detail[] {
  const details: Detail[] = Object.keys(root.attributes)
    .filter((name) => !/^(xmlns$|xmlns:|xsi:)/.test(name))
    .map((name) => unknownAttribute(name, root, root.name));
  return [...details, ...textBeside(root)];
}

/** The problem of text beside the elements of an element. */
export function textBeside({ name, text, line }: XmlElement): Detail[] {
  if (trimSpace(text) === "") return [];
  return [{
    line,
    field: name,
    code: "unexpected_text",
    message: `<${name}> has text besides its elements.`,
  }];
}

function attributeProblems(element: XmlElement): Detail[] {
  return Object.keys(element.attributes)
    .map((name) => unknownAttribute(name, element, element.name));
}

function unknownAttribute(
  name: string,
  { line }: XmlElement,
  elementName: string,
): Detail {
  return {
    line,
    field: `${elementName}/@${shown(name)}`,
    code: "unknown_attribute",
    message: `<${elementName}> has no attribute "${
      shown(name)
    }"; leave it out.`,
  };
}

/**
 * `root` is the name of the document's root, which is not part of paths in
 * JSON.
 */
function unknownElement(
  { name, line }: XmlElement,
  known: string[],
  root?: string,
): Detail {
  const advice = name === root
    ? "encloses the document; send only its content."
    : `is not known here; ${suggestion(shown(name), known)}`;
  return {
    line,
    field: shown(name),
    code: "unknown_element",
    message: `<${shown(name)}> ${advice}`,
  };
}

function suggestion(name: string, known: string[]): string {
  const nearest = nearestName(name, known);
  return isNear(name, nearest)
    ? `did you mean <${nearest}>?`
    : `the known names are ${known.map((one) => `<${one}>`).join(", ")}.`;
}

function markup(element: XmlElement): Detail[] {
  return element.children.map(({ name, line }) => ({
    line,
    field: `${element.name}/${shown(name)}`,
    code: "unknown_element",
    message: `<${element.name}> contains only text; <${shown(name)}> is not ` +
      "allowed in it.",
  }));
}

function shown(name: string): string {
  return name.slice(0, 100);
}
