/**
 * Recognizes the fields of columns by their names, in English, German, Swedish,
 * French, Spanish, Polish and Dutch, and in the exports of shop systems. SKU,
 * title, price and quantity are also known in Italian, Czech, Danish, Hungarian
 * and Turkish.
 */
import {
  fieldForSynonym,
  LIST_NAMES,
  SCALAR_NAMES,
  SCALAR_RULES,
} from "../../../catalogue/fields.ts";
import { readCurrency } from "../../../lib/values.ts";
import {
  currencyIn,
  lowerCaseWords,
  priceUnitOf,
  weightUnitOf,
} from "../../lib/numbers.ts";
import { fieldLabel } from "../../lib/words.ts";
import type { ColumnField } from "../../lib/column_field.ts";
import { isOwnTable } from "./own_table.ts";
import { namesIn, shopOf } from "../shops/shops.ts";

/** The fields that a user can choose for a column. */
export const TARGETS: readonly { target: ColumnField; label: string }[] = [
  { target: "", label: "– leave out –" },
  ...SCALAR_NAMES.map((target) => ({
    target,
    label: SCALAR_RULES[target].label,
  })),
  { target: "currency", label: "Currency" },
  { target: "sale_price", label: "Sale price" },
  { target: "sale_from", label: "Sale from" },
  { target: "sale_until", label: "Sale until" },
  ...LIST_NAMES.filter((name) => name !== "attributes")
    .map((target) => ({ target, label: fieldLabel(target) })),
  { target: "attribute", label: "Attribute of that name" },
];

/**
 * Names of columns, besides the synonyms of the fields in
 * `catalogue/fields.ts`; in lower case and without accents. No name is listed
 * twice.
 */
