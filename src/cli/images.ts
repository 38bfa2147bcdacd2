/** The commands that maintain the stored image files. */
import type { Config } from "../config.ts";
import type { Deps } from "../deps.ts";
import { imageStoreSettings, openImageStore } from "../images/storage/open.ts";
import type { ImageStore } from "../images/storage/blob_store.ts";
import { pruneImages } from "../images/retention.ts";
import { verifyImages } from "../images/verify.ts";
import { counted, noun } from "../lib/plural.ts";
import type { Command } from "./command.ts";
import { databaseCommand } from "./database.ts";
import { imageStoreFlag } from "./flags.ts";

function storeOf(config: Config, { clock }: Deps): ImageStore {
  return openImageStore(imageStoreSettings(config), clock);
}

export const imageCommands: readonly Command[] = [
  databaseCommand({
    name: "images verify",
    summary: "read every stored image and compare it with its hash",
    flags: [imageStoreFlag],
    run: async ({ db, config, deps, print }) => {
      const report = await verifyImages(db, storeOf(config, deps));
      for (const file of report.missing) print(`missing: ${file}`);
      for (const file of report.damaged) print(`damaged: ${file}`);
      print(`checked: ${report.checked}`);
      const bad = report.missing.length + report.damaged.length;
      if (bad > 0) {
        throw new Error(
          `${bad} of ${counted(report.checked, "image")} ` +
            `${noun(bad, "is", "are")} missing or damaged. The ` +
            "service checks 10,000 images a minute and fetches missing ones " +
            "again; remove a damaged file to have it fetched, too.",
        );
      }
    },
  }),
  databaseCommand({
    name: "images prune",
    summary: "list the image files that no product needs",
    flags: [
      { name: "delete", meaning: "remove them" },
      imageStoreFlag,
    ],
    run: async ({ db, config, deps, flags, print }) => {
      const report = await pruneImages(db, storeOf(config, deps), {
        dryRun: flags.delete === undefined,
        clock: deps.clock,
      });
      for (const file of report.files) print(file);
      const verb = report.removed ? "removed" : "unused";
      const files = counted(report.files.length, "file");
      print(`${verb}: ${files}, ${counted(report.bytes, "byte")}`);
    },
  }),
];
