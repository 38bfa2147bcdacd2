/** The decoder with generated documents; `deno task fuzz` runs longer. */
import { assertEquals, assertGreater, assertMatch } from "@std/assert";
import {
  decodeProducts,
  decodeProductsInPieces,
} from "../../src/catalogue/document.ts";
import {
  checkMistakes,
  checkMutated,
  checkPieces,
  checkSpelling,
} from "../fuzz/decoder.ts";
import { Random } from "../support/random.ts";

for (
  const [name, check, times] of [
    [
      "mistakes are reported with product, line, field and code",
      checkMistakes,
      500,
    ],
    ["every spelling of a text gives the same value", checkSpelling, 2_000],
    [
      "a mutated document is read, or refused with a place in it",
      checkMutated,
      1_500,
    ],
    [
      "the result does not depend on where a long document is split",
      checkPieces,
      150,
    ],
  ] as const
) {
  Deno.test(name, () => {
    for (let seed = 0; seed < times; seed++) check(new Random(seed));
  });
}

Deno.test("suggestions are computed in pieces, and other work runs between them", async () => {
  const unknown = Array.from({ length: 900 }, (_, n) => `<titel${n}/>`);
  const document = `<products><product>${
    unknown.join("")
  }</product></products>`;
  const bytes = () => [new TextEncoder().encode(document)];
  let pieces = 0;
  const decoded = await decodeProductsInPieces(bytes(), async (piece) => {
    pieces++;
    await piece();
  });
  assertGreater(pieces, 10);
  assertEquals(decoded, decodeProducts(bytes()));
  assertMatch(decoded.problems[800].message, /<titel800> is not known/);
});
