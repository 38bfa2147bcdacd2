/**
 * Detects the encoding of a table that is not Unicode, from the letters of the
 * table. A language has few letters beyond ASCII, and its words contain almost
 * no symbols.
 */

/** The letters beyond ASCII of each language of a group of code pages. */
const WESTERN = [
  "äöüßé",
  "åäöéü",
  "æøåéö",
  "éèêëàâçîïôùûüœæ",
  "áéíóúñüçªº",
  "àèéìòùî",
  "áâãàçéêíóôõú",
  "éëïöüèáíóú",
];
const CENTRAL = [
  "ąćęłńóśźż",
  "áčďéěíňóřšťúůýž",
  "áäčďéíľňóôšťúýž",
  "áéíóöőúüű",
  "čćđšž",
  "ăâîşţ",
]
  // Tables in these languages also contain the umlauts of German brand names.
  .map((letters) => `${letters}äöü`);
const EASTERN = ["абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ"];

interface CodePage {
  name: string;
  label: string;
  languages: readonly string[];
  /** The characters of bytes 128 to 255, if browsers do not know the code page. */
  upper?: string;
}

/** The code pages. Of several equally likely ones, the first is proposed. */
const CODE_PAGES: readonly CodePage[] = [
  {
    name: "windows-1252",
    label: "Western European (Windows-1252)",
    languages: WESTERN,
  },
  {
    name: "iso-8859-15",
    label: "Western European with €, œ and Š (ISO 8859-15)",
    languages: WESTERN,
  },
  {
    name: "windows-1250",
    label: "Central European (Windows-1250)",
    languages: CENTRAL,
  },
  {
    name: "iso-8859-2",
    label: "Central European (ISO 8859-2)",
    languages: CENTRAL,
  },
  {
    name: "cp850",
    label: "Western European (DOS, CP850)",
    languages: WESTERN,
    upper:
      "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0",
  },
  {
    name: "cp852",
    label: "Central European (DOS, CP852)",
    languages: CENTRAL,
    upper:
      "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0",
  },
  { name: "macintosh", label: "Western European (Mac)", languages: WESTERN },
  { name: "windows-1251", label: "Cyrillic (Windows)", languages: EASTERN },
  {
    name: "utf-8",
    label: "UTF-8, broken in places",
    languages: [...WESTERN, ...CENTRAL],
  },
];

/** A possible encoding of a text. */
export interface Encoding {
  name: string;
  label: string;
  /** Some words of the text, decoded with this encoding. */
  words: string;
}

/** The possible encodings of a text, the likeliest first. */
export interface Encodings {
  all: readonly Encoding[];
  /** The number of first encodings that are about equally likely. */
  likely: number;
}

/** The number of words that are examined. */
const WORDS_SAMPLED = 1_000;
/** The number of words that are shown to the user. */
const WORDS_SHOWN = 3;
/**
 * Windows-1252 is certain if this share of the letters belongs to one language,
 * and no other encoding is about equally likely.
 */
const ENOUGH = 0.9;
/** Encodings whose shares differ by less than this are about equally likely. */
const MARGIN = 0.1;

/** The text of a file, and the possible encodings if none of them is certain. */
export interface DecodedText {
  text: string;
  encodings: Encodings | null;
}

/** Decodes bytes as Unicode, as XML declares, or as their letters suggest. */
export function decodeText(bytes: ArrayBuffer): DecodedText {
  const start = latin1(bytes.slice(0, DECLARED_WITHIN));
  const inUnicode = UTF_16.find(({ begins }) => start.startsWith(begins))
    ?.name ?? (isIn(bytes, "utf-8") ? "utf-8" : null);
  const certain = inUnicode ?? declaredIn(start);
  if (certain !== null && isIn(bytes, certain)) {
    return { text: decodeAs(bytes, certain), encodings: null };
  }
  const encodings = encodingsOf(bytes);
  return { text: decodeAs(bytes, encodings.all[0].name), encodings };
}

/**
 * The start of UTF-16: a byte order mark, or an XML declaration (XML 1.0, F).
 */
const UTF_16 = [
  { begins: "\xff\xfe", name: "utf-16le" },
  { begins: "\xfe\xff", name: "utf-16be" },
  { begins: "<\0?\0", name: "utf-16le" },
  { begins: "\0<\0?", name: "utf-16be" },
];
const DECLARED_WITHIN = 200;

