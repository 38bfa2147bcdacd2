/** A disk that becomes low is reported in the log and in the status. */
import { assertEquals } from "@std/assert";
import { systemClock, systemDeps } from "../../src/deps.ts";
import { systemDisk } from "../../src/lib/disk.ts";
import { DiskWatch } from "../../src/monitoring/disk_watch.ts";
import { boot, child, textAt } from "../support/app.ts";
import { runCommand } from "../support/command.ts";
import { until } from "../support/clock.ts";

Deno.test("a disk is low below 10 % until 12 % are free, and each change is logged once", async () => {
  const shares: Record<string, number> = { "/data": 0.5, "/images": 0.5 };
  const lines: string[] = [];
  const { log } = systemDeps("info", undefined, (line) => lines.push(line));
  const watch = new DiskWatch({
    clock: systemClock,
    log,
    disk: {
      ...systemDisk,
      freeShare: (folder) => Promise.resolve(shares[folder]),
    },
  }, { data: "/data", images: "/images" });
  const look = async (share: number) => {
    shares["/images"] = share;
    const rooms = await watch.update();
    return rooms.map(({ freePercent, isLow }) =>
      `${freePercent}${isLow ? " low" : ""}`
    ).join(", ");
  };
  const told = () =>
    lines.splice(0).map((line) => {
      const { level, event, holds, free_percent } = JSON.parse(line);
      return [level, event, holds, free_percent].join(" ");
    });
  assertEquals(await look(0.1), "50, 10");
  assertEquals(await look(0.099), "50, 9 low");
  assertEquals(await look(0.119), "50, 11 low");
  assertEquals(told(), ["warn disk_low images 9"]);
  assertEquals(await look(0.12), "50, 12");
  assertEquals(await look(0.11), "50, 11");
  assertEquals(told(), ["info disk_low_over images 12"]);
});

Deno.test("a disk that does not answer is left out", async () => {
  const watch = new DiskWatch({
    ...systemDeps("error"),
    disk: { ...systemDisk, freeShare: () => Promise.reject(new Error("gone")) },
  }, { data: "/data" });
  assertEquals(await watch.update(), []);
});

Deno.test("without notices, the operator's status, the command and the log report a low disk", async () => {
  const disk = { ...systemDisk, freeShare: () => Promise.resolve(0.05) };
  await using app = await boot({
    config: { operatorKey: "op" },
    deps: { disk },
  });
  const { xml } = await app.call("/operator_api/status", { key: "op" });
  const [data] = child(xml, "disks").children;
  assertEquals(
    ["holds", "free_percent", "low"].map((name) => textAt(data, name)),
    ["data", "5", "true"],
  );
  await until(
    () => app.log.some(({ event }) => event === "disk_low"),
    "the line of the log",
  );
  const deps = { ...systemDeps("error"), disk };
  const lines = await runCommand({ config: app.config, deps }, "status");
  assertEquals(
    lines.filter((line) => line.startsWith("disk")),
    ["disk of data  free: 5 %  LOW"],
  );
});
