/** Creates all services, starts the roles, and closes them in reverse order. */
import { type Config, leastBodyBudget, type Role } from "./config.ts";
import type { Deps } from "./deps.ts";
import { Metrics } from "./operations/metrics.ts";
import { tracedDb } from "./operations/traced_db.ts";
import { Snapshot } from "./operations/snapshot.ts";
import { Health } from "./operations/health.ts";
import {
  Listener,
  type ListenerOptions,
  type Listening,
} from "./http/server/listener.ts";
import { RequestHandler } from "./http/server/request_handler.ts";
import { MONITORING, ROUTES } from "./http/routes.ts";
import type { Route } from "./http/server/route.ts";
import { hasCopies } from "./images/rows/copies.ts";
import { IMAGES } from "./images/image.ts";
import { IMPORTS } from "./imports/import.ts";
import { ImportRole } from "./imports/worker/role.ts";
import { DELIVERIES } from "./webhooks/webhook.ts";
import { imageStoreSettings, openImageStore } from "./images/storage/open.ts";
import { checkGuard } from "./net/guard.ts";
import { lookupSlots } from "./net/names.ts";
import { type Network, Outbound } from "./net/outbound.ts";
import type { ImageStore } from "./images/storage/blob_store.ts";
import type { SandboxPage, Services } from "./services.ts";
import { DOCUMENTS } from "./contracts/documents.ts";
import { jsonOf } from "./json/reader.ts";
import { RefusalLog } from "./sellers/refusals.ts";
import { Background } from "./jobs/background.ts";
import { newSignals } from "./jobs/signals.ts";
import type { Db } from "./database/db.ts";
import { openDatabase } from "./database/open.ts";
import { heavyWork } from "./lib/wait_list.ts";
import { serviceStopping } from "./lib/errors.ts";
import { Holders } from "./lib/holders.ts";
import { USER_AGENT } from "./version.ts";
import { ClockWatch } from "./operations/clock_watch.ts";
import { type BackgroundRole, RoleKeeper } from "./jobs/role_keeper.ts";
import { RoleLocks } from "./jobs/role_lock.ts";
import { maintenanceOf } from "./operations/maintenance.ts";
import { ImageRole, type ImageRoleOptions } from "./images/worker/role.ts";
import type { HangingWorkers } from "./images/worker/thread.ts";
import { NOTICES } from "./notices/notice.ts";
import { NoticeRole } from "./notices/worker/role.ts";
import { type Mailer, SmtpMailer } from "./net/smtp.ts";
import { WebhookRole } from "./webhooks/worker/role.ts";
import { within } from "./lib/waits.ts";

/** Probes of images in flight to one origin; in total, without bursts. */
const PROBES_PER_ORIGIN = 128;
const PROBES = 256;
/** The probes of a small upload start together. */
const PROBES_OF_A_BURST = 32;
/** The address of the separate metrics port. */
const LOOPBACK = "127.0.0.1";
/** How long requests in flight may take to end when the service stops. */
const DRAIN_MS = 4_000;
/** How long a portion of maintenance, which a stalled disk holds up, may last. */
const MAINTENANCE_STOP_MS = 2_000;
/** Requests that wait for other hosts are answered with 503 after this long. */
const ENDING_MS = 2_000;

/** Of each role its queue and the labels of its metrics. */
const WORK = {
  imports: { leases: IMPORTS, queue: "imports", kind: "import" },
  images: { leases: IMAGES, queue: "images", kind: "image" },
  webhooks: { leases: DELIVERIES, queue: "deliveries", kind: "delivery" },
  notices: { leases: NOTICES, queue: "notices", kind: "notice" },
} as const;

/** Begins to accept requests. */
type Listen = (options: ListenerOptions) => Listening;

export interface App {
  /** The URL of the API; null if this process does not serve it. */
  url: string | null;
  /** The URL of the separate metrics port; null if there is none. */
  metricsUrl: string | null;
  db: Db;
  /** Everything that holds something while work is in progress. */
  holders: Holders;
  /** Stops listening, answers requests in flight, closes everything. */
  close(): Promise<void>;
}

export interface AppOptions {
  sandbox?: SandboxPage;
  /** For tests. */
  imageRole?: ImageRoleOptions;
  /** Stores the bytes of images; by default the store of the settings. */
  images?: ImageStore;
  network?: Partial<Network>;
  /** Sends mail; by default through the server of the settings. */
  mailer?: Mailer;
  /** Accepts requests; a server of the runtime by default. */
  listen?: Listen;
  locks?: RoleLocks;
  /** False: no maintenance jobs run. */
  maintain?: boolean;
}

