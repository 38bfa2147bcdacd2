/** The page converts tables to documents that the service accepts. */
import { countKnownNames } from "../../../../src/web/import/columns/headers.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  csvOf,
  readTable,
  type Table,
} from "../../../../src/web/import/read/csv.ts";
import { gatherTable } from "../../../../src/web/import/gather.ts";
import type { ColumnField } from "../../../../src/web/lib/column_field.ts";
import { fileKindOf } from "../../../../src/web/import/read/kinds.ts";
import {
  type ColumnMapping,
  makeDocument,
  mappingFor,
  rowValues,
  templateCsv,
} from "../../../../src/web/import/columns/spreadsheet.ts";
import {
  checkRows,
  missingFieldsOf,
  repeatedFields,
} from "../../../../src/web/import/check/table_checks.ts";
import { boot } from "../../../support/app.ts";
import { blocks, chapter } from "../../../support/handbook.ts";
import { finish } from "../../../support/work.ts";
import { stopwatch } from "../../../support/starvation.ts";

const tableOf = (text: string) => finish(readTable(text, countKnownNames));
const textOf = (table: Table, mapping: ColumnMapping): Promise<string> =>
  finish(makeDocument(table, mapping, [...table.rows.keys()])).text();

const JSON_DOCUMENT = { "Content-Type": "application/json" };

function mapped(csv: string, changes: Partial<ColumnMapping> = {}) {
  const table = tableOf(csv);
  return { table, mapping: { ...mappingFor(table), ...changes } };
}

function problemsOf(csv: string) {
  const { table, mapping } = mapped(csv);
  return finish(checkRows(table, mapping));
}

/** Joins the rows of a table. */
function gatheredAtOnce(table: Table) {
  return finish(gatherTable(table));
}

Deno.test("columns are recognized by their names", () => {
  const { mapping } = mapped(
    "Article number,Name,Price,Currency,EAN,Stock,Image 1,Image 2,attribute: color,Shelf\n1,2,3,4,5,6,7,8,9,10\n",
  );
  assertEquals(mapping.targets, [
    "sku",
    "title",
    "price",
    "currency",
    "gtin",
    "quantity",
    "images",
    "images",
    "attribute",
    "",
  ]);
  assertEquals(missingFieldsOf(mapping), []);
  assertEquals(missingFieldsOf(mapped("sku;price\n1;2\n").mapping), [
    "Title",
    "Quantity",
    "Currency",
  ]);
});

Deno.test("long numbers that were rounded are found before anything is sent", () => {
  assertEquals(
    problemsOf("sku;EAN;price\n1;4,00638E+12;1\n").rounded,
    "4,00638E+12",
  );
  assertEquals(problemsOf("sku;EAN\nA-1;40063813\n").rounded, null);
});

Deno.test("SKUs that look alike are reported before anything is sent", () => {
  const alikeIn = (...skus: string[]) =>
    problemsOf(`SKU;Title\n${skus.map((sku) => `${sku};Mug`).join("\n")}\n`)
      .similarSkus;
  assertEquals(alikeIn("A-1", "B", "a-1"), ["A-1", "a-1"]);
  assertEquals(alikeIn("A 1", "A\u00a01"), ["A 1", "A\u00a01"]);
  assertEquals(alikeIn("A1", "A\u200b1"), ["A1", "A\u200b1"]);
  // An identical one is refused as a duplicate.
  assertEquals(alikeIn("A-1 ", "A-1", "B"), null);
});

/** The product of a table's only row, without its SKU. */
function rowOf(
  cells: Readonly<Record<string, string>>,
  others: readonly Readonly<Record<string, string>>[] = [],
): Record<string, string> {
  const rows = [cells, ...others];
  const header = Object.keys(cells);
  const { table, mapping } = mapped(
    [header, ...rows.map((row) => header.map((name) => row[name]))]
      .map((row) => row.join("\t")).join("\n") + "\n",
  );
  const values = rowValues(table.rows[0], mapping);
  values.delete("sku");
  return Object.fromEntries(
    [...values].map(([field, texts]) => [field, texts.join("|")]),
  );
}

Deno.test("columns of other shops keep their meaning there", () => {
  const other = { Name: "Mug", Price: "12.90" };
  const more = { title: "Mug", price: "12.90" };
  for (
    const [cells, expected] of [
      // Numbers and types that have a meaning only there.
      [{ "*Category": "12345" }, {}],
      [{ "Product Type": "P", Category: "Home/Mugs" }, {
        categories: "Home/Mugs",
      }],
      [{ "Product Type": "Mugs" }, { categories: "Mugs" }],
      [{ instock: "5" }, { quantity: "5" }],
      [{ "In stock": "1" }, { availability: "in_stock" }],
      // What is hidden there is hidden here, too.
      [{ Aktiv: "Nej" }, { status: "paused" }],
      [{ active: "0" }, { status: "paused" }],
      [{ "Product Visible?": "Y" }, { status: "active" }],
      // A sale price of 0 means no sale.
      [{ "Sale Price": "0.0000" }, {}],
      [{ Price_Old: "15.90" }, { compare_at_price: "15.90" }],
      [{ "Current Stock Level": "5" }, { quantity: "5" }],
      [{ Price: "12,-", Currency: "€" }, { price: "12", currency: "EUR" }],
      [{ Price: "CHF 1’299.–", Currency: "CHF" }, {
        price: "1299",
        currency: "CHF",
      }],
      [{ Price: "US$12", Currency: "USD" }, { price: "12", currency: "USD" }],
    ] as [Record<string, string>, Record<string, string>][]
  ) {
    const row = rowOf({ SKU: "A", ...other, ...cells });
    assertEquals(row, { ...more, ...expected }, JSON.stringify(cells));
  }
  const gross = rowOf({ sku: "A", "Preis inkl. 19% MwSt. in €": "12,90" });
  assertEquals(gross, { price: "12.90", currency: "EUR" });
});

