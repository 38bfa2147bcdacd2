import { assert, assertEquals } from "@std/assert";
import { takeRole } from "../../src/jobs/role_lock.ts";

Deno.test("a role on a data folder is one process's until it ends", async () => {
  const folder = await Deno.makeTempDir();
  const first = takeRole(folder, "webhooks");
  assert(first !== null);
  assertEquals(takeRole(folder, "webhooks"), null);
  const other = takeRole(folder, "images");
  assert(other !== null, "roles are taken one by one");
  first.close();
  const second = takeRole(folder, "webhooks");
  assert(second !== null);
  second.close();
  other.close();
  await Deno.remove(folder, { recursive: true });
});
