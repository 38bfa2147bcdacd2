/**
 * Opens the services in an order whose reverse is the order in which they are
 * closed.
 */
import { Categories } from "./catalogue/category_rows.ts";
import { type Config, leastBodyBudget } from "./config.ts";
import { SENT_PRODUCTS } from "./contracts/documents.ts";
import { openDatabase } from "./database/open.ts";
import type { Deps } from "./deps.ts";
import { hasCopies } from "./images/rows/copies.ts";
import type { ImageStore } from "./images/storage/blob_store.ts";
import type { ImageRoleOptions } from "./images/worker/role.ts";
import { WorkerReceiver } from "./images/worker/receiver.ts";
import { workerSettings } from "./images/worker/settings.ts";
import {
  imageStoreSettings,
  openImageStore,
  ownImageFolder,
} from "./images/storage/open.ts";
import { newSignals } from "./jobs/signals.ts";
import { jsonReaderFor } from "./json/reader.ts";
import { Holders } from "./lib/holders.ts";
import { heavyWorkList } from "./lib/wait_list.ts";
import { lookupSlots } from "./net/names.ts";
import { type Network, Outbound } from "./net/outbound.ts";
import { type Mailer, SmtpMailer } from "./net/smtp.ts";
import { type DiskFolders, DiskWatch } from "./monitoring/disk_watch.ts";
import { Health } from "./monitoring/health.ts";
import { Metrics } from "./monitoring/metrics.ts";
import { tracedDb } from "./monitoring/traced_db.ts";
import { RefusalLog } from "./sellers/refusals.ts";
import type { SandboxPage, Services } from "./services.ts";
import { USER_AGENT } from "./version.ts";

/** The most image probes in flight to one origin; in total, without bursts. */
const PROBES_PER_ORIGIN = 128;
const PROBES = 256;
/** Lets the probes of a small upload start together. */
const PROBES_OF_A_BURST = 32;

export interface ServiceOptions {
  sandbox?: SandboxPage;
  /** Stores the bytes of images; by default the store of the settings. */
  images?: ImageStore;
  network?: Partial<Network>;
  /** Options of image workers and their role, for tests. */
  imageRole?: ImageRoleOptions;
  /** Sends mail; by default through the server of the settings. */
  mailer?: Mailer;
}

/** Values that only the application has. */
export interface ServiceContext {
  /** Closes what was opened. */
  stack: AsyncDisposableStack;
  /** See `Services`. */
  ending: AbortSignal;
  publicUrl: () => string;
}

export async function openServices(
  config: Config,
  deps: Deps,
  options: ServiceOptions,
  { stack, ending, publicUrl }: ServiceContext,
): Promise<Services> {
  warnOfSmallBudget(config, deps);
  const holders = new Holders();
  const heavy = holders.add("heavy", heavyWorkList(deps));
  const metrics = new Metrics(
    config.databaseUrl === null ? "sqlite" : "postgres",
  );
  metrics.logLinesLost.watch(() => deps.lostLogLines?.() ?? 0);
  const database = await openDatabase(config, {
    create: true,
    heavy,
    deps,
    meter: metrics.db,
    openWaitMs: Infinity,
  });
  const db = tracedDb(holders.add("database", database));
  stack.defer(() => db.close());
  const network = { lookups: lookupSlots(deps.clock), ...options.network };
  const outbound = holders.add("outbound", newProbes(config, deps, network));
  stack.defer(() => outbound.close());
  const images = holders.add(
    "image_store",
    options.images ?? openImageStore(imageStoreSettings(config), deps.clock),
  );
  const imageReceiver = new WorkerReceiver({
    deps,
    settings: workerSettings(config, options.imageRole),
    ...options.imageRole,
  });
  holders.add("image_receiver", imageReceiver);
  stack.defer(() => imageReceiver.stop());
  const keysInProgress = new Set<string>();
  holders.add("keys", { inUse: () => ({ in_progress: keysInProgress.size }) });
  const refusals = new RefusalLog(db, deps);
  stack.defer(() => refusals.flush());
  if (config.roles.some((role) => role === "images" || role === "api")) {
    images.prepare(!await db.read(hasCopies));
  }
  return {
    config,
    deps,
    db,
    signals: newSignals(db.wakeUps),
    refusals,
    holders,
    keysInProgress,
    heavy,
    metrics,
    disks: new DiskWatch(deps, foldersOf(config)),
    health: new Health({
      db,
      deps,
      holders,
      folder: config.databaseUrl === null ? config.dataDir : null,
    }),
    network,
    outbound,
    images,
    imageReceiver,
    ending,
    mailer: options.mailer ?? newMailer(config, deps),
    publicUrl,
    categories: new Categories(),
    productsInJson: jsonReaderFor(SENT_PRODUCTS),
    sandbox: options.sandbox,
  };
}

function warnOfSmallBudget(config: Config, { log }: Deps): void {
  const { bodyBudget: body_budget, bodyLimit: body_limit } = config;
  const least = leastBodyBudget(config);
  if (body_budget >= least) return;
  log.warn("body_budget_small", { body_budget, body_limit, least });
}

/** The folders whose disks this process watches. */
export function foldersOf(config: Config): DiskFolders {
  const images = ownImageFolder(config) ?? undefined;
  return { data: config.dataDir, images };
}

function newProbes(
  { allowPrivate }: Config,
  { clock }: Deps,
  network: Partial<Network>,
): Outbound {
  return new Outbound({
    allowPrivate,
    perOrigin: PROBES_PER_ORIGIN,
    total: PROBES,
    burst: PROBES_OF_A_BURST,
    userAgent: USER_AGENT,
    clock,
    ...network,
  });
}

/** Null if the settings have no mail server. */
function newMailer(
  { smtpUrl: server, mailFrom: from }: Config,
  { clock }: Deps,
): Mailer | null {
  if (server === null || from === null) return null;
  return new SmtpMailer({ server, from, clock });
}
