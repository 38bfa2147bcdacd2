/**
 * A network in memory: names, connections with latency, hosts that speak real
 * HTTP/1.1, and their faults. Everything depends only on the seed.
 */
import type { Network as NetworkClient } from "../../src/net/outbound.ts";
import type { Random } from "../support/random.ts";
import type { Fault } from "./fault.ts";
import type { Enter } from "./gate.ts";
import {
  encodeAnswer,
  type HostAnswer,
  type HostRequest,
  RequestReader,
} from "./http_messages.ts";
import { type End, Pipe } from "./pipe.ts";
import type { Scheduler } from "./scheduler.ts";

/** A request that a host received. */
export interface ReceivedRequest extends HostRequest {
  url: string;
  /** The simulated process, or its worker. */
  client: string;
  /** Virtual milliseconds. */
  at: number;
}

/** A host's reaction to a request; bytes are sent instead of HTTP. */
export type Reaction =
  | HostAnswer
  | Uint8Array<ArrayBuffer>
  | "silence"
  | "reset"
  | "close";

/** How a TLS handshake fails, with the messages of the real library. */
const TLS_FAILURES = {
  untrusted: "invalid peer certificate: UnknownIssuer",
  expired: "invalid peer certificate: Expired",
  otherName: "invalid peer certificate: certificate not valid for name",
  noTls: "received corrupt message of type InvalidContentType",
};

export interface HostDefinition {
  answer(request: ReceivedRequest): Reaction;
  /**
   * Its addresses at the n-th look-up (from 0) by this client; by default its
   * `own` address.
   */
  addresses?: (
    lookup: number,
    own: string,
    client: string,
  ) => readonly string[];
  lookupMs?: number;
  /** What happens to a connection that is not accepted. */
  connects?: "refused" | "silence" | "unreachable";
  tls?: keyof typeof TLS_FAILURES | "silence" | "reset";
}

interface Host {
  name: string;
  address: string;
  definition: HostDefinition;
  random: Random;
  /** Latency one way, in virtual milliseconds. */
  latencyMs: number;
  /** How long it keeps an idle connection open. */
  idleMs: number;
  lookups: number;
}

interface Client {
  name: string;
  enter: Enter;
  isCut: boolean;
  readonly links: Set<Link>;
}

/** Faults that some of the hosts may have for a while. */
const TROUBLES = {
  refusing: "hosts refuse connections",
  away: "hosts are away",
  resetting: "hosts reset connections",
  cutting: "answers end too early",
  stalling: "answers stop in the middle",
  slow: "hosts are slow",
  nameless: "names do not resolve",
  slowNames: "names resolve slowly",
};
type Trouble = keyof typeof TROUBLES;

const LATENCY_MS = 60;
const IDLE_MS = 40_000;
/** The share of hosts that a fault affects. */
const SHARES = [0.2, 0.5, 1];
/** An endless body ends after this many pieces of 64 KiB. */
const ENDLESS_PIECES = 512;
const ZEROS = new Uint8Array(64 * 1024);

export class Network {
  /** Faults that may happen; none begins unless the scheduler is faulty. */
  readonly faults: readonly Fault[];
  readonly #scheduler: Scheduler;
  readonly #find: (name: string) => HostDefinition | null;
  readonly #random: Random;
  readonly #hosts = new Map<string, Host>();
  readonly #byAddress = new Map<string, Host>();
  readonly #clients = new Set<Client>();
  /** Whether a host is affected, by fault. */
  readonly #troubles = new Map<Trouble, (host: Host) => boolean>();
  #isExhausted = false;

