/** Exports of shop systems, with their original columns. */
import { type Catalogue, catalogueOf, type Truth } from "./catalogue.ts";
import type { Draws } from "./draws.ts";
import type { Grid, GridRow, Product, Want, Writing } from "./grid.ts";
import { wantsOf } from "./generic.ts";

/**
 * A column of an export; `of` is the cell of a product, or of its separate row.
 */
interface ShopColumn {
  name: string;
  states?: readonly string[];
  of: (product: Truth, row: number) => string;
}

/** One row for each product. */
function flat(
  catalogue: Catalogue,
  columns: readonly (ShopColumn | false)[],
  { features, writing, change = () => {}, ...more }:
    & { features: string[]; writing?: Partial<Writing> }
    & Partial<Pick<Grid, "weightUnit" | "imageBase">>
    & {
      change?: (product: Truth, wants: Map<string, Want>, row: number) => void;
    },
): Grid {
  const own = columns.filter((one) => one !== false);
  const fields = new Set(own.flatMap(({ states = [] }) => states));
  const rows: GridRow[] = catalogue.products.map((product, row) => ({
    family: row,
    cells: own.map(({ of }) => of(product, row)),
  }));
  const products: Product[] = catalogue.products.map((product, row) => {
    const wants = wantsOf(product, fields);
    change(product, wants, row);
    return { family: row, sku: product.sku, wants };
  });
  return {
    heads: own.map(({ name, states = [] }) => ({ name, states })),
    above: [],
    rows,
    products,
    currency: catalogue.currency,
    weightUnit: "kg",
    imageBase: "",
    writing: { ...COMMA, ...writing } as Writing,
    features,
    ...more,
  };
}

const COMMA: Extract<Writing, { kind: "csv" }> = {
  kind: "csv",
  delimiter: ",",
  encoding: "utf-8",
  bom: false,
  sep: false,
  eol: "\n",
  quotes: "few",
};

const point = (hundredths: number) => (hundredths / 100).toFixed(2);
const html = (text: string) =>
  text.split("\n").map((line) => `<p>${line.replaceAll("&", "&amp;")}</p>`)
    .join("");
const none: Want = { texts: [], none: true };

/** Products, some of which are variants of one. */
function families(draws: Draws, { products }: Catalogue): Truth[][] {
  const all: Truth[][] = [];
  for (let at = 0; at < products.length;) {
    const size = draws.chance(0.35)
      ? Math.min(2 + draws.below(2), products.length - at)
      : 1;
    all.push(products.slice(at, at += size));
  }
  return all;
}

const OF_VARIANTS = new Set([
  "sku",
  "title",
  "description",
  "price",
  "compare_at_price",
  "quantity",
  "gtin",
  "brand",
  "weight",
  "status",
]);

/**
 * What counts as right for a variant: texts and state are those of the first
 * one.
 */
function wantsOfVariant(
  one: Truth,
  { title, description, brand, active }: Truth,
  option: string,
): Map<string, Want> {
  return wantsOf(
    { ...one, title: title + option, description, brand, active },
    OF_VARIANTS,
  );
}

function shopify(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const is2025 = draws.chance(0.4);
  const untracked = draws.chance(0.3);
  const features = ["Shopify", ...(untracked ? ["not tracked"] : [])];
  const names = is2025
    ? [
      "Title",
      "URL handle",
      "Description",
      "Vendor",
      "Product category",
      "Type",
      "Tags",
      "Published on online store",
      "Status",
      "SKU",
      "Barcode",
      "Option1 name",
      "Option1 value",
      "Option1 Linked To",
      "Price",
      "Compare-at price",
      "Cost per item",
      "Charge tax",
      "Inventory tracker",
      "Inventory quantity",
      "Continue selling when out of stock",
      "Weight value (grams)",
      "Weight unit for display",
      "Requires shipping",
      "Fulfillment service",
      "Product image URL",
      "Image position",
      "Image alt text",
      "Variant image URL",
      "Gift card",
    ]
    : [
      "Title",
      "Handle",
      "Body (HTML)",
      "Vendor",
      "Product Category",
      "Type",
      "Tags",
      "Published",
      "Status",
      "Variant SKU",
      "Variant Barcode",
      "Option1 Name",
      "Option1 Value",
      "Option1 Linked To",
      "Variant Price",
      "Variant Compare At Price",
      "Cost per item",
      "Variant Taxable",
      "Variant Inventory Tracker",
      "Variant Inventory Qty",
      "Variant Inventory Policy",
      "Variant Grams",
      "Variant Weight Unit",
      "Variant Requires Shipping",
      "Variant Fulfillment Service",
      "Image Src",
      "Image Position",
      "Image Alt Text",
      "Variant Image",
      "Gift Card",
    ];
  const states: Record<number, string[]> = {
    0: ["title"],
    2: ["description"],
    3: ["brand"],
    5: ["categories"],
    8: ["status"],
    9: ["sku"],
    10: ["gtin"],
    12: ["attribute:Colour"],
    14: ["price", "compare_at_price"],
    15: ["compare_at_price"],
    19: ["quantity"],
    21: ["weight"],
    25: ["images"],
  };
  const rows: GridRow[] = [];
  const products: Product[] = [];
  for (const [family, members] of families(draws, catalogue).entries()) {
    const [first] = members;
    const isFamily = members.length > 1;
    const handle = `handle-${family}`;
    for (const [n, one] of members.entries()) {
      const isOff = untracked && (family + n) % 2 === 0;
      const lead = n === 0;
      rows.push({
        family,
        cells: [
          lead ? first.title : "",
          handle,
          lead ? html(first.description) : "",
          lead ? first.brand : "",
          lead ? "Home & Garden > Kitchen" : "",
          lead ? first.categories[0] : "",
          lead ? "summer, new" : "",
          lead ? "true" : "",
          lead
            ? (first.active ? "active" : draws.of(["draft", "archived"]))
            : "",
          one.sku,
          draws.chance(0.5) ? `'${one.gtin}` : one.gtin,
          lead ? (isFamily ? "Colour" : "Title") : "",
          isFamily ? `Shade ${n}` : "Default Title",
          "",
          point(one.price),
          one.former === null ? "" : point(one.former),
          "3.00",
          "true",
          isOff ? "" : "shopify",
          isOff ? "0" : `${one.quantity}`,
          "deny",
          `${one.grams}`,
          draws.of(["kg", "g", "lb"]),
          "true",
          "manual",
          lead ? first.images[0] : "",
          lead ? "1" : "",
          lead ? "alt" : "",
          isFamily ? one.images[0] : "",
          "false",
        ],
      });
      const wants = wantsOfVariant(
        one,
        first,
        isFamily ? ` – Shade ${n}` : "",
      );
      wants.set("categories", { texts: [first.categories[0]] });
      const own = isFamily
        ? [...new Set([one.images[0], first.images[0]])]
        : [first.images[0]];
      const more = isFamily ? [] : first.images.slice(1);
      wants.set("images", { texts: [[...own, ...more].join(" ")] });
      if (isFamily) {
        wants.set("attribute:Colour", { texts: [`Shade ${n}`] });
        wants.set("parent_sku", { texts: [handle] });
      }
      if (isOff) wants.set("quantity", none);
      products.push({ family, sku: one.sku, wants });
      if (!isFamily) {
        for (const [i, url] of first.images.slice(1).entries()) {
          rows.push({
            family,
            cells: names.map((_, at) =>
              at === 1 ? handle : at === 25 ? url : at === 26 ? `${i + 2}` : ""
            ),
          });
        }
      }
    }
  }
  return {
    heads: names.map((name, i) => ({ name, states: states[i] ?? [] })),
    above: [],
    rows,
    products,
    currency: catalogue.currency,
    weightUnit: "g",
    imageBase: "",
    writing: COMMA,
    features,
  };
}

