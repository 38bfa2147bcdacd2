/** JSON pointers to the problems of a document. */
import { assertEquals } from "@std/assert";
import { withJsonPointers } from "../../src/json/pointer.ts";
import type { Detail } from "../../src/lib/errors.ts";

type Problem = Pick<Detail, "field" | "product"> & Partial<Detail>;

const POINTERS: [Problem, list: string | null, pointer: string][] = [
  [{ field: "url" }, null, "/url"],
  [{ field: "scopes/scope[2]" }, null, "/scopes/1"],
  [{ field: "review[2]/decision" }, "reviews", "/reviews/1/decision"],
  [{ field: "review[1]" }, "reviews", "/reviews/0"],
  [{ field: "other" }, "reviews", "/reviews"],
  [{ field: "other", code: "unknown_element" }, "reviews", "/other"],
  [{ field: "", code: "unknown_element" }, "reviews", "/"],
  [{ field: "title", product: 3 }, "products", "/products/2/title"],
  [{ field: "", product: 3 }, "products", "/products/2"],
  [
    { field: "product", product: 3, code: "wrong_type" },
    "products",
    "/products/2",
  ],
  [
    { field: "price/@currency", product: 1 },
    "products",
    "/products/0/price/currency",
  ],
];

Deno.test("the pointer to a problem names lists, entries and members", () => {
  for (const [problem, list, pointer] of POINTERS) {
    const detail = { code: "not_allowed", message: "", ...problem } as Detail;
    const [found] = withJsonPointers([detail], list);
    assertEquals(found.pointer, pointer, JSON.stringify(problem));
  }
});
