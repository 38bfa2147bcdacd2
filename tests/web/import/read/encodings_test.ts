/** Tables in the code pages that spreadsheet programs use. */
import { assertEquals } from "@std/assert";
import {
  decodeAs,
  type DecodedText,
  decodeText,
} from "../../../../src/web/import/read/encodings.ts";
import { tableOfFeed } from "../../../../src/web/import/read/feed.ts";
import { fileKindOf } from "../../../../src/web/import/read/kinds.ts";

/** All characters of a code page beyond ASCII, in the order of their bytes. */
function upperHalf(encoding: string): string {
  return Array.from(
    { length: 128 },
    (_, i) => decodeAs(Uint8Array.of(128 + i), encoding),
  ).join("");
}

function encoded(text: string, encoding: string): ArrayBuffer {
  const upper = upperHalf(encoding);
  return Uint8Array.from(text, (char) => {
    const code = char.charCodeAt(0);
    return code < 128 ? code : 128 + upper.indexOf(char);
  }).buffer;
}

const POLISH = "Nazwa;Opis\nKubek „Łódź”;Ceramika, średni\nŁyżka;Do sosów\n";
const CZECH = "Název;Popis\nHrnek žlutý;Kamenina, měkká\nŘetěz;Půvabný\n";
const GERMAN = "Bezeichnung\nBecher „Blau“, groß\nSchüssel für Öl, 5 m²\n";
const SWEDISH = "Benämning;Färg\nMugg;Blå\nGryta;Röd\n";
const FRENCH = "Désignation;État\nTable d’appoint;à neuf, 12 €\nChaîne;reçu\n";

for (
  const [text, encoding] of [
    [POLISH, "windows-1250"],
    [CZECH, "windows-1250"],
    ["Název\nHrnek\nŽlutý šálek\n", "windows-1250"],
    // Brands of other languages, and letters that are symbols in other code
    // pages.
    ["Tytuł;Farbe\nŚwiecznik;grün\n", "windows-1250"],
    ["Tytuł;Marka\nMiska żółta;Töpferei Müller\n", "windows-1250"],
    ["Název;Výrobce\nHrníček;Müller\n", "windows-1250"],
    ["Nazwa;Cecha\nMięśnie;jasność\n", "windows-1250"],
    ["Megnevezés\nErős, hűvös tűz\n", "windows-1250"],
    [GERMAN.replace(/[„“]/g, ""), "cp850"],
    [SWEDISH, "cp850"],
    [POLISH.replace(/[„”]/g, ""), "cp852"],
    [POLISH.replace(/[„”]/g, ""), "iso-8859-2"],
    [GERMAN.replace("²", ""), "macintosh"],
    [SWEDISH, "macintosh"],
    ["Название\nСиняя кружка\n", "windows-1251"],
  ] as const
) {
  Deno.test(`the page asks for the encoding of ${JSON.stringify(text)} in ${encoding} first`, () => {
    const bytes = encoded(text, encoding);
    assertEquals(decodeAs(bytes, encoding), text);
    const { all, likely } = decodeText(bytes).encodings!;
    assertEquals(all[0].name, encoding);
    assertEquals(likely > 1, true);
  });
}

for (
  const text of [
    GERMAN,
    SWEDISH,
    FRENCH,
    "Preis\n12,90 €\n",
    "Mått\nå\n",
    "Désignation\nŒuf en chœur, œdème, à 3 cm³\n",
    "Inhalt\n10 m³ Öl\n",
    "Descripción\n¿Existencias? ¡Sí!\nPlato de niño, 2 m²\n",
  ]
) {
  Deno.test(`${JSON.stringify(text)} in Windows-1252 is clear`, () => {
    const { all, likely } = decodeText(encoded(text, "windows-1252"))
      .encodings!;
    assertEquals([all[0].name, likely], ["windows-1252", 1]);
  });
}

Deno.test("Unicode needs no question; UTF-8 with a broken byte does", () => {
  const bytes = new TextEncoder().encode(POLISH);
  assertEquals(decodeText(bytes.buffer).encodings, null);
  assertEquals(
    decodeText(Uint8Array.of(0xff, 0xfe, 65, 0).buffer).encodings,
    null,
  );
  const broken = Uint8Array.of(...bytes, 0xff).buffer;
  assertEquals(decodeText(broken).encodings!.all[0].name, "utf-8");
});

Deno.test("words that encodings read differently are shown", () => {
  const bytes = encoded("Nazwa\nŁyżka\nTalerz głęboki\n", "cp852");
  const { all } = decodeText(bytes).encodings!;
  assertEquals(all[0], {
    name: "cp852",
    label: "Central European (DOS, CP852)",
    words: "Łyżka · głęboki",
  });
});

Deno.test("in a feed, Google's element wins over the feed's own", () => {
  const item = "<g:id>1</g:id><title>Buy now</title><g:title>Mug</g:title>";
  const table = tableOfFeed(
    `<rss xmlns:g="http://base.google.com/ns/1.0"><channel><item>${item}` +
      "<title>Buy</title></item></channel></rss>",
  );
  assertEquals(table?.rows, [["1", "Mug"]]);
});

function feed(declaration: string): string {
  return `${declaration}<rss xmlns:g="http://base.google.com/ns/1.0"><channel>
    <item><g:id>1</g:id><g:title>Łóżko, żółte</g:title></item></channel></rss>`;
}

function inUtf16(text: string, isLittle: boolean): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(2 * text.length));
  for (let i = 0; i < text.length; i++) {
    view.setUint16(2 * i, text.charCodeAt(i), isLittle);
  }
  return view.buffer;
}

const DECLARED = '<?xml version="1.0" encoding="ISO-8859-2"?>';
const IN_UTF_16 = '<?xml version="1.0" encoding="UTF-16"?>';
const FEEDS: Record<string, ArrayBuffer> = {
  "in what it declares": encoded(feed(DECLARED), "iso-8859-2"),
  "declared by a name of IBM": encoded(
    feed("<?xml version='1.0' encoding='IBM852'?>\n"),
    "cp852",
  ),
  "in UTF-16LE": inUtf16(`\ufeff${feed(IN_UTF_16)}`, true),
  "in UTF-16BE": inUtf16(`\ufeff${feed(IN_UTF_16)}`, false),
  "in UTF-16LE without a mark": inUtf16(feed(IN_UTF_16), true),
  "in UTF-16BE without a mark": inUtf16(feed(IN_UTF_16), false),
  "in UTF-8 that declares another": new TextEncoder().encode(feed(DECLARED))
    .buffer,
};

for (const [what, bytes] of Object.entries(FEEDS)) {
  Deno.test(`a feed ${what} is read without a question`, () => {
    const kind = fileKindOf("feed.xml", bytes);
    const { text, encodings } = (kind as { decoded: DecodedText }).decoded;
    assertEquals([kind.name, encodings], ["feed", null]);
    assertEquals(tableOfFeed(text)?.rows, [["1", "Łóżko, żółte"]]);
  });
}

for (
  const declaration of ["", '<?xml version="1.0" encoding="UTF-8"?>']
    .concat('<?xml version="1.0" encoding="unknown-1"?>')
) {
  Deno.test(`a feed in a code page other than ${declaration} is a question`, () => {
    const bytes = encoded(feed(declaration), "windows-1250");
    const kind = fileKindOf("feed.xml", bytes);
    const { encodings } = (kind as { decoded: DecodedText }).decoded;
    assertEquals(encodings!.all[0].name, "windows-1250");
    assertEquals(encodings!.likely > 1, true);
  });
}
