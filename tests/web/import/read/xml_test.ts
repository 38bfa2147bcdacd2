/** The page's reader of XML documents. */
import { assertEquals } from "@std/assert";
import { valueFromXml } from "../../../../src/json/instance.ts";
import { jsonWriter } from "../../../../src/json/encode.ts";
import { DOCUMENTS } from "../../../../src/contracts/documents.ts";
import { tableOfFeed } from "../../../../src/web/import/read/feed.ts";
import { parseXml, productsIn } from "../../../../src/web/import/read/xml.ts";
import { elements, one } from "../../../../src/xml/shapes.ts";
import { parseTree, type XmlElement } from "../../../../src/xml/decode.ts";
import type { XmlNode } from "../../../../src/xml/encode.ts";

const TEXT = `<?xml version="1.0"?><!-- <a> --><r a="1 &lt; 2" b='"'>
  <x:a>t &amp; <![CDATA[<b>&amp;]]>&#13;&#x1F600;<!-- no --></x:a><e/>
  <l><i>1</i><i/><i>2</i></l></r>`;

/** Its names, attributes, texts of leaves and children. */
function outline(
  element: Pick<XmlElement, "name" | "text"> & {
    attributes: Readonly<Record<string, string>>;
    children: readonly unknown[];
  },
): unknown {
  const { name, attributes, text, children } = element;
  return [
    name,
    { ...attributes },
    children.length === 0 ? text : "",
    children.map((child) => outline(child as XmlElement)),
  ];
}

Deno.test("the page reads a document as the service does", () => {
  const tree = parseTree(
    new TextEncoder().encode(TEXT.replace("<r", '<r xmlns:x="u"')),
  );
  const { "xmlns:x": _, ...attributes } = tree.attributes;
  assertEquals(outline(parseXml(TEXT)!), outline({ ...tree, attributes }));
});

Deno.test("a truncated feed is no table", () => {
  const feed = '<rss xmlns:g="x"><channel><item><g:id>1</g:id></item>';
  assertEquals(tableOfFeed(feed), null);
  const whole = tableOfFeed(`${feed}</channel></rss>`);
  assertEquals([whole?.header, whole?.rows], [["id"], [["1"]]]);
});

Deno.test("products in XML and in JSON are read alike", () => {
  const xml = `<products><product><sku>A &amp; B</sku><title>Mug</title>
    <price currency="SEK">1.50</price><quantity>3</quantity><brand/>
    <weight unit="g">5</weight>
    <categories><category>Home</category><category>Bath</category></categories>
    <attributes><attribute name="color">Blue</attribute></attributes>
    <images><image alt="front">https://a.example/1.png</image></images>
  </product><product><id>1</id><categories/></product></products>`;
  const shape = DOCUMENTS.products;
  const products = valueFromXml(new TextEncoder().encode(xml), shape);
  const json = jsonWriter(elements(one("products", shape)))(
    { products } as XmlNode,
  );
  const read = (text: string) => productsIn(text).map(outline);
  assertEquals(read(json), read(xml));
  assertEquals(read(xml).length, 2);
});
