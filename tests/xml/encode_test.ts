import { stringify } from "@libs/xml/stringify";
import { assert, assertEquals } from "@std/assert";
import { joinBlocks } from "../../src/lib/blocks.ts";
import {
  element,
  ElementList,
  serviceDocument,
  type XmlNode,
} from "../../src/xml/encode.ts";
import { Random } from "../support/random.ts";

Deno.test("a document has a declaration and the root service", () => {
  assertEquals(
    serviceDocument({ success: true }),
    '<?xml version="1.0" encoding="UTF-8"?><service><success>true</success></service>',
  );
});

Deno.test("a long list is written as an array of UTF-8 blocks", () => {
  const values = Array.from({ length: 3_000 }, (_, n) => `${n} é € 😀 & 0`);
  const list = new ElementList(Infinity, (one) => element("v", one));
  for (const value of values) list.add(value);
  const short = new ElementList(Infinity, (one) => element("w", one));
  short.add("1");
  const document = (v: ElementList | string[], w: ElementList | string[]) =>
    serviceDocument({ a: "ä", lists: { v, w }, more: { v }, z: 1 });
  const encoded = document(list, short);
  assert(typeof encoded !== "string");
  const expected = document(values, ["1"]);
  assertEquals(new TextDecoder().decode(joinBlocks(encoded)), expected);
  assertEquals(element("r", { v: list }), element("r", { v: values }));
});

// deno-fmt-ignore
const WRITTEN: [string, XmlNode, string][] = [
  ["markup characters become references", { a: `<b> & "c" 'd'` }, "<r><a>&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;</a></r>"],
  ["white space stays", { a: " \n\tx " }, "<r><a> \n\tx </a></r>"],
  ["a carriage return is a reference", { a: "1\r\n2" }, "<r><a>1&#13;\n2</a></r>"],
  ["white space in an attribute is a reference", { "@a": "1\n2\t3\r4 5" }, '<r a="1&#10;2&#9;3&#13;4 5"/>'],
  ["characters that XML cannot carry are dropped", { a: "1\u00002\ufffe3\ud8004\udc005" }, "<r><a>12345</a></r>"],
  ["characters beyond 16 bits stay", { a: "😀" }, "<r><a>😀</a></r>"],
  ["undefined members are dropped", { a: undefined, "@b": undefined, c: 1 }, "<r><c>1</c></r>"],
  ["empty values become empty elements", { a: null, b: "", c: {}, d: [] }, "<r><a/><b/><c/></r>"],
  ["numbers and booleans are written as text", { a: 0, b: false, "@c": 1 }, '<r c="1"><a>0</a><b>false</b></r>'],
  ["each item of a list becomes an element", { a: [1, { b: 2 }, ""] }, "<r><a>1</a><a><b>2</b></a><a/></r>"],
  ["an element has attributes and text", { a: { "@b": "c", "#text": "d" } }, '<r><a b="c">d</a></r>'],
];

for (const [name, node, text] of WRITTEN) {
  Deno.test(`written XML: ${name}`, () => {
    assertEquals(element("r", node), text);
  });
}

Deno.test("XML is written as by @libs/xml, byte for byte", () => {
  const random = new Random(20_261_121);
  for (let n = 0; n < 2_000; n++) {
    const node = randomNode(random, 3);
    const expected = stringify({ r: node }, {
      format: { indent: "", breakline: 0 },
      replace: { entities: true },
    });
    assertEquals(element("r", node), expected);
  }
});

const TEXTS = [
  "",
  "x",
  " two words ",
  `<a href="b">&amp;</a>`,
  "it's",
  "Åäö€😀",
];

function randomNode(random: Random, depth: number): XmlNode {
  const node: XmlNode = {};
  for (let n = random.below(3); n > 0; n--) {
    node[`@a${n}`] = randomText(random);
  }
  if (depth === 0 || random.below(3) === 0) {
    node["#text"] = randomText(random);
    return node;
  }
  for (let n = random.below(4); n > 0; n--) {
    node[`e${n}`] = random.below(2) === 0
      ? randomValue(random, depth)
      : Array.from({ length: random.below(3) + 1 }, () =>
        randomValue(random, depth));
  }
  return node;
}

function randomValue(random: Random, depth: number) {
  switch (random.below(4)) {
    case 0:
      return random.below(1_000_000);
    case 1:
      return random.below(2) === 0;
    case 2:
      return randomText(random);
    default:
      return randomNode(random, depth - 1);
  }
}

function randomText(random: Random): string {
  return TEXTS[random.below(TEXTS.length)];
}
