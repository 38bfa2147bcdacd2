/** Generated documents of products, with and without mistakes. */
import type { DetailCode } from "../../src/lib/errors.ts";
import type { Random } from "../support/random.ts";

/** The place and kind of a mistake, as a detail must report it. */
export interface Mistake {
  product: number;
  line: number;
  field: string;
  code: DetailCode;
}

export interface Generated {
  xml: string;
  /** In document order. */
  mistakes: Mistake[];
}

/** Lines that are valid, except for what depends on stored products. */
const GOOD: readonly string[] = [
  "<title> A &amp; <![CDATA[<b>]]> </title>",
  "<description><![CDATA[<p>\u{1F600}]]>&#13;]]&gt;</description>",
  "<price currency='SEK'>0199.00</price>",
  "<quantity><!-- five -->5</quantity>",
  "<vat_rate>12.5</vat_rate>",
  "<brand/>",
  "<mpn\n\r\n>M&#x2d;1</mpn>",
  "<gtin>4006381333931</gtin>",
  "<status>paused</status>",
  "<categories><category>a</category><category>b</category></categories>",
  '<attributes ><attribute name="&#34;">\u2028x</attribute></attributes>',
  "<images><image alt=''>http://127.0.0.1:1025/a.png</image></images>",
];

/**
 * One mistake each: its text, its field, its code, and how many lines further
 * down it is.
 */
const BAD: readonly (readonly [string, string, DetailCode, number?])[] = [
  ["<titel>x</titel>", "titel", "unknown_element"],
  ["<Sku>x</Sku>", "Sku", "unknown_element"],
  ["<__proto__>x</__proto__>", "__proto__", "unknown_element"],
  ["<constructor/>", "constructor", "unknown_element"],
  ["<x:title>x</x:title>", "x:title", "unknown_element"],
  ["<availability/>", "availability", "required"],
  ["<availability>yes</availability>", "availability", "not_in_list"],
  ["<id> </id>", "id", "required"],
  [
    "<compare_at_price>1,5</compare_at_price>",
    "compare_at_price",
    "not_a_number",
  ],
  [
    "<compare_at_price>1e3</compare_at_price>",
    "compare_at_price",
    "not_a_number",
  ],
  [
    "<compare_at_price>0.0</compare_at_price>",
    "compare_at_price",
    "out_of_range",
  ],
  ["<available_at>2026-02-30</available_at>", "available_at", "not_a_date"],
  ["<condition>neu</condition>", "condition", "not_in_list"],
  ["<parent_sku>..</parent_sku>", "parent_sku", "not_allowed"],
  ["<parent_sku>a&#9;b</parent_sku>", "parent_sku", "not_one_line"],
  [`<parent_sku>${"x".repeat(65)}</parent_sku>`, "parent_sku", "too_long"],
  [
    "<categories\n>\r\n<category>a</category>\r<category\n/></categories>",
    "categories/category[2]",
    "required",
    3,
  ],
  [
    "<attributes>\n<attribute\n name='a'>1</attribute>\n" +
    "<attribute name='a'>2</attribute></attributes>",
    "attributes/attribute[2]",
    "repeated_value",
    3,
  ],
  [
    "<images>\r<image>ftp://a.example/a.png</image></images>",
    "images/image[1]",
    "bad_url",
    1,
  ],
  ["<condition toString='1'/>", "condition/@toString", "unknown_attribute"],
  ["<parent_sku><b>x</b></parent_sku>", "parent_sku/b", "unknown_element"],
];

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)];
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  return list.map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at).map(({ item }) => item);
}

/** The text of a product and, if it has one, its mistake. */
interface Part {
  text: string;
  field?: string;
  code?: DetailCode;
  below?: number;
}

function productParts(random: Random, sku: string): Part[] {
  const good = shuffled(random, GOOD).slice(0, random.below(GOOD.length));
  const bad = shuffled(random, BAD).slice(0, random.below(4));
  return withRepetitions(shuffled<Part>(random, [
    { text: `<sku>${sku}</sku>` },
    ...good.map((text) => ({ text })),
    ...bad.map(([text, field, code, below]) => ({ text, field, code, below })),
  ]));
}