Deno.test("the SKU is taken from the column of that name", () => {
  const { mapping } = mapped("Order number,SKU,Item name\n1001,A,Mug\n");
  assertEquals(mapping.targets, ["", "sku", "title"]);
  const shopware = mapped(
    "ordernumber;mainnumber;name;price_EK;pseudoprice_EK;instock;active\n" +
      "SW1;SW1;Becher;12,9;0;5;1\n",
  );
  assertEquals(
    shopware.mapping.targets.join(),
    "sku,,title,price,compare_at_price,quantity,status",
  );
});

Deno.test("weights have the units written beside them", () => {
  const { table } = gatheredAtOnce(
    tableOf("sku;weight;Weight unit\nA;350;g\nB;1.2;kg\nC;5 oz;g\nD;2;\n"),
  );
  const mapping = mappingFor(table);
  assertEquals(
    table.rows.map((row) => rowValues(row, mapping).get("weight")?.[0]),
    ["350", "1200", "142", "2 (g or kg?)"],
  );
});

Deno.test("a sale price outside of its sale is left out", () => {
  const table = tableOf(
    "SKU,Price,Sale Price,On Sale\nA,12.90,9.90,No\nB,12.90,9.90,Yes\nC,5,,No\n",
  );
  const { table: { rows }, note } = gatheredAtOnce(table);
  assertEquals(rows.map((row) => row[2]), ["", "9.90", ""]);
  assertEquals(note, "1 sale price is left out: it is not on sale now.");
});

Deno.test("a sale that is off is left out, even with lower-case column names", () => {
  const table = tableOf(
    "sku;price;sale price;on sale\nA;12;9;no\nB;12;9;yes\n",
  );
  const { table: { rows } } = gatheredAtOnce(table);
  assertEquals(rows.map((row) => row[2]), ["", "9"]);
});

for (
  const header of [
    "Codice articolo;Nome prodotto;Prezzo;Quantità",
    "Codice;Titolo;Prezzo di vendita (€);Giacenza",
    "Kód;Název produktu;Cena s DPH (Kč);Množství",
    "Katalogové číslo;Název;Prodejní cena;Skladem",
    "Varenr.;Varenavn;Salgspris inkl. moms;Lagerbeholdning",
    "Varenummer;Navn;Pris (DKK);På lager",
    "Cikkszám;Terméknév;Bruttó ár (Ft);Készlet",
    "Termékkód;Megnevezés;Eladási ár;Mennyiség",
    "Ürün Kodu;Ürün Adı;Satış Fiyatı (TL);Stok Adedi",
    "STOK KODU;STOK ADI;FİYAT;MİKTAR",
  ]
) {
  Deno.test(`the columns are known: ${header}`, () => {
    const table = tableOf(`${header}\nA-1;Mug;129,00;12\n`);
    const { targets } = mappingFor(table);
    assertEquals(targets, ["sku", "title", "price", "quantity"]);
  });
}

Deno.test("a price without VAT is recognized in further languages", () => {
  for (
    const name of [
      "Prezzo IVA esclusa",
      "Cena bez DPH",
      "Pris ekskl. moms",
      "Nettó ár",
      "KDV hariç fiyat",
    ]
  ) {
    const table = tableOf(`sku;${name};price\nA-1;100;129\n`);
    assertEquals(mappingFor(table).targets, ["sku", "", "price"], name);
  }
});

Deno.test("a row below the header may belong to it", () => {
  const { table, note } = gatheredAtOnce(tableOf(
    "SKU;Name;Preis;;Gewicht;Bestand\n;;netto;brutto;kg;Stk\nA;Mug;10;11,9;0,3;5\n",
  ));
  assertEquals(
    mappingFor(table).targets,
    ["sku", "title", "", "price", "weight", "quantity"],
  );
  assertEquals(mappingFor(table).numberFormats[4].unit, "kg");
  assertEquals(table.numbers, [3]);
  assertEquals(note, "Row 2 is read as part of the column names above it.");
  for (const row of ["A;Mug;", ";Mug;auf Anfrage", ";;12,90", ";;"]) {
    const plain = tableOf(`SKU;Name;Preis\n${row}\nB;Cup;5\n`);
    assertEquals(gatheredAtOnce(plain).table, plain, row);
  }
});

Deno.test("Wix: images are named by files, and a discount is reported", () => {
  const { table, note } = gatheredAtOnce(tableOf(
    "handleId,fieldType,name,productImageUrl,sku,price,visible,discountValue,inventory\n" +
      "p1,Product,Mug,a~mv2.jpg;b.png,M,9,true,10.0,InStock\n",
  ));
  const [images] = rowValues(table.rows[0], mappingFor(table)).get("images")!;
  assertEquals(images, "https://static.wixstatic.com/media/a~mv2.jpg");
  assertEquals(
    note,
    "1 discount cannot be sent: prices are sent without it.",
  );
});

