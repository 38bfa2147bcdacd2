/**
 * Names of columns that merchants and programs use, by language. They are taken
 * from real exports, not from the names that the page knows.
 */
import type { Language } from "./catalogue.ts";

type Names = Readonly<Record<Language, readonly string[]>>;

const all = (...names: string[]): Names => ({
  en: names,
  de: names,
  sv: names,
  fr: names,
  es: names,
  pl: names,
  nl: names,
});

export const NAMES = {
  sku: {
    en: [
      "SKU",
      "Item number",
      "Article no.",
      "Product code",
      "Item No.",
      "Code",
    ],
    de: [
      "Artikelnummer",
      "Art.-Nr.",
      "SKU",
      "ArtNr",
      "Artikel-Nr.",
      "Produktnummer",
    ],
    sv: ["Artikelnr", "Artikelnummer", "Art.nr", "Artikelkod", "SKU"],
    fr: ["Référence", "Réf.", "SKU", "Code article", "Ref"],
    es: ["Referencia", "Código", "SKU", "Código de artículo", "Ref."],
    pl: ["Kod produktu", "Symbol", "Indeks", "SKU", "Nr katalogowy"],
    nl: ["Artikelnummer", "Artikelcode", "SKU", "Productcode"],
  },
  title: {
    en: ["Title", "Name", "Product name", "Item name"],
    de: [
      "Bezeichnung",
      "Titel",
      "Artikelname",
      "Produktname",
      "Name",
      "Artikelbezeichnung",
    ],
    sv: ["Benämning", "Namn", "Produktnamn", "Titel"],
    fr: ["Désignation", "Nom", "Titre", "Libellé", "Nom du produit"],
    es: ["Nombre", "Título", "Denominación", "Nombre del producto"],
    pl: ["Nazwa", "Nazwa produktu", "Tytuł"],
    nl: ["Naam", "Productnaam", "Titel", "Artikelnaam"],
  },
  description: {
    en: ["Description", "Long description", "Product description"],
    de: ["Beschreibung", "Langtext", "Artikelbeschreibung"],
    sv: ["Beskrivning", "Produktbeskrivning"],
    fr: ["Description", "Description longue"],
    es: ["Descripción", "Descripción larga"],
    pl: ["Opis", "Opis produktu"],
    nl: ["Omschrijving", "Beschrijving"],
  },
  price: {
    en: ["Price", "Selling price", "Retail price", "Unit price"],
    de: ["Preis", "Verkaufspreis", "VK", "Bruttopreis", "VK-Preis"],
    sv: ["Pris", "Försäljningspris", "Utpris"],
    fr: ["Prix", "Prix de vente", "Prix TTC"],
    es: ["Precio", "PVP", "Precio de venta"],
    pl: ["Cena", "Cena brutto", "Cena sprzedaży"],
    nl: ["Prijs", "Verkoopprijs"],
  },
  sale: {
    en: ["Sale price", "Special price", "Discount price", "Offer price"],
    de: ["Aktionspreis", "Angebotspreis", "Sonderpreis", "Promo-Preis"],
    sv: ["Kampanjpris", "Reapris"],
    fr: ["Prix promo", "Prix promotionnel", "Prix remisé"],
    es: ["Precio rebajado", "Precio de oferta", "Precio con descuento"],
    pl: ["Cena promocyjna"],
    nl: ["Actieprijs", "Aanbiedingsprijs"],
  },
  former: {
    en: ["Compare at price", "Old price", "RRP", "List price"],
    de: ["UVP", "Alter Preis", "Streichpreis", "Statt-Preis"],
    sv: ["Ord. pris", "Tidigare pris", "Ordinarie pris"],
    fr: ["Prix barré", "Ancien prix"],
    es: ["Precio anterior", "Precio tachado"],
    pl: ["Stara cena", "Cena przed obniżką"],
    nl: ["Oude prijs", "Adviesprijs"],
  },
  currency: {
    en: ["Currency", "Currency code"],
    de: ["Währung"],
    sv: ["Valuta"],
    fr: ["Devise"],
    es: ["Moneda", "Divisa"],
    pl: ["Waluta"],
    nl: ["Valuta"],
  },
  vat: {
    en: ["VAT rate", "VAT", "Tax rate", "VAT %"],
    de: ["MwSt.", "MwSt", "USt.", "Steuersatz", "MwSt %"],
    sv: ["Moms", "Momssats", "Moms %"],
    fr: ["TVA", "Taux TVA"],
    es: ["IVA", "Tipo IVA"],
    pl: ["VAT", "Stawka VAT"],
    nl: ["BTW", "BTW-percentage"],
  },
  quantity: {
    en: ["Quantity", "Stock", "Qty", "Inventory", "Stock level", "On hand"],
    de: ["Bestand", "Lagerbestand", "Menge", "Anzahl"],
    sv: ["Antal", "Lagersaldo", "Saldo", "Antal i lager"],
    fr: ["Quantité", "Quantité en stock", "Stock", "Qté"],
    es: ["Cantidad", "Existencias", "Stock"],
    pl: ["Ilość", "Stan magazynowy", "Liczba sztuk"],
    nl: ["Aantal", "Voorraad"],
  },
  status: {
    en: ["Status", "Active", "Published", "Visible"],
    de: ["Status", "Aktiv", "Sichtbar", "Veröffentlicht"],
    sv: ["Status", "Aktiv", "Synlig"],
    fr: ["Actif", "Statut"],
    es: ["Activo", "Estado"],
    pl: ["Aktywny", "Status"],
    nl: ["Actief", "Status"],
  },
  gtin: all("EAN", "GTIN", "EAN-13", "Barcode", "EAN/UPC", "EAN Code"),
  brand: {
    en: ["Brand", "Manufacturer", "Vendor"],
    de: ["Marke", "Hersteller"],
    sv: ["Varumärke", "Tillverkare"],
    fr: ["Marque", "Fabricant"],
    es: ["Marca", "Fabricante"],
    pl: ["Marka", "Producent"],
    nl: ["Merk", "Fabrikant"],
  },
  mpn: {
    en: ["MPN", "Manufacturer part number"],
    de: ["MPN", "Herstellernummer", "Hersteller-Nr."],
    sv: ["Tillverkarens artikelnummer", "MPN"],
    fr: ["Référence fabricant", "MPN"],
    es: ["Referencia fabricante", "MPN"],
    pl: ["Kod producenta", "MPN"],
    nl: ["Fabrikantcode", "MPN"],
  },
  weight: {
    en: ["Weight", "Gross weight", "Shipping weight"],
    de: ["Gewicht", "Versandgewicht", "Artikelgewicht"],
    sv: ["Vikt", "Bruttovikt"],
    fr: ["Poids", "Poids brut"],
    es: ["Peso", "Peso bruto"],
    pl: ["Waga", "Masa"],
    nl: ["Gewicht"],
  },
  condition: {
    en: ["Condition"],
    de: ["Zustand", "Artikelzustand"],
    sv: ["Skick"],
    fr: ["État"],
    es: ["Condición"],
    pl: ["Stan produktu"],
    nl: ["Conditie"],
  },
  categories: {
    en: ["Category", "Categories", "Product category"],
    de: ["Kategorie", "Warengruppe", "Kategorien"],
    sv: ["Kategori", "Varugrupp"],
    fr: ["Catégorie", "Famille"],
    es: ["Categoría", "Categorías"],
    pl: ["Kategoria"],
    nl: ["Categorie", "Productgroep"],
  },
  images: {
    en: ["Image", "Image URL", "Images", "Main image", "Picture"],
    de: ["Bild", "Bilder", "Bild-URL", "Produktbild"],
    sv: ["Bild", "Bildlänk", "Bilder"],
    fr: ["Image", "Lien image", "URL image"],
    es: ["Imagen", "URL imagen"],
    pl: ["Zdjęcie", "Zdjęcia"],
    nl: ["Afbeelding", "Afbeelding URL"],
  },
  gross: {
    en: ["incl. VAT", "inc VAT", "incl. tax"],
    de: ["inkl. MwSt.", "brutto"],
    sv: ["inkl. moms", "ink moms"],
    fr: ["TTC"],
    es: ["con IVA", "IVA incl."],
    pl: ["brutto"],
    nl: ["incl. btw"],
  },
  net: {
    en: ["excl. VAT", "ex VAT", "net"],
    de: ["netto", "exkl. MwSt.", "ohne MwSt."],
    sv: ["exkl. moms", "ex moms"],
    fr: ["HT"],
    es: ["sin IVA"],
    pl: ["netto"],
    nl: ["excl. btw"],
  },
  cost: {
    en: ["Cost price", "Purchase price", "Cost", "Buy price"],
    de: ["EK", "Einkaufspreis", "EK-Preis netto", "Wareneinsatz"],
    sv: ["Inköpspris", "Inpris"],
    fr: ["Prix d'achat", "Prix d'achat HT"],
    es: ["Precio de compra", "Coste"],
    pl: ["Cena zakupu", "Cena zakupu netto"],
    nl: ["Inkoopprijs"],
  },
} as const satisfies Readonly<Record<string, Names>>;

