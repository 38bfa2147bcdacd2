/**
 * Columns that a person tells apart and a program may not: their names or
 * values look like those of a field, or another column explains them.
 */
import type { Language, Truth } from "./catalogue.ts";
import { type Column, type Sketch, written } from "./generic.ts";
import { gtinOf } from "./catalogue.ts";
import type { Want } from "./grid.ts";
import { YES_NO } from "./names.ts";

export interface Decoy {
  name: string;
  languages?: readonly Language[];
  /** False: it does not fit this table. */
  add(sketch: Sketch): void | false;
}

/** Replaces the columns that state a field. */
function replace(sketch: Sketch, field: string): Column | null {
  const found = sketch.at(field);
  if (found === undefined) return null;
  for (let i = sketch.columns.length - 1; i >= 0; i--) {
    const { states } = sketch.columns[i];
    if (states.includes(field) || states.includes(`${field} unit`)) {
      sketch.columns.splice(i, 1);
    }
  }
  return found;
}

function beside(
  name: string,
  cell: (product: Truth, row: number) => string,
  names?: Language[],
): Decoy {
  return {
    name,
    languages: names,
    add: (sketch) => void sketch.add(name.split(" = ")[0], [], cell),
  };
}

function want(sketch: Sketch, field: string, of: (product: Truth) => Want) {
  sketch.wants.push((product, wants) => {
    if (wants.has(field)) wants.set(field, of(product));
  });
}

const SALES: Readonly<
  Record<Language, readonly [string, string, string, string]>
> = {
  de: ["Aktionspreis", "Aktion von", "Aktion bis", "Aktion aktiv"],
  en: ["Sale price", "Sale start", "Sale end", "Sale active"],
  sv: ["Kampanjpris", "Kampanj från", "Kampanj till", "Kampanj aktiv"],
  fr: ["Prix promo", "Début promo", "Fin promo", "Promo active"],
  es: ["Precio de oferta", "Oferta desde", "Oferta hasta", "Oferta activa"],
  pl: ["Cena promocyjna", "Promocja od", "Promocja do", "Promocja aktywna"],
  nl: ["Actieprijs", "Actie van", "Actie tot", "Actie actief"],
};

/** The usual price, and that of a sale that is not active. */
function endedSale(sketch: Sketch): string | false {
  const price = replace(sketch, "price");
  if (price === null || /cent|pence|öre|gros|\bct\b/i.test(price.name)) {
    return false;
  }
  const [name] = SALES[sketch.catalogue.language];
  sketch.columns.push({
    ...price,
    states: ["price"],
    cell: ({ price }) => sketch.money(price),
  });
  sketch.add(
    name,
    [],
    ({ price, former }) =>
      former === null ? "" : sketch.money(Math.round(price * 0.8)),
  );
  return name;
}

const dates = [
  (y: number, m: number, d: number) => `${d < 10 ? 0 : ""}${d}.0${m}.${y}`,
  (y: number, m: number, d: number) => `${y}-0${m}-${d < 10 ? 0 : ""}${d}`,
  (y: number, m: number, d: number) => `${y}/0${m}/${d < 10 ? 0 : ""}${d}`,
  (y: number, m: number, d: number) =>
    `${["Jan", "Feb", "Mar"][m - 1]} ${d}, ${y}`,
  (_: number, m: number, d: number) => `${45292 + m * 30 + d}`,
];

/** Two prices, of which the second is the shop's. */
function twoPrices(
  names: Readonly<
    Partial<Record<Language, readonly (readonly [string, string])[]>>
  >,
): Decoy["add"] {
  return (sketch) => {
    const pairs = names[sketch.catalogue.language];
    if (pairs === undefined) return false;
    const price = replace(sketch, "price");
    if (price === null) return false;
    const [other, own] = sketch.draws.of(pairs);
    const isFirst = sketch.draws.chance(0.7);
    const add = [
      () =>
        sketch.add(
          other,
          [],
          ({ price }) => sketch.money(Math.round(price * 1.4)),
        ),
      () => sketch.add(own, ["price"], ({ price }) => sketch.money(price)),
    ];
    for (const one of isFirst ? add : add.reverse()) one();
    // A price that the maker recommends may be beside the shop's.
    sketch.wants.push((product, wants) => {
      const recommended = `${Math.round(product.price * 1.4) / 100}`;
      const known = wants.get("compare_at_price")?.texts ?? [];
      wants.set("compare_at_price", {
        texts: [recommended, ...known],
        none: true,
      });
    });
  };
}