const NAMES: Readonly<Record<Exclude<ColumnField, "attribute">, string>> = {
  sku:
    "sku, item sku, article no, item no, product code, stock keeping unit, artikelnummer, artikel nr, art nr, artnr, artikelnr, artikelkod, bestellnummer, bestell nr, produktnummer, produktkod, variantnummer, reference, ref, reference produit, code article, code produit, referencia, codigo, codigo de producto, codigo de articulo, numer katalogowy, nr katalogowy, indeks, symbol, kod produktu, kod towaru, artikelcode, productcode, variant sku, custom label, seller sku, verkaufer sku, product code sku, codice, codice articolo, codice prodotto, cod articolo, kod, kod zbozi, katalogove cislo, varenummer, varenr, vare nr, cikkszam, termekkod, cikk kod, urun kodu, stok kodu",
  title:
    "title, product title, item name, bezeichnung, artikelbezeichnung, artikelname, produktname, produkttitel, titel, namn, produktnamn, artikelnamn, benamning, artikelbenamning, nom, nom du produit, titre, designation, libelle, intitule, nombre, titulo, nombre del producto, denominacion, nazwa, nazwa produktu, nazwa towaru, tytul, naam, productnaam, artikelnaam, producttitel, nome, nome prodotto, nome articolo, titolo, denominazione, nazev, nazev produktu, nazev zbozi, navn, varenavn, varebetegnelse, nev, termeknev, termek neve, megnevezes, urun adi, urun ismi, stok adi",
  description:
    "description, body html, product description, beschreibung, artikelbeschreibung, produktbeschreibung, langtext, langbeschreibung, beskrivning, lang beskrivning, produktbeskrivning, artikelbeskrivning, description longue, description du produit, descripcion, descripcion larga, descripcion del producto, opis, opis produktu, dlugi opis, omschrijving, beschrijving, productomschrijving, productbeschrijving",
  price:
    "price, selling price, retail price, preis, verkaufspreis, vk, vk preis, std vk, einzelpreis, stuckpreis, endpreis, bruttopreis, pris, forsaljningspris, utpris, styckpris, butikspris, prix, prix de vente, prix unitaire, prix public, precio, precio de venta, precio venta, precio unitario, pvp, cena, cena sprzedazy, cena detaliczna, prijs, verkoopprijs, stukprijs, variant price, start price, standard price, prezzo, prezzo di vendita, prezzo vendita, prezzo unitario, prezzo al pubblico, prezzo ivato, prezzo iva inclusa, prodejni cena, cena s dph, cena vcetne dph, salgspris, udsalgspris, brutto ar, eladasi ar, fogyasztoi ar, egysegar, fiyat, satis fiyati, birim fiyat, kdv dahil fiyat",
  sale_price:
    "sale price, special price, discount price, angebotspreis, aktionspreis, sonderpreis, reapris, kampanjpris, rea pris, prix promo, prix promotionnel, prix solde, precio rebajado, precio de oferta, precio oferta, cena promocyjna, aanbiedingsprijs, actieprijs",
  sale_from: "sale from",
  sale_until: "sale until",
  compare_at_price:
    "compare at price, recommended price, uvp, alter preis, stattpreis, listenpreis, streichpreis, ordinarie pris, ord pris, tidigare pris, rekommenderat pris, prix barre, ancien prix, prix conseille, prix normal, precio anterior, precio tachado, precio normal, precio recomendado, cena przed obnizka, stara cena, cena regularna, cena katalogowa, adviesprijs, oude prijs, van prijs, normale prijs, variant compare at price, price old, rek pris, rek utpris, prezzo barrato, prezzo consigliato, prezzo di listino",
  currency:
    "currency, currency code, price currency, wahrung, wahrungscode, valuta, valutakod, devise, monnaie, moneda, divisa, waluta, munteenheid",
  vat_rate:
    "vat rate, mwst, mwst satz, mehrwertsteuer, mehrwertsteuersatz, ust, umsatzsteuer, steuersatz, moms, momssats, moms procent, tva, taux tva, taux de tva, iva, tipo iva, tipo de iva, stawka vat, podatek vat, btw, btw tarief, btw percentage",
  quantity:
    "quantity, quantity in stock, on hand, available quantity, quantity on hand, stock qty, bestand, lagerbestand, bestand gesamt, lagerbestand gesamt, verfugbarer bestand, menge, anzahl, stuckzahl, lagermenge, verfugbare menge, antal, disponibelt antal, tillgangligt antal, lagersaldo, saldo, lagerantal, antal i lager, lager, freier bestand, quantite, qte, quantite en stock, cantidad, unidades, existencias, cantidad en stock, ilosc, stan magazynowy, liczba sztuk, aantal, voorraad, vrije voorraad, voorraadaantal, stock libre, dostepna ilosc, current quantity, variant inventory qty, current stock level, quantita, qta, giacenza, giacenze, scorte, pezzi, mnozstvi, pocet kusu, stav skladu, beholdning, lagerbeholdning, mennyiseg, keszlet, raktarkeszlet, darabszam, stok, stok adedi, stok miktari, miktar, adet",
  availability:
    "availability, in stock, verfugbarkeit, verfugbar, lieferbar, auf lager, lagerstatus, tillganglighet, tillganglig, i lager, pa lager, op voorraad, beschikbaar, disponibilite, en stock, disponibilidad, disponible, dostepnosc, beschikbaarheid, voorraadstatus, disponibilita, dostupnost, skladem, raktaron",
  available_at:
    "available at, available from, availability date, verfugbar ab, lieferbar ab, tillganglig fran, disponible le, date de disponibilite, disponible desde, dostepny od, beschikbaar vanaf",
  gtin:
    "gtin, ean13, ean 13, ean code, ean nummer, ean upc, gtin upc ean or isbn, gtin ean, ean gtin, strichcode, streckkod, ean kod, eankod, code barre, code barres, code a barres, codigo de barras, codigo ean, kod kreskowy, kod ean, streepjescode, variant barcode, product ean, product upc ean, code ean, codice ean, codice a barre, kod ean 13",
  brand:
    "brand, brands, manufacturer, manufacturer name, brand name, marke, hersteller, markenname, varumarke, marke tillverkare, tillverkare, marque, fabricant, marca, fabricante, marka, producent, merk, merknaam, fabrikant",
  mpn:
    "mpn, manufacturer part number, han, herstellernummer, hersteller nr, herstellerartikelnummer, herstellerteilenummer, tillverkarens artikelnummer, modellnummer, reference fabricant, reference constructeur, referencia fabricante, referencia del fabricante, kod producenta, numer producenta, fabrikantcode, artikelnummer fabrikant, mfr part number, mfg part number",
  weight:
    "weight, net weight, gross weight, item weight, shipping weight, variant grams, grams, gewicht, nettogewicht, bruttogewicht, versandgewicht, artikelgewicht, vikt, nettovikt, bruttovikt, fraktvikt, poids, poids net, poids brut, peso, peso neto, peso bruto, waga, masa, waga netto, waga brutto, product weight",
  handling_days:
    "handling days, handling time days, days to ship, days to dispatch, bearbeitungstage, bearbeitungszeit tage, bearbeitungszeit in tagen, hanteringsdagar, hanteringstid dagar, delai de preparation jours, dias de preparacion, dni realizacji, verwerkingsdagen",
  condition:
    "condition, zustand, artikelzustand, skick, etat, etat du produit, condicion, stan produktu, conditie, staat",
  status:
    "status, product status, published, active, visible, product visible, enabled, aktiv, sichtbar, veroffentlicht, synlig, publicerad, actif, visible en ligne, activo, aktywny, actief, online, webshop, im shop, im shop aktiv, verkaufbar, freigegeben, gepubliceerd, zichtbaar, publie, publicado, opublikowany, widoczny, attivo, pubblicato, visibile",
  parent_sku:
    "parent sku, master sku, vaterartikel, hauptartikel, hauptartikelnummer, huvudartikel, reference parent, sku parent, sku padre, referencia padre, sku nadrzedny, hoofdartikel, eltern sku, vater sku, vaterartikelnummer, elternartikel, sku genitore, sku rodzica",
  manufacturer:
    "manufacturer contact, herstellerkontakt, kontakt hersteller, tillverkarkontakt, tillverkarens kontakt, contact fabricant, contact du fabricant, contacto del fabricante, kontakt producenta, contact fabrikant",
  responsible_person:
    "responsible person, responsible person eu, eu responsible person, verantwortliche person, eu verantwortliche person, ansvarig person, personne responsable, persona responsable, osoba odpowiedzialna, verantwoordelijke persoon",
  safety_text:
    "safety text, safety information, safety instructions, safety warnings, sicherheitshinweis, sicherheitshinweise, sicherheitsinformationen, warnhinweise, sakerhetsinformation, sakerhetstext, varningstext, informations de securite, consignes de securite, avertissements, informacion de seguridad, advertencias, informacje o bezpieczenstwie, ostrzezenia, veiligheidsinformatie, veiligheidsinstructies, waarschuwingen",
  categories:
    "categories, kategorie, kategorien, warengruppe, produktkategorie, produktgruppe, kategori, kategorier, varugrupp, produktgrupp, categorie, categories de produit, rubrique, famille, categoria, categorias, familia, kategoria, kategorie produktu, categorieen, productgroep, productcategorie",
  attributes: "",
  images:
    "images, main image, image urls, image links, image src, picture url, photo, photo url, additional image link, variant image, bild, bilder, bild url, bilder url, bildlink, produktbild, produktbilder, bildadress, bildlank, image produit, lien image, url image, url de l image, imagen, imagenes, url imagen, foto, fotos, zdjecie, zdjecia, url zdjecia, obraz, afbeelding, afbeeldingen, afbeelding url, main image url, cover media url, other image url, product image url, url hauptbild, hosted image urls",
  "":
    "id, tags, cost, cost per item, cost price, purchase price, einkaufspreis, ek, ek preis, inkopspris, prix d achat, precio de coste, precio de compra, cena zakupu, inkoopprijs, problems",
};

