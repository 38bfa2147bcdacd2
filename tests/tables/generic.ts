/** Tables of spreadsheets, and of programs without a preset. */
import { type Catalogue, catalogueOf, type Truth } from "./catalogue.ts";
import { DECOYS } from "./decoys.ts";
import type { Draws } from "./draws.ts";
import type { Cell, Grid, GridRow, Head, Want, Writing } from "./grid.ts";
import { CONDITIONS, type Named, NAMES, YES_NO } from "./names.ts";
import { fits } from "./write.ts";

export interface Column extends Head {
  cell: (product: Truth, row: number) => Cell;
}

/** How a file writes numbers. */
export interface Numbers {
  point: "," | ".";
  thousands: string;
  /** Whether numbers of a workbook are numbers, not texts. */
  typed: boolean;
}

/** A table under construction. */
export interface Sketch {
  draws: Draws;
  catalogue: Catalogue;
  products: readonly Truth[];
  numbers: Numbers;
  columns: Column[];
  features: string[];
  /** Changes what counts as right for a field. */
  wants: ((product: Truth, wants: Map<string, Want>) => void)[];
  extra: GridRow[];
  above: string[][];
  name(what: Named): string;
  add(name: string, states: string[], cell: Column["cell"]): Column;
  at(field: string): Column | undefined;
  money(hundredths: number): Cell;
  number(value: number, decimals?: number): Cell;
}

function grouped(digits: string, sign: string): string {
  return sign === "" ? digits : digits.replace(/\B(?=(\d{3})+$)/g, sign);
}

export function written(
  value: number,
  decimals: number,
  { point, thousands }: Numbers,
): string {
  const [whole, part = ""] = value.toFixed(decimals).split(".");
  return grouped(whole, thousands) + (part === "" ? "" : point + part);
}

export function sketchOf(draws: Draws, catalogue: Catalogue): Sketch {
  const { language } = catalogue;
  const point = language === "en"
    ? "." as const
    : draws.chance(0.75)
    ? "," as const
    : "." as const;
  const typed = draws.chance(0.25);
  const numbers: Numbers = {
    point,
    thousands: draws.chance(0.75)
      ? ""
      : draws.of(point === "," ? [".", " ", "\u00a0", "'"] : [",", " ", "'"]),
    typed,
  };
  const columns: Column[] = [];
  const decimals = draws.chance(0.04) ? 3 : draws.chance(0.04) ? 4 : 2;
  return {
    draws,
    catalogue,
    products: catalogue.products.map((product) => ({ ...product })),
    numbers,
    columns,
    features: [],
    wants: [],
    extra: [],
    above: [],
    name: (what) => draws.of(NAMES[what][language]),
    add(name, states, cell) {
      const column = { name, states, cell };
      columns.push(column);
      return column;
    },
    at: (field) => columns.find(({ states }) => states.includes(field)),
    money: (hundredths) =>
      typed
        ? { v: hundredths / 100, z: "0.00" }
        : written(hundredths / 100, decimals, numbers),
    number: (value, decimals = 0) =>
      typed
        ? { v: value, z: decimals === 0 ? "0" : "General" }
        : written(value, decimals, numbers),
  };
}

const SYMBOLS: Readonly<Record<string, string>> = {
  EUR: "€",
  GBP: "£",
  PLN: "zł",
  SEK: "kr",
  USD: "$",
  CHF: "CHF",
};

/** The place of the currency. */
const PLACES = ["name", "name", "cell", "column", "nowhere"] as const;

