import { assertEquals } from "@std/assert";
import type { TagPosition, XmlHandlers } from "../../src/xml/handlers.ts";
import { readXml } from "../../src/xml/decode.ts";
import { byteOffsets, bytesBetween } from "../../src/xml/sent_bytes.ts";
import { joinBlocks } from "../../src/lib/blocks.ts";
import { Random } from "../support/random.ts";

const utf8 = new TextEncoder();

/** Cuts bytes at random places. */
function cut(bytes: Uint8Array, random: Random): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random.below(40);
    blocks.push(bytes.slice(at, end));
    at = end;
  }
  return blocks;
}

/** The position of each `<p>`, as indices of the reader: start, end. */
function spansOf(blocks: readonly Uint8Array[]): number[] {
  const indices: number[] = [];
  let tag: TagPosition;
  const handlers: XmlHandlers = {
    begin: (position) => tag = position,
    open: (name) => name === "p" && indices.push(tag.tagStart),
    text: () => {},
    close: (name) => name === "p" && indices.push(tag.tagEnd),
  };
  readXml([...blocks], handlers);
  return indices;
}

Deno.test("elements are found again in the bytes that were sent", async () => {
  const texts = ["a", "ä", "€", "\u{1f600}", "\r\n", "\r", "\n", "&amp;"];
  for (let seed = 0; seed < 200; seed++) {
    const random = new Random(seed);
    const text = () =>
      Array.from(
        { length: random.below(12) },
        () => texts[random.below(texts.length)],
      ).join("");
    const elements = Array.from(
      { length: 1 + random.below(6) },
      () =>
        random.below(4) === 0
          ? `<p a="${text()}"/>`
          : `<p>${text()}<![CDATA[${text()}]]></p >`,
    );
    const sent = (seed % 2 === 0 ? "\ufeff" : "") + `<root>${text()}` +
      elements.map((element) => element + text()).join("") + "</root>";
    const blocks = cut(utf8.encode(sent), random);
    const indices = spansOf(blocks);
    let pauses = 0;
    const offsets = await byteOffsets(blocks, indices, () => {
      pauses++;
      return Promise.resolve();
    });
    assertEquals(pauses, blocks.length);
    const found = elements.map((_, i) =>
      new TextDecoder().decode(
        joinBlocks(bytesBetween(blocks, offsets[2 * i], offsets[2 * i + 1])),
      )
    );
    assertEquals(found, elements);
  }
});