const BY_NAME: ReadonlyMap<string, ColumnField> = new Map(
  (Object.entries(NAMES) as [ColumnField, string][]).flatMap((
    [target, names],
  ) =>
    names.split(", ").filter(Boolean).map((name) => [squeezed(name), target])
  ),
);

/** Synonyms of fields that mean something else in many tables. */
const AMBIGUOUS_SYNONYMS = ["amount", "vendor", "leadtime", "producttype"];

/** The field with this squeezed name; undefined if unknown. */
function fieldOfName(name: string): ColumnField | undefined {
  const known = BY_NAME.get(name);
  if (known !== undefined || AMBIGUOUS_SYNONYMS.includes(name)) return known;
  const field = fieldForSynonym(name);
  return field === null || field === "attributes"
    ? undefined
    : field as ColumnField;
}

/** Columns with the categories, used if no other column has categories. */
const CATEGORY_SUBSTITUTES =
  "product type, product category, google product category"
    .split(", ").map(squeezed);

/** The field of each column by its name; null if unknown. */
export function targetsByName(
  header: readonly string[],
): (ColumnField | null)[] {
  const { targets = {} } = shopOf(header) ?? {};
  const found = namesIn(header).map((name) =>
    Object.hasOwn(targets, name) ? targets[name] : targetByName(name)
  );
  // Without a price column, the gross or the net price is the price.
  const has = (target: ColumnField) => found.includes(target);
  for (const other of ["compare_at_price", "sale_price"] as const) {
    const isDated = other === "sale_price" && has("sale_until");
    if (!has("price") && has(other) && !isDated) {
      found[found.indexOf(other)] = "price";
    }
  }
  const alone = header.findIndex((name, i) =>
    found[i] === null && CATEGORY_SUBSTITUTES.includes(squeezed(name))
  );
  if (alone >= 0 && !has("categories")) found[alone] = "categories";
  return found;
}

