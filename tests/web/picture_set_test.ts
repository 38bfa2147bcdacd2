/** Chosen pictures: their kinds, their products, and the cells they go into. */
import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { picture } from "../../src/sandbox/pictures.ts";
import { IMAGE_TYPES } from "../../src/images/image_types.ts";
import { mappingFor } from "../../src/web/import/columns/spreadsheet.ts";
import {
  type MappedTable,
  withCellsChanged,
} from "../../src/web/import/columns/sheet.ts";
import {
  imagesOfRow,
  pictureChanges,
  rowsBySku,
  withPictureColumn,
} from "../../src/web/import/picture_rows.ts";
import { kindOfFile } from "../../src/web/pictures/kinds.ts";
import { SkuIndex } from "../../src/web/pictures/matching.ts";
import { isReducible, sizeWithin } from "../../src/web/pictures/resizing.ts";
import {
  assignPictures,
  type Choices,
  imagesAfter,
  NO_CHOICES,
  type Picture,
  picturesIn,
  withChosenProduct,
  withinImageLimit,
  withPictureMovedForward,
  withPictures,
} from "../../src/web/pictures/set.ts";
import { runUninterrupted } from "../../src/web/lib/slices.ts";

const bytes = (text: string) =>
  Uint8Array.from(text, (one) => one.charCodeAt(0));

for (const type of IMAGE_TYPES) {
  Deno.test(`a picture of type ${type} is known whatever its name is`, () => {
    assertEquals(kindOfFile("a.txt", picture(`a.${type}`)!), {
      name: "picture",
      type,
    });
  });
}

for (
  const [path, head, why] of [
    ["a.heic", "\0\0\0\x18ftypheic", /HEIF or HEIC/],
    ["IMG_1.HEIC", "?", /HEIF or HEIC/],
    ["a.jpg", "II*\0", /TIFF image/],
    ["a.psd", "8BPS", /Photoshop/],
    ["a.pdf", "%PDF-1.4", /PDF/],
    ["a.mov", "?", /a video/],
    ["a.zip", "PK", /unpack it first/],
    ["a.svg", "<svg", /SVG image/],
    ["a.jpg", "", /empty/],
    ["a.jpg", "<html>", /not a picture/],
    ["notes.txt", "hello", /not a picture/],
  ] as const
) {
  Deno.test(`${path} that begins with ${JSON.stringify(head)} is named`, () => {
    const kind = kindOfFile(path, bytes(head));
    assertEquals(kind.name, "unsent");
    assertMatch(kind.name === "unsent" ? kind.why : "", why);
  });
}

for (
  const path of [
    "Thumbs.db",
    "shop/Thumbs.db",
    ".DS_Store",
    "a/b/.DS_Store",
    "desktop.ini",
    "._MUG-1.jpg",
    "__MACOSX/MUG-1.jpg",
    "shop/__MACOSX/a/MUG-1.jpg",
  ]
) {
  Deno.test(`${path} is a file of the operating system`, () => {
    assertEquals(kindOfFile(path, bytes("\xff\xd8\xff")).name, "system file");
  });
}

Deno.test("tables and documents may contain products", () => {
  for (const path of ["a.csv", "b.XLSX", "c.xml", "d.json", "e.ods"]) {
    assertEquals(kindOfFile(path, bytes("SKU;Title")).name, "products");
  }
});

function chosen(...paths: string[]): Picture[] {
  return withPictures(
    [],
    paths.map((path) => ({
      path,
      type: "jpeg" as const,
      file: new File([path], path, { lastModified: 1 }),
    })),
  );
}

function assignment(
  pictures: readonly Picture[],
  choices: Choices = NO_CHOICES,
  only: string | null = null,
) {
  const index = new SkuIndex(["MUG", "MUG-1", "BOWL"]);
  const made = runUninterrupted(assignPictures(pictures, index, choices, only));
  const paths = (some: readonly Picture[]) => some.map(({ path }) => path);
  return {
    groups: made.groups.map(({ sku, pictures, tooMany }) =>
      [sku, paths(pictures), paths(tooMany)] as const
    ),
    unmatched: made.unmatched.map(({ picture, skus }) =>
      [picture.path, ...skus] as const
    ),
    leftOut: paths(made.leftOut),
    made,
  };
}

