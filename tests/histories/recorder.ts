/** Sends requests to the service, and writes down what its clients see. */
import type { Processes } from "../processes/processes.ts";
import { OPERATOR } from "../processes/service.ts";
import { pause } from "../support/clock.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import type { Answer, Gone, Input, Line, Shown } from "./history.ts";

/** How long a client waits for an answer. */
const ANSWER_MS = 6_000;
/** The pause before a lost request is sent again. */
const AGAIN_MS = 100;

export interface Request {
  method: string;
  path: string;
  /** The key of a seller; the operator's by default. */
  serviceKey?: string;
  body?: unknown;
  idempotencyKey?: string;
}

/** Who does something, and to what. */
export interface Who {
  client: string;
  seller: string;
  group?: string;
}

/** An answer as JSON. */
// deno-lint-ignore no-explicit-any
type Body = any;

export class Recorder implements Disposable {
  readonly #processes: Processes;
  readonly #file: Deno.FsFile;
  #operations = 0;
  /** Lines that are not written yet. */
  #lines: string[] = [];

  constructor(processes: Processes, path: string) {
    this.#processes = processes;
    this.#file = Deno.openSync(path, {
      write: true,
      create: true,
      truncate: true,
    });
  }

  get operations(): number {
    return this.#operations;
  }

  write(line: Line): void {
    this.#lines.push(`${JSON.stringify(line)}\n`);
    if (this.#lines.length >= 250) this.flush();
  }

  flush(): void {
    const bytes = new TextEncoder().encode(this.#lines.join(""));
    this.#lines = [];
    for (let at = 0; at < bytes.length;) {
      at += this.#file.writeSync(bytes.subarray(at));
    }
  }

  fault(kind: string, what: string): void {
    this.write({ type: "fault", at: performance.now(), kind, what });
  }

  invoke(who: Who, input: Input): number {
    const n = ++this.#operations;
    const { client, seller, group } = who;
    const at = performance.now();
    this.write({ type: "invoke", at, n, client, seller, group, input });
    return n;
  }

  end(n: number, type: "ok" | "fail", answer: Answer): void {
    this.write({ type, at: performance.now(), n, answer });
  }

  /**
   * Sends the request of an operation once; null if its outcome is unknown.
   * Throws at an answer that no client expects.
   */
  async attempt(n: number, request: Request): Promise<Answer | null> {
    let url: string | null;
    while ((url = this.#processes.nextUrl()) === null) await pause(AGAIN_MS);
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${url}${request.path}`, {
        method: request.method,
        headers: headersOf(request),
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      text = await response.text();
    } catch (error) {
      return this.#lost(n, (error as Error).name);
    }
    const { status } = response;
    const body = text === "" ? {} : JSON.parse(text);
    const code = body.error?.code ?? body.code;
    const isOpen = status >= 500 || code === "idempotency_key_in_progress";
    if (isOpen) return this.#lost(n, `${status} ${code}`);
    const answer: Answer = { status, ...read(body) };
    if (status < 300) {
      if (response.headers.has("idempotent-replayed")) answer.replayed = true;
      this.end(n, "ok", answer);
      return answer;
    }
    if (![404, 409, 412, 422].includes(status)) {
      throw new Error(`${request.method} ${request.path}: ${status} ${text}`);
    }
    answer.code = code;
    this.end(n, "fail", answer);
    return answer;
  }

  #lost(n: number, reason: string): null {
    this.write({ type: "info", at: performance.now(), n, reason });
    return null;
  }

  /**
   * Sends a request again until it is answered; null if the outcome is unknown:
   * `isOver`, or refused after a lost attempt, which may be executed later.
   */
  async persist(
    n: number,
    request: Request,
    isOver: () => boolean,
  ): Promise<Answer | null> {
    for (let isFirst = true;; isFirst = false) {
      const answer = await this.attempt(n, request);
      if (answer !== null && answer.status >= 300 && !isFirst) return null;
      if (answer !== null || isOver()) return answer;
      await pause(AGAIN_MS);
    }
  }

  [Symbol.dispose](): void {
    this.flush();
    this.#file.close();
  }
}

function headersOf(request: Request): Record<string, string> {
  const { serviceKey = OPERATOR, body, idempotencyKey } = request;
  return {
    accept: "application/json",
    "x-service-auth": serviceKey,
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
  };
}

/** What the judge needs of an answer. */
function read(body: Body): Partial<Answer> {
  const { transaction_id, event_id, product, products, events, next } = body;
  return {
    ...(transaction_id !== undefined && { transaction: transaction_id }),
    ...(event_id !== undefined && { id: event_id }),
    ...(product !== undefined && { product: shown(product) as Shown }),
    ...(Array.isArray(products) && { products: products.map(shown) }),
    ...(Array.isArray(events) && {
      events: events.map(({ id, data }: Body) => ({
        id,
        reference: data.order,
      })),
    }),
    next: next ?? null,
  };
}

function shown(product: Body): Shown | Gone {
  const { id, sku, title, price, quantity, mpn = null } = product;
  if (product.deleted_at !== undefined) return { id, sku, deleted: true };
  return { id, sku, title, price: price.amount, quantity, mpn };
}

/** A seller's endpoint, which refuses the first attempt of some deliveries. */
export function recordingSink(recorder: Recorder): WebhookSink {
  return new WebhookSink(({ path, headers, text }) => {
    const reference = /<order>(.*)<\/order>/.exec(text)![1];
    const id = headers.get("webhook-id")!;
    const isFirst = !seen.has(reference);
    seen.add(reference);
    const status = isFirst && reference.endsWith("7") ? 500 : 200;
    const seller = path.slice(1);
    const who = { client: `${seller}-endpoint`, seller };
    const n = recorder.invoke(who, { f: "delivery", reference, id, status });
    recorder.end(n, "ok", { status });
    return new Response(null, { status });
  });
}
const seen = new Set<string>();
