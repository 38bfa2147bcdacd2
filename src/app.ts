/**
 * Builds everything once, starts the roles, and closes in reverse order.
 */
import { join } from "node:path";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { FinalRecords } from "./final_records.ts";
import { Health } from "./health.ts";
import { RequestHandler } from "./http/server.ts";
import { ROUTES } from "./http/routes.ts";
import { tryGuard } from "./net/guard.ts";
import { Outbound } from "./net/outbound.ts";
import type { SandboxPage, Services } from "./services.ts";
import { newSignals } from "./signals.ts";
import { type Db, DbError } from "./store/db.ts";
import { openSqlite } from "./store/sqlite.ts";
import { ClockWatch } from "./work/clock_watch.ts";
import { ImageRole } from "./work/images.ts";
import { WebhookRole } from "./work/webhooks.ts";

/** HEADs in flight to one origin, and in all (design: "Bulk"). */
const HEADS_PER_ORIGIN = 128;
const HEADS_IN_ALL = 256;
/** How long requests in flight may take to end when the service stops. */
const DRAIN_MS = 7_000;

export interface App {
  /** Where the API listens; null when this process does not serve it. */
  url: string | null;
  db: Db;
  /** Stops taking requests, answers those in flight, closes everything. */
  close(): Promise<void>;
}

/**
 * Opens the data folder's database, making both where they are missing. Throws
 * a `DbError`.
 */
export function openDatabase(dataDir: string): Db {
  try {
    // The database holds webhook secrets: nobody else on the machine reads it.
    Deno.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new DbError("readonly", `${dataDir} cannot be made.`, error);
  }
  return openSqlite(join(dataDir, "seller.db"));
}

/**
 * Starts the service. Throws a `GuardError`, a `DbError` or `Deno.errors.*` and
 * leaves nothing.
 */
export async function openApp(
  config: Config,
  deps: Deps,
  sandbox?: SandboxPage,
): Promise<App> {
  await tryGuard(config.allowPrivate);
  await using stack = new AsyncDisposableStack();
  const db = openDatabase(config.dataDir);
  stack.defer(() => db.close());
  const outbound = new Outbound({
    allowPrivate: config.allowPrivate,
    perOrigin: HEADS_PER_ORIGIN,
    total: HEADS_IN_ALL,
  });
  stack.defer(() => outbound.close());
  const services: Services = {
    config,
    deps,
    db,
    signals: newSignals(),
    finalRecords: new FinalRecords(),
    keysInProgress: new Set(),
    health: new Health(db, deps),
    outbound,
    sandbox,
  };
  const clockWatch = new ClockWatch(services);
  clockWatch.start();
  stack.defer(() => clockWatch.stop());
  if (config.roles.includes("images")) {
    const images = new ImageRole(services);
    images.start();
    services.health.watch("images", () => images.healthy());
    stack.defer(() => images.stop());
  }
  if (config.roles.includes("webhooks")) {
    const webhooks = new WebhookRole(services);
    webhooks.start();
    services.health.watch("webhooks", () => webhooks.healthy());
    stack.defer(() => webhooks.stop());
  }
  const url = config.roles.includes("api") ? listen(services, stack) : null;
  const opened = stack.move();
  return { url, db, close: () => opened.disposeAsync() };
}

function listen(services: Services, stack: AsyncDisposableStack): string {
  const { config, deps } = services;
  const stopping = new AbortController();
  const killing = new AbortController();
  const handler = new RequestHandler(services, ROUTES, stopping.signal);
  const server = Deno.serve({
    hostname: config.host,
    port: config.port,
    signal: killing.signal,
    onListen: () => {},
  }, (request, origin) => handler.handle(request, origin));
  stack.defer(async () => {
    stopping.abort();
    const cancel = deps.clock.after(DRAIN_MS, () => killing.abort());
    await server.shutdown();
    await server.finished;
    cancel();
  });
  const { hostname, port } = server.addr;
  return `http://${
    hostname.includes(":") ? `[${hostname}]` : hostname
  }:${port}`;
}
