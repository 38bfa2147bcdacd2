/** The services that `app.ts` creates for handlers and background roles. */
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import type { Metrics } from "./monitoring/metrics.ts";
import type { DiskWatch } from "./monitoring/disk_watch.ts";
import type { Health } from "./monitoring/health.ts";
import type { ImageReceiver } from "./images/image_receiver.ts";
import type { ImageStore } from "./images/storage/blob_store.ts";
import type { Network, Outbound } from "./net/outbound.ts";
import type { Mailer } from "./net/smtp.ts";
import type { Categories } from "./catalogue/category_rows.ts";
import type { RefusalLog } from "./sellers/refusals.ts";
import type { Signals } from "./jobs/signals.ts";
import type { Db } from "./database/db.ts";
import type { BeginReading } from "./xml/decode.ts";
import type { WaitList } from "./lib/wait_list.ts";
import type { Holders } from "./lib/holders.ts";

export interface Services {
  config: Config;
  deps: Deps;
  db: Db;
  signals: Signals;
  /** Register of everything that is in use while work is in progress. */
  holders: Holders;
  /** `seller key` of each request in progress that has an Idempotency-Key. */
  keysInProgress: Set<string>;
  /**
   * CPU-heavy work, shared fairly among sellers; small requests run in between.
   */
  heavy: WaitList;
  /** The last refused requests of each seller. */
  refusals: RefusalLog;
  /** The metrics of this process. */
  metrics: Metrics;
  /** Whether this process can do its work. */
  health: Health;
  /** The free space on the disks of this process. */
  disks: DiskWatch;
  /** The outbound client for HEADs and for the check of a webhook's URL. */
  outbound: Outbound;
  /** How outbound clients reach the network. */
  network: Partial<Network>;
  /** Stores the bytes of images. */
  images: ImageStore;
  /** Receives the images that sellers upload. */
  imageReceiver: ImageReceiver;
  /** Fires when the service stops and requests in progress must be answered. */
  ending: AbortSignal;
  /** Sends mail to sellers; null if no mail is sent. */
  mailer: Mailer | null;
  /** The URL at which others reach the page, without a slash at the end. */
  publicUrl: () => string;
  /** The marketplace's categories. */
  categories: Categories;
  /** Reads documents of products in JSON. */
  productsInJson: BeginReading;
  /** Additional content of the page in a sandbox; a real service has none. */
  sandbox?: SandboxPage;
}

/** Well-known keys and sample documents. */
export interface SandboxPage {
  sellerKey: string;
  operatorKey: string;
  samples: { name: string; label: string; xml: string }[];
  /** URL of the page that shows the mails of the sandbox. */
  mailUrl: string;
}
