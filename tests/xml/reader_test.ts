/** Compares the reader of XML with saxes, which must agree. */
import { assert, assertEquals } from "@std/assert";
import { ServiceError } from "../../src/lib/errors.ts";
import { freeBuffer } from "../../src/lib/blocks.ts";
import { readXml } from "../../src/xml/decode.ts";
import { XML_LIMITS } from "../../src/xml/handlers.ts";
import { XmlReader } from "../../src/xml/reader.ts";
import { XmlSource } from "../../src/xml/source.ts";
import { checkAlike, checkGenerated, recorder } from "../fuzz/decoder.ts";
import { Random } from "../support/random.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function isRead(document: string): boolean {
  try {
    readXml([encode(document)], recorder());
    return true;
  } catch (error) {
    assert(error instanceof ServiceError, String(error));
    return false;
  }
}

/** Well-formed documents. */
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
  "<é.\u00b7 é='1'/>",
  "<a b='\r\n\t\r&#9;\n' c = 'x'/>",
  "<?xml version = '1.1'?><a/>",
  "<a constructor='' toString=''/>",
];

/** Documents that are not well-formed, or are refused. */
const REFUSED: readonly string[] = [
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
  "<a b='/>",
  "<1/>",
  "<a><!-- -- --></a>",
  "<a><!-- --->",
  "<a><!-- x</a>",
  "<a><![CDATA[x</a>",
  "<![CDATA[x]]><a/>",
  "<a/><![CDATA[x]]>",
  "<!DOCTYPE a><a/>",
  "<a><?x?></a>",
  " <?xml version='1.0'?><a/>",
  "<?xml version='1.0\"?><a/>",
  "<?xml version='1.0' encoding='utf-8\"?><a/>",
  "<?xml version='1.0' standalone='maybe'?><a/>",
  "012345678901234567890<a><!--<?xml version='1.0'?>--></a>",
  "<?xml version='1.0' encoding='iso-8859-1'?><a/>",
  "\ufeff\ufeff<a/>",
];

Deno.test("well-formed documents are read as by saxes", () => {
  for (const document of READ) {
    assert(isRead(document), JSON.stringify(document));
    checkAlike(encode(document));
  }
});

Deno.test("malformed documents are refused, as by saxes", () => {
  for (const document of REFUSED) {
    assert(!isRead(document), JSON.stringify(document));
    checkAlike(encode(document));
  }
});

Deno.test("characters that no document may contain are refused", () => {
  // Allowed characters are in one document: reading them one by one takes
  // seconds.
  let allowed = "";
  for (let code = 0; code < 0x10000; code++) {
    const isSurrogate = code >= 0xd800 && code <= 0xdfff;
    const isAllowed = code >= 0x20 && code < 0xfffe && !isSurrogate ||
      [9, 10, 13].includes(code);
    const reference = `&#${code};`;
    const isMarkup = code === 0x26 || code === 0x3c;
    const character = isSurrogate || isMarkup ? "" : String.fromCharCode(code);
    if (isAllowed) {
      allowed += reference + character;
      continue;
    }
    assertEquals(isRead(`<a>${reference}</a>`), false, `reference ${code}`);
    if (isSurrogate) continue;
    assertEquals(isRead(`<a>${character}</a>`), false, `character ${code}`);
  }
  assertEquals(isRead(`<a>${allowed}</a>`), true);
});

Deno.test("names are accepted as by saxes", () => {
  for (let code = 0x80; code < 0x30000; code += code < 0x3000 ? 1 : 251) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    checkAlike(encode(`<${character}/>`));
    checkAlike(encode(`<a${character}/>`));
  }
});

Deno.test("generated documents, valid and mutated, are read alike", () => {
  for (let seed = 0; seed < 1_000; seed++) checkGenerated(new Random(seed));
});

Deno.test("a document is read alike in blocks of any size", () => {
  const document = READ.filter((one) => one.includes("</a>")).at(-3)! +
    "\r\n<!-- \u{1F600} -->";
  const bytes = encode(document);
  const whole = recorder();
  readXml([bytes], whole);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const pieces = recorder();
    const both = [bytes.slice(0, cut), bytes.slice(cut)];
    const blocks = [...both];
    const source = new XmlSource(blocks, freeBuffer);
    const reader = new XmlReader(source, pieces, XML_LIMITS);
    for (const _ of reader.read());
    assertEquals(pieces.events, whole.events, `cut at ${cut}`);
    assertEquals(blocks, []);
    assertEquals(both.map(({ length }) => length), [0, 0]);
  }
});
