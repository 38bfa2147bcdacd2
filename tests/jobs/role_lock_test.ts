import { assertEquals } from "@std/assert";
import { RoleLocks } from "../../src/jobs/role_lock.ts";

Deno.test("a role on a data folder belongs to one process until it ends", async () => {
  const folder = await Deno.makeTempDir();
  const first = new RoleLocks(folder);
  const second = new RoleLocks(folder);
  const take = () => [first.take("webhooks"), second.take("webhooks")];
  assertEquals(take(), [true, false]);
  assertEquals(take(), [true, false]);
  assertEquals(second.take("images"), true);
  first.close();
  assertEquals(second.take("webhooks"), true);
  second.close();
  await Deno.remove(folder, { recursive: true });
});
