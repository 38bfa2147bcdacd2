/** The Big List of Naughty Strings, in every text that a seller can send. */
import { assert, assertEquals } from "@std/assert";
import { XmlDocument } from "libxml2-wasm";
import type { Product } from "../../src/catalogue/product.ts";
import {
  findBySkuOrId,
  findProducts,
} from "../../src/catalogue/product_rows.ts";
import { boot, codeOf, detailsOf, product } from "../support/app.ts";
import { withCorpusJson } from "../support/corpus.ts";
import { raw, statusOf } from "../support/raw.ts";
import { escapeAttribute, escapeXml } from "../support/xml.ts";
import { bothEngines } from "../support/engine.ts";
import { bothForms, contract } from "../support/forms.ts";

/** How many strings are tested at the same time. */
const AT_ONCE = 32;

/** Characters that XML 1.0 cannot represent. */
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

withCorpusJson<string[]>("strings/blns.json", register);

/** Trims white space of XML at both ends. */
function trimmed(text: string): string {
  return text.replace(/^[ \t\r\n]+/, "").replace(/[ \t\r\n]+$/, "");
}

/** `field code` of the problem of a text in a one-line field. */
function problem(field: string, text: string, max: number, needed = false) {
  const value = trimmed(text);
  if (value === "") return needed ? [`${field} required`] : [];
  if (/[\p{Cc}\ufffe\uffff]/u.test(value)) {
    return [`${field} not_one_line`];
  }
  return [...value].length > max ? [`${field} too_long`] : [];
}

function problems(text: string): string[] {
  return [
    ...problem("title", text, 150, true),
    ...problem("brand", text, 100),
    ...problem("categories/category[1]", text, 255, true),
    ...problem("attributes/attribute[1]/@name", nameOf(text), 50, true),
    ...problem("attributes/attribute[1]", text, 255, true),
  ].sort();
}

/** The text itself, if it is short enough for an attribute's name. */
function nameOf(text: string): string {
  return [...trimmed(text)].length > 50 ? "name" : text;
}

function naughtyProduct(text: string, n: number): string {
  const escaped = escapeXml(text);
  return `<product><sku>S-${n}</sku><title>${escaped}</title>` +
    `<description>${escaped}</description>` +
    `<price currency="SEK">1</price><quantity>1</quantity>` +
    `<brand>${escaped}</brand>` +
    `<categories><category>${escaped}</category></categories>` +
    `<attributes><attribute name="${
      escapeAttribute(nameOf(text))
    }">${escaped}` +
    "</attribute></attributes></product>";
}

function expected(text: string): Partial<Product> {
  const value = trimmed(text);
  return {
    title: value,
    description: value === "" ? null : text,
    brand: value,
    categories: [value],
    attributes: [{ name: trimmed(nameOf(text)), value }],
  };
}

function register(strings: readonly string[]): void {
  const sendable = strings.filter((text) => !FORBIDDEN.test(text));

  contract.test("naughty strings are read back code point for code point, or are refused", async () => {
    await using app = await boot();
    let stored = 0;
    for (let start = 0; start < sendable.length; start += 50) {
      const part = sendable.slice(start, start + 50);
      const refused = await app.upload(part.map(naughtyProduct).join(""));
      const found = part.map((): string[] => []);
      if (refused.status !== 200) {
        assertEquals(refused.status, 422, refused.text);
        for (const { product, field, code } of detailsOf(refused)) {
          found[Number(product) - 1].push(`${field} ${code}`);
        }
      }
      assertEquals(found.map((one) => one.sort()), part.map(problems));
      const good = part.filter((text) => problems(text).length === 0);
      const answer = await app.upload(good.map(naughtyProduct).join(""));
      assertEquals(answer.status, 200, answer.text);
      const products = await app.app.db.read((sql) =>
        findProducts(sql, app.sellerNo, { skus: good.map((_, n) => `S-${n}`) })
      );
      for (const [n, text] of good.entries()) {
        const { title, description, brand, categories, attributes } = products
          .find(({ sku }) => sku === `S-${n}`)!;
        assertEquals(
          { title, description, brand, categories, attributes },
          expected(text),
        );
        stored++;
      }
    }
    assert(stored > 400, String(stored));
  });

  bothForms.test("naughty strings read out through an answer are the same", async () => {
    await using app = await boot();
    const good = sendable.filter((text) => problems(text).length === 0);
    for (let start = 0; start < good.length; start += 250) {
      const part = good.slice(start, start + 250);
      const answer = await app.upload(
        part.map((text, n) => naughtyProduct(text, start + n)).join(""),
      );
      assertEquals(answer.status, 200, answer.text);
    }
    await Promise.all(good.map(async (text, n) => {
      const answer = await app.call(`/seller_api/products/S-${n}`);
      using document = XmlDocument.fromString(answer.text);
      const at = (path: string) => document.get(`//product/${path}`)?.content;
      assertEquals(at("title"), trimmed(text));
      assertEquals(at("description"), text);
      assertEquals(at("attributes/attribute"), trimmed(text));
      assertEquals(at("attributes/attribute/@name"), trimmed(nameOf(text)));
    }));
  });

  Deno.test("characters that XML cannot carry are malformed, with their line", async () => {
    await using app = await boot();
    const forbidden = strings.filter((text) => FORBIDDEN.test(text));
    assertEquals(forbidden.length, 6);
    for (const text of forbidden) {
      const answer = await app.upload(`\n\n${naughtyProduct(text, 0)}`);
      assertEquals([answer.status, codeOf(answer)], [400, "malformed_xml"]);
      const lines = text.slice(0, text.search(FORBIDDEN)).split("\n").length;
      assertEquals(detailsOf(answer)[0].line, String(2 + lines));
    }
  });

  bothEngines.test("a naughty string is a brand's and an SKU's new value, or refused", async () => {
    await using app = await boot();
    const put = async (id: string, attribute: string, text: string) =>
      statusOf(
        await raw(
          app.url,
          `PUT /seller_api/products/${id}/attribute/${attribute}/${
            encodeURIComponent(text)
          } HTTP/1.1\r\nHost: x\r\nX-Service-Auth: ${app.key}\r\n` +
            "Connection: close\r\n\r\n",
        ),
      );
    const stored = async (skuOrId: string) =>
      (await app.app.db.read((sql) =>
        findBySkuOrId(sql, app.sellerNo, skuOrId)
      ))!;
    const tryText = async (text: string, n: number) => {
      const { id } = await stored(`A-${n}`);
      const value = trimmed(text);
      const isBrand = problem("brand", text, 100).length === 0;
      assertEquals(await put(id, "brand", text), isBrand ? 204 : 422, text);
      if (isBrand) assertEquals((await stored(id)).brand, value || null);
      const isSku = problem("sku", text, 64, true).length === 0 &&
        value !== "." && value !== "..";
      assertEquals(await put(id, "sku", text), isSku ? 204 : 422, text);
      if (isSku) assertEquals((await stored(id)).sku, value);
    };
    // Without duplicates, because two products cannot have the same SKU.
    const texts = [...new Set(strings)];
    for (let start = 0; start < texts.length; start += AT_ONCE) {
      const part = texts.slice(start, start + AT_ONCE);
      const products = part.map((_, n) => product(`A-${start + n}`));
      await app.upload(products.join(""));
      await Promise.all(part.map((text, n) => tryText(text, start + n)));
    }
    assertEquals(app.log.filter(({ status }) => Number(status) >= 500), []);
  });
}
