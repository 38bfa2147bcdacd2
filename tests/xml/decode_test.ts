import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Detail, ServiceError } from "../../src/lib/errors.ts";
import { parseTree, readXml } from "../../src/xml/decode.ts";
import { WINDOW } from "../../src/xml/source.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function read(bytes: Uint8Array): void {
  readXml([bytes], { open() {}, text() {}, close() {} });
}

function refusal(document: string | Uint8Array): Detail {
  try {
    read(typeof document === "string" ? encode(document) : document);
  } catch (error) {
    assert(error instanceof ServiceError, String(error));
    assertEquals(error.code, "malformed_xml");
    assertEquals(error.details.length, 1);
    return error.details[0];
  }
  throw new Error(`accepted: ${document.slice(0, 80)}`);
}

/** Document, line, column, a part of the message. */
const REFUSED:
  readonly (readonly [string | Uint8Array, number, number, string])[] = [
    ["", 1, 1, "empty"],
    [" \n ", 1, 1, "empty"],
    ["\n text", 2, 2, "outside of the root"],
    ["<a>\n <b>AT&T</b>\n <c>x;</c></a>", 2, 7, "&amp;"],
    ["<a>\r\n\r\n<b>&</b></a>", 3, 4, "&amp;"],
    ["<a>\u{1F600} & x</a>", 1, 6, "&amp;"],
    ["<a b='x & y'/>", 1, 9, "&amp;"],
    ["<a>&nbsp;</a>", 1, 4, "XML knows no"],
    ["<a><![CDATA[ & ]]><!-- & -->&</a>", 1, 29, "&amp;"],
    ["<a><!-- & &</a>", 1, 16, "ends before <a>"],
    ["<a>&#0;</a>", 1, 4, "no character"],
    ["<a>\n&#xD800;</a>", 2, 1, "no character"],
    ["<a>\n<b>\n</a>", 3, 1, "<b> of line 2"],
    ["<a>\n<b>x", 2, 5, "<b> of line 2"],
    ["<a/><b/>", 1, 5, "one root"],
    ["<a x='1' x='2'/>", 1, 10, "Duplicate"],
    ["<a>\u0001</a>", 1, 4, "U+0001 is not allowed"],
    ["<a>x]]></a>", 1, 5, "]]>"],
    ["<a b=c/>", 1, 6, "nquoted"],
    ["<a b/>", 1, 5, "no value"],
    ["<a b='1'c='2'/>", 1, 9, "White space"],
    ["<a b='<'/>", 1, 7, "&lt;"],
    ["<a =''/>", 1, 4, '"="'],
    ["<a/ >", 1, 3, '"/"'],
    ["<a>1 < 2</a>", 1, 6, "&lt;"],
    ["</a>", 1, 1, "no open element"],
    ["<a></a b>", 1, 4, "<a> of line 1"],
    ["<a><!-- x -- y --></a>", 1, 11, '"--"'],
    ["<a><!x></a>", 1, 4, "comment"],
    ["<![CDATA[x]]><a/>", 1, 1, "inside the root"],
    ["<!-- x", 1, 7, "ends inside a comment"],
    ["<a", 1, 3, "before its root"],
    ["<?xml version=1.0?><a/>", 1, 1, "XML declaration"],
    ["<!DOCTYPE a [<!ENTITY x 'y'>]>\n<a>&x;</a>", 1, 1, "DOCTYPE"],
    ["<?xml version='1.0'?>\n<!DOCTYPE a>\n<a/>", 2, 1, "DOCTYPE"],
    ["<a>\n <?php x?></a>", 2, 2, "processing instruction"],
    ["<?xml version='1.0' encoding='iso-8859-1'?><a/>", 1, 1, "iso-8859-1"],
    ["\ufeff\ufeff<a/>", 1, 1, "byte order mark"],
    [new Uint8Array([60, 97, 62, 10, 0xc3, 0xa9, 65, 0xff, 60]), 2, 3, "UTF-8"],
    [new Uint8Array([0xff, 0xfe, 60, 0, 97, 0]), 1, 1, "UTF-16"],
    [new Uint8Array([60, 97, 62, 0xed, 0xa0, 0x80]), 1, 4, "UTF-8"],
    [new Uint8Array([60, 97, 62, 0xc0, 0xaf]), 1, 4, "UTF-8"],
    [`${" ".repeat(WINDOW)}<?xml version="1.0"?><a/>`, 1, WINDOW + 1, "start"],
  ];

Deno.test("a malformed document is refused with the right place", () => {
  for (const [document, line, column, message] of REFUSED) {
    const detail = refusal(document);
    const label = JSON.stringify(String(document));
    assertStringIncludes(detail.message, message, label);
    assertEquals([detail.line, detail.column], [line, column], label);
  }
});

Deno.test("well-formed documents are read", () => {
  for (
    const document of [
      "<a/>",
      "\ufeff<a/>",
      "<!--><!DOCTYPE a>--><a/>",
      "<?xml version='1.0' encoding='utf-8'?>\n<!-- x --><a/>\n",
      "<?xml version='1.0' encoding='US-ASCII' standalone='yes'?><a/>",
      "<a xmlns='x' xmlns:p='y'><p:b p:c='d'/></a>",
      "<a>&amp;&#38;&#x26;&lt;&gt;&quot;&apos;</a>",
      "<a><![CDATA[<&]]]]><![CDATA[>]]></a>",
      "<a>\u0085\u2028\u{10FFFF}</a>",
      `<!--${"x".repeat(WINDOW - "<!--".length)}<?xml ?>--><a/>`,
    ]
  ) {
    read(encode(document));
  }
});