/** The field of a column by its name alone; null if unknown. */
export function targetByName(name: string): ColumnField | null {
  if (/^attribute(?::|[. ]\s*\D)/i.test(name)) return "attribute";
  if (/\bvalue(\(s\))?$/i.test(name) && /\d/.test(name)) return "attribute";
  const label = TARGETS.find(({ label }) => label === name);
  if (label !== undefined) return label.target;
  const tried = [name, withoutNumber(name), withoutUnit(name)];
  const target = [...tried, withoutRemark(name), withoutShop(name)]
    .map((one) => fieldOfName(squeezed(one)))
    .find((found) => found !== undefined) ??
    (mayBeSalePrice(name) ? "sale_price" : null);
  const isSure = target === null ||
    unitFitsTarget(name, target) &&
      !(isNumberedName(name) && isSingleValued(target));
  return isSure ? target : null;
}

/** Whether a product has at most one value of this field. */
function isSingleValued(target: ColumnField): boolean {
  return target !== "" && !(LIST_NAMES as readonly string[]).includes(target);
}

/** Whether a name has a number above 1, such as `Price 2`. */
function isNumberedName(name: string): boolean {
  const number = name.slice(withoutNumber(name).length).replace(/^[ _]+/, "");
  return Number(number) > 1 && fieldOfName(squeezed(name)) === undefined;
}

/** Converts `Web price` to `price`, because the shop's price is the price. */
function withoutShop(name: string): string {
  return squeezed(name).replace(/^(?:online|webb?|shop|store|our)/, "")
    .replace(/(?:online|webb?|boutique|wsklepie)$/, "");
}

/** Words in brackets that do not change the field of a column. */
const REMARKS =
  "html text de en fr es it nl pl sv da x y z pc pcs st stk stück szt required optional pflicht pflichtfeld obligatoire obligatorio max char chars characters zeichen"
    .split(" ");

/**
 * Converts `Title (en)` to `Title`, and `EAN (GTIN)` to `EAN`. `SKU (supplier)`
 * stays unchanged, because it is the supplier's SKU.
 */
function withoutRemark(name: string): string {
  const [plain, remark = ""] = name.split("(");
  const isRemark = lowerCaseWords(remark)
    .every((word) => REMARKS.includes(word) || /^\d+$/.test(word));
  const other = fieldOfName(squeezed(remark));
  const isSame = other !== undefined && other === fieldOfName(squeezed(plain));
  return isRemark || isSame ? plain : name;
}

/**
 * Whether the field can have the unit in a name, if the name has a unit. A
 * price cannot be in kilograms.
 */
function unitFitsTarget(name: string, target: ColumnField): boolean {
  if (target === "weight") return true;
  if (weightUnitOf(name) !== "") return false;
  const isMoney = ["price", "compare_at_price", "sale_price", "currency", ""]
    .includes(target);
  return isMoney || priceUnitOf(name) === "" && currencyIn(name) === "";
}

const LANGUAGES = "de en fr es it nl pl sv da".split(" ");

/** Whether a name ends with a language code, as in `Name (en)`. */
export function namesLanguage(name: string): boolean {
  const words = lowerCaseWords(name);
  return words.length > 1 && LANGUAGES.includes(words.at(-1)!);
}

/** Whether a word of a name, without accents and signs, matches. */
function hasWord(name: string, pattern: RegExp): boolean {
  return lowerCaseWords(name).some((word) => pattern.test(squeezed(word)));
}

/** Words in the names of prices. */
const PRICE =
  /preis|price|^prisp?e?r?$|pris$|^prix|^precio|^pvp|^cen[ay]$|prij[sz]|^prezz|^fiyat/;
/** Words in the names of prices that no customer pays for one piece. */
const OTHER_PRICE_WORDS =
  /^(?:ek|cost|rrp|msrp|uvp|map|per|je|pro|unit|base|tier|discount)$|^(?:buy|grund|basis|staffel|min|max|kost|gultig|giltig|valid|valab|wazn|geldig)|rabat|einkauf|purchase|wholesale|handler|dealer|reseller|trade|b2b|gross?handel|hurt|retailer|aterforsalj|revendeur|mayorista|inkop|inpris|achat|compra|zakup|inkoop|supplier|lieferant|fournisseur|proveedor|dostawc|leverant|acquisto|fornitore|ingrosso|shipping|versand|frakt|livraison|envio|verzend|pfand|deposit|jamfor|jednostk|unitair|unitari|einheit|gruppe|group|liste$|klass|class|code|datum|date|unit|type?$|kategori|level|fa[ck]tor|punkt|point|menge|quantity/;

/** Whether a name is the name of a price of any kind. */
export function namesPrice(name: string): boolean {
  return hasWord(name, PRICE);
}

/**
 * Whether a name may be the price that a customer pays, with VAT, for one piece
 * or for a number of pieces that the name says.
 */
