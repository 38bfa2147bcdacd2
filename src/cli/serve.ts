/** The command that runs the service. */
import type { App, openApp } from "../app.ts";
import { shownSettings } from "../config.ts";
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
const ONE_WISH_MS = 500;

export const serveCommand: Command = {
  name: "serve",
  summary: "run the service (the default)",
  arguments: [],
  flags: [
    {
      name: "sandbox",
      meaning: "to try it out: demo seller, image host, webhook sink",
    },
    ...allSettingFlags,
  ],
  run: (context) =>
    context.flags.sandbox === undefined
      ? serve(context)
      : serveSandbox(context),
};

async function serve({ config, deps, print }: CommandContext): Promise<void> {
  const stop = stopSignal(deps);
  // The start waits while another process has locked the database.
  const app = await Promise.race([open(config, deps), stop]);
  if (app === undefined) return;
  deps.log.info("started", {
    version: VERSION,
    roles: config.roles,
    engine: config.databaseUrl === null ? "sqlite" : "postgres",
    url: app.url ?? undefined,
    metrics_url: app.metricsUrl ?? undefined,
    settings: shownSettings(config),
  });
  if (app.url !== null) print(`listening on ${app.url}`);
  if (app.metricsUrl !== null) print(`metrics on ${app.metricsUrl}/metrics`);
  print(`ready: ${config.roles.join(", ")}`);
  await stop;
  deps.log.info("stopping");
  await closeInTime(deps, () => app.close());
  deps.log.info("stopped");
}

async function serveSandbox(context: CommandContext): Promise<void> {
  const { config, deps, flags, print } = context;
  const stop = stopSignal(deps);
  // SELLER_DATA_DIR and SELLER_HOST may be those of a real service.
  const dataDir = flags.data === undefined ? null : config.dataDir;
  const host = flags.host === undefined ? null : config.host;
  const sandbox = await openSandbox({ config, deps, dataDir, host, print });
  let app: App | null = null;
  try {
    app = await open(sandbox.config, deps, { sandbox: sandbox.page });
    const url = app.url ?? "";
    print(`listening on ${url}`);
    await sandbox.begin({ url, db: app.db });
    await stop;
  } finally {
    await closeInTime(deps, async () => {
      await app?.close();
      await sandbox.close();
    });
  }
}

/** Loads the service, which other commands do without. */
const open: typeof openApp = async (...args) =>
  await (await import("../app.ts")).openApp(...args);

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process. */
function stopSignal({ clock }: Deps): Promise<void> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const onSignal = () => {
      askedAt ??= clock.monotonic();
      if (clock.monotonic() - askedAt > ONE_WISH_MS) Deno.exit(1);
      resolve();
    };
    Deno.addSignalListener("SIGINT", onSignal);
    if (Deno.build.os !== "windows") {
      Deno.addSignalListener("SIGTERM", onSignal);
    }
  });
}

async function closeInTime(
  { clock, log }: Deps,
  close: () => Promise<void>,
): Promise<void> {
  const cancel = clock.after(CLOSE_LIMIT_MS, () => {
    log.error("close_took_too_long", { ms: CLOSE_LIMIT_MS });
    Deno.exit(1);
  });
  await close();
  cancel();
}