/**
 * Starts the service. Throws a `DbError`, `Deno.errors.*` or another Error;
 * closes everything that it opened then.
 */
export async function openApp(
  config: Config,
  deps: Deps,
  options: AppOptions = {},
): Promise<App> {
  const { sandbox, maintain = true } = options;
  const { images, listen = newListener } = options;
  const { mailer = newMailer(config, deps.clock) } = options;
  const network = { lookups: lookupSlots(deps.clock), ...options.network };
  await checkGuard(deps.clock);
  const least = leastBodyBudget(config);
  if (config.bodyBudget < least) {
    deps.log.warn("body_budget_small", {
      body_budget: config.bodyBudget,
      body_limit: config.bodyLimit,
      least,
    });
  }
  await using stack = new AsyncDisposableStack();
  const holders = new Holders();
  const heavy = holders.add("heavy", heavyWork(deps));
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
  const outbound = holders.add(
    "outbound",
    new Outbound({
      allowPrivate: config.allowPrivate,
      perOrigin: PROBES_PER_ORIGIN,
      total: PROBES,
      burst: PROBES_OF_A_BURST,
      userAgent: USER_AGENT,
      clock: deps.clock,
      ...network,
    }),
  );
  stack.defer(() => outbound.close());
  const ending = new AbortController();
  const place: { url: string | null } = { url: null };
  const keysInProgress = new Set<string>();
  holders.add("keys", { held: () => ({ in_progress: keysInProgress.size }) });
  const services: Services = {
    config,
    deps,
    db,
    signals: newSignals(db.wakeUps),
    refusals: new RefusalLog(db, deps),
    holders,
    keysInProgress,
    heavy,
    metrics,
    health: new Health({
      db,
      deps,
      holders,
      folder: config.databaseUrl === null ? config.dataDir : null,
    }),
    network,
    outbound,
    images: holders.add(
      "image_store",
      images ?? openImageStore(imageStoreSettings(config), deps.clock),
    ),
    ending: ending.signal,
    mailer,
    publicUrl: () => config.publicUrl ?? place.url ?? addressOf(config),
    productsInJson: jsonOf({ name: "products", shape: DOCUMENTS.products }),
    sandbox,
  };
  stack.defer(() => services.refusals.flush());
  const metricsUrl = config.metricsPort === null
    ? null
    : listenForMonitoring(services, stack, listen, config.metricsPort);
  const locks = stack.adopt(
    options.locks ?? new RoleLocks(config.dataDir),
    (locks) => locks.close(),
  );
  const { roles, databaseUrl } = config;
  // On PostgreSQL another machine may have the role, too.
  const isAlone = (role: Role) => databaseUrl === null && locks.take(role);
  const mayDo = (role: Role) => databaseUrl !== null || locks.take(role);
  const background = stack.use(new Background());
  const watch = new ClockWatch(services);
  const keep = (
    name: keyof typeof WORK,
    isMine: () => boolean,
    make: () => BackgroundRole,
  ) => {
    keepRole(name, services, background, make);
    const { leases, queue } = WORK[name];
    watch.add(leases, services.signals[queue], isMine);
  };
  if (roles.includes("images")) {
    services.images.prepare(!await db.read(hasCopies));
    const hanging: HangingWorkers = new Set();
    keep(
      "images",
      () => mayDo("images"),
      () => new ImageRole(services, { hanging, ...options.imageRole }),
    );
  }
  if (roles.includes("webhooks")) {
    const shared = !isAlone("webhooks");
    keep(
      "webhooks",
      () => mayDo("webhooks"),
      () => new WebhookRole(services, { shared }),
    );
  }
  // Processes that receive imports also work on them.
  if (roles.includes("api")) {
    const shared = !isAlone("api");
    keep(
      "imports",
      () => mayDo("api"),
      () => new ImportRole(services, { shared }),
    );
  }
  if (config.noticesUrl !== null || mailer !== null) {
    // Every process sends; those with the role api look for what to send.
    const isLooking = () => roles.includes("api") && mayDo("api");
    keep(
      "notices",
      () => roles.includes("api") && mayDo("api"),
      () => new NoticeRole(services, { isLooking }),
    );
  }
  background.add(watch);
  const maintenance = roles.map((role) =>
    maintenanceOf(services, role, () => mayDo(role))
  );
  for (
    const work of [...(maintain ? maintenance : []), new Snapshot(services)]
  ) {
    background.add({
      start: () => work.start(),
      stop: () => within(deps.clock, MAINTENANCE_STOP_MS, work.stop()),
    });
  }
  // Added last: the listener ends first, and no new request comes.
  const url = config.roles.includes("api")
    ? listenForAll(services, stack, listen, ending)
    : null;
  place.url = url;
  stack.defer(() => db.hurry());
  for (const queue of holders.queues) {
    metrics.wait.watch(() => holders.oldestWaitMs(queue) / 1_000, queue);
  }
  // A process whose port is taken has worked on nothing.
  background.start();
  const opened = stack.move();
  return { url, metricsUrl, db, holders, close: () => opened.disposeAsync() };
}