function namesCustomerPrice(name: string): boolean {
  const isForMany = piecesPerPrice(name) > 1;
  const isOther = lowerCaseWords(name).some((word) =>
    OTHER_PRICE_WORDS.test(squeezed(word)) &&
    !(isForMany && (PER.includes(word) || PIECES.includes(word)))
  );
  return namesPrice(name) && !isOther && !namesPriceUnit(name) &&
    !namesNetAmount(name) && weightUnitOf(name) === "" &&
    !namesMeasure(name);
}

/** Whether an unknown name may be the price. */
export function mayBePrice(name: string): boolean {
  return namesCustomerPrice(name) && !namesRecommendedPrice(name) &&
    !namesSale(name);
}

/** Whether an unknown name may be the sale price. */
function mayBeSalePrice(name: string): boolean {
  return namesCustomerPrice(name) && namesSale(name) &&
    !namesRecommendedPrice(name) && !hasWord(name, PERIOD);
}

/**
 * Whether an unknown name is a further column of this field, such as `Menge 2`.
 */
export function namesAnotherColumnOf(
  target: ColumnField,
  name: string,
): boolean {
  return isNumberedName(name) && targetByName(name) === null &&
    targetByName(withoutNumber(name)) === target;
}

/** Whether an unknown name contains the word SKU, such as `Unit (SKU)`. */
export function mayBeSku(name: string): boolean {
  return lowerCaseWords(name).map(squeezed).includes("sku") &&
    !hasWord(name, OTHER_SKU_WORDS);
}

/** Words in the names of SKUs other than the product's SKU. */
const OTHER_SKU_WORDS =
  /supplier|lieferant|fournisseur|proveedor|dostawc|leveranc|leverant|fornitore|vendor|hersteller|manufactur|parent|eltern|vater|haupt|master|padre|related|upsell|cross|bundle|warehouse|fn$|^fnsku|amazon|status|link|url/;

/** Words in the names of quantities in stock. */
const STOCK =
  /bestand|stock|voorraad|saldo|existencias|inventory|lager$|magazyn|verfugbar|availab|disponib|dostepn|beschikb|tillgang/;
const OTHER_STOCK_WORDS =
  /min|max|melde|reserv|gereserv|supplier|lieferant|fournisseur|proveedor|dostawc|leverant|leveranc|low|alert|limit|threshold|bestell|order|incoming|zulauf|niedrig|lagst|status|^id$|^ab$|^von$|^from$|date|datum/;

/** Whether an unknown name may be the quantity. */
export function mayBeStock(name: string): boolean {
  return hasWord(name, STOCK) && !hasWord(name, OTHER_STOCK_WORDS);
}

/** Whether a name means the number of reserved pieces. */
export function namesReservedStock(name: string): boolean {
  return /reserv/.test(squeezed(name));
}

/** Whether a name concerns a carton of several pieces. */
export function namesCarton(name: string): boolean {
  return hasWord(
    name,
    /karton|carton|case$|^pack|^ve$|verpackung|palette|pallet|doos|master|outer|innerpack|opakow|kolli|caja|colis/,
  );
}

/** Whether a name means images that do not show the product, such as logos. */
export function namesOtherPicture(name: string): boolean {
  return /label|logo|thumb|icon|swatch|energ|vignett|miniat|badge|siegel|brand|marke/
    .test(squeezed(name));
}

/**
 * The rank of a name among the names of the same field. The column with the
 * smallest rank is used: `Marke` has a smaller rank than `Hersteller`, and
 * `Preis` than `Preis (100 Stk)`.
 */
export function rankOf(target: ColumnField, name: string): number {
  const isLater = target === "brand"
    ? namesMaker(name)
    : target === "price" && piecesPerPrice(name) > 1;
  return isLater ? 1 : 0;
}

/** Whether a name means the maker, who may differ from the brand. */
export function namesMaker(name: string): boolean {
  return MAKER_NAMES.test(squeezed(name));
}

const MAKER_NAMES =
  /^(?:manufacturer|hersteller|tillverkare|fabri[ck]ant|producent)/;

/** Counts the names that are known. */
export function countKnownNames(names: readonly string[]): number {
  return names.filter((name) => targetByName(name) !== null).length;
}

/** The columns of the weight and of its unit; null if one of them is missing. */
export function weightAndUnitColumns(
  header: readonly string[],
): { weight: number; unit: number } | null {
  const weight = header.findIndex((name) => targetByName(name) === "weight");
  const unit = header.findIndex((name) =>
    WEIGHT_UNIT_NAMES.includes(squeezed(name))
  );
  return weight < 0 || unit < 0 ? null : { weight, unit };
}

