import { assertEquals } from "@std/assert";
import { ResultBatch } from "../../../src/images/worker/result_batch.ts";
import type { FetchedImage } from "../../../src/images/rows/outcomes.ts";
import { TestClock } from "../../support/clock.ts";

/** A batch, and the ids that it has sent. */
function batch() {
  const clock = new TestClock(0);
  const sent: string[][] = [];
  const results = new ResultBatch(
    clock,
    (results) => void sent.push(results.map(({ id }) => id)),
  );
  const add = (...ids: string[]) =>
    ids.forEach((id) => results.add(result(id)));
  return { clock, sent, results, add };
}

const result = (id: string): FetchedImage => (
  { id, lease: id, outcome: { kind: "interrupted" }, ms: null, bytes: 0 }
);

Deno.test("results of images are sent in one batch, 10 ms after the first", () => {
  const { clock, sent, results, add } = batch();
  results.expect(3);
  add("a");
  clock.advance(9);
  add("b");
  assertEquals(sent, []);
  clock.advance(1);
  assertEquals(sent, [["a", "b"]]);
  clock.advance(100);
  assertEquals(sent, [["a", "b"]]);
});

Deno.test("results of images are sent at once when no job is left", () => {
  const { sent, results, add } = batch();
  results.expect(2);
  add("a");
  assertEquals(sent, []);
  add("b");
  assertEquals(sent, [["a", "b"]]);
  results.expect(1);
  add("c");
  assertEquals(sent, [["a", "b"], ["c"]]);
});

Deno.test("a batch of results of images is never larger than 32", () => {
  const { clock, sent, results, add } = batch();
  const ids = Array.from({ length: 40 }, (_, n) => String(n));
  results.expect(64);
  add(...ids);
  assertEquals(sent, [ids.slice(0, 32)]);
  clock.advance(10);
  assertEquals(sent, [ids.slice(0, 32), ids.slice(32)]);
});

Deno.test("results of images can be sent early, and none is sent twice", () => {
  const { clock, sent, results, add } = batch();
  results.expect(2);
  results.flush();
  add("a");
  results.flush();
  clock.advance(10);
  assertEquals(sent, [["a"]]);
});
