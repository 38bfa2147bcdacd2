/** The flags of settings, derived from the table of settings. */
import { type Setting, SETTINGS } from "../config.ts";
import type { Flag } from "./command.ts";

function settingFlags(settings: readonly Setting<unknown>[]): Flag[] {
  return settings.flatMap(({ flag, placeholder, meaning }) =>
    flag === undefined ? [] : [{ name: flag, placeholder, meaning }]
  );
}

/** Of every setting that has a flag. */
export const allSettingFlags = settingFlags(Object.values(SETTINGS));

/** `--data FOLDER`, for commands that only need the database. */
export const [dataFlag] = settingFlags([SETTINGS.dataDir]);

/** `--image-store PLACE`, for commands that look after the images. */
export const [imageStoreFlag] = settingFlags([SETTINGS.imageStore]);