/** The columns of pounds and of ounces; null if one of them is missing. */
export function poundAndOunceColumns(
  header: readonly string[],
): { pounds: number; ounces: number } | null {
  const of = (unit: string) =>
    header.findIndex((name) =>
      targetByName(name) === "weight" && weightUnitOf(name) === unit
    );
  const [pounds, ounces] = [of("lb"), of("oz")];
  return pounds < 0 || ounces < 0 ? null : { pounds, ounces };
}

const WEIGHT_UNIT_NAMES =
  "weight unit, unit of weight, weight uom, gewichtseinheit, viktenhet, unite de poids, unidad de peso, jednostka wagi, gewichtseenheid"
    .split(", ").map(squeezed);

/** Whether a name means the sale price. */
export function namesSalePrice(name: string): boolean {
  return targetByName(name) === "sale_price";
}

/** Whether a name means a recommended or a former price. */
export function namesRecommendedPrice(name: string): boolean {
  return /uvp|rrp|msrp|compare|recom|rekom|conseil|advies|katalog|old|alter|statt|streich|tidigare|barre|ancien|anterior|tachado|stara|obnizk|oude|vanprijs/
    .test(squeezed(name));
}

/**
 * Whether a name means the status. In a shop's export, a column of this name
 * may be another field.
 */
export function namesStatus(name: string): boolean {
  return targetByName(name) === "status";
}

/** Whether an unknown name may be the status. */
export function mayBeStatus(name: string): boolean {
  return !namesSale(name) && hasWord(name, STATUS_WORDS);
}

/** Words for products that are shown or can be bought. */
const STATUS_WORDS =
  /^(?:live|online|web|shop|sichtb|visib|zichtb|synlig|widocz|activ|aktiv|actief|actif|attiv|aktyw|publi|veroff|opublik|enabl|sellable|saleable|verkaufb|freigeg|listed)/;

/** Whether a name means the condition or the status. */
export function namesStatusOrCondition(name: string): boolean {
  return /^(?:etat|staat|estado|stato|stan|tillstand)$/.test(squeezed(name));
}

/** Words for products that are not for sale, without accents. */
const NOT_FOR_SALE_WORDS =
  "frozen frozenfor sommeil utgaende utgar sospeso sospesa bloccato obsoleto nascosto disattivato baja vervallen uitgefaseerd ausgelistet udgaet archiwalny gesperrt sperre sperrkennzeichen verkaufssperre geloscht loschkennzeichen loschvormerkung auslauf auslaufartikel archiviert versteckt ausgeblendet inaktiv deaktiviert storniert blocked locked deleted trash discontinued archived hidden inactive disabled cancelled canceled obsolete sparrad utgatt utgangen dold borttagen inaktiverad supprime archive masque bloque desactive inactif eliminado bloqueado descatalogado oculto inactivo zablokowany usuniety ukryty nieaktywny wycofany geblokkeerd verwijderd verborgen inactief"
    .split(" ");

/** Whether a name or value means that a product is not for sale. */
export function saysNotForSale(text: string): boolean {
  return lowerCaseWords(text).some((word) =>
    NOT_FOR_SALE_WORDS.includes(squeezed(word))
  );
}

/** Values that mark a product for deletion, without accents. */
const DELETIONS = "delete remove loschen entfernen supprimer eliminar usun"
  .split(" ");

/** Whether a value means that a product is not for sale or must be deleted. */
export function isUnsoldValue(text: string): boolean {
  return saysNotForSale(text) || DELETIONS.includes(squeezed(text));
}

/** Words in rows with the sum of other rows, without accents. */
const TOTAL_WORDS =
  "ubertrag summe zwischensumme gesamt gesamtsumme gesamtergebnis total totals subtotal grand sum summa delsumma totalt totalsumma totaux general suma razem ogolem koncowa totaal subtotaal eindtotaal totale subtotale somma celkem soucet osszesen toplam"
    .split(" ");

/** Whether a text is only the label of a row with the sum of other rows. */
export function isTotalLabel(text: string): boolean {
  const words = lowerCaseWords(text);
  return words.length > 0 &&
    words.every((word) => TOTAL_WORDS.includes(squeezed(word)));
}

const PRICE_UNITS =
  "price unit, price per, price for, per, pricing unit, pricing quantity, price base, price basis, price factor, price quantity, preiseinheit, pe, preis pro, preis je, preis per, preis fur, preis gilt fur, preisbasis, preisfaktor, preismenge, prisenhet, pris per, pris for, prisfaktor, unite de prix, prix par, prix pour, unidad de precio, precio por, precio para, jednostka ceny, cena za, prijseenheid, prijs per, prijs voor, prijsfactor"
    .split(", ").map(squeezed);

/** Whether a name means the number of pieces that a price is for. */
export function namesPriceUnit(name: string): boolean {
  return PRICE_UNITS.includes(squeezed(name));
}

