import { assertEquals } from "@std/assert";
import {
  cursor,
  fieldCursor,
  ID_FIELD,
  numberField,
} from "../../../src/http/server/cursor.ts";

const UUID = "01a201fe-738c-7feb-bbb3-87876b103833";

const PLACE = cursor<{ at: number; id: string }>({
  at: numberField(/-1|\d{1,15}/y),
  id: ID_FIELD,
});

Deno.test("a cursor is read as it was written", () => {
  for (const place of [{ at: -1, id: UUID }, { at: 1234567890123, id: UUID }]) {
    assertEquals(PLACE.parse(PLACE.write(place)), place);
  }
  assertEquals(PLACE.write({ at: 7, id: UUID }), `7-${UUID}`);
  const number3 = fieldCursor(numberField(/0|[1-9]\d{0,2}/y));
  assertEquals(number3.parse(number3.write(999)), 999);
  assertEquals(number3.parse("0"), 0);
});

Deno.test("a text that no list has returned is refused as a cursor", () => {
  const texts = [
    "",
    "7",
    UUID,
    `7-${UUID}-7`,
    `7-${UUID} `,
    `x-${UUID}`,
    `-2-${UUID}`,
    `${"9".repeat(16)}-${UUID}`,
    `7-${"-".repeat(36)}`,
    `7-${UUID}\n`,
  ];
  for (const text of texts) assertEquals(PLACE.parse(text), null, text);
  const number3 = fieldCursor(numberField(/0|[1-9]\d{0,2}/y));
  for (const text of ["01", "1000", "-1", "1-1"]) {
    assertEquals(number3.parse(text), null, text);
  }
});
