/** Sends requests as the clients of a world do, and checks every answer. */
import { gzipSync } from "node:zlib";
import type { Random } from "../../support/random.ts";
import type { SimulatedProcess, SimulatedRequest } from "../scheduler.ts";
import { isUnsure, readAnswer, type Reply } from "./answers.ts";
import { BrokenRule, hold } from "./broken_rule.ts";
import { chance, pick } from "./choice.ts";
import { acceptJson, inJson, JSON_SHARE, mayBeJson, urlOf } from "./form.ts";
import type { Stage } from "./stage.ts";
import type { Trouble } from "./trouble.ts";

export interface Call {
  method: string;
  path: string;
  /** null sends none. */
  key: Keyring | string | null;
  body?: string | Uint8Array<ArrayBuffer>;
  /** Whether the body is sent compressed. */
  zipped?: boolean;
  headers?: Readonly<Record<string, string>>;
  pieces?: SimulatedRequest["pieces"];
  reader?: SimulatedRequest["reader"];
  /** Whether the rate limit of a seller applies to it. */
  limited?: boolean;
  /**
   * Whether no other client uses this key, and requests are sent one after the
   * other.
   */
  alone?: boolean;
  /**
   * The longest time of the answer while nothing fails, in virtual
   * milliseconds.
   */
  fairMs?: number;
  /** Whether the answer is always compared with the schema. */
  thorough?: boolean;
}

/** A key that may be replaced by another one. */
export interface Keyring {
  readonly key: string;
}

/** The outcome of a request that was sent until it was answered. */
export interface Sent {
  /**
   * Null if there was no answer, or one that says that the request may have
   * been executed.
   */
  reply: Reply | null;
  /** Whether an earlier attempt may have been executed. */
  repeated: boolean;
  /**
   * Whether an earlier attempt was answered 503. Of a request with several
   * writes, the first writes may be stored.
   */
  interrupted: boolean;
}

/** Why there is no answer. */
export type Silence =
  /** No process was running. */
  | "unsent"
  /** The process ended, and the request with it. */
  | "ended"
  /** The process may still work on it. */
  | "lost";

/**
 * A request that takes longer counts as hanging, unless the client is slow on
 * purpose.
 */
const HANG_MS = 240_000;
/** While no process serves the API, a client tries again at this interval. */
const NOBODY_MS = 500;
/** After this many refusals in a row, something does not end. */
const REFUSALS = 400;
/** The share of answers that are compared with the schema, if not all are. */
const THOROUGH = 1 / 8;
/** How long an abandoned request may still take to be stored. */
const SETTLED_MS = 45_000;

/** A fault up to this long ago may still delay an answer. */
const AFTERMATH_MS = 30_000;

export interface CallerOptions {
  stage: Stage;
  trouble: Trouble;
  /** The processes that serve the API. */
  apis: readonly SimulatedProcess[];
  /** Called when a request hangs, which ends the world. */
  fail: (error: unknown) => void;
}

