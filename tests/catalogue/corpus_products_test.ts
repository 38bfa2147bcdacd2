/**
 * 2,403 real products, posted as an integrator would: 250 at a time; if a
 * document is refused, the refused products are removed and the others posted
 * again. Which products are refused, where and why, is predicted by rules that
 * are written here independently of the source.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Product } from "../../src/catalogue/product.ts";
import { findProducts } from "../../src/catalogue/product_rows.ts";
import {
  boot,
  child,
  detailsOf,
  type TestApp,
  textAt,
} from "../support/app.ts";
import { withCorpus } from "../support/corpus.ts";
import { Host } from "../support/host.ts";
import { escapeAttribute, escapeXml } from "../support/xml.ts";

interface Row {
  sku: string | null;
  title: string | null;
  description: string | null;
  price: string | null;
  currency: string | null;
  brand: string | null;
  category: string | null;
  gtin: string | null;
  quantity: string | null;
  images: string[];
  attributes: Record<string, string>;
}

const SCALARS = [
  "sku",
  "title",
  "description",
  "price",
  "quantity",
  "gtin",
  "brand",
] as const;

/** A document with the line of each element, for each row. */
interface Written {
  xml: string;
  lines: Map<string, number>[];
}

function write(rows: readonly Row[], images: string): Written {
  let xml = "<products>\n";
  let line = 2;
  const put = (text: string) => {
    xml += `${text}\n`;
    line += text.split("\n").length;
  };
  const lines = rows.map((row) => {
    const places = new Map([["product", line]]);
    const element = (place: string, tag: string, text: string, more = "") => {
      places.set(place, line);
      put(`<${tag}${more}>${escapeXml(text)}</${tag}>`);
    };
    put("<product>");
    for (const field of SCALARS) {
      const text = row[field];
      if (text === null) continue;
      const currency = field === "price" && row.currency !== null
        ? ` currency="${escapeAttribute(row.currency)}"`
        : "";
      element(field, field, text, currency);
    }
    if (row.category !== null) {
      put("<categories>");
      element("categories/category[1]", "category", row.category);
      put("</categories>");
    }
    put("<attributes>");
    Object.entries(row.attributes).forEach(([name, value], i) =>
      element(
        `attributes/attribute[${i + 1}]`,
        "attribute",
        value,
        ` name="${escapeAttribute(name)}"`,
      )
    );
    put("</attributes>");
    put("<images>");
    imageUrls(row, images).forEach((url, i) =>
      element(`images/image[${i + 1}]`, "image", url)
    );
    put("</images>");
    put("</product>");
    return places;
  });
  return { xml: `${xml}</products>`, lines };
}

/** The images' paths and URLs, on a host of this test. */
function imageUrls({ images }: Row, host: string): string[] {
  return images.map((image) => host + image.replace(/^https?:\/\/[^/]+/, ""));
}

const length = (text: string) => [...text].length;

function lineProblem(text: string, max: number): string | null {
  if (/\p{Cc}/u.test(text.trim())) return "not_one_line";
  return length(text.trim()) > max ? "too_long" : null;
}

function priceProblem(text: string): string | null {
  if (text.trim() === "") return "required";
  if (/^-\d+(?:\.\d+)?$/.test(text.trim())) return "out_of_range";
  const digits = /^(\d+)(?:\.(\d+))?$/.exec(text.trim());
  if (digits === null) return "not_a_number";
  const tooFine = digits[1].length > 10 || (digits[2] ?? "").length > 4;
  return tooFine || Number(text) === 0 ? "out_of_range" : null;
}

function gtinProblem(text: string): string | null {
  const digits = text.trim();
  if (digits === "") return null;
  if (!/^\d+$/.test(digits)) return "not_a_number";
  if (![8, 12, 13, 14].includes(digits.length)) return "out_of_range";
  const sum = [...digits].reverse()
    .reduce((sum, digit, i) => sum + Number(digit) * (i % 2 === 1 ? 3 : 1), 0);
  return sum % 10 === 0 ? null : "bad_check_digit";
}

function quantityProblem(text: string): string | null {
  if (text.trim() === "") return null;
  if (!/^-?\d+$/.test(text.trim())) return "not_a_number";
  return Number(text) < 0 || Number(text) > 10_000_000 ? "out_of_range" : null;
}