/**
 * The names of WooCommerce's columns by language, in the order of its export.
 */
const WOO: Readonly<Record<string, string>> = {
  en:
    "ID|Type|SKU|GTIN, UPC, EAN, or ISBN|Name|Published|Is featured?|Visibility in catalog|Short description|Description|Date sale price starts|Date sale price ends|Tax status|Tax class|In stock?|Stock|Low stock amount|Backorders allowed?|Sold individually?|Weight (kg)|Length (cm)|Width (cm)|Height (cm)|Allow customer reviews?|Purchase note|Sale price|Regular price|Categories|Tags|Shipping class|Images|Download limit|Download expiry days|Parent|Grouped products|Upsells|Cross-sells|External URL|Button text|Position|Brands|Attribute 1 name|Attribute 1 value(s)|Attribute 1 visible|Attribute 1 global",
  de:
    "ID|Typ|Artikelnummer|GTIN, UPC, EAN oder ISBN|Name|Veröffentlicht|Ist hervorgehoben?|Sichtbarkeit im Katalog|Kurzbeschreibung|Beschreibung|Datum, an dem Angebotspreis beginnt|Datum, an dem Angebotspreis endet|Steuerstatus|Steuerklasse|Vorrätig?|Bestand|Geringe Lagermenge|Lieferrückstände erlaubt?|Nur einzeln verkaufen?|Gewicht (kg)|Länge (cm)|Breite (cm)|Höhe (cm)|Kundenrezensionen erlauben?|Hinweis zum Kauf|Angebotspreis|Regulärer Preis|Kategorien|Schlagwörter|Versandklasse|Bilder|Downloadlimit|Ablauftage des Downloads|Übergeordnetes Produkt|Gruppierte Produkte|Zusatzverkäufe|Cross-Sells (Querverkäufe)|Externe URL|Button-Text|Position|Marken|Attribut 1 Name|Attribut 1 Wert(e)|Attribut 1 sichtbar|Attribut 1 global",
  es:
    "ID|Tipo|SKU|GTIN, UPC, EAN o ISBN|Nombre|Publicado|¿Está destacado?|Visibilidad en el catálogo|Descripción corta|Descripción|Día en que empieza el precio rebajado|Día en que termina el precio rebajado|Estado del impuesto|Clase de impuesto|¿Existencias?|Inventario|Cantidad de bajo inventario|¿Permitir reservas de productos agotados?|¿Vendido individualmente?|Peso (kg)|Longitud (cm)|Anchura (cm)|Altura (cm)|¿Permitir valoraciones de clientes?|Nota de compra|Precio rebajado|Precio normal|Categorías|Etiquetas|Clase de envío|Imágenes|Límite de descargas|Días de caducidad de la descarga|Superior|Productos agrupados|Ventas dirigidas|Ventas cruzadas|URL externa|Texto del botón|Posición|Marcas|Nombre del atributo 1|Valor(es) del atributo 1|Atributo visible 1|Atributo global 1",
  fr:
    "ID|Type|UGS|GTIN, UPC, EAN ou ISBN|Nom|Publié|Mis en avant ?|Visibilité dans le catalogue|Description courte|Description|Date de début de promo|Date de fin de promo|État de la TVA|Classe de TVA|En stock ?|Stock|Montant de stock faible|Autoriser les commandes de produits en rupture ?|Vendre individuellement ?|Poids (kg)|Longueur (cm)|Largeur (cm)|Hauteur (cm)|Autoriser les avis clients ?|Note de commande|Tarif promo|Tarif régulier|Catégories|Étiquettes|Classe d’expédition|Images|Limite de téléchargement|Jours d’expiration du téléchargement|Parent|Groupes de produits|Produits suggérés|Ventes croisées|URL externe|Libellé du bouton|Position|Marques|Nom de l’attribut 1|Valeur(s) de l’attribut 1|Attribut 1 visible|Attribut 1 global",
  it:
    "ID|Tipo|SKU|GTIN, UPC, EAN, o ISBN|Nome|Pubblicato|In primo piano?|Visibilità nel catalogo|Breve descrizione|Descrizione|Data di partenza del prezzo in saldo|Data in cui termina l'offerta|Stato delle imposte|Aliquota di imposta|In stock?|Magazzino|Quantità in magazzino bassa|Abilita gli ordini arretrati?|Venduto singolarmente?|Peso (kg)|Lunghezza (cm)|Larghezza (cm)|Altezza (cm)|Permetti le recensioni dei clienti?|Nota di acquisto|Prezzo in offerta|Prezzo di listino|Categorie|Tag|Classe di spedizione|Immagini|Limite di download|Giorni di scadenza del download|Genitore|Prodotti raggruppati|Up-sell|Cross-sell|URL esterno|Testo del pulsante|Posizione|Brand|Nome dell'attributo 1|Valore dell'attributo 1|Attributo 1 visibile|Attributo 1 globale",
  nl:
    "ID|Type|SKU|GTIN, UPC, EAN of ISBN|Naam|Gepubliceerd|Uitgelicht?|Zichtbaarheid in catalogus|Korte beschrijving|Beschrijving|Startdatum actieprijs|Einddatum actieprijs|Belastingstatus|Belastingklasse|Op voorraad?|Voorraad|Lage voorraad|Nabestellingen toestaan?|Wordt individueel verkocht?|Gewicht (kg)|Lengte (cm)|Breedte (cm)|Hoogte (cm)|Klantbeoordelingen toestaan?|Aankoopnotitie|Actieprijs|Reguliere prijs|Categorieën|Tags|Verzendklasse|Afbeeldingen|Downloadlimiet|Dagen vervaltijd download|Hoofd|Gegroepeerde producten|Upsells|Cross-sells|Externe URL|Knop tekst|Positie|Merken|Attribuut 1 naam|Attribuut 1 waarde(n)|Attribuut 1 zichtbaar|Attribuut 1 globaal",
};

