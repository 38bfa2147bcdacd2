/**
 * Answers every request: checks it, calls the handler of its route, turns an
 * error into an answer, adds headers, and logs the request.
 *
 * Order of checks: key (401, for every path of an API) → route (404, 405) →
 * room for unread answers (429, 503, for a GET) → rate (429) → scope (403) →
 * path and query (400) → media type (415) → size (413) → the body.
 */
import { outageOf } from "../../database/db.ts";
import type { LogFields } from "../../deps.ts";
import { describeRequest, failRequest } from "../../lib/tracing.ts";
import { Calls } from "../../lib/calls.ts";
import { ServiceError } from "../../lib/errors.ts";
import { RecentValues } from "../../lib/recent_values.ts";
import { checkActive, KeyRefused } from "../../sellers/access.ts";
import { checkScope } from "../../sellers/key_rights.ts";
import type { Operator } from "../../sellers/operator_keys.ts";
import type { KeyOwner } from "../../sellers/key_rows.ts";
import { SellerViews } from "../../sellers/views.ts";
import type { Services } from "../../services.ts";
import { DOCUMENTS } from "../../contracts/documents.ts";
import { bytesInBlocks } from "../../lib/blocks.ts";
import { withJsonPointers } from "../../json/pointer.ts";
import { listedIn } from "../../xml/shapes.ts";
import { errorForm } from "../../contracts/answer_form.ts";
import {
  Exchange,
  type FinalRecord,
  type Origin,
  type ServerState,
} from "./exchange.ts";
import type { Reply, Route } from "./route.ts";
import { errorDocument, toServiceError } from "./error_answers.ts";
import { Admission } from "../admission/admission.ts";
import { KEY_HEADER } from "../admission/authentication.ts";
import { rateFor, rateLimitHeaders } from "../admission/rate_limit.ts";
import { type Match, parseTarget, Router, type Target } from "./router.ts";
import { nearestPath } from "./nearest_path.ts";
import { DRY_RUN, UPLOAD_NAME } from "./parameters.ts";
import { checkQuery, parseQuery } from "./query.ts";
import {
  type AnswerReader,
  BodySender,
  type EncodedBody,
  inBlocks,
  isSmallText,
  type Streamed,
} from "./sending.ts";

/** How many bytes of encoded records of uploads are cached. */
const FINAL_RECORDS_BYTES = 2 * 1_024 * 1_024;
/** A request that takes longer is logged. */
const SLOW_MS = 1_000;
/** Headers of private answers: no caching, no content sniffing. */
const PRIVATE_HEADERS = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
};
/** First segments of paths that need a key. */
const PRIVATE_SEGMENTS = new Set(["seller_api", "operator_api", "metrics"]);
/** Methods that metrics count by name. */
const COUNTED_METHODS = new Set(
  ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"],
);

export class RequestHandler {
  readonly #services: Services;
  readonly #router: Router;
  /** The documented routes, which a 404 may suggest. */
  readonly #routes: readonly Route[];
  readonly #admission: Admission;
  readonly #sender: BodySender;
  readonly #state: ServerState;
  readonly #handling = new Calls();

