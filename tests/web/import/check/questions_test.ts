/** Questions about a table before it is sent, and the effect of answers. */
import { countKnownNames } from "../../../../src/web/import/columns/headers.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { readTable } from "../../../../src/web/import/read/csv.ts";
import {
  type ChosenColumns,
  NOTHING_CHOSEN,
} from "../../../../src/web/import/columns/mappings.ts";
import { questionsOf } from "../../../../src/web/import/check/questions.ts";
import type { ColumnField } from "../../../../src/web/lib/column_field.ts";
import {
  chosenIn,
  mappingFor,
  rowValues,
  withTarget,
} from "../../../../src/web/import/columns/spreadsheet.ts";
import { checkRows } from "../../../../src/web/import/check/table_checks.ts";
import { finish } from "../../../support/work.ts";

function asked(csv: string, chosen: Partial<ChosenColumns> = {}) {
  const table = finish(readTable(csv, countKnownNames));
  const all = { ...NOTHING_CHOSEN, ...chosen };
  const mapping = mappingFor(table, all);
  const problems = finish(checkRows(table, mapping));
  const questions = finish(
    questionsOf({ table, mapping, problems, chosen: all }),
  );
  /** The value of a field in each row after an answer. */
  const after = (label: string, field: ColumnField) => {
    const answer = questions.flatMap(({ answers }) => answers)
      .find((one) => one.label === label);
    const next = answer?.apply({ table, mapping }) ?? { table, mapping };
    return next.table.rows.map((row) =>
      rowValues(row, next.mapping).get(field)?.[0]
    );
  };
  return { questions: questions.map(({ text }) => text), after };
}

Deno.test("clear values raise no question", () => {
  for (
    const csv of [
      "sku;price;stock\nA;12,90;3\nB;1.299,00;1200\n",
      'sku,price,stock\nA,12.90,3\nB,"1,299",0\n',
      "sku;Preis;Gewicht (g)\nA;12,90;1.250\nB;1.299;350\n",
      "sku;Gewicht (kg)\nA;1,250\nB;0,35\n",
      "sku;MwSt\nA;19\nB;7\nC;0\n",
      "sku;price;sale price;Erstellt am\nA;5;4;01.02.2026\n",
      "sku;title\nA-1;Mug\n12-JAR;Cup\n5E10;Plate\n1.50;Cup\n",
    ]
  ) {
    assertEquals(asked(csv).questions, [], csv);
  }
});

Deno.test("the page asks whether the unit of an earlier file applies, if this file has none", () => {
  const units = { Weight: "kg", Price: "1/100" };
  const { questions, after } = asked("sku;Weight\nA;2\n", { units });
  assertEquals(questions.length, 1);
  assertStringIncludes(questions[0], "Weight were kg in an earlier file");
  assertEquals(after("g", "weight"), ["2"]);
  assertEquals(after("kg", "weight"), ["2000"]);
  assertEquals(asked("sku;Weight\nA;2 kg\n", { units }).questions, []);
  const named = { units: { "Weight (kg)": "g" } };
  assertEquals(asked("sku;Weight (kg)\nA;2\n", named).questions.length, 1);
  const cents = asked("sku;Price\nA;1290\n", { units });
  assertEquals(cents.after("cents", "price"), ["12.90"]);
  assertEquals(cents.after("whole amounts", "price"), ["1290"]);
});

Deno.test("the page asks about numbers whose separator may be of thousands or decimals", () => {
  const stock = asked("sku;price;stock\nA;12,90;10,000\nB;9,90;5,000\n");
  assertEquals(stock.questions, ["stock: does 10,000 mean 10000, or 10?"]);
  assertEquals(stock.after("10", "quantity"), ["10", "5"]);
  assertEquals(stock.after("10000", "quantity"), ["10000", "5000"]);
  const points = asked("sku;stock\nA;1.000\n");
  assertEquals(points.after("1", "quantity"), ["1"]);
  assertEquals(points.after("1000", "quantity"), ["1000"]);

  for (const sign of [",", "."]) {
    const { questions, after } = asked(
      `sku;Price (EUR)\nA;12${sign}90\nB;1${sign}299 €\n`,
    );
    assertEquals(questions.length, 1, sign);
    assertEquals(after("1299", "price"), ["12.90", "1299"]);
    assertEquals(after("1.299", "price"), ["12.90", "1.299"]);
  }
  assertEquals(asked("sku;Gewicht (g)\nA;1.250\n").questions.length, 1);
  const both = asked("sku;price\nA;1.299\nB;1,299\n").questions;
  assertEquals(both.length, 1);
  assertStringIncludes(both[0], "price has 1.299 and 1,299");
});

