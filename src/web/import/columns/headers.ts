/**
 * What the columns of merchants' tables hold, by their names: in English,
 * German, Swedish, French, Spanish, Polish and Dutch, and in the exports of
 * shop systems; SKU, title, price and quantity also in Italian, Czech, Danish,
 * Hungarian and Turkish.
 */
import {
  LIST_NAMES,
  type ListField,
  SCALAR_NAMES,
  SCALAR_RULES,
  type ScalarField,
} from "../../../catalogue/fields.ts";
import { readCurrency } from "../../../lib/values.ts";
import {
  currencyIn,
  priceUnitOf,
  weightUnitOf,
  wordsIn,
} from "../../lib/numbers.ts";
import { labelOf } from "../../lib/words.ts";

/**
 * What a column holds: a scalar field, `currency`, a list, `attribute` (whose
 * name is the column's), `sale_price` (where it has one, it is the price, and
 * the column of the price is what the product cost before), or nothing that is
 * sent.
 */
export type Target =
  | ScalarField
  | ListField
  | "currency"
  | "sale_price"
  | "attribute"
  | "";

/** The targets to choose from. Each column of attributes is one attribute. */
export const TARGETS: readonly { target: Target; label: string }[] = [
  { target: "", label: "– leave out –" },
  ...SCALAR_NAMES.map((target) => ({
    target,
    label: SCALAR_RULES[target].label,
  })),
  { target: "currency", label: "Currency" },
  { target: "sale_price", label: "Sale price (Price is then the former one)" },
  ...LIST_NAMES.filter((name) => name !== "attributes")
    .map((target) => ({ target, label: labelOf(target) })),
  { target: "attribute", label: "Attribute of that name" },
];