function woocommerce(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const language = draws.of(Object.keys(WOO));
  const hasGtin = draws.chance(0.7);
  const old = draws.chance(0.2);
  const names = WOO[language].split("|");
  const comma = language !== "en" && draws.chance(0.4);
  const money = (hundredths: number) =>
    comma ? point(hundredths).replace(".", ",") : point(hundredths);
  const states: Record<number, string[]> = {
    2: ["sku"],
    3: ["gtin"],
    4: ["title"],
    5: ["status"],
    9: ["description"],
    15: ["quantity"],
    19: ["weight"],
    25: ["price", "compare_at_price"],
    26: ["price", "compare_at_price"],
    27: ["categories"],
    30: ["images"],
    33: ["parent_sku"],
    40: ["brand"],
    42: ["attribute:Colour"],
  };
  const rows: GridRow[] = [];
  const products: Product[] = [];
  let id = 10;
  const category = (name: string) =>
    (old ? name.replaceAll("&", "&amp;") : name).replaceAll(",", "\\,");
  const lines = (text: string) => text.replaceAll("\n", "\\n");
  for (const [family, members] of families(draws, catalogue).entries()) {
    const [first] = members;
    const isFamily = members.length > 1;
    const parentSku = `P-${family}`;
    const row = (one: Truth, type: string, n: number) => {
      const isVariation = type === "variation";
      const isParent = type === "variable";
      const cells: Record<number, string> = {
        0: `${id++}`,
        1: type,
        2: isParent ? parentSku : one.sku,
        3: isParent ? "" : one.gtin,
        4: isVariation ? `${first.title} - Shade ${n}` : first.title,
        5: isVariation || first.active ? "1" : draws.of(["0", "-1"]),
        6: "0",
        7: "visible",
        8: "",
        9: isVariation ? "" : lines(first.description),
        12: "taxable",
        13: isVariation ? "parent" : "",
        14: isParent || one.quantity > 0 ? "1" : "0",
        15: isParent ? "" : `${one.quantity}`,
        17: "0",
        18: "0",
        19: isParent
          ? ""
          : (one.grams / 1000).toString().replace(".", comma ? "," : "."),
        23: "1",
        25: isParent || one.former === null ? "" : money(one.price),
        26: isParent ? "" : money(one.former ?? one.price),
        27: isVariation ? "" : first.categories.map(category).join(", "),
        28: isVariation ? "" : "new",
        30: isVariation ? one.images[0] : first.images.join(", "),
        33: isVariation ? parentSku : "",
        39: `${n}`,
        40: isVariation ? "" : first.brand,
        41: isFamily ? "Colour" : "",
        42: isFamily
          ? (isVariation
            ? `Shade ${n}`
            : members.map((_, i) => `Shade ${i}`).join(", "))
          : "",
        43: isFamily ? "1" : "",
        44: isFamily ? "1" : "",
      };
      rows.push({ family, cells: names.map((_, i) => cells[i] ?? "") });
    };
    if (isFamily) row(first, "variable", 0);
    for (const [n, one] of members.entries()) {
      row(
        one,
        isFamily
          ? "variation"
          : draws.of(["simple", "simple", "simple, virtual"]),
        n,
      );
      const wants = wantsOfVariant(
        one,
        first,
        isFamily ? ` - Shade ${n}` : "",
      );
      wants.set("categories", { texts: [first.categories.join(" | ")] });
      const images = isFamily ? [one.images[0]] : first.images;
      wants.set("images", { texts: [images.join(" ")] });
      if (!hasGtin) wants.delete("gtin");
      wants.set("availability", {
        texts: [one.quantity > 0 ? "in_stock" : "out_of_stock"],
        none: true,
      });
      if (isFamily) {
        wants.set("attribute:Colour", { texts: [`Shade ${n}`] });
        wants.set("parent_sku", { texts: [parentSku] });
      }
      products.push({ family, sku: one.sku, wants });
    }
  }
  const drop = hasGtin ? [] : [3];
  return {
    heads: names.map((name, i) => ({ name, states: states[i] ?? [] })).filter((
      _,
      i,
    ) => !drop.includes(i)),
    above: [],
    rows: rows.map((row) => ({
      ...row,
      cells: row.cells.filter((_, i) => !drop.includes(i)),
    })),
    products,
    currency: catalogue.currency,
    weightUnit: "kg",
    imageBase: "",
    writing: { ...COMMA, bom: true },
    features: ["WooCommerce", language, ...(old ? ["entities"] : [])],
  };
}