Deno.test("the page asks about fractions of a gram, except from a conversion", () => {
  const { questions, after } = asked(
    "sku;Gewicht (kg)\nA;0,2855\nB;0,35\nC;1.5 g\n",
  );
  assertEquals(questions, [
    "Gewicht (kg): 0,2855 kg is 285.5 g, and only whole grams are stored.",
  ]);
  assertEquals(after("Round 2", "weight"), ["286", "350", "2"]);
  assertEquals(after("Leave 2 out", "weight"), [undefined, "350", undefined]);
  assertEquals(after("", "weight"), ["0.2855 kg", "350", "1.5 g"]);
  assertEquals(asked("sku;Weight (g)\nA;1,5\n").questions.length, 1);
  assertEquals(asked("sku;Weight (mg)\nA;1500\n").questions.length, 1);
  for (const exact of ["Weight (kg)\nA;0.5\nB;1.001", "Weight (lb)\nA;0.3"]) {
    assertEquals(asked(`sku;${exact}\n`).questions, [], exact);
  }
  // First the meaning of the sign must be known.
  assertEquals(asked("sku;Weight (g)\nA;1.250\n").questions, [
    "Weight (g): does 1.250 mean 1250, or 1.250?",
  ]);
});

Deno.test("tax classes are distinguished from rates", () => {
  const { questions } = asked("sku;MwSt\nA;1\nB;2\nC;0\n");
  assertEquals(questions.length, 1);
  assertStringIncludes(questions[0], "MwSt is 0, 1, 2");
});

for (
  const sku of [
    "1234.0",
    "1,234",
    "2026-02-01T12:00:00",
    "4,00638E+12",
    "2,5E+03",
    "1.2E3",
    "1E+05",
  ].concat(
    ["01. Feb", "1-Feb", "Feb-26", "05. Mrz", "01.02.2026", "2026-02-01"],
  )
) {
  Deno.test(`the page asks about the SKU ${sku}`, () => {
    const { questions } = asked(`sku;title\n${sku};Mug\nA;Cup\n`);
    assertEquals(questions.length, 1);
    assertStringIncludes(questions[0], `1 article number such as ${sku}`);
  });
}

for (
  const [header, date] of [
    ["Sonderpreis von", "01.12.2026"],
    ["special_from_date", "2026-12-01 00:00:00"],
    [
      "sale_price_effective_date",
      "2026-12-01T00:00-0800/2026-12-24T00:00-0800",
    ],
    ["Date sale price starts", "2026-12-01"],
    ["Datum, an dem Angebotspreis endet", "24.12.26"],
    ["Aktionsende", "20261224"],
    ["Gültig bis", "24.12.2026"],
    ["Kampanjstart", "2026-12-01"],
    ["Rea till", "2026-12-24"],
    ["Début de la promo", "01/12/2026"],
    ["Fin des soldes", "24/12/2026"],
    ["Inicio de la oferta", "1/12/2026"],
    ["Promocja od", "01.12.2026"],
    ["Startdatum aanbieding", "01-12-2026"],
    ["Actieprijs vanaf", "01-12-2026"],
  ]
) {
  Deno.test(`the page asks about a sale price with a date under ${header}`, () => {
    const { questions, after } = asked(
      `sku;price;sale price;${header}\nA;10;8;${date}\nB;10;9;\n`,
    );
    assertEquals(questions.length, 1);
    assertStringIncludes(questions[0], "1 sale price with a date");
    assertEquals(after("The sale is on now", "price"), ["8", "9"]);
    assertEquals(after("Leave 1 out", "price"), ["10", "9"]);
  });
}