const RULES: Record<typeof SCALARS[number], (text: string) => string | null> = {
  sku: (text) => text.trim() === "" ? "required" : lineProblem(text, 64),
  title: (text) => text.trim() === "" ? "required" : lineProblem(text, 150),
  description: (text) => length(text) > 5_000 ? "too_long" : null,
  price: priceProblem,
  quantity: quantityProblem,
  gtin: gtinProblem,
  brand: (text) => lineProblem(text, 100),
};

/**
 * `field code` of the problems of a row that do not depend on stored products.
 */
function ownProblems(row: Row, images: string): string[] {
  const problems: string[] = [];
  const add = (field: string, code: string | null) => {
    if (code !== null) problems.push(`${field} ${code}`);
  };
  const entry = (field: string, text: string, max: number) =>
    add(field, text.trim() === "" ? "required" : lineProblem(text, max));
  for (const field of SCALARS) {
    if (row[field] !== null) add(field, RULES[field](row[field]));
  }
  if (row.price !== null && !row.currency) add("price/@currency", "required");
  if (row.category !== null) entry("categories/category[1]", row.category, 255);
  Object.entries(row.attributes).forEach(([name, value], i) => {
    entry(`attributes/attribute[${i + 1}]/@name`, name, 50);
    entry(`attributes/attribute[${i + 1}]`, value, 255);
  });
  const urls = imageUrls(row, images);
  urls.forEach((url, i) => {
    const field = `images/image[${i + 1}]`;
    if (/[\s\p{Cc}\\]/u.test(url)) add(field, "bad_url");
    else if (urls.indexOf(url) < i) add(field, "repeated_value");
  });
  return problems;
}

/** `field code` of the problems of a row that depend on stored products. */
function storeProblems(
  row: Row,
  own: readonly string[],
  taken: Set<string>,
  known: ReadonlySet<string>,
): string[] {
  if (row.sku === null) return ["sku required", ...lacking(row)];
  if (own.some((problem) => problem.startsWith("sku "))) return [];
  const sku = row.sku.trim();
  const lacks = known.has(sku) ? [] : lacking(row);
  if (taken.has(sku)) return ["sku duplicate_sku", ...lacks];
  taken.add(sku);
  return lacks;
}

/** The fields that a new product needs in addition to its SKU. */
function lacking(row: Row): string[] {
  const problems: string[] = [];
  if (row.title === null) problems.push("title required");
  if (row.price === null) problems.push("price required");
  const quantity = row.quantity?.trim() ?? "";
  if (quantity === "") problems.push("quantity required");
  return problems;
}

/** The values that an accepted row must have. */
function expectedFields(row: Row, images: string): Partial<Product> {
  const text = (value: string) => value.trim() === "" ? null : value.trim();
  const quantity = row.quantity === null ? null : text(row.quantity);
  return {
    sku: row.sku!.trim(),
    ...(row.title !== null && { title: row.title.trim() }),
    ...(row.description !== null && {
      description: text(row.description) && row.description,
    }),
    ...(row.price !== null && {
      price: row.price.trim().replace(/^0+(?=\d)/, "")
        .replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, ""),
      currency: row.currency!,
    }),
    ...(quantity !== null && {
      quantity: Number(quantity),
      availability: Number(quantity) === 0 ? "out_of_stock" : "in_stock",
    }),
    ...(row.gtin !== null && { gtin: text(row.gtin) }),
    ...(row.brand !== null && { brand: text(row.brand) }),
    ...(row.category !== null && { categories: [row.category.trim()] }),
    attributes: Object.entries(row.attributes)
      .map(([name, value]) => ({ name: name.trim(), value: value.trim() })),
    images: imageUrls(row, images).map((url) => ({ url, alt: null })),
  };
}

/** The accepted products so far, by SKU, as they must be stored. */
type Catalogue = Map<string, Partial<Product>>;

interface Tally {
  accepted: number;
  refused: number;
}

/** Posts up to 250 rows until all are stored except those that are refused. */
async function postRows(
  app: TestApp,
  rows: readonly Row[],
  images: string,
  catalogue: Catalogue,
): Promise<Tally> {
  const taken = new Set<string>();
  const known = new Set(catalogue.keys());
  const problems = rows.map((row) => {
    const own = ownProblems(row, images);
    return [...own, ...storeProblems(row, own, taken, known)];
  });
  const written = write(rows, images);
  const refused = problems.filter((one) => one.length > 0).length;
  if (refused > 0) await postRefused(app, rows, written, problems);
  const good = rows.filter((_, i) => problems[i].length === 0);
  if (good.length > 0) await postAccepted(app, good, images, catalogue);
  return { accepted: good.length, refused };
}

