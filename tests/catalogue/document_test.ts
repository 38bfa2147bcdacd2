/** The decoder under documents that are made up; `deno task fuzz` goes on. */
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
      "mistakes are told with product, line, field and code",
      checkMistakes,
      500,
    ],
    ["a text is read as meant, however it is spelt", checkSpelling, 2_000],
    [
      "a mutated document is refused at a place in it, or read",
      checkMutated,
      1_500,
    ],
    ["it makes no difference where a long document is cut", checkPieces, 150],
  ] as const
) {
  Deno.test(name, () => {
    for (let seed = 0; seed < times; seed++) check(new Random(seed));
  });
}
