/** Every command, in the order of the help. The first is the default. */
import { backupCommand } from "./backup.ts";
import type { Command } from "./command.ts";
import { copyDatabaseCommand } from "./copy_database.ts";
import { deliveryCommands } from "./deliveries.ts";
import { eventCommands } from "./events.ts";
import { healthCommand } from "./health.ts";
import { imageCommands } from "./images.ts";
import { operatorCommands } from "./operators.ts";
import { restoreCommand } from "./restore.ts";
import { sellerCommands } from "./sellers.ts";
import { serveCommand } from "./serve.ts";

export const COMMANDS: readonly Command[] = [
  serveCommand,
  ...sellerCommands,
  ...operatorCommands,
  ...eventCommands,
  ...deliveryCommands,
  healthCommand,
  backupCommand,
  restoreCommand,
  copyDatabaseCommand,
  ...imageCommands,
];