/** Names of columns, in lower case and without accents; each stands once. */
const NAMES: Readonly<Record<Exclude<Target, "attribute">, string>> = {
  sku:
    "sku, item sku, article number, article no, item number, item no, product number, product code, stock keeping unit, code, artikelnummer, artikel nr, art nr, artnr, artikelnr, artikelkod, bestellnummer, bestell nr, produktnummer, produktkod, variantnummer, reference, ref, reference produit, code article, code produit, referencia, codigo, codigo de producto, codigo de articulo, numer katalogowy, nr katalogowy, indeks, symbol, kod produktu, kod towaru, artikelcode, productcode, variant sku, custom label, seller sku, verkaufer sku, product code sku, codice, codice articolo, codice prodotto, cod articolo, kod, kod zbozi, katalogove cislo, varenummer, varenr, vare nr, cikkszam, termekkod, cikk kod, urun kodu, stok kodu",
  title:
    "title, name, product name, product title, item name, heading, bezeichnung, artikelbezeichnung, artikelname, produktname, produkttitel, titel, namn, produktnamn, artikelnamn, benamning, artikelbenamning, nom, nom du produit, titre, designation, libelle, intitule, nombre, titulo, nombre del producto, denominacion, nazwa, nazwa produktu, nazwa towaru, tytul, naam, productnaam, artikelnaam, producttitel, nome, nome prodotto, nome articolo, titolo, denominazione, nazev, nazev produktu, nazev zbozi, navn, varenavn, varebetegnelse, nev, termeknev, termek neve, megnevezes, urun adi, urun ismi, stok adi",
  description:
    "description, body, body html, text, long description, product description, beschreibung, artikelbeschreibung, produktbeschreibung, langtext, langbeschreibung, beskrivning, lang beskrivning, produktbeskrivning, artikelbeskrivning, description longue, description du produit, descripcion, descripcion larga, descripcion del producto, opis, opis produktu, dlugi opis, omschrijving, beschrijving, productomschrijving, productbeschrijving",
  price:
    "price, unit price, amount, selling price, retail price, preis, verkaufspreis, vk, vk preis, einzelpreis, stuckpreis, endpreis, bruttopreis, pris, forsaljningspris, utpris, styckpris, butikspris, prix, prix de vente, prix unitaire, prix public, precio, precio de venta, precio venta, precio unitario, pvp, cena, cena sprzedazy, cena detaliczna, prijs, verkoopprijs, stukprijs, variant price, start price, standard price, prezzo, prezzo di vendita, prezzo vendita, prezzo unitario, prezzo al pubblico, prezzo ivato, prezzo iva inclusa, prodejni cena, cena s dph, cena vcetne dph, salgspris, udsalgspris, brutto ar, eladasi ar, fogyasztoi ar, egysegar, fiyat, satis fiyati, birim fiyat, kdv dahil fiyat",
  sale_price:
    "sale price, special price, discount price, angebotspreis, aktionspreis, sonderpreis, reapris, kampanjpris, rea pris, prix promo, prix promotionnel, prix solde, precio rebajado, precio de oferta, precio oferta, cena promocyjna, aanbiedingsprijs, actieprijs",
  compare_at_price:
    "compare at price, old price, regular price, list price, msrp, rrp, recommended price, uvp, alter preis, stattpreis, listenpreis, streichpreis, ordinarie pris, ord pris, tidigare pris, rekommenderat pris, prix barre, ancien prix, prix conseille, prix normal, precio anterior, precio tachado, precio normal, precio recomendado, cena przed obnizka, stara cena, cena regularna, cena katalogowa, adviesprijs, oude prijs, van prijs, normale prijs, variant compare at price, price old",
  currency:
    "currency, currency code, price currency, wahrung, wahrungscode, valuta, valutakod, devise, monnaie, moneda, divisa, waluta, munteenheid",
  vat_rate:
    "vat rate, vat, tax, tax rate, mwst, mwst satz, mehrwertsteuer, mehrwertsteuersatz, ust, umsatzsteuer, steuersatz, moms, momssats, moms procent, tva, taux tva, taux de tva, iva, tipo iva, tipo de iva, stawka vat, podatek vat, btw, btw tarief, btw percentage",
  quantity:
    "quantity, stock, qty, inventory, stock level, stock quantity, quantity in stock, on hand, available quantity, quantity on hand, stock qty, bestand, lagerbestand, bestand gesamt, lagerbestand gesamt, verfugbarer bestand, menge, anzahl, stuckzahl, lagermenge, verfugbare menge, antal, lagersaldo, saldo, lagerantal, antal i lager, lager, pa lager, quantite, qte, quantite en stock, cantidad, unidades, existencias, cantidad en stock, ilosc, stan magazynowy, liczba sztuk, aantal, voorraad, op voorraad, voorraadaantal, variant inventory qty, current stock level, quantita, qta, giacenza, giacenze, scorte, pezzi, mnozstvi, pocet kusu, stav skladu, beholdning, lagerbeholdning, mennyiseg, keszlet, raktarkeszlet, darabszam, stok, stok adedi, stok miktari, miktar, adet",
  availability:
    "availability, stock status, in stock, available, verfugbarkeit, lieferbar, lagerstatus, tillganglighet, i lager, disponibilite, en stock, disponibilidad, disponible, dostepnosc, beschikbaarheid, voorraadstatus, disponibilita, dostupnost, skladem, raktaron",
  available_at:
    "available at, available from, availability date, verfugbar ab, lieferbar ab, tillganglig fran, disponible le, date de disponibilite, disponible desde, dostepny od, beschikbaar vanaf",
  gtin:
    "gtin, ean, ean13, ean 13, ean code, ean nummer, ean upc, upc, isbn, barcode, gtin upc ean or isbn, gtin ean, ean gtin, strichcode, streckkod, ean kod, eankod, code barre, code barres, code a barres, codigo de barras, codigo ean, kod kreskowy, kod ean, streepjescode, variant barcode, product ean, product upc ean",
  brand:
    "brand, brands, manufacturer, manufacturer name, vendor, make, brand name, marke, hersteller, markenname, varumarke, marke tillverkare, tillverkare, marque, fabricant, marca, fabricante, marka, producent, merk, merknaam, fabrikant",
  mpn:
    "mpn, part number, manufacturer part number, model number, model, herstellernummer, hersteller nr, herstellerartikelnummer, herstellerteilenummer, tillverkarens artikelnummer, modellnummer, reference fabricant, reference constructeur, referencia fabricante, referencia del fabricante, kod producenta, numer producenta, fabrikantcode, artikelnummer fabrikant",
  weight:
    "weight, net weight, gross weight, item weight, shipping weight, variant grams, grams, gewicht, nettogewicht, bruttogewicht, versandgewicht, artikelgewicht, vikt, nettovikt, bruttovikt, fraktvikt, poids, poids net, poids brut, peso, peso neto, peso bruto, waga, masa, waga netto, waga brutto, product weight",
  condition:
    "condition, zustand, artikelzustand, skick, etat, etat du produit, condicion, stan produktu, conditie, staat",
  status:
    "status, product status, published, active, visible, product visible, enabled, aktiv, sichtbar, veroffentlicht, synlig, publicerad, actif, visible en ligne, activo, aktywny, actief",
  parent_sku:
    "parent sku, parent, parent id, item group id, group id, master sku, vaterartikel, hauptartikel, hauptartikelnummer, huvudartikel, reference parent, sku parent, sku padre, referencia padre, sku nadrzedny, hoofdartikel",
  categories:
    "categories, category, kategorie, kategorien, warengruppe, produktkategorie, produktgruppe, kategori, kategorier, varugrupp, produktgrupp, categorie, categories de produit, rubrique, famille, categoria, categorias, familia, kategoria, kategorie produktu, categorieen, productgroep, productcategorie",
  attributes: "",
  images:
    "images, image, main image, image url, image urls, image link, image links, image src, picture, pictures, picture url, photo, photos, photo url, additional image link, variant image, bild, bilder, bild url, bilder url, bildlink, produktbild, produktbilder, bildadress, bildlank, image produit, lien image, url image, url de l image, imagen, imagenes, url imagen, foto, fotos, zdjecie, zdjecia, url zdjecia, obraz, afbeelding, afbeeldingen, afbeelding url, main image url, cover media url, other image url, product image url, url hauptbild, hosted image urls",
  "":
    "id, tags, cost, cost per item, cost price, purchase price, einkaufspreis, ek, ek preis, inkopspris, prix d achat, precio de coste, precio de compra, cena zakupu, inkoopprijs, problems",
};