Deno.test("Wix: a surcharge is added even in a spreadsheet program's format", () => {
  const { table, note } = gatheredAtOnce(tableOf(
    "handleId;fieldType;name;productImageUrl;sku;price;visible;discountValue;inventory;surcharge\n" +
      "p1;Product;Mug;;;9,50;true;10,0;InStock;\n" +
      "p1;Variant;;;M-S;;;;3;-1,25\n" +
      "p1;Variant;;;M-L;;;;3;more\n",
  ));
  const prices = table.rows.map((row) => row[table.header.indexOf("price")]);
  assertEquals(prices, ["8.25", "9,50 + more"]);
  assertStringIncludes(note, "1 discount cannot be sent");
});

Deno.test("variants of hidden products are hidden", () => {
  const stateOf = (csv: string, sku: string) => {
    const { table } = gatheredAtOnce(tableOf(csv));
    const mapping = mappingFor(table);
    return table.rows.map((row) => rowValues(row, mapping))
      .find((values) => values.get("sku")?.[0] === sku)?.get("status")?.join();
  };
  const woo = [
    "ID,Type,SKU,Name,Published,Is featured?,Sale price,Regular price,Parent",
    "1,variable,H,Hoodie,0,0,,,",
    "2,variation,H-B,Hoodie,1,0,,45,H",
    "3,variable,J,Jacket,1,0,,,",
    "4,variation,J-B,Jacket,1,0,,45,J",
  ].join("\n");
  assertEquals(["H-B", "J-B"].map((sku) => stateOf(woo, sku)), [
    "paused",
    "active",
  ]);
  const magento = [
    "sku,product_type,product_online,name,price,configurable_variations",
    'T,configurable,2,Tee,,"sku=T-S,size=S"',
    "T-S,simple,1,Tee S,19,",
  ].join("\n");
  assertEquals(stateOf(magento, "T-S"), "paused");
  const shopify = [
    "Handle,Title,Published,Variant SKU,Variant Price",
    "mug,Mug,false,M,149",
  ].join("\n");
  assertEquals(stateOf(shopify, "M"), "paused");
});

Deno.test("of several header rows the last one names the columns", () => {
  const rows = [
    ["TemplateType=home", "Version=2026", "Signature=x", "Only for us.", ""],
    ["Verkäufer-SKU", "Produktname", "Marke", "Preis", "Anzahl"],
    ["item_sku", "item_name", "brand_name", "standard_price", "quantity"],
    ["A-1", "Becher", "Kockums", "12,90", "5"],
  ];
  const { table, mapping } = mapped(
    rows.map((row) => `${row.join("\t")}\n`).join(""),
  );
  assertEquals(mapping.targets, [
    "sku",
    "title",
    "brand",
    "price",
    "quantity",
  ]);
  assertEquals(table.rows, [rows[3]]);
});

const WEIGHTS: readonly (readonly [string, string, string | undefined])[] = [
  ["Weight (kg)", "2", "2000"],
  ["Weight (kg)", "0,285", "285"],
  ["Weight (kg)", "250 g", "250"],
  ["weight_g", "250", "250"],
  ["Variant Grams", "0.0", undefined],
  ["Vikt, kg", "1,5", "1500"],
  ["Gewicht in Gramm", "1500", "1500"],
  ["Poids", "1,5 kg", "1500"],
  ["Weight (lbs)", "2", "907"],
  ["Weight", "2", "2 (g or kg?)"],
  ["Weight", "2 stone", "2 stone (unit?)"],
  ["Weight (kg)", "heavy", "heavy"],
];

for (const [header, cell, expected] of WEIGHTS) {
  Deno.test(`${header} ${cell} is sent as ${expected} grams`, () => {
    assertEquals(rowOf({ sku: "A", [header]: cell }).weight, expected);
  });
}

Deno.test("a weight without a unit is reported before anything is sent", () => {
  const of = (csv: string) => problemsOf(csv).bareWeight;
  assertEquals(of("sku;weight\nA;2 kg\nB;250\n"), "250");
  assertEquals(of("sku;weight\nA;2 kg\nB;0\nC;\n"), null);
  assertEquals(of("sku;Weight (kg)\nA;2\n"), null);
});

const PRICES: readonly (readonly [string, string, string, string])[] = [
  ["Price (cents)", "19950", "1", "199.50"],
  ["Pris i öre", "5", "1", "0.05"],
  ["Preis", "1.299", "12,50", "1299"],
  ["Price", "1,299", "12.50", "1299"],
  ["Price", "1.299", "12.50", "1.299"],
  ["Price", "15.00 USD", "5.00 USD", "15.00"],
];

for (const [header, cell, other, expected] of PRICES) {
  Deno.test(`${header} ${cell} beside ${other} is sent as ${expected}`, () => {
    const of = (price: string) => ({ sku: "A", [header]: price });
    assertEquals(rowOf(of(cell), [of(other)]).price, expected);
  });
}

const CURRENCIES: readonly (readonly [string, string])[] = [
  ["sku;Price (SEK)\nA;1\n", "SEK"],
  ["sku;Prix €\nA;1\n", "EUR"],
  ["sku;Cena\nA;12 zł\n", "PLN"],
  ["sku;price\nA;15.00 USD\nB;1 USD\n", "USD"],
  ["sku;price\nA;15.00 USD\nB;1 EUR\n", ""],
  ["sku;PRICE TOP\nA;1\n", "TOP"],
  ["sku;Top price\nA;1\n", ""],
];

for (const [csv, expected] of CURRENCIES) {
  Deno.test(`the currency of ${JSON.stringify(csv)} is ${expected}`, () => {
    assertEquals(mapped(csv).mapping.values.currency ?? "", expected);
  });
}

