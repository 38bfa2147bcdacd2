/** Which product a picture shows, by the names of its file and folders. */
import { assert, assertEquals } from "@std/assert";
import {
  comparePositions,
  otherSpellings,
  skuCandidates,
  SkuIndex,
} from "../../src/web/pictures/matching.ts";
import { Random } from "../support/random.ts";

/** The SKUs of a shop, some of which begin with others. */
const SKUS = [
  "MUG",
  "MUG-1",
  "MUG-1-2",
  "MUG-11",
  "TÜR 5",
  "A/12",
  "B.7",
  "4711",
  "4711b",
  "RED_SHOE",
  "abc 123",
  "Größe-M",
  "1",
  "X-9",
  "x_9",
  "4006381333931",
];

/** The SKUs that each path names. */
const NAMES: readonly (readonly [path: string, ...skus: string[]])[] = [
  ["MUG-1.jpg", "MUG-1"],
  ["MUG-1.JPEG", "MUG-1"],
  ["mug-1.jpg", "MUG-1"],
  ["MUG-1-back.png", "MUG-1"],
  ["MUG-1-front.webp", "MUG-1"],
  ["MUG-1 (3).jpg", "MUG-1"],
  ["MUG-1 - Kopie.jpg", "MUG-1"],
  ["Mug-1 Rückseite.jpg", "MUG-1"],
  // The longest SKU counts, unless another separator follows a shorter one.
  ["MUG-1-2.jpg", "MUG-1-2"],
  ["MUG-1-2_3.jpg", "MUG-1-2"],
  ["MUG-1_2.jpg", "MUG-1"],
  ["MUG-11.jpg", "MUG-11"],
  ["MUG-11-1.jpg", "MUG-11"],
  ["MUG11.jpg", "MUG-11"],
  ["MUG-12.jpg", "MUG"],
  ["MUG12.jpg"],
  ["MUGS.jpg"],
  // Both are possible: the first picture of MUG, or MUG-1.
  ["MUG_1.jpg", "MUG-1", "MUG"],
  ["mug 11.jpg", "MUG-11", "MUG"],
  // Umlauts as macOS writes them, with accents apart or as two letters.
  ["TÜR 5.jpg".normalize("NFD"), "TÜR 5"],
  ["tür-5-rückseite.jpg".normalize("NFD"), "TÜR 5"],
  ["Tuer_5.jpg", "TÜR 5"],
  ["TUR 5 2.jpg", "TÜR 5"],
  ["groesse-m_1.jpg", "Größe-M"],
  // Characters that a file name cannot have.
  ["A_12.jpg", "A/12"],
  ["a-12-seite.jpg", "A/12"],
  ["A 12.jpg", "A/12"],
  ["B.7.jpg", "B.7"],
  ["B_7_2.jpg", "B.7"],
  // A letter or a view after the digits of a SKU.
  ["4711.jpg", "4711"],
  ["4711a.jpg", "4711"],
  ["4711b.jpg", "4711b"],
  ["4711front.jpg", "4711"],
  ["47110.jpg"],
  ["red shoe 2.jpg", "RED_SHOE"],
  ["red-shoe.jpg", "RED_SHOE"],
  ["ABC123-2.jpg", "abc 123"],
  ["abc_123.jpg", "abc 123"],
  // Two SKUs that differ by their separator alone.
  ["X-9.jpg", "X-9"],
  ["x_9.jpg", "x_9"],
  ["X 9.jpg", "X-9", "x_9"],
  // A SKU after other words needs a digit, and more than the number of a view.
  ["Becher blau MUG-1.jpg", "MUG-1"],
  ["web_4006381333931_2.jpg", "4006381333931"],
  ["becher 1.jpg"],
  ["becher mug.jpg"],
  ["1.jpg", "1"],
  ["1-2.jpg", "1"],
  // Names that a camera gives.
  ["IMG_4711.jpg"],
  ["DSC04711.JPG"],
  ["IMG_1234.jpg"],
  ["WhatsApp Image 2026-01-05 at 4711.jpeg"],
  ["PXL_20260105_4711.jpg"],
  // Folders.
  ["fotos/MUG-1/IMG_0001.jpg", "MUG-1"],
  ["MUG-1/1.jpg", "MUG-1"],
  ["4711/1.jpg", "4711"],
  ["MUG-1/front/1.jpg", "MUG-1"],
  ["MUG-1 Becher/IMG_1.jpg", "MUG-1"],
  ["4006381333931/MUG-1.jpg", "4006381333931"],
  ["MUG/MUG-1.jpg", "MUG-1"],
  ["X-9/4711/1.jpg", "4711"],
  ["TÜR 5/1.jpg".normalize("NFD"), "TÜR 5"],
  ["A/12.jpg"],
  // Nothing at all.
  ["", ...[]],
  [".jpg"],
  ["---.jpg"],
];