Deno.test("each picture goes to its product, in order; others are listed", () => {
  const pictures = chosen("MUG-1-2.jpg", "BOWL.jpg", "MUG-1.jpg", "IMG_1.jpg");
  const { groups, unmatched } = assignment(pictures);
  assertEquals(groups, [
    ["BOWL", ["BOWL.jpg"], []],
    ["MUG-1", ["MUG-1.jpg", "MUG-1-2.jpg"], []],
  ]);
  assertEquals(unmatched, [["IMG_1.jpg"]]);
});

Deno.test("what a person decides counts more than the name", () => {
  const pictures = chosen("MUG-1-2.jpg", "MUG-1.jpg", "IMG_1.jpg", "MUG_1.jpg");
  assertEquals(assignment(pictures).unmatched, [
    ["IMG_1.jpg"],
    ["MUG_1.jpg", "MUG-1", "MUG"],
  ]);
  const [second, first, unknown, either] = pictures;
  let choices = withChosenProduct(NO_CHOICES, unknown, "BOWL");
  choices = withChosenProduct(choices, either, "MUG");
  choices = withChosenProduct(choices, second, null);
  const decided = assignment(pictures, choices);
  assertEquals(decided.groups.map(([sku, paths]) => [sku, paths]), [
    ["BOWL", ["IMG_1.jpg"]],
    ["MUG", ["MUG_1.jpg"]],
    ["MUG-1", ["MUG-1.jpg"]],
  ]);
  assertEquals(decided.leftOut, ["MUG-1-2.jpg"]);
  const [group] = assignment(pictures).made.groups;
  const moved = withPictureMovedForward(NO_CHOICES, group, second);
  assertEquals(assignment(pictures, moved).groups[0][1], [
    "MUG-1-2.jpg",
    "MUG-1.jpg",
  ]);
  assertEquals(withPictureMovedForward(moved, group, first), moved);
});

Deno.test("a product has at most ten pictures; the others are named", () => {
  const names = Array.from({ length: 13 }, (_, i) => `BOWL-${i + 1}.jpg`);
  const { groups, made } = assignment(chosen(...names));
  assertEquals(groups[0][2], ["BOWL-11.jpg", "BOWL-12.jpg", "BOWL-13.jpg"]);
  assertEquals(picturesIn(made).length, 10);
});

Deno.test("on the form of a product all pictures are of this product", () => {
  const pictures = chosen("IMG_2.jpg", "back.jpg", "front.jpg");
  const { groups, unmatched } = assignment(pictures, NO_CHOICES, "P");
  assertEquals(groups, [["P", ["front.jpg", "IMG_2.jpg", "back.jpg"], []]]);
  assertEquals(unmatched, []);
});

Deno.test("the same pictures dropped again are there once", () => {
  const once = chosen("a.jpg", "b.jpg");
  const twice = withPictures(once, once.map(({ key: _, ...one }) => one));
  assertEquals(twice.length, 2);
  const more = withPictures(twice, [{ ...once[0], path: "c.jpg" }]);
  assertEquals(new Set(more.map(({ key }) => key)).size, 3);
});

Deno.test("pictures are added to images, or replace them, without repetition", () => {
  const image = `/images/65/${"6".repeat(64)}.png`;
  const own = `https://market.example${image}`;
  assertEquals(imagesAfter(["https://a/1.jpg"], [own], "keep"), [
    "https://a/1.jpg",
    own,
  ]);
  assertEquals(imagesAfter(["https://a/1.jpg"], [own], "replace"), [own]);
  assertEquals(imagesAfter([image], [own, own], "keep"), [image]);
  const other = "https://b.example/images/1.jpg";
  assertEquals(
    imagesAfter(["https://a.example/images/1.jpg"], [other], "keep").length,
    2,
  );
  const many = Array.from({ length: 9 }, (_, i) => `https://a/${i}.jpg`);
  assertEquals(imagesAfter(many, ["u1", "u2"], "keep").length, 10);
});

function sheetOf(header: string[], ...rows: string[][]): MappedTable {
  const table = {
    header,
    rows,
    numbers: rows.map((_, i) => i + 2),
    delimiter: ";" as const,
    flaw: null,
  };
  return { name: "a.csv", table, mapping: mappingFor(table), book: null };
}

