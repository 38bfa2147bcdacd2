/** Reads and writes XML with the browser's own parser and serialiser. */

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createHTML(text: string): string },
  ): { createHTML(text: string): string };
}

/**
 * The page's CSP blocks text where markup could run. A parsed XML document is
 * never executed or inserted, so this policy, the only one that the CSP allows,
 * passes text to that parser.
 */
const policy = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes
  ?.createPolicy("xml", { createHTML: (text) => text });

/** Returns the root element; null if the text is not well-formed XML. */
export function parseXml(text: string): Element | null {
  const document = new DOMParser().parseFromString(
    policy?.createHTML(text) ?? text,
    "text/xml",
  );
  const broken = document.getElementsByTagName("parsererror").length > 0;
  return broken ? null : document.documentElement;
}

/** Child elements with this name, in order. */
export function childrenOf(element: Element | null, name: string): Element[] {
  return [...element?.children ?? []].filter((one) => one.tagName === name);
}

/** The first element at a path such as `products/total`, or null. */
export function find(element: Element | null, path: string): Element | null {
  let found = element;
  for (const name of path.split("/")) {
    found = childrenOf(found, name)[0] ?? null;
  }
  return found;
}

/**
 * Text of the first element at a path; null if there is none or it is empty.
 */
export function textOf(element: Element | null, path: string): string | null {
  return find(element, path)?.textContent || null;
}

/** The number in the first element at a path; 0 if there is none. */
export function numberOf(element: Element | null, path: string): number {
  return Number(textOf(element, path) ?? 0);
}

/** `<root>` with one text element for each entry. */
export function flatDocument(
  root: string,
  fields: Readonly<Record<string, string>>,
): string {
  const made = document.implementation.createDocument(null, root);
  for (const [name, text] of Object.entries(fields)) {
    const field = made.createElementNS(null, name);
    field.textContent = text;
    made.documentElement.append(field);
  }
  return new XMLSerializer().serializeToString(made);
}