/** Null where the settings name no mail server. */
function newMailer(
  { smtpUrl: server, mailFrom: from }: Config,
  clock: Deps["clock"],
): Mailer | null {
  if (server === null || from === null) return null;
  return new SmtpMailer({ server, from, clock });
}

function keepRole(
  name: keyof typeof WORK,
  { deps, health, holders, metrics }: Services,
  background: Background,
  make: () => BackgroundRole,
): void {
  const keeper = new RoleKeeper({ name, deps, make });
  background.add(keeper);
  health.watch(name, () => keeper.trouble());
  metrics.roleReady.watch(() => keeper.trouble() === null ? 1 : 0, name);
  const { queue, kind } = WORK[name];
  holders.add(queue, keeper);
  metrics.inProgress.watch(() => keeper.held().in_flight, kind);
  metrics.queueMoved.watch(
    () => keeper.movedAt === null ? null : keeper.movedAt / 1_000,
    queue,
  );
}

/** Serves all routes; `ending` fires `ENDING_MS` after the stop begins. */
function listenForAll(
  services: Services,
  stack: AsyncDisposableStack,
  listen: Listen,
  ending: AbortController,
): string {
  const { config: { host, port }, deps, metrics } = services;
  let cancel = () => {};
  stack.defer(() => cancel());
  const { url, handler } = serve(
    services,
    stack,
    ROUTES,
    (handler) => listen({ hostname: host, port, handler, deps }),
  );
  for (const kind of Object.keys(handler.inProgress())) {
    metrics.inProgress.watch(() => handler.inProgress()[kind], kind);
  }
  stack.defer(() => {
    cancel = deps.clock.after(ENDING_MS, () => ending.abort(serviceStopping()));
  });
  return url;
}

function listenForMonitoring(
  services: Services,
  stack: AsyncDisposableStack,
  listen: Listen,
  port: number,
): string {
  try {
    const { deps } = services;
    return serve(
      services,
      stack,
      MONITORING,
      (handler) => listen({ hostname: LOOPBACK, port, handler, deps }),
    ).url;
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    throw new Error(
      `port ${port} of ${LOOPBACK} is taken; choose another with ` +
        "--metrics-port or SELLER_METRICS_PORT.",
    );
  }
}

/** Names the host in an error, which the runtime's error may not. */
function newListener(options: ListenerOptions): Listening {
  try {
    return new Listener(options);
  } catch (error) {
    const { AddrInUse, AddrNotAvailable } = Deno.errors;
    const isClear = error instanceof AddrInUse ||
      error instanceof AddrNotAvailable || !(error instanceof Error);
    if (isClear) throw error;
    throw new Error(
      `cannot listen on ${options.hostname} (${error.message}); choose ` +
        "another address with --host or SELLER_HOST.",
      { cause: error },
    );
  }
}

/** Serves these routes until the stack is disposed of. */
function serve(
  services: Services,
  stack: AsyncDisposableStack,
  routes: readonly Route[],
  listen: (handler: Deno.ServeHandler) => Listening,
): { url: string; handler: RequestHandler } {
  const { deps } = services;
  const stopping = new AbortController();
  const handler = new RequestHandler(services, routes, stopping.signal);
  const listener = listen((request, origin) =>
    handler.handle(request, origin as Deno.ServeHandlerInfo<Deno.NetAddr>)
  );
  stack.defer(async () => {
    stopping.abort(serviceStopping());
    // Requests still in progress end with the process.
    await within(deps.clock, DRAIN_MS, listener.close());
    await handler.close();
  });
  return { url: urlOf(listener.address), handler };
}

/** Where another process with these settings listens. */
function addressOf({ host, port }: Config): string {
  return urlOf({ hostname: host === "::" ? "localhost" : host, port });
}

function urlOf({ hostname, port }: Listening["address"]): string {
  return `http://${
    hostname.includes(":") ? `[${hostname}]` : hostname
  }:${port}`;
}