/** A header in each language, and the fields of its columns. */
const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  [
    "Artikelnummer;Bezeichnung;Beschreibung;Preis in EUR inkl. MwSt.;UVP;MwSt-Satz;Lagerbestand;EAN;Hersteller;Herstellernummer;Gewicht (kg);Zustand;Warengruppe;Bild 1;Bild 2;EK-Preis",
    "sku title description price compare_at_price vat_rate quantity gtin brand mpn weight condition categories images images "
      .split(" "),
  ],
  [
    "Artikelnr;Benämning;Beskrivning;Pris inkl moms;Ord. pris;Moms;Lagersaldo;Streckkod;Varumärke;Vikt (g);Skick;Varugrupp;Bildlänk;Inköpspris",
    "sku title description price compare_at_price vat_rate quantity gtin brand weight condition categories images "
      .split(" "),
  ],
  [
    "Référence;Désignation;Description;Prix TTC;Prix barré;Taux TVA;Quantité en stock;Code-barres;Marque;Poids (kg);État;Catégorie;Photo;Prix d'achat",
    "sku title description price compare_at_price vat_rate quantity gtin brand weight condition categories images "
      .split(" "),
  ],
  [
    "Referencia;Nombre;Descripción;PVP;Precio anterior;IVA;Existencias;Código de barras;Marca;Peso (kg);Condición;Categoría;Imagen;Precio de coste",
    "sku title description price compare_at_price vat_rate quantity gtin brand weight condition categories images "
      .split(" "),
  ],
  [
    "Kod produktu;Nazwa;Opis;Cena brutto;Stara cena;Stawka VAT;Stan magazynowy;Kod kreskowy;Producent;Waga (kg);Stan produktu;Kategoria;Zdjęcie;Cena zakupu;Cena netto",
    "sku title description price compare_at_price vat_rate quantity gtin brand weight condition categories images  "
      .split(" "),
  ],
  [
    "Artikelcode;Naam;Omschrijving;Verkoopprijs;Adviesprijs;BTW;Voorraad;Streepjescode;Merk;Gewicht (gram);Staat;Categorie;Afbeelding;Prijs excl. btw",
    "sku title description price compare_at_price vat_rate quantity gtin brand weight condition categories images "
      .split(" "),
  ],
  [
    "Artnr;Namn;Pris ink moms;Lager;EAN/GTIN",
    "sku title price quantity gtin".split(" "),
  ],
  ["sku;Price (excl. VAT)", ["sku", ""]],
  // Text in brackets may say that the column is something else.
  ...[
    "Price (without VAT)",
    "Preis (ohne MwSt.)",
    "Cena (bez VAT)",
    "Preis (EK)",
    "Price (wholesale)",
    "Preis (pro 100 St.)",
    "Bestand (reserviert)",
    "Artikelnummer (Lieferant)",
    "EAN (VPE)",
    "MwSt (Betrag)",
    // A unit may say so, too.
    "Preis/kg",
    "Menge in kg",
    "VAT (EUR)",
    "TVA €",
  ].map((name) => [`x;${name}`, ["", ""]] as const),
  ["Cena (zł);x", ["price", ""]],
  ["Titel (de);EAN (GTIN);Stock (pcs)", ["title", "gtin", "quantity"]],
  ["sku;Sale price", ["sku", "price"]],
  ["sku;Regular price;Sale price", ["sku", "price", "sale_price"]],
  ["sku;price;Regular price", ["sku", "price", "compare_at_price"]],
];

for (const [header, expected] of HEADERS) {
  Deno.test(`the columns of ${header} are known`, () => {
    const row = header.split(";").map(() => "abc").join(";");
    assertEquals(mapped(`${header}\n${row}\n`).mapping.targets, expected);
  });
}

Deno.test("columns with meaningless names are recognized by their values", () => {
  const rows = [
    "A,4006381333931,https://a.example/1.png?x=1,SEK,149 SEK,https://a.example/a",
    "B,9780306406157,https://a.example/2.jpg,SEK,5 SEK,https://a.example/b",
    "C,0012345678905,https://a.example/3.webp,EUR,1.50 SEK,https://a.example/c",
  ];
  const { mapping } = mapped(`sku,c1,c2,c3,c4,c5\n${rows.join("\n")}\n`);
  assertEquals(mapping.targets, [
    "sku",
    "gtin",
    "images",
    "currency",
    "price",
    "",
  ]);
  // One wrong digit, and too few digits to suggest a correction.
  for (const csv of ["sku,c\nA,4006381333932\n", "sku,c\nA,4006381333931\n"]) {
    assertEquals(mapped(csv).mapping.targets[1], "", csv);
  }
});

Deno.test("an export of WooCommerce is read as a person would read it", async () => {
  const woo = {
    ID: "44",
    Type: "simple",
    SKU: "woo-tshirt",
    Name: "T-Shirt",
    Published: "-1",
    "Is featured?": "0",
    "In stock?": "1",
    Stock: "",
    "Weight (kg)": "0.2",
    "Sale price": "18",
    "Regular price": "25",
    Categories: "Clothing > Tshirts, Summer\\, light",
    Tags: "new",
    Images: "https://a.example/a.png, https://a.example/b.png",
    Parent: "id:12",
    "Attribute 1 name": "Colour",
    "Attribute 1 value(s)": "Blue",
  };
  const expected = {
    title: "T-Shirt",
    status: "paused",
    availability: "in_stock",
    weight: "200",
    price: "18",
    compare_at_price: "25",
    categories: "Clothing > Tshirts|Summer, light",
    images: "https://a.example/a.png|https://a.example/b.png",
  };
  assertEquals(rowOf(woo), expected);
  const { compare_at_price: _, ...plain } = expected;
  assertEquals(rowOf({ ...woo, "Sale price": "" }), { ...plain, price: "25" });
  const header = Object.keys(woo).join("\t");
  const { table, mapping } = mapped(
    `${header}\n${Object.values(woo).join("\t")}\n`,
  );
  const text = await textOf(table, mapping);
  assertStringIncludes(text, '{"name":"Colour","value":"Blue"}');
});