const BY_NAME: ReadonlyMap<string, Target> = new Map(
  (Object.entries(NAMES) as [Target, string][]).flatMap(([target, names]) =>
    names.split(", ").filter(Boolean).map((name) => [squeezed(name), target])
  ),
);

export type Shop =
  | "Google Merchant"
  | "Magento"
  | "PrestaShop"
  | "Shopify"
  | "Shopware"
  | "Wix"
  | "WooCommerce";

/** An export of a shop system, which is told by the names of its columns. */
interface Preset {
  shop: Shop;
  /** Names that no other table has together. */
  has: readonly string[];
  /** Other names of its columns: those of other releases and languages. */
  names?: Readonly<Record<string, string>>;
  /** Where a name means something else than usual. */
  targets: Readonly<Record<string, Target>>;
  /** Entries of a list stand behind commas. */
  commas?: true;
}

const SHOPIFY: Preset = {
  shop: "Shopify",
  has: ["Handle", "Variant SKU", "Variant Price"],
  names: {
    "URL handle": "Handle",
    Description: "Body (HTML)",
    SKU: "Variant SKU",
    Price: "Variant Price",
    "Compare-at price": "Variant Compare At Price",
    Barcode: "Variant Barcode",
    "Inventory quantity": "Variant Inventory Qty",
    "Weight value (grams)": "Variant Grams",
    "Product image URL": "Image Src",
    "Variant image URL": "Variant Image",
    "Published on online store": "Published",
    ...Object.fromEntries(
      [1, 2, 3].flatMap((n) =>
        ["Name", "Value"].map((part) => [
          `Option${n} ${part.toLowerCase()}`,
          `Option${n} ${part}`,
        ])
      ),
    ),
  },
  targets: {
    Type: "categories",
    "Product Category": "",
    "Product category": "",
  },
};

