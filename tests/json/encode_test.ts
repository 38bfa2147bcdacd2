/** JSON that is written according to the shapes of XML. */
import "../support/built.ts";
import { assertEquals } from "@std/assert";
import { ANSWERS } from "../../src/contracts/answers.ts";
import { jsonForm } from "../../src/contracts/answer_form.ts";
import { ENDPOINTS } from "../../src/http/routes.ts";
import { jsonWriter } from "../../src/json/encode.ts";
import { joinBlocks } from "../../src/lib/blocks.ts";
import type { EncodedBlocks } from "../../src/xml/encode.ts";
import {
  type Child,
  COUNT,
  elements,
  isText,
  listedIn,
  many,
  maybe,
  one,
  STRING,
  type TextForm,
  TIME_OR_EMPTY,
} from "../../src/xml/shapes.ts";

Deno.test("a text is quoted without characters that XML does not allow", () => {
  const write = jsonWriter(elements(one("a", STRING)));
  for (
    const [text, written] of [
      ["", ""],
      ['"\\/', '"\\/'],
      ["\t\r\n\u2028é😀", "\t\r\n\u2028é😀"],
      ["a\u0000b\ud800c\uffffd", "abcd"],
      ["__proto__", "__proto__"],
    ]
  ) {
    assertEquals(JSON.parse(write({ a: text })), { a: written });
  }
});

Deno.test("null is written as null for an optional field, else as an empty string", () => {
  const write = jsonWriter(elements(one("a", STRING), one("b", TIME_OR_EMPTY)));
  assertEquals(write({ a: null, b: null }), '{"a":"","b":null}');
});

Deno.test("the other children of a list become members next to its array", () => {
  const list = elements(many("item", COUNT), maybe("more", COUNT));
  const write = jsonWriter(elements(one("list", list)));
  assertEquals(
    write({ list: { item: [1, 2], more: 3 } }),
    '{"list":[1,2],"more":3}',
  );
  assertEquals(write({ list: { item: [] } }), '{"list":[]}');
});

Deno.test("a long list is written in blocks", () => {
  const form = jsonForm(["products"]);
  const list = form.list<{ id: string; sku: string }>("product", Infinity);
  const values = Array.from(
    { length: 3_000 },
    (_, n) => ({ id: "1", sku: `${n} é 😀 "` }),
  );
  for (const value of values) list.add(value);
  const document = form.document({ products: { product: list }, next: "a" });
  const text = new TextDecoder().decode(joinBlocks(document as EncodedBlocks));
  assertEquals(JSON.parse(text), { products: values, next: "a" });
  assertEquals(list.bytes, new TextEncoder().encode(text).length - 26);
});

/** Names of the members of an object with these elements. */
function memberNames(children: readonly Child[]): string[] {
  return children.flatMap(({ name, shape, max }) => {
    const listed = max === 1 ? listedIn(shape) : null;
    return [name, ...(listed === null ? [] : memberNames(listed.others))];
  });
}

/** Checks that the members of each object have different names. */
function checkNames(children: readonly Child[], place: string): void {
  const names = memberNames(children);
  assertEquals(new Set(names).size, names.length, `${place}: ${names}`);
  for (const { name, shape } of children) {
    const attributes = Object.keys(shape.attributes ?? {});
    if (isText(shape.content)) {
      const textName = shape.textName ?? "value";
      assertEquals(attributes.includes(textName), false, `${place}/${name}`);
      continue;
    }
    for (const attribute of attributes) {
      assertEquals(
        memberNames(shape.content).includes(attribute),
        false,
        `${place}/${name}/${attribute}`,
      );
    }
    checkNames(shape.content, `${place}/${name}`);
  }
}

Deno.test("no two members of an answer have the same name", () => {
  for (const [name, children] of Object.entries(ANSWERS)) {
    checkNames(children, name);
  }
  for (const { answers, operation } of ENDPOINTS) {
    if (!Array.isArray(answers)) continue;
    const byName = new Map<string, unknown>();
    for (
      const { name, shape } of answers.flatMap((one): readonly Child[] =>
        ANSWERS[one as keyof typeof ANSWERS]
      )
    ) {
      assertEquals(byName.get(name) ?? shape, shape, `${operation}: ${name}`);
      byName.set(name, shape);
    }
  }
});

Deno.test("a text is written without an object if it has no attributes and may be plain", () => {
  const content = [{
    ...maybe("quantity", COUNT),
    shape: {
      content: COUNT.content,
      attributes: { expected: { form: COUNT.content as TextForm } },
      textName: "value",
      plain: true as const,
    },
  }];
  const write = jsonWriter({ content });
  assertEquals(write({ quantity: 12 }), '{"quantity":12}');
  assertEquals(
    write({ quantity: { "@expected": 3, "#text": 12 } }),
    '{"quantity":{"expected":3,"value":12}}',
  );
});
