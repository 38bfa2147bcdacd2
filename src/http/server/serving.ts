/** Serves routes at an address until the process stops. */
import { serviceStopping } from "../../lib/errors.ts";
import { waitAtMost } from "../../lib/waits.ts";
import type { Services } from "../../services.ts";
import { MONITORING_ROUTES, ROUTES } from "../routes.ts";
import { Listener, type ListenerOptions, type Listening } from "./listener.ts";
import { RequestHandler } from "./request_handler.ts";
import type { Route } from "./route.ts";

/** Begins to accept requests. */
export type Listen = (options: ListenerOptions) => Listening;

/** The address of the separate metrics port. */
const LOOPBACK = "127.0.0.1";
/** How long requests in progress may go on when the service stops. */
const DRAIN_MS = 4_000;
/** How long requests may go on waiting for other hosts when the service stops. */
const ENDING_MS = 2_000;

/**
 * Serves all routes until the stack is disposed of, and returns the URL.
 * `ending` fires `ENDING_MS` after the stop begins.
 */
export function serveAll(
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

/** Serves metrics and health at a port of this machine; returns the URL. */
export function serveMonitoring(
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
      MONITORING_ROUTES,
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
    const answered = listener.close().then(() => handler.idle());
    await waitAtMost(deps.clock, DRAIN_MS, answered);
    await handler.close();
  });
  return { url: urlOf(listener.address), handler };
}

/** Listens with the runtime's server; an error message includes the host. */
export function openListener(options: ListenerOptions): Listening {
  try {
    return new Listener(options);
  } catch (error) {
    const { AddrInUse, AddrNotAvailable } = Deno.errors;
    const namesHost = error instanceof AddrInUse ||
      error instanceof AddrNotAvailable || !(error instanceof Error);
    if (namesHost) throw error;
    throw new Error(
      `cannot listen on ${options.hostname} (${error.message}); choose ` +
        "another address with --host or SELLER_HOST.",
      { cause: error },
    );
  }
}

/** The URL of a listening address. */
export function urlOf({ hostname, port }: Listening["address"]): string {
  return `http://${
    hostname.includes(":") ? `[${hostname}]` : hostname
  }:${port}`;
}