/** For a known element that is repeated, nothing else is reported. */
function withRepetitions(parts: readonly Part[]): Part[] {
  const seen = new Set<string>();
  return parts.map((part) => {
    const { text, field, code } = part;
    const name = /^<([^\s/>]+)/.exec(text)![1];
    if (field === name && code === "unknown_element") return part;
    if (seen.has(name)) return { text, field: name, code: "repeated_element" };
    seen.add(name);
    return part;
  });
}

/** A document with line ends of every kind, comments, and mistakes. */
export function generateDocument(random: Random): Generated {
  const mistakes: Mistake[] = [];
  let line = 1;
  let xml = "";
  const put = (text: string) => {
    const comment = random.below(3) === 0 ? "<!-- & \r -->\r\n" : "";
    xml += text + comment + pick(random, ["\n", "\r\n", "\r"]);
    line += text.split(/\r\n|\r|\n/).length + (comment === "" ? 0 : 2);
    xml += " ".repeat(random.below(3));
  };
  put(pick(random, ["<?xml version='1.0'?><products>", "<products>"]));
  const count = 1 + random.below(6);
  for (let product = 1; product <= count; product++) {
    put("<product>");
    for (const part of productParts(random, `S-${product}`)) {
      const { text, field, code, below = 0 } = part;
      if (field !== undefined && code !== undefined) {
        mistakes.push({ product, line: line + below, field, code });
      }
      put(text);
    }
    put("</product>");
  }
  return { xml: `${xml}</products>`, mistakes };
}

/** Characters that readers may get wrong; XML allows all of them. */
const CHARACTERS = [
  ..."aZ0 <>&\"'\t\n\r;#]-",
  "]]>",
  "-->",
  "&amp;",
  "\u007f\u0085\u00a0\u00e9e\u0301\u2028\u202e\ud7ff\ue000\ufeff\ufffd",
  "\u{10000}\u{1F600}\u{10FFFF}",
];

export function generateText(random: Random, pieces = 30): string {
  let text = "";
  for (let n = random.below(pieces); n > 0; n--) {
    text += pick(random, CHARACTERS);
  }
  return text;
}

/** A text as XML, with each character in a random spelling. */
export function spell(random: Random, text: string): string {
  return [...text].map((char) => {
    const code = char.codePointAt(0)!;
    const spellings = [`&#${code};`, `&#x${code.toString(16)};`];
    if (char !== "\r") spellings.push(`<![CDATA[${char}]]>`);
    if (!"<&>\r".includes(char)) spellings.push(char, char, char);
    return pick(random, spellings);
  }).join("");
}

const TOKENS = [
  ..."<>&\"'/=;:!?-[]#\u0000\n\r\t ",
  "]]>",
  "<![CDATA[",
  "<!--",
  "-->",
  "--",
  "<?xml version='1.0'?>",
  "<?xml version='1.1' encoding='utf-16'?>",
  "<?x y?>",
  "<!DOCTYPE a [<!ENTITY x 'y'>]>",
  "&x;",
  "&#0;",
  "&#xD800;",
  "&#x110000;",
  "&#99999999999999999999;",
  "&lt;",
  "&nbsp;",
  "\ufeff",
  "\uffff",
  "</product>",
  "<product>",
  "<product/>",
  "</products>",
  " a='1'",
  " xmlns:a=''",
  "<a:b xmlns:a='x'>",
  "<images><image>",
].map((token) => new TextEncoder().encode(token));

/** Invalid UTF-8: a stray byte, an overlong form, a surrogate, too high. */
const BROKEN = [
  [0x80],
  [0xff],
  [0xc3],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
].map((bytes) => Uint8Array.from(bytes));

/** One to four changes: cut, insert, repeat, replace. */
export function mutate(
  random: Random,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  let changed = new Uint8Array(bytes);
  for (let n = 1 + random.below(4); n > 0; n--) {
    const from = random.below(changed.length + 1);
    const to = Math.min(changed.length, from + random.below(12));
    const inserted = random.below(8) === 0
      ? pick(random, BROKEN)
      : random.below(3) === 0
      ? changed.slice(to, to + random.below(60))
      : pick(random, TOKENS);
    const kept = random.below(2) === 0 ? from : to;
    changed = Uint8Array.from([
      ...changed.subarray(0, from),
      ...(random.below(4) === 0 ? [] : inserted),
      ...changed.subarray(kept),
    ]);
  }
  return changed;
}
