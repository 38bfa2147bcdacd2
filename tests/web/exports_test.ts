/**
 * Exports of shops and files of Excel, as merchants have them: the page uploads
 * each, and the stored values are those that a person expects, cell by cell.
 */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import type { Product } from "../../src/client/mod.ts";
import { boot } from "../support/app.ts";
import { ImageHost } from "../support/image_host.ts";
import { browserTest } from "./browser.ts";
import { signIn } from "./page.ts";

/** A product as a person would write it; usual values are left out. */
type Expected = Record<string, string>;

interface Export {
  file: string;
  products: Readonly<Record<string, Expected>>;
  encoding?: "windows-1252" | "utf-16";
  /** What the file does not say; the first time, a person answers. */
  currency?: string;
  /** What is done besides three clicks; `images` is the URL of the images. */
  choose?: (page: Page, images: string) => Promise<void>;
}

const SHIRT = {
  description: "Washed linen.\n– Made in Portugal\n– Wash at 40°",
  brand: "Norr & Co",
  categories: "Shirts",
  parent_sku: "linen-shirt",
};
const SHIRTS = "shirt-back.png shirt-detail.png shirt-model.png";

const EXPORTS: readonly Export[] = [
  {
    file: "shopify.csv",
    currency: "EUR",
    products: {
      "LS-W-S": {
        ...SHIRT,
        title: "Linen shirt – White / S",
        price: "79.9 EUR",
        compare_at_price: "99.9",
        quantity: "7",
        weight: "240",
        gtin: "4006381333931",
        attributes: "Colour=White Size=S",
        images: `shirt-white.png ${SHIRTS}`,
      },
      "LS-W-M": {
        ...SHIRT,
        title: "Linen shirt – White / M",
        price: "79.9 EUR",
        compare_at_price: "99.9",
        quantity: "0",
        weight: "250",
        attributes: "Colour=White Size=M",
        images: `shirt-white.png ${SHIRTS}`,
      },
      "LS-N-S": {
        ...SHIRT,
        title: "Linen shirt – Navy / S",
        price: "84.9 EUR",
        quantity: "0",
        weight: "240",
        attributes: "Colour=Navy Size=S",
        images: `shirt-navy.png shirt-white.png ${SHIRTS}`,
      },
      "SOAP-1": {
        title: "Soap",
        brand: "Norr & Co",
        categories: "Bath",
        price: "6 EUR",
        quantity: "140",
        weight: "90",
        status: "paused",
      },
    },
  },
  {
    file: "shopify-2025.csv",
    currency: "NOK",
    products: {
      "CAP-G": {
        title: "Trail cap – Green",
        description: "Light, with a wide brim",
        brand: "Fjell",
        categories: "Caps",
        price: "29 NOK",
        quantity: "12",
        weight: "85",
        gtin: "4006381333948",
        parent_sku: "trail-cap",
        attributes: "Colour=Green",
        images: "cap-green.png cap-sand.png",
      },
      "CAP-S": {
        title: "Trail cap – Sand",
        description: "Light, with a wide brim",
        brand: "Fjell",
        categories: "Caps",
        price: "29 NOK",
        quantity: "4",
        weight: "85",
        parent_sku: "trail-cap",
        attributes: "Colour=Sand",
        images: "cap-sand.png cap-green.png",
      },
      GTR: {
        title: "Gaiters",
        brand: "Fjell",
        categories: "Shoes",
        price: "49.5 NOK",
        compare_at_price: "59",
        quantity: "0",
        weight: "310",
        status: "paused",
      },
    },
  },
  {
    file: "shopify-without-sku.csv",
    currency: "SEK",
    choose: (page) =>
      page.getByRole("button", { name: "Use these 3 SKUs" }).click(),
    products: {
      "ROPE-BLUE-10-M": {
        title: "Rope – 10 m",
        brand: "Sjö",
        categories: "Boats",
        price: "35 SEK",
        quantity: "5",
        weight: "900",
        parent_sku: "rope-blue",
        attributes: "Length=10 m",
      },
      "ROPE-BLUE-20-M": {
        title: "Rope – 20 m",
        brand: "Sjö",
        categories: "Boats",
        price: "65 SEK",
        quantity: "3",
        weight: "1800",
        parent_sku: "rope-blue",
        attributes: "Length=20 m",
      },
      ANCHOR: {
        title: "Anchor",
        brand: "Sjö",
        categories: "Boats",
        price: "120 SEK",
        quantity: "2",
        weight: "4000",
      },
    },
  },
  {
    file: "wix.csv",
    currency: "EUR",
    choose: async (page) => {
      await page.getByLabel("Unit of weight").selectOption("kg");
    },
    products: {
      "LS-S-N": {
        title: "Linen shirt – S / Navy",
        description: "Washed linen",
        brand: "Norr",
        categories: "Shirts | New",
        price: "79.9 EUR",
        weight: "240",
        parent_sku: "product_9d1",
        attributes: "Size=S Colour=Navy",
        images: "shirt.png shirt-back.png",
      },
      "LS-M-W": {
        title: "Linen shirt – M / White",
        description: "Washed linen",
        brand: "Norr",
        categories: "Shirts | New",
        price: "85 EUR",
        quantity: "0",
        weight: "250",
        parent_sku: "product_9d1",
        attributes: "Size=M Colour=White",
        images: "shirt.png shirt-back.png",
      },
      GIFT: { title: "Gift card", price: "25 EUR" },
      "SOAP-R": {
        title: "Old soap",
        categories: "Bath",
        price: "4.5 EUR",
        quantity: "3",
        weight: "90",
        status: "paused",
        attributes: "Scent=Rose",
        images: "soap.png",
      },
    },
  },
  {
    file: "wix-media.csv",
    currency: "NOK",
    choose: async (page) => {
      await page.getByLabel("Unit of weight").selectOption("kg");
    },
    products: {
      "CAP-G": {
        title: "Trail cap – Green",
        description: "Light, with a wide brim",
        brand: "Fjell",
        price: "29 NOK",
        compare_at_price: "35",
        quantity: "12",
        weight: "85",
        gtin: "4006381333948",
        parent_sku: "trail-cap",
        attributes: "Colour=Green",
        images: "cap.png cap-2.png",
      },
      "CAP-S": {
        title: "Trail cap – Sand",
        description: "Light, with a wide brim",
        brand: "Fjell",
        price: "31 NOK",
        quantity: "4",
        weight: "85",
        parent_sku: "trail-cap",
        attributes: "Colour=Sand",
        images: "cap.png cap-2.png",
      },
      GTR: {
        title: "Gaiters",
        brand: "Fjell",
        price: "49.5 NOK",
        availability: "out_of_stock",
        weight: "310",
      },
    },
  },
  {
    file: "woocommerce.csv",
    currency: "GBP",
    products: {
      "hoodie-blue": {
        title: "Hoodie - Blue",
        description: "Soft cotton.\nNo hood strings.",
        price: "45 GBP",
        quantity: "4",
        weight: "1500",
        brand: "Woo",
        parent_sku: "hoodie",
        categories: "Clothing > Hoodies | Men, women",
        attributes: "Colour=Blue",
        images: "hoodie-blue.png",
      },
      "hoodie-red": {
        title: "Hoodie - Red",
        description: "Now in red",
        price: "38.5 GBP",
        compare_at_price: "45",
        quantity: "0",
        weight: "1600",
        brand: "Woo",
        parent_sku: "hoodie",
        categories: "Clothing > Hoodies | Men, women",
        attributes: "Colour=Red",
        images: "hoodie.png hoodie-back.png",
      },
      cap: {
        title: "Cap",
        gtin: "4006381333931",
        // Nothing says here whether its sale has begun.
        price: "16 GBP",
        categories: "Accessories",
        status: "paused",
      },
      card: {
        title: "Gift card, printed",
        price: "25 GBP",
        status: "paused",
      },
    },
  },
  {
    file: "woocommerce-sale.csv",
    currency: "SEK",
    products: {
      "W-1": {
        title: "Lamp",
        price: "79 SEK",
        compare_at_price: "99",
        quantity: "3",
        weight: "2000",
        categories: "Home > Light",
        images: "lamp.png",
      },
      "W-2": {
        title: "Bulb",
        price: "4.9 SEK",
        quantity: "50",
        weight: "50",
        categories: "Home > Light",
      },
    },
  },
  {
    file: "woocommerce-german.csv",
    currency: "EUR",
    products: {
      "T-1": {
        title: "Teekanne",
        description: "Glas, 1 l",
        gtin: "4006381333931",
        price: "24.9 EUR",
        compare_at_price: "29.9",
        quantity: "9",
        weight: "800",
        categories: "Küche > Tee | Geschenke",
        attributes: "Farbe=Klar",
        images: "kanne.png",
      },
      "B-1": {
        title: "Becher – Blau",
        description: "Steinzeug",
        price: "12 EUR",
        quantity: "3",
        weight: "350",
        parent_sku: "B",
        categories: "Küche",
        attributes: "Farbe=Blau",
        images: "becher.png",
      },
    },
  },
  {
    file: "magento.csv",
    currency: "USD",
    choose: async (page, images) => {
      await page.getByLabel("Unit of weight").selectOption("kg");
      await page.getByText("are paths in your shop").waitFor();
      await page.getByLabel("Address before the paths in base_image").fill(
        images,
      );
      await page.getByLabel("Address before the paths in additional_images")
        .fill(images);
    },
    products: {
      "WH-XS-Black": {
        title: "Hoodie-XS-Black",
        description: "Warm & light",
        price: "52 USD",
        quantity: "100",
        weight: "500",
        parent_sku: "WH",
        categories: "Men > Tops | Promotions",
        attributes: "color=Black size=XS",
        images: "w/h/black.png w/h/black-back.png",
      },
      "WH-XS-Gray": {
        title: "Hoodie-XS-Gray",
        description: "Warm & light",
        price: "41.6 USD",
        compare_at_price: "52",
        quantity: "0",
        weight: "500",
        status: "paused",
        parent_sku: "WH",
        categories: "Men > Tops",
        attributes: "color=Gray size=XS",
        images: "w/h/main.png",
      },
      BAG: {
        title: 'Bag "Compass"',
        description: "Holds 20 l",
        price: "34 USD",
        quantity: "25",
        weight: "1100",
        categories: "Gear > Bags",
        attributes: "activity=Gym|Hiking",
        images: "b/a/bag.png",
      },
    },
  },
  {
    file: "magento-without-images.csv",
    currency: "USD",
    products: {
      "24-MB01": {
        title: "Joust Duffle Bag",
        price: "34 USD",
        quantity: "10",
        categories: "Gear",
      },
      "24-MB02": {
        title: "Impulse Duffle",
        price: "74.5 USD",
        quantity: "0",
      },
    },
  },
  {
    file: "prestashop-grid.csv",
    currency: "EUR",
    products: {
      demo_1: {
        title: "Hummingbird printed t-shirt",
        price: "28.68 EUR",
        quantity: "2400",
        categories: "Men",
        images: "tshirt.png",
      },
      demo_11: {
        title: 'Mug "The best is yet to come"',
        price: "14.28 EUR",
        quantity: "0",
        status: "paused",
        categories: "Home Accessories",
      },
    },
  },
  {
    file: "prestashop-import.csv",
    currency: "EUR",
    choose: async (page) => {
      await page.getByLabel("Unit of Weight").selectOption("kg");
    },
    products: {
      "VA-1": {
        title: "Vase bleu",
        description: "Vase en grès",
        price: "39.9 EUR",
        quantity: "14",
        gtin: "3660000000003",
        brand: "Atelier",
        weight: "1200",
        categories: "Accueil | Maison",
        attributes: "Couleur=Bleu Matière=Grès",
        images: "vase.png vase-2.png",
      },
      "BO-1": {
        title: "Bol",
        price: "9.5 EUR",
        quantity: "0",
        brand: "Atelier",
        weight: "250",
        status: "paused",
        categories: "Maison",
        attributes: "Couleur=Blanc",
      },
    },
  },
  {
    file: "google.tsv",
    products: {
      "TV-40": {
        title: 'TV 40"',
        description: 'A "smart" TV',
        price: "3499 SEK",
        compare_at_price: "3999",
        gtin: "4006381333931",
        mpn: "T40",
        brand: "Glimt",
        weight: "9500",
        categories: "Electronics > TV",
        images: "tv.png tv-2.png tv-3.png",
      },
      "SOCK-S": {
        title: "Sock, small",
        description: "Wool",
        price: "79 SEK",
        availability: "out_of_stock",
        condition: "used",
        brand: "Glimt",
        weight: "80",
        parent_sku: "SOCK",
        categories: "Clothes > Socks",
        attributes: "color=Blue size=S",
        images: "sock.png",
      },
      LAMP: {
        title: "Lamp",
        description: "Soon",
        price: "250.5 SEK",
        availability: "preorder",
        available_at: "2030-03-01",
        condition: "refurbished",
        mpn: "L-1",
        brand: "Glimt",
        weight: "1200",
        categories: "Home",
        images: "lamp.png",
      },
    },
  },
  {
    file: "google-spaces.tsv",
    products: {
      "P-1": {
        title: "Pen",
        description: "Blue ink",
        price: "12.5 EUR",
        availability: "preorder",
        available_at: "2030-12-24",
        brand: "Stift",
        weight: "20",
        parent_sku: "PEN",
        attributes: "color=Blue age group=adult",
        images: "pen.png",
      },
    },
  },
  {
    file: "google-rss.xml",
    products: {
      "CUP-1": {
        title: "Cup & saucer",
        description: "Bone china\nDishwasher safe",
        price: "129 SEK",
        gtin: "4006381333931",
        brand: "Glimt",
        categories: "Home > Kitchen | Gifts",
        images: "cup.png cup-2.png cup-3.png",
      },
      "CUP-2": {
        title: "Mug",
        price: "79 SEK",
        compare_at_price: "99",
        availability: "backorder",
        available_at: "2030-03-01",
        images: "mug.png",
      },
    },
  },
  {
    file: "google-atom.xml",
    products: {
      "AT-1": {
        title: "Chair",
        description: "Oak",
        price: "1299 EUR",
        weight: "6500",
        parent_sku: "CHAIR",
        attributes: "material=Oak",
        images: "chair.png",
      },
    },
  },
  {
    file: "excel-german.csv",
    encoding: "windows-1252",
    products: {
      "00815": {
        title: "Becher „Blau“",
        description: "Steinzeug, 0,3 l",
        price: "12.5 EUR",
        compare_at_price: "15",
        vat_rate: "19",
        quantity: "25",
        gtin: "4006381333931",
        brand: "Töpferei Müller",
        weight: "350",
        categories: "Küche",
        images: "becher-1.png becher-3.png",
      },
      "00816": {
        title: "Schüssel groß",
        description: "Für Salat;\nauch für Teig",
        price: "1249 EUR",
        vat_rate: "19",
        quantity: "3",
        brand: "Töpferei Müller",
        weight: "1200",
        condition: "used",
        categories: "Küche",
      },
    },
  },
  {
    file: "excel-swedish.csv",
    encoding: "windows-1252",
    currency: "SEK",
    products: {
      "A-1": {
        title: "Mugg, blå",
        price: "149 SEK",
        compare_at_price: "199",
        vat_rate: "25",
        quantity: "12",
        gtin: "4006381333931",
        brand: "Kockums",
        weight: "350",
        categories: "Kök",
        images: "mugg.png",
      },
      "A-2": {
        title: "Gryta",
        price: "1299.5 SEK",
        vat_rate: "25",
        quantity: "0",
        brand: "Kockums",
        weight: "4200",
        categories: "Kök",
      },
    },
  },
  {
    file: "excel-french.csv",
    encoding: "windows-1252",
    products: {
      "CH-01": {
        title: "Chaise pliante",
        price: "49.9 EUR",
        compare_at_price: "59.9",
        vat_rate: "20",
        quantity: "8",
        gtin: "4006381333931",
        brand: "L'Atelier",
        weight: "3400",
        categories: "Meubles",
        images: "chaise.png",
      },
      "CH-02": {
        title: "Table d’appoint",
        price: "129 EUR",
        vat_rate: "20",
        quantity: "0",
        brand: "L'Atelier",
        weight: "7250",
        condition: "used",
        categories: "Meubles",
      },
    },
  },
  {
    file: "excel-spanish.csv",
    products: {
      "Z-1": {
        title: "Zapato",
        description: "Piel",
        price: "59.95 EUR",
        compare_at_price: "79.95",
        quantity: "6",
        gtin: "4006381333931",
        brand: "Calzados Ruiz",
        weight: "820",
        categories: "Zapatos | Hombre",
        images: "z1.png z2.png",
      },
      "Z-2": {
        title: "Bota",
        price: "1059 EUR",
        quantity: "2",
        brand: "Calzados Ruiz",
        weight: "1400",
        categories: "Zapatos",
      },
    },
  },
  {
    file: "excel-polish.csv",
    products: {
      "K-1": {
        title: "Kubek „Łódź”",
        description: "Ceramika",
        price: "39.99 PLN",
        compare_at_price: "49.99",
        vat_rate: "23",
        quantity: "15",
        gtin: "4006381333931",
        brand: "Bolesławiec",
        weight: "400",
        categories: "Kuchnia",
        images: "kubek.png kubek-2.png",
      },
      "K-2": {
        title: "Talerz",
        price: "1019 PLN",
        vat_rate: "23",
        quantity: "0",
        brand: "Bolesławiec",
        weight: "900",
        categories: "Kuchnia",
      },
    },
  },
  {
    file: "excel-dutch.csv",
    products: {
      "F-1": {
        title: "Fietsbel",
        description: "Messing",
        price: "14.95 EUR",
        compare_at_price: "17.5",
        vat_rate: "21",
        quantity: "40",
        gtin: "4006381333931",
        brand: "Gazelle",
        weight: "120",
        categories: "Fietsen",
        images: "bel.png",
      },
      "F-2": {
        title: "Stuur",
        price: "64 EUR",
        vat_rate: "21",
        quantity: "0",
        brand: "Gazelle",
        weight: "800",
        categories: "Fietsen",
      },
    },
  },
  {
    file: "utf16.tsv",
    encoding: "utf-16",
    products: {
      "U-1": {
        title: "Łyżka",
        price: "5.5 PLN",
        quantity: "3",
        attributes: "Color=Srebrny",
      },
      "U-2": { title: "Two lines", price: "7 PLN", quantity: "1" },
    },
  },
  {
    file: "erp.csv",
    products: {
      "9001": {
        title: "Drill, 18 V",
        price: "129.99 USD",
        quantity: "7",
        weight: "1588",
        gtin: "036000291452",
        brand: "Bosch",
        categories: "Tools > Drills",
        attributes: "Voltage=18 V",
        images: "drill.png drill-2.png",
      },
      "9002": {
        title: "Bit set",
        price: "19.5 USD",
        quantity: "0",
        weight: "340",
        brand: "Bosch",
        categories: "Tools",
      },
    },
  },
];