/** The encoding that XML declares; null if XML declares no known encoding. */
function declaredIn(start: string): string | null {
  const label = /^\s*<\?xml\b[^>]*\bencoding\s*=\s*["']([\w.:-]+)/
    .exec(start)?.[1];
  return label === undefined ? null : encodingNameOf(label);
}

/** The name of an encoding for `decodeAs`; null if it is unknown. */
function encodingNameOf(label: string): string | null {
  const ofDos = /^(?:ibm|cp)(85[02])$/i.exec(label)?.[1];
  if (ofDos !== undefined) return `cp${ofDos}`;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** Converts each byte to one character. */
export function latin1(bytes: ArrayBuffer): string {
  const codes = [...new Uint8Array(bytes)];
  return codes.map((code) => String.fromCharCode(code)).join("");
}

/** The possible encodings of bytes that are not Unicode. */
function encodingsOf(bytes: ArrayBuffer): Encodings {
  const words = wordBytesIn(bytes);
  const ranked = CODE_PAGES.map(({ name, label, languages }) => {
    const read = words.map((word) => decodeAs(word, name));
    const shown = read.slice(0, WORDS_SHOWN).join(" · ");
    const text = read.join("\n");
    return { name, label, words: shown, text, share: shareOf(text, languages) };
  }).sort((a, b) => b.share - a.share);
  const [best] = ranked;
  const isRival = ({ text, share }: typeof best) =>
    text !== best.text && share > best.share - MARGIN;
  const rivals = ranked.filter(isRival);
  const isClear = best.name === "windows-1252" && best.share >= ENOUGH &&
    rivals.length === 0;
  // Code pages that decode to the same text come last.
  const others = ranked.filter((one) => one !== best && !isRival(one))
    .sort((a, b) =>
      Number(a.text === best.text) - Number(b.text === best.text)
    );
  return {
    all: [best, ...rivals, ...others]
      .map(({ name, label, words }) => ({ name, label, words })),
    likely: isClear ? 1 : Math.max(2, 1 + rivals.length),
  };
}

/** Decodes bytes by the name of an encoding or code page. */
export function decodeAs(bytes: BufferSource, encoding: string): string {
  const upper = upperOf(encoding);
  if (upper === undefined) return new TextDecoder(encoding).decode(bytes);
  return new TextDecoder("x-user-defined").decode(bytes)
    .replace(/[\uf780-\uf7ff]/g, (char) => upper[char.charCodeAt(0) - 0xf780]);
}

/** The upper half of a code page, if browsers do not know it. */
function upperOf(encoding: string): string | undefined {
  return CODE_PAGES.find(({ name }) => name === encoding)?.upper;
}

function isIn(bytes: ArrayBuffer, encoding: string): boolean {
  if (upperOf(encoding) !== undefined) return true;
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The bytes of words with a character beyond ASCII. */
function wordBytesIn(bytes: ArrayBuffer): Uint8Array<ArrayBuffer>[] {
  const text = new TextDecoder("x-user-defined").decode(bytes);
  const found = new Map<string, Uint8Array<ArrayBuffer>>();
  const isWithin = (at: number) => /[^\x00-\x20,;"|<>]/.test(text[at] ?? " ");
  let to = 0;
  for (const { index } of text.matchAll(/[\uf780-\uf7ff]/g)) {
    if (index < to) continue;
    let from = index;
    while (index - from < 20 && from > to && isWithin(from - 1)) from--;
    for (to = index + 1; to - index < 20 && isWithin(to);) to++;
    found.set(text.slice(from, to), new Uint8Array(bytes, from, to - from));
    if (found.size === WORDS_SAMPLED) break;
  }
  return [...found.values()];
}

/** The largest share of characters beyond ASCII that fit one language. */
function shareOf(text: string, languages: readonly string[]): number {
  const signs = [...text.matchAll(/[^\x00-\x7f]/g)];
  const shares = languages.map((letters) =>
    signs.filter(({ index }) => isFit(text, index, letters)).length /
    signs.length
  );
  return shares.reduce((a, b) => Math.max(a, b), 0);
}

const LETTER = /\p{L}/u;
const CYRILLIC = /\p{Script=Cyrillic}/u;
/** Letters that are also words, such as `à` in French. */
const ALONE = "àåéèóв";
/** Characters that may be inside of words. */
const WITHIN = "’\u00a0";
const BEFORE = WITHIN + "„“”‘«»–—•·…µ×";
const BEHIND = BEFORE + "€£®©™°ªº½¼¾±§´";
/** Characters that open a sentence, so a capital letter follows. */
const OPENING = "¿¡";
/** Exponents of units, as in `m²`, which follow a letter. */
const EXPONENTS = "¹²³";
const UNITS = /[mtn]/i;
/** The end of a text that is a metre or a part of it, as before `³` in `cm³`. */
const METRES = /(?:^|[^\p{L}])[cdk]?m$/u;
/** French words with `œ`: `cœur`, `vœu`, `œil`, `œdème`. */
const LIGATURE = /^œ(?:[uit]|cu|d[eè]|no|s[ot])/i;

/** Whether a character beyond ASCII is plausible at an index, in a language. */
function isFit(text: string, index: number, letters: string): boolean {
  const [before = "", sign, behind = ""] = [
    text[index - 1],
    text[index],
    text[index + 1],
  ];
  const [isBefore, isBehind] = [before, behind].map((one) => LETTER.test(one));
  if (!LETTER.test(sign)) {
    if (OPENING.includes(sign)) return !isBefore && !isLower(behind);
    if (EXPONENTS.includes(sign)) {
      return !isBehind && (!isBefore || UNITS.test(before));
    }
    const fit = isBefore && isBehind ? WITHIN : isBehind ? BEFORE : BEHIND;
    return fit.includes(sign);
  }
  const isCapitalWithin = !isLower(sign) && isBefore &&
    (isLower(before) || isLower(behind));
  const isOfTwoScripts = CYRILLIC.test(sign) && /[a-z]/i.test(before + behind);
  const isMisread = /œ/i.test(sign)
    ? !LIGATURE.test(text.slice(index, index + 3))
    // `ł` after `m` is the `³` of `m³`, decoded by the wrong code page.
    : sign === "ł" && !isBehind &&
      METRES.test(text.slice(Math.max(0, index - 3), index));
  return letters.includes(sign.toLowerCase()) && !isCapitalWithin &&
    !isOfTwoScripts && !isMisread &&
    (isBefore || isBehind || ALONE.includes(sign));
}

function isLower(letter: string): boolean {
  return letter !== letter.toUpperCase();
}
