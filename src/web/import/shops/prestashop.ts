/** Exports of PrestaShop, and files for the import of PrestaShop. */
import type { SlicedWork } from "../../lib/slices.ts";
import type { Table } from "../read/csv.ts";
import { type GatheredTable, withAttributes } from "./rows.ts";
import type { Shop } from "./shop.ts";

/** The list of products that the back office exports. */
export const PRESTASHOP_LIST: Shop = {
  name: "PrestaShop",
  has: ["Reference", "Price (tax incl.)"],
  targets: {
    "Product ID": "",
    "Price (tax incl.)": "price",
    "Price (tax excl.)": "",
    Status: "status",
    Position: "",
  },
  gather,
};

/** A file for the import of PrestaShop. */
export const PRESTASHOP_IMPORT: Shop = {
  name: "PrestaShop",
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
  gather,
};

/** Converts features such as `Colour:Blue:1,Material:Wool:2` to columns. */
function* gather(table: Table): SlicedWork<GatheredTable> {
  const features = table.header
    .findIndex((name) => /^feature ?\(/i.test(name));
  if (features < 0) return { table, note: "" };
  const products = yield* withAttributes(
    table,
    (row) =>
      table.rows[row][features].split(",").flatMap((feature) => {
        const [name, value = ""] = feature.split(":")
          .map((part) => part.trim());
        return name === "" || value === "" ? [] : [[name, value] as const];
      }),
  );
  return { table: products, note: "" };
}