function prestashop(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const isFrench = draws.chance(0.6);
  const [
    active,
    title,
    categories,
    net,
    gross,
    sku,
    supplier,
    brand,
    gtin,
    weight,
    quantity,
    short,
    images,
  ] = isFrench
    ? [
      "Actif (0/1)",
      "Nom *",
      "Catégories (x,y,z...)",
      "Prix HT",
      "Prix TTC",
      draws.of(["Référence", "Référence #"]),
      "Référence fournisseur",
      "Marque",
      draws.of(["EAN-13", "EAN13"]),
      "Poids",
      "Quantité",
      "Résumé",
      "URL des images (x,y,z...)",
    ]
    : [
      "Active (0/1)",
      "Name *",
      "Categories (x,y,z...)",
      "Price tax excluded",
      "Price tax included",
      "Reference #",
      "Supplier reference #",
      "Manufacturer",
      "EAN13",
      "Weight",
      "Quantity",
      "Short description",
      "Image URLs (x,y,z...)",
    ];
  const comma = isFrench && draws.chance(0.5);
  const money = (hundredths: number) =>
    comma ? point(hundredths).replace(".", ",") : point(hundredths);
  return flat(catalogue, [
    { name: isFrench ? "ID" : "Product ID", of: (_, row) => `${row + 1}` },
    {
      name: active,
      states: ["status"],
      of: ({ active }) => active ? "1" : "0",
    },
    { name: title, states: ["title"], of: ({ title }) => title },
    {
      name: categories,
      states: ["categories"],
      of: ({ categories }) => categories.join(","),
    },
    { name: net, of: ({ price }) => money(Math.round(price / 1.2)) },
    { name: gross, states: ["price"], of: ({ price }) => money(price) },
    { name: isFrench ? "ID règle de taxes" : "Tax rules ID", of: () => "1" },
    {
      name: isFrench ? "Prix d'achat" : "Wholesale price",
      of: () => money(300),
    },
    { name: isFrench ? "En soldes (0/1)" : "On sale (0/1)", of: () => "0" },
    { name: sku, states: ["sku"], of: ({ sku }) => sku },
    { name: supplier, of: (_, row) => `L-${row}` },
    { name: brand, states: ["brand"], of: ({ brand }) => brand },
    { name: gtin, states: ["gtin"], of: ({ gtin }) => gtin },
    {
      name: weight,
      states: ["weight"],
      of: ({ grams }) =>
        (grams / 1000).toFixed(3).replace(".", comma ? "," : "."),
    },
    {
      name: quantity,
      states: ["quantity"],
      of: ({ quantity }) => `${quantity}`,
    },
    {
      name: isFrench ? "Quantité minimale" : "Minimal quantity",
      of: () => "1",
    },
    { name: short, of: () => "<p>short</p>" },
    {
      name: "Description",
      states: ["description"],
      of: ({ description }) => html(description),
    },
    { name: images, states: ["images"], of: ({ images }) => images.join(",") },
  ], {
    features: ["PrestaShop", isFrench ? "fr" : "en"],
    writing: { delimiter: ";" },
  });
}

const uuid = (n: number) =>
  `${
    (0xa1b2c3 + n * 7919).toString(16).padStart(8, "0")
  }0c4d4e6fb1a2c3d4e5f60718`;

function shopware6(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  return flat(catalogue, [
    { name: "id", of: (_, row) => uuid(row) },
    { name: "parent_id", of: () => "" },
    { name: "product_number", states: ["sku"], of: ({ sku }) => sku },
    {
      name: "active",
      states: ["status"],
      of: ({ active }) => active ? "1" : "0",
    },
    {
      name: "stock",
      states: ["quantity"],
      of: ({ quantity }) => `${quantity}`,
    },
    { name: "name", states: ["title"], of: ({ title }) => title },
    {
      name: "description",
      states: ["description"],
      of: ({ description }) => html(description),
    },
    { name: "price_net", of: ({ price }) => point(Math.round(price / 1.19)) },
    { name: "price_gross", states: ["price"], of: ({ price }) => point(price) },
    { name: "tax_id", of: () => uuid(99) },
    { name: "tax_rate", states: ["vat_rate"], of: ({ vat }) => `${vat}` },
    { name: "tax_name", of: () => "Standard rate" },
    { name: "cover_media_id", of: () => uuid(77) },
    {
      name: "cover_media_url",
      states: ["images"],
      of: ({ images }) => images[0],
    },
    { name: "manufacturer_id", of: () => uuid(55) },
    { name: "manufacturer_name", states: ["brand"], of: ({ brand }) => brand },
    {
      name: "categories",
      of: ({ categories }) => categories.map((_, i) => uuid(30 + i)).join("|"),
    },
    { name: "sales_channel", of: () => uuid(11) },
  ], {
    features: ["Shopware 6"],
    writing: { delimiter: ";" },
    change: ({ images }, wants) =>
      void wants.set("images", { texts: [images[0]] }),
  });
}

function shopware5(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  return flat(catalogue, [
    { name: "ordernumber", states: ["sku"], of: ({ sku }) => sku },
    { name: "mainnumber", of: ({ sku }) => sku },
    { name: "name", states: ["title"], of: ({ title }) => title },
    { name: "additionalText", of: () => "" },
    { name: "supplier", states: ["brand"], of: ({ brand }) => brand },
    { name: "tax", states: ["vat_rate"], of: ({ vat }) => vat.toFixed(2) },
    {
      name: "price_EK",
      states: ["price"],
      of: ({ price }) => point(price).replace(".", ","),
    },
    {
      name: "pseudoprice_EK",
      states: ["compare_at_price"],
      of: ({ former }) =>
        former === null ? "0" : point(former).replace(".", ","),
    },
    { name: "baseprice_EK", of: () => "3" },
    {
      name: "active",
      states: ["status"],
      of: ({ active }) => active ? "1" : "0",
    },
    {
      name: "instock",
      states: ["quantity"],
      of: ({ quantity }) => `${quantity}`,
    },
    { name: "stockmin", of: () => "0" },
    { name: "description", of: () => "short" },
    {
      name: "description_long",
      states: ["description"],
      of: ({ description }) => html(description),
    },
    { name: "ean", states: ["gtin"], of: ({ gtin }) => gtin },
  ], { features: ["Shopware 5"], writing: { delimiter: ";" } });
}

