import { assert, assertEquals } from "@std/assert";
import { validate } from "@std/uuid/common";
import { systemIds } from "../src/deps.ts";

Deno.test("ids are UUIDs of version 7, in order of creation", () => {
  const before = Date.now();
  const ids = Array.from({ length: 20_000 }, () => systemIds.uuid());
  const after = Date.now();
  assertEquals(ids.toSorted(), ids);
  assertEquals(new Set(ids).size, ids.length);
  for (const id of [ids[0], ids[9_999], ids[19_999]]) {
    assert(validate(id), id);
    assertEquals(id[14], "7");
    assert("89ab".includes(id[19]), id);
    const ms = parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
    // Each further 4,096 ids of one millisecond use the next millisecond.
    assert(ms >= before && ms <= after + 5, id);
  }
});
