import { assertEquals, assertStringIncludes } from "@std/assert";
import { SCHEMA } from "../../src/database/schema.ts";
import {
  hasLeases,
  QUEUE_NAMES,
  QUEUES,
  rowsOf,
} from "../../src/jobs/queues.ts";
import { ROLES } from "../../src/roles.ts";

Deno.test("each queue has a table of leases, whose name identifies its role, or a column with due times", () => {
  const tables = SCHEMA.filter(({ columns }) => "lease_id" in columns);
  const names = tables.map(({ name }) => name);
  const leased = QUEUE_NAMES.filter(hasLeases);
  assertEquals(names.sort(), leased.toSorted());
  for (const { name, columns, indexes } of tables) {
    assertEquals(
      ["due_at", "lease_until", "lease_id"].filter((at) => !(at in columns)),
      [],
      name,
    );
    assertEquals(typeof indexes?.[`${name}_leases`], "string", name);
  }
  for (const name of leased) assertEquals(ROLES[name].queue.table, name);
  for (const name of QUEUE_NAMES) {
    const { table, due } = rowsOf(name);
    const { columns, indexes } = SCHEMA.find(({ name }) => name === table)!;
    assertEquals(due in columns, true, name);
    assertStringIncludes(JSON.stringify(indexes), due, name);
  }
});

Deno.test("queues have different names", () => {
  for (const word of ["role", "kind"] as const) {
    const words = new Set(QUEUE_NAMES.map((name) => QUEUES[name][word]));
    assertEquals(words.size, QUEUE_NAMES.length, word);
  }
});