Deno.test("rows of Shopify's images and variants become products", () => {
  const { table, note } = gatheredAtOnce(tableOf([
    "Handle,Title,Vendor,Option1 Name,Option1 Value,Variant SKU,Variant Price,Image Src,Variant Image",
    "mug,Mug,Kockums,Colour,Blue,M-B,149,https://a.example/1.png,https://a.example/2.png",
    "mug,,,,Red,M-R,159,https://a.example/2.png,",
    "mug,,,,,,,https://a.example/3.png,",
    "cup,Cup,Kockums,Title,Default Title,C,99,https://a.example/4.png,",
    "cup,,,,,,,https://a.example/5.png,",
  ].join("\n")));
  assertEquals(table.rows.map((row) => row.join()), [
    "mug,Mug – Blue,Kockums,Colour,Blue,M-B,149,https://a.example/2.png https://a.example/1.png https://a.example/3.png,,mug",
    "mug,Mug – Red,Kockums,Colour,Red,M-R,159,https://a.example/1.png https://a.example/2.png https://a.example/3.png,,mug",
    "cup,Cup,Kockums,Title,Default Title,C,99,https://a.example/4.png https://a.example/5.png,,",
  ]);
  assertEquals(table.numbers, [2, 3, 5]);
  assertStringIncludes(note, "2 rows of images");
  assertStringIncludes(note, "2 variants");
  assertEquals(mappingFor(table).targets.at(-1), "parent_sku");
  assertEquals(gatheredAtOnce(table).table, table, "once is enough");
});

Deno.test("variations of WooCommerce take missing values from their parent", () => {
  const { table, note } = gatheredAtOnce(tableOf([
    "ID;Type;SKU;Name;Is featured?;Description;Sale price;Regular price;Images;Parent",
    "1;variable;H;Hoodie;0;Warm;;;https://a.example/h.png;",
    "2;variation;H-B;Hoodie - Blue;0;;;45;;H",
    "3;variation;H-R;Hoodie - Red;0;Red;40;45;https://a.example/r.png;id:1",
    "4;simple;C;Cap;0;;;15;;",
  ].join("\n")));
  assertEquals(table.rows.map((row) => row.join(";")), [
    "2;variation;H-B;Hoodie - Blue;0;Warm;;45;https://a.example/h.png;H",
    "3;variation;H-R;Hoodie - Red;0;Red;40;45;https://a.example/r.png;H",
    "4;simple;C;Cap;0;;;15;;",
  ]);
  assertStringIncludes(note, "1 row without a price");
  const plain = tableOf("sku;title\nA;B\n");
  assertEquals(gatheredAtOnce(plain), { table: plain, note: "" });
});

Deno.test("an export of Shopify is read as a person would read it", () => {
  const shopify = {
    Handle: "mug",
    Title: "Mug",
    "Body (HTML)": "<p>Enamelled</p>",
    Vendor: "Kockums",
    Type: "Kitchen",
    Tags: "a, b",
    Published: "true",
    "Option1 Name": "Title",
    "Option1 Value": "Default Title",
    "Variant SKU": "'100200",
    "Variant Grams": "350.0",
    "Variant Inventory Qty": "12",
    "Variant Price": "149.00",
    "Variant Compare At Price": "199.00",
    "Variant Barcode": "'4006381333931",
    "Image Src": "https://a.example/a.png?v=1,2",
    "Variant Weight Unit": "kg",
    "Cost per item": "50",
    Status: "draft",
  };
  assertEquals(rowOf(shopify), {
    title: "Mug",
    description: "Enamelled",
    brand: "Kockums",
    categories: "Kitchen",
    weight: "350",
    quantity: "12",
    price: "149.00",
    compare_at_price: "199.00",
    gtin: "4006381333931",
    images: "https://a.example/a.png?v=1,2",
    status: "paused",
  });
});

Deno.test("columns may be named like properties that every object has", async () => {
  const { mapping, table } = mapped(
    "sku,constructor,toString,__proto__\nA-1,2,3,4\n",
  );
  assertEquals(mapping.targets, ["sku", "", "", ""]);
  assertStringIncludes(
    await textOf(table, mapping),
    '"sku":"A-1"',
  );
});

Deno.test("a first line that names the separator is not the header", () => {
  const plain = tableOf("sku;title\nA-1;Mug, red\n");
  for (
    const first of [
      "sep=;\n",
      "SEP=;\r\n",
      '"sep=;"\r',
      "\ufeffsep=;\n",
    ]
  ) {
    assertEquals(tableOf(`${first}sku;title\nA-1;Mug, red\n`), plain, first);
  }
  const odd = "sep=|\nsku|title\nA-1|Mug, red\n";
  assertEquals(tableOf(odd), { ...plain, delimiter: "|" });
  const bytes = new TextEncoder().encode(odd);
  assertEquals(fileKindOf("a.csv", bytes.buffer).name, "table");
  assertEquals(tableOf("sep=;x\n1;2\n").header, ["sep=", "x"]);
});

