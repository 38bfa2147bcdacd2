import { assertEquals } from "@std/assert";
import { RecentValues } from "../../src/lib/recent_values.ts";

Deno.test("the values used last are kept, up to their total size", () => {
  const values = new RecentValues<number>(100);
  for (let n = 0; n < 4; n++) values.set(`${n}`, n, 25);
  assertEquals(values.get("0"), 0);
  values.set("4", 4, 20);
  values.set("4", 40, 25);
  assertEquals(["0", "1", "2", "3", "4"].map((key) => values.get(key)), [
    0,
    undefined,
    2,
    3,
    40,
  ]);
  values.set("0", 1, 26);
  assertEquals(values.get("0"), undefined, "too large");
});

Deno.test("without sizes the limit is a number of values", () => {
  const values = new RecentValues<number>(4);
  for (let n = 0; n < 5; n++) values.set(`${n}`, n);
  values.delete("1");
  assertEquals(["0", "1", "2", "4"].map((key) => values.get(key)), [
    undefined,
    undefined,
    2,
    4,
  ]);
});