Deno.test("a sale price without a date is not one with a date", () => {
  const csv = "sku;price;sale price;Sale to\nA;9;8;0000-00-00\nB;9;;1.2.2026\n";
  assertEquals(asked(csv).questions, []);
});

Deno.test("the page asks about a sale price without a price", () => {
  const { questions, after } = asked("sku;price;sale price\nA;10;8\nB;;9\n");
  assertEquals(questions, [
    "1 sale price without a price would become the price.",
  ]);
  assertEquals(after("Leave 1 out", "price"), ["8", undefined]);
  assertEquals(after("That is right", "price"), ["8", "9"]);
  const alone = asked("sku;Angebotspreis\nA;8\n");
  assertEquals(alone.questions.length, 1);
  assertEquals(alone.after("Leave 1 out", "price"), [undefined]);
});

Deno.test("the page asks about a recommended price if it is the only price", () => {
  for (
    const name of [
      "UVP",
      "RRP (EUR)",
      "MSRP",
      "Rekommenderat pris",
      "Stara cena",
      "Old price",
    ]
  ) {
    assertEquals(asked(`sku;${name}\nA;8\n`).questions, [
      `${name} would be the price, because no other column is.`,
    ]);
  }
  assertEquals(asked("sku;UVP;Preis\nA;8;7\n").questions, []);
  assertEquals(asked("sku;Regular price\nA;8\n").questions, []);
});

Deno.test("a recommended price beside a sale price is counted, because the price replaces it", () => {
  const table = finish(
    readTable("sku;price;UVP;sale price\nA;10;12;8\nB;9;9;\n", countKnownNames),
  );
  const mapping = mappingFor(table);
  assertEquals(finish(checkRows(table, mapping)).replaced, 1);
});

Deno.test("the page asks which of several possible columns is a field", () => {
  for (
    const [csv, text, label, field, expected] of [
      [
        "sku;Preis;Preis inkl. MwSt\nA;10,84;12,90\n",
        "Price",
        "Preis inkl. MwSt: 12,90",
        "price",
        "12.90",
      ],
      [
        "sku;Lager 1;Lager 2\nA;3;4\n",
        "Quantity",
        "Lager 2: 4",
        "quantity",
        "4",
      ],
      [
        "sku;stock;Bestand\nA;3;3\nB;;4\n",
        "Quantity",
        "Bestand: 4",
        "quantity",
        "3",
      ],
    ] as const
  ) {
    const { questions, after } = asked(csv);
    assertEquals(questions.length, 1, csv);
    assertStringIncludes(questions[0], `may each be the ${text}`);
    assertEquals(after(label, field)[0], expected);
  }
  assertEquals(asked("sku;stock;Bestand\nA;3;3\nB;4;\n").questions, []);
  const known = { targets: { Amount: "", Price: "price" } };
  const again = asked("sku;Amount;Price\nA;5;12.90\n", known);
  assertEquals(again.questions, []);
  assertEquals(again.after("", "price"), ["12.90"]);
});

Deno.test("another column of the price has another currency", () => {
  const table = finish(
    readTable("sku;Price SEK;Price EUR\nA;129;12.90\n", countKnownNames),
  );
  const first = mappingFor(table);
  assertEquals(first.values.currency, "SEK");
  const other = { ...first, targets: first.targets.with(1, "") };
  const { values } = withTarget(table, other, 2, "price");
  assertEquals(values.currency, "EUR");
  const chosen = chosenIn(table, withTarget(table, other, 2, "price"));
  assertEquals(chosen.targets, { "Price SEK": "", "Price EUR": "price" });
  assertEquals(mappingFor(table, chosen).values.currency, "EUR");
});

Deno.test("another price column that names no currency has none", () => {
  const table = finish(
    readTable("sku;Price EUR;Price inc VAT\nA;14.30;13\n", countKnownNames),
  );
  const first = mappingFor(table);
  assertEquals(first.values.currency, "EUR");
  const freed = withTarget(table, first, 1, "");
  const { values } = withTarget(table, freed, 2, "price");
  assertEquals(values.currency, undefined);
});