Deno.test("values may be enclosed in vertical bars", () => {
  const { header, rows } = tableOf("sku|title|price\nA|Mug, red|5,00\n");
  assertEquals(header, ["sku", "title", "price"]);
  assertEquals(rows, [["A", "Mug, red", "5,00"]]);
});

Deno.test("a header that names few columns is no title", () => {
  const { header, flaw } = tableOf("a;b;c;d\n1;2;3;4;5;6;7;8;9\n");
  assertEquals(header, ["a", "b", "c", "d"]);
  assertStringIncludes(flaw ?? "", "Row 2 has more values");
});

Deno.test("a field in two columns is a problem", () => {
  const { mapping } = mapped("sku,title,Namn,a,b,image 1,image 2\n1,2,3,4,5\n");
  assertEquals(repeatedFields(mapping), []);
  const targets = mapping.targets.with(2, "title");
  assertEquals(repeatedFields({ ...mapping, targets }), ["Title"]);
});

const FLAWS: readonly (readonly [string, string | null])[] = [
  ["sku,price\nA-1,5,,\n\nA-2\n", null],
  ['sku,title\nA-1,"5"" screen, black"\n', null],
  ["sku,price,quantity\nA-1,5,1\nA-2,149,00,12\n", "Row 3 has more values"],
  ['sku,title,price\nA-1,"Big" mug\n', "A quotation mark in row 2 is not"],
];

for (const [text, expected] of FLAWS) {
  Deno.test(`the flaw of ${JSON.stringify(text)} is ${expected}`, () => {
    const { flaw } = tableOf(text);
    if (expected === null) assertEquals(flaw, null);
    else assertStringIncludes(flaw ?? "", expected);
  });
}

/** A table with marks such as those of inches, and its rows. */
const MARKS: readonly (readonly [string, readonly string[]])[] = [
  // Both begin and end one text, and each of its lines may be a row.
  ['sku;title;qty\nA;"TV;5\nB;Cup;6\nC;TV 24";7\nD;Mug;8\n', [
    'A|"TV|5',
    "B|Cup|6",
    'C|TV 24"|7',
    "D|Mug|8",
  ]],
  ['sku;title;qty\nA;"TV;5\n\nB;Cup\nC;TV 24";7\n', [
    'A|"TV|5',
    "B|Cup|",
    'C|TV 24"|7',
  ]],
  ['sku;title;qty\nA;"TV;5\nB;"Line 1\nLine 2";6\n', [
    'A|"TV|5',
    "B|Line 1\nLine 2|6",
  ]],
  ['sku,title,qty\nA,"Big" mug,5\nB,"Nice" cup,6\nC,"x",7\n', [
    'A|"Big" mug|5',
    'B|"Nice" cup|6',
    "C|x|7",
  ]],
  ['sku,title\nA,"Mug\nB,Cup\n', ['A|"Mug', "B|Cup"]],
  ['sku,title,qty\nA,19" TV,5\nB,24" TV,6\n', ['A|19" TV|5', 'B|24" TV|6']],
  ['sku,title,qty\nA,"19" TV",5\n', ['A|19" TV|5']],
  ['sku;text;qty\nA;"19" wide\nand flat";5\n', ['A|19" wide\nand flat|5']],
  ['sku;text;qty\nA;"Blue;\n\nnot red";5\n', ["A|Blue;\n\nnot red|5"]],
];

for (const [text, rows] of MARKS) {
  Deno.test(`no row of ${JSON.stringify(text)} is lost`, () => {
    const table = tableOf(text);
    assertEquals(table.rows.map((row) => row.join("|")), rows);
    assertEquals(table.flaw, null);
  });
}

Deno.test("a value that may be one text or several rows is reported with its row, and may be either", () => {
  const text = 'sku;title;qty\nA;"TV;5\nB;Cup;6\nC;TV 24";7\nD;Mug;8\n';
  assertEquals(tableOf(text).ambiguousRows, [2]);
  const { rows, ambiguousRows } = finish(
    readTable(text, countKnownNames, true),
  );
  assertEquals(rows, [["A", "TV;5\nB;Cup;6\nC;TV 24", "7"], ["D", "Mug", "8"]]);
  assertEquals(ambiguousRows, [2]);
  const stray = tableOf('sku;title\nA;19" TV\nB;"Mug\n');
  assertEquals(stray.ambiguousRows, []);
  assertStringIncludes(stray.note, "part of its value: row 3.");
});

Deno.test("a long table of texts that begin with a quotation mark is read in time", () => {
  const rows = Array.from({ length: 40_000 }, (_, n) => `A${n};"Big" mug;5`);
  const taken = stopwatch();
  const table = tableOf(["sku;title;price", ...rows].join("\n"));
  assert(taken() < 10_000, "it takes a minute otherwise");
  assertEquals(table.rows.at(-1), ["A39999", '"Big" mug', "5"]);
});