  /** `stopping` ends requests that wait or stream. */
  constructor(
    services: Services,
    routes: readonly Route[],
    stopping: AbortSignal,
  ) {
    const { deps, holders } = services;
    this.#services = services;
    this.#routes = routes.filter(({ documentation }) => documentation !== null);
    this.#router = new Router(routes);
    holders.add("requests", {
      inUse: () => ({ handling: this.#handling.size }),
    });
    this.#admission = new Admission(services);
    this.#sender = holders.add("answers", new BodySender(deps));
    this.#state = {
      stopping,
      admission: this.#admission,
      sender: this.#sender,
      views: new SellerViews(),
      finalRecords: new RecentValues<FinalRecord>(FINAL_RECORDS_BYTES),
    };
  }

  /**
   * Resolves when no request is in progress. The listener does not wait for
   * requests whose clients have disconnected.
   */
  idle(): Promise<void> {
    return this.#handling.ended();
  }

  /** Stores the recorded uses of keys. */
  close(): Promise<void> {
    return this.#admission.keys.close();
  }

  /** How many requests are in progress, by kind. */
  inProgress(): Record<string, number> {
    return { request: this.#handling.size, ...this.#admission.inProgress() };
  }

  /** Answers a request; never rejects. */
  async handle(request: Request, origin: Origin): Promise<Response> {
    using exchange = new Exchange(
      this.#services,
      this.#state,
      request,
      origin,
    );
    this.#handling.begin();
    try {
      const response = await this.#respond(exchange);
      await this.#services.deps.maybe?.("answer ready");
      return request.method === "HEAD"
        ? withoutBody(response, exchange.sent)
        : response;
    } finally {
      this.#handling.end();
    }
  }

  async #respond(exchange: Exchange): Promise<Response> {
    try {
      const reply = await this.#dispatch(exchange);
      const response = this.#toResponse(reply, exchange);
      this.#log(exchange, response.status);
      return response;
    } catch (error) {
      const failure = toServiceError(error, exchange.request.method);
      if (failure.status >= 500) failRequest(failure.code);
      const throttled = this.#isKnown(exchange)
        ? null
        : this.#admission.authFailures.count(exchange.client);
      const answer = withDetailPointers(
        failure.code === "unauthorized" ? throttled ?? failure : failure,
        exchange,
      );
      const response = this.#errorResponse(answer, exchange);
      this.#log(exchange, response.status, answer, {
        throttled: throttled !== null,
        refused: failure instanceof KeyRefused ? failure : null,
      });
      this.#noteRefusal(exchange, answer);
      return response;
    }
  }

  /**
   * Records refusals for sellers and operators, but not failures of the
   * service.
   */
  #noteRefusal(exchange: Exchange, error: ServiceError): void {
    const { route } = exchange;
    const refused = error instanceof KeyRefused ? error : null;
    const owner = refused?.owner ?? exchange.owner;
    if (owner === null || error.status >= 500) return;
    const { refusals, deps } = this.#services;
    refusals.note({
      id: exchange.requestId,
      sellerNo: owner.no,
      at: deps.clock.now(),
      keyId: owner.keyId,
      client: exchange.client,
      route: route && `${route.method} ${route.path}`,
      dryRun: exchange.query.get(DRY_RUN.name) === "true",
      name: UPLOAD_NAME.parse(exchange.query.get(UPLOAD_NAME.name) ?? "") ||
        null,
      status: error.status,
      code: error.code,
      message: refused?.reason ?? error.message,
      size: exchange.bytesReceived ?? null,
      details: error.details,
      more: error.more,
    });
  }

  #isKnown({ owner, operator, hasMetricsKey }: Exchange): boolean {
    return owner !== null || operator !== null || hasMetricsKey;
  }

  async #dispatch(exchange: Exchange): Promise<Reply> {
    const { request } = exchange;
    const target = parseTarget(request.url);
    const match = this.#router.match(request.method, target.segments);
    if (match !== null && "route" in match) {
      exchange.route = match.route;
      describeRequest(request.method, match.route.path);
    }
    if (!isOpen(match)) await this.#authenticate(exchange, target);
    if (match === null) throw this.#notFound(exchange, target);
    const { route, params } = matchedRoute(match, request.method);
    if (exchange.reader !== null && route.method === "GET") {
      this.#sender.checkRoom(exchange.reader);
    }
    const { owner } = exchange;
    if (owner !== null) {
      this.#countRequest(exchange, owner);
      if (route.scope !== undefined) {
        checkScope(owner, route.scope, route.method);
      }
    }
    exchange.params = params();
    if (target.query !== "") {
      exchange.query = parseQuery(target.query);
      checkQuery(route, exchange.query);
    }
    const pause = this.#pace(exchange, route);
    if (pause) await pause;
    return await route.handler(exchange);
  }

  /**
   * Lets requests of other clients run between the requests of one client. A
   * PUT changes one value and need not wait: PUT requests that arrive together
   * share a commit, and a commit costs more than the requests themselves.
   */
  #pace(exchange: Exchange, { method }: Route): Promise<void> | void {
    if (method === "PUT") return;
    const { reader, client, resources } = exchange;
    return this.#admission.pacer.begin(reader ?? client, resources.untilMade);
  }

  /** With a valid key, the 404 also suggests similar paths. */
  #notFound(exchange: Exchange, { segments }: Target): ServiceError {
    const near = nearestPath(segments, this.#routes, this.#isKnown(exchange));
    return near === null ? noRoute() : new ServiceError(
      "not_found",
      `There is nothing at this path; did you mean ${near}?`,
    );
  }

  /**
   * Checks the key of a request. Every path of an API needs one, even a path
   * without a route.
   */
  async #authenticate(exchange: Exchange, target: Target): Promise<void> {
    const { keys, operatorKeys, metricsKeys } = this.#admission;
    const api = target.segments[0];
    exchange.isPrivate = PRIVATE_SEGMENTS.has(api);
    if (api === "seller_api") {
      const key = exchange.request.headers.get(KEY_HEADER);
      exchange.owner = await keys.authenticate(key, exchange);
      checkActive(exchange.owner);
    } else if (api === "operator_api") {
      const key = exchange.request.headers.get(KEY_HEADER);
      exchange.operator = await operatorKeys.authenticate(key, exchange);
      if (exchange.operator === null) throw noRoute();
      checkReadOnlyKey(exchange.operator, exchange.request.method);
    } else if (api === "metrics") {
      const { headers } = exchange.request;
      if (!await metricsKeys.authenticate(headers, exchange)) throw noRoute();
      exchange.hasMetricsKey = true;
    }
  }

  /** Counts the request; throws 429 if it exceeds the seller's rate limit. */
  #countRequest(exchange: Exchange, seller: KeyOwner): void {
    const quota = exchange.rateLimit = this.#admission.take(seller, 1);
    if (quota === null || quota.allowed) return;
    const { perMinute, burst } = rateFor(quota.limit);
    throw new ServiceError(
      "rate_limited",
      `Too many requests: ${burst} ${burst === 1 ? "is" : "are"} allowed at ` +
        `once, and ${perMinute} a minute. Send the next one in ` +
        `${quota.retryAfter} s.`,
    );
  }

  /** Headers of every answer; answers to a seller include its rate limit. */
  #headers(exchange: Exchange): Record<string, string> {
    const { requestId, isPrivate, owner } = exchange;
    const quota = exchange.rateLimit ??
      (owner && this.#admission.take(owner, 0));
    return {
      "X-Request-Id": requestId,
      ...(isPrivate && PRIVATE_HEADERS),
      ...(quota && rateLimitHeaders(quota)),
    };
  }

  #toResponse(reply: Reply, exchange: Exchange): Response {
    const { status = 200 } = reply;
    const headers = { ...this.#headers(exchange), ...reply.headers };
    if (status === 204 || reply.body === null) {
      return new Response(null, { status, headers });
    }
    const body = reply.body ?? exchange.form.document(reply.xml ?? {});
    return this.#send(body, exchange, { status, headers });
  }

  #errorResponse(error: ServiceError, exchange: Exchange): Response {
    const form = errorForm(exchange.form.name);
    const body = errorDocument(error, exchange.requestId, form);
    const headers = { ...this.#headers(exchange), ...error.headers };
    return this.#send(body, exchange, { status: error.status, headers });
  }

  #send(
    body: EncodedBody | Streamed,
    exchange: Exchange,
    { status, headers }: { status: number; headers: Record<string, string> },
  ): Response {
    headers["Content-Type"] ??= exchange.form.type;
    const reader = answerReader(exchange);
    if (typeof body === "object" && "stream" in body) {
      const paced = reader === null
        ? this.#sender.sendPublic(body.stream, exchange.client)
        : this.#sender.pace(body, reader);
      return new Response(paced, { status, headers });
    }
    if (isSmallText(body)) {
      exchange.encodedAnswer = body;
      return new Response(body, { status, headers });
    }
    const blocks = exchange.encodedAnswer = inBlocks(body);
    headers["Content-Length"] = `${bytesInBlocks(blocks)}`;
    const sent = reader === null
      ? this.#sender.sendPublic(blocks, exchange.client)
      : this.#sender.send(blocks, reader);
    return new Response(sent, { status, headers });
  }

  #count(
    { request, route, isWaiting }: Exchange,
    status: number,
    failure: ServiceError | null,
    ms: number,
  ): void {
    const { requests, requestSeconds, refusals } = this.#services.metrics;
    const path = route?.path ?? "none";
    const method = COUNTED_METHODS.has(request.method)
      ? request.method
      : "other";
    requests.add(1, method, path, status);
    if (!isWaiting) requestSeconds.observe(ms / 1_000, path);
    if (failure !== null) refusals.add(1, failure.code);
  }

  #log(
    exchange: Exchange,
    status: number,
    failure: ServiceError | null = null,
    { throttled = false, refused = null }: {
      throttled?: boolean;
      refused?: KeyRefused | null;
    } = {},
  ): void {
    const { log, clock } = this.#services.deps;
    const { request, route, owner, viewed } = exchange;
    const ms = clock.monotonic() - exchange.startedAt;
    this.#count(exchange, status, failure, ms);
    const slow = ms > SLOW_MS && !route?.waits;
    const level = failure !== null && status >= 500
      ? "error"
      : !throttled && (failure !== null || slow)
      ? "info"
      : "debug";
    if (!log.enabled(level)) return;
    log[level](failure === null ? "request" : "request_refused", {
      request_id: exchange.requestId,
      client_request_id: request.headers.get("x-request-id")?.slice(0, 100),
      client_version: request.headers.get("x-client-version")?.slice(0, 60),
      client: exchange.client,
      seller: (refused?.owner ?? owner ?? viewed)?.name,
      key: (refused?.owner ?? owner)?.keyId,
      method: request.method.slice(0, 20),
      route: route?.path,
      status,
      code: failure?.code,
      reason: refused?.reason,
      ...(failure !== null && detailCounts(failure)),
      ms: Math.round(ms * 10) / 10,
      bytes_in: exchange.bytesReceived,
      bytes_out: exchange.sent,
      ...(status >= 500 && { error: describeError(failure?.cause) }),
    });
  }
}

