import { assertEquals } from "@std/assert";
import { problems } from "./regular_expressions.ts";

Deno.test("the check finds slow regular expressions and no others", async () => {
  const slow = ["/^(?:a|a)*$/", "/(?:x+x+)+y/i", String.raw`/\.+$/`];
  const wrong = await problems([...slow, "/^[a-z]+$/"]);
  assertEquals(wrong.map((line) => line.split(": ")[0]), slow);
});
