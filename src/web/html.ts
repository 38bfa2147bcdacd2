/** HTML as text. The service stores text: tags would be shown to customers. */

const TAG =
  /<\/?(?:a|b|br|div|em|font|h[1-6]|i|img|li|ol|p|span|strong|table|td|th|tr|u|ul)[\s\/>]/i;
const ENTITY = /&(?:nbsp|amp|lt|gt|quot|#\d{1,7}|[a-z]{4,8});/i;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  aring: "å",
  Aring: "Å",
  eacute: "é",
  egrave: "è",
  agrave: "à",
  ccedil: "ç",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  euro: "€",
  deg: "°",
  bull: "•",
};

/** Whether a text is HTML. */
export function isHtml(text: string): boolean {
  return TAG.test(text) || ENTITY.test(text);
}

/** Its text: paragraphs and entries of lists have lines of their own. */
export function textOfHtml(html: string): string {
  return html
    .replace(/\s+/g, " ")
    .replace(/<(?:br|\/p|\/div|\/h[1-6]|\/ul|\/ol|\/li|\/tr)\b[^<>]*>/gi, "\n")
    .replace(/<li\b[^<>]*>/gi, "– ")
    .replace(/<[a-z/!][^<>]*>/gi, "")
    .replace(
      /&(#\d{1,7}|[a-z]{2,8});/gi,
      (whole, name: string) =>
        name.startsWith("#") ? character(Number(name.slice(1))) : Object
            .hasOwn(ENTITIES, name)
          ? ENTITIES[name]
          : whole,
    )
    .split("\n").map((line) => line.trim()).filter(Boolean).join("\n");
}

function character(code: number): string {
  return code > 0x10ffff ? "" : String.fromCodePoint(code);
}
