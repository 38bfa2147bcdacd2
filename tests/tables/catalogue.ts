/** The true content of catalogues, each made from a seed. */
import type { Draws } from "./draws.ts";

export interface Truth {
  sku: string;
  title: string;
  /** Lines of text. */
  description: string;
  /** In hundredths of the currency. */
  price: number;
  /** The former price, in hundredths; null: the price is the usual one. */
  former: number | null;
  currency: string;
  vat: number;
  quantity: number;
  active: boolean;
  gtin: string;
  brand: string;
  mpn: string;
  grams: number;
  condition: "new" | "used" | "refurbished";
  /** The family of a variant; "" for a product without variants. */
  parent: string;
  categories: readonly string[];
  attributes: Readonly<Record<string, string>>;
  images: readonly string[];
}

export const LANGUAGES = [
  "en",
  "de",
  "sv",
  "fr",
  "es",
  "pl",
  "nl",
] as const;
export type Language = typeof LANGUAGES[number];

const THINGS: Readonly<Record<Language, readonly string[]>> = {
  en: ["Mug", "Lamp", "Desk chair", "Rain jacket", "Bike bell", "Tea pot"],
  de: ["Becher", "Schüssel groß", "Türgriff", "Lampe", "Gießkanne", "Öllampe"],
  sv: ["Mugg", "Skål", "Kökslampa", "Regnjacka", "Träbänk", "Öppnare"],
  fr: ["Théière", "Chaise pliante", "Crème", "Pâté", "Boîte à thé", "Gilet"],
  es: ["Taza", "Zapato de niño", "Lámpara", "Señal", "Cajón", "Bota"],
  pl: ["Kubek", "Miska żółta", "Łyżka", "Świecznik", "Garnek", "Ścierka"],
  nl: ["Fietsbel", "Stoel", "Theepot", "Jas", "Kast", "Köln-mok"],
};
const WORDS = ["blue", "XL", "2 l", "No. 5", "Classic", "Pro", "12 V", "mini"];
const ODD_TITLES = [
  (t: string) => `${t} 27"`,
  (t: string) => `${t} "Nova"`,
  (t: string) => `${t}; set`,
  (t: string) => `${t}, 2 pcs`,
  (t: string) => `${t} & Co.`,
  (t: string) => `${t} 3,5 mm`,
  (t: string) => `½ ${t}`,
  (t: string) => `${t} | large`,
  (t: string) => `1.500 ${t}`,
];
const BRANDS = ["Norr", "Töpferei Müller", "Bosch", "L'Atelier", "A&B", "3M"];
const CATEGORIES: Readonly<Record<Language, readonly string[]>> = {
  en: ["Home > Kitchen", "Garden", "Home & Living", "Tools > Drills", "Office"],
  de: ["Haus > Küche", "Garten", "Haus & Garten", "Möbel", "Büro"],
  sv: ["Hem > Kök", "Trädgård", "Hem & hushåll", "Möbler", "Kontor"],
  fr: ["Maison > Cuisine", "Jardin", "Maison & déco", "Meubles", "Bureau"],
  es: ["Casa > Cocina", "Jardín", "Casa y jardín", "Muebles", "Niños"],
  pl: ["Dom > Kuchnia", "Ogród", "Dom i ogród", "Meble", "Biuro"],
  nl: ["Huis > Keuken", "Tuin", "Huis & tuin", "Meubels", "Kantoor"],
};
const CURRENCIES: Readonly<Record<Language, readonly string[]>> = {
  en: ["GBP", "USD", "EUR"],
  de: ["EUR", "CHF"],
  sv: ["SEK"],
  fr: ["EUR", "CHF"],
  es: ["EUR"],
  pl: ["PLN"],
  nl: ["EUR"],
};
const RATES: Readonly<Record<Language, readonly number[]>> = {
  en: [20, 5, 0],
  de: [19, 7, 0],
  sv: [25, 12, 6],
  fr: [20, 5.5, 10],
  es: [21, 10, 4],
  pl: [23, 8, 5],
  nl: [21, 9, 0],
};
const COLOURS = ["Blue", "Red", "Sand", "Navy", "Black", "White"];