const FOLDER = new URL("exports/", import.meta.url);

/** The bytes of an export, as the shop writes them. */
async function bytesOf(
  { file, encoding }: Export,
  images: string,
): Promise<Buffer> {
  const text = (await Deno.readTextFile(new URL(file, FOLDER)))
    .replaceAll("{images}", images);
  if (encoding === "utf-16") return Buffer.from(`\ufeff${text}`, "utf16le");
  if (encoding === undefined) return Buffer.from(text);
  // Windows-1252: what it has beyond Latin-1.
  const others = new Map([["€", 0x80], ["„", 0x84], ["’", 0x92], ["“", 0x93]]);
  return Buffer.from(
    [...text].map((char) => others.get(char) ?? char.charCodeAt(0)),
  );
}

/** The name of a list's item, without the URL of its host. */
function written(product: Product, images: string): Expected {
  const { price, weight, categories, attributes, images: shown } = product;
  const cells: Record<string, string | null | undefined> = {
    title: product.title,
    description: product.description,
    price: price && `${price.amount} ${price.currency}`,
    compare_at_price: product.compare_at_price,
    vat_rate: product.vat_rate,
    quantity: product.quantity?.toString(),
    availability: product.availability,
    available_at: product.available_at,
    gtin: product.gtin,
    brand: product.brand,
    mpn: product.mpn,
    weight: weight?.value.toString(),
    condition: product.condition,
    status: product.status,
    parent_sku: product.parent_sku,
    categories: categories?.join(" | "),
    attributes: attributes?.map(({ name, value }) => `${name}=${value}`)
      .join(" "),
    images: shown?.map(({ url }) => url.replace(`${images}/`, "")).join(" "),
  };
  const usual = {
    availability: cells.quantity === "0" ? "out_of_stock" : "in_stock",
    condition: "new",
    status: "active",
  };
  return Object.fromEntries(
    Object.entries(cells).filter((cell): cell is [string, string] =>
      (cell[1] ?? "") !== "" &&
      usual[cell[0] as keyof typeof usual] !== cell[1]
    ),
  );
}

