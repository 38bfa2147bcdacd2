/**
 * The command that shows the state of the service; it works even if no service
 * runs.
 */
import { countBacklog, countWebhooks } from "../administration/backlog.ts";
import { foldersOf } from "../open_services.ts";
import { QUEUE_NAMES } from "../jobs/queues.ts";
import { DiskWatch } from "../monitoring/disk_watch.ts";
import { line } from "./command.ts";
import { databaseCommand } from "./database.ts";

export const statusCommand = databaseCommand({
  name: "status",
  summary: "show waiting work, failing webhooks and free space on the disks",
  run: async ({ config, db, deps, print }) => {
    const backlog = await db.read(countBacklog);
    for (const name of QUEUE_NAMES) {
      const { waiting, inFlight } = backlog.queues[name];
      print(line(name, `waiting: ${waiting}`, `in flight: ${inFlight}`));
    }
    const { held, exhausted } = backlog;
    print(line("deliveries", `held: ${held}`, `exhausted: ${exhausted}`));
    print(line("reviews", `pending: ${backlog.reviews}`));
    const webhooks = Object.entries(await db.read(countWebhooks))
      .map(([state, count]) => `${state}: ${count}`);
    print(line("webhooks", ...webhooks));
    const disks = new DiskWatch(deps, foldersOf(config));
    for (const { holds, freePercent, isLow } of await disks.update()) {
      const low = isLow ? ["LOW"] : [];
      print(line(`disk of ${holds}`, `free: ${freePercent} %`, ...low));
    }
  },
});
