import { assertEquals } from "@std/assert";
import { nearestName } from "../../src/lib/nearest_name.ts";

const SETTINGS = ["SELLER_HOST", "SELLER_PORT", "SELLER_DATA_DIR"];

for (
  const [written, nearest] of [
    ["SELLER_PROT", "SELLER_PORT"],
    ["SELLER_DATA", "SELLER_DATA_DIR"],
    ["", "SELLER_HOST"],
    ["x".repeat(1_000_000), "SELLER_HOST"],
  ]
) {
  Deno.test(`the name meant by "${written.slice(0, 20)}"`, () => {
    assertEquals(nearestName(written, SETTINGS), nearest);
  });
}