for (const one of EXPORTS) {
  browserTest(
    `the export ${one.file} is stored as a person would read it`,
    async (openTab) => {
      await using host = new ImageHost();
      await using app = await boot({ config: { roles: ["api"] } });
      await using tab = await openTab();
      const images = `${host.url}/good`;
      await signIn(tab, app.url, app.key);
      const clicks = await store(tab.page, one, images);
      const isKnown = one.currency === undefined && one.choose === undefined;
      if (isKnown) assertEquals(clicks, 3);
      const { products } = await app.client().products.list();
      assertEquals(
        Object.fromEntries(
          products.map((product) => [product.sku, written(product, images)]),
        ),
        one.products,
      );
      assertEquals(tab.faults, []);
    },
  );
}

/**
 * Stores an export; returns the number of clicks, including that for the file.
 */
async function store(
  page: Page,
  one: Export,
  images: string,
): Promise<number> {
  const count = Object.keys(one.products).length;
  const products = `${count} product${count === 1 ? "" : "s"}`;
  await page.evaluate(
    "clicks = 1, addEventListener('click', () => clicks++, true)",
  );
  await page.getByLabel("File with products").setInputFiles({
    name: one.file,
    mimeType: "text/plain",
    buffer: await bytesOf(one, images),
  });
  const check = page.getByRole("button", { name: `Check ${products}` });
  await check.waitFor();
  if (one.currency !== undefined) {
    await page.getByLabel("Currency of all prices").fill(one.currency);
  }
  await one.choose?.(page, images);
  await check.click();
  await page.getByRole("button", { name: `Upload ${products}` }).click();
  await page.getByRole("heading", { name: one.file }).waitFor();
  // No process fetches images here.
  await page.getByText(/^(complete|downloading images)$/).waitFor();
  return await page.evaluate<number>("clicks");
}