export const DECOYS: readonly Decoy[] = [
  // Currency.
  beside("Kundengruppe = ALL", () => "ALL", ["de"]),
  beside("Kanal = TOP", () => "TOP", ["de"]),
  beside("Ursprungsland = CHE", () => "CHE", ["de"]),
  beside("Customer group = ALL", () => "ALL", ["en"]),
  beside("Country = CUP", () => "CUP", ["en"]),
  beside("Groupe client = ALL", () => "ALL", ["fr"]),
  {
    name: "currency of the supplier",
    add: (sketch) => {
      const names = {
        en: "Supplier currency",
        de: "Währung EK",
        sv: "Inköpsvaluta",
        fr: "Devise fournisseur",
        es: "Moneda proveedor",
        pl: "Waluta zakupu",
        nl: "Valuta inkoop",
      };
      sketch.add(
        names[sketch.catalogue.language],
        [],
        () => sketch.catalogue.currency === "USD" ? "EUR" : "USD",
      );
    },
  },
  // Prices.
  {
    name: "list price beside the shop's",
    add: twoPrices({
      de: [["Listenpreis", "Onlinepreis"], ["UVP", "Shop-Preis"], [
        "Katalogpreis",
        "Webpreis",
      ]],
      sv: [["Ord. pris", "Webbpris"]],
      en: [["Regular price", "Our price"], ["List price", "Web price"], [
        "MSRP",
        "Online price",
      ]],
      fr: [["Prix catalogue", "Prix web"], ["Prix conseillé", "Prix boutique"]],
      nl: [["Adviesprijs", "Webprijs"]],
      es: [["Precio recomendado", "Precio web"]],
      pl: [["Cena katalogowa", "Cena w sklepie"]],
    }),
  },
  {
    name: "a sale that has ended",
    add: (sketch) => {
      const of = endedSale(sketch);
      if (of === false) return false;
      const [, from, to] = SALES[sketch.catalogue.language];
      const write = sketch.draws.of(dates);
      const short = sketch.draws.chance(0.3);
      sketch.add(
        short && sketch.catalogue.language === "de" ? "von" : from,
        [],
        ({ former }) => former === null ? "" : write(2024, 1, 1),
      );
      sketch.add(
        short && sketch.catalogue.language === "de" ? "bis" : to,
        [],
        ({ former }) => former === null ? "" : write(2024, 1, 31),
      );
    },
  },
  {
    name: "an inactive sale",
    add: (sketch) => {
      if (endedSale(sketch) === false) return false;
      const [, , , active] = SALES[sketch.catalogue.language];
      const [, no] = sketch.draws.of(
        YES_NO[sketch.catalogue.language].slice(0, 3),
      );
      sketch.add(active, [], () => no);
    },
  },
  {
    name: "prices for 100 pieces, by the header",
    add: (sketch) => {
      const names: Partial<Record<Language, string>> = {
        de: "Preis (100 Stk)",
        en: "Price per 100",
        sv: "Pris per 100 st",
        fr: "Prix les 100",
        nl: "Prijs per 100",
      };
      const name = names[sketch.catalogue.language];
      if (name === undefined || replace(sketch, "price") === null) return false;
      sketch.add(name, ["price"], ({ price }) => sketch.money(price * 100));
    },
  },
  {
    name: "prices for several pieces, by another column",
    languages: ["de", "en"],
    add: (sketch) => {
      const price = replace(sketch, "price");
      if (price === null || /cent|pence|öre|gros|\bct\b/i.test(price.name)) {
        return false;
      }
      sketch.columns.push({
        ...price,
        states: ["price"],
        cell: ({ price }, row) =>
          sketch.money(row % 2 === 0 ? price : price * 100),
      });
      const isGerman = sketch.catalogue.language === "de";
      const [name, one, many] = sketch.draws.of(
        isGerman
          ? [["PE", "1", "100"], ["Preiseinheit", "1", "je 100"], [
            "Preiseinheit",
            "",
            "C",
          ], ["Preis je", "1 Stück", "100 Stück"]]
          : [["Price unit", "1", "100"], ["Price per", "each", "100 pcs"], [
            "Per",
            "1",
            "C",
          ]],
      );
      sketch.add(name, [], (_, row) => row % 2 === 0 ? one : many);
      sketch.wants.push(({ former }, wants) => {
        wants.set("compare_at_price", {
          texts: former === null ? [] : [`${former / 100}`],
          none: true,
        });
      });
    },
  },
  {
    name: "price and price 2",
    add: (sketch) => {
      const names = {
        de: ["Shop-Preis", "Preis 2"],
        en: ["Shop price", "Price 2"],
        sv: ["Webbpris", "Pris 2"],
        fr: ["Prix boutique", "Prix 2"],
        es: ["Precio web", "Precio 2"],
        pl: ["Cena w sklepie", "Cena 2"],
        nl: ["Webprijs", "Prijs 2"],
      }[sketch.catalogue.language];
      if (replace(sketch, "price") === null) return false;
      sketch.add(names[0], ["price"], ({ price }) => sketch.money(price));
      sketch.add(
        names[1],
        [],
        ({ price }) => sketch.money(Math.round(price * 0.9)),
      );
    },
  },
  {
    name: "price and price for retailers",
    languages: ["de", "en"],
    add: (sketch) => {
      if (sketch.at("price") === undefined) return false;
      sketch.add(
        sketch.catalogue.language === "de" ? "Händlerpreis" : "Wholesale price",
        [],
        ({ price }) => sketch.money(Math.round(price * 0.6)),
      );
    },
  },
  {
    name: "a column Amount with a number of pieces",
    languages: ["en"],
    add: (sketch) => {
      const price = replace(sketch, "price");
      if (price === null) return false;
      sketch.columns.push({
        ...price,
        name: "Price inc VAT",
        states: ["price"],
        cell: ({ price }) => sketch.money(price),
      });
      replace(sketch, "quantity");
      sketch.add("Amount", ["quantity"], ({ quantity }) => `${quantity}`);
    },
  },
  {
    name: "price of the base unit",
    add: (sketch) => {
      const names = {
        de: ["Onlinepreis", "Grundpreis"],
        en: ["Web price", "Unit price"],
        fr: ["Prix boutique", "Prix unitaire"],
        nl: ["Webprijs", "Stukprijs"],
        sv: ["Webbpris", "Jämförpris"],
        es: ["Precio web", "Precio unitario"],
        pl: ["Cena w sklepie", "Cena jednostkowa"],
      }[sketch.catalogue.language];
      if (replace(sketch, "price") === null) return false;
      sketch.add(names[0], ["price"], ({ price }) => sketch.money(price));
      sketch.add(
        names[1],
        [],
        ({ price }) => sketch.money(Math.round(price * 2.5)),
      );
    },
  },
  {
    name: "net and gross prices",
    add: (sketch) => {
      const price = replace(sketch, "price");
      if (price === null || /cent|pence|öre|gros|\bct\b/i.test(price.name)) {
        return false;
      }
      const word = sketch.name("price").split(/[ -]/)[0];
      const net = () =>
        sketch.add(
          `${word} ${sketch.name("net")}`,
          [],
          ({ price }) => sketch.money(Math.round(price / 1.2)),
        );
      const gross = () =>
        sketch.add(
          `${word} ${sketch.name("gross")}`,
          ["price"],
          ({ price }) => sketch.money(price),
        );
      if (sketch.draws.chance(0.5)) net(), gross();
      else gross(), net();
    },
  },
  {
    name: "a note in the last row says that prices are net",
    languages: ["de", "en"],
    add: (sketch) => {
      const price = sketch.at("price");
      if (
        price === undefined || /incl|inc |inkl|brutto|tax/i.test(price.name)
      ) return false;
      const text = sketch.catalogue.language === "de"
        ? "Alle Preise zzgl. 19% MwSt."
        : "All prices excl. VAT";
      sketch.extra.push({ cells: [text], family: null });
      sketch.wants.push((_, wants) => {
        const is = wants.get("price");
        if (is !== undefined) {
          wants.set("price", { ...is, none: true, doubtful: true });
        }
        const former = wants.get("compare_at_price");
        if (former !== undefined) {
          wants.set("compare_at_price", { ...former, none: true });
        }
      });
    },
  },
  {
    name: "cost price and price",
    add: (sketch) =>
      void sketch.add(
        sketch.name("cost"),
        [],
        ({ price }) => sketch.money(Math.round(price * 0.5)),
      ),
  },
  {
    name: "amount of VAT",
    languages: ["en", "de", "pl"],
    add: (sketch) => {
      replace(sketch, "vat_rate");
      const name =
        { en: "VAT", de: "MwSt", pl: "VAT" }[sketch.catalogue.language as "en"];
      sketch.add(
        name,
        [],
        ({ price, vat }) =>
          written(
            Math.round(price * vat / (100 + vat)) / 100,
            2,
            sketch.numbers,
          ),
      );
      // The amount 0 means the rate 0.
      sketch.wants.push(({ vat }, wants) => {
        if (vat === 0) wants.set("vat_rate", { texts: ["0"], none: true });
      });
    },
  },
  // Stock.
  {
    name: "stock, reserved and available",
    add: (sketch) => {
      const names: Partial<
        Record<Language, readonly [string, string, string]>
      > = {
        de: ["Bestand", "Reserviert", "Verfügbar"],
        en: ["Stock", "Reserved", "Available"],
        sv: ["Lagersaldo", "Reserverat", "Disponibelt antal"],
        fr: ["Stock", "Réservé", "Disponible"],
        nl: ["Voorraad", "Gereserveerd", "Beschikbaar"],
      };
      const own = names[sketch.catalogue.language];
      if (own === undefined) return false;
      replace(sketch, "quantity");
      const held = ({ quantity }: Truth) =>
        quantity === 0 ? 3 : 2 + quantity % 5;
      sketch.add(
        own[0],
        [],
        (product) => `${product.quantity + held(product)}`,
      );
      sketch.add(own[1], [], (product) => `${held(product)}`);
      sketch.add(own[2], ["quantity"], ({ quantity }) => `${quantity}`);
    },
  },
  {
    name: "codes of availability",
    languages: ["de", "en"],
    add: (sketch) => {
      replace(sketch, "quantity");
      sketch.add(
        sketch.catalogue.language === "de" ? "Verfügbarkeit" : "Availability",
        [],
        (_, row) => `${1 + row % 3}`,
      );
    },
  },
  {
    name: "availability and a warehouse number",
    languages: ["de", "sv"],
    add: (sketch) => {
      replace(sketch, "quantity");
      const isGerman = sketch.catalogue.language === "de";
      sketch.add(
        isGerman ? "Verfügbar" : "Tillgängligt antal",
        ["quantity"],
        ({ quantity }) => `${quantity}`,
      );
      sketch.add("Lager", [], () => "1");
    },
  },
  {
    name: "pack size and free stock",
    languages: ["de", "pl", "nl", "es"],
    add: (sketch) => {
      replace(sketch, "quantity");
      const [own, contents] = {
        de: ["Freier Bestand", "Menge"],
        pl: ["Dostępna ilość", "Ilość w opakowaniu"],
        nl: ["Vrije voorraad", "Aantal"],
        es: ["Stock libre", "Unidades"],
      }[sketch.catalogue.language as "de"];
      sketch.add(own, ["quantity"], ({ quantity }) => `${quantity}`);
      sketch.add(contents, [], (_, row) => `${[250, 500, 6][row % 3]}`);
    },
  },
  {
    name: "stock as a dash",
    add: (sketch) => {
      const quantity = sketch.at("quantity");
      if (quantity === undefined || sketch.numbers.typed) return false;
      const { cell } = quantity;
      quantity.cell = (product, row) =>
        product.quantity === 0 ? "-" : cell(product, row);
      sketch.wants.push((product, wants) => {
        if (product.quantity === 0) wants.set("quantity", { texts: ["0"] });
      });
    },
  },
  {
    name: "a minimum stock",
    add: (sketch) => {
      const name = {
        de: "Mindestbestand",
        en: "Minimum stock",
        sv: "Beställningspunkt",
        fr: "Stock minimum",
        es: "Stock mínimo",
        pl: "Stan minimalny",
        nl: "Minimale voorraad",
      }[sketch.catalogue.language];
      sketch.add(name, [], () => "5");
    },
  },
  {
    name: "stock at the supplier",
    languages: ["de", "en", "fr"],
    add: (sketch) => {
      const name = {
        de: "Lieferantenbestand",
        en: "Supplier stock",
        fr: "Stock fournisseur",
      }[sketch.catalogue.language as "de"];
      sketch.add(name, [], () => "500");
    },
  },
  // Identifiers.
  {
    name: "EAN of the carton",
    languages: ["de", "en", "nl"],
    add: (sketch) => {
      replace(sketch, "gtin");
      const [carton, unit] = {
        de: ["EAN Karton", "EAN Stück"],
        en: ["Case EAN", "Unit barcode"],
        nl: ["Doos EAN", "Stuk barcode"],
      }[sketch.catalogue.language as "de"];
      sketch.add(
        carton,
        [],
        (_, row) => gtinOf(sketch.draws, `40999${100 + row}00`),
      );
      sketch.add(unit, ["gtin"], ({ gtin }) => gtin);
    },
  },
  {
    name: "the supplier's number",
    languages: ["de", "sv", "en"],
    add: (sketch) => {
      const name = {
        de: "Lieferanten-Art.-Nr.",
        sv: "Leverantörens artikelnr",
        en: "Supplier SKU",
      }[sketch.catalogue.language as "de"];
      sketch.add(name, [], (_, row) => `L-${88 + row}`);
    },
  },
  {
    name: "a flag for the main article",
    languages: ["de", "en"],
    add: (sketch) =>
      void sketch.add(
        sketch.catalogue.language === "de" ? "Hauptartikel" : "Parent",
        [],
        () => sketch.catalogue.language === "de" ? "Ja" : "Y",
      ),
  },
  {
    name: "numbers in a workbook with currency signs",
    add: (sketch) => {
      const sku = sketch.at("sku");
      if (sku === undefined || !sketch.numbers.typed) return false;
      const form = sketch.draws.below(4);
      sku.cell = (_, row) =>
        [
          { v: 100125 + row * 1000, z: "General" },
          { v: 12345 + row * 1000, z: "00\\-000" },
          // A program converted it to a number with a thousands separator.
          { v: 100125 + row * 1000, z: "#,##0" },
          { v: 12.345 + row, z: "General" },
        ][form];
      for (const [row, product] of sketch.products.entries()) {
        product.sku = [
          `${100125 + row * 1000}`,
          `${12 + row}-345`,
          `${100 + row}.125`,
          `${12 + row}.345`,
        ][form];
      }
    },
  },
  // Texts.
  {
    name: "an HTML entity in a category",
    add: (sketch) => {
      const column = sketch.at("categories");
      if (column === undefined) return false;
      const { cell } = column;
      column.cell = (product, row) => {
        const text = cell(product, row);
        return typeof text === "string" ? text.replaceAll("&", "&amp;") : text;
      };
    },
  },
  {
    name: "an energy label as an image",
    add: (sketch) => {
      const name = {
        de: "Energielabel",
        en: "Energy label",
        sv: "Energimärkning",
        fr: "Étiquette énergie",
        es: "Etiqueta energética",
        pl: "Etykieta energetyczna",
        nl: "Energielabel",
      }[sketch.catalogue.language];
      sketch.add(name, [], () => "https://img.example/labels/a.png");
    },
  },
  {
    name: "a brand logo as an image",
    languages: ["de", "en"],
    add: (sketch) =>
      void sketch.add(
        sketch.catalogue.language === "de" ? "Marken-Logo" : "Brand logo",
        [],
        () => "https://img.example/logos/norr.png",
      ),
  },
  {
    name: "a title in another language",
    add: (sketch) => {
      const { language } = sketch.catalogue;
      if (language === "en") return false;
      const title = replace(sketch, "title");
      if (title === null) return false;
      const name = {
        de: "Artikel",
        sv: "Produkt",
        fr: "Produit",
        es: "Producto",
        pl: "Produkt",
        nl: "Product",
      }[language];
      sketch.add(
        sketch.draws.chance(0.5) ? name : title.name,
        ["title"],
        ({ title }) => title,
      );
      const other = {
        de: "Name",
        sv: "Namn",
        fr: "Nom",
        es: "Nombre",
        pl: "Nazwa",
        nl: "Naam",
      }[language];
      sketch.add(
        sketch.draws.of([`${other} EN`, `${other} (en)`]),
        [],
        (_, row) => `Thing ${row}`,
      );
    },
  },
  {
    name: "a second line of the title",
    languages: ["de", "en", "sv"],
    add: (sketch) => {
      if (replace(sketch, "title") === null) return false;
      const [own, other] = {
        de: ["Kurztext", "Titel 2"],
        en: ["Short text", "Title 2"],
        sv: ["Korttext", "Benämning 2"],
      }[sketch.catalogue.language as "de"];
      sketch.add(own, ["title"], ({ title }) => title);
      sketch.add(other, [], () => "blau");
    },
  },
  {
    name: "HTML as text",
    add: (sketch) => {
      const column = sketch.at("description");
      if (column === undefined) return false;
      column.cell = ({ description }) =>
        description.split("\n").map((line) =>
          `&lt;p&gt;${line.replaceAll("&", "&amp;amp;")}&lt;/p&gt;`
        ).join("");
    },
  },
  {
    name: "brand and vendor",
    languages: ["en"],
    add: (sketch) => {
      replace(sketch, "brand");
      const isKnown = sketch.draws.chance(0.5);
      sketch.add(isKnown ? "Brand" : "Label", ["brand"], ({ brand }) => brand);
      sketch.add("Vendor", [], () => "Import Ltd");
    },
  },
  // Weights.
  {
    name: "German pounds",
    languages: ["de"],
    add: (sketch) => {
      replace(sketch, "weight");
      sketch.add("Gewicht", ["weight"], (_, row) => `${row + 1} Pfund`);
      sketch.products.forEach((product, row) =>
        sketch.wants.push((one, wants) => {
          if (one === product && wants.has("weight")) {
            wants.set("weight", { texts: [`${(row + 1) * 500}`] });
          }
        })
      );
    },
  },
  {
    name: "net and gross weight",
    languages: ["de", "en"],
    add: (sketch) => {
      const isGerman = sketch.catalogue.language === "de";
      replace(sketch, "weight");
      sketch.add(
        isGerman ? "Nettogewicht (g)" : "Net weight (g)",
        ["weight"],
        ({ grams }) => `${grams - 5}`,
      );
      sketch.add(isGerman ? "Bruttogewicht (g)" : "Gross weight (g)", [
        "weight",
      ], ({ grams }) => `${grams}`);
      want(
        sketch,
        "weight",
        ({ grams }) => ({ texts: [`${grams}`, `${grams - 5}`] }),
      );
    },
  },
  {
    name: "an internal id and the article number",
    languages: ["de", "en", "sv"],
    add: (sketch) => {
      const name = { de: "Artikel-ID", en: "Product ID", sv: "Produkt-ID" }[
        sketch.catalogue.language as "de"
      ];
      sketch.columns.unshift({
        name,
        states: [],
        cell: (_, row) => `${4711 + row}`,
      });
    },
  },
  {
    name: "a supplier's number without that word",
    languages: ["de"],
    add: (sketch) => {
      const sku = replace(sketch, "sku");
      if (sku === null) return false;
      sketch.columns.unshift({ ...sku, name: "Artikelnummer" });
      sketch.add("Bestellnummer", [], (_, row) => `L-${88 + row}`);
    },
  },
  {
    name: "the maker's company and the brand",
    languages: ["de", "en", "fr"],
    add: (sketch) => {
      replace(sketch, "brand");
      const [maker, brand] = {
        de: ["Hersteller", "Marke"],
        en: ["Manufacturer", "Brand"],
        fr: ["Fabricant", "Marque"],
      }[sketch.catalogue.language as "de"];
      sketch.add(maker, [], ({ brand }) => `${brand} Holding GmbH`);
      sketch.add(brand, ["brand"], ({ brand }) => brand);
    },
  },
  {
    name: "prices in two currencies",
    languages: ["de", "en", "pl"],
    add: (sketch) => {
      if (replace(sketch, "price") === null) return false;
      const { currency, language } = sketch.catalogue;
      replace(sketch, "currency");
      const word = { de: "Preis", en: "Price", pl: "Cena" }[language as "de"];
      const other = currency === "USD" ? "EUR" : "USD";
      const own = () =>
        sketch.add(
          `${word} ${currency}`,
          ["price"],
          ({ price }) => sketch.money(price),
        );
      const foreign = () =>
        sketch.add(
          `${word} ${other}`,
          [],
          ({ price }) => sketch.money(Math.round(price * 1.1)),
        );
      if (sketch.draws.chance(0.5)) own(), foreign();
      else foreign(), own();
    },
  },
  {
    name: "stock below 0",
    add: (sketch) => {
      const quantity = sketch.at("quantity");
      if (quantity === undefined) return false;
      const { cell } = quantity;
      quantity.cell = (product, row) =>
        product.quantity === 0 ? "-3" : cell(product, row);
      sketch.wants.push((product, wants) => {
        if (product.quantity === 0) {
          wants.set("quantity", { texts: ["0"], none: true });
        }
      });
    },
  },
  {
    name: "stock in words",
    languages: ["de", "en"],
    add: (sketch) => {
      const quantity = sketch.at("quantity");
      if (quantity === undefined || sketch.numbers.typed) return false;
      const { cell } = quantity;
      quantity.cell = (product, row) =>
        row % 3 === 1
          ? sketch.draws.of([">100", "10+", "auf Lager"])
          : cell(product, row);
      sketch.wants.push((product, wants) => {
        if (sketch.products.indexOf(product) % 3 === 1) {
          wants.set("quantity", { texts: ["in stock"], none: true });
        }
      });
    },
  },
  {
    name: "prices with words",
    languages: ["de", "en"],
    add: (sketch) => {
      const price = sketch.at("price");
      if (price === undefined || sketch.numbers.typed) return false;
      const { cell } = price;
      price.cell = (product, row) =>
        row % 4 === 1
          ? sketch.draws.of([
            "auf Anfrage",
            "ab 12,90",
            "call",
            "0,00",
            "n/a",
            "12,90 - 15,90",
            "-",
          ]).replaceAll(",", sketch.numbers.point)
          : cell(product, row);
      sketch.wants.push((product, wants) => {
        if (sketch.products.indexOf(product) % 4 === 1) {
          for (const field of ["price", "currency", "compare_at_price"]) {
            if (wants.has(field)) {
              wants.set(field, {
                // A sale price may be beside it.
                texts: field === "compare_at_price" || product.former !== null
                  ? wants.get(field)!.texts
                  : [],
                none: true,
              });
            }
          }
        }
      });
    },
  },
  {
    name: "SKUs that are decimals in a workbook",
    add: (sketch) => {
      const sku = sketch.at("sku");
      if (sku === undefined || !sketch.numbers.typed) return false;
      const decimals = sketch.draws.of([2, 4]);
      for (const [row, product] of sketch.products.entries()) {
        product.sku = (100.1 + row).toFixed(decimals);
      }
      sku.cell = ({ sku }) => ({
        v: Number(sku),
        z: decimals === 2 ? "0.00" : "0.0000",
      });
    },
  },
  {
    name: "the date from which it is available",
    add: (sketch) => {
      const name = {
        de: "Lieferbar ab",
        en: "Available from",
        sv: "Tillgänglig från",
        fr: "Disponible le",
        es: "Disponible desde",
        pl: "Dostępny od",
        nl: "Beschikbaar vanaf",
      }[sketch.catalogue.language];
      const write = sketch.draws.of(dates.slice(0, 2));
      sketch.add(
        name,
        ["available_at"],
        (_, row) => write(2027, 1 + row % 9, 3 + row),
      );
      sketch.wants.push((product, wants) => {
        const row = sketch.products.indexOf(product);
        wants.set("available_at", {
          texts: [`2027-0${1 + row % 9}-${`${3 + row}`.padStart(2, "0")}`],
        });
      });
    },
  },
  {
    name: "German Amazon columns",
    languages: ["de"],
    add: (sketch) => {
      sketch.add("ASIN", [], (_, row) => `B00${1000 + row}XY`);
      sketch.add("FNSKU", [], (_, row) => `X00${1000 + row}`);
    },
  },
  {
    name: "a SKU in brackets and a marketplace's number",
    languages: ["de", "en", "fr"],
    add: (sketch) => {
      const sku = replace(sketch, "sku");
      if (sku === null) return false;
      const [number, own] = {
        de: ["Artikelnummer", "Bestandseinheit (SKU)"],
        en: ["Item number", "Stock keeping (SKU)"],
        fr: ["Référence", "Code vendeur (SKU)"],
      }[sketch.catalogue.language as "de"];
      sketch.add(number, [], (_, row) => `2550012345${row + 10}`);
      sketch.add(own, ["sku"], sku.cell);
    },
  },
  {
    name: "a state in a column named condition",
    languages: ["fr", "nl"],
    add: (sketch) => {
      replace(sketch, "condition");
      replace(sketch, "status");
      const name = { fr: "État", nl: "Staat" }[
        sketch.catalogue.language as "fr"
      ];
      sketch.add(name, ["status"], ({ active }) => active ? "1" : "0");
    },
  },
  {
    name: "a brand as the maker's number",
    add: (sketch) => {
      const brand = replace(sketch, "brand");
      if (brand === null) return false;
      const isLong = sketch.draws.chance(0.5);
      sketch.add(
        brand.name,
        [],
        (_, row) =>
          isLong
            ? `${10 + row}`.padEnd(32, "a4f")
            : `${sketch.draws.of([3, 12, 47]) + row}`,
      );
    },
  },
  {
    name: "lists in brackets",
    add: (sketch) => {
      const quote = sketch.draws.of(['"', "'"]);
      const lists = ["categories", "images"] as const;
      const own = lists.filter((field) => replace(sketch, field) !== null);
      want(
        sketch,
        "categories",
        ({ categories }) => ({ texts: [categories.join(" | ")] }),
      );
      for (const field of own) {
        sketch.add(
          field,
          [field],
          (product) =>
            `[${product[field].map((one) => quote + one + quote).join(", ")}]`,
        );
      }
      return own.length === 0 ? false : undefined;
    },
  },
  {
    name: "quantities and prices of tiers",
    languages: ["de", "en", "sv", "nl"],
    add: (sketch) => {
      const price = replace(sketch, "price");
      if (price === null || /cent|pence|öre|gros|\bct\b/i.test(price.name)) {
        return false;
      }
      replace(sketch, "quantity");
      const [name, amount] = {
        de: ["Preis", "Menge"],
        en: ["Price", "Qty"],
        sv: ["Pris", "Antal"],
        nl: ["Prijs", "Aantal"],
      }[sketch.catalogue.language as "de"];
      for (const n of [1, 2, 3]) {
        sketch.add(
          `${name} ${n}`,
          n === 1 ? ["price"] : [],
          ({ price }) => sketch.money(Math.round(price * (1.1 - n / 10))),
        );
        sketch.add(`${amount} ${n}`, [], () => `${[1, 10, 100][n - 1]}`);
      }
    },
  },
  {
    name: "words for no brand",
    add: (sketch) => {
      const brand = sketch.at("brand");
      if (brand === undefined) return false;
      const word = sketch.draws.of(["N/A", "n/a", "n.a.", "k.A.", "None"]);
      brand.cell = ({ brand }, row) => row % 3 === 1 ? word : brand;
      sketch.wants.push((product, wants) => {
        if (sketch.products.indexOf(product) % 3 === 1) wants.delete("brand");
      });
    },
  },
  {
    name: "when a price is valid",
    languages: ["de", "en", "sv", "fr"],
    add: (sketch) => {
      const name = {
        de: "Preis gültig ab",
        en: "Price valid from",
        sv: "Pris giltigt från",
        fr: "Prix valable du",
      }[sketch.catalogue.language as "de"];
      const write = sketch.draws.of(dates);
      sketch.add(name, [], (_, row) => write(2026, 1 + row % 3, 1 + row));
    },
  },
  {
    name: "the price of a kilogram",
    languages: ["de", "en", "fr", "nl", "es"],
    add: (sketch) => {
      const name = {
        de: "Preis/kg",
        en: "Price per kg",
        fr: "Prix au kg",
        nl: "Prijs per kg",
        es: "Precio/kg",
      }[sketch.catalogue.language as "de"];
      sketch.add(
        name,
        [],
        ({ price, grams }) => sketch.money(Math.round(price * 1000 / grams)),
      );
    },
  },
  {
    name: "texts that equal headers",
    languages: ["de", "en"],
    add: (sketch) => {
      const words = sketch.catalogue.language === "de"
        ? ["Titel", "Beschreibung", "Marke"]
        : ["Title", "Description", "Brand"];
      const [first] = sketch.products;
      [first.title, first.description, first.brand] = words;
    },
  },
  {
    name: "a column that names the kind of price",
    languages: ["de", "en", "fr"],
    add: (sketch) => {
      const price = sketch.at("price");
      if (price === undefined) return false;
      const [name, net] = {
        de: ["Preisart", "netto"],
        en: ["Price type", "net"],
        fr: ["Type de prix", "HT"],
      }[sketch.catalogue.language as "de"];
      sketch.add(name, [], () => net);
      sketch.wants.push((_, wants) => {
        for (const field of ["price", "currency", "compare_at_price"]) {
          if (wants.has(field)) wants.set(field, { texts: [], none: true });
        }
      });
    },
  },
  {
    name: "a title that says that prices are net",
    add: (sketch) => {
      if (sketch.at("price") === undefined) return false;
      sketch.above.push([
        sketch.draws.of([
          "Alle Preise in EUR zzgl. MwSt.",
          "All prices ex VAT",
          "Prix HT, TVA en sus",
          "Alla priser exkl. moms",
        ]),
      ]);
      sketch.wants.push((_, wants) => {
        for (const field of ["price", "currency", "compare_at_price"]) {
          if (wants.has(field)) wants.set(field, { texts: [], none: true });
        }
      });
    },
  },
  {
    name: "a price below the net price",
    languages: ["de", "en"],
    add: (sketch) => {
      const price = replace(sketch, "price");
      if (price === null || /cent|pence|öre|gros|\bct\b/i.test(price.name)) {
        return false;
      }
      const [net, own] = sketch.catalogue.language === "de"
        ? ["Listenpreis netto", "Preis"]
        : ["List price ex VAT", "Price"];
      sketch.add(net, [], ({ price }) => sketch.money(Math.round(price * 1.2)));
      sketch.add(own, ["price"], ({ price }) => sketch.money(price));
      sketch.wants.push((_, wants) => {
        for (const field of ["price", "currency", "compare_at_price"]) {
          if (wants.has(field)) wants.set(field, { texts: [], none: true });
        }
      });
    },
  },
  {
    name: "pounds and ounces",
    languages: ["en"],
    add: (sketch) => {
      replace(sketch, "weight");
      const [pounds, ounces] = sketch.draws.of([
        ["Weight lb", "Weight oz"],
        ["Weight (lbs)", "Weight (oz)"],
      ]);
      const all = ({ grams }: Truth) => Math.round(grams / 28.349523125);
      sketch.add(
        pounds,
        ["weight"],
        (product) => `${Math.floor(all(product) / 16)}`,
      );
      sketch.add(ounces, ["weight"], (product) => `${all(product) % 16}`);
      want(
        sketch,
        "weight",
        (product) => ({ texts: [`${all(product) * 28.349523125}`] }),
      );
    },
  },
  {
    name: "categories separated by commas",
    add: (sketch) => {
      const column = replace(sketch, "categories");
      if (column === null) return false;
      const isOne = sketch.draws.chance(0.3);
      sketch.add(
        column.name,
        ["categories"],
        ({ categories }) => categories.join(", "),
      );
      want(
        sketch,
        "categories",
        ({ categories }) => ({
          texts: [categories.join(isOne ? ", " : " | ")],
        }),
      );
    },
  },
  {
    name: "a for-sale flag under other names",
    add: (sketch) => {
      replace(sketch, "status");
      const { language } = sketch.catalogue;
      const [name, on, off] = sketch.draws.of(
        {
          en: [["Live", "TRUE", "FALSE"], ["Discontinued", "N", "Y"]],
          de: [["Im Webshop", "ja", "nein"], ["Ausgelistet", "", "X"]],
          sv: [["Utgående", "0", "1"], ["Webb aktiv", "ja", "nej"]],
          fr: [["Sommeil", "Non", "Oui"], ["Visible web", "oui", "non"]],
          es: [["De baja", "N", "S"], ["Web activa", "sí", "no"]],
          pl: [["Wycofany", "nie", "tak"], ["Widoczny online", "1", "0"]],
          nl: [["Vervallen", "nee", "ja"], ["Zichtbaar web", "ja", "nee"]],
        }[language],
      );
      sketch.add(name, ["status"], ({ active }) => active ? on : off);
      // A product without such a word is for sale.
      sketch.wants.push(({ active }, wants) => {
        if (active) wants.set("status", { texts: ["active"], none: true });
      });
    },
  },
];