/** A GTIN of 13 or 8 digits with its check digit. */
export function gtinOf(draws: Draws, prefix = draws.of(GTIN_PREFIXES)): string {
  const length = prefix.length > 6 ? 7 : draws.chance(0.06) ? 7 : 12;
  let digits = prefix.slice(0, length);
  while (digits.length < length) digits += `${draws.below(10)}`;
  const sum = [...digits].reverse()
    .reduce((all, digit, i) => all + Number(digit) * (i % 2 === 0 ? 3 : 1), 0);
  return digits + `${(10 - sum % 10) % 10}`;
}
const GTIN_PREFIXES = ["40063", "73", "00123", "50", "5901234", "366", "87"];

export interface Catalogue {
  language: Language;
  currency: string;
  products: readonly Truth[];
}

/** The form of the SKUs of a catalogue. */
type SkuForm = (i: number, draws: Draws) => string;
const SKU_FORMS: readonly SkuForm[] = [
  (i) => `A-${1001 + i}`,
  (i) => `${10020 + i * 7}`,
  (i) => `00${815 + i}`,
  (i, draws) => `${draws.of(["MUG", "LMP", "CH"])}.${i + 1}-BL`,
  (i) => `${i + 1}E${i + 3}`,
  (i) => `K${i + 1}/2024`,
  (i) => `SW1${1000 + i}`,
  (i) => `ART ${300 + i}`,
  (i) => `${i + 1}-${i + 2}`,
];

export function catalogueOf(draws: Draws): Catalogue {
  const language = draws.of(LANGUAGES);
  const currency = draws.of(CURRENCIES[language]);
  const skuOf = draws.chance(0.7)
    ? SKU_FORMS[draws.below(3)]
    : draws.of(SKU_FORMS);
  const rates = RATES[language];
  const isCheap = draws.chance(0.3);
  const count = 3 + draws.below(8);
  const products = Array.from({ length: count }, (_, i): Truth => {
    const thing = draws.of(THINGS[language]);
    const plain = `${thing} ${draws.of(WORDS)} ${i + 1}`;
    const title = draws.chance(0.2) ? draws.of(ODD_TITLES)(plain) : plain;
    const price = isCheap
      ? 99 + draws.below(40) * 50
      : draws.of([490, 1290, 1499, 4900, 12900, 24995, 129900, 999]) +
        draws.below(9) * 100;
    return {
      sku: skuOf(i, draws),
      title,
      description: draws.chance(0.5)
        ? `${thing} of good make.\nLasts long; 100 % ${draws.of(COLOURS)}`
        : `${thing}, ${draws.of(COLOURS)}`,
      price,
      former: draws.chance(0.35) ? price + 100 + draws.below(20) * 100 : null,
      currency,
      vat: draws.chance(0.8) ? rates[0] : draws.of(rates),
      quantity: draws.chance(0.15) ? 0 : 1 + draws.below(
        draws.chance(0.15) ? 3000 : 90,
      ),
      active: draws.chance(0.85),
      gtin: gtinOf(draws),
      brand: draws.of(BRANDS),
      mpn: `${draws.of(["TX", "ML", "9"])}${100 + draws.below(900)}`,
      grams: draws.of([85, 120, 350, 1250, 2000, 12500, 500]) +
        draws.below(5) * 5,
      condition: draws.of(["new", "new", "new", "used", "refurbished"]),
      parent: "",
      categories: draws.some(CATEGORIES[language], 1, 2),
      attributes: {
        Color: draws.of(COLOURS),
        Material: draws.of(["Oak", "Steel", "Glass"]),
      },
      images: Array.from(
        { length: 1 + draws.below(3) },
        (_, n) => `https://img.example/p/${i + 1}-${n + 1}.jpg`,
      ),
    };
  });
  return { language, currency, products };
}
