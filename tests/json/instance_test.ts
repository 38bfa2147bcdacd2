/** XML that is parsed to values for the JSON writer. */
import { assertEquals } from "@std/assert";
import { ANSWERS } from "../../src/contracts/answers.ts";
import { valueFromXml as valueFromXmlBytes } from "../../src/json/instance.ts";
import type { Shape } from "../../src/xml/shapes.ts";
import { DOCUMENTS } from "../../src/contracts/documents.ts";

function valueFromXml(xml: string, shape: Shape) {
  return valueFromXmlBytes(new TextEncoder().encode(xml), shape);
}

Deno.test("texts, numbers, attributes and lists are parsed", () => {
  assertEquals(
    valueFromXml(
      "<products><product><sku>A</sku><price currency='SEK'>1.50</price>" +
        "<quantity>2</quantity><brand/><images><image>u</image></images>" +
        "</product></products>",
      DOCUMENTS.products,
    ),
    {
      product: [{
        sku: "A",
        price: { "@currency": "SEK", "#text": "1.50" },
        quantity: 2,
        brand: "",
        images: { image: [{ "#text": "u" }] },
      }],
    },
  );
});

Deno.test("an element may have text instead of its elements", () => {
  assertEquals(
    valueFromXml(
      "<service><event_id>1</event_id><delivery>none</delivery></service>",
      { content: ANSWERS.event },
    ),
    { event_id: "1", delivery: "none" },
  );
});

Deno.test("any content becomes texts, objects, and arrays for repeated elements", () => {
  assertEquals(
    valueFromXml(
      "<event><data><a>1</a><b x='2'>t<c/></b><a/></data></event>",
      DOCUMENTS.delivered_event,
    ),
    { data: { a: ["1", ""], b: { "@x": "2", "#text": "t", c: "" } } },
  );
});

Deno.test("an empty time is null", () => {
  const keys = "<keys><key><label/><revoked_at/></key></keys>";
  assertEquals(
    valueFromXml(`<service>${keys}</service>`, { content: ANSWERS.keys }),
    { keys: { key: [{ label: "", revoked_at: null }] } },
  );
});