  /**
   * @param find returns the host of a name; null if the name does not resolve
   */
  constructor(
    scheduler: Scheduler,
    find: (name: string) => HostDefinition | null,
  ) {
    this.#scheduler = scheduler;
    this.#find = find;
    this.#random = scheduler.random("network");
    this.faults = [
      ...Object.entries(TROUBLES).map(([kind, name]): Fault => ({
        name,
        of: "network",
        begin: () => this.#begin(kind as Trouble),
      })),
      {
        name: "no connection can be opened",
        of: "ours",
        begin: () => {
          this.#isExhausted = true;
          return () => void (this.#isExhausted = false);
        },
      },
    ];
  }

  /**
   * The network for `name`, a process or `process/thread`. Results are passed
   * through `enter`.
   */
  client(name: string, enter: Enter = (fn) => fn()): NetworkClient {
    const client = { name, enter, isCut: false, links: new Set<Link>() };
    this.#clients.add(client);
    return {
      dial: (address, _port, signal) => this.#dial(client, address, signal),
      resolve: (host) => this.#resolve(client, host),
      secure: (conn, _hostname, _ca, signal) => this.#secure(conn, signal),
    };
  }

  /**
   * A process or thread has died: its connections break, and nothing that it
   * waits for arrives.
   */
  cut(name: string): void {
    for (const client of this.#clients) {
      if (client.name !== name && !client.name.startsWith(`${name}/`)) continue;
      client.isCut = true;
      this.#clients.delete(client);
      for (const link of client.links) {
        link.toClient.lose();
        link.leave("reset");
      }
    }
  }

  /**
   * How many open connections a process or thread has, including its threads.
   */
  connections(name: string): number {
    return [...this.#clients].filter((client) =>
      client.name === name || client.name.startsWith(`${name}/`)
    ).reduce((sum, { links }) => sum + links.size, 0);
  }

  #begin(kind: Trouble): () => void {
    const share = SHARES[this.#random.below(SHARES.length)];
    const hit = new Map<Host, boolean>();
    const isHit = (host: Host) => {
      if (!hit.has(host)) hit.set(host, this.#random.next() < share);
      return hit.get(host)!;
    };
    this.#troubles.set(kind, isHit);
    for (const { links } of this.#clients) {
      for (const link of links) {
        if (!this.#suffers(kind, link.host)) continue;
        if (kind === "resetting") link.end("reset");
        if (kind === "away") link.lose();
      }
    }
    return () => {
      if (this.#troubles.get(kind) === isHit) this.#troubles.delete(kind);
    };
  }

  #suffers(kind: Trouble, host: Host): boolean {
    return this.#scheduler.faulty &&
      (this.#troubles.get(kind)?.(host) ?? false);
  }

  #host(name: string): Host | null {
    const known = this.#hosts.get(name);
    if (known !== undefined) return known;
    const definition = this.#find(name);
    if (definition === null) return null;
    const random = this.#scheduler.random(`host ${name}`);
    const number = this.#hosts.size + 1;
    const host = {
      name,
      address: `93.184.${number >> 8}.${number & 255}`,
      definition,
      random,
      latencyMs: 1 + random.below(LATENCY_MS),
      idleMs: 1_000 + random.below(IDLE_MS),
      lookups: 0,
    };
    this.#hosts.set(name, host);
    return host;
  }

  /** The addresses for the next look-up of a host. */
  #addresses(host: Host, client: string): readonly string[] {
    const { addresses } = host.definition;
    const found = addresses?.(host.lookups++, host.address, client) ??
      [host.address];
    for (const address of found) this.#byAddress.set(address, host);
    return found;
  }

  /** Settles a promise of a client, unless it has died meanwhile. */
  #reach(client: Client, fn: () => void): void {
    client.enter(() => {
      if (!client.isCut) fn();
    });
  }

  #resolve(client: Client, name: string): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const host = this.#host(name);
      const isSlow = host !== null && this.#suffers("slowNames", host);
      const ms = isSlow
        ? 1_000 + this.#random.below(20_000)
        : host?.definition.lookupMs ?? 1 + this.#random.below(20);
      this.#scheduler.after(ms, () =>
        this.#reach(client, () => {
          if (host === null || this.#suffers("nameless", host)) {
            return reject(new Error(`getaddrinfo ENOTFOUND ${name}`));
          }
          resolve(this.#addresses(host, client.name));
        }));
    });
  }

  #dial(
    client: Client,
    address: string,
    signal: AbortSignal,
  ): Promise<Deno.Conn> {
    return new Promise((resolve, reject) => {
      const host = this.#byAddress.get(address);
      const fate = this.#fate(host);
      const stop = () => {
        cancel();
        reject(signal.reason);
      };
      // The client waits for a silent host until the signal is aborted.
      const cancel = fate === "silence"
        ? () => {}
        : this.#scheduler.after(2 * (host?.latencyMs ?? LATENCY_MS), () =>
          this.#reach(client, () => {
            if (signal.aborted) {
              return;
            }
            signal.removeEventListener("abort", stop);
            if (fate !== "accepted") {
              return reject(DIAL_ERRORS[fate]());
            }
            resolve(this.#connect(client, host!, address));
          }));
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  #fate(
    host: Host | undefined,
  ): keyof typeof DIAL_ERRORS | "accepted" | "silence" {
    if (this.#isExhausted && this.#scheduler.faulty) return "exhausted";
    if (host === undefined) return "unreachable";
    if (this.#suffers("away", host)) return "silence";
    if (this.#suffers("refusing", host)) return "refused";
    return host.definition.connects ?? "accepted";
  }

  #connect(client: Client, host: Host, address: string): Deno.Conn {
    const link = new Link(this.#scheduler, host);
    client.links.add(link);
    void this.#serve(link, client.name);
    return new ClientConn(link, client, address);
  }

  /**
   * The content is HTTP without TLS; only whether the handshake would succeed
   * is simulated.
   */
  #secure(conn: Deno.Conn, signal: AbortSignal): Promise<Deno.Conn> {
    const { link, client } = conn as ClientConn;
    const fate = link.host.definition.tls;
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        conn.close();
        reject(error);
      };
      const stop = () => fail(new Deno.errors.Interrupted("aborted"));
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      this.#scheduler.after(
        4 * link.host.latencyMs,
        () =>
          this.#reach(client, () => {
            if (signal.aborted || link.isLost || fate === "silence") return;
            signal.removeEventListener("abort", stop);
            if (fate === undefined) {
              link.isSecure = true;
              return resolve(conn);
            }
            if (fate === "reset") return fail(connectionReset());
            fail(new Deno.errors.InvalidData(TLS_FAILURES[fate]));
          }),
      );
    });
  }

  async #serve(link: Link, client: string): Promise<void> {
    const reader = new RequestReader();
    for (let limitMs = link.host.idleMs;; limitMs = idleLimit(link.host)) {
      const request = await this.#nextRequest(link, reader, limitMs);
      if (request === null) return;
      const scheme = link.isSecure ? "https" : "http";
      const url = `${scheme}://${request.headers.host}${request.target}`;
      const at = this.#scheduler.time;
      const received = { ...request, url, client, at };
      const usual = link.host.definition.answer(received);
      const reaction = this.#troubled(link.host, usual);
      this.#scheduler.trace(() =>
        `${client}: ${request.method} ${url}: ${inWords(reaction)}`
      );
      if (!await this.#react(link, request, reaction)) return;
    }
  }

  /**
   * Null if the client has disconnected, or the host has closed an idle
   * connection.
   */
  async #nextRequest(
    link: Link,
    reader: RequestReader,
    limitMs: number,
  ): Promise<HostRequest | null> {
    for (;;) {
      const request = reader.next();
      if (request !== null) return request;
      const arrived = await link.arrival(limitMs);
      if (arrived === "idle" && link.host.random.below(4) === 0) {
        link.send(encodeAnswer("GET", { status: 408, framing: "close" }));
      }
      if (typeof arrived === "string") {
        link.end("eof");
        return null;
      }
      reader.append(arrived);
    }
  }

  /** A host's reaction while it has a fault, instead of the usual one. */
  #troubled(host: Host, usual: Reaction): Reaction {
    if (this.#suffers("away", host)) return "silence";
    if (this.#suffers("resetting", host)) return "reset";
    if (typeof usual === "string" || usual instanceof Uint8Array) return usual;
    const share = host.random.next();
    if (this.#suffers("cutting", host)) {
      return { ...usual, breaks: { share, how: "close" } };
    }
    if (this.#suffers("stalling", host)) {
      return { ...usual, breaks: { share, how: "silence" } };
    }
    if (!this.#suffers("slow", host)) return usual;
    const afterMs = (usual.afterMs ?? 0) + host.random.below(8_000);
    return { ...usual, afterMs, drip: { bytes: 400, everyMs: 200 } };
  }

  /** Returns whether the connection stays open for another request. */
  async #react(
    link: Link,
    request: HostRequest,
    reaction: Reaction,
  ): Promise<boolean> {
    if (reaction === "silence") return false;
    if (reaction === "reset" || reaction === "close") {
      link.end(reaction === "reset" ? "reset" : "eof");
      return false;
    }
    if (reaction instanceof Uint8Array) {
      link.send(reaction);
      link.end("eof");
      return false;
    }
    await this.#pause(reaction.afterMs ?? 0);
    const { breaks, drip, endless } = reaction;
    const whole = encodeAnswer(request.method, reaction);
    const bytes = breaks === undefined
      ? whole
      : whole.subarray(0, Math.floor(breaks.share * whole.length));
    const { size, everyMs } = drip === undefined
      ? this.#pieces(link.host)
      : { size: drip.bytes, everyMs: drip.everyMs };
    for (let at = 0; at < bytes.length && link.hasClient; at += size) {
      if (at > 0) await this.#pause(everyMs);
      link.send(bytes.slice(at, at + size));
    }
    if (endless && request.method !== "HEAD") await this.#sendOn(link);
    if (breaks?.how === "silence") return false;
    if (breaks !== undefined) {
      link.end(breaks.how === "reset" ? "reset" : "eof");
    } else if (isLast(request, reaction)) link.end("eof");
    else return true;
    return false;
  }

  /** How a network splits an answer; most arrive in one piece. */
  #pieces({ random }: Host): { size: number; everyMs: number } {
    if (random.below(4) > 0) return { size: Infinity, everyMs: 0 };
    return { size: 100 + random.below(20_000), everyMs: random.below(30) };
  }

  async #sendOn(link: Link): Promise<void> {
    for (let n = 0; n < ENDLESS_PIECES && link.hasClient; n++) {
      link.send(ZEROS);
      await this.#pause(1);
    }
  }

  #pause(ms: number): Promise<void> {
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#scheduler.after(ms, resolve));
  }
}

