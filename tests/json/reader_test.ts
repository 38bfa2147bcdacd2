/** The JSON reader: its strictness, its limits, and documents in blocks. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  decodeProducts,
  decodeProductsInPieces,
  type ProductsDocument,
} from "../../src/catalogue/document.ts";
import { DOCUMENTS } from "../../src/contracts/documents.ts";
import { jsonWriter } from "../../src/json/encode.ts";
import { valueFromXml } from "../../src/json/instance.ts";
import { jsonReaderFor } from "../../src/json/reader.ts";
import { ServiceError } from "../../src/lib/errors.ts";
import { parseTree, readXml } from "../../src/xml/decode.ts";
import { element, type XmlNode } from "../../src/xml/encode.ts";
import {
  ANY,
  type Child,
  isText,
  maybe,
  type Shape,
} from "../../src/xml/shapes.ts";
import { Random } from "../support/random.ts";

const ROOT = { name: "products", shape: DOCUMENTS.products };
const PRODUCT = (DOCUMENTS.products.content as readonly Child[])[0].shape;
const encoder = new TextEncoder();

/** A document whose member `v` may have any content. */
const ANY_ROOT = { name: "x", shape: { content: [maybe("v", ANY)] } };

/** The value that the reader reports; throws if the reader refuses the value. */
function valueOf(json: string, cuts: readonly number[] = []): unknown {
  const bytes = encoder.encode(`{"v":${json}}`);
  const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length]
    .sort((a, b) => a - b);
  const blocks = ends.map((end, n) => bytes.subarray(ends[n - 1] ?? 0, end));
  let found: unknown;
  const handlers = {
    open() {},
    text() {},
    close() {},
    any(value: unknown) {
      found = value;
    },
  };
  readXml(blocks, handlers, { begin: jsonReaderFor(ANY_ROOT) });
  return found;
}

/** Converts numbers and booleans to texts, as the reader reports them. */
function asTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asTexts);
  if (value === null || typeof value === "string") return value;
  if (typeof value !== "object") return `${value}`;
  return Object.fromEntries(
    Object.entries(value!).map(([name, one]) => [name, asTexts(one)]),
  );
}

const PIECES = [
  ..."{}[]:,",
  '"a"',
  '"b"',
  '"\\u00e9\\ud83d\\ude00"',
  '"\\n\\"\\\\"',
  '""',
  "1",
  "-2.5",
  "0",
  "12e3",
  "true",
  "null",
  " ",
  "\n",
  '"',
  "\\",
  "x",
];

Deno.test("the reader accepts and refuses the same documents as JSON.parse", () => {
  let read = 0;
  for (let seed = 0; seed < 20_000; seed++) {
    const random = new Random(seed);
    const pieces = Array.from(
      { length: 1 + random.below(9) },
      () => PIECES[random.below(PIECES.length)],
    );
    const text = seed % 2 === 0 ? pieces.join("") : randomJson(random, 3);
    const cuts = [random.below(99), random.below(99)];
    let expected: unknown;
    let isJson = true;
    try {
      expected = JSON.parse(`{"v":${text}}`).v;
    } catch {
      isJson = false;
    }
    const names = [...text.matchAll(/"(\w)"\s*:/g)].map(([, name]) => name);
    // Only the reader refuses duplicate names and large numbers.
    const mayDiffer = new Set(names).size < names.length ||
      /e\d\d|\d{16}/.test(text);
    if (!isJson) assertThrows(() => valueOf(text, cuts), ServiceError);
    else if (!mayDiffer) {
      read++;
      const shown = /[0-9]/.test(text) ? valueOf(text) : asTexts(expected);
      assertEquals(valueOf(text, cuts), shown, text);
      if (!/[0-9]/.test(text)) assertEquals(shown, asTexts(expected), text);
    }
  }
  assertEquals(read > 2_000, true, `${read}`);
});

/** A random JSON document without numbers. */
function randomJson(random: Random, depth: number): string {
  const space = () => ["", " ", "\n\t", "\r\n"][random.below(4)];
  const items = (item: (n: number) => string) =>
    Array.from({ length: random.below(4) }, (_, n) => item(n)).join(",");
  const kind = depth === 0 ? 2 : random.below(4);
  const value = () => space() + randomJson(random, depth - 1) + space();
  if (kind === 0) return `[${items(value)}]`;
  if (kind === 1) {
    return `{${items((n) => `"${"abcd"[n]}"${space()}:${value()}`)}}`;
  }
  return ['"é\\t"', '"\\ud83d\\ude00 x"', "true", "null", '""'][
    random.below(5)
  ];
}

Deno.test("where any content is allowed, numbers are reported as sent", () => {
  const digits = Array.from("0123456789");
  for (const number of ["1.0", "1e2", "-0", "2.50", "0.9", ...digits]) {
    assertEquals(valueOf(number), number);
    assertEquals(valueOf(`{"n":${number}}`), { n: number });
    assertEquals(valueOf(`[${number},[${number}]]`), [number, [number]]);
  }
});

