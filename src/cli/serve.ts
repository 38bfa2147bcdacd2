/** The command that runs the service. */
import type { App, openApp } from "../app.ts";
import { shownSettings } from "../config.ts";
import { hasWalResetBug, sqliteVersion } from "../database/sqlite/version.ts";
import type { Deps } from "../deps.ts";
import { VERSION } from "../version.ts";
import { openSandbox } from "../sandbox/sandbox.ts";
import type { Command, CommandContext } from "./command.ts";
import { allSettingFlags } from "./flags.ts";

/** Closing is abandoned after this long. */
const CLOSE_LIMIT_MS = 9_000;
/**
 * One Ctrl-C may arrive several times: from the terminal, from npm, which
 * forwards it, and from `deno run --watch`.
 */
const REPEATED_SIGNAL_MS = 500;

export const serveCommand: Command = {
  name: "serve",
  summary: "run the service (the default)",
  arguments: [],
  flags: [
    {
      name: "sandbox",
      meaning:
        "try the service: with a demo seller, image host and webhook sink",
    },
    ...allSettingFlags,
  ],
  isService: true,
  run: async (context) => {
    const end = serviceEnd(context.deps);
    const running = context.flags.sandbox === undefined
      ? serve(context, end)
      : serveSandbox(context, end);
    await Promise.race([running, end.failed]);
  },
};

interface ServiceEnd {
  /** Resolves at the first SIGTERM or SIGINT. */
  requested: Promise<void>;
  /** Rejects when the process must end at once. */
  failed: Promise<never>;
  fail(reason: Error): void;
}

async function serve(
  { config, deps, print }: CommandContext,
  end: ServiceEnd,
): Promise<void> {
  // The start waits while another process holds the lock of the database.
  const app = await Promise.race([open(config, deps), end.requested]);
  if (app === undefined) return;
  const sqlite = config.databaseUrl === null ? sqliteVersion() : undefined;
  deps.log.info("started", {
    version: VERSION,
    roles: config.roles,
    engine: config.databaseUrl === null ? "sqlite" : "postgres",
    sqlite,
    url: app.url ?? undefined,
    metrics_url: app.metricsUrl ?? undefined,
    settings: shownSettings(config),
  });
  if (sqlite !== undefined && hasWalResetBug(sqlite)) {
    deps.log.warn("sqlite_wal_reset_bug", { sqlite });
  }
  if (app.url !== null) print(`listening on ${app.url}`);
  if (app.metricsUrl !== null) print(`metrics on ${app.metricsUrl}/metrics`);
  print(`ready: ${config.roles.join(", ")}`);
  await end.requested;
  deps.log.info("stopping");
  await closeInTime(deps, end, () => app.close());
  deps.log.info("stopped");
}

async function serveSandbox(
  context: CommandContext,
  end: ServiceEnd,
): Promise<void> {
  const { config, deps, flags, print } = context;
  // Ignores SELLER_DATA_DIR and SELLER_HOST, which may belong to a real
  // service.
  const dataDir = flags.data === undefined ? null : config.dataDir;
  const host = flags.host === undefined ? null : config.host;
  const sandbox = await openSandbox({ config, deps, dataDir, host, print });
  let app: App | null = null;
  try {
    const { page, mailer } = sandbox;
    app = await open(sandbox.config, deps, { sandbox: page, mailer });
    const url = app.url ?? "";
    print(`listening on ${url}`);
    await sandbox.begin({ url, db: app.db });
    await end.requested;
  } finally {
    await closeInTime(deps, end, async () => {
      await app?.close();
      await sandbox.close();
    });
  }
}

/** Loaded only here, because other commands do not need the service. */
const open: typeof openApp = async (...args) =>
  await (await import("../app.ts")).openApp(...args);

/**
 * The first signal requests the end of the service; a second signal, or an
 * uncaught error, ends the process at once.
 */
function serviceEnd({ clock, log }: Deps): ServiceEnd {
  const requested = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<never>();
  const fail = failed.reject;
  let requestedAt: number | null = null;
  const onSignal = () => {
    requestedAt ??= clock.monotonic();
    if (clock.monotonic() - requestedAt > REPEATED_SIGNAL_MS) {
      fail(new Error("a second signal ended the service before it had closed"));
    }
    requested.resolve();
  };
  Deno.addSignalListener("SIGINT", onSignal);
  if (Deno.build.os !== "windows") {
    Deno.addSignalListener("SIGTERM", onSignal);
  }
  // Without these listeners, the runtime would print the errors outside the
  // log, and wait for a reader.
  const onError = (event: Event, error: unknown) => {
    event.preventDefault();
    const stack = error instanceof Error ? error.stack : undefined;
    log.error("uncaught_error", { error: stack ?? String(error) });
    fail(new Error("an uncaught error ended the service"));
  };
  addEventListener("error", (event) => onError(event, event.error));
  addEventListener(
    "unhandledrejection",
    (event) => onError(event, event.reason),
  );
  return { requested: requested.promise, failed: failed.promise, fail };
}

async function closeInTime(
  { clock, log }: Deps,
  { fail }: ServiceEnd,
  close: () => Promise<void>,
): Promise<void> {
  const cancel = clock.after(CLOSE_LIMIT_MS, () => {
    log.error("close_took_too_long", { ms: CLOSE_LIMIT_MS });
    fail(new Error("the service did not close in time"));
  });
  await close();
  cancel();
}