function addPrices(sketch: Sketch): void {
  const { draws, catalogue: { currency } } = sketch;
  const place = sketch.numbers.typed && draws.chance(0.5)
    ? "name"
    : draws.of(PLACES);
  const isSymbol = draws.chance(0.4) && currency !== "SEK" &&
    currency !== "USD";
  const sign = isSymbol ? SYMBOLS[currency] : currency;
  const named = (name: string) => {
    if (place !== "name") return name;
    return draws.of([
      `${name} (${sign})`,
      `${name} ${sign}`,
      `${name} in ${sign}`,
    ]);
  };
  const money = (hundredths: number): Cell => {
    const cell = sketch.money(hundredths);
    if (place !== "cell") return cell;
    if (typeof cell !== "string") return { ...cell, z: `0.00 "${sign}"` };
    return currency === "GBP" || currency === "USD" && isSymbol
      ? `${sign}${cell}`
      : `${cell} ${sign}`;
  };
  const gross = draws.chance(0.2);
  const name = sketch.name("price");
  const how = draws.of(["plain", "plain", "former", "sale", "cents"] as const);
  const title = named(
    gross && name.split(" ").length === 1
      ? `${name} ${sketch.name("gross")}`
      : name,
  );
  if (how === "cents" && place !== "cell" && draws.chance(0.3)) {
    const word = {
      EUR: "Cent",
      GBP: "pence",
      PLN: "grosze",
      SEK: "öre",
      USD: "cents",
      CHF: "ct",
    }[currency]!;
    sketch.add(
      `${sketch.name("price")} (${word})`,
      ["price"],
      ({ price }) => `${price}`,
    );
    sketch.features.push("cents");
  } else if (how === "sale") {
    sketch.add(
      title,
      ["price", "compare_at_price"],
      ({ price, former }) => money(former ?? price),
    );
    sketch.add(
      named(sketch.name("sale")),
      ["price", "compare_at_price"],
      ({ price, former }) => former === null ? "" : money(price),
    );
    sketch.features.push("sale");
  } else {
    sketch.add(title, ["price"], ({ price }) => money(price));
    if (how === "former") {
      sketch.add(
        named(sketch.name("former")),
        ["compare_at_price"],
        ({ former }) => former === null ? "" : money(former),
      );
    }
  }
  if (place === "column") {
    sketch.add(
      sketch.name("currency"),
      ["currency"],
      ({ currency }) => currency,
    );
  }
}

function addWeight(sketch: Sketch): string {
  const { draws, catalogue: { language } } = sketch;
  const unit = draws.of(["g", "kg", "kg", language === "en" ? "lb" : "g"]);
  const inUnit = (grams: number): [number, number] =>
    unit === "g"
      ? [grams, 0]
      : unit === "kg"
      ? [grams / 1000, 3]
      : [grams / 453.59237, 4];
  const name = sketch.name("weight");
  const place = draws.of(
    ["name", "name", "cell", "column", "nowhere"] as const,
  );
  const isTrimmed = draws.chance(0.5);
  const cell = ({ grams }: Truth): Cell => {
    const [value, decimals] = inUnit(grams);
    const number = sketch.number(value, decimals);
    if (typeof number !== "string") return number;
    return isTrimmed && number.includes(sketch.numbers.point)
      ? number.replace(/0+$/, "").replace(/[.,]$/, "")
      : number;
  };
  if (place === "name") {
    sketch.add(
      draws.of([`${name} (${unit})`, `${name} in ${unit}`, `${name} ${unit}`]),
      ["weight"],
      cell,
    );
  } else if (place === "cell") {
    sketch.add(name, ["weight"], (product) => {
      const number = cell(product);
      return typeof number === "string"
        ? `${number} ${unit}`
        : { v: number.v, z: `General "${unit}"` };
    });
  } else {
    sketch.add(name, ["weight"], cell);
    if (place === "column") {
      const names = {
        en: "Weight unit",
        de: "Gewichtseinheit",
        sv: "Viktenhet",
        fr: "Unité de poids",
        es: "Unidad de peso",
        pl: "Jednostka wagi",
        nl: "Gewichtseenheid",
      };
      sketch.add(names[language], ["weight unit"], () => unit);
    }
  }
  return unit;
}

