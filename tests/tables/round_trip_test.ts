/**
 * The page saves whatever the service stores as a table, and reads it again
 * without changing a value that would be sent.
 */
import { assert, assertEquals } from "@std/assert";
import type { Product } from "../../src/client/mod.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { isoTime } from "../../src/xml/encode.ts";
import { Draws } from "./draws.ts";
import { answer, drop, openQuestions, saved, sentOf } from "./page.ts";

type Sale = NonNullable<Product["sale"]>;

/**
 * Texts in which a table, a spreadsheet program or the page may see a meaning.
 */
const ODD =
  '-|--|\'|\'-|\'\'-|-20 °C|\'=1+1|=1+1|+49|@all|x;=1+1|x; -2|x\t=2|a, b|a; b|"|27"|"a"|<p>Fine &amp; good</p>|&amp;|&uuml;|Default Title|NULL|#N/A|nan|Total|Summe|1E5|1.299|1,299|00815|2024-01-02|1-2|="A"|1.000 g|\\|\\\\|a\\|Ã¤|½|🧵|  a  b|TRUE|ja|sep=;|SKU|Titel|Price|_x0041_|100 %|\u00a0x|a\\|b'
    .split(/(?<!\\)\|/).map((text) => text.replaceAll("\\|", "|"));
const NAMES = [
  "Color",
  "color",
  "Value",
  "name",
  "2nd",
  "SKU",
  "price",
  "Weight unit",
  "track stock",
  "on sale",
  "x;=1",
  ": a",
  "Wert(e)",
  "Option1 value",
];

function productOf(draws: Draws, i: number): Product {
  const line = () => {
    const text = draws.chance(0.6)
      ? draws.of(ODD)
      : `${draws.of(ODD)} ${draws.of(ODD)}`;
    return text.replace(/[\t\n\r]/g, " ").trim();
  };
  const maybe = <T>(value: () => T): T | null =>
    draws.chance(0.7) ? value() : null;
  const contactName = () => line().slice(0, 64).trim();
  const names = draws.some(NAMES, 0, 4);
  const decimal = () =>
    draws.of([
      "1.299",
      "4.9",
      "12.99",
      "0.0001",
      "1299",
      "1000",
      "9999999999.9999",
    ]);
  return {
    id: `00000000-0000-4000-8000-00000000000${i}`,
    sku: `${line().slice(0, 50)}${i}`,
    title: line(),
    description: maybe(() =>
      draws.of(["", " ", "\n"]) + `${line()}\n${line()}` +
      draws.of(["", "\n", " "])
    ),
    price: { amount: decimal(), currency: draws.of(["EUR", "SEK", "ALL"]) },
    compare_at_price: maybe(decimal),
    vat_rate: maybe(() => draws.of(["0.5", "19", "1.19", "3", "0"])),
    quantity: maybe(() => draws.of([0, 1, 1000, 10_000_000])),
    availability: draws.of(["in_stock", "out_of_stock", "preorder"]),
    available_at: maybe(() => "2026-12-24"),
    gtin: maybe(() => draws.of(["4006381333931", "00000000", "036000291452"])),
    brand: maybe(line),
    mpn: maybe(line),
    weight: maybe(() => ({ value: draws.of([1, 350, 1000000]), unit: "g" })),
    condition: draws.of(["new", "used"]),
    status: draws.of(["active", "paused"]),
    parent_sku: maybe(line),
    manufacturer: maybe(contactName),
    responsible_person: maybe(contactName),
    safety_text: maybe(() =>
      draws.of(["", " ", "\n"]) + `${line()}\n${line()}` + draws.of(["", "\n"])
    ),
    sale: draws.chance(0.5) ? undefined : saleOf(draws, decimal()),
    categories: draws.some(ODD, 0, 4).map((one) =>
      one.replaceAll("\t", " ").trim()
    ),
    attributes: names.map((name) => ({ name, value: line() })),
    images: [
      ...new Set([
        "https://a.example/x;y.png",
        "https://a.example/a,b|c.png",
        "https://a.example/-.png",
      ]),
    ].slice(0, draws.below(4)).map((url) => ({
      url,
      alt: draws.chance(0.1) ? "a" : null,
    })),
  } as unknown as Product;
}

/** A sale in each of its states, as the service shows it. */
function saleOf(draws: Draws, price: string) {
  const from = Date.UTC(2026, draws.below(24), 1 + draws.below(28)) +
    draws.of([0, 1, 12 * HOUR_MS + 1]);
  const until = from + draws.of([1, DAY_MS - 1, 179 * DAY_MS]);
  return {
    state: draws.of(["planned", "on", "over"]),
    price,
    from: isoTime(from),
    until: isoTime(until),
  };
}

/** The value that the service stores after one is sent. */
function stored(name: string, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (name === "images") {
    return (value as { url: string }[]).map(({ url }) => url).join(" ");
  }
  if (name === "price") {
    const { amount, currency } = value as { amount: string; currency: string };
    return `${Number(amount)} ${currency}`;
  }
  if (["compare_at_price", "vat_rate", "quantity"].includes(name)) {
    return Number(value);
  }
  if (name === "sale") {
    const { price, from, until } = value as Sale;
    return [Number(price), Date.parse(from), Date.parse(until)].join();
  }
  if (name === "weight") return Number((value as { value: unknown }).value);
  return value;
}

const ALWAYS_SENT = ["sku", "title", "price", "status"] as const;

for (const kind of ["csv", "xlsx"] as const) {
  Deno.test(`uploading what the page saves as ${kind} changes nothing`, async () => {
    for (let seed = 1; seed <= 150; seed++) {
      const draws = new Draws(seed);
      const products = Array.from(
        { length: 1 + draws.below(6) },
        (_, i) => productOf(draws, i),
      );
      let view = await drop(`products.${kind}`, await saved(products, kind));
      assert(typeof view !== "string", `seed ${seed}: ${view}`);
      for (let [question] = openQuestions(view); question !== undefined;) {
        const { answers } = question;
        assertEquals(answers.map(({ label }) => label), ["They are right"]);
        const next = await answer(view, question, answers[0]);
        assert(typeof next !== "string");
        view = next;
        [question] = openQuestions(view);
      }
      const sent = await sentOf(view);
      assertEquals(sent.length, products.length, `seed ${seed}`);
      for (const [i, product] of products.entries()) {
        for (const [name, value] of Object.entries(sent[i])) {
          assertEquals(
            stored(name, value),
            stored(name, product[name as keyof Product]),
            `seed ${seed}, ${name} of ${product.sku}`,
          );
        }
        for (
          const name of [
            ...ALWAYS_SENT,
            ...(product.sale ? ["sale"] as const : []),
          ]
        ) {
          if (`${product[name]}`.trim() === "") continue;
          assert(name in sent[i], `seed ${seed}, ${name} is lost`);
        }
      }
    }
  });
}

Deno.test("no cell of a saved table is a formula, wherever a program splits it", async () => {
  const decoder = new TextDecoder();
  for (let seed = 1; seed <= 50; seed++) {
    const draws = new Draws(seed);
    const products = [0, 1, 2].map((i) => productOf(draws, i));
    const text = decoder.decode(await saved(products, "csv"));
    const found = /(?:^|[;\t\r\n])"? *[=+\-@].{0,20}/.exec(text);
    assertEquals(found?.[0], undefined, `seed ${seed}`);
  }
});