function opencart(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  return flat(catalogue, [
    { name: "product_id", of: (_, row) => `${40 + row}` },
    { name: "name(en-gb)", states: ["title"], of: ({ title }) => title },
    { name: "categories", of: () => draws.of(["20,27", "20", "33"]) },
    { name: "sku", states: ["sku"], of: ({ sku }) => sku },
    { name: "upc", of: () => "" },
    { name: "ean", states: ["gtin"], of: ({ gtin }) => gtin },
    { name: "location", of: () => "" },
    {
      name: "quantity",
      states: ["quantity"],
      of: ({ quantity }) => `${quantity}`,
    },
    { name: "model", states: ["mpn"], of: ({ mpn }) => mpn },
    { name: "manufacturer", states: ["brand"], of: ({ brand }) => brand },
    { name: "shipping", of: () => "yes" },
    { name: "price", states: ["price"], of: ({ price }) => point(price) },
    { name: "points", of: () => "0" },
    { name: "date_added", of: () => "2024-02-03 16:06:50" },
    { name: "date_available", of: () => "2024-02-02" },
    {
      name: "weight",
      states: ["weight"],
      of: ({ grams }) => (grams / 1000).toFixed(2),
    },
    { name: "weight_unit", of: () => "kg" },
    { name: "status", states: ["status"], of: ({ active }) => `${active}` },
    { name: "tax_class_id", of: () => "9" },
    {
      name: "description(en-gb)",
      states: ["description"],
      of: ({ description }) => html(description),
    },
    { name: "stock_status_id", of: () => "7" },
    { name: "minimum", of: () => "1" },
  ], {
    features: ["OpenCart"],
    change: ({ grams }, wants) => {
      const rounded = (grams / 1000).toFixed(2);
      if (Number(rounded) === 0) wants.delete("weight");
      else {wants.set("weight", {
          texts: [`${Math.round(Number(rounded) * 1000)}`],
        });}
    },
  });
}

function ecwid(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const isUntracked = (row: number) => row % 3 === 0;
  return flat(catalogue, [
    { name: "type", of: () => "product" },
    { name: "product_internal_id", of: (_, row) => `${9000 + row}` },
    { name: "product_sku", states: ["sku"], of: ({ sku }) => sku },
    { name: "product_name", states: ["title"], of: ({ title }) => title },
    {
      name: "product_price",
      states: ["price"],
      of: ({ price }) => `${price / 100}`,
    },
    {
      name: "product_compare_to_price",
      states: ["compare_at_price"],
      of: ({ former }) => former === null ? "" : `${former / 100}`,
    },
    {
      name: "product_is_inventory_tracked",
      of: (_, row) => `${!isUntracked(row)}`,
    },
    {
      name: "product_quantity",
      states: ["quantity"],
      of: ({ quantity }, row) => isUntracked(row) ? "0" : `${quantity}`,
    },
    { name: "product_low_stock_notification_quantity", of: () => "" },
    {
      name: "product_is_available",
      states: ["status"],
      of: ({ active }) => `${active}`,
    },
    {
      name: "product_media_main_image_url",
      states: ["images"],
      of: ({ images }) => images[0],
    },
    { name: "product_media_main_image_alt", of: () => "" },
    {
      name: "product_media_gallery_image_url_1",
      states: ["images"],
      of: ({ images }) => images[1] ?? "",
    },
    {
      name: "product_media_gallery_image_url_2",
      states: ["images"],
      of: ({ images }) => images[2] ?? "",
    },
    {
      name: "product_description",
      states: ["description"],
      of: ({ description }) => html(description),
    },
    {
      name: "product_category_1",
      states: ["categories"],
      of: ({ categories }) => categories[0].replace(" > ", " / "),
    },
    { name: "product_brand", states: ["brand"], of: ({ brand }) => brand },
    { name: "product_upc", states: ["gtin"], of: ({ gtin }) => gtin },
    {
      name: "product_weight",
      states: ["weight"],
      of: ({ grams }) => `${grams / 1000}`,
    },
    { name: "product_is_shipping_required", of: () => "true" },
  ], {
    features: ["Ecwid"],
    change: ({ categories }, wants, row) => {
      if (isUntracked(row)) wants.set("quantity", none);
      wants.set("categories", {
        texts: [categories[0], categories[0].replace(" > ", " / ")],
      });
    },
  });
}

function bigcommerce(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const isOff = (row: number) => row % 3 === 0;
  const isUntracked = (row: number) => row % 4 === 1;
  return flat(catalogue, [
    { name: "Item Type", of: () => "Product" },
    { name: "Product ID", of: (_, row) => `${100 + row}` },
    { name: "Product Name", states: ["title"], of: ({ title }) => title },
    { name: "Product Type", of: () => "P" },
    { name: "Product Code/SKU", states: ["sku"], of: ({ sku }) => sku },
    { name: "Brand Name", states: ["brand"], of: ({ brand }) => brand },
    {
      name: "Product Description",
      states: ["description"],
      of: ({ description }) => html(description),
    },
    {
      name: "Price",
      states: ["price", "compare_at_price"],
      of: ({ price, former }) => point(former ?? price),
    },
    { name: "Cost Price", of: () => "3.00" },
    { name: "Retail Price", of: () => "0.00" },
    {
      name: "Sale Price",
      states: ["price", "compare_at_price"],
      of: ({ price, former }) => former === null ? "0.00" : point(price),
    },
    {
      name: "Product Weight",
      states: ["weight"],
      of: ({ grams }) => `${(grams / 1000).toFixed(4)}`,
    },
    {
      name: "Allow Purchases?",
      states: ["status"],
      of: (_, row) => isOff(row) ? "N" : "Y",
    },
    {
      name: "Product Visible?",
      states: ["status"],
      of: ({ active }) => active ? "Y" : "N",
    },
    {
      name: "Track Inventory",
      of: (_, row) => isUntracked(row) ? "none" : "by product",
    },
    {
      name: "Current Stock Level",
      states: ["quantity"],
      of: ({ quantity }, row) => isUntracked(row) ? "0" : `${quantity}`,
    },
    { name: "Low Stock Level", of: () => "0" },
    {
      name: "Category",
      states: ["categories"],
      of: ({ categories }) =>
        categories.map((one) => one.replace(" > ", "/")).join(";"),
    },
    { name: "Product UPC/EAN", states: ["gtin"], of: ({ gtin }) => gtin },
    {
      name: "Product Condition",
      states: ["condition"],
      of: ({ condition }) =>
        ({ new: "New", used: "Used", refurbished: "Refurbished" })[condition],
    },
  ], {
    features: ["BigCommerce"],
    change: ({ active, categories }, wants, row) => {
      wants.set("status", {
        texts: [active && !isOff(row) ? "active" : "paused"],
      });
      if (isUntracked(row)) wants.set("quantity", none);
      wants.set("categories", {
        texts: [
          categories.join(" | "),
          categories.map((one) => one.replace(" > ", "/")).join(" | "),
        ],
      });
    },
  });
}