function addOthers(sketch: Sketch): void {
  const { draws, catalogue: { language } } = sketch;
  const maybe = (share: number, add: () => void) => {
    if (draws.chance(share)) add();
  };
  maybe(0.85, () => {
    const suffix = draws.chance(0.1) && !sketch.numbers.typed
      ? {
        en: " pcs",
        de: " Stk",
        sv: " st",
        fr: "",
        es: "",
        pl: "",
        nl: "",
      }[language]
      : "";
    sketch.add(sketch.name("quantity"), ["quantity"], ({ quantity }) => {
      const cell = sketch.number(quantity);
      return typeof cell === "string" ? cell + suffix : cell;
    });
  });
  maybe(
    0.6,
    () =>
      sketch.add(
        sketch.name("gtin"),
        ["gtin"],
        ({ gtin }) =>
          sketch.numbers.typed && draws.chance(0.5) && !gtin.startsWith("0")
            ? { v: Number(gtin), z: "0" }
            : gtin,
      ),
  );
  maybe(
    0.5,
    () => sketch.add(sketch.name("brand"), ["brand"], ({ brand }) => brand),
  );
  maybe(0.2, () => sketch.add(sketch.name("mpn"), ["mpn"], ({ mpn }) => mpn));
  maybe(0.4, () => {
    const sign = draws.of(["", "%", " %"]);
    sketch.add(
      sketch.name("vat"),
      ["vat_rate"],
      ({ vat }) =>
        sketch.numbers.typed
          ? sign === "" ? { v: vat, z: "General" } : { v: vat / 100, z: "0.0%" }
          : written(vat, Number.isInteger(vat) ? 0 : 1, sketch.numbers) + sign,
    );
  });
  maybe(0.35, () => {
    const [yes, no] = draws.of(YES_NO[language]);
    sketch.add(
      sketch.name("status"),
      ["status"],
      ({ active }) => active ? yes : no,
    );
  });
  maybe(0.15, () => {
    const [fresh, used, refurbished] = CONDITIONS[language];
    sketch.add(
      sketch.name("condition"),
      ["condition"],
      ({ condition }) => ({ new: fresh, used, refurbished })[condition],
    );
  });
  maybe(0.45, () => {
    const how = draws.of(["one", "bar", "semicolon", "lines"] as const);
    sketch.add(
      sketch.name("categories"),
      ["categories"],
      ({ categories }) =>
        how === "one"
          ? categories[0]
          : categories.join({ bar: "|", semicolon: "; ", lines: "\n" }[how]),
    );
    if (how === "one") {
      sketch.wants.push(({ categories }, wants) =>
        wants.set("categories", { texts: [categories[0]] })
      );
    }
  });
  maybe(0.4, () => {
    const name = sketch.name("images");
    if (draws.chance(0.5)) {
      const between = draws.of([" ", "|", ", ", ",", ";", "\n"]);
      sketch.add(name, ["images"], ({ images }) => images.join(between));
      return;
    }
    for (let n = 1; n <= 3; n++) {
      sketch.add(
        `${name} ${n}`,
        ["images"],
        ({ images }) => images[n - 1] ?? "",
      );
    }
  });
  maybe(0.4, () => {
    const isHtml = draws.chance(0.35);
    sketch.add(
      sketch.name("description"),
      ["description"],
      ({ description }) =>
        isHtml
          ? description.split("\n").map((line) =>
            `<p>${line.replaceAll("&", "&amp;")}</p>`
          ).join("")
          : description,
    );
  });
  maybe(0.15, () => {
    for (const name of ["Color", "Material"]) {
      sketch.add(
        `attribute: ${name}`,
        [`attribute:${name}`],
        ({ attributes }) => attributes[name],
      );
    }
  });
}

