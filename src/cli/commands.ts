/** Every command, in the order of the help. The first is the default. */
import { backupCommand } from "./backup.ts";
import { categoryCommands } from "./categories.ts";
import type { Command } from "./command.ts";
import { copyDatabaseCommand, reopenDatabaseCommand } from "./copy_database.ts";
import { databaseInfoCommand } from "./database_info.ts";
import { deliveryCommands } from "./deliveries.ts";
import { emitCommand } from "./events.ts";
import { fileCommand } from "./file.ts";
import { healthCommand } from "./health.ts";
import { statusCommand } from "./status.ts";
import { imageCommands } from "./images.ts";
import { operatorCommands } from "./operators.ts";
import { reviewCommands } from "./reviews.ts";
import { restoreCommand } from "./restore.ts";
import { sellerCommands } from "./sellers.ts";
import { serveCommand } from "./serve.ts";
import { webhookCommands } from "./webhooks.ts";

export const COMMANDS: readonly Command[] = [
  serveCommand,
  ...sellerCommands,
  ...operatorCommands,
  ...reviewCommands,
  ...categoryCommands,
  emitCommand,
  ...webhookCommands,
  ...deliveryCommands,
  healthCommand,
  statusCommand,
  backupCommand,
  restoreCommand,
  databaseInfoCommand,
  copyDatabaseCommand,
  reopenDatabaseCommand,
  ...imageCommands,
  fileCommand,
];