/** The first and the last character of each row of Unicode's table 3-7. */
const CHARACTERS = [
  "\u0080",
  "\u07ff",
  "\u0800",
  "\u0fff",
  "\u1000",
  "\ucfff",
  "\ud000",
  "\ud7ff",
  "\ue000",
  "\ufffd",
  "\u{10000}",
  "\u{3ffff}",
  "\u{40000}",
  "\u{fffff}",
  "\u{100000}",
  "\u{10ffff}",
];

Deno.test("an invalid byte is found behind characters of any length", () => {
  for (const character of CHARACTERS) {
    const bytes = new Uint8Array([...encode(`<a>${character}b`), 0xff, 60]);
    const { line, column, message } = refusal(bytes);
    const label = character.codePointAt(0)!.toString(16);
    assertStringIncludes(message, "The byte 0xFF is not valid UTF-8", label);
    assertEquals([line, column], [1, 6], label);
  }
});

Deno.test("bytes that are next to a row of Unicode's table 3-7 are refused", () => {
  const rows = [
    [0x7f, 0x80],
    [0xc1, 0xbf],
    [0xc2, 0x7f],
    [0xc2, 0xc0],
    [0xdf, 0xc0],
    [0xe0, 0x9f, 0xbf],
    [0xe0, 0xa0, 0x7f],
    [0xe1, 0x7f, 0xbf],
    [0xec, 0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xee, 0x80, 0xc0],
    [0xef, 0xc0, 0x80],
    [0xf0, 0x8f, 0xbf, 0xbf],
    [0xf0, 0x90, 0x80, 0x7f],
    [0xf1, 0x80, 0xc0, 0x80],
    [0xf3, 0xc0, 0x80, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
  ];
  for (const row of rows) {
    const bytes = new Uint8Array([...encode("<a>"), ...row, ...encode("</a>")]);
    const { line, column, message } = refusal(bytes);
    const [at, byte] = row[0] === 0x7f ? [5, row[1]] : [4, row[0]];
    const label = row.map((one) => one.toString(16)).join(" ");
    assertEquals([line, column], [1, at], label);
    const name = byte.toString(16).toUpperCase();
    assertStringIncludes(message, `The byte 0x${name} is not`, label);
  }
});

Deno.test("a character may lie in two windows", () => {
  for (const character of CHARACTERS) {
    const { length } = encode(character);
    for (let inFirst = 0; inFirst <= length; inFirst++) {
      const padding = "x".repeat(WINDOW - inFirst - "<a>".length);
      const sent = `${padding}${character}y`;
      let read = "";
      readXml([encode(`<a>${sent}</a>`)], {
        open() {},
        text: (piece) => read += piece,
        close() {},
      });
      assert(
        read === sent,
        `${inFirst} bytes of ${character.codePointAt(0)!.toString(16)}`,
      );
    }
  }
});

Deno.test("documents beyond structural limits are refused by the limit's name", () => {
  const nested = (n: number) => "<a>".repeat(n) + "</a>".repeat(n);
  const attributes = (n: number) =>
    `<a ${Array.from({ length: n }, (_, i) => `a${i}='1'`).join(" ")}/>`;
  const elements = (n: number) => `<a>${"<b/>".repeat(n - 1)}</a>`;
  for (
    const [make, limit, name] of [
      [nested, 32, "depth"],
      [attributes, 64, "attributes"],
      [elements, 50_000, "elements"],
    ] as const
  ) {
    read(encode(make(limit)));
    const detail = refusal(make(limit + 1));
    assertEquals(detail.code, "limit");
    assertStringIncludes(detail.message, `${limit} allowed (${name})`);
  }
});

Deno.test("an element's line is the line of its <", () => {
  const lines: [string, number][] = [];
  readXml([encode("<a\n>\r\n<b\n x='1'\n/>\r<c\n\n/><d/></a>")], {
    open: (name, _, line) => lines.push([name, line]),
    text() {},
    close() {},
  });
  assertEquals(lines, [["a", 1], ["b", 3], ["c", 6], ["d", 8]]);
});

Deno.test("a document truncated anywhere is refused", () => {
  const whole = "<?xml version='1.0'?><a b='c'>é<![CDATA[x]]><!-- y --><d/>" +
    "&amp;</a>";
  const bytes = encode(whole);
  for (let end = 0; end < bytes.length; end++) refusal(bytes.slice(0, end));
});

Deno.test("a megabyte with a mistake at its end is refused in linear time", () => {
  // A pattern that restarts at every piece would take minutes.
  for (const piece of ["<!--", "<![CDATA[", "&amp;", "<a>"]) {
    refusal("<a>" + piece.repeat(250_000));
  }
});

Deno.test("parseTree() keeps the source between the tags as sent", () => {
  const inner =
    "\r\n<x y='>' z=\"/>\">&amp;<![CDATA[</x>]]></x><!-- </d> -->\t";
  const root = parseTree(encode(`\ufeff<e><s> a </s><d>${inner}</d><n/></e>`));
  assertEquals(root.name, "e");
  assertEquals(root.children.map(({ source }) => source), [" a ", inner, ""]);
  assertEquals(root.children[1].children[0].text, "&</x>");
  assertEquals(root.children[1].children[0].attributes.y, ">");
});