/**
 * The meaning of yes in a column about VAT: prices with VAT ("gross") or
 * without VAT ("net"). Null if the name does not concern VAT.
 */
export function vatFlagOf(name: string): "gross" | "net" | null {
  if (namesNetAmount(name)) return "net";
  const words = lowerCaseWords(name);
  const isGross = words.some((word) => TAXES.includes(word)) &&
    words.some((word) => INCLUDED.includes(word));
  return isGross ? "gross" : null;
}

/** Words for a sale, without accents. */
const SALE_WORDS =
  /^(?:sales?$|special|promo|offer|discount|deal|scont|saldi|ribass|sonderpreis|angebot|aktion|reap|rea$|kampanj|extrapris|solde|remise|rabat|ofert|rebaj|descuento|wyprzeda|obniz|aanbied|actie(?!f)|korting|uitverkoop)/;
/** Words for a price or its validity, without accents. */
const PRICE_PERIOD_WORDS =
  /^(?:valid|gultig|giltig|valab|wazn|geldig|price|preis|pris|prix|precio|cen[ay]|prijs)/;
/** Names that mean only a start or an end. */
const PERIOD =
  /^(?:von|bis|ab|from|to|until|till|start|end|begin|fran|till?|du|au|debut|fin|desde|hasta|od|do|van|vanaf|tot)(?:date|datum)?$/;

/** Whether a name concerns a sale. */
export function namesSale(name: string): boolean {
  return hasWord(name, SALE_WORDS);
}

/** Whether dates with this name may be the validity of a price. */
export function mayNamePricePeriod(name: string): boolean {
  return namesSale(name) || PERIOD.test(squeezed(name)) ||
    hasWord(name, PRICE_PERIOD_WORDS);
}

/** Converts `Image 2` to `Image`. */
function withoutNumber(name: string): string {
  let end = name.length;
  while (end > 0 && " _0123456789".includes(name[end - 1])) end--;
  return name.slice(0, end);
}

const FILLERS = "inc ink inkl incl including ttc brutto gross kr".split(" ");
/** Words before a unit. At the end of a name, `en` is a language code. */
const BEFORE_UNITS = "in i en w of con".split(" ");
const NET = "ex excl excluding exkl exklusive netto net ht hors sin zzgl".split(
  " ",
);
const MONEY = "zł kč euro euros ft tl lei".split(" ");
const INCLUDED =
  "incl included includes including inclusive inkl inklusive enthalten ink inclus incluse comprise incluido incluida wliczony inclusief"
    .split(" ");
const TAXES = "moms mwst vat tva iva btw tax ust".split(" ");

/** Whether a name means an amount without VAT, or a net weight. */
export function namesNetAmount(name: string): boolean {
  return lowerCaseWords(name).some((word) =>
    NET.includes(word) || /^nett?o(?:preis|pris|prijs|price|vk)$/.test(word)
  );
}

/** Whether a remark means that prices are without VAT. */
export function saysPricesAreNet(text: string): boolean {
  const words = lowerCaseWords(text);
  return words.some((word) => NET.includes(word) || word === "ohne") &&
    words.some((word) =>
      TAXES.includes(word) || /^(?:preis|price|prix)/.test(word)
    );
}

/**
 * The number of pieces that a price is for: 100 for `Price per 100`,
 * `Price/100` and `Preis (100 Stk)`, 12 for `Price per dozen`, else 1. The
 * numbers in `Price per 100 ml` and `Price per 2026` do not count pieces.
 */
export function piecesPerPrice(name: string): number {
  return piecesIn(
    name,
    (pieces, after) => !isMeasure(after) && !isYear(pieces),
  );
}

/**
 * The number of pieces that all prices are for if a remark such as `Preise je
 * 100 Stück` says so, else 1. The number in `Preise per 15. März` is a day.
 */
export function piecesPerPriceIn(remark: string): number {
  return namesPrice(remark)
    ? piecesIn(
      remark,
      (pieces, after) =>
        pieces % 100 === 0 && !isMeasure(after) && !isYear(pieces),
    )
    : 1;
}

/**
 * The number of pieces that a text names, else 1. `isCount` decides whether a
 * number after a word such as `per` counts pieces; `after` is the next word.
 */
function piecesIn(
  text: string,
  isCount: (pieces: number, after: string) => boolean,
): number {
  const words = wordsWithPer(text.replace(DATE_OR_PERCENTAGE, " "));
  for (const [i, word] of words.entries()) {
    const [before, after = ""] = [words[i - 1], words[i + 1]];
    const isPer = PER.includes(before);
    const number = isPer ? NUMBER_WORDS.get(squeezed(word)) : undefined;
    if (number !== undefined) return number;
    const pieces = /^\d+$/.test(word) ? Number(word) : 1;
    const isOfPieces = PIECES.includes(after) ||
      isPer && isCount(pieces, after);
    if (pieces > 1 && isOfPieces) return pieces;
  }
  return 1;
}

