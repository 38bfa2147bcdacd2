/** The plain reader: what it reads, and what it leaves to the parser. */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { ServiceError } from "../../src/lib/errors.ts";
import { readXml } from "../../src/xml/decode.ts";
import { XML_LIMITS, type XmlHandlers } from "../../src/xml/handlers.ts";
import { checkPlain, decode, readPlainly, recorder } from "../fuzz/decoder.ts";
import { generateDocument } from "../fuzz/documents.ts";
import { Random } from "../support/random.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** What integrators' programs write. */
const READ: readonly string[] = [
  "<a/>",
  "\ufeff<a />",
  '<?xml version="1.0" encoding="UTF-8"?>\n<!-- x --><a/>\n<!-- y -->\n',
  "<?xml version='1.0' encoding='utf-8'?><a/>",
  '<?xml version="1.0" encoding="utf-8" standalone="yes" ?>\r\n<a></a>',
  "<a\n>\r\n<b\n x='1'\n/>\r<c\n\n/><d/></a \n>",
  "<a>\r\n\tx &amp; y&lt;&gt;&quot;&apos;&#38;&#x26;&#13;&#x1F600;</a>",
  "<a>x<!-- - -->y<![CDATA[<&]] ]]]]><![CDATA[>]]><![CDATA[]]> z</a>",
  "<a>]] > <b>x</b>\u0085\u2028\u{10FFFF}\ufffd\u00e9</a>",
  `<a b='"' c="it's &amp; > " xmlns:d="x" d:e=''/>`,
  "<a:b-c.d_1><_/></a:b-c.d_1>",
  "<a\tb='1'\t/>",
  "<!--><!DOCTYPE a>--><a/>",
  "<a constructor='' toString=''/>",
];

/** Wrong, or seldom enough for the parser. */
const LEFT: readonly string[] = [
  "",
  " \n",
  "x",
  "<",
  "<a",
  "<a>",
  "<a/",
  "<a/><b/>",
  "<a/>x",
  "x<a/>",
  "<a></b>",
  "<a></ab>",
  "<a></a",
  "<a></a x>",
  "</a>",
  "a/>",
  "<-a/>",
  "<a/ >",
  "<a>< /a>",
  "<a>&</a>",
  "<a>&x;</a>",
  "<a>&#0;</a>",
  "<a>&#xD800;</a>",
  "<a>&#xFFFE;</a>",
  "<a>&#1114112;</a>",
  "<a>&amp</a>",
  "<a>&ampx</a>",
  "<a>&amp ;</a>",
  "<a>&#65x;</a>",
  "<a>&x#65;</a>",
  "<a>&#X41;</a>",
  "<a>&#xDFFF;</a>",
  "<a>]]></a>",
  "<a>\u0001</a>",
  "<a>\uffff</a>",
  "<a b='1' b='2'/>",
  "<a b='1'c='2'/>",
  "<a b=1/>",
  "<a b=x1x/>",
  '<a b "1"/>',
  "<a b/>",
  "<a b='<'/>",
  "<a b='&'/>",
  "<a b='\n'/>",
  "<a b='\t'/>",
  "<a b='/>",
  "<1/>",
  "<é/>",
  "<a><!-- -- --></a>",
  "<a><!-- --->",
  "<a><!-- x</a>",
  "<a><![CDATA[x</a>",
  "<![CDATA[x]]><a/>",
  "<a/><![CDATA[x]]>",
  "<!DOCTYPE a><a/>",
  "<a><?x?></a>",
  " <?xml version='1.0'?><a/>",
  "<?xml version='1.1'?><a/>",
  "<?xml version='1.0\"?><a/>",
  "<?xml version='1.0' encoding='utf-8\"?><a/>",
  "<?xml version='1.0' standalone='maybe'?><a/>",
  "012345678901234567890<a><!--<?xml version='1.0'?>--></a>",
  "<?xml version='1.0' encoding='iso-8859-1'?><a/>",
  "\ufeff\ufeff<a/>",
];

Deno.test("plain documents are read as the parser reads them", () => {
  for (const document of READ) {
    const label = JSON.stringify(document);
    assert(readPlainly(encode(document)) !== null, label);
  }
});

Deno.test("everything else is left to the parser", () => {
  for (const document of LEFT) {
    const label = JSON.stringify(document);
    assertEquals(readPlainly(encode(document)), null, label);
  }
});

Deno.test("characters that no document may hold are left to the parser", () => {
  for (let code = 0; code < 0x10000; code++) {
    const isSurrogate = code >= 0xd800 && code <= 0xdfff;
    const isAllowed = code >= 0x20 && code < 0xfffe && !isSurrogate ||
      [9, 10, 13].includes(code);
    // The others are too many to ask the parser for each.
    if (isAllowed && code > 0x7f && code % 997 !== 0) continue;
    const reference = readPlainly(encode(`<a>&#${code};</a>`));
    assertEquals(reference !== null, isAllowed, `reference ${code}`);
    if (isSurrogate || code === 0x26 || code === 0x3c) continue;
    const document = `<a>${String.fromCharCode(code)}</a>`;
    const character = readPlainly(encode(document));
    assertEquals(character !== null, isAllowed, `character ${code}`);
  }
});

Deno.test("a handler is told only what the parser would tell", () => {
  for (
    const [document, code] of [
      ["<x/ >", "malformed_xml"],
      ["<x", "malformed_xml"],
      ["<x y=1>", "malformed_xml"],
      // The root is refused before the rest is looked at.
      ["<x>&", "record_invalid"],
      ["<x></y>", "record_invalid"],
    ]
  ) {
    const error = decode(encode(document));
    assert(error instanceof ServiceError, document);
    assertEquals(error.code, code, document);
    assertEquals(readPlainly(encode(document)), null, document);
  }
});

Deno.test("the parser begins anew where a document is not plain", () => {
  const told = (document: string) => {
    const begun: XmlHandlers[] = [];
    const read = readXml(encode(document), () => {
      const handlers = recorder();
      begun.push(handlers);
      return handlers;
    });
    return { events: read.events, begun: begun.length };
  };
  const plain = told("<a><b/>x</a>");
  assertEquals(plain.begun, 1);
  const other = told("<?xml version = '1.0'?><a><b/>x</a>");
  assertEquals(other, { events: plain.events, begun: 2 });
});

Deno.test("limits are the parser's", () => {
  const { depth, attributes, elements } = XML_LIMITS;
  const nested = (n: number) => "<a>".repeat(n) + "</a>".repeat(n);
  const attributed = (n: number) =>
    `<a${Array.from({ length: n }, (_, i) => ` x${i}=''`).join("")}/>`;
  const many = (n: number) => `<a>${"<b/>".repeat(n - 1)}</a>`;
  for (
    const [make, limit] of [
      [nested, depth],
      [attributed, attributes],
      [many, elements],
    ] as const
  ) {
    assert(readPlainly(encode(make(limit))) !== null, String(limit));
    assertEquals(readPlainly(encode(make(limit + 1))), null);
  }
});

Deno.test("generated documents, sound and mutated, are read alike or left", () => {
  for (let seed = 0; seed < 2_000; seed++) checkPlain(new Random(seed));
});

Deno.test("most of what is generated is plain", () => {
  let plain = 0;
  for (let seed = 0; seed < 200; seed++) {
    const { xml } = generateDocument(new Random(seed));
    if (readPlainly(encode(xml)) !== null) plain++;
  }
  assertGreater(plain, 150);
});