/** Columns that many programs export and nobody needs. */
const HARMLESS: readonly [string, (product: Truth, row: number) => string][] = [
  ["ID", (_, row) => `${4711 + row}`],
  ["Tags", () => "a, b"],
  ["Bemerkung", () => "ok"],
  ["Lagerplatz", (_, row) => `A ${row}`],
  ["Supplier", () => "Import Ltd"],
  ["Created at", () => "2024-03-05"],
  ["SEO title", ({ title }) => `${title} buy`],
  ["Slug", (_, row) => `p-${row}`],
  ["Position", (_, row) => `${row}`],
  ["Farbe", (_, row) => ["blau", "rot", "grün"][row % 3]],
  ["Width (cm)", (_, row) => `${10 + row}`],
  ["Mindestbestellmenge", () => "1"],
  ["VPE", () => "6"],
  ["Lieferzeit (Tage)", (_, row) => `${2 + row % 3}`],
  ["Rabatt %", () => "5"],
  ["Steuerklasse", () => "1"],
  ["Sortierung", (_, row) => `${row * 10}`],
  ["Shop-URL", (_, row) => `https://shop.example/p/${row}`],
  ["Lieferant", () => "Import GmbH"],
  ["Warengruppen-Nr.", () => "120"],
  ["Changed by", () => "ALL"],
  ["Ursprung", () => "CHE"],
  ["Zolltarifnummer", () => "69120000"],
];

export function wantsOf(
  product: Truth,
  fields: ReadonlySet<string>,
): Map<string, Want> {
  const wants = new Map<string, Want>();
  const set = (field: string, text: string, want: Partial<Want> = {}) => {
    if (fields.has(field)) wants.set(field, { texts: [text], ...want });
  };
  set("sku", product.sku);
  set("title", product.title);
  set("description", product.description);
  set("price", `${product.price / 100}`);
  if (fields.has("price")) wants.set("currency", { texts: [product.currency] });
  if (fields.has("compare_at_price")) {
    wants.set("compare_at_price", {
      texts: product.former === null ? [] : [`${product.former / 100}`],
    });
  }
  set("vat_rate", `${product.vat}`);
  set("quantity", `${product.quantity}`);
  set("gtin", product.gtin);
  set("brand", product.brand);
  set("mpn", product.mpn);
  set("weight", `${product.grams}`);
  set("condition", product.condition);
  set("status", product.active ? "active" : "paused");
  set("categories", product.categories.join(" | "));
  set("images", product.images.join(" "));
  for (const [name, value] of Object.entries(product.attributes)) {
    set(`attribute:${name}`, value);
  }
  return wants;
}

/** Several decoys of one group would contradict each other. */
function groupOf(name: string): string {
  return /stock|availab|amount|contents|pieces/.test(name)
    ? "quantity"
    : /price|sale|\bnet\b|cost|VAT/.test(name)
    ? "price"
    : /brand/.test(name)
    ? "brand"
    : name;
}

export function genericGrid(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const sketch = sketchOf(draws, catalogue);
  sketch.add(
    sketch.name("sku"),
    ["sku"],
    ({ sku }) =>
      sketch.numbers.typed && /^[1-9]\d*$/.test(sku)
        ? { v: Number(sku), z: "General" }
        : sku,
  );
  sketch.add(sketch.name("title"), ["title"], ({ title }) => title);
  addPrices(sketch);
  const hasWeight = draws.chance(0.45);
  const weightUnit = hasWeight ? addWeight(sketch) : "g";
  addOthers(sketch);
  for (const [name, cell] of draws.some(HARMLESS, 0, 3)) {
    sketch.add(name, [], cell);
  }
  if (draws.chance(0.45)) {
    const decoys = draws.shuffled(
      DECOYS.filter(({ languages }) =>
        languages === undefined || languages.includes(catalogue.language)
      ),
    );
    const count = 1 + draws.below(2);
    const groups = new Set<string>();
    let added = 0;
    for (const decoy of decoys) {
      if (added === count) break;
      const group = groupOf(decoy.name);
      if (groups.has(group) || decoy.add(sketch) === false) continue;
      groups.add(group);
      sketch.features.push(decoy.name);
      added++;
    }
  }
  return finished(sketch, weightUnit);
}

