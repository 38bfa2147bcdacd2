/** Escapes text for an element or an attribute in double quotes. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

const NAMED: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
};

/** Resolves references; unknown ones are left unchanged. */
export function unescaped(text: string): string {
  return text.replace(
    /&(?:#x([\da-fA-F]+)|#(\d+)|(\w+));/g,
    (all, hex, digits, name) => {
      if (name !== undefined) return NAMED[name] ?? all;
      const point = hex ? parseInt(hex, 16) : Number(digits);
      return point > 0x10ffff ? all : String.fromCodePoint(point);
    },
  );
}

/**
 * Characters that XML 1.0 does not allow even as a reference (its `Char` rule).
 */
export const FORBIDDEN_IN_XML =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