/** The error with JSON pointers in its details. */
function withDetailPointers(
  error: ServiceError,
  exchange: Exchange,
): ServiceError {
  const sends = exchange.route?.documentation?.sends;
  const isOfDocument = error.details.length > 0 && sends !== undefined &&
    exchange.bytesReceived !== undefined && exchange.sentForm === "json";
  if (!isOfDocument) return error;
  const isList = listedIn(DOCUMENTS[sends.document ?? sends.root]) !== null;
  const { code, message, more, headers } = error;
  const details = withJsonPointers(error.details, isList ? sends.root : null);
  return new ServiceError(code, message, { details, more, headers });
}

/** The reader of the answer; null for a request without a key. */
function answerReader(
  { reader, resources: { untilSent }, checkKey }: Exchange,
): AnswerReader | null {
  return reader === null ? null : { owner: reader, untilSent, checkKey };
}

/** Throws 403 if a read-only key is used to change something. */
function checkReadOnlyKey({ readOnly }: Operator, method: string): void {
  if (!readOnly || method === "GET" || method === "HEAD") return;
  throw new ServiceError(
    "forbidden",
    "This operator key may only read; use one that was created " +
      "without --read-only.",
  );
}

/** Whether the route needs no key. */
function isOpen(match: Match): boolean {
  return match !== null && "route" in match && match.route.access === "public";
}

