/** Tables of the code pages that spreadsheet programs save. */
import { assertEquals } from "@std/assert";
import { decoded, encodingsOf } from "../../src/web/encodings.ts";

/** All signs of a code page beyond ASCII, in the order of their bytes. */
function upperHalf(encoding: string): string {
  return Array.from(
    { length: 128 },
    (_, i) => decoded(Uint8Array.of(128 + i), encoding),
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
  Deno.test(`${JSON.stringify(text)} in ${encoding} is asked for first`, () => {
    const bytes = encoded(text, encoding);
    assertEquals(decoded(bytes, encoding), text);
    const { all, likely } = encodingsOf(bytes)!;
    assertEquals(all[0].name, encoding);
    assertEquals(likely > 1, true);
  });
}

for (const text of [GERMAN, SWEDISH, FRENCH, "Preis\n12,90 €\n", "Mått\nå\n"]) {
  Deno.test(`${JSON.stringify(text)} in Windows-1252 is clear`, () => {
    const { all, likely } = encodingsOf(encoded(text, "windows-1252"))!;
    assertEquals([all[0].name, likely], ["windows-1252", 1]);
  });
}

Deno.test("Unicode is no question, and UTF-8 with a broken byte is one", () => {
  const bytes = new TextEncoder().encode(POLISH);
  assertEquals(encodingsOf(bytes.buffer), null);
  assertEquals(encodingsOf(Uint8Array.of(0xff, 0xfe, 65, 0).buffer), null);
  const broken = Uint8Array.of(...bytes, 0xff).buffer;
  assertEquals(encodingsOf(broken)!.all[0].name, "utf-8");
});

Deno.test("words that encodings read differently are shown", () => {
  const { all } = encodingsOf(
    encoded("Nazwa\nŁyżka\nTalerz głęboki\n", "cp852"),
  )!;
  assertEquals(all[0], {
    name: "cp852",
    label: "Central European (DOS, CP852)",
    words: "Łyżka · głęboki",
  });
});
