import { assertEquals } from "@std/assert";
import { SCHEMA } from "../../src/database/schema.ts";
import { QUEUE_NAMES, QUEUES } from "../../src/jobs/queues.ts";
import { ROLES } from "../../src/roles.ts";

Deno.test("each queue has a table of leases, whose name identifies its role", () => {
  const tables = SCHEMA.filter(({ columns }) => "lease_id" in columns);
  const names = tables.map(({ name }) => name);
  assertEquals(names.sort(), QUEUE_NAMES.toSorted());
  for (const { name, columns, indexes } of tables) {
    assertEquals(
      ["due_at", "lease_until", "lease_id"].filter((at) => !(at in columns)),
      [],
      name,
    );
    assertEquals(typeof indexes?.[`${name}_leases`], "string", name);
  }
  for (const name of QUEUE_NAMES) assertEquals(ROLES[name].queue.table, name);
});

Deno.test("queues have different names", () => {
  for (const word of ["role", "kind"] as const) {
    const words = new Set(QUEUE_NAMES.map((name) => QUEUES[name][word]));
    assertEquals(words.size, QUEUE_NAMES.length, word);
  }
});
