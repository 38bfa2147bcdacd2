import {
  assert,
  assertEquals,
  assertLess,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { Buffer } from "node:buffer";
import { deflateSync } from "node:zlib";
import { IMAGE_TYPES } from "../../../src/images/image_types.ts";
import { picture } from "../../../src/sandbox/pictures.ts";
import {
  ImageRefusal,
  stepLimit,
} from "../../../src/images/worker/formats/reader.ts";
import { sniffImage } from "../../../src/images/worker/formats/signature.ts";
import { REFUSED } from "../../../src/images/signatures.ts";
import { inspectImage } from "../../../src/images/worker/inspect.ts";
import { readCorpus, withCorpusJson } from "../../support/corpus.ts";
import { Random, seedFrom } from "../../support/random.ts";

interface Entry {
  file: string;
  type: string;
  class: "ok" | "corrupt" | "bomb" | "mislabelled" | "unsafe";
  width: number | null;
  height: number | null;
}

const bytesOf = (entry: Entry) => readCorpus(`images/${entry.file}`)!;
const ACCEPTED = IMAGE_TYPES.map((type) => `image/${type}`);

function codeOf(bytes: Uint8Array): string {
  return assertThrows(() => inspectImage(bytes), ImageRefusal).code;
}

function png(...chunks: [name: string, data: Uint8Array][]): Uint8Array {
  const sound = picture("a.png")!;
  const made = chunks.flatMap(([name, data]) => {
    const chunk = new Uint8Array(12 + data.length);
    new DataView(chunk.buffer).setUint32(0, data.length);
    chunk.set(new TextEncoder().encode(name), 4);
    chunk.set(data, 8);
    return [...chunk];
  });
  return new Uint8Array([...sound.slice(0, 33), ...made, ...sound.slice(33)]);
}

Deno.test("inspectImage() reads type and size of each accepted type", () => {
  for (const type of IMAGE_TYPES) {
    const name = `a.${type}`;
    const found = inspectImage(picture(name)!);
    assertEquals(found.type, type);
    assert(found.width > 0 && found.width === found.height, name);
  }
});

Deno.test("inspectImage() calls a damaged image by the name of its type", () => {
  const bytes = picture("a.webp")!.slice(0, 20);
  const refusal = assertThrows(() => inspectImage(bytes), ImageRefusal);
  assertStringIncludes(refusal.message, "begin like WebP, but");
});

Deno.test("inspectImage() refuses anything but an image and says what it is", () => {
  const cases: [string, string, RegExp][] = [
    ["", "image_not_an_image", /empty/],
    ["<!doctype html><p>", "image_not_an_image", /HTML/],
    ['{"error":1}', "image_not_an_image", /JSON/],
    ["Not found\n", "image_not_an_image", /text/],
    ["<svg xmlns=''/>", "image_unsupported_type", /SVG/],
    ["<?xml version='1.0'?><!-- x --><svg>", "image_unsupported_type", /SVG/],
    ["%PDF-1.7", "image_unsupported_type", /PDF/],
    ["II*\0\x08\0\0\0", "image_unsupported_type", /TIFF/],
  ];
  for (const [text, code, what] of cases) {
    const bytes = new TextEncoder().encode(text);
    const refusal = assertThrows(() => sniffImage(bytes), ImageRefusal);
    assertEquals(refusal.code, code, text);
    assert(what.test(refusal.message), refusal.message);
  }
});

Deno.test("no type is both accepted and refused", () => {
  for (const type of IMAGE_TYPES) {
    const head = String.fromCharCode(...picture(`a.${type}`)!);
    const refused = REFUSED.filter(([signature]) => signature.test(head));
    assertEquals(refused, [], type);
  }
});

Deno.test("inspectImage() refuses 64 megapixels and one row more", () => {
  const most = png();
  const size = new DataView(most.buffer);
  size.setUint32(16, 8_000);
  size.setUint32(20, 8_000);
  assertEquals(inspectImage(most).width, 8_000);
  size.setUint32(20, 8_001);
  assertEquals(codeOf(most), "image_too_many_pixels");
});

Deno.test("inspectImage() counts the frames of an animated PNG", () => {
  const frame: [string, Uint8Array] = ["fcTL", new Uint8Array(26)];
  inspectImage(png(...Array(1_000).fill(frame)));
  assertEquals(
    codeOf(png(...Array(1_001).fill(frame))),
    "image_too_many_frames",
  );
});

Deno.test("inspectImage() counts the frames of a GIF", () => {
  const gif = picture("a.gif")!;
  const start = gif.lastIndexOf(0x2c);
  const head = [...gif.slice(0, start)];
  const frame = [...gif.slice(start, -1)];
  const frames = (n: number) =>
    new Uint8Array([...head, ...Array(n).fill(frame).flat(), 0x3b]);
  assertEquals(inspectImage(frames(1_000)).type, "gif");
  assertEquals(codeOf(frames(1_001)), "image_too_many_frames");
});

Deno.test("inspectImage() counts the frames of an animated WebP", () => {
  const chunk = (name: string, data: readonly number[]) => {
    const made = new Uint8Array(8 + data.length + data.length % 2);
    made.set(bytesOfText(name));
    new DataView(made.buffer).setUint32(4, data.length, true);
    made.set(data, 8);
    return [...made];
  };
  const still = [...picture("a.webp")!.slice(12)];
  const [width, height] = [[15, 0, 0], [15, 0, 0]];
  const canvas = chunk("VP8X", [2, 0, 0, 0, ...width, ...height]);
  // A chunk of an odd length is padded with a byte.
  const profile = chunk("ICCP", [97]);
  const animation = chunk("ANIM", [0, 0, 0, 0, 0, 0]);
  const before = [...canvas, ...profile, ...animation];
  const frame = chunk("ANMF", [
    ...[0, 0, 0, 0, 0, 0, ...width, ...height, 100, 0, 0, 0],
    ...chunk("ALPH", [0, 0, 0]),
    ...still,
  ]);
  const frames = (n: number) =>
    new Uint8Array([
      ...bytesOfText("RIFF"),
      ...new Uint8Array(
        Uint32Array.of(
          4 + before.length + n * frame.length,
        ).buffer,
      ),
      ...bytesOfText("WEBP"),
      ...before,
      ...Array(n).fill(frame).flat(),
    ]);
  const found = inspectImage(frames(1_000));
  assertEquals([found.type, found.width, found.height], ["webp", 16, 16]);
  assertEquals(codeOf(frames(1_001)), "image_too_many_frames");
});

Deno.test("inspectImage() inflates the texts of a PNG no further than 1 MiB", () => {
  const text = (bytes: number): [string, Uint8Array] => [
    "zTXt",
    new Uint8Array([107, 0, 0, ...deflateSync(new Uint8Array(bytes))]),
  ];
  inspectImage(png(text(500_000), text(500_000)));
  assertEquals(codeOf(png(text(600_000), text(600_000))), "image_too_large");
  assertEquals(
    codeOf(png(...Array(1_100).fill(["zTXt", new Uint8Array(3)]))),
    "image_too_large",
  );
});

const bytesOfText = (text: string) =>
  new Uint8Array(Buffer.from(text, "latin1"));

/** `start`, followed by repetitions of `piece`. */
function repeated(start: Uint8Array, piece: string, bytes: number): Uint8Array {
  const rest = Buffer.alloc(bytes - start.length, piece, "latin1");
  return new Uint8Array(Buffer.concat([start, rest]));
}

/** How often bytes are read or searched during `work`. */
function countReads(work: () => void): number {
  let reads = 0;
  const patched: [object, string][] = [
    ...["getUint8", "getUint16", "getUint32"]
      .map((name): [object, string] => [DataView.prototype, name]),
    ...["indexOf", "lastIndexOf", "subarray"]
      .map((name): [object, string] => [
        Object.getPrototypeOf(Uint8Array.prototype),
        name,
      ]),
  ];
  const undo = patched.map(([prototype, name]) => {
    const original = Reflect.get(prototype, name);
    Reflect.set(prototype, name, function (this: unknown, ...args: unknown[]) {
      reads++;
      return Reflect.apply(original, this, args);
    });
    return () => Reflect.set(prototype, name, original);
  });
  try {
    work();
  } finally {
    for (const restore of undo) restore();
  }
  return reads;
}

/** The most reads of one step; more would be a loop without steps. */
const READS_PER_STEP = 6;

function assertWithinBudget(bytes: Uint8Array, what: string): void {
  const reads = countReads(() => tolerate(bytes));
  assertLess(reads, READS_PER_STEP * stepLimit(bytes.length), what);
}

const sound = (type: string) => picture(`a.${type}`)!;
const FRAME = "\xff\xc0\0\x11\x08\0\x10\0\x10\x03";

Deno.test("inspectImage() accepts an AVIF whose last box extends to the end of the file", () => {
  const bytes = sound("avif").slice();
  // The name follows four bytes with the length of the box.
  const name = bytesOfText("mdat");
  const at = bytes.findLastIndex((_, n) =>
    name.every((byte, k) => bytes[n + k] === byte)
  );
  new DataView(bytes.buffer).setUint32(at - 4, 0);
  assertEquals(inspectImage(bytes), inspectImage(sound("avif")));
});

/** Beginnings, with repeated pieces that fill the longest image. */
const HOSTILE: readonly (readonly [Uint8Array, string])[] = [
  [bytesOfText("\xff\xd8\xff"), "\xff"],
  [bytesOfText("\xff\xd8\xff"), "\0\xff"],
  [bytesOfText("\xff\xd8\xff"), "\xff\xe0\0\x02"],
  [bytesOfText("\xff\xd8\xff"), "\xff\xe0\0\0"],
  [bytesOfText("\xff\xd8\xff"), "\xff\xd0"],
  [bytesOfText("\xff\xd8" + FRAME), "\xd9"],
  [bytesOfText("\xff\xd8" + FRAME), "\xd9 "],
  [sound("png").slice(0, 33), "\0\0\0\0aaaaCCCC"],
  [sound("png").slice(0, 33), "\0\0\0\x03zTXt\0\0\0CCCC"],
  [sound("gif").slice(0, 13), "\x21\xfe\0"],
  [sound("gif"), "\x01"],
  [new Uint8Array([...sound("gif").slice(0, -1), 0x21, 0xfe]), "\x01"],
  [sound("gif").slice(0, -1), "\x2c\0\0\0\0\0\0\0\0\0\0\0"],
  [sound("webp"), "aaaa\0\0\0\0"],
  [sound("webp"), "ANMF\0\0\0\0"],
  [sound("webp"), "VP8 \0\0\0\0"],
  [sound("avif").slice(0, 28), "\0\0\0\0moov"],
  [sound("avif").slice(0, 28), "\0\0\0\0meta"],
  [sound("avif"), "\0\0\0\x08free"],
  [sound("avif"), "\0\0\0\x01free\0\0\0\0\0\0\0\x10"],
  [sound("avif"), "\0\0\0\x14ispe\0\0\0\0\0\0\0\x01\0\0\0\x01"],
  [sound("avif"), "\0\0\0\x18clap\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\x01"],
];

Deno.test("inspectImage() takes no more steps than its budget for any bytes", () => {
  for (const [start, piece] of HOSTILE) {
    const what = JSON.stringify(piece);
    assertWithinBudget(repeated(start, piece, 1_000), what);
    assertWithinBudget(repeated(start, piece, 1 << 20), what);
  }
});

Deno.test("inspectImage() takes no more steps than its budget for damaged images", () => {
  const seed = seedFrom(Deno.env.get("FUZZ_SEED"));
  const random = new Random(seed);
  const seeds = [
    ...IMAGE_TYPES.map(sound),
    ...HOSTILE.map(([start, piece]) => repeated(start, piece, 2_000)),
  ];
  for (let round = 0; round < 3_000; round++) {
    const bytes = seeds[random.below(seeds.length)].slice();
    for (let change = random.below(8); change > 0; change--) {
      // More often where the header is.
      const at = random.below(random.below(2) === 0 ? 64 : bytes.length);
      bytes[at] = random.below(3) === 0 ? 0xff : random.below(256);
    }
    const end = random.below(4) === 0 ? random.below(bytes.length) : undefined;
    assertWithinBudget(bytes.subarray(0, end), `seed ${seed}, round ${round}`);
  }
});

Deno.test("inspectImage() reads a thousand nested boxes once", () => {
  const bytes = new Uint8Array(4 << 20);
  bytes.set(sound("avif").slice(0, 28));
  const view = new DataView(bytes.buffer);
  for (let depth = 0, at = 28; depth < 1_000; depth++, at += 8) {
    view.setUint32(at, bytes.length - at);
    bytes.set(bytesOfText("moov"), at + 4);
  }
  for (let at = 28 + 8_000; at + 8 <= bytes.length; at += 8) {
    view.setUint32(at, 8);
  }
  assertWithinBudget(bytes, "nested");
  assertEquals(codeOf(bytes), "image_corrupt");
});

Deno.test("sniffImage() reads the comments before an SVG once", () => {
  const comments = bytesOfText("<!---->".repeat(72));
  assertEquals(codeOf(comments), "image_not_an_image");
  const svg = bytesOfText("<!-- x -->\n<!DOCTYPE svg>" + "<!---->".repeat(60));
  const whole = new Uint8Array([...svg, ...bytesOfText("<svg>")]);
  assertEquals(codeOf(whole), "image_unsupported_type");
});

Deno.test("inspectImage() refuses an image without its end", () => {
  for (const type of IMAGE_TYPES) {
    const bytes = sound(type);
    assertEquals(inspectImage(bytes).type, type);
    // Before the trailer, if there is one.
    assertEquals(codeOf(bytes.slice(0, -13)), "image_incomplete", type);
  }
});

Deno.test("inspectImage() refuses an image that ends in its header as incomplete", () => {
  for (const type of IMAGE_TYPES) {
    const bytes = sound(type);
    // Every signature is in the first 15 bytes.
    for (let end = 15; end < Math.min(bytes.length - 12, 400); end++) {
      const code = codeOf(bytes.slice(0, end));
      assertEquals(code, "image_incomplete", `${type}, ${end} bytes`);
    }
  }
});

function tolerate(bytes: Uint8Array): void {
  try {
    inspectImage(bytes);
  } catch (error) {
    if (!(error instanceof ImageRefusal)) throw error;
  }
}

withCorpusJson<Entry[]>("images/index.json", (entries) => {
  Deno.test("corpus: every valid image is accepted with its size, whatever its label", () => {
    // Two GIFs with frames that exceed the canvas: Pillow enlarges it.
    const enlarged = ["imagers-oob.gif", "imagers-issue_1455_oversized.gif"];
    for (const entry of entries) {
      if (entry.class !== "ok" && entry.class !== "mislabelled") continue;
      if (!ACCEPTED.includes(entry.type)) continue;
      const { type, width, height } = inspectImage(bytesOf(entry));
      assertEquals(`image/${type}`, entry.type, entry.file);
      if (entry.width === null || enlarged.includes(entry.file)) continue;
      assertEquals([width, height], [entry.width, entry.height], entry.file);
    }
  });

  Deno.test("corpus: bombs and all other types are refused, and corrupt images do no harm", () => {
    for (const entry of entries) {
      const bytes = bytesOf(entry);
      const sound = ACCEPTED.includes(entry.type);
      if (entry.class === "corrupt") tolerate(bytes);
      else if (entry.class === "bomb" || !sound) codeOf(bytes);
    }
  });
});
