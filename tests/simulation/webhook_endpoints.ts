/**
 * Endpoints of webhooks. The first label of an endpoint's name is its
 * behaviour: `good.hooks.example` is good, and so are `good-2.hooks.example`
 * and all others with that label.
 */
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import type { HostDefinition, Reaction, ReceivedRequest } from "./network.ts";
import { statusOf } from "./image_hosts.ts";

/** A request that an endpoint received. */
export interface Receipt {
  url: string;
  client: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array<ArrayBuffer>;
  /** 1 for the first request with this `webhook-id` at this URL. */
  attempt: number;
  /** The status of its answer; null for no answer. */
  status: number | null;
  /** Virtual milliseconds. */
  at: number;
}

/**
 * Depends on the attempt of this delivery, and on the request to this URL; both
 * from 1.
 */
type Behaviour = (attempt: number, request: number) => Reaction;

const atFirst = (reaction: Reaction): Behaviour => (attempt) =>
  attempt === 1 ? reaction : { status: 200 };

/**
 * A failing endpoint has one request at a time, so one that let all of them
 * time out would be busy for hours.
 */
const TIMED_OUT = 6;
const letsTimeOut = (reaction: Reaction): Behaviour => (_, request) =>
  request <= TIMED_OUT ? reaction : { status: 500 };

const BEHAVIOURS = {
  good: () => ({ status: 200 }),
  accepting: () => ({ status: 202, body: new Uint8Array(40) }),
  slow: () => ({ status: 204, afterMs: 3_000 }),
  /** The answer may take at most 20 s. */
  late: letsTimeOut({ status: 200, afterMs: 25_000 }),
  flaky: atFirst({ status: 503 }),
  busy: atFirst({ status: 429, headers: { "Retry-After": "30" } }),
  broken: atFirst("reset"),
  closing: atFirst("close"),
  /** Accepts the delivery, but the answer does not arrive. */
  forgetful: atFirst("silence"),
  /** The body of its answer does not end. */
  talkative: () => ({ status: 200, framing: "close", endless: true }),
  /** Its answer ends in the middle of the body. */
  half: () => ({
    status: 200,
    body: new Uint8Array(4_000),
    breaks: { share: 0.5, how: "close" },
  }),
  down: () => ({ status: 500 }),
  refused: () => ({ status: 400 }),
  moved: () => ({
    status: 302,
    headers: { Location: "http://good.hooks.example/" },
  }),
  gone: () => ({ status: 410 }),
  garbled: () => new TextEncoder().encode("no HTTP\r\n"),
  silent: letsTimeOut("silence"),
} as const satisfies Record<string, Behaviour>;

const REACHED = {
  refusing: { connects: "refused" },
  deaf: { connects: "silence" },
  untrusted: { tls: "untrusted" },
  /** Has a public address until it is registered. */
  rebound: {
    addresses: (lookup, own) => [lookup === 0 ? own : "169.254.169.254"],
  },
} as const satisfies Record<string, Omit<HostDefinition, "answer">>;

export type EndpointKind = keyof typeof BEHAVIOURS | keyof typeof REACHED;

export const ENDPOINT_KINDS = [
  ...Object.keys(BEHAVIOURS),
  ...Object.keys(REACHED),
] as EndpointKind[];

/** The last labels of every endpoint's name. */
export const HOOK_DOMAIN = "hooks.example";

export class WebhookEndpoints {
  /** The requests to all endpoints, in order. */
  readonly receipts: Receipt[] = [];
  readonly #requests = new Map<string, number>();

  /** The endpoint with this name; null for another domain or kind. */
  find(name: string): HostDefinition | null {
    if (!name.endsWith(`.${HOOK_DOMAIN}`)) return null;
    const kind = name.split(/[.-]/)[0];
    const behaviour = Object.entries<Behaviour>(BEHAVIOURS)
      .find(([known]) => known === kind)?.[1];
    const reached = Object.entries(REACHED)
      .find(([known]) => known === kind)?.[1];
    if (behaviour === undefined && reached === undefined) return null;
    return {
      ...reached,
      answer: (request) => this.#answer(request, behaviour ?? BEHAVIOURS.good),
    };
  }

  #answer(request: ReceivedRequest, behaviour: Behaviour): Reaction {
    const { method, url, client, headers, body, at } = request;
    if (method !== "POST") return { status: 405 };
    const delivery = `${url} ${headers["webhook-id"]}`;
    const attempt = this.#count(delivery);
    const reaction = behaviour(attempt, this.#count(url));
    const status = statusOf(reaction);
    this.receipts.push({ url, client, headers, body, attempt, status, at });
    return reaction;
  }

  #count(what: string): number {
    const count = (this.#requests.get(what) ?? 0) + 1;
    this.#requests.set(what, count);
    return count;
  }
}

/**
 * Whether the request was signed with this secret (`whsec_…`), as Standard
 * Webhooks defines it. Unlike the client's function, this one is synchronous.
 */
export function isSigned(
  { headers, body }: Pick<Receipt, "headers" | "body">,
  secret: string,
): boolean {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const mac = createHmac("sha256", key)
    .update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`)
    .update(body).digest("base64");
  return (headers["webhook-signature"] ?? "").split(" ").includes(`v1,${mac}`);
}