Deno.test("the page asks about rows that another column marks as not for sale", () => {
  const paused = (csv: string) => {
    const { questions, after } = asked(`${csv}\n`);
    assertEquals(questions.length, 1, csv);
    return after("No: pause 1", "status");
  };
  for (
    const [name, no, yes] of [
      ["Gesperrt", "nein", "ja"],
      ["Löschkennzeichen", "", "X"],
      ["Is deleted", "0", "1"],
      ["deleted_at", "0000-00-00 00:00:00", "2026-01-02 10:00:00"],
      ["Discontinued", "FALSE", "TRUE"],
      ["Inaktiv", "0", "1"],
      ["Utgått", "nej", "ja"],
      ["Zablokowany", "nie", "tak"],
      ["Visibility in catalog", "visible", "hidden"],
      ["Kennzeichen", "Neu", "Gelöscht"],
    ]
  ) {
    assertEquals(
      paused(`sku;title;${name}\nA;Mug;${no}\nB;Cup;${yes}`),
      [undefined, "paused"],
      name,
    );
  }
  assertEquals(
    paused("sku;title;Status;Sichtbar\nA;Mug;aktiv;ja\nB;Cup;aktiv;nein"),
    ["active", "paused"],
  );
  assertEquals(paused("sku;title;Aktiv\nA;Mug;x\nB;Cup;"), [
    "active",
    "paused",
  ]);
  // A person may choose the column as the status.
  const blocked = asked("sku;Gesperrt\nA;nein\nB;ja\n", {
    targets: { Gesperrt: "status" },
  });
  assertEquals(blocked.after("No: pause 1", "status"), ["active", "paused"]);
  for (
    const csv of [
      "sku;title;Status;Gesperrt\nA;Mug;inaktiv;ja\n",
      "sku;title;Gesperrt\nA;Mug;nein\n",
      "sku;title;Aktiv\nA;Mug;ja\nB;Cup;nein\nC;Pot;\n",
      "sku;title;Sperrgut\nA;Mug;ja\n",
    ]
  ) {
    assertEquals(asked(csv).questions, [], csv);
  }
});

Deno.test("the page asks about a price for many pieces or without VAT", () => {
  for (
    const [name, usual, other] of [
      ["Preiseinheit", "1", "100"],
      ["Price per", "1.0", "1000"],
      ["MwSt. inkl.", "ja", "nein"],
      ["Tax included", "Yes", "No"],
      ["Netto", "0", "1"],
    ]
  ) {
    const { questions, after } = asked(
      `sku;price;${name}\nA;12.90;${usual}\nB;12.90;${other}\n`,
    );
    assertEquals(questions.length, 1, name);
    assertEquals(after("Yes", "price"), ["12.90", "12.90"]);
    assertEquals(after("No: leave 1 price out", "price"), ["12.90", undefined]);
  }
  const net = "sku;Preis inkl. MwSt;Preis netto\nA;12,90;10,84\n";
  assertEquals(asked(net).questions, []);
});

Deno.test("a price for 100 pieces is divided", () => {
  const divided = "Of 100: divide it";
  for (
    const [csv, label] of [
      ["sku;Preis (100 Stk)\nA;490,00\n", divided],
      ["Preise je 100 Stk\nsku;title;Preis\nA;Mug;490,00\n", divided],
      ["sku;title;Preis\nA;Mug;490,00\nPreise je 100 Stk;;\n", divided],
      [
        "Preise je 100 Stk\nsku;Preis;UVP\nA;490,00;500,00\n",
        "Of 100: divide them",
      ],
    ]
  ) {
    const { questions, after } = asked(csv);
    assertEquals(questions.length, 1, csv);
    assertEquals(after(label, "price"), ["4.90"], csv);
    assertEquals(after("Of one", "price"), ["490.00"], csv);
  }
  const dozen = asked("sku;Preis (12 Stk)\nA;490,00\n");
  assertEquals(dozen.after("Of 12: leave it out", "price"), [undefined]);
});