const PRESETS: readonly Preset[] = [
  {
    ...SHOPIFY,
    has: [...SHOPIFY.has, "Status"],
    targets: { ...SHOPIFY.targets, Published: "" },
  },
  // Before 2020, it told by "Published" alone what is not for sale.
  SHOPIFY,
  {
    shop: "Wix",
    has: [
      "Handle",
      "fieldType",
      "Variant Price",
      "Variant Inventory Qty",
      "Published",
      "Image Src",
    ],
    names: {
      handleId: "Handle",
      handle: "Handle",
      name: "Title",
      plainDescription: "Description",
      productImageUrl: "Image Src",
      media: "Image Src",
      visible: "Published",
      sku: "Variant SKU",
      barcode: "Variant Barcode",
      price: "Variant Price",
      strikethroughPrice: "Variant Compare At Price",
      inventory: "Variant Inventory Qty",
      ...Object.fromEntries(
        [1, 2, 3, 4, 5, 6].flatMap((n) => [
          [`productOptionName${n}`, `Option${n} Name`],
          [`productOptionDescription${n}`, `Option${n} Value`],
          [`productOptionChoices${n}`, `Option${n} Value`],
        ]),
      ),
    },
    targets: {
      collection: "categories",
      "Variant Availability": "availability",
    },
  },
  {
    shop: "WooCommerce",
    has: ["SKU", "Regular price", "Sale price", "Is featured?"],
    names: {
      Typ: "Type",
      Artikelnummer: "SKU",
      "GTIN, UPC, EAN oder ISBN": "GTIN, UPC, EAN, or ISBN",
      Veröffentlicht: "Published",
      "Ist hervorgehoben?": "Is featured?",
      Kurzbeschreibung: "Short description",
      Beschreibung: "Description",
      "Datum, an dem Angebotspreis beginnt": "Date sale price starts",
      "Datum, an dem Angebotspreis endet": "Date sale price ends",
      "Vorrätig?": "In stock?",
      Lager: "Stock",
      Bestand: "Stock",
      "Gewicht (kg)": "Weight (kg)",
      Angebotspreis: "Sale price",
      "Regulärer Preis": "Regular price",
      Kategorien: "Categories",
      Schlagwörter: "Tags",
      Bilder: "Images",
      "Übergeordnetes Produkt": "Parent",
      Marken: "Brands",
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, i) => i + 1).flatMap((n) => [
          [`Attribut ${n} Name`, `Attribute ${n} name`],
          [`Attribut ${n} Wert(e)`, `Attribute ${n} value(s)`],
        ]),
      ),
    },
    targets: { "Regular price": "price", Published: "status" },
    commas: true,
  },
  {
    shop: "Magento",
    has: ["sku", "product_type", "product_online", "name"],
    targets: {
      product_online: "status",
      product_type: "",
      base_image: "images",
      additional_images: "images",
      is_in_stock: "availability",
      manufacturer: "brand",
      short_description: "",
    },
  },
  {
    shop: "PrestaShop",
    has: ["Reference", "Price (tax incl.)"],
    targets: {
      "Product ID": "",
      "Price (tax incl.)": "price",
      "Price (tax excl.)": "",
      Status: "status",
      Position: "",
    },
  },
  {
    shop: "PrestaShop",
    has: ["Active (0/1)", "Reference #"],
    targets: {
      "Product ID": "",
      "Reference #": "sku",
      "Active (0/1)": "status",
      "Name *": "title",
      "Price tax included": "price",
      "Price tax excluded": "",
      "Short description": "",
      "Supplier reference #": "",
      "Available for order (0 = No, 1 = Yes)": "",
      UPC: "",
    },
    commas: true,
  },
  {
    shop: "Shopware",
    has: ["ordernumber", "mainnumber", "instock"],
    targets: {
      ordernumber: "sku",
      price_EK: "price",
      pseudoprice_EK: "compare_at_price",
      instock: "quantity",
      supplier: "brand",
      description_long: "description",
    },
  },
  {
    shop: "Google Merchant",
    has: ["id", "title", "price", "image_link"],
    names: Object.fromEntries(
      [
        "additional_image_link",
        "age_group",
        "availability_date",
        "google_product_category",
        "image_link",
        "item_group_id",
        "product_type",
        "sale_price",
        "sale_price_effective_date",
        "shipping_weight",
      ].map((name) => [name.replaceAll("_", " "), name]),
    ),
    targets: {
      id: "sku",
      google_product_category: "",
      product_weight: "",
      ...Object.fromEntries(
        ["color", "size", "material", "pattern", "gender", "age_group"]
          .map((name) => [name, "attribute"]),
      ),
    },
  },
];

/** The preset that a table has the columns of; undefined: none. */
export function presetOf(header: readonly string[]): Preset | undefined {
  return PRESETS.find(({ has, names }) => {
    const known = inEnglish(header, names);
    return has.every((name) => known.includes(name));
  });
}

/** The names that the shop's first release in English has for its columns. */
export function namesIn(header: readonly string[]): readonly string[] {
  return inEnglish(header, presetOf(header)?.names);
}

function inEnglish(
  header: readonly string[],
  names: Preset["names"] = {},
): readonly string[] {
  return header.map((name) => Object.hasOwn(names, name) ? names[name] : name);
}

/** Of these columns, one holds the categories where no other one does. */
const CATEGORIES_ALONE =
  "product type, product category, google product category"
    .split(", ").map(squeezed);

