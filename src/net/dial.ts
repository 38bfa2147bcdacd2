/** Opens connections to addresses that the caller has checked. */

import type { Clock } from "../deps.ts";
import { OutboundError } from "./errors.ts";

/** Connects by TCP to exactly this address; the signal aborts the attempt. */
export type Dial = (
  address: string,
  port: number,
  signal: AbortSignal,
) => Promise<Deno.Conn>;

/** An open connection and its remote address. */
export interface Dialled {
  conn: Deno.Conn;
  address: string;
}

/** Dials through the network. */
export const dialTcp: Dial = async (address, port, signal) => {
  const conn = await Deno.connect({ hostname: address, port, signal });
  conn.setNoDelay(true);
  return conn;
};

const MOST_ADDRESSES = 4;
const HEAD_START_MS = 250;

/**
 * Connects to the first address that accepts. The next address is tried once
 * the previous one has failed or after a quarter of a second (RFC 8305), so
 * that a broken IPv6 route does not make a host unreachable.
 * @throws the error of the last attempt.
 */
export function dialFirst(
  addresses: readonly string[],
  port: number,
  dial: Dial,
  signal: AbortSignal,
  clock: Clock,
): Promise<Dialled> {
  if (addresses.length === 1) {
    const [address] = addresses;
    return dial(address, port, signal).then((conn) => ({ conn, address }));
  }
  const candidates = addresses.slice(0, MOST_ADDRESSES);
  const losers = new AbortController();
  const attempt = AbortSignal.any([signal, losers.signal]);
  let open = 0;
  let done = false;
  let cancelWait = () => {};

  return new Promise<Dialled>((resolve, reject) => {
    const next = () => {
      cancelWait();
      const address = candidates.shift();
      if (address === undefined) return;
      open++;
      dial(address, port, attempt).then(
        (conn) => won(conn, address),
        lost,
      );
      if (candidates.length > 0) cancelWait = clock.after(HEAD_START_MS, next);
    };
    const won = (conn: Deno.Conn, address: string) => {
      if (done) return conn.close();
      finish();
      resolve({ conn, address });
    };
    const lost = (error: unknown) => {
      open--;
      if (done) return;
      if (candidates.length > 0 && !signal.aborted) return next();
      if (open > 0) return;
      finish();
      reject(error);
    };
    const finish = () => {
      done = true;
      cancelWait();
      losers.abort();
    };
    next();
  });
}

/**
 * Starts TLS on a connection. The certificate is always verified, against
 * `hostname`; `ca` has PEM certificates to trust in addition to the usual
 * roots. The connection must not be used afterwards, even on failure.
 */
export type Secure = (
  conn: Deno.Conn,
  hostname: string,
  ca: string[] | undefined,
  signal: AbortSignal,
) => Promise<Deno.Conn>;

/** Uses the runtime's TLS. */
export const secureTls: Secure = async (conn, hostname, ca, signal) => {
  const tls = await startTls(conn, hostname, ca);
  const stop = () => tls.close();
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    await tls.handshake();
    return tls;
  } catch (error) {
    if (!signal.aborted) stop();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
};

async function startTls(
  conn: Deno.Conn,
  hostname: string,
  ca: string[] | undefined,
): Promise<Deno.TlsConn> {
  try {
    return await Deno.startTls(conn as Deno.TcpConn, {
      hostname: hostname.replace(/^\[(.*)\]$/, "$1"),
      caCerts: ca,
      alpnProtocols: ["http/1.1"],
    });
  } catch (error) {
    try {
      conn.close();
    } catch {
      // The handshake had already taken over the connection.
    }
    throw error;
  }
}

/** ENOMEM, ENFILE, EMFILE, and ENOBUFS of Linux and macOS. */
const NO_RESOURCES = /\(os error (?:12|23|24|55|105)\)/;

/** Classifies a failed connection. */
export function connectError(error: unknown, host: string): OutboundError {
  if (error instanceof OutboundError) return error;
  const make = (kind: OutboundError["kind"], message: string) =>
    new OutboundError(kind, message, { cause: error });
  const { errors } = Deno;
  if (NO_RESOURCES.test(String(error))) {
    return make("exhausted", "This service cannot open a connection.");
  }
  if (error instanceof errors.ConnectionRefused) {
    return make("refused", `${host} refused the connection.`);
  }
  if (error instanceof errors.TimedOut) {
    return make("timeout", `${host} did not accept a connection in time.`);
  }
  // A second check: the process lacks the permission to connect to this
  // address.
  if (
    error instanceof errors.NotCapable ||
    error instanceof errors.PermissionDenied
  ) {
    return make("blocked", `${host} is not a host this service may reach.`);
  }
  if (error instanceof errors.InvalidData || error instanceof TypeError) {
    return make("tls", tlsMessage(error, host));
  }
  if (
    error instanceof errors.ConnectionReset ||
    error instanceof errors.ConnectionAborted ||
    error instanceof errors.BrokenPipe ||
    error instanceof errors.UnexpectedEof
  ) {
    return make("reset", `${host} broke off the connection.`);
  }
  return make("refused", `${host} cannot be reached.`);
}

// The TLS library gives its reasons only as text. The reason chooses the
// message, but not the kind of the error.
const CERTIFICATE_REASONS: [RegExp, string][] = [
  [/not valid for name/i, "is for another name"],
  [/expired/i, "has expired"],
  [/not valid yet/i, "is not valid yet"],
  [/UnknownIssuer/i, "was not issued by a trusted authority"],
  // Most self-signed certificates are marked as those of an authority.
  [/CaUsedAsEndEntity/i, "is self-signed, or an authority's own"],
  [/extended key usage/i, "is not for a server"],
  [/revoked/i, "has been revoked"],
];
const HANDSHAKE_REASONS: [RegExp, string][] = [
  [/InvalidContentType/i, "did not answer with TLS"],
  [/ProtocolVersion|Tls12Or13/i, "speaks neither TLS 1.2 nor TLS 1.3"],
  [/UnrecognisedName/i, "has no TLS certificate for this name"],
];

function tlsMessage({ message }: Error, host: string): string {
  const reasonIn = (reasons: [RegExp, string][]) =>
    reasons.find(([pattern]) => pattern.test(message))?.[1];
  const certificate = reasonIn(CERTIFICATE_REASONS);
  if (certificate !== undefined) {
    return `The TLS certificate of ${host} ${certificate}.`;
  }
  const handshake = reasonIn(HANDSHAKE_REASONS);
  return handshake === undefined
    ? `The TLS handshake with ${host} failed.`
    : `${host} ${handshake}.`;
}