export class Caller {
  readonly #options: CallerOptions;
  /** Descriptions of requests that were sent and not yet answered. */
  readonly outstanding = new Set<string>();
  /** How often each kind of request got which answer. */
  readonly answers = new Map<string, number>();
  /** The longest time of an answer to a read that does not wait; virtual ms. */
  longestReadMs = 0;
  /** Which clients use JSON. */
  readonly #json = new Map<string, boolean>();
  #requests = 0;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  get #scheduler() {
    return this.#options.stage.scheduler;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((done) => void this.#scheduler.after(ms, done));
  }

  /**
   * Reads a value every `everyMs` virtual milliseconds, at most `times` times,
   * until it is defined. Returns the value, or null if it never was.
   */
  async poll<T>(
    read: () => T | undefined,
    { everyMs, times }: { everyMs: number; times: number },
  ): Promise<T | null> {
    for (let n = 0; n < times; n++) {
      const value = read();
      if (value !== undefined) return value;
      await this.sleep(everyMs);
    }
    return null;
  }

  /** Some clients always use JSON. */
  #speaksJson(who: string): boolean {
    const random = () => this.#scheduler.random(`form of ${who}`);
    const does = this.#json.get(who) ?? chance(random(), JSON_SHARE);
    this.#json.set(who, does);
    return does;
  }

  /** Sends the request once, to any process. */
  async once(
    who: string,
    call: Call,
    random: Random,
  ): Promise<Reply | Silence> {
    const process = this.#pick(random);
    return process === null
      ? await this.#nobody()
      : await this.at(process, who, call, random);
  }

  /** A process that serves the API; null if there is none. */
  #pick(random: Random): SimulatedProcess | null {
    const up = this.#options.apis.filter(({ running }) => running);
    return up.length === 0 ? null : pick(random, up);
  }

  async #nobody(): Promise<Silence> {
    await this.sleep(NOBODY_MS);
    return "unsent";
  }

  /** Sends the request once, to this process. */
  async at(
    process: SimulatedProcess,
    who: string,
    call: Call,
    random: Random,
  ): Promise<Reply | Silence> {
    const scheduler = this.#scheduler;
    const what = `#${++this.#requests} ${who}: ${call.method} ${call.path}`;
    const thorough = chance(random, THOROUGH) || (call.thorough ?? false);
    const begun = scheduler.time;
    scheduler.trace(() => `${what} to ${process.name}`);
    this.outstanding.add(what);
    const cancel = scheduler.after(HANG_MS, () =>
      this.#options.fail(
        new BrokenRule("alive", `no answer for ${HANG_MS / 1_000} s: ${what}`),
      ));
    try {
      const json = this.#speaksJson(who) && mayBeJson(call);
      const answer = await process.request(toRequest(call, json));
      scheduler.trace(() =>
        `${what}: ${answer?.status ?? "no answer"} after ${
          Math.round(scheduler.time - begun)
        } ms`
      );
      if (answer === null) return process.running ? "lost" : "ended";
      const limited = call.limited ?? false;
      const url = urlOf(call.path);
      const asked = json ? { method: call.method, url } : null;
      const reply = readAnswer(answer, { limited, thorough, json: asked });
      hold(
        reply.status !== 408 || call.pieces !== undefined,
        "contract",
        `408 is for a body that does not arrive: ${what}`,
        reply.text,
      );
      this.#checkFair(call, what, reply, begun);
      this.#count(call, reply);
      if (isPlainRead(call)) {
        const took = scheduler.time - begun;
        this.longestReadMs = Math.max(this.longestReadMs, took);
      }
      return reply;
    } finally {
      cancel();
      this.outstanding.delete(what);
    }
  }

  /**
   * Sends the request until the answer is something other than "come back
   * later". After a lost answer it gives up unless `repeatable`.
   */
  async send(
    who: string,
    call: Call,
    random: Random,
    repeatable: boolean,
  ): Promise<Sent> {
    let repeated = false;
    let interrupted = false;
    // The process that refused it for its rate, until it is sent there again.
    let waited = null as SimulatedProcess | null;
    let last = "";
    for (let tries = 0;; tries++) {
      hold(tries < REFUSALS, "alive", `refused for ever: ${call.path}`, last);
      const key = keyOf(call);
      const process = waited?.running ? waited : this.#pick(random);
      const reply = process === null
        ? await this.#nobody()
        : await this.at(process, who, call, random);
      if (reply === "unsent") continue;
      if (typeof reply !== "string" && !isUnsure(reply)) {
        if (reply.status === 401 && key !== keyOf(call)) continue;
        const wait = pauseOf(reply);
        if (wait === null) return { reply, repeated, interrupted };
        if (isRate(reply)) {
          const isAgain = call.alone === true && waited === process;
          hold(
            !isAgain,
            "true",
            `${call.path} goes on after Retry-After`,
            reply,
          );
          waited = process;
        } else {
          waited = null;
          interrupted = true;
        }
        last = reply.text;
        await this.sleep(wait);
        continue;
      }
      waited = null;
      if (reply === "lost") await this.settle();
      repeated = true;
      if (!repeatable) return { reply: null, repeated, interrupted };
    }
  }

  /** Waits until requests without an answer are stored, or never will be. */
  async settle(): Promise<void> {
    await this.sleep(SETTLED_MS);
  }

  /** Clients that send little are answered in time, whatever others send. */
  #checkFair(call: Call, what: string, reply: Reply, begun: number): void {
    const { fairMs } = call;
    if (fairMs === undefined) return;
    if (this.#options.trouble.anySince(begun - AFTERMATH_MS)) return;
    const took = Math.round(this.#scheduler.time - begun);
    hold(took <= fairMs, "fair", `${what} took ${took} ms`);
    // The settings of the world may leave little room.
    const isRefused = reply.status === 503 &&
      !reply.text.includes("bytes of request bodies in progress");
    hold(!isRefused, "fair", `${what} is not refused`, reply.text);
  }

  #count({ method, path }: Call, { status }: Reply): void {
    const route = path.split("?")[0].split("/").slice(0, 3).join("/");
    const name = `${method} ${route} ${status}`;
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
  }
}

/** Whether the answer takes only as long as the service needs for it. */
function isPlainRead({ method, path, headers, reader }: Call): boolean {
  return method === "GET" && !path.includes("wait=") &&
    headers?.Accept === undefined && reader === undefined;
}

/** How long an answer asks the client to wait; null if it is final. */
export function pauseOf({ status, code, headers }: Reply): number | null {
  const after = headers.get("retry-after");
  if (status === 429 || status === 503) return Number(after) * 1_000;
  if (status === 409 && after !== null) return Number(after) * 1_000;
  if (code === "suspended") return 2_000;
  if (code === "request_timeout") return 1_000;
  return null;
}

function keyOf({ key }: Call): string | null {
  return key !== null && typeof key === "object" ? key.key : key;
}

/**
 * Whether it was refused for the rate of requests, not for those in progress.
 */
function isRate({ status, text }: Reply): boolean {
  return status === 429 && text.includes("Too many requests");
}

function toRequest(call: Call, isJson: boolean): SimulatedRequest {
  const { method, path, headers, pieces, reader } = call;
  const sent = keyOf(call);
  const json = isJson ? inJson(call) : null;
  const body = json ?? call.body;
  const bytes = typeof body === "string"
    ? new TextEncoder().encode(body)
    : body;
  const isZipped = call.zipped === true && bytes !== undefined;
  const type = json === null ? "text/xml" : "application/json";
  return {
    method,
    path,
    headers: {
      ...(sent !== null && { "X-Service-Auth": sent }),
      ...(body !== undefined && { "Content-Type": type }),
      ...(isZipped && { "Content-Encoding": "gzip" }),
      ...headers,
      ...(isJson && { Accept: acceptJson(call) }),
    },
    body: isZipped ? new Uint8Array(gzipSync(bytes)) : bytes,
    pieces,
    reader,
  };
}
