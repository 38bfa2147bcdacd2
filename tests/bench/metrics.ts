/**
 * What metrics cost an attribute update: the same load on two services, one of
 * which counts nothing, alternating.
 *
 * deno run -A tests/bench/metrics.ts [rounds]
 *
 * CPU time is compared, too, because it is more reliable while other programs
 * run.
 */
import { Metrics } from "../../src/monitoring/metrics.ts";
import { load } from "./load.ts";
import { BenchService, document } from "./service.ts";
import { Table } from "./table.ts";

const ROUNDS = Number(Deno.args[0] ?? 12);
const ROUND_MS = 500;
const COUNTED = 200_000;
const table = new Table();

async function start(preload?: string): Promise<BenchService> {
  const service = await BenchService.start({
    roles: "api",
    sellers: ["bench"],
    preload,
  });
  await service.ask(service.upload("bench", document("warm")));
  return service;
}

async function update(service: BenchService, name: string): Promise<void> {
  const before = await service.cpuSeconds();
  const { rate } = await load({
    url: service.url,
    connections: 16,
    ms: ROUND_MS,
    request: (n) =>
      service.request(
        "bench",
        "PUT",
        `products/warm-${n % 250}/attribute/quantity/${n % 1_000}`,
      ),
    expect: 204,
  });
  const cpu = await service.cpuSeconds() - before;
  if (name === "") return;
  table.note(name, "/s", rate);
  table.note(`${name}: CPU`, "µs", cpu * 1e6 / (rate * ROUND_MS / 1_000));
}

/**
 * Microseconds of CPU time for counting one update that is alone in its commit.
 */
function countingTakes(): number {
  const metrics = new Metrics("sqlite");
  const route = "/seller_api/products/:sku_or_id/attribute/:attribute/:value";
  const before = process.cpuUsage();
  for (let n = 0; n < COUNTED; n++) {
    metrics.requests.add(1, "PUT", route, 204);
    metrics.requestSeconds.observe(0.004, route);
    metrics.db.waited("queue", 1);
    metrics.db.committed(1, 1);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / COUNTED;
}

const uncounted = import.meta.resolve("./uncounted.ts");
await using counting = await start();
await using silent = await start(uncounted);
for (const service of [counting, silent, counting, silent]) {
  await update(service, "");
}
for (let round = 0; round < ROUNDS; round++) {
  await update(counting, "PUT attribute");
  await update(silent, "PUT attribute, nothing counted");
}
for (let n = 0; n < 5; n++) {
  table.note("counting one update", "µs", countingTakes());
}
const more = table.median("PUT attribute: CPU") /
    table.median("PUT attribute, nothing counted: CPU") - 1;
table.note("CPU time more with metrics", "%", more * 100);
table.print();
