/** Rules that hold for any bytes that the decoder reads. */
import { assert, assertEquals } from "@std/assert";
import { ParseOption, XmlDocument } from "libxml2-wasm";
import { ServiceError } from "../../src/lib/errors.ts";
import { SaxesParser } from "saxes";
import { readXml } from "../../src/xml/decode.ts";
import type { XmlHandlers } from "../../src/xml/handlers.ts";
import { WINDOW } from "../../src/xml/source.ts";
import {
  decodeProducts,
  type ProductsDocument,
} from "../../src/catalogue/document.ts";
import { PRODUCTS_LIMIT } from "../../src/catalogue/fields.ts";
import type { Random } from "../support/random.ts";
import { generateDocument, generateText, mutate, spell } from "./documents.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** The document, or the error; any other exception is a failure. */
export function decode(bytes: Uint8Array): ProductsDocument | ServiceError {
  return catchRefusal(() => decodeProducts([bytes]));
}

/** All mistakes of a generated document are reported, at their places. */
export function checkMistakes(random: Random): void {
  const { xml, mistakes } = generateDocument(random);
  const document = decode(encode(xml));
  assert(!(document instanceof ServiceError), xml);
  assertEquals(
    document.problems.map(({ product, line, field, code }) => ({
      product,
      line,
      field,
      code,
    })),
    mistakes,
    xml,
  );
  for (const { product, sku } of document.problems) {
    assertEquals(sku, `S-${product}`);
  }
}

/** A text has the same meaning in every spelling. */
export function checkSpelling(random: Random): void {
  const text = generateText(random);
  const xml = "<products><product><description>" + spell(random, text) +
    "</description></product></products>";
  const document = decode(encode(xml));
  assert(!(document instanceof ServiceError), xml);
  const expected = text.trim() === "" ? null : text;
  assertEquals(document.rows[0].patch.description, expected, xml);
}

/** A mutated document is accepted, or refused with a position in it. */
export function checkMutated(random: Random): void {
  const bytes = mutate(random, encode(generateDocument(random).xml));
  const document = decode(bytes);
  const text = new TextDecoder().decode(bytes);
  if (document instanceof ServiceError) checkRefusal(document, text);
  else checkRows(document, text);
  checkAgainstLibxml(document, bytes, text);
}

/** Valid and mutated documents are read as saxes reads them. */
export function checkGenerated(random: Random): void {
  const { xml } = generateDocument(random);
  checkAlike(encode(xml));
  checkAlike(mutate(random, encode(xml)));
}

/**
 * Throws if the service's reader and saxes report different events, or if only
 * one of them refuses the document.
 */
export function checkAlike(bytes: Uint8Array): void {
  const text = new TextDecoder().decode(bytes);
  const read = recorder();
  const refusal = catchRefusal(() => readXml([bytes], read));
  if (!(refusal instanceof ServiceError)) {
    assertEquals(read.events, readBySaxes(bytes), text);
  } else if (!isAgainstPolicy(refusal)) {
    assertEquals(
      readBySaxes(bytes),
      null,
      `${refusal.details[0].message}${text}`,
    );
  }
}

/** Documents that are well-formed but refused. */
function isAgainstPolicy({ details: [{ code, message }] }: ServiceError) {
  return code === "limit" ||
    /DOCTYPE|processing instruction|names the encoding|byte order mark/.test(
      message,
    );
}

/** The events of saxes for a document; null if it is not well-formed. */
function readBySaxes(bytes: Uint8Array): unknown[][] | null {
  const { events, ...handlers } = recorder();
  const parser = new SaxesParser({
    defaultXMLVersion: "1.0",
    forceXMLVersion: true,
  });
  let depth = 0;
  const text = (piece: string) => depth > 0 && handlers.text(piece);
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", ({ name, attributes }) => {
    depth++;
    handlers.open(name, attributes as Record<string, string>, 1);
  });
  parser.on("text", text);
  parser.on("cdata", text);
  parser.on("closetag", ({ name }) => {
    depth--;
    handlers.close(name);
  });
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    parser.write(decoder.decode(bytes)).close();
    return events;
  } catch {
    return null;
  }
}

