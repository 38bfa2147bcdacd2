/** A short run of `tests/crash/many.ts`. */
import { assertGreater } from "@std/assert";
import { crashCluster } from "../../crash/cluster_crash.ts";

Deno.test("processes killed one by one, together and with their server keep what they acknowledged", async () => {
  const figures = await crashCluster({
    rounds: 1,
    roles: ["api", "api", "images", "webhooks"],
    hasten: true,
    restMs: 300,
    settleMs: 60_000,
  });
  console.log(figures);
  assertGreater(figures.imagesStored, 0);
  assertGreater(figures.connectionsCut, 0);
  // Otherwise nothing was killed in the middle of a request.
  assertGreater(figures.refused + figures.unanswered, 0);
});