function finished(sketch: Sketch, weightUnit: string): Grid {
  const { draws, catalogue, products } = sketch;
  const seen = new Set<string>();
  const unique = sketch.columns.filter(({ name }) => {
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
  const columns = draws.chance(0.3) ? mixed(draws, unique) : unique;
  const fields = new Set(columns.flatMap(({ states }) => states));
  const rows: GridRow[] = products.map((product, row) => ({
    family: row,
    cells: columns.map(({ cell }) => cell(product, row)),
  }));
  const emptied = emptyCells(sketch, columns, rows);
  const made = products.map((product, row) => {
    const wants = wantsOf(product, fields);
    for (const change of sketch.wants) change(product, wants);
    for (const field of [...wants.keys()]) {
      if (emptied.has(`${row}:${field}`)) wants.delete(field);
    }
    return { family: row, sku: product.sku, wants };
  });
  const ordered = draws.chance(0.2) ? draws.shuffled(rows) : rows;
  const grid: Grid = {
    heads: columns.map(({ name, states, hidden }) => ({
      name,
      states,
      hidden,
    })),
    above: sketch.above,
    rows: [
      ...ordered,
      ...sketch.extra.map((row) => ({
        ...row,
        cells: columns.map((_, i) => row.cells[i] ?? ""),
      })),
    ],
    products: made,
    currency: catalogue.currency,
    earlierCurrency: draws.chance(0.06)
      ? draws.of([catalogue.currency, "GBP", "SEK"])
      : undefined,
    weightUnit,
    imageBase: "",
    writing: { kind: "xlsx", sheets: ["Products"], eol: "\n", quotes: "few" },
    features: sketch.features,
  };
  const isTyped = grid.rows.some(({ cells }) =>
    cells.some((cell) => typeof cell !== "string")
  );
  const writing = isTyped ? grid.writing : csvWriting(draws, grid);
  return around(draws, unmarked(draws, { ...grid, writing }, sketch.numbers));
}

/** Decimal commas between semicolons, without quotation marks. */
function unmarked(draws: Draws, grid: Grid, { point }: Numbers): Grid {
  const { writing } = grid;
  if (writing.kind !== "csv" || writing.quotes !== "few") return grid;
  const { delimiter } = writing;
  const price = grid.heads.findIndex(({ states }) => states.includes("price"));
  const hasCents = grid.rows.every(({ cells }) =>
    /^\d+,\d\d$/.test(`${cells[price]}`)
  );
  const isMeant = delimiter === "," && point === "," && hasCents ||
    delimiter === ";" && JSON.stringify(grid.rows).includes("; set");
  // Evidence from all rows is read before a shifted row is left out.
  const isAlone = delimiter === ";" || grid.features.length === 0;
  if (!isMeant || !isAlone || !draws.chance(0.5)) return grid;
  const apart = (cell: Cell): readonly Cell[] =>
    typeof cell !== "string"
      ? [cell]
      : delimiter === ";"
      ? cell.split(/;(?= set)/)
      : /^\d+,\d\d$/.test(cell)
      ? cell.split(",")
      : [cell];
  const remark = draws.chance(0.7);
  return {
    ...grid,
    heads: remark ? [...grid.heads, { name: "Anm", states: [] }] : grid.heads,
    rows: grid.rows.map((row) => ({
      ...row,
      cells: row.cells.flatMap(apart),
    })),
    features: [...grid.features, "no quotation marks"],
  };
}

/** In another order, except for images. */
function mixed(draws: Draws, columns: readonly Column[]): Column[] {
  const isImage = ({ states }: Column) => states.includes("images");
  const images = columns.filter(isImage);
  return draws.shuffled(columns)
    .map((column) => isImage(column) ? images.shift()! : column);
}

/** Fields that may be empty. */
const OPTIONAL = [
  "gtin",
  "brand",
  "mpn",
  "weight",
  "images",
  "categories",
  "description",
  "attribute:Color",
];

function emptyCells(
  { draws }: Sketch,
  columns: readonly Column[],
  rows: GridRow[],
): Set<string> {
  const emptied = new Set<string>();
  for (const field of OPTIONAL) {
    const own = [...columns.keys()].filter((i) =>
      columns[i].states.includes(field)
    );
    if (own.length === 0 || !draws.chance(0.4)) continue;
    for (const [row, { cells, ...rest }] of rows.entries()) {
      if (!draws.chance(0.3)) continue;
      emptied.add(`${row}:${field}`);
      rows[row] = {
        ...rest,
        cells: cells.map((cell, i) => own.includes(i) ? "" : cell),
      };
    }
  }
  return emptied;
}

function csvWriting(draws: Draws, grid: Grid): Writing {
  const text = JSON.stringify([grid.heads, grid.rows, grid.above]);
  const encodings = [
    "windows-1252",
    "windows-1250",
    "macintosh",
    "iso-8859-15",
    "cp850",
    "iso-8859-2",
  ]
    .filter((encoding) => fits(text, encoding));
  const encoding = draws.chance(0.75)
    ? "utf-8"
    : draws.chance(0.15)
    ? "utf-16le"
    : draws.chance(0.6) && encodings.length > 0
    ? encodings[0]
    : draws.of([...encodings, "utf-8"]);
  return {
    kind: "csv",
    delimiter: encoding === "utf-16le"
      ? "\t"
      : draws.of([";", ";", ";", ",", ",", "\t", "|"]),
    encoding,
    bom: draws.chance(0.4),
    sep: draws.chance(0.05),
    eol: draws.of(["\r\n", "\n", "\n", "\r"]),
    quotes: draws.of(
      draws.chance(0.05) && !/'/.test(text)
        ? ["single"]
        : ["few", "few", "few", "all"],
    ),
  };
}

const TITLES: readonly string[][] = [
  ["Price list spring 2026"],
  ["Artikelliste", "Stand 01.02.2026"],
  ["Export"],
];

/** Rows without a product, around and between the others. */
function around(draws: Draws, grid: Grid): Grid {
  const empty = grid.heads.map(() => "");
  const rows = [...grid.rows];
  const features = [...grid.features];
  const insert = (at: number, cells: readonly Cell[]) =>
    rows.splice(at, 0, { cells, family: null });
  const above = [...grid.above];
  if (draws.chance(0.1)) {
    above.push(draws.of(TITLES));
    if (draws.chance(0.5)) above.push([""]);
    features.push("title row");
  }
  if (draws.chance(0.08)) insert(draws.below(rows.length), empty);
  if (draws.chance(0.06)) {
    insert(draws.below(rows.length) + 1, grid.heads.map(({ name }) => name));
    features.push("names again");
  }
  if (draws.chance(0.06)) {
    const word = draws.of([
      "Total",
      "Summe",
      "Summa",
      "Total général",
      "Razem",
    ]);
    const column = grid.heads.findIndex(({ states }) =>
      states.includes(draws.of(["sku", "title"]))
    );
    const stock = grid.heads.findIndex(({ states }) =>
      states.includes("quantity")
    );
    insert(
      rows.length,
      empty.map((_, i) => i === column ? word : i === stock ? "999" : ""),
    );
    features.push("sum row");
  }
  let heads = grid.heads;
  if (grid.writing.kind === "xlsx" && draws.chance(0.1) && rows.length > 1) {
    const family = rows.findLast((row) => row.family !== null)!.family;
    features.push("hidden row");
    const at = rows.findIndex((row) => row.family === family);
    rows[at] = { ...rows[at], hidden: true };
    // A filter hides the unwanted rows.
    if (draws.chance(0.5)) {
      grid = {
        ...grid,
        products: grid.products.filter((one) => one.family !== family),
      };
    }
  }
  if (grid.writing.kind === "xlsx" && draws.chance(0.15)) {
    heads = heads.map((head) =>
      head.states.length === 0 && draws.chance(0.5)
        ? { ...head, hidden: true }
        : head
    );
  }
  return { ...grid, heads, above, rows, features };
}