export type Named = keyof typeof NAMES;

const PAIRS = (words: string) =>
  words.split("|").map((pair) => pair.split("/"));

/** Pairs of words for yes and no in the programs of each language. */
export const YES_NO: Readonly<Record<Language, readonly string[][]>> = {
  en: PAIRS("1/0|yes/no|TRUE/FALSE|Y/N|active/inactive"),
  de: PAIRS("1/0|ja/nein|WAHR/FALSCH|J/N|aktiv/inaktiv"),
  sv: PAIRS("1/0|ja/nej|SANT/FALSKT"),
  fr: PAIRS("1/0|oui/non|VRAI/FAUX"),
  es: PAIRS("1/0|sí/no|VERDADERO/FALSO"),
  pl: PAIRS("1/0|tak/nie|PRAWDA/FAŁSZ"),
  nl: PAIRS("1/0|ja/nee|WAAR/ONWAAR"),
};

export const CONDITIONS: Readonly<
  Record<Language, readonly [string, string, string]>
> = {
  en: ["new", "used", "refurbished"],
  de: ["Neu", "Gebraucht", "Generalüberholt"],
  sv: ["Ny", "Begagnad", "Renoverad"],
  fr: ["Neuf", "Occasion", "Reconditionné"],
  es: ["Nuevo", "Usado", "Reacondicionado"],
  pl: ["Nowy", "Używany", "refurbished"],
  nl: ["Nieuw", "Gebruikt", "refurbished"],
};