async function postRefused(
  app: TestApp,
  rows: readonly Row[],
  { xml, lines }: Written,
  problems: readonly string[][],
): Promise<void> {
  const answer = await app.upload(new TextEncoder().encode(xml));
  assertEquals(answer.status, 422, answer.text);
  const found = rows.map((): string[] => []);
  for (const detail of detailsOf(answer)) {
    const { product, sku, line, field, code, message } = detail;
    const i = Number(product) - 1;
    found[i].push(`${field} ${code}`);
    const place = lines[i].get(field.replace(/\/@.*/, "")) ??
      lines[i].get("product");
    assertEquals(Number(line), place, JSON.stringify(detail));
    assertStringIncludes(message, field);
    const readable = !problems[i].some((one) => /^sku (?!dup)/.test(one));
    assertEquals(sku, readable ? rows[i].sku?.trim() : undefined);
  }
  assertEquals(
    found.map((one) => one.toSorted()),
    problems.map((one) => one.toSorted()),
  );
}

async function postAccepted(
  app: TestApp,
  rows: readonly Row[],
  images: string,
  catalogue: Catalogue,
): Promise<void> {
  const body = new TextEncoder().encode(write(rows, images).xml);
  const answer = await app.upload(body);
  const record = await app.status(answer);
  const count = (name: string) => Number(textAt(record, `products/${name}`));
  assertEquals(count("total"), rows.length);
  assertEquals(
    count("created"),
    rows.filter(({ sku }) => !catalogue.has(sku!.trim())).length,
  );
  assertEquals(
    child(record, "results").children.map((one) => textAt(one, "sku")),
    rows.map(({ sku }) => sku!.trim()),
  );
  for (const row of rows) {
    const fields = expectedFields(row, images);
    const before = catalogue.get(fields.sku!);
    catalogue.set(fields.sku!, { ...before, ...fields });
  }
  await checkStored(app, rows.map(({ sku }) => sku!.trim()), catalogue);
  const again = await app.status(await app.upload(body));
  assertEquals(textAt(again, "products/unchanged"), String(rows.length));
}

async function checkStored(
  app: TestApp,
  skus: readonly string[],
  catalogue: Catalogue,
): Promise<void> {
  const stored = await app.app.db.read((sql) =>
    findProducts(sql, app.sellerNo, { skus })
  );
  for (const sku of skus) {
    const expected = catalogue.get(sku)!;
    const product: Product = stored.find((product) => product.sku === sku)!;
    const found = Object.fromEntries(
      Object.keys(expected).map((
        name,
      ) => [name, product[name as keyof Product]]),
    );
    assertEquals(found, { ...expected }, sku);
  }
}

/** Adds fields that the source lacks, so that the other fields are tested. */
function completed(row: Row, n: number): Row {
  return {
    ...row,
    sku: row.sku?.trim() ? row.sku : `row-${n}`,
    price: row.price ?? "1.50",
    currency: row.currency ?? "SEK",
    quantity: row.quantity ?? "0",
  };
}

withCorpus("products.jsonl", (bytes) => {
  const rows = new TextDecoder().decode(bytes).split("\n").filter((line) =>
    line !== ""
  ).map((line): Row => JSON.parse(line));
  for (
    const [name, made, enough] of [
      ["as they are", rows, 700],
      ["completed", rows.map(completed), 2_000],
    ] as const
  ) {
    Deno.test(`real products, ${name}, are read back or refused with their place`, async () => {
      await using host = new Host(() => new Response());
      await using app = await boot();
      const catalogue: Catalogue = new Map();
      const tally: Tally = { accepted: 0, refused: 0 };
      for (let i = 0; i < made.length; i += 250) {
        const part = made.slice(i, i + 250);
        const { accepted, refused } = await postRows(
          app,
          part,
          host.url,
          catalogue,
        );
        tally.accepted += accepted;
        tally.refused += refused;
      }
      assertEquals(tally.accepted + tally.refused, 2_403);
      assert(tally.accepted > enough, JSON.stringify(tally));
      await checkStored(app, [...catalogue.keys()], catalogue);
      const count = await app.app.db.read((sql) =>
        sql.get<{ n: number }>("SELECT COUNT(*) AS n FROM products")
      );
      assertEquals(count!.n, catalogue.size);
      assert(
        host.seen.length > 0 && host.seen.every((one) => one.method === "HEAD"),
      );
      assertEquals(app.log.filter(({ status }) => Number(status) >= 500), []);
    });
  }
});
