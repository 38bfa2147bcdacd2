/** Opens the service: its services, its roles, its listener. */
import type { Config } from "./config.ts";
import type { Db } from "./database/db.ts";
import type { Deps } from "./deps.ts";
import {
  type Listen,
  openListener,
  serveAll,
  serveMonitoring,
  urlOf,
} from "./http/server/serving.ts";
import { Background } from "./jobs/background.ts";
import { RoleLocks } from "./jobs/role_lock.ts";
import type { Holders } from "./lib/holders.ts";
import { waitAtMost } from "./lib/waits.ts";
import { checkGuard } from "./net/guard.ts";
import { openServices, type ServiceOptions } from "./open_services.ts";
import { maintenanceOf } from "./administration/maintenance.ts";
import { Snapshot } from "./administration/snapshot.ts";
import { addRoles, LEASE_QUEUES, type Peers } from "./roles.ts";
import type { Services } from "./services.ts";

/**
 * How long closing waits for a portion of maintenance, which a stalled disk may
 * delay.
 */
const MAINTENANCE_STOP_MS = 2_000;

export interface App {
  /** The URL of the API; null if this process does not serve it. */
  url: string | null;
  /** The URL of the separate metrics port; null if there is none. */
  metricsUrl: string | null;
  db: Db;
  /** Register of everything that is in use while work is in progress. */
  holders: Holders;
  /** Stops listening, answers requests in flight, closes everything. */
  close(): Promise<void>;
}

export interface AppOptions extends ServiceOptions {
  /** Accepts requests; a server of the runtime by default. */
  listen?: Listen;
  locks?: RoleLocks;
  /** Whether maintenance jobs run; by default they do. */
  maintain?: boolean;
}

/**
 * Starts the service. Throws a `DbError`, `Deno.errors.*` or another Error,
 * after closing everything that it opened.
 */
export async function openApp(
  config: Config,
  deps: Deps,
  options: AppOptions = {},
): Promise<App> {
  const { listen = openListener, maintain = true } = options;
  await checkGuard(deps.clock);
  await using stack = new AsyncDisposableStack();
  const ending = new AbortController();
  let url: string | null = null;
  const publicUrl = () => config.publicUrl ?? url ?? addressOf(config);
  const context = { stack, ending: ending.signal, publicUrl };
  const services = await openServices(config, deps, options, context);
  const { db, holders } = services;
  const metricsUrl = config.metricsPort === null
    ? null
    : serveMonitoring(services, stack, listen, config.metricsPort);

  const locks = stack.adopt(
    options.locks ?? new RoleLocks(config.dataDir),
    (locks) => locks.close(),
  );
  const peers = peersOf(config, locks);
  const background = stack.use(new Background());
  addRoles(services, background, peers, { images: options.imageRole });
  if (maintain) addMaintenance(services, background, peers);
  addPeriodic(services, background, new Snapshot(services));

  // Added last, so that the listener closes first and no new request arrives.
  if (config.roles.includes("api")) {
    url = serveAll(services, stack, listen, ending);
  }
  stack.defer(() => db.shortenLockWaits());
  watchWaits(services);
  // Started only now: a process whose port is taken must not work on anything.
  background.start();
  const opened = stack.move();
  return { url, metricsUrl, db, holders, close: () => opened.disposeAsync() };
}

/** On PostgreSQL, processes on other machines may have the same roles. */
function peersOf({ databaseUrl }: Config, locks: RoleLocks): Peers {
  return {
    isAlone: (role) => databaseUrl === null && locks.take(role),
    mayDo: (role) => databaseUrl !== null || locks.take(role),
  };
}

function addMaintenance(
  services: Services,
  background: Background,
  { mayDo }: Peers,
): void {
  for (const role of services.config.roles) {
    const isOurs = () => mayDo(role);
    const jobs = maintenanceOf(services, role, LEASE_QUEUES, isOurs);
    addPeriodic(services, background, jobs);
  }
}

function addPeriodic(
  { deps: { clock } }: Services,
  background: Background,
  work: { start(): void; stop(): Promise<void> },
): void {
  background.add({
    start: () => work.start(),
    stop: () => waitAtMost(clock, MAINTENANCE_STOP_MS, work.stop()),
  });
}

function watchWaits({ holders, metrics }: Services): void {
  for (const queue of holders.queues) {
    metrics.wait.watch(() => holders.oldestWaitMs(queue) / 1_000, queue);
  }
}

/** The address on which another process with these settings listens. */
function addressOf({ host, port }: Config): string {
  return urlOf({ hostname: host === "::" ? "localhost" : host, port });
}
