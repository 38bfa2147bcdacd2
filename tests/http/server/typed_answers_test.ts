/**
 * A handler whose answer differs from its declaration does not compile: each
 * line after an expectation is a mistake, and `deno check` reports an
 * expectation without one.
 */
import { assertEquals } from "@std/assert";
import { XML_FORM } from "../../../src/contracts/answer_form.ts";
import type { Answer } from "../../../src/contracts/answers.ts";
import { boundedList } from "../../../src/http/server/list.ts";
import { endpoint } from "../../../src/http/server/route.ts";

const missing: Answer<"undo_dry_run"> = {
  // @ts-expect-error: an element is missing
  dry_run: { products: { total: 1, created: 1, updated: 0 } },
};
// @ts-expect-error: no such element
const unknown: Answer<"success"> = { success: true, succes: true };
const word: Answer<"delivery"> = {
  // @ts-expect-error: not one of the words
  delivery: { id: "a", event_id: "b", state: "deliverd" },
};
const text: Answer<"recovery"> = {
  // @ts-expect-error: not a number
  recovery: { queued: "7" },
};
const list: Answer<"audit"> = {
  // @ts-expect-error: a list of elements that lack some
  audit: { entry: boundedList<{ id: string }>(XML_FORM, "entry") },
};

const documented = endpoint({
  operation: "x",
  title: "x",
  about: "x",
  answers: ["recovery"],
  // @ts-expect-error: documented as another answer than the handler's
}, () => Promise.resolve({ xml: { success: true } }));
const plain = endpoint({
  operation: "x",
  title: "x",
  about: "x",
  answers: null,
  // @ts-expect-error: documented as an answer without XML
}, () => Promise.resolve({ xml: { success: true } }));

Deno.test("an answer that differs from its declaration does not compile", () => {
  assertEquals(
    [missing, unknown, word, text, list, documented, plain].length,
    7,
  );
});
