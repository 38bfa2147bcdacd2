import { assert, assertEquals, assertThrows } from "@std/assert";
import { deflateSync } from "node:zlib";
import { picture } from "../../../src/sandbox/pictures.ts";
import {
  ImageRefusal,
  inspectImage,
  sniffImage,
} from "../../../src/images/worker/inspect.ts";

const CORPUS = new URL("../../../../shared/corpora/images/", import.meta.url);

interface Entry {
  file: string;
  type: string;
  class: "ok" | "corrupt" | "bomb" | "mislabelled" | "unsafe";
  width: number | null;
  height: number | null;
}

function corpus(): Entry[] {
  try {
    return JSON.parse(Deno.readTextFileSync(new URL("index.json", CORPUS)));
  } catch {
    return [];
  }
}

const entries = corpus();
const ignore = entries.length === 0;
const bytesOf = (entry: Entry) =>
  Deno.readFileSync(new URL(entry.file, CORPUS));
const ACCEPTED = ["jpeg", "png", "gif", "webp", "avif"]
  .map((type) => `image/${type}`);

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
  for (const type of ["png", "jpeg", "gif", "webp", "avif"]) {
    const name = `a.${type === "jpeg" ? "jpg" : type}`;
    const found = inspectImage(picture(name)!);
    assertEquals(found.type, type);
    assert(found.width > 0 && found.width === found.height, name);
  }
});

Deno.test("inspectImage() refuses what is no image, and says what it is", () => {
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

Deno.test("inspectImage() never takes long or throws anything else", () => {
  const rnd = new Uint8Array(4_096);
  for (const type of ["png", "jpg", "gif", "webp", "avif"]) {
    const sound = picture(`a.${type}`)!;
    for (let cut = 0; cut <= sound.length; cut += 7) {
      tolerate(sound.slice(0, cut));
      const damaged = new Uint8Array([...sound, ...rnd]);
      for (let at = cut; at < damaged.length; at += 97) {
        damaged[at] ^= 0x80 | at;
      }
      tolerate(damaged);
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

Deno.test({
  name: "corpus: every sound image is taken, with its size, whatever its label",
  ignore,
  fn() {
    // Two GIFs whose frames stick out: Pillow enlarges the canvas to them.
    const enlarged = ["imagers-oob.gif", "imagers-issue_1455_oversized.gif"];
    for (const entry of entries) {
      if (entry.class !== "ok" && entry.class !== "mislabelled") continue;
      if (!ACCEPTED.includes(entry.type)) continue;
      const { type, width, height } = inspectImage(bytesOf(entry));
      assertEquals(`image/${type}`, entry.type, entry.file);
      if (entry.width === null || enlarged.includes(entry.file)) continue;
      assertEquals([width, height], [entry.width, entry.height], entry.file);
    }
  },
});

Deno.test({
  name: "corpus: bombs and every other type are refused, corrupt ones harmless",
  ignore,
  fn() {
    for (const entry of entries) {
      const bytes = bytesOf(entry);
      const sound = ACCEPTED.includes(entry.type);
      if (entry.class === "corrupt") tolerate(bytes);
      else if (entry.class === "bomb" || !sound) codeOf(bytes);
    }
  },
});