function filled(
  sheet: MappedTable,
  mode: "keep" | "replace",
  ...pictures: { sku: string; urls: string[]; stored?: string[] }[]
): string[][] {
  const wide = withPictureColumn(sheet);
  const rows = [...sheet.table.rows.keys()];
  const changes = pictureChanges(
    wide,
    runUninterrupted(rowsBySku(wide, rows)),
    pictures.map((one) => ({ stored: [], ...one })),
    mode,
  );
  const after = withCellsChanged(wide, changes);
  return rows.map((row) => imagesOfRow(after, row));
}

Deno.test("a table without a column for images gets one", () => {
  const sheet = sheetOf(["SKU", "Title"], ["A", "a"], ["B", "b"]);
  const urls = ["https://m/images/1.png", "https://m/images/2.png"];
  assertEquals(filled(sheet, "keep", { sku: "B", urls }), [[], urls]);
  assertEquals(filled(sheet, "keep", { sku: "C", urls }), [[], []]);
});

Deno.test("a row's images stay in front, or are replaced", () => {
  const sheet = sheetOf(
    ["SKU", "Image", "Image 2"],
    ["A", "https://a/1.jpg", "https://a/2.jpg"],
    ["B", "https://b/1.jpg", ""],
  );
  const added = { sku: "A", urls: ["https://m/9.png"] };
  const other = ["https://b/1.jpg"];
  assertEquals(filled(sheet, "keep", added), [
    ["https://a/1.jpg", "https://a/2.jpg", "https://m/9.png"],
    other,
  ]);
  assertEquals(filled(sheet, "replace", added), [["https://m/9.png"], other]);
});

Deno.test("the names of files in a table give way to the pictures", () => {
  const sheet = sheetOf(["SKU", "Image"], ["A", "A-1.jpg;A-2.jpg"]);
  assertNotEquals(sheet.mapping.targets.indexOf("images"), -1);
  assertEquals(filled(sheet, "keep", { sku: "A", urls: ["https://m/9.png"] }), [
    ["https://m/9.png"],
  ]);
});

Deno.test("a row without images keeps those of the stored product", () => {
  const sheet = sheetOf(["SKU", "Title"], ["A", "a"]);
  const stored = ["https://old/1.jpg"];
  const urls = ["https://m/9.png"];
  assertEquals(filled(sheet, "keep", { sku: "A", urls, stored }), [
    [...stored, ...urls],
  ]);
  assertEquals(filled(sheet, "replace", { sku: "A", urls, stored }), [urls]);
});

Deno.test("a smaller picture keeps its proportions", () => {
  assertEquals(sizeWithin({ width: 4_000, height: 3_000 }, 2_000), {
    width: 2_000,
    height: 1_500,
  });
  assertEquals(sizeWithin({ width: 300, height: 4_000 }, 2_000), {
    width: 150,
    height: 2_000,
  });
  assertEquals(sizeWithin({ width: 9_000, height: 1 }, 100), {
    width: 100,
    height: 1,
  });
  assertEquals(sizeWithin({ width: 30, height: 20 }, 100), {
    width: 30,
    height: 20,
  });
  assertEquals([isReducible("jpeg"), isReducible("gif")], [true, false]);
});

Deno.test("pictures that do not fit beside existing images are named", () => {
  const names = Array.from({ length: 4 }, (_, i) => `BOWL-${i + 1}.jpg`);
  const { made } = assignment(chosen(...names));
  const [fitting] = withinImageLimit(made, () => 8).groups;
  assertEquals(fitting.pictures.map(({ path }) => path), [
    "BOWL-1.jpg",
    "BOWL-2.jpg",
  ]);
  assertEquals(fitting.tooMany.length, 2);
  assertEquals(withinImageLimit(made, () => 12).groups[0].pictures, []);
});

Deno.test("pictures find their row after rows before it were removed", () => {
  const sheet = sheetOf(["SKU", "Image"], ["X", ""], ["A", ""], ["B", ""]);
  const rowOf = runUninterrupted(rowsBySku(sheet, [0, 1, 2]));
  const fewer = sheetOf(["SKU", "Image"], ["A", ""], ["B", ""]);
  const urls = ["https://m/1.png"];
  const pictures = ["A", "X"].map((sku) => ({ sku, urls, stored: [] }));
  assertEquals(pictureChanges(fewer, rowOf, pictures, "keep"), [
    { row: 0, column: 1, text: urls[0] },
  ]);
});
