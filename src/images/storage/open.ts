/** Opens the image store that the settings name. */
import { join } from "node:path";
import type { Config } from "../../config.ts";
import type { Clock } from "../../deps.ts";
import { FolderStore } from "./folder.ts";
import { S3Client, type S3Settings } from "../../object_storage/client.ts";
import { s3SettingsOf } from "../../object_storage/settings.ts";
import { S3Store } from "./s3.ts";
import type { ImageStore } from "./blob_store.ts";

/**
 * The settings of a store, which can be sent to the image worker, so that it
 * opens the same store.
 */
export interface ImageStoreSettings {
  /** The store, or the folder of partial downloads for a remote store. */
  folder: string;
  /** null: the folder is the store. */
  s3: S3Settings | null;
}

/** The folder of images outside the data folder; null if there is none. */
export function ownImageFolder(
  { imageStore }: Pick<Config, "imageStore">,
): string | null {
  return imageStore?.kind === "folder" ? imageStore.folder : null;
}

/** The image store of the settings. */
export function imageStoreSettings(config: Config): ImageStoreSettings {
  const { imageStore, dataDir } = config;
  const folder = ownImageFolder(config) ?? join(dataDir, "images");
  if (imageStore === null || imageStore.kind === "folder") {
    return { folder, s3: null };
  }
  return { folder, s3: s3SettingsOf(config, imageStore) };
}

/** Opens the image store without accessing it; see `prepare`. */
export function openImageStore(
  { folder, s3 }: ImageStoreSettings,
  clock: Clock,
): ImageStore {
  if (s3 === null) return new FolderStore(folder);
  return new S3Store(new S3Client(s3, clock), folder);
}
