/** What the client writes and reads is what the interface says. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { decodeElements, parseXml } from "../../src/client/decode.ts";
import { productsDocument } from "../../src/client/encode.ts";
import { OPERATIONS } from "../../src/client/operations.ts";
import { type SentProduct, SERVICE_ERROR } from "../../src/client/types.ts";
import { ANSWER_EXAMPLES } from "../../src/contracts/examples.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { parseTree, type XmlElement } from "../../src/xml/decode.ts";
import { clientModules, storedModule } from "../contracts/written_client.ts";

Deno.test("the client's operations are those of the service", async () => {
  for (const [name, text] of Object.entries(await clientModules())) {
    const isCurrent = text === await storedModule(name);
    assert(isCurrent, `src/client/${name}: run \`deno task client\``);
  }
});

/** The texts and values of attributes of a document. */
function valuesIn({ children, attributes, text }: XmlElement): string[] {
  const own = children.length === 0 ? [text] : [];
  return [...own, ...Object.values(attributes), ...children.flatMap(valuesIn)];
}

/** The same of what was read from it; null was an empty element. */
function valuesOf(read: unknown): string[] {
  if (read === null) return [""];
  if (typeof read !== "object") return [String(read)];
  return Object.values(read as object).flatMap(valuesOf);
}

Deno.test("nothing of an answer is lost", () => {
  const answers = ENDPOINTS.flatMap(({ operation, answers }) => {
    const { answer } = OPERATIONS[operation as keyof typeof OPERATIONS];
    return Array.isArray(answers) && typeof answer === "object"
      ? answers.map((name) => [name, answer!] as const)
      : [];
  });
  for (
    const [name, shapes] of [
      ...answers,
      ["error", { error: SERVICE_ERROR }] as const,
    ]
  ) {
    const example = ANSWER_EXAMPLES[name as keyof typeof ANSWER_EXAMPLES];
    const written = valuesIn(parseTree(new TextEncoder().encode(example)));
    const read = valuesOf(decodeElements(parseXml(example)!, shapes));
    if (name === "events") continue; // their data is read as it is written
    assertEquals(read.toSorted(), written.toSorted(), name);
  }
});

Deno.test("a document is written in the terms of the interface", () => {
  const product: SentProduct = {
    id: "1",
    title: 'a "b" <c> & \r',
    price: { amount: "1.50", currency: "SEK" },
    quantity: 0,
    brand: null,
    categories: [],
    attributes: [{ name: "a\tb\n", value: "c" }],
    images: [{ url: "https://a.example/?a&b" }],
  };
  assertEquals(
    productsDocument([product]),
    "<products><product><id>1</id>" +
      "<title>a &quot;b&quot; &lt;c&gt; &amp; &#13;</title>" +
      '<price currency="SEK">1.50</price><quantity>0</quantity><brand/>' +
      "<categories/>" +
      '<attributes><attribute name="a&#9;b&#10;">c</attribute></attributes>' +
      "<images><image>https://a.example/?a&amp;b</image></images>" +
      "</product></products>",
  );
});

const WRONG: readonly (readonly [unknown, string])[] = [
  [{ sku: "A", colour: "red" }, "products[0].colour is not known"],
  [{ sku: "A\u0001" }, "products[0].sku holds a character"],
  [{ sku: "A\ud800" }, "products[0].sku holds a character"],
  [{ sku: "A", price: "1" }, "products[0].price is no object"],
  [{ sku: {} }, "products[0].sku is no text"],
  [{ sku: "A", categories: "x" }, "products[0].categories is no array"],
  [
    { sku: "A", images: [{ href: "x", src: "x" }] },
    "products[0].images[0].src is not known",
  ],
];

for (const [product, message] of WRONG) {
  Deno.test(`what cannot be sent is told: ${message}`, () => {
    assertThrows(
      () => productsDocument([product as SentProduct]),
      TypeError,
      message,
    );
  });
}