Deno.test("a line break outside quotation marks may belong to a text or end a row", () => {
  const header = "sku;title;description;price;qty\n";
  for (
    const [lines, text] of [
      ["A;Mug;Blue\nand big;5;3\nB;Cup;;6;4\n", "Blue\nand big"],
      [
        "B;Cup;;6;4\nA;Mug;Blue\n\n- big\nand tall;5;3",
        "Blue\n- big\nand tall",
      ],
      ["A;Mug;;5;3\nleft\nB;Cup;;6;4\n", "|5|3\nleft"],
    ] as const
  ) {
    const read = tableOf(header + lines);
    const { rows, numbers, ambiguousRows } = finish(
      readTable(header + lines, countKnownNames, true),
    );
    const mug = rows.findIndex(([sku]) => sku === "A");
    assertStringIncludes(rows[mug].join("|"), text);
    assertEquals(rows.map(([sku]) => sku).sort(), ["A", "B"]);
    assertEquals(rows[mug].length, 5);
    assertEquals(ambiguousRows, [numbers[mug]]);
    assertEquals(read.ambiguousRows, ambiguousRows);
    assertEquals(read.rows.length, lines.match(/.+/g)?.length);
  }
  const quoted = 'C;"Jar;;6;4\nD;Can;;6;4\nE;Pot";;6;4\n';
  const both = `${header}A;Mug;Blue\nand big;5;3\n${quoted}`;
  assertEquals(tableOf(both).ambiguousRows, [2, 4], "in the order of the rows");
  // A program that omits empty values at the end of a row.
  const short = `${header}A;Mug;Blue\nB;Cup;6\nC;Jar\nD;Plate;Red;7;1\n`;
  assertEquals(tableOf(short).ambiguousRows, []);
  assertEquals(finish(readTable(short, countKnownNames, true)).rows.length, 4);
});

for (
  const title of [
    "Price list 2026",
    "Price list, autumn 2026",
    "Price list;;\n;;",
    "Price list\nof our shop, in euro\n",
  ]
) {
  Deno.test(`a title above the columns is passed over: ${JSON.stringify(title)}`, () => {
    const text = `${title}\nSKU;Title;Price\nA;Mug, red;1,50\nB;Cup;2,50\n`;
    const { header, rows, numbers, note } = tableOf(text);
    assertEquals(header, ["SKU", "Title", "Price"]);
    assertEquals(rows, [["A", "Mug, red", "1,50"], ["B", "Cup", "2,50"]]);
    assertEquals(numbers[0], text.split("\n").indexOf("A;Mug, red;1,50") + 1);
    assertStringIncludes(note, "“Price list");
    const bytes = new TextEncoder().encode(text);
    assertEquals(fileKindOf("a.csv", bytes.buffer).name, "table");
  });
}

const VALUES: readonly (readonly [ColumnField, string, string])[] = [
  ["price", "149,00", "149.00"],
  ["price", "1 299,50", "1299.50"],
  ["price", "1.299,50", "1299.50"],
  ["price", "1,299.50", "1299.50"],
  ["price", "1,299", "1,299"],
  ["price", "about 5", "about 5"],
  ["price", "1 299,00 kr", "1299.00"],
  ["price", "149:-", "149"],
  ["price", "SEK 149", "149"],
  ["price", "€ 149", "€ 149"],
  ["vat_rate", "19 %", "19"],
  ["vat_rate", "0", "0"],
  ["vat_rate", "0,19", "0,19 (0,19 % or 19 %?)"],
  ["vat_rate", ".07", ".07 (.07 % or 7 %?)"],
  ["vat_rate", "1,19", "1,19 (1,19 % or 19 %?)"],
  ["vat_rate", "0,5 %", "0.5"],
  ["title", "Cup &amp; saucer, &Oslash; 5&nbsp;cm", "Cup & saucer, Ø 5 cm"],
  ["description", "<p>5 &times; 3 m&sup2; &#x2013; red</p>", "5 × 3 m² – red"],
  ["quantity", "10 st", "10"],
  ["available_at", "2026-12-24 00:00:00", "2026-12-24"],
  ["quantity", "12.0", "12"],
  ["quantity", "1.000", "1.000"],
  ["gtin", "4006381 333931", "4006381333931"],
  ["availability", "In stock", "in_stock"],
  ["availability", "soon", "soon"],
  ["available_at", "1.12.2026", "2026-12-01"],
  ["categories", "Home > Kitchen; Gifts", "Home > Kitchen|Gifts"],
  [
    "images",
    "https://a.example/1,2.png https://a.example/3.png",
    "https://a.example/1,2.png|https://a.example/3.png",
  ],
];

for (const [field, cell, expected] of VALUES) {
  Deno.test(`${field} "${cell}" is sent as ${expected}`, () => {
    const { table, mapping } = mapped(`${field}\t\n"${cell}"\t\n`, {
      values: { currency: "SEK" },
    });
    const values = rowValues(table.rows[0], mapping);
    assertEquals(values.get(field)?.join("|"), expected);
  });
}

Deno.test("the document of a table is accepted", async () => {
  await using app = await boot();
  const rows = Array.from(
    { length: 250 },
    (_, i) => `S-${i};"Mug; ""big"" & <new>";1 299,00;5;Blue`,
  );
  const { table, mapping } = mapped(
    `sku;title;price;quantity;attribute: color\n\n${rows.join("\r\n")}`,
    { values: { currency: "SEK" } },
  );
  const answer = await app.call("/seller_api/bulk_products", {
    method: "POST",
    body: await textOf(table, mapping),
    headers: JSON_DOCUMENT,
  });
  assertEquals(answer.status, 200, answer.text);
  const { text } = await app.call("/seller_api/products/S-249");
  assertStringIncludes(
    text,
    "<title>Mug; &quot;big&quot; &amp; &lt;new&gt;</title>",
  );
  assertStringIncludes(text, '<price currency="SEK">1299</price>');
  assertStringIncludes(text, '<attribute name="color">Blue</attribute>');

  const template = mapped(templateCsv());
  const filled = await app.call("/seller_api/bulk_products", {
    method: "POST",
    body: await textOf(template.table, template.mapping),
    headers: JSON_DOCUMENT,
  });
  assertEquals(filled.status, 200, filled.text);
});

