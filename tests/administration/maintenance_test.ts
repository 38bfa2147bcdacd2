import { assert } from "@std/assert";
import { FolderStore } from "../../src/images/storage/folder.ts";
import { boot } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { makeDataDir } from "../support/data_dir.ts";
import { parseMetrics } from "../support/metrics.ts";
import { stopwatch } from "../support/starvation.ts";

Deno.test("a stalled image store delays neither the jobs of other roles nor the stop", async () => {
  const dataDir = makeDataDir();
  const images = new FolderStore(`${dataDir}/images`);
  const stalled = Promise.withResolvers<void>();
  images.sweepTemporaryFiles = () => {
    stalled.resolve();
    return new Promise(() => {});
  };
  await using app = await boot({
    config: { dataDir, metricsKey: "metrics", roles: ["api", "images"] },
    app: { images },
  });
  const runs = async (task: string) => {
    const headers = { "X-Service-Auth": "metrics" };
    const { text } = await app.call("/metrics", { key: null, headers });
    const run = `seller_upkeep_total{task="${task}",outcome="done"}`;
    return parseMetrics(text).get(run) ?? 0;
  };
  await stalled.promise;
  const before = await runs("image_changes");
  await until(
    async () => await runs("image_changes") > before,
    "a job of another role",
  );
  const taken = stopwatch();
  await app.app.close();
  const ms = taken();
  assert(ms < 5_000, `the stop took ${ms} ms`);
});