const DIAL_ERRORS = {
  refused: () =>
    new Deno.errors.ConnectionRefused("Connection refused (os error 111)"),
  unreachable: () => new Error("Network is unreachable (os error 101)"),
  exhausted: () => new Error("Too many open files (os error 24)"),
};

function connectionReset(): Error {
  return new Deno.errors.ConnectionReset(
    "Connection reset by peer (os error 104)",
  );
}

/** Some hosts close so early that the next request meets the end. */
function idleLimit({ random, idleMs }: Host): number {
  return random.below(8) === 0 ? random.below(300) : idleMs;
}

function isLast({ headers }: HostRequest, { framing }: HostAnswer): boolean {
  return framing === "close" || headers.connection === "close";
}

function inWords(reaction: Reaction): string {
  if (typeof reaction === "string") return reaction;
  if (reaction instanceof Uint8Array) return "no HTTP";
  const { status, breaks } = reaction;
  return breaks === undefined ? `${status}` : `${status}, then ${breaks.how}`;
}

/** A connection as its host sees it. */
class Link {
  readonly host: Host;
  readonly toHost: Pipe;
  readonly toClient: Pipe;
  /** Whether the client still has the connection open. */
  hasClient = true;
  /** Half-open: neither side receives anything, or learns of it. */
  isLost = false;
  isSecure = false;
  #isEnded = false;
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler, host: Host) {
    this.#scheduler = scheduler;
    this.host = host;
    this.toHost = new Pipe(scheduler);
    this.toClient = new Pipe(scheduler);
  }

  /** The time of a packet. */
  get #ms(): number {
    const { latencyMs, random } = this.host;
    return latencyMs + random.below(latencyMs);
  }

  send(bytes: Uint8Array<ArrayBuffer>): void {
    if (!this.#isEnded) this.toClient.send(bytes, this.#ms);
  }

  end(how: End): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.toClient.send(how, this.#ms);
  }

  lose(): void {
    this.isLost = true;
    this.toHost.lose();
    this.toClient.lose();
  }

  /** The client sends. */
  receive(bytes: Uint8Array<ArrayBuffer>): void {
    this.toHost.send(bytes, this.#ms);
  }

  /** The client has closed it, or died. */
  leave(how: End): void {
    this.hasClient = false;
    this.toHost.send(how, this.#ms);
  }

  /** The next bytes from the client; "idle" after this long without any. */
  arrival(
    limitMs: number,
  ): Promise<Uint8Array<ArrayBuffer> | End | "idle"> {
    return new Promise((resolve) => {
      const cancel = this.#scheduler.after(limitMs, () => {
        this.toHost.stopWaiting();
        resolve("idle");
      });
      this.toHost.whenReadable(() => {
        cancel();
        resolve(this.toHost.read(Infinity)!);
      });
    });
  }
}