Deno.test("a malformed document is refused with its place", () => {
  const refusals: [json: string, line: number, column: number, what: RegExp][] =
    [
      ["", 1, 1, /empty/],
      ['{"a":1,\n"a":2}', 2, 1, /Duplicate name a/],
      ["{} x", 1, 4, /after the end/],
      ["{}{}", 1, 3, /after the end/],
      ['{"a":9007199254740993}', 1, 6, /beyond 2\^53/],
      ['{"a":-1e300}', 1, 6, /beyond 2\^53/],
      ['{"a":"\\ud800"}', 1, 7, /ud800/],
      ['{"a":"\\udc00\\ud800"}', 1, 7, /udc00/],
      ['{"a":"x\\u0000"}', 1, 8, /u0000/],
      ['{"a":"x\ty"}', 1, 8, /control character/],
      ['{"a":01}', 1, 6, /number/],
      ['{"a":1.}', 1, 6, /number/],
      ['{"a":"\\x"}', 1, 7, /escape/],
      ["<products/>", 1, 1, /text\/xml/],
      ['{"a":"', 1, 7, /inside a string/],
      ['{"a":', 1, 6, /before it is complete/],
      ["[".repeat(33), 1, 33, /deeper than the 32/],
    ];
  for (const [json, line, column, what] of refusals) {
    const error = assertThrows(
      () => parseTree(encoder.encode(json), undefined, jsonReaderFor(ROOT)),
      ServiceError,
    );
    assertEquals(error.code, "malformed_json", json);
    const [detail] = error.details;
    assertEquals([detail.line, detail.column], [line, column], json);
    assertMatch(detail.message, what);
  }
});

Deno.test("long names, and more values or attributes than allowed, are refused", () => {
  const refuse = (json: string, code: string) => {
    const blocks = [encoder.encode(json)];
    const handlers = { open() {}, text() {}, close() {} };
    const error = assertThrows(
      () => readXml(blocks, handlers, { begin: jsonReaderFor(ROOT) }),
      ServiceError,
    );
    assertEquals(error.details[0].code, "limit");
    assertMatch(error.details[0].message, new RegExp(`\\(${code}\\)`));
  };
  refuse(`{"${"a".repeat(600_000)}":1}`, "tag");
  refuse(`{"products":[${"1,".repeat(60_000)}1]}`, "elements");
  const names = Array.from({ length: 90 }, (_, n) => `"n${n}":"x"`).join();
  refuse(`{"products":[{"price":{${names}}}]}`, "attributes");
  const long = "x".repeat(600_000);
  refuse(`{"products":[{"price":{"amount":"${long}"}}]}`, "tag");
});

Deno.test("a long text with escapes is reported in chunks", () => {
  let text = "";
  let longest = 0;
  let field = "";
  const sent = "é\\n\\ud83d\\ude00 and so on ".repeat(100_000);
  const blocks = [
    encoder.encode(`{"products":[{"description":"${sent}"}]}`),
  ];
  readXml(blocks, {
    open: (name) => field = name,
    text(piece) {
      if (field !== "description") return;
      longest = Math.max(longest, piece.length);
      text += piece;
    },
    close() {},
  }, { begin: jsonReaderFor(ROOT) });
  assertEquals(text, JSON.parse(`"${sent}"`));
  assertEquals(longest < 300_000, true);
});

const TEXTS = [
  "",
  " ",
  "A",
  "B",
  "é😀",
  "12",
  "5.0",
  "-1",
  "x\ny",
  "<b>&amp;",
  "x".repeat(6_000),
  "active",
  "preorder",
  "2030-01-31",
  "4006381333931",
  "https://a.example/1.png",
  "https://a.example/2.png",
  "SEK",
  "g",
];

/** A random element with the members of its shape; values may be invalid. */
function randomNode(random: Random, shape: Shape): XmlNode | string {
  const text = () => TEXTS[random.below(TEXTS.length)];
  const { content, attributes = {}, plain } = shape;
  if (isText(content)) {
    if (shape.attributes === undefined) return text();
    const names = Object.keys(attributes).filter((_, n) =>
      n === 0 || random.below(4) === 0
    );
    if (plain && random.below(2) === 0) return text();
    return {
      "#text": text(),
      ...Object.fromEntries(
        names.map((name) => [`@${name}`, text().replace(/\n/g, "")]),
      ),
    };
  }
  return Object.fromEntries(
    content.filter(() => random.below(3) > 0).map(({ name, shape, max }) => [
      name,
      max === 1 ? randomNode(random, shape) : Array.from(
        { length: random.below(4) },
        () => randomNode(random, shape),
      ),
    ]),
  );
}

/** The content of a document, independent of its format. */
function contentOf({ rows, problems, moreProblems }: ProductsDocument) {
  return {
    rows: rows.map(({ span: _, ...row }) => row),
    problems: problems.map(({ message: _, ...problem }) => problem),
    moreProblems,
  };
}

Deno.test("a document in XML and in JSON has the same rows and problems", async () => {
  let problems = 0;
  for (let seed = 0; seed < 400; seed++) {
    const random = new Random(seed);
    const products = Array.from(
      { length: 1 + random.below(4) },
      () => element("product", randomNode(random, PRODUCT)),
    );
    // A product and its fields stand in one line in both formats.
    const oneLine = products.map((one) => one.replaceAll("\n", "&#10;"));
    const xml = `<products>\n${oneLine.join("\n")}\n</products>`;
    const write = jsonWriter(PRODUCT);
    const json = `{"products": [\n${
      oneLine.map((one) =>
        write(valueFromXml(encoder.encode(one), PRODUCT) as XmlNode)
      ).join(",\n")
    }\n]}`;
    const fromXml = decodeProducts([encoder.encode(xml)]);
    const bytes = encoder.encode(json);
    const cut = random.below(bytes.length);
    const fromJson = await decodeProductsInPieces(
      [bytes.subarray(0, cut), bytes.subarray(cut)],
      (piece) => piece(),
      { form: "json", begin: jsonReaderFor(ROOT) },
    );
    assertEquals(contentOf(fromJson), contentOf(fromXml), `seed ${seed}`);
    problems += fromXml.problems.length;
    for (const [n, { span }] of fromJson.rows.entries()) {
      const product = JSON.parse(json.slice(span.start, span.end));
      assertEquals(product, JSON.parse(json).products[n]);
    }
  }
  assertEquals(problems > 1_000, true);
});
