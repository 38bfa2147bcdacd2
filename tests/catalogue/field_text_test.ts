import { assert, assertEquals } from "@std/assert";
import { FieldText } from "../../src/catalogue/field_text.ts";
import { LONGEST_TEXT, shownLength, trimSpace } from "../../src/lib/values.ts";
import { Random } from "../support/random.ts";

/** The text that is kept of these pieces. */
function kept(pieces: readonly string[]): string {
  const text = new FieldText();
  for (const piece of pieces) text.append(piece);
  return text.take();
}

const space = (count: number) => " ".repeat(count);

Deno.test("FieldText keeps a value of the maximum length and the white space around it", () => {
  for (const pieces of [[], ["", ""], ["a"], [" \n", "a", "b ", " "]]) {
    assertEquals(kept(pieces), pieces.join(""));
  }
});

Deno.test("FieldText keeps only a little of a long text, and that it is too long", () => {
  const long = kept(Array(400).fill("x".repeat(50_000) + "\u20ac"));
  assertEquals(long.length, LONGEST_TEXT + 1);
  assertEquals(shownLength(long), "at least 32768");
  const late = trimSpace(kept(["a", space(200_000), "b"]));
  assert(late.length > LONGEST_TEXT, "what follows white space counts");
});

Deno.test("FieldText keeps a value however much white space is around it", () => {
  const padded = [space(70_000), space(70_000) + "a b", space(200_000)];
  const text = kept(padded);
  assertEquals(trimSpace(text), "a b");
  assert(text.length <= 2 * LONGEST_TEXT);
});

Deno.test("FieldText returns the text, or that it is too long with and without white space", () => {
  const random = new Random(7);
  for (let n = 0; n < 300; n++) {
    const pieces = Array.from(
      { length: random.below(6) },
      () =>
        [" ", "x", "\ud83d\ude00"][random.below(3)].repeat(
          random.below(50_000),
        ),
    );
    const [whole, text] = [pieces.join(""), kept(pieces)];
    for (const ends of [(t: string) => t, trimSpace]) {
      const same = ends(text) === ends(whole);
      const long = Math.min(ends(text).length, ends(whole).length);
      assert(same || long >= LONGEST_TEXT, pieces.map((p) => p.length).join());
    }
  }
});