/** What the columns hold by their names; null where a name says nothing. */
export function targetsByName(header: readonly string[]): (Target | null)[] {
  const { targets = {} } = presetOf(header) ?? {};
  const found = namesIn(header).map((name) =>
    Object.hasOwn(targets, name) ? targets[name] : targetByName(name)
  );
  // Alone, either of them is the price.
  const has = (target: Target) => found.includes(target);
  for (const other of ["compare_at_price", "sale_price"] as const) {
    if (!has("price") && has(other)) found[found.indexOf(other)] = "price";
  }
  const alone = header.findIndex((name, i) =>
    found[i] === null && CATEGORIES_ALONE.includes(squeezed(name))
  );
  if (alone >= 0 && !has("categories")) found[alone] = "categories";
  return found;
}

function targetByName(name: string): Target | null {
  if (/^attribute[:. ]\s*\D/i.test(name)) return "attribute";
  if (/\bvalue(\(s\))?$/i.test(name) && /\d/.test(name)) return "attribute";
  const label = TARGETS.find(({ label }) => label === name);
  if (label !== undefined) return label.target;
  const tried = [name, withoutNumber(name), withoutUnit(name)];
  const target = [...tried, withoutRemark(name)]
    .map((one) => BY_NAME.get(squeezed(one)))
    .find((found) => found !== undefined) ?? null;
  return target === null || isOfUnit(name, target) ? target : null;
}

/** Words in brackets that change nothing about what a column holds. */
const REMARKS =
  "html text de en fr es it nl pl sv da x y z pc pcs st stk stück szt required optional pflicht pflichtfeld obligatoire obligatorio max char chars characters zeichen"
    .split(" ");

/**
 * `Title (en)` as `Title`; `SKU (supplier)` stays, as it is another SKU. `EAN
 * (GTIN)` says the same twice.
 */
function withoutRemark(name: string): string {
  const [plain, remark = ""] = name.split("(");
  const isRemark = wordsIn(remark)
    .every((word) => REMARKS.includes(word) || /^\d+$/.test(word));
  const other = BY_NAME.get(squeezed(remark));
  const isSame = other !== undefined && other === BY_NAME.get(squeezed(plain));
  return isRemark || isSame ? plain : name;
}

/** Whether a unit in a name is one of what it holds: no price is in kilograms. */
function isOfUnit(name: string, target: Target): boolean {
  if (target === "weight") return true;
  if (weightUnitOf(name) !== "") return false;
  const isOfMoney = ["price", "compare_at_price", "sale_price", "currency", ""]
    .includes(target);
  return isOfMoney || priceUnitOf(name) === "" && currencyIn(name) === "";
}

/** How many of these names say what their columns hold. */
export function knownIn(names: readonly string[]): number {
  return names.filter((name) => targetByName(name) !== null).length;
}

/** The columns of weights and of their units; null: it has not both. */
export function weightsIn(
  header: readonly string[],
): { weight: number; unit: number } | null {
  const weight = header.findIndex((name) => targetByName(name) === "weight");
  const unit = header.findIndex((name) =>
    UNITS_OF_WEIGHT.includes(squeezed(name))
  );
  return weight < 0 || unit < 0 ? null : { weight, unit };
}

const UNITS_OF_WEIGHT =
  "weight unit, unit of weight, weight uom, gewichtseinheit, viktenhet, unite de poids, unidad de peso, jednostka wagi, gewichtseenheid"
    .split(", ").map(squeezed);

/** Whether a name is that of prices in a sale. */
export function isSalePrice(name: string): boolean {
  return targetByName(name) === "sale_price";
}

/** Whether a name is that of prices that a maker recommends, or of former ones. */
export function isRecommended(name: string): boolean {
  return /uvp|rrp|msrp|recom|rekom|conseil|advies|katalog|old|alter|statt|streich|tidigare|barre|ancien|anterior|tachado|stara|obnizk|oude|vanprijs/
    .test(squeezed(name));
}

/** Whether a name is that of what is for sale, also where a shop leaves it out. */
export function isState(name: string): boolean {
  return targetByName(name) === "status";
}

/** Words for what is not for sale, without accents. */
const UNSOLD =
  "gesperrt sperre sperrkennzeichen verkaufssperre geloscht loschkennzeichen loschvormerkung auslauf auslaufartikel archiviert versteckt ausgeblendet inaktiv deaktiviert storniert blocked locked deleted trash discontinued archived hidden inactive disabled cancelled canceled obsolete sparrad utgatt utgangen dold borttagen inaktiverad supprime archive masque bloque desactive inactif eliminado bloqueado descatalogado oculto inactivo zablokowany usuniety ukryty nieaktywny wycofany geblokkeerd verwijderd verborgen inactief"
    .split(" ");

