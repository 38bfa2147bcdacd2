import { assertEquals } from "@std/assert";
import { LineOutput } from "../../src/cli/line_output.ts";
import { inTime, TestClock, until } from "../support/clock.ts";

/** A line of which sixteen fit. */
const LONG = "x".repeat(64 * 1_024 - 1);
const ROOM = 16;

/** An output whose reader reads when the test says so. */
class Reader {
  readonly clock = new TestClock();
  text = "";
  /** Accepts this many bytes of the current write; an error fails the write. */
  take: ((bytes: number | Error) => void) | null = null;
  readonly output = new LineOutput({
    clock: this.clock,
    write: (bytes) =>
      new Promise((resolve, reject) => {
        this.take = (size) => {
          this.take = null;
          if (size instanceof Error) return reject(size);
          const taken = bytes.subarray(0, size);
          this.text += new TextDecoder().decode(taken);
          resolve(taken.length);
        };
      }),
    onLost: (lines, since) =>
      this.output.write(`lost ${lines} since ${since.toISOString()}`),
  });

  /** Accepts everything until nothing more is written. */
  async takeAll(): Promise<void> {
    let ended = false;
    this.output.end(3_600_000).then(() => ended = true);
    await until(() => {
      this.take?.(Infinity);
      this.clock.advance(10);
      return ended;
    });
  }
}

Deno.test("lines arrive whole and in order, however little is read at once", async () => {
  const reader = new Reader();
  reader.output.write("one");
  reader.output.write("två");
  reader.output.write("three");
  for (let n = 0; n < 3; n++) {
    await until(() => reader.take !== null);
    reader.take!(1);
  }
  await reader.takeAll();
  assertEquals(reader.text, "one\ntvå\nthree\n");
});

Deno.test("lines within ten milliseconds are written together", async () => {
  const reader = new Reader();
  reader.output.write("one");
  await until(() => reader.take !== null);
  reader.take!(Infinity);
  await until(() => reader.clock.waiting === 1);
  reader.output.write("two");
  reader.output.write("three");
  assertEquals(reader.take, null);
  reader.clock.advance(10);
  await until(() => reader.take !== null);
  reader.take!(Infinity);
  assertEquals(reader.text, "one\ntwo\nthree\n");
});

Deno.test("lines beyond the bound are lost, counted and reported", async () => {
  const reader = new Reader();
  for (let n = 0; n < ROOM; n++) reader.output.write(LONG);
  assertEquals(reader.output.lost, 0);
  reader.output.write("first lost");
  const since = new Date(reader.clock.now()).toISOString();
  reader.clock.advance(1_000);
  reader.output.write("second lost");
  assertEquals(reader.output.lost, 2);
  await reader.takeAll();
  reader.output.write("after");
  await reader.takeAll();
  assertEquals(reader.text.replaceAll(LONG, "long").split("\n"), [
    ...Array(ROOM).fill("long"),
    `lost 2 since ${since}`,
    "after",
    "",
  ]);
  assertEquals(reader.output.lost, 2);
});

Deno.test("a write that fails is tried again where it stopped", async () => {
  const reader = new Reader();
  reader.output.write("whole");
  await until(() => reader.take !== null);
  reader.take!(2);
  await until(() => reader.take !== null);
  reader.take!(new Deno.errors.BrokenPipe("closed"));
  await until(() => reader.clock.waiting === 1);
  reader.clock.advance(100);
  await reader.takeAll();
  assertEquals(reader.text, "whole\n");
});

Deno.test("closing waits for a reader up to its time limit, and not for a closed pipe", async () => {
  const reader = new Reader();
  reader.output.write("one");
  const ended = reader.output.end(1_000);
  await until(() => reader.clock.waiting === 1);
  reader.clock.advance(1_000);
  await inTime(ended, "the end");

  const closed = new Reader();
  closed.output.write("one");
  const over = closed.output.end(1_000);
  await until(() => closed.take !== null);
  closed.take!(new Deno.errors.BrokenPipe("closed"));
  await until(() => closed.clock.waiting === 2);
  closed.clock.advance(10);
  await inTime(over, "the end");
});
