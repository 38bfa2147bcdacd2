/** What `app.ts` builds once and hands to handlers and background roles. */
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import type { Metrics } from "./operations/metrics.ts";
import type { Health } from "./operations/health.ts";
import type { ImageStore } from "./images/storage/blob_store.ts";
import type { Outbound } from "./net/outbound.ts";
import type { RefusalLog } from "./sellers/refusals.ts";
import type { Signals } from "./jobs/signals.ts";
import type { Db } from "./database/db.ts";
import type { FairQueue } from "./lib/fair_queue.ts";

export interface Services {
  config: Config;
  deps: Deps;
  db: Db;
  signals: Signals;
  /** `seller key` of each request in progress that has an Idempotency-Key. */
  keysInProgress: Set<string>;
  /**
   * Whatever takes milliseconds of this thread, by seller; small requests get
   * between.
   */
  heavy: FairQueue;
  /** The last refused requests of each seller. */
  refusals: RefusalLog;
  /** What this process counts about itself. */
  metrics: Metrics;
  /** Whether this process can do its work. */
  health: Health;
  /** The outbound door for HEADs and for the check of a webhook's URL. */
  outbound: Outbound;
  /** Where the bytes of images are kept. */
  images: ImageStore;
  /** Fires when what is still under way has to be answered: the service stops. */
  ending: AbortSignal;
  /** What the page of a sandbox is told; a real service has none. */
  sandbox?: SandboxPage;
}

/** Keys that everybody knows, and documents to try. */
export interface SandboxPage {
  sellerKey: string;
  operatorKey: string;
  samples: { name: string; label: string; xml: string }[];
}