for (const [path, ...skus] of NAMES) {
  Deno.test(`the picture "${path}" shows ${skus.join(" or ") || "nothing known"}`, () => {
    assertEquals(
      new SkuIndex(SKUS).match(path).skus.toSorted(),
      skus.toSorted(),
    );
  });
}

function sorted(...names: string[]): string[] {
  const index = new SkuIndex(["M", "M-77"]);
  return names.map((path) => ({ path, ...index.match(path) }))
    .sort(comparePositions).map(({ path }) => path);
}

for (
  const [about, ...names] of [
    ["numbers", "M.jpg", "M-1.jpg", "M-2.jpg", "M-10.jpg"],
    ["numbers with zeros", "M-01.jpg", "M-02.jpg", "M-10.jpg"],
    ["views", "M-front.jpg", "M-back.jpg", "M-side.jpg", "M-detail.jpg"],
    ["a main picture", "M-main.jpg", "M-1.jpg", "M-back.jpg"],
    [
      "German views",
      "M vorne.jpg",
      "M Rückseite.jpg",
      "M Seite.jpg",
      "M oben.jpg",
      "M Detail.jpg",
      "M Verpackung.jpg",
    ],
    ["Swedish views", "M framsida.jpg", "M baksida.jpg", "M närbild.jpg"],
    ["French views", "M-devant.jpg", "M-arrière.jpg", "M-côté.jpg"],
    ["Polish views", "M przód.jpg", "M tył.jpg", "M szczegół.jpg"],
    ["views with numbers", "M-front-2.jpg", "M-back-1.jpg", "M-back-2.jpg"],
    ["numbers with views", "M-1-back.jpg", "M-2-front.jpg"],
    ["letters", "M-77a.jpg", "M-77b.jpg", "M-77c.jpg"],
    ["words for a picture", "M-bild1.jpg", "M-Foto 2.jpg", "M_image-3.jpg"],
    ["sizes in pixels", "M-1-1200x800.jpg", "M-2-300x200.jpg"],
    ["colours", "M-blau-front.jpg", "M-blau-back.jpg", "M-rot-front.jpg"],
    ["a camera in a folder", "M-77/IMG_9.jpg", "M-77/IMG_10.jpg"],
    ["equal places by their paths", "a/M-1.jpg", "b/M-1.jpg"],
  ]
) {
  Deno.test(`pictures are sorted: ${about}`, () => {
    assertEquals(sorted(...names.toReversed()), names);
  });
}

Deno.test("SKUs without a letter or digit, or repeated ones, match nothing", () => {
  const index = new SkuIndex(["--", "", "MUG-1", "MUG-1"]);
  assertEquals(index.match("--.jpg").skus, []);
  assertEquals(index.match("MUG-1.jpg").skus, ["MUG-1"]);
});