/** The words of a text, with `per` for a slash, and for a bracket before 100. */
function wordsWithPer(text: string): string[] {
  // `Price (100)` means `Price per 100`; `Price (2)` is a second price.
  return lowerCaseWords(text.replace(/\/|\((?=\d{1,5}0\))/g, " per "));
}

/** Whether a name concerns an amount of a unit, as `Price/100ml` does. */
function namesMeasure(name: string): boolean {
  return wordsWithPer(name).some((word, i, words) => {
    const unit = word.replace(/^\d+/, "");
    const before = words[i - 1] ?? "";
    return isMeasure(unit) &&
      (unit !== word || /^\d+$/.test(before) || PER.includes(before));
  });
}

/** Whether a word is a unit of weight, of volume, of length or of area. */
function isMeasure(word: string): boolean {
  return weightUnitOf(word) !== "" || MEASURES.includes(word);
}

function isYear(number: number): boolean {
  return number > 1_990 && number < 2_100 && number !== 2_000;
}

const DATE_OR_PERCENTAGE = /\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,3} ?%/g;
const PER = "per pr pro je par por les a à za".split(" ");
const PIECES =
  "pc pcs piece pieces pièce pièces st stk stck stuck stück ks szt stuks ea units uds"
    .split(" ");
const MEASURES =
  "ml cl dl l liter litre litres ltr mm cm dm m meter metre metres km m2 m² m3 m³ qm sqm cm2 cm² cm3 cm³"
    .split(" ");

/** Numbers of pieces by their words, without accents. */
const NUMBER_WORDS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    12: "dozen dutzend dtzd dussin douzaine docena tuzin dozijn",
    100: "hundred hundert hundra cent cien honderd",
    1_000: "thousand tausend tusen mille mil tysiac duizend",
  }).flatMap(([pieces, words]) =>
    words.split(" ").map((word): [string, number] => [word, Number(pieces)])
  ),
);

/** Numbers of pieces by signs, by letters, and by the codes of UN/ECE. */
const NUMBER_CODES: Readonly<Record<string, number>> = {
  "%": 100,
  "‰": 1_000,
  C: 100,
  M: 1_000,
  CEN: 100,
  DZN: 12,
  MIL: 1_000,
  C62: 1,
  H87: 1,
};

/**
 * The number of pieces in a cell of a column with the number that a price is
 * for: 100 for `100`, `je 100`, `C` and `hundred`; 1 without a number.
 */
export function piecesInCell(cell: string): number {
  const named = lowerCaseWords(cell)
    .map((word) => NUMBER_WORDS.get(squeezed(word)))
    .find((pieces) => pieces !== undefined);
  return NUMBER_CODES[cell] ?? named ?? Number(/\d+/.exec(cell)?.[0] ?? 1);
}

/**
 * Converts `Preis in EUR inkl. MwSt.` to `preis`. Words that mean a price
 * without VAT stay.
 */
function withoutUnit(name: string): string {
  const words = lowerCaseWords(name);
  const isGross = words.some((word) =>
    FILLERS.includes(word) || BEFORE_UNITS.includes(word)
  );
  return words.filter((word, i) =>
    !FILLERS.includes(word) && !MONEY.includes(word) &&
    !(BEFORE_UNITS.includes(word) &&
      (i + 1 < words.length || currencyIn(name) !== "")) &&
    !(isGross && (TAXES.includes(word) || /^\d+$/.test(word))) &&
    weightUnitOf(word) === "" && priceUnitOf(word) === "" &&
    !("value" in readCurrency(word.toUpperCase()))
  ).join(" ");
}

/** A name in lower case, without accents, spaces and punctuation. */
function squeezed(name: string): string {
  return name.toLowerCase().normalize("NFD").replaceAll("ł", "l")
    .replaceAll("ı", "i").replaceAll("ß", "ss").replace(/[^\p{L}\p{N}]/gu, "");
}

/**
 * The column with the name of the attribute whose value is in `column`; -1 if
 * there is none.
 */
export function attributeNameColumn(
  header: readonly string[],
  column: number,
): number {
  const names = namesIn(header);
  if (!/value(\(s\))?$/i.test(names[column]) || isOwnTable(header)) return -1;
  const pair = names[column].replace(/value(\(s\))?$/i, "name").toLowerCase();
  return names.findIndex((name, i) =>
    i !== column && name.toLowerCase() === pair
  );
}