function square(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const place = draws.of(["Main Street", "Femmebot Fashion", "Liberty"]);
  return flat(catalogue, [
    { name: "Reference Handle", of: (_, row) => `#item-${row}` },
    { name: "Token", of: (_, row) => `ABC${row}XYZ` },
    { name: "Item Name", states: ["title"], of: ({ title }) => title },
    { name: "Customer-facing Name", of: () => "" },
    { name: "Variation Name", of: () => "Regular" },
    { name: "SKU", states: ["sku"], of: ({ sku }) => sku },
    {
      name: "Description",
      states: ["description"],
      of: ({ description }) => html(description),
    },
    {
      name: "Categories",
      states: ["categories"],
      of: ({ categories }) => categories[0],
    },
    { name: "Reporting Category", of: ({ categories }) => categories[0] },
    { name: "GTIN", states: ["gtin"], of: ({ gtin }) => gtin },
    { name: "Item Type", of: () => "Physical good" },
    { name: "Weight (lb)", of: () => "" },
    { name: "Price", states: ["price"], of: ({ price }) => point(price) },
    { name: "Online Sale Price", of: () => "" },
    {
      name: "Archived",
      states: ["status"],
      of: ({ active }) => active ? "N" : "Y",
    },
    { name: "Sellable", of: () => "Y" },
    { name: "Contains Alcohol", of: () => "N" },
    { name: "Stockable", of: () => "Y" },
    {
      name: `Current Quantity ${place}`,
      states: ["quantity"],
      of: ({ quantity }) => `${quantity}`,
    },
    { name: `New Quantity ${place}`, of: () => "" },
    { name: `Stock Alert Enabled ${place}`, of: () => "N" },
    { name: `Stock Alert Count ${place}`, of: () => "" },
    { name: "Tax - VAT (20%)", of: () => "Y" },
  ], {
    features: ["Square"],
    change: ({ categories }, wants) =>
      void wants.set("categories", { texts: [categories[0]] }),
  });
}

function magento(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const untracked = (row: number) => row % 4 === 2;
  return flat(catalogue, [
    { name: "sku", states: ["sku"], of: ({ sku }) => sku },
    { name: "store_view_code", of: () => "" },
    { name: "attribute_set_code", of: () => "Default" },
    { name: "product_type", of: () => "simple" },
    {
      name: "categories",
      states: ["categories"],
      of: ({ categories }) =>
        categories.map((one) => `Default Category/${one.replace(" > ", "/")}`)
          .join(","),
    },
    { name: "product_websites", of: () => "base" },
    { name: "name", states: ["title"], of: ({ title }) => title },
    {
      name: "description",
      states: ["description"],
      of: ({ description }) => html(description),
    },
    { name: "short_description", of: () => "short" },
    {
      name: "weight",
      states: ["weight"],
      of: ({ grams }) => (grams / 1000).toFixed(6),
    },
    {
      name: "product_online",
      states: ["status"],
      of: ({ active }) => active ? "1" : "2",
    },
    { name: "tax_class_name", of: () => "Taxable Goods" },
    { name: "visibility", of: () => "Catalog, Search" },
    {
      name: "price",
      states: ["price", "compare_at_price"],
      of: ({ price, former }) => `${point(former ?? price)}0000`,
    },
    {
      name: "special_price",
      states: ["price", "compare_at_price"],
      of: ({ price, former }) => former === null ? "" : `${point(price)}0000`,
    },
    { name: "special_price_from_date", of: () => "" },
    { name: "special_price_to_date", of: () => "" },
    { name: "manage_stock", of: (_, row) => untracked(row) ? "0" : "1" },
    {
      name: "qty",
      states: ["quantity"],
      of: ({ quantity }, row) => untracked(row) ? "0.0000" : `${quantity}.0000`,
    },
    {
      name: "is_in_stock",
      of: ({ quantity }, row) => untracked(row) || quantity > 0 ? "1" : "0",
    },
    { name: "additional_attributes", of: () => "" },
    { name: "configurable_variations", of: () => "" },
  ], {
    features: ["Magento"],
    change: ({ quantity }, wants, row) => {
      wants.set("availability", {
        texts: [untracked(row) || quantity > 0 ? "in_stock" : "out_of_stock"],
        none: true,
      });
      if (untracked(row)) wants.set("quantity", none);
    },
  });
}

function google(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const { currency } = catalogue;
  return flat(catalogue, [
    { name: "id", states: ["sku"], of: ({ sku }) => sku },
    { name: "title", states: ["title"], of: ({ title }) => title },
    {
      name: "description",
      states: ["description"],
      of: ({ description }) => description.replaceAll("\n", " "),
    },
    { name: "link", of: (_, row) => `https://shop.example/p/${row}` },
    { name: "image_link", states: ["images"], of: ({ images }) => images[0] },
    {
      name: "additional_image_link",
      states: ["images"],
      of: ({ images }) => images.slice(1).join(","),
    },
    {
      name: "availability",
      states: ["availability"],
      of: ({ quantity }) => quantity > 0 ? "in_stock" : "out_of_stock",
    },
    {
      name: "price",
      states: ["price", "compare_at_price"],
      of: ({ price, former }) => `${point(former ?? price)} ${currency}`,
    },
    {
      name: "sale_price",
      states: ["price", "compare_at_price"],
      of: ({ price, former }) =>
        former === null ? "" : `${point(price)} ${currency}`,
    },
    { name: "brand", states: ["brand"], of: ({ brand }) => brand },
    { name: "gtin", states: ["gtin"], of: ({ gtin }) => gtin },
    {
      name: "condition",
      states: ["condition"],
      of: ({ condition }) => condition,
    },
    {
      name: "shipping_weight",
      states: ["weight"],
      of: ({ grams }) => `${grams} g`,
    },
  ], {
    features: ["Google"],
    writing: { delimiter: "\t" },
    change: ({ quantity }, wants) =>
      void wants.set("availability", {
        texts: [quantity > 0 ? "in_stock" : "out_of_stock"],
      }),
  });
}

