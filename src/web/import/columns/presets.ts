/** Exports of shop systems, which are told by the names of their columns. */
import type { ColumnField } from "./headers.ts";

export type Shop =
  | "BigCommerce"
  | "Ecwid"
  | "Google Merchant"
  | "Magento"
  | "OpenCart"
  | "PrestaShop"
  | "Shopify"
  | "Shopware"
  | "Square"
  | "Wix"
  | "WooCommerce";

/** The name in the first release, in English, by that of another one. */
type Names = Readonly<Record<string, string>>;

/** An export of a shop system. */
export interface Preset {
  shop: Shop;
  /** Names that no other table has together. */
  has: readonly string[];
  /** Other names of its columns: those of other releases and languages. */
  names?: Names | ((header: readonly string[]) => Names);
  /** Where a name means something else than usual. */
  targets: Readonly<Record<string, ColumnField>>;
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
    Vendor: "brand",
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
    names: (header) => ({
      ...namesByPlace(header),
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
    }),
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
    names: {
      "Actif (0/1)": "Active (0/1)",
      "Nom *": "Name *",
      "Nom*": "Name *",
      "Nom": "Name *",
      "Catégories (x,y,z...)": "Categories (x,y,z...)",
      "Prix HT": "Price tax excluded",
      "Prix hors taxe": "Price tax excluded",
      "Prix TTC": "Price tax included",
      "Référence": "Reference #",
      "Référence #": "Reference #",
      "Référence fournisseur": "Supplier reference #",
      "Référence fournisseur #": "Supplier reference #",
      "Marque": "Manufacturer",
      "Résumé": "Short description",
      "URL des images (x,y,z...)": "Image URLs (x,y,z...)",
      "En soldes (0/1)": "On sale (0/1)",
    },
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
      description: "",
      description_long: "description",
    },
  },
  {
    shop: "Shopware",
    has: ["product_number", "price_net", "price_gross"],
    targets: {
      parent_id: "",
      product_number: "sku",
      price_net: "",
      price_gross: "price",
      tax_id: "",
      tax_name: "",
      cover_media_url: "images",
      media: "images",
      manufacturer_name: "brand",
    },
  },
  {
    shop: "OpenCart",
    has: ["product_id", "sku", "model", "manufacturer"],
    names: (header) =>
      Object.fromEntries(
        ["name", "description"].flatMap((name) =>
          header.filter((one) => one.startsWith(`${name}(`)).slice(0, 1)
            .map((one) => [one, name])
        ),
      ),
    // It numbers its categories.
    targets: { categories: "" },
  },
  {
    shop: "Ecwid",
    has: ["product_sku", "product_name", "product_price"],
    targets: {
      product_sku: "sku",
      product_name: "title",
      product_price: "price",
      product_compare_to_price: "compare_at_price",
      product_quantity: "quantity",
      product_is_available: "status",
      product_media_main_image_url: "images",
      product_description: "description",
      product_brand: "brand",
      product_upc: "gtin",
      product_weight: "weight",
      ...Object.fromEntries(
        Array.from({ length: 10 }, (_, i) => i + 1).flatMap((n) => [
          [`product_category_${n}`, "categories"],
          [`product_media_gallery_image_url_${n}`, "images"],
        ]),
      ),
    },
  },
  {
    shop: "BigCommerce",
    has: ["Product Code/SKU", "Product Visible?", "Allow Purchases?"],
    targets: {
      "Product Code/SKU": "sku",
      "Product Visible?": "status",
      "Product Condition": "condition",
      // "MSRP" of its shop; 0 where there is none.
      "Retail Price": "compare_at_price",
      "Sale Price": "sale_price",
      "Current Stock Level": "quantity",
    },
  },
  {
    shop: "Square",
    has: ["Token", "Item Name", "Variation Name", "Price"],
    names: (header) =>
      Object.fromEntries(
        header.filter((name) => name.startsWith("Current Quantity "))
          .slice(0, 1).map((name) => [name, "Current Quantity"]),
      ),
    targets: {
      "Item Name": "title",
      "Current Quantity": "quantity",
      "Reporting Category": "",
      // What is for sale has "N" here.
      Archived: "",
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
  return PRESETS.find((preset) => {
    const known = inEnglish(header, preset);
    return preset.has.every((name) => known.includes(name));
  });
}

/** The names that the shop's first release in English has for its columns. */
export function namesIn(header: readonly string[]): readonly string[] {
  return inEnglish(header, presetOf(header));
}

function inEnglish(
  header: readonly string[],
  { names: known = {} }: Pick<Preset, "names"> = {},
): readonly string[] {
  const names = typeof known === "function" ? known(header) : known;
  return header.map((name) => Object.hasOwn(names, name) ? names[name] : name);
}

/**
 * The columns of WooCommerce by their places: it translates their names, and
 * always writes them in this order. Its weight stands before three measures,
 * each with its unit.
 */
function namesByPlace(header: readonly string[]): Names {
  const isIn = (units: string, at: number) =>
    units.split(" ").some((unit) => header[at]?.endsWith(`(${unit})`));
  const weight = header.findIndex((_, i) =>
    isIn("kg g lbs oz", i) &&
    [1, 2, 3].every((n) => isIn("cm m mm in yd", i + n))
  );
  const before = BEFORE_WEIGHT[weight];
  if (header[0] !== "ID" || before === undefined) return {};
  const ordered = [...before, ...FROM_WEIGHT];
  const isOfBrands = /^(?!meta)\D+$/i.test(header[ordered.length] ?? "");
  const names = isOfBrands ? [...ordered, "Brands"] : ordered;
  const attributes = header.slice(names.length)
    .filter((name) => /\d/.test(name));
  const byNumber = Map.groupBy(attributes, (name) => /\d+/.exec(name)![0]);
  return Object.fromEntries([
    ...names.map((name, i) => [header[i], name]),
    ...[...byNumber].flatMap(([n, [name, value]]) => [
      [name, `Attribute ${n} name`],
      [value, `Attribute ${n} value(s)`],
    ]),
  ]);
}

const TO_SKU = ["ID", "Type", "SKU"];
const GTIN = "GTIN, UPC, EAN, or ISBN";
const TO_STOCK =
  "Name|Published|Is featured?|Visibility in catalog|Short description|Description|Date sale price starts|Date sale price ends|Tax status|Tax class|In stock?|Stock"
    .split("|");
const LOW = "Low stock amount";
const TO_WEIGHT = ["Backorders allowed?", "Sold individually?"];
/** What stands before the weight, by how many columns these are. */
const BEFORE_WEIGHT: Readonly<Record<number, readonly string[]>> = {
  17: [...TO_SKU, ...TO_STOCK, ...TO_WEIGHT],
  18: [...TO_SKU, ...TO_STOCK, LOW, ...TO_WEIGHT],
  19: [...TO_SKU, GTIN, ...TO_STOCK, LOW, ...TO_WEIGHT],
};
const FROM_WEIGHT =
  "Weight (kg)|Length (cm)|Width (cm)|Height (cm)|Allow customer reviews?|Purchase note|Sale price|Regular price|Categories|Tags|Shipping class|Images|Download limit|Download expiry days|Parent|Grouped products|Upsells|Cross-sells|External URL|Button text|Position"
    .split("|");