/** Records events; joins adjacent texts. */
export function recorder(): XmlHandlers & { events: unknown[][] } {
  const events: unknown[][] = [];
  return {
    events,
    open: (name, attributes) => events.push(["open", name, { ...attributes }]),
    text: (text) => {
      const last = events.at(-1);
      if (last?.[0] === "text") last[1] = `${last[1]}${text}`;
      else if (text !== "") events.push(["text", text]);
    },
    close: (name) => events.push(["close", name]),
  };
}

function catchRefusal<T>(read: () => T): T | ServiceError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** Splitting a long document into pieces does not change the result. */
export function checkPieces(random: Random): void {
  const { xml } = generateDocument(random);
  const text = random.below(2) === 0
    ? xml
    : new TextDecoder().decode(mutate(random, encode(xml)));
  const start = /^(<\?xml version='1.0'\?>)?<products>/.exec(text)?.[0].length;
  if (start === undefined) return;
  const cut = start + random.below(text.length - start + 1);
  const padding = " ".repeat(WINDOW - cut);
  const padded = text.slice(0, start) + padding + text.slice(start);
  assertEquals(
    withoutPadding(decode(encode(padded)), padding.length),
    withoutPadding(decode(encode(text)), 0),
    text,
  );
}

/** The padding shifts the content of the first line, and each product. */
function withoutPadding(
  document: ProductsDocument | ServiceError,
  padding: number,
) {
  if (!(document instanceof ServiceError)) {
    for (const { span } of document.rows) {
      span.start -= padding;
      span.end -= padding;
    }
    return document;
  }
  const { code: error, details: [{ column, ...detail }] } = document;
  return { error, ...detail, column: detail.line === 1 ? null : column };
}

function checkRefusal({ code, details }: ServiceError, text: string): void {
  assert(["malformed_xml", "record_invalid"].includes(code), code);
  assertEquals(details.length, 1, text);
  const [{ line, column = 1, message }] = details;
  const lines = text.split(/\r\n|\r|\n/);
  assert(line! >= 1 && line! <= lines.length, `line ${line}: ${text}`);
  assert(column >= 1, `column ${column}: ${text}`);
  assert(
    column <= [...lines[line! - 1]].length + 2,
    `column ${column}: ${text}`,
  );
  assert(/^[A-Z].*\.$/s.test(message) && message.length < 600, message);
}

function checkRows({ rows, problems }: ProductsDocument, text: string): void {
  assert(rows.length <= PRODUCTS_LIMIT);
  const opened = text.match(/<product[\s/>]/g) ?? [];
  assert(rows.length <= opened.length, text);
  const lines = text.split(/\r\n|\r|\n/).length;
  for (const { line, field, message } of problems) {
    assert(line! >= 1 && line! <= lines && field !== undefined, text);
    assert(message.length < 600, message);
  }
}

/** Both readers agree whether a document is well-formed. */
function checkAgainstLibxml(
  document: ProductsDocument | ServiceError,
  bytes: Uint8Array,
  text: string,
): void {
  // What the service refuses although XML allows it.
  if (/<!DOCTYPE|<\?/.test(text)) return;
  const isError = document instanceof ServiceError;
  // Another root ends the reading, whatever follows it.
  if (isError && document.code !== "malformed_xml") return;
  const judgement = judgeByLibxml(bytes);
  if (judgement === "namespaces") return;
  assertEquals(isError ? "malformed" : "well-formed", judgement, text);
}

/**
 * After a mistake in namespaces, libxml2 does not report every other mistake.
 */
function judgeByLibxml(
  bytes: Uint8Array,
): "well-formed" | "malformed" | "namespaces" {
  try {
    XmlDocument.fromBuffer(bytes, { option: ParseOption.XML_PARSE_NONET })
      .dispose();
    return "well-formed";
  } catch (error) {
    const lines = (error as Error).message.trim().split("\n");
    return lines.every((line) =>
        /^(Namespace |xmlns|Failed to parse QName)/.test(line)
      )
      ? "namespaces"
      : "malformed";
  }
}