/** Throws 405 for a method that the path does not accept. */
function matchedRoute(match: NonNullable<Match>, method: string) {
  if ("route" in match) return match;
  throw new ServiceError(
    "method_not_allowed",
    `This path does not accept ${method.slice(0, 20)}; it accepts ` +
      `${match.allow.join(", ")}.`,
    { headers: { Allow: match.allow.join(", ") } },
  );
}

function noRoute(): ServiceError {
  return new ServiceError("not_found", "There is nothing at this path.");
}

/** The answer to HEAD. Over HTTP/2, Deno would send the body anyway. */
function withoutBody(response: Response, size: number | undefined): Response {
  const { status, headers } = response;
  if (size !== undefined) headers.set("Content-Length", `${size}`);
  response.body?.cancel().catch(() => {});
  return new Response(null, { status, headers });
}

/** How many details have each code; `more` details are not counted by code. */
function detailCounts({ details, more }: ServiceError): LogFields {
  if (details.length === 0) return {};
  const counts: Record<string, number> = {};
  for (const { code } of details) counts[code] = (counts[code] ?? 0) + 1;
  return { details: counts, more: more === 0 ? undefined : more };
}

/**
 * Describes a failure for the log, with its stack and its cause. The stack of an
 * outage of the database is left out, because every request then fails.
 */
function describeError(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  if (!(error instanceof Error) || outageOf(error) !== null) {
    return String(error);
  }
  const cause = error.cause === undefined
    ? ""
    : `\ncaused by ${describeError(error.cause)}`;
  return (error.stack ?? String(error)) + cause;
}
