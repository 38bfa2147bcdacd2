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
const NO_QUERY = new URLSearchParams();
const XML_TYPE = "text/xml; charset=utf-8";

/** One request on its way to an answer: what the handler is given. */
class Call implements RequestContext {
  readonly services: Services;
  readonly request: Request;
  readonly requestId: string;
  readonly startedAt: number;
  readonly #stopping: AbortSignal;
  query = NO_QUERY;
  params: Readonly<Record<string, string>> = {};
  route: Route | null = null;
  /** Whose key it was; null until that is known, and on other routes. */
  owner: Seller | null = null;
  quota: Quota | null = null;

  readonly body = (limit = this.services.config.bodyLimit) =>
    readXmlBody(this.request, limit, this.services.deps.clock);

  constructor(services: Services, request: Request, stopping: AbortSignal) {
    this.services = services;
    this.request = request;
    this.requestId = services.deps.ids.uuid();
    this.startedAt = services.deps.clock.monotonic();
    this.#stopping = stopping;
  }

  get seller(): Seller {
    if (this.owner !== null) return this.owner;
    throw new Error("this route is not a seller's");
  }

  get abort(): AbortSignal {
    return AbortSignal.any([this.request.signal, this.#stopping]);
  }
}

export class RequestHandler {
  readonly #services: Services;
  readonly #router: Router;
  readonly #keys: SellerKeys;
  readonly #limiter: RateLimiter | null;
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
    this.#limiter = config.rateLimit === 0
      ? null
      : new RateLimiter(config.rateLimit, deps.clock);
    this.#stopping = stopping;
  }

  /** Answers a request; never rejects. */
  async handle(request: Request): Promise<Response> {
    const call = new Call(this.#services, request, this.#stopping);
    let response: Response;
    let failure: ServiceError | null = null;
    try {
      const reply = await this.#dispatch(call);
      response = toResponse(reply, this.#headers(call));
    } catch (error) {
      failure = toServiceError(error);
      response = errorResponse(failure, call, this.#headers(call));
    }
    this.#log(call, response, failure);
    return response;
  }

  async #dispatch(call: Call): Promise<Reply> {
    const { request } = call;
    const target = parseTarget(request.url);
    await this.#authenticate(call, target);
    const { route, params } = this.#findRoute(request.method, target);
    call.route = route;
    if (call.owner !== null) this.#spend(call, call.owner);
    call.params = params;
    if (target.query !== "") call.query = parseQuery(target.query);
    return await route.handler(call);
  }

  /** Asks for the key that everything below a path wants, route or not. */
  async #authenticate(call: Call, target: Target): Promise<void> {
    const api = target.segments[0];
    if (api === "seller_api") {
      const key = call.request.headers.get(KEY_HEADER);
      call.owner = await this.#keys.authenticate(key);
    } else if (api === "operator_api") {
      const { operatorKey } = this.#services.config;
      if (operatorKey === null) throw noRoute();
      checkOperatorKey(operatorKey, call.request.headers.get(KEY_HEADER));
    }
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

  #spend(call: Call, seller: Seller): void {
    if (this.#limiter === null) return;
    const quota = this.#limiter.take(seller.id, 1);
    call.quota = quota;
    if (quota.allowed) return;
    throw new ServiceError(
      "rate_limited",
      `More requests came than the ${quota.limit} a minute allowed; the next ` +
        `one is allowed in ${quota.retryAfter} s.`,
    );
  }

  /** What every answer carries; every answer to a seller its quota. */
  #headers({ requestId, owner, quota }: Call): Record<string, string> {
    const headers = { "X-Request-Id": requestId };
    if (this.#limiter === null || owner === null) return headers;
    const told = quota ?? this.#limiter.take(owner.id, 0);
    return { ...headers, ...quotaHeaders(told) };
  }

  #log(call: Call, response: Response, failure: ServiceError | null): void {
    const { log, clock } = this.#services.deps;
    const { request, route, owner } = call;
    const ms = clock.monotonic() - call.startedAt;
    const { status } = response;
    const slow = ms > SLOW_MS && !route?.waits;
    const level = status >= 500
      ? "error"
      : failure !== null || slow
      ? "info"
      : "debug";
    if (!log.enabled(level)) return;
    log[level](failure === null ? "request" : "request_refused", {
      request_id: call.requestId,
      client_request_id: request.headers.get("x-request-id")?.slice(0, 100),
      seller: owner?.name,
      method: request.method,
      route: route?.path,
      status,
      code: failure?.code,
      ms: Math.round(ms * 10) / 10,
      ...(status >= 500 && { error: describe(failure?.cause) }),
    });
  }
}

function noRoute(): ServiceError {
  return new ServiceError("not_found", "There is nothing at this path.");
}

function toResponse(reply: Reply, headers: Record<string, string>): Response {
  const { status = 200 } = reply;
  Object.assign(headers, reply.headers);
  if (status === 204) return new Response(null, { status, headers });
  headers["Content-Type"] ??= XML_TYPE;
  const body = reply.body ?? serviceDocument(reply.xml ?? {});
  return new Response(body, { status, headers });
}

function errorResponse(
  error: ServiceError,
  { requestId }: Call,
  headers: Record<string, string>,
): Response {
  Object.assign(headers, error.headers);
  headers["Content-Type"] = XML_TYPE;
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