function wix(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const [yes, no] = draws.of([["true", "false"], ["TRUE", "FALSE"], [
    "PRAWDA",
    "FAŁSZ",
  ], ["WAHR", "FALSCH"]]);
  const names =
    "handleId,fieldType,name,description,productImageUrl,collection,sku,ribbon,price,surcharge,visible,discountMode,discountValue,inventory,weight,cost,productOptionName1,productOptionType1,productOptionDescription1,brand"
      .split(",");
  const states: Record<number, string[]> = {
    2: ["title"],
    3: ["description"],
    4: ["images"],
    5: ["categories"],
    6: ["sku"],
    8: ["price"],
    10: ["status"],
    13: ["quantity"],
    14: ["weight"],
    18: ["attribute:Size"],
    19: ["brand"],
  };
  const rows: GridRow[] = [];
  const products: Product[] = [];
  for (const [family, members] of families(draws, catalogue).entries()) {
    const [first] = members;
    const isFamily = members.length > 1;
    const handle = `product_${family}`;
    rows.push({
      family,
      cells: [
        handle,
        "Product",
        first.title,
        html(first.description),
        first.images.join(";"),
        first.categories.join(";"),
        isFamily ? "" : first.sku,
        "",
        point(first.price),
        "",
        first.active ? yes : no,
        "PERCENT",
        "0.0",
        isFamily ? "InStock" : `${first.quantity}`,
        `${first.grams / 1000}`,
        "3",
        isFamily ? "Size" : "",
        isFamily ? "DROP_DOWN" : "",
        isFamily ? members.map((_, i) => `S${i}`).join(";") : "",
        first.brand,
      ],
    });
    for (const [n, one] of members.entries()) {
      if (isFamily) {
        rows.push({
          family,
          cells: [
            handle,
            "Variant",
            "",
            "",
            "",
            "",
            one.sku,
            "",
            "",
            "0.0",
            yes,
            "",
            "",
            `${one.quantity}`,
            `${one.grams / 1000}`,
            "3",
            "Size",
            "DROP_DOWN",
            `S${n}`,
            "",
          ],
        });
      }
      const wants = wantsOf(
        {
          ...one,
          price: first.price,
          title: isFamily ? `${first.title} – S${n}` : first.title,
          description: first.description,
          brand: first.brand,
          active: first.active,
          categories: first.categories,
          images: first.images,
        },
        new Set([
          "sku",
          "title",
          "description",
          "price",
          "quantity",
          "brand",
          "weight",
          "status",
          "categories",
          "images",
        ]),
      );
      if (isFamily) {
        wants.set("attribute:Size", { texts: [`S${n}`] });
        wants.set("parent_sku", { texts: [handle] });
      }
      products.push({ family, sku: one.sku, wants });
    }
  }
  return {
    heads: names.map((name, i) => ({ name, states: states[i] ?? [] })),
    above: [],
    rows,
    products,
    currency: catalogue.currency,
    weightUnit: "kg",
    imageBase: "",
    writing: COMMA,
    features: ["Wix", yes],
  };
}

function fortnox(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const reserved = ({ quantity }: Truth) => quantity % 3;
  return flat(catalogue, [
    { name: "Artikelnummer", states: ["sku"], of: ({ sku }) => sku },
    { name: "Benämning", states: ["title"], of: ({ title }) => title },
    { name: "Enhet", of: () => "st" },
    { name: "EAN", states: ["gtin"], of: ({ gtin }) => gtin },
    {
      name: "Försäljningspris",
      states: ["price"],
      of: ({ price }) => point(price).replace(".", ","),
    },
    { name: "Inköpspris", of: () => "30,00" },
    {
      name: "Lagersaldo",
      of: (product) => `${product.quantity + reserved(product)}`,
    },
    { name: "Reserverat antal", of: (product) => `${reserved(product)}` },
    {
      name: "Disponibelt antal",
      states: ["quantity"],
      of: ({ quantity }) => `${quantity}`,
    },
    { name: "Lagerplats", of: () => "A1" },
  ], { features: ["Fortnox"], writing: { delimiter: ";" } });
}

function jtl(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const money = (hundredths: number) => point(hundredths).replace(".", ",");
  return flat(catalogue, [
    { name: "Artikelnummer", states: ["sku"], of: ({ sku }) => sku },
    { name: "HAN", states: ["mpn"], of: ({ mpn }) => mpn },
    { name: "GTIN", states: ["gtin"], of: ({ gtin }) => gtin },
    { name: "Artikelname", states: ["title"], of: ({ title }) => title },
    {
      name: "Netto-VK",
      of: ({ price }) => money(Math.round(price / 1.19)),
    },
    {
      name: draws.of(["Brutto-VK", "Std. VK Brutto"]),
      states: ["price"],
      of: ({ price }) => money(price),
    },
    {
      name: "UVP",
      states: ["compare_at_price"],
      of: ({ former }) => former === null ? "0,00" : money(former),
    },
    { name: "Durchschnittlicher Einkaufspreis (netto)", of: () => "3,00" },
    {
      name: "Steuersatz in %",
      states: ["vat_rate"],
      of: ({ vat }) => `${vat}`.replace(".", ","),
    },
    {
      name: "Lagerbestand Gesamt",
      of: ({ quantity }) => `${quantity + 2}`,
    },
    { name: "Bestand in Aufträgen", of: () => "2" },
    {
      name: "Verfügbarer Bestand",
      states: ["quantity"],
      of: ({ quantity }) => `${quantity}`,
    },
    { name: "Mindestlagerbestand", of: () => "0" },
    { name: "Hersteller", states: ["brand"], of: ({ brand }) => brand },
    {
      name: "Versandgewicht (kg)",
      states: ["weight"],
      of: ({ grams }) => `${grams / 1000}`.replace(".", ","),
    },
    { name: "Kategorie Ebene 1", of: () => "Alle" },
    {
      name: "Aktiv",
      states: ["status"],
      of: ({ active }) => active ? "Y" : "N",
    },
    {
      name: "Beschreibung",
      states: ["description"],
      of: ({ description }) => html(description),
    },
    { name: "Kurzbeschreibung", of: () => "<p>kurz</p>" },
  ], { features: ["JTL"], writing: { delimiter: ";" } });
}