Deno.test("the page asks about a price that disagrees with that of 100 pieces", () => {
  const { after } = asked("sku;Stukprijs;Prijs per 100\nA;6,23;249,00\n");
  assertEquals(after("Stukprijs: 6,23", "price"), ["6.23"]);
  assertEquals(after("Prijs per 100: 249,00", "price"), ["249.00"]);
  assertEquals(after("None", "price"), [undefined]);
  for (
    const [one, hundred] of [
      ["6,23", "623,00"],
      ["0,07", "7,49"],
      ["6,23", "320,00"],
      ["6,23", ""],
      ["6,23", "5,90"],
    ]
  ) {
    const csv = `sku;Stukprijs;Prijs per 100\nA;${one};${hundred}\n`;
    assertEquals(asked(csv).questions, [], csv);
  }
});

Deno.test("the page asks about an amount of money under another name", () => {
  for (const name of ["Händlerpreis", "Versandkosten", "c"]) {
    const csv = `sku;${name}\nA;4,90 €\nB;5,90 €\n`;
    assertEquals(asked(csv).questions, [
      `${name} would be the price, because no other column is.`,
    ]);
    assertEquals(asked(csv, { targets: { [name]: "price" } }).questions, []);
  }
});

Deno.test("amounts of VAT are distinguished from rates", () => {
  const rows = [20, 10, 4, 2, 8, 1.5, 3].map((vat, i) => `A${i};${vat}\n`);
  const { questions } = asked(`sku;VAT\n${rows.join("")}`);
  assertEquals(questions.length, 1);
  assertStringIncludes(questions[0], "7 different values");
});

Deno.test("the page asks about letters broken by an earlier program", () => {
  for (
    const word of ["GrÃ¶ÃŸe", "Gr\ufffd\ufffde", "Gr??e", "CafÃ©", "5Â°"]
      .concat("Itâ€™s", "Å\u0081Ã³dÅº")
  ) {
    const { questions } = asked(`sku;title\nA;${word}\n`);
    assertEquals(questions.length, 1, word);
    assertStringIncludes(questions[0], word);
  }
  for (
    const text of [
      "Größe?",
      "Why? Because",
      "Ærø",
      "Åre Äpple",
      "Ãgua",
      "50 % – „neu“",
      "Łódź",
      "SÃO PAULO",
    ]
  ) {
    assertEquals(asked(`sku;title\nA;${text}\n`).questions, [], text);
  }
});

Deno.test("the page asks about a row that sums the others", () => {
  for (
    const row of [
      "Summe:;;5;1",
      ";Total général;5;1",
      "Grand total;2 items;5;1",
      "Suma końcowa;-;5;1",
      ";Összesen:;5;1",
    ]
  ) {
    const { questions, after } = asked(
      `sku;title;price;stock\nTotal-1;Total cleaner;5;1\n${row}\n`,
    );
    assertEquals(
      questions,
      ["A sum, not a product, may be in row 3."],
      row,
    );
    assertEquals(after("Leave 1 row out", "sku"), ["Total-1"]);
  }
});

Deno.test("the page asks about several SKUs in one cell", () => {
  const { questions, after } = asked(
    'sku,price\n"M-R,M-B",5\nC-1,6\n"A,1",7\n',
  );
  assertEquals(questions.length, 1);
  assertStringIncludes(questions[0], "M-R,M-B in 1 row");
  assertEquals(after("Leave 1 row out", "price"), ["6", "7"]);
});

Deno.test("the page asks about products in stock without a quantity", () => {
  const { questions, after } = asked(
    "sku;quantity;availability\nA;0;in_stock\nB;0;out_of_stock\nC;1;in_stock\n" +
      "D;;in_stock\nE;0.000;ja\n",
  );
  assertEquals(questions, [
    "availability is in_stock in 2 rows with the quantity 0. Is that in stock?",
  ]);
  assertEquals(after("No: 2 out of stock", "availability"), [
    "out_of_stock",
    "out_of_stock",
    "in_stock",
    "in_stock",
    "out_of_stock",
  ]);
});
