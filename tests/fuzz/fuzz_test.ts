/** A short run of `deno task fuzz` against the running service. */
import { assertEquals } from "@std/assert";
import { Random } from "../support/random.ts";
import { bootForFuzz, REQUEST_CHECKS } from "./requests.ts";

Deno.test("generated requests never make the service fail or hang", async () => {
  await using app = await bootForFuzz();
  for (let seed = 0; seed < 300; seed++) {
    for (const check of REQUEST_CHECKS) await check(app, new Random(seed));
  }
  assertEquals(app.log.filter(({ status }) => Number(status) >= 500), []);
  assertEquals((await app.call("/seller_api/webhooks")).status, 200);
});