/** Whether a name or a value says that something is not for sale. */
export function isOfUnsold(text: string): boolean {
  return wordsIn(text).some((word) => UNSOLD.includes(squeezed(word)));
}

/** Words of rows that add up others, without accents. */
const SUMS =
  "summe zwischensumme gesamt gesamtsumme gesamtergebnis total totals subtotal grand sum summa delsumma totalt totalsumma totaux general suma razem ogolem koncowa totaal subtotaal eindtotaal totale subtotale somma celkem soucet osszesen toplam"
    .split(" ");

/** Whether a text says nothing but that its row adds up others. */
export function isOfSum(text: string): boolean {
  const words = wordsIn(text);
  return words.length > 0 &&
    words.every((word) => SUMS.includes(squeezed(word)));
}

const PRICE_UNITS =
  "price unit, price per, per, pricing unit, price base, price quantity, preiseinheit, preis pro, preis je, prisenhet, unite de prix, prix par, unidad de precio, jednostka ceny, prijseenheid"
    .split(", ").map(squeezed);

/** Whether a column says for how many pieces a price is. */
export function isPriceUnit(name: string): boolean {
  return PRICE_UNITS.includes(squeezed(name));
}

/** Whether a column may say that prices are without VAT; null: it does not. */
export function vatFlagOf(name: string): "gross" | "net" | null {
  if (isNet(name)) return "net";
  const words = wordsIn(name);
  const isGross = words.some((word) => TAXES.includes(word)) &&
    words.some((word) => INCLUDED.includes(word));
  return isGross ? "gross" : null;
}

/** How words about a sale, a price or its validity begin, without accents. */
const OF_PRICES =
  /^(?:sale|special|promo|offer|discount|deal|sonderpreis|angebot|aktion|rea|kampanj|extrapris|sold|remise|rabat|ofert|rebaj|descuento|wyprzeda|obniz|aanbied|actie|korting|uitverkoop|valid|gultig|giltig|valab|wazn|geldig|price|preis|pris|prix|precio|cen[ay]|prijs)/;

/** Whether dates under this name may be when a price is valid. */
export function isOfPrices(name: string): boolean {
  return wordsIn(name).some((word) => OF_PRICES.test(squeezed(word)));
}

/** `Image 2` as `Image`. */
function withoutNumber(name: string): string {
  let end = name.length;
  while (end > 0 && " _0123456789".includes(name[end - 1])) end--;
  return name.slice(0, end);
}

const FILLERS = "in i en w of con ink inkl incl including ttc brutto gross kr"
  .split(
    " ",
  );
const NET = "ex excl excluding exkl exklusive netto net ht hors sin zzgl".split(
  " ",
);
const MONEY = "zł kč euro euros ft tl lei".split(" ");
const INCLUDED =
  "incl included includes including inclusive inkl inklusive enthalten ink inclus incluse comprise incluido incluida wliczony inclusief"
    .split(" ");
const TAXES = "moms mwst vat tva iva btw tax ust".split(" ");

/** Whether this names an amount without VAT, or a net weight. */
export function isNet(name: string): boolean {
  return wordsIn(name).some((word) => NET.includes(word));
}

/** `Preis in EUR inkl. MwSt.` as `preis`; a price without VAT stays as it is. */
function withoutUnit(name: string): string {
  const words = wordsIn(name);
  const isGross = words.some((word) => FILLERS.includes(word));
  return words.filter((word) =>
    !FILLERS.includes(word) && !MONEY.includes(word) &&
    !(isGross && (TAXES.includes(word) || /^\d+$/.test(word))) &&
    weightUnitOf(word) === "" && priceUnitOf(word) === "" &&
    !("value" in readCurrency(word.toUpperCase()))
  ).join(" ");
}

/** In lower case, without accents, spaces and punctuation. */
function squeezed(name: string): string {
  return name.toLowerCase().normalize("NFD").replaceAll("ł", "l")
    .replaceAll("ı", "i").replaceAll("ß", "ss").replace(/[^\p{L}\p{N}]/gu, "");
}

/** The column with the name of the attribute whose value is in this one. */
export function nameColumnOf(
  header: readonly string[],
  column: number,
): number {
  const names = namesIn(header);
  const pair = names[column].replace(/value(\(s\))?$/i, "name").toLowerCase();
  return names.findIndex((name, i) =>
    i !== column && name.toLowerCase() === pair
  );
}
