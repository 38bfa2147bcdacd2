/** Errors of outbound requests. */

/**
 * - `blocked`: the URL, its name or one of its addresses is not allowed
 * - `unresolved`: the name has no address
 * - `timeout`: no address, connection, answer or whole body in time
 * - `refused`: the host refused the connection, or there is no route to it
 * - `reset`: the connection broke before the answer was complete
 * - `tls`: the certificate or the handshake failed
 * - `protocol`: the answer is not HTTP/1, or has a form that is not accepted
 * - `too_large`: the body is larger than `maxBytes`
 * - `aborted`: the caller's signal, or `Outbound.close()`
 * - `queued`: the request waited too long for other requests of this service;
 *   the host was never contacted
 * - `stalled`: the request's time ended or its connection broke, but this
 *   process stalled or hardly read its events meanwhile
 * - `exhausted`: this machine has no descriptor or memory for a connection
 */
export type OutboundErrorKind =
  | "blocked"
  | "unresolved"
  | "timeout"
  | "refused"
  | "reset"
  | "tls"
  | "protocol"
  | "too_large"
  | "aborted"
  | "queued"
  | "stalled"
  | "exhausted";

const OURS: ReadonlySet<OutboundErrorKind> = new Set<OutboundErrorKind>([
  "aborted",
  "queued",
  "stalled",
  "exhausted",
]);

export interface OutboundErrorOptions extends ErrorOptions {
  address?: string;
  elapsedMs?: number;
  atOnce?: number;
}

/**
 * A request without a usable answer. The message is one sentence that may be
 * shown to a seller; `cause` and `address` are for the log only.
 */
export class OutboundError extends Error {
  override readonly name = "OutboundError";
  readonly kind: OutboundErrorKind;
  /** The address that was dialled, if any. */
  readonly address?: string;
  /** Milliseconds since the request started. */
  readonly elapsedMs: number;
  /** How many requests the host got at once, if that is limited. */
  readonly atOnce?: number;

  constructor(
    kind: OutboundErrorKind,
    message: string,
    options: OutboundErrorOptions = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.address = options.address;
    this.elapsedMs = options.elapsedMs ?? 0;
    this.atOnce = options.atOnce;
  }

  /** Whether the cause is in this service: the host is not at fault. */
  get isOurs(): boolean {
    return OURS.has(this.kind);
  }
}

/** Formats milliseconds for sellers: "5 s", "250 ms". */
export function secondsText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}