/** A connection as the outbound client sees it. */
class ClientConn implements Deno.Conn {
  readonly localAddr: Deno.Addr;
  readonly remoteAddr: Deno.Addr;
  readonly link: Link;
  readonly client: Client;
  #isClosed = false;
  /** Rejects the read in progress. */
  #fail: ((error: Error) => void) | null = null;

  constructor(link: Link, client: Client, address: string) {
    this.link = link;
    this.client = client;
    this.localAddr = { transport: "tcp", hostname: "192.0.2.1", port: 40_000 };
    this.remoteAddr = { transport: "tcp", hostname: address, port: 80 };
  }

  read(into: Uint8Array): Promise<number | null> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new Deno.errors.BadResource());
      this.#fail = reject;
      this.link.toClient.whenReadable(() =>
        this.client.enter(() => {
          if (this.#fail !== reject || this.client.isCut) return;
          this.#fail = null;
          const arrived = this.link.toClient.read(into.length);
          if (arrived === "eof") return resolve(null);
          if (arrived === "reset") return reject(connectionReset());
          into.set(arrived!);
          resolve(arrived!.length);
        })
      );
    });
  }

  /** Sometimes takes only a part of the bytes, as a system may. */
  write(bytes: Uint8Array): Promise<number> {
    if (this.#isClosed) return Promise.reject(new Deno.errors.BadResource());
    const { random } = this.link.host;
    const length = random.below(8) === 0
      ? 1 + random.below(bytes.length)
      : bytes.length;
    if (!this.client.isCut) this.link.receive(bytes.slice(0, length));
    return Promise.resolve(length);
  }

  close(): void {
    if (this.#isClosed) throw new Deno.errors.BadResource();
    this.#isClosed = true;
    this.client.links.delete(this.link);
    this.link.toClient.stopWaiting();
    this.link.leave("eof");
    this.#fail?.(new Deno.errors.Interrupted("operation canceled"));
    this.#fail = null;
  }

  [Symbol.dispose](): void {
    if (!this.#isClosed) this.close();
  }

  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    throw new Error("only read() is simulated");
  }

  get writable(): WritableStream<Uint8Array<ArrayBufferLike>> {
    throw new Error("only write() is simulated");
  }

  closeWrite(): Promise<void> {
    return Promise.reject(new Error("closeWrite() is not simulated"));
  }

  ref(): void {}

  unref(): void {}
}