function amazon(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  return flat(catalogue, [
    { name: "item-name", states: ["title"], of: ({ title }) => title },
    {
      name: "item-description",
      states: ["description"],
      of: ({ description }) => description.replaceAll("\n", " "),
    },
    { name: "listing-id", of: (_, row) => `0101XYZ${row}` },
    { name: "seller-sku", states: ["sku"], of: ({ sku }) => sku },
    { name: "price", states: ["price"], of: ({ price }) => point(price) },
    {
      name: "quantity",
      states: ["quantity"],
      of: ({ quantity }) => `${quantity}`,
    },
    { name: "open-date", of: () => "2024-02-03 16:06:50 PST" },
    { name: "image-url", of: () => "" },
    { name: "item-is-marketplace", of: () => "y" },
    { name: "product-id-type", of: () => "1" },
    { name: "item-condition", of: () => "11" },
    { name: "asin1", of: (_, row) => `B00X${1000 + row}` },
    { name: "will-ship-internationally", of: () => "" },
    { name: "product-id", of: (_, row) => `B00X${1000 + row}` },
    { name: "pending-quantity", of: () => "0" },
    { name: "fulfillment-channel", of: () => "DEFAULT" },
    {
      name: "status",
      states: ["status"],
      of: ({ active }) => active ? "Active" : "Inactive",
    },
  ], { features: ["Amazon"], writing: { delimiter: "\t", quotes: "none" } });
}

function ebay(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  return flat(catalogue, [
    { name: "Item number", of: (_, row) => `2550001${row}` },
    { name: "Title", states: ["title"], of: ({ title }) => title },
    { name: "Variation details", of: () => "" },
    { name: "Custom label (SKU)", states: ["sku"], of: ({ sku }) => sku },
    {
      name: "Available quantity",
      states: ["quantity"],
      of: ({ quantity }) => `${quantity}`,
    },
    { name: "Format", of: () => "FIXED_PRICE" },
    { name: "Currency", states: ["currency"], of: ({ currency }) => currency },
    { name: "Start price", states: ["price"], of: ({ price }) => point(price) },
    { name: "Auction Buy It Now price", of: () => "" },
    { name: "Reserve price", of: () => "" },
    { name: "Sold quantity", of: (_, row) => `${row}` },
    { name: "Watchers", of: () => "3" },
    { name: "Condition", states: ["condition"], of: () => "NEW" },
    { name: "P:UPC", of: () => "" },
    { name: "P:EAN", states: ["gtin"], of: ({ gtin }) => gtin },
  ], {
    features: ["eBay"],
    change: (_, wants) => void wants.set("condition", { texts: ["new"] }),
  });
}

function etsy(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  return flat(catalogue, [
    { name: "TITLE", states: ["title"], of: ({ title }) => title },
    {
      name: "DESCRIPTION",
      states: ["description"],
      of: ({ description }) => description,
    },
    { name: "PRICE", states: ["price"], of: ({ price }) => point(price) },
    {
      name: "CURRENCY_CODE",
      states: ["currency"],
      of: ({ currency }) => currency,
    },
    {
      name: "QUANTITY",
      states: ["quantity"],
      of: ({ quantity }) => `${quantity}`,
    },
    { name: "TAGS", of: () => "a,b" },
    { name: "MATERIALS", of: () => "oak" },
    { name: "IMAGE1", states: ["images"], of: ({ images }) => images[0] },
    { name: "IMAGE2", states: ["images"], of: ({ images }) => images[1] ?? "" },
    { name: "IMAGE3", states: ["images"], of: ({ images }) => images[2] ?? "" },
    { name: "VARIATION 1 TYPE", of: () => "" },
    { name: "VARIATION 1 NAME", of: () => "" },
    { name: "VARIATION 1 VALUES", of: () => "" },
    { name: "SKU", states: ["sku"], of: ({ sku }) => sku },
  ], { features: ["Etsy"] });
}

function squarespace(draws: Draws): Grid {
  const catalogue = catalogueOf(draws);
  const isOff = (row: number) => row % 3 === 1;
  return flat(catalogue, [
    { name: "Product ID [Non Editable]", of: (_, row) => `5f${row}` },
    { name: "Variant ID [Non Editable]", of: (_, row) => `6f${row}` },
    { name: "Product Type [Non Editable]", of: () => "PHYSICAL" },
    { name: "Product Page", of: () => "shop" },
    { name: "Product URL", of: (_, row) => `p-${row}` },
    { name: "Title", states: ["title"], of: ({ title }) => title },
    {
      name: "Description",
      states: ["description"],
      of: ({ description }) => html(description),
    },
    { name: "SKU", states: ["sku"], of: ({ sku }) => sku },
    { name: "Option Name 1", of: () => "" },
    { name: "Option Value 1", of: () => "" },
    {
      name: "Price",
      states: ["price", "compare_at_price"],
      of: ({ price, former }) => point(former ?? price),
    },
    {
      name: "Sale Price",
      states: ["price", "compare_at_price"],
      of: ({ price, former }, row) =>
        former !== null ? point(price) : isOff(row) ? "1.00" : "0.00",
    },
    {
      name: "On Sale",
      states: [],
      of: ({ former }) => former === null ? "No" : "Yes",
    },
    {
      name: "Stock",
      states: ["quantity"],
      of: ({ quantity }, row) => isOff(row) ? "Unlimited" : `${quantity}`,
    },
    {
      name: "Categories",
      states: ["categories"],
      of: ({ categories }) => categories[0].replace(" > ", "/"),
    },
    { name: "Tags", of: () => "a, b" },
    {
      name: "Weight",
      states: ["weight"],
      of: ({ grams }) => `${grams / 1000}`,
    },
    { name: "Length", of: () => "0" },
    {
      name: "Visible",
      states: ["status"],
      of: ({ active }) => active ? "Yes" : "No",
    },
    {
      name: "Hosted Image URLs",
      states: ["images"],
      of: ({ images }) => images.join(" "),
    },
  ], {
    features: ["Squarespace"],
    change: ({ categories }, wants, row) => {
      wants.set("categories", { texts: [categories[0].replace(" > ", "/")] });
      if (isOff(row)) wants.set("quantity", none);
    },
  });
}

export const SHOPS: readonly ((draws: Draws) => Grid)[] = [
  shopify,
  shopify,
  woocommerce,
  woocommerce,
  prestashop,
  shopware6,
  shopware5,
  opencart,
  ecwid,
  bigcommerce,
  square,
  magento,
  google,
  wix,
  fortnox,
  jtl,
  amazon,
  ebay,
  etsy,
  squarespace,
];
