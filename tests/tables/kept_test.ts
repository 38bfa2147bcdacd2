/**
 * The smallest files that the page once read wrongly without a note. Each now
 * either has the right value, or leads to a question.
 */
import { assert, assertEquals } from "@std/assert";
import { drop, openQuestions, sentOf } from "./page.ts";

/** The values of the first product, or a part of the question. */
type Right = Readonly<Record<string, unknown>> | string;

const FILES: readonly (readonly [file: string, right: Right])[] = [
  ["SKU;Titel;Preis (EUR);Kundengruppe\nA1;Becher;12,90;ALL", {
    price: { amount: "12.90", currency: "EUR" },
  }],
  ["SKU;Price (GBP);Supplier currency\nA;12.90;USD", {
    price: { amount: "12.90", currency: "GBP" },
  }],
  ["SKU;Price;Supplier currency\nA;12.90;USD", "the currency of the prices"],
  ["Artikelnr;Listenpreis;Onlinepreis\nA;15,00;9,99", {
    price: { amount: "9.99" },
    compare_at_price: "15.00",
  }],
  ["SKU;Ord. pris;Webbpris\nA;15,00;9,99", { price: { amount: "9.99" } }],
  ["SKU;Preis;Onlinepreis\nA;15,00;9,99", "may each be the Price"],
  [
    "SKU;Preis;Aktionspreis;von;bis\nA;12,90;9,90;01.01.2024;31.01.2024",
    "sale price with a date",
  ],
  [
    "SKU;Price;Sale price;Sale start\nA;12.90;9.90;Jan 1, 2024",
    "sale price with a date",
  ],
  ["SKU;Price;Sale price;Sale end\nA;12.90;9.90;45292", "with a date"],
  ["SKU;Preis;Aktionspreis;Aktion aktiv\nA;12,90;9,90;nein", {
    price: { amount: "12.90" },
  }],
  [
    "SKU;Compare at price;Retail incl. VAT\nA;15.00;9.99",
    "Compare at price would be the price",
  ],
  // "actief" does not mark a sale.
  ["SKU;Prijs;Aanbiedingsprijs;Actief\nA;12,90;9,90;0", {
    price: { amount: "9.90" },
  }],
  ["SKU;Preis (100 Stk)\nA;4,90", "of one piece, or of 100"],
  ["SKU;Preis;PE\nA;4,90;100", "that of one piece"],
  ["SKU;Preis;Preiseinheit\nA;4,90;C", "that of one piece"],
  ["SKU;Preis;Preiseinheit\nA;4,90;je 100", "that of one piece"],
  ["SKU;Preis (12 Stk)\nA;24,00", "of one piece, or of 12"],
  ["SKU;Price (100)\nA;24.00", "of one piece, or of 100"],
  ["SKU;Prijs;Prijs per\nA;4,90;100", "that of one piece"],
  ["SKU;Price;Price basis\nA;4.90;hundred", "that of one piece"],
  ["SKU;Preis;Preiseinheit\nA;4,90;Dutzend", "that of one piece"],
  // These are the codes of one piece, and the sign of a metre.
  ["SKU;Preis;Preiseinheit\nA;4,90;C62\nB;5,90;m", {
    price: { amount: "4.90" },
  }],
  ["SKU;Stukprijs;Prijs per 100\nA;6,23;249,00", "may each be the Price"],
  ["SKU;Unit price;Price/100\nA;2.00;249.00", "may each be the Price"],
  // Fewer pieces cost more each, and a unit of volume is no number of pieces.
  ["SKU;Stukprijs;Prijs per 100\nA;0,10;7,49", { price: { amount: "0.10" } }],
  ["SKU;Prijs;Prijs per 10\nA;5,00;4,50", { price: { amount: "5.00" } }],
  ["SKU;Preis (100 Stk);Preis\nA;99,00 €;1,00 €", {
    price: { amount: "1.00" },
  }],
  ["SKU;Price;Price/100ml\nA;24.00;240.00", { price: { amount: "24.00" } }],
  [
    "Alle Preise je 100 Stück\nSKU;Titel;Preis\nA;Becher;24,00",
    "of one piece, or of 100",
  ],
  [
    "SKU;Title;Price\nA;Mug;24.00\nPrices per dozen;;",
    "of one piece, or of 12",
  ],
  [
    "Preise pro 100 Stück zzgl. MwSt.\nSKU;Titel;Preis\nA;Becher;24,00",
    "those of one piece with VAT",
  ],
  ["Priser per 20 mars 2026\nSKU;Titel;Pris\nA;Mugg;24,00", {
    price: { amount: "24.00" },
  }],
  ["SKU;Preis;Preis netto pro 100\nA;1,00;84,00", {
    price: { amount: "1.00" },
  }],
  ["SKU;Shop-Preis;Preis 2\nA;19,90;17,90", "may each be the Price"],
  ["SKU;Price inc VAT;Amount\nA;12.90;6", { price: { amount: "12.90" } }],
  ["SKU;Prix boutique;Prix unitaire\nA;12,90;25,80", "may each be the Price"],
  ["SKU;Prix;Poids (kg)\nA;3,990;0.35", "does 3,990 mean 3990, or 3.990"],
  [
    "SKU;Preis\nA;12,90\nAlle Preise zzgl. 19% MwSt.;",
    "Are the prices with VAT",
  ],
  ["SKU;Bestand;Reserviert;Verfügbar\nA;12;10;2", { quantity: "2" }],
  ["SKU;Lagersaldo;Disponibelt antal\nA;12;2", "may each be the Quantity"],
  ["SKU;Naam;Op voorraad\nA;Mok;1", { quantity: undefined }],
  ["SKU;Verfügbarkeit\nA;1\nB;3", "numbers of pieces, or codes"],
  ["SKU;Verfügbar;Lager\nA;120;1", "may each be the Quantity"],
  ["SKU;Freier Bestand;Menge\nA;49;250", "may each be the Quantity"],
  ["SKU;Bestand\nA;-", "Does it mean 0"],
  [
    "SKU;Case EAN;Unit barcode\nA;4006381333931;9780306406157\nB;0012345678905;036000291452\nC;4006381333948;4006381333955",
    { gtin: "9780306406157" },
  ],
  ["SKU;Titel;Hauptartikel\nA;Becher;Ja", { parent_sku: undefined }],
  ["SKU,Kategorie\nA,Haus &amp; Garten", { categories: ["Haus & Garten"] }],
  ["SKU;Kategorie\nA;20,27", { categories: undefined }],
  ["SKU;categories\nA;a552c50c4d4e6fb1a2c3d4e5f607182a", {
    categories: undefined,
  }],
  ["SKU;Bild;Energielabel\nA;https://a.example/1.png;https://a.example/e.png", {
    images: [{ url: "https://a.example/1.png" }],
  }],
  ["SKU;Produkt;Nazwa EN\nA;Kubek;Mug", { title: undefined }],
  ["SKU;Kurztext;Titel 2\nA;Becher;blau", { title: undefined }],
  ["SKU,Description\nA,&lt;p&gt;Fine&lt;/p&gt;", { description: "Fine" }],
  ["SKU;Label;Vendor\nA;Alessi;Import Ltd", { brand: undefined }],
  ["SKU;Hersteller;Marke\nA;Norr GmbH;Norr", { brand: "Norr" }],
  ["SKU;Gewicht\nA;1 Pfund", { weight: { value: "1 Pfund (unit?)" } }],
  ["SKU;Price;VAT\nA;12.90;3.61", "VAT rate in percent, or an amount"],
  ["SKU;VAT\nA;0.17\nB;3.00", "is 0.17 in some rows and 3.00 in others"],
  ["SKU;MwSt\nA;0,00\nB;0,56", "0,56 in some rows, which no country has"],
  ["SKU;VAT\nA;20\nB;2", "is 2 in some rows, which no country has"],
  ["SKU;Price;VAT\nA;22.80;3.80\nB;42.00;7.00", "the VAT in the price"],
  ["SKU;Price;VAT\nA;12.90;19.00\nB;119.00;19.00", { vat_rate: "19.00" }],
  ["SKU;Price;VAT\nA;12.90;0.9 %\nB;3.99;20 %", { vat_rate: "0.9" }],
  ["'SKU';'Titel'\n'A-1';'Becher'", { sku: "A-1", title: "Becher" }],
  ["SKU;Titel\nA;Becher\nSKU;Titel\nB;Glas", { sku: "A", title: "Becher" }],
  [
    "Handle,Title,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Price,Status\nm,Mug,A,,0,4.90,active",
    { quantity: undefined },
  ],
  ["Artikelnummer;Bestandseinheit (SKU)\n2550;E-1\n2551;E-2", "be the SKU"],
  ["SKU;Nom;État\nA;Tasse;0\nB;Pot;1", { status: "paused" }],
  ["SKU;Hersteller\nA;12\nB;15", { brand: undefined }],
  ["SKU;Marke\nA;N/A", { brand: undefined }],
  ["sku,categories\nA,\"['Home', 'Kitchen']\"", {
    categories: ["Home", "Kitchen"],
  }],
  ["sku,images\nA,[]", { images: undefined }],
  [
    "SKU;Preis 1;Menge 1;Preis 2;Menge 2\nA;12,90;1;11,90;10",
    "may each be the Quantity",
  ],
  ["SKU;Prix TTC;Prix remisé TTC\nA;12,90;10,32", {
    price: { amount: "10.32" },
    compare_at_price: "12.90",
  }],
  ["SKU;Prix TTC;Prix remisé TTC\nA;12,90;12,90", { compare_at_price: null }],
  ["SKU;Titel;Online\nA;Becher;\nB;Glas;x", "Are those for sale"],
  ["p_id;p_model;p_name.de\n1,5;Titel;Beschreibung", { sku: undefined }],
  ["SKU;Price;Price type\nA;12.90;net", "of one piece with VAT"],
  [
    "Alle Preise zzgl. MwSt.\nSKU;Titel;Preis\nA;Becher;12,90",
    "Are the prices with VAT",
  ],
  ["SKU;Listenpreis netto;Preis\nA;15,00;12,00", "Is it with VAT"],
  ["SKU,Weight lb,Weight oz\nA,1,4", { weight: { value: "567" } }],
  ["SKU;Kategorie\nA;Haus, Garten", "one category, or several"],
  ['SKU;Kategorie\nA;"Haus, Hof &amp; Garten"', "one category, or several"],
  [
    "Artnr,Titel,Valuta,Pris,Antal,Anm\nA1,Mugg,SEK,99,7\nA2,Skål,SEK,149,50,7",
    "a decimal comma may be read as a delimiter",
  ],
  [
    "Artnr,Titel,Valuta,Pris,Antal,Anm\nA1,Mugg,SEK,99,00,7\nA2,Skål,SEK,149,50,7",
    "a decimal comma may be read as a delimiter",
  ],
  [
    "SKU,Cena,Stara cena,Waluta,Anm\nA,8,99,,PLN,\nB,15,49,33,49,PLN",
    "a decimal comma may be read as a delimiter",
  ],
  [
    "SKU,Bruttopreis (CHF),Alter Preis (CHF),Anm\nA,3,49,,\nB,10,49,,",
    "a decimal comma may be read as a delimiter",
  ],
  [
    "SKU,Preis,Aktionspreis,Anm\nA,12,91,9,91\nB,11,92,,",
    "a decimal comma may be read as a delimiter",
  ],
  [
    "SKU,Gewichtseenheid,Prijs,Gewicht,BTW\nA,kg,12,99,9\nB,kg,19,49,9",
    "a decimal comma may be read as a delimiter",
  ],
  // A whole price with the former price, and with a sale.
  ["SKU,Price,Old price,Brand\nA,12,15,Norr\nB,20,35,Norr", {
    compare_at_price: "15",
  }],
  ["SKU,Price,Sale price,Brand\nA,22,17,Norr\nB,20,,Norr", {
    price: { amount: "17" },
  }],
  [
    "SKU;Titel;Marke;Anm\nA;Garnek; 6er Set;Norr\nB;Becher;Norr",
    "may be part of a text in row 2",
  ],
  [
    "Muster GmbH;Hauptstr. 1;12345 Ort;Tel. 0123\nSKU;Titel;Bestand\nA;Becher;1\nSKU;Titel;Bestand\nB;Glas;2",
    { sku: "A" },
  ],
  ["'Preise, Stand heute'\n'SKU','Titel'\n'A','Becher'", { sku: "A" }],
  ["SKU;Titolo;Sospeso\nA;Tazza;N\nB;Pot;S", "Is that for sale"],
  ["SKU;Nom;Sommeil\nA;Tasse;Non\nB;Pot;Oui", "Is that for sale"],
  ["SKU;Namn;Utgående\nA;Mugg;0\nB;Lampa;1", "Is that for sale"],
  ["SKU;Name;Live\nA;Mug;TRUE\nB;Lamp;FALSE", "Is that for sale"],
  ["SKU;Name;Action\nA;Mug;Update\nB;Lamp;Delete", "Is that for sale"],
  ["Artikelnummer;Std. VK Brutto;UVP;HAN\nA;12,90;15,99;K25", {
    price: { amount: "12.90" },
    compare_at_price: "15.99",
    mpn: "K25",
  }],
  ["SKU;Nombre;Activo\nA;Taza;N\nB;Bota;S", { status: "paused" }],
  ["attribute: Color;SKU;attribute: color\nBlue;A;Red", {
    attributes: [{ name: "Color", value: "Blue" }, {
      name: "color",
      value: "Red",
    }],
  }],
];

for (const [file, right] of FILES) {
  Deno.test(`the page does not misread ${JSON.stringify(file).slice(0, 70)}`, async () => {
    const bytes = new TextEncoder().encode(`${file}\n`);
    const view = await drop("products.csv", bytes);
    assert(typeof view !== "string", `${view}`);
    const questions = openQuestions(view).map(({ text }) => text);
    if (typeof right === "string") {
      assert(questions.some((text) => text.includes(right)), `${questions}`);
      return;
    }
    assertEquals(questions, []);
    const [product] = await sentOf(view) as Record<string, unknown>[];
    for (const [name, value] of Object.entries(right)) {
      const sent = product[name];
      const is = value !== null && typeof value === "object" &&
          !Array.isArray(value)
        ? Object.fromEntries(
          Object.keys(value).map((key) => [
            key,
            (sent as Record<string, unknown>)?.[key],
          ]),
        )
        : sent;
      assertEquals(is, value, name);
    }
  });
}
