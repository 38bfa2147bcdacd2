/**
 * The rules of Namespaces in XML 1.0 (third edition) for a fragment that is
 * inserted into another document: its meaning must not depend on its
 * surroundings.
 */
import type { XmlElement } from "./decode.ts";

const XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace";
const XMLNS_NAMESPACE = "http://www.w3.org/2000/xmlns/";

type Bindings = ReadonlyMap<string, string>;

export interface NamespaceProblem {
  element: XmlElement;
  message: string;
}

/** The problem in the content of `parent`; null if there is none. */
export function namespaceProblem(parent: XmlElement): NamespaceProblem | null {
  return childrenProblem(parent, new Map([["xml", XML_NAMESPACE]]));
}

function childrenProblem(
  parent: XmlElement,
  bound: Bindings,
): NamespaceProblem | null {
  for (const element of parent.children) {
    const declared = declaredIn(element, bound);
    const message = declarationProblem(element) ??
      nameProblem(element.name, "element", declared) ??
      attributesProblem(element, declared);
    if (message !== null) return { element, message };
    const inside = childrenProblem(element, declared);
    if (inside !== null) return inside;
  }
  return null;
}

function declaredIn({ attributes }: XmlElement, bound: Bindings): Bindings {
  let declared: Map<string, string> | undefined;
  for (const [name, value] of Object.entries(attributes)) {
    if (!name.startsWith("xmlns:")) continue;
    declared ??= new Map(bound);
    declared.set(name.slice("xmlns:".length), value);
  }
  return declared ?? bound;
}

function declarationProblem({ attributes }: XmlElement): string | null {
  for (const [name, value] of Object.entries(attributes)) {
    const isPrefix = name.startsWith("xmlns:");
    if (!isPrefix && name !== "xmlns") continue;
    const prefix = isPrefix ? name.slice("xmlns:".length) : "";
    const reserved = prefix === "xmlns" || value === XMLNS_NAMESPACE ||
      (prefix === "xml") !== (value === XML_NAMESPACE);
    if (reserved || (isPrefix && (value === "" || !isNcName(prefix)))) {
      return `The declaration ${shown(name)}="${shown(value)}" is one that ` +
        "Namespaces in XML 1.0 does not allow.";
    }
  }
  return null;
}

function attributesProblem(
  { attributes }: XmlElement,
  bound: Bindings,
): string | null {
  const seen = new Set<string>();
  for (const name in attributes) {
    if (name === "xmlns" || name.startsWith("xmlns:")) continue;
    const problem = nameProblem(name, "attribute", bound);
    if (problem !== null) return problem;
    const [prefix, local] = split(name);
    if (prefix === "") continue;
    const expanded = `${bound.get(prefix)} ${local}`;
    if (seen.has(expanded)) {
      return `The attribute ${shown(name)} appears here twice, with two ` +
        "prefixes of one namespace.";
    }
    seen.add(expanded);
  }
  return null;
}

function nameProblem(
  name: string,
  kind: "element" | "attribute",
  bound: Bindings,
): string | null {
  const [prefix, local] = split(name);
  if (!isNcName(local) || (name.includes(":") && !isNcName(prefix))) {
    return `The ${kind} name ${shown(name)} has a misplaced colon: ` +
      "a colon may only separate a prefix from a name.";
  }
  if (prefix === "" || bound.has(prefix)) return null;
  return `The prefix of the ${kind} ${shown(name)} is not bound here; ` +
    `declare it with xmlns:${shown(prefix)}="…" on this element or on one ` +
    "around it within <data>.";
}

function split(name: string): [prefix: string, local: string] {
  const colon = name.indexOf(":");
  return colon === -1
    ? ["", name]
    : [name.slice(0, colon), name.slice(colon + 1)];
}

/** Whether a text is valid before or after the colon of an XML name. */
function isNcName(part: string): boolean {
  return part !== "" && !part.includes(":") &&
    !/^[-.\d\u00b7\u0300-\u036f\u203f\u2040]/.test(part);
}

function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
