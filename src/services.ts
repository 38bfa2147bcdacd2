/** What `app.ts` builds once and hands to handlers and background roles. */
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import type { Outbound } from "./net/outbound.ts";
import type { Signals } from "./signals.ts";
import type { Db } from "./store/db.ts";

export interface Services {
  config: Config;
  deps: Deps;
  db: Db;
  signals: Signals;
  /** `seller key` of each request in progress that has an Idempotency-Key. */
  keysInProgress: Set<string>;
  /** The outbound door for HEADs and for the check of a webhook's URL. */
  outbound: Outbound;
}
