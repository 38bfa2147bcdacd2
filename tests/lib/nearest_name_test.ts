import { assertEquals } from "@std/assert";
import { isNear, nearestName } from "../../src/lib/nearest_name.ts";

const SETTINGS = ["SELLER_HOST", "SELLER_PORT", "SELLER_DATA_DIR"];

for (
  const [written, nearest] of [
    ["SELLER_PROT", "SELLER_PORT"],
    ["SELLER_DATA", "SELLER_DATA_DIR"],
    ["", "SELLER_HOST"],
    ["x".repeat(1_000_000), "SELLER_HOST"],
  ]
) {
  Deno.test(`the nearest name to "${written.slice(0, 20)}"`, () => {
    assertEquals(nearestName(written, SETTINGS), nearest);
  });
}

for (
  const [written, name, near] of [
    ["titel", "title", true],
    ["skuu", "sku", true],
    ["avail", "availability", true],
    ["desciption", "description", true],
    ["colour", "sku", false],
    ["size", "title", false],
    ["s", "sku", false],
    ["x".repeat(1_000_000), "sku", false],
  ] as const
) {
  Deno.test(`"${written.slice(0, 20)}" is ${near ? "" : "not "}near "${name}"`, () => {
    assertEquals(isNear(written, name), near);
  });
}
