/**
 * What every request goes through: request id, key, route, rate, the one
 * try/catch, headers, the log line.
 *
 * Order of checks: key (401, for every path of an API) → route (404, 405) →
 * rate (429) → media type (415) → size (413) → the body.
 */
import { ServiceError } from "../domain/errors.ts";
import type { Seller } from "../domain/seller.ts";
import type { Services } from "../services.ts";
import { serviceDocument } from "../xml/encode.ts";
import { readXmlBody } from "./body.ts";
import type { Reply, RequestContext } from "./context.ts";
import { errorDocument, toServiceError } from "./errors.ts";
import { checkOperatorKey, KEY_HEADER, SellerKeys } from "./keys.ts";
import { type Quota, quotaHeaders, RateLimiter } from "./rate_limit.ts";
import {
  parseQuery,
  parseTarget,
  type Route,
  Router,
  type Target,
} from "./router.ts";

/** A request that took longer than this is logged. */
const SLOW_MS = 1_000;
const XML_TYPE = "text/xml; charset=utf-8";

/** What is known of a request when it is answered; for headers and the log. */
interface Progress {
  requestId: string;
  startedAt: number;
  seller?: Seller;
  route?: Route;
  quota?: Quota;
}

export class RequestHandler {
  readonly #services: Services;
  readonly #router: Router;
  readonly #keys: SellerKeys;
  readonly #limiter: RateLimiter;
  readonly #stopping: AbortSignal;

  /** `stopping` ends what waits or streams. */
  constructor(
    services: Services,
    routes: readonly Route[],
    stopping: AbortSignal,
  ) {
    const { db, deps, config } = services;
    this.#services = services;
    this.#router = new Router(routes);
    this.#keys = new SellerKeys(db, deps.clock);
    this.#limiter = new RateLimiter(config.rateLimit, deps.clock);
    this.#stopping = stopping;
  }

  /** Answers a request; never rejects. */
  async handle(request: Request): Promise<Response> {
    const { clock, ids } = this.#services.deps;
    const progress: Progress = {
      requestId: ids.uuid(),
      startedAt: clock.monotonic(),
    };
    let response: Response;
    let failure: ServiceError | undefined;
    try {
      const reply = await this.#dispatch(request, progress);
      response = toResponse(reply, this.#headers(progress));
    } catch (error) {
      failure = toServiceError(error);
      response = errorResponse(failure, progress, this.#headers(progress));
    }
    this.#log(request, response, progress, failure);
    return response;
  }

  async #dispatch(request: Request, progress: Progress): Promise<Reply> {
    const target = parseTarget(request.url);
    const key = request.headers.get(KEY_HEADER);
    const api = target.segments[0];
    if (api === "seller_api") {
      const seller = await this.#keys.authenticate(key);
      progress.seller = seller;
      if (this.#limiter.enabled) {
        progress.quota = this.#limiter.take(seller.id, 0);
      }
    } else if (api === "operator_api") {
      const { operatorKey } = this.#services.config;
      if (operatorKey === null) throw noRoute();
      checkOperatorKey(operatorKey, key);
    }
    const { route, params } = this.#findRoute(request.method, target);
    progress.route = route;
    if (progress.seller !== undefined) this.#spend(progress.seller, progress);
    return await route.handler(
      this.#context(request, target, params, progress),
    );
  }

  #findRoute(method: string, target: Target) {
    const match = this.#router.match(method, target.segments);
    if (match === null) throw noRoute();
    if ("route" in match) return match;
    throw new ServiceError(
      "method_not_allowed",
      `This path is not for ${method.slice(0, 20)}; it is for ` +
        `${match.allow.join(", ")}.`,
      { headers: { Allow: match.allow.join(", ") } },
    );
  }

  #spend(seller: Seller, progress: Progress): void {
    if (!this.#limiter.enabled) return;
    const quota = this.#limiter.take(seller.id, 1);
    progress.quota = quota;
    if (quota.allowed) return;
    throw new ServiceError(
      "rate_limited",
      `More requests came than the ${quota.limit} a minute allowed; the next ` +
        `one is allowed in ${quota.retryAfter} s.`,
    );
  }

  #context(
    request: Request,
    target: Target,
    params: Record<string, string>,
    progress: Progress,
  ): RequestContext {
    const services = this.#services;
    const stopping = this.#stopping;
    return {
      services,
      request,
      params,
      requestId: progress.requestId,
      query: parseQuery(target.query),
      get seller(): Seller {
        if (progress.seller !== undefined) return progress.seller;
        throw new Error("this route is not a seller's");
      },
      body: (limit = services.config.bodyLimit) =>
        readXmlBody(request, limit, services.deps.clock),
      get abort() {
        return AbortSignal.any([request.signal, stopping]);
      },
    };
  }

  #headers({ requestId, quota }: Progress): Headers {
    const headers = new Headers({ "X-Request-Id": requestId });
    if (quota === undefined) return headers;
    for (const [name, value] of Object.entries(quotaHeaders(quota))) {
      headers.set(name, value);
    }
    return headers;
  }

  #log(
    request: Request,
    response: Response,
    progress: Progress,
    failure: ServiceError | undefined,
  ): void {
    const { log, clock } = this.#services.deps;
    const ms = clock.monotonic() - progress.startedAt;
    const level = response.status >= 500
      ? "error"
      : failure !== undefined || (ms > SLOW_MS && !progress.route?.waits)
      ? "info"
      : "debug";
    if (!log.enabled(level)) return;
    log[level](failure === undefined ? "request" : "request_refused", {
      request_id: progress.requestId,
      client_request_id: request.headers.get("x-request-id")?.slice(0, 100),
      seller: progress.seller?.name,
      method: request.method,
      route: progress.route?.path,
      status: response.status,
      code: failure?.code,
      ms: Math.round(ms * 10) / 10,
      ...(response.status >= 500 && { error: describe(failure?.cause) }),
    });
  }
}

function noRoute(): ServiceError {
  return new ServiceError("not_found", "There is nothing at this path.");
}

function toResponse(reply: Reply, headers: Headers): Response {
  for (const [name, value] of Object.entries(reply.headers ?? {})) {
    headers.set(name, value);
  }
  const status = reply.status ?? 200;
  if (status === 204) return new Response(null, { status, headers });
  if (!headers.has("content-type")) headers.set("Content-Type", XML_TYPE);
  const body = reply.body ?? serviceDocument(reply.xml ?? {});
  return new Response(body, { status, headers });
}

function errorResponse(
  error: ServiceError,
  { requestId }: Progress,
  headers: Headers,
): Response {
  headers.set("Content-Type", XML_TYPE);
  for (const [name, value] of Object.entries(error.headers)) {
    headers.set(name, value);
  }
  const body = errorDocument(error, requestId);
  return new Response(body, { status: error.status, headers });
}

/** An unexpected failure for the log: its stack and what caused it. */
function describe(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined
    ? ""
    : `\ncaused by ${describe(error.cause)}`;
  return (error.stack ?? String(error)) + cause;
}