Deno.test("the tables of the handbook are accepted as they are", async () => {
  await using app = await boot();
  const tables = blocks(chapter("spreadsheet"))
    .filter(({ language }) => language === "csv");
  assertEquals(tables.length, 2);
  for (const { code } of tables) {
    const { table, mapping } = mapped(code);
    assertEquals(mapping.targets.includes(""), false, code);
    const text = await textOf(table, mapping);
    const answer = await app.call("/seller_api/bulk_products", {
      method: "POST",
      body: text,
      headers: JSON_DOCUMENT,
    });
    assertEquals(answer.status, 200, answer.text);
  }
  const { text } = await app.call("/seller_api/products/MUG-2");
  assertStringIncludes(text, "<title>Mug, tall</title>");
  assertStringIncludes(text, '<price currency="SEK">1299.5</price>');
  assertStringIncludes(text, "<quantity>3</quantity>");
});

Deno.test("a hyphen clears a field, and an empty cell leaves it", async () => {
  await using app = await boot();
  const put = async (row: string) => {
    const { table, mapping } = mapped(
      `SKU;Title;Price (SEK);Old price;Stock;EAN;Brand;Category\n${row}\n`,
    );
    const text = await textOf(table, mapping);
    const answer = await app.call("/seller_api/bulk_products", {
      method: "POST",
      body: text,
      headers: JSON_DOCUMENT,
    });
    assertEquals(answer.status, 200, text);
    return (await app.call("/seller_api/products/A")).text;
  };
  await put("A;Mug;5,00;9,00;3;4006381333931;Kockums;Home");
  const kept = await put("A;Cup;;;;;;");
  assertStringIncludes(kept, "<compare_at_price>9</compare_at_price>");
  assertStringIncludes(kept, "<category>Home</category>");
  const cleared = await put("A;;;-;;-;-;-");
  for (const name of ["compare_at_price", "gtin", "brand", "category"]) {
    assertEquals(cleared.includes(`<${name}>`), false, cleared);
  }
  assertStringIncludes(cleared, '<price currency="SEK">5</price>');
});

Deno.test("a saved CSV has no formula", () => {
  assertEquals(
    csvOf([["a", 1, null], ["=1+1", 'x"y', ","]]),
    '\ufeffa,1,\r\n"\'=1+1","x""y",","\r\n',
  );
});

/** The first two values of the last row. */
const SEPARATED: readonly (readonly [string, readonly string[]])[] = [
  // A name has more commas than the row has semicolons.
  [
    "Art.-Nr.;Preis (EUR, inkl. MwSt, netto)\nA-1;12,90\n",
    ["A-1", "12,90"],
  ],
  ["Foo;Bar (x, y, z)\nA-1;12,90\nA-2;5,00\n", ["A-2", "5,00"]],
  ["SKU,Title\nA-1,a; b; c; d\n", ["A-1", "a; b; c; d"]],
  ['Foo,Bar\n"A; 1; 2",b\n"B; 1; 2",c\n', ["B; 1; 2", "c"]],
  // Some programs omit empty values at the end.
  ["SKU;Price;Brand;Stock\nA-1;1,50\nA-2;2,50\n", ["A-2", "2,50"]],
  ["Our list, 2026\nSKU;Price\nA-1;1,50\n", ["A-1", "1,50"]],
  ["SKU\tPrice, EUR\nA-1\t1,50\n", ["A-1", "1,50"]],
  ["SKU|Price, EUR; net\nA-1|1,50\n", ["A-1", "1,50"]],
];

for (const [text, expected] of SEPARATED) {
  Deno.test(`the values of ${JSON.stringify(text)}`, () => {
    const last = tableOf(text).rows.at(-1)!;
    assertEquals(last.slice(0, 2), expected);
  });
}

const KINDS: readonly (readonly [string, string])[] = [
  ["<products/>", "document"],
  ["\ufeff  <products/>", "document"],
  ['\ufeff {"products": []}', "document"],
  ["sku,price\n1,2", "table"],
  ["sku|price\n1|2", "table"],
  ["", "an empty file"],
  ["PK\x03\x04....xl/workbook.xml", "workbook"],
  ["PK\x03\x04....word/document.xml", "a Word document"],
  ["PK\x03\x04....", "a ZIP archive"],
  ["%PDF-1.7", "a PDF"],
  ['[{"sku": 1}]', "a list in JSON"],
  ["<!DOCTYPE HTML><p>", "a web page"],
  ["sku,price\n", "table"],
  ["hello", "text without columns"],
];

for (const [text, expected] of KINDS) {
  Deno.test(`${JSON.stringify(text)} is taken for ${expected}`, () => {
    const bytes = new TextEncoder().encode(text).buffer;
    const kind = fileKindOf("file", bytes);
    assertEquals(
      kind.name === "refused" ? kind.refused.what : kind.name,
      expected,
    );
  });
}

Deno.test("a table in the code page of Windows is read", () => {
  const bytes =
    Uint8Array.from("sku;title\n1;\xe5\xe4\xf6", (char) => char.charCodeAt(0))
      .buffer;
  const kind = fileKindOf("a.csv", bytes);
  assertEquals(kind.name === "table" && kind.decoded.text, "sku;title\n1;åäö");
});
