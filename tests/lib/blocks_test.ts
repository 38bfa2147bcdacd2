import { assertEquals, assertLessOrEqual } from "@std/assert";
import { Blocks, freeBuffer, joinBlocks } from "../../src/lib/blocks.ts";
import { Random } from "../support/random.ts";

Deno.test("blocks keep their order, and know their size", () => {
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
    const sent = joinBlocks(chunks);
    assertEquals(blocks.size, sent.length);
    assertEquals(joinBlocks(blocks.finish()), sent);
    assertLessOrEqual(sent.length, taken);
    assertLessOrEqual(taken, sent.length + 65_536);
  }
});

Deno.test("blocks keep at most the limit, in chunks of any size", () => {
  for (const most of [10, 1_000, 65_537, 200_000]) {
    for (const size of [1, 7, 5_000, 65_536]) {
      let taken = 0;
      const blocks = new Blocks((bytes) => taken += bytes, most);
      for (let left = most; left > 0; left -= size) {
        blocks.append(new Uint8Array(Math.min(size, left)));
      }
      assertEquals(blocks.size, most);
      assertEquals(taken, most, `${most} bytes in chunks of ${size}`);
    }
  }
});

Deno.test("a chunk of one byte counts one byte, whatever its buffer", () => {
  const blocks = new Blocks(() => {});
  for (let n = 0; n < 20_000; n++) {
    blocks.append(new Uint8Array(65_536).subarray(0, 1));
  }
  const held = blocks.finish()
    .reduce((bytes, { buffer }) => bytes + buffer.byteLength, 0);
  assertLessOrEqual(held, 20_000 + 65_536);
});

Deno.test("blocks can be freed: they share no memory with a chunk", () => {
  const blocks = new Blocks();
  const chunks = [new Uint8Array(70_000), new Uint8Array(3)];
  for (const chunk of chunks) blocks.append(chunk.fill(1));
  const held = blocks.finish();
  for (const chunk of chunks) chunk.fill(2);
  assertEquals(joinBlocks(held), new Uint8Array(70_003).fill(1));
  blocks.free();
  for (const block of held) assertEquals(block.buffer.byteLength, 0);
  // Both its reader and its owner may free it.
  blocks.free();
  assertEquals(chunks[0].length, 70_000);
});

Deno.test("a large chunk can be shared", () => {
  const blocks = new Blocks();
  const large = new Uint8Array(100_000).fill(2);
  for (const chunk of [new Uint8Array([1]), large, new Uint8Array([3])]) {
    blocks.share(chunk);
  }
  const held = blocks.finish();
  assertEquals(held.some(({ buffer }) => buffer === large.buffer), true);
  assertEquals(joinBlocks(held), new Uint8Array([1, ...large, 3]));
  assertEquals(blocks.size, 100_002);
});

Deno.test("freed blocks are empty", () => {
  const bytes = new Uint8Array(10).subarray(2);
  freeBuffer(bytes);
  assertEquals([bytes.length, bytes.buffer.byteLength], [0, 0]);
});
