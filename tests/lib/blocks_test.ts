import { assertEquals, assertLessOrEqual } from "@std/assert";
import { Blocks, joined } from "../../src/lib/blocks.ts";
import { Random } from "../support/random.ts";

Deno.test("blocks hold what came, in order, and tell what they take", () => {
  for (let seed = 0; seed < 60; seed++) {
    const random = new Random(seed);
    let taken = 0;
    const blocks = new Blocks((bytes) => taken += bytes);
    const chunks: Uint8Array[] = [];
    for (let count = random.below(20); count > 0; count--) {
      const most = [3, 1_000, 70_000, 200_000][random.below(4)];
      const chunk = new Uint8Array(random.below(most))
        .map(() => random.below(256));
      blocks.append(chunk);
      chunks.push(chunk);
    }
    const sent = joined(chunks);
    assertEquals(blocks.size, sent.length);
    assertEquals(joined(blocks.finish()), sent);
    assertLessOrEqual(sent.length, taken);
    assertLessOrEqual(taken, sent.length + 65_536);
  }
});

Deno.test("a chunk of one byte takes a byte, whatever buffer it is in", () => {
  const blocks = new Blocks(() => {});
  for (let n = 0; n < 20_000; n++) {
    blocks.append(new Uint8Array(65_536).subarray(0, 1));
  }
  const held = blocks.finish()
    .reduce((bytes, { buffer }) => bytes + buffer.byteLength, 0);
  assertLessOrEqual(held, 20_000 + 65_536);
});
