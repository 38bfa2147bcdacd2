/**
 * Converts HTML to text. The service stores text, so customers would see the
 * tags of HTML.
 */

const TAG =
  /<\/?(?:a|b|br|div|em|font|h[1-6]|i|img|li|ol|p|span|strong|table|td|th|tr|u|ul)[\s\/>]/i;
const ENTITY =
  /&(?:amp|lt|gt|quot|#\d{1,7}|#x[\da-f]{1,6}|[a-z]{3,8}|[a-z]{3,4}\d{1,2});/i;
/** The entity names of the characters from U+00A0 to U+00FF, in order. */
const LATIN_1 =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml"
    .split(" ");
const ENTITIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    LATIN_1.map((name, i) => [name, String.fromCodePoint(0xa0 + i)]),
  ),
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  lsquo: "‘",
  rsquo: "’",
  sbquo: "‚",
  ldquo: "“",
  rdquo: "”",
  bdquo: "„",
  hellip: "…",
  euro: "€",
  bull: "•",
  trade: "™",
};

/** Whether a text contains tags or entities of HTML. */
export function isHtml(text: string): boolean {
  return TAG.test(text) || ENTITY.test(text);
}

/** Converts HTML to text with one line for each paragraph and list entry. */
export function textOfHtml(html: string): string {
  const text = withoutTags(html);
  // Some programs escape the tags of their HTML, which needs two conversions.
  return !TAG.test(html) && TAG.test(text) ? textOfHtml(text) : text;
}

function withoutTags(html: string): string {
  const lines = html
    .replace(/\s+/g, " ")
    .replace(/<(?:br|\/p|\/div|\/h[1-6]|\/ul|\/ol|\/li|\/tr)\b[^<>]*>/gi, "\n")
    .replace(/<li\b[^<>]*>/gi, "– ")
    .replace(/<[a-z/!][^<>]*>/gi, "");
  return withoutEntities(lines)
    .split("\n").map((line) => line.trim()).filter(Boolean).join("\n");
}

/** Replaces the entities in a text by their characters. */
export function withoutEntities(text: string): string {
  return text.replace(
    /&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8}\d{0,2});/gi,
    (whole, name: string) =>
      name.startsWith("#")
        ? character(Number(name.slice(1).replace(/^x/i, "0x")))
        : Object.hasOwn(ENTITIES, name)
        ? ENTITIES[name]
        : whole,
  );
}

function character(code: number): string {
  return code > 0x10ffff ? "" : String.fromCodePoint(code);
}
