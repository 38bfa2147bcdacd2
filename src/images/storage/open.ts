/** Opens the image store that the settings name. */
import { join } from "node:path";
import type { Config } from "../../config.ts";
import type { Clock } from "../../deps.ts";
import { FolderStore } from "./folder.ts";
import { S3Client, type S3Settings } from "./s3_client.ts";
import { S3Store } from "./s3.ts";
import type { ImageStore } from "./blob_store.ts";

/** Can be sent to the image worker, which opens the same store. */
export interface ImageStoreSettings {
  /** The store, or the folder of partial downloads for a remote store. */
  folder: string;
  /** null: the folder is the store. */
  s3: S3Settings | null;
}

/** Where the settings say that images are kept. */
export function imageStoreSettings(config: Config): ImageStoreSettings {
  const { imageStore, dataDir } = config;
  const folder = join(dataDir, "images");
  if (imageStore === null) return { folder, s3: null };
  if (imageStore.kind === "folder") {
    return { folder: imageStore.folder, s3: null };
  }
  const { bucket, prefix } = imageStore;
  return {
    folder,
    s3: {
      endpoint: config.s3Endpoint ??
        `https://s3.${config.s3Region}.amazonaws.com`,
      region: config.s3Region,
      bucket,
      prefix,
      accessKey: config.s3AccessKey ?? "",
      secretKey: config.s3SecretKey ?? "",
    },
  };
}

/** Does not access the store; see `prepare`. */
export function openImageStore(
  { folder, s3 }: ImageStoreSettings,
  clock: Clock,
): ImageStore {
  if (s3 === null) return new FolderStore(folder);
  return new S3Store(new S3Client(s3, clock), folder);
}