Deno.test("a search looks for the SKUs that a name may contain", () => {
  assertEquals(skuCandidates("fotos/MUG-1_back.jpg"), [
    "MUG",
    "MUG-1",
    "MUG-1_back",
    "1_back",
    "fotos",
  ]);
  assertEquals(skuCandidates("IMG_1234.jpg"), ["IMG_1234"]);
  assert(otherSpellings("mug_1").includes("MUG-1"));
  assert(otherSpellings("mug_1").includes("MUG1"));
});

const LETTERS = "ABCKMÄÖ";
const SEPARATORS = ["-", "_", " ", "."];

function between(random: Random, least: number, most: number): number {
  return least + random.below(most - least + 1);
}

function pick<T>(random: Random, all: readonly T[]): T {
  return all[random.below(all.length)];
}

function randomWord(random: Random): string {
  const length = between(random, 1, 3);
  const texts = random.next() < 0.4
    ? Array.from({ length }, () => `${random.below(10)}`)
    : Array.from({ length }, () => pick(random, [...LETTERS]));
  return texts.join("");
}

function randomSku(random: Random): string {
  const words = Array.from(
    { length: between(random, 1, 3) },
    () => randomWord(random),
  );
  return words.join(pick(random, SEPARATORS));
}

/** The words of a text, which no spelling changes. */
function wordsOf(text: string): string {
  const words = text.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "")
    .split(/[^a-z0-9]+/);
  return ` ${words.join(" ").trim()} `;
}

Deno.test("a picture named by its SKU and a view goes to that SKU or asks", () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const random = new Random(seed);
    const skus = [
      ...new Set(
        Array.from({ length: between(random, 1, 12) }, () => randomSku(random)),
      ),
    ];
    const index = new SkuIndex(skus);
    const sku = pick(random, skus);
    const name = `${sku.normalize(pick(random, ["NFC", "NFD"]))}_front.jpg`;
    const { skus: found } = index.match(name);
    // Nothing but the front of a picture follows, so no SKU can be longer.
    assert(
      found.includes(sku),
      `seed ${seed}: ${name} among ${skus}: ${found}`,
    );
    const others = found.filter((other) => wordsOf(other) !== wordsOf(sku));
    assertEquals(others, [], `seed ${seed}: ${name} among ${skus}`);
  }
});

Deno.test("a SKU is found only in names that have its words", () => {
  for (let seed = 0; seed < 2_000; seed++) {
    const random = new Random(seed);
    const skus = Array.from({ length: 20 }, () => randomSku(random));
    const index = new SkuIndex(skus);
    const name = Array.from({ length: 3 }, () => randomWord(random))
      .join(pick(random, SEPARATORS));
    for (const sku of index.match(`${name}.jpg`).skus) {
      const joined = (text: string) => wordsOf(text).replaceAll(" ", "");
      assert(
        joined(name).includes(joined(sku)),
        `seed ${seed}: ${name} shows no ${sku}`,
      );
    }
  }
});

Deno.test("the order of pictures does not depend on the order of their names", () => {
  const parts = [
    "",
    "-1",
    "-2",
    "-10",
    "-front",
    "-back",
    " a",
    "-rot 2",
    "_x",
  ];
  for (let seed = 0; seed < 200; seed++) {
    const random = new Random(seed);
    const names = Array.from(
      { length: 8 },
      () => `M${pick(random, parts)}${pick(random, parts)}.jpg`,
    );
    const order = sorted(...names);
    assertEquals(sorted(...order.toReversed()), order, `seed ${seed}`);
  }
});

Deno.test("of very long names the beginning is read", () => {
  const index = new SkuIndex(["MUG-1"]);
  const long = "-a".repeat(50_000);
  assertEquals(index.match(`MUG-1${long}.jpg`).skus, ["MUG-1"]);
  assertEquals(index.match(`a${long}MUG-1.jpg`).skus, []);
  assertEquals(index.match(`MUG-1/${"a/".repeat(9)}1.jpg`).skus, []);
});
