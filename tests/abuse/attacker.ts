/** The tools of a hostile seller; counts the bytes that it sends. */
import { requestBytes } from "../bench/load.ts";
import type { HostileHosts } from "./hostile_host.ts";

export interface Sent {
  key?: string;
  body?: Uint8Array;
  headers?: Record<string, string>;
}

export class Attacker {
  /** The URL of the service. */
  readonly url: string;
  readonly keys: readonly string[];
  readonly hosts: HostileHosts;
  /** The URL of the honest seller's images. */
  readonly neighbour: string;
  bytesSent = 0;
  /** Counts of answers by status; 0 if there was no answer. */
  readonly answers = new Map<number, number>();
  readonly #over: AbortSignal;
  #next = 0;

  constructor(
    url: string,
    keys: readonly string[],
    hosts: HostileHosts,
    neighbour: string,
    over: AbortSignal,
  ) {
    this.url = url;
    this.keys = keys;
    this.hosts = hosts;
    this.neighbour = neighbour;
    this.#over = over;
  }

  get over(): boolean {
    return this.#over.aborted;
  }

  /** A number that was not returned before. */
  fresh(): number {
    return this.#next++;
  }

  /** A URL that nobody has requested, on each host in turn. */
  image(kind: string): string {
    const n = this.fresh();
    const { urls } = this.hosts;
    return `${urls[n % urls.length]}/${kind}/${n}.png`;
  }

  key(n: number): string {
    return this.keys[n % this.keys.length];
  }

  /**
   * Sends a request and returns the text of its answer; "" if there is none.
   */
  async send(method: string, path: string, sent: Sent = {}): Promise<string> {
    const { key = this.keys[0], body, headers = {} } = sent;
    this.bytesSent += 200 + path.length + (body?.length ?? 0);
    let status = 0;
    let text = "";
    try {
      const response = await fetch(this.url + path, {
        method,
        headers: {
          "x-service-auth": key,
          ...(body !== undefined && { "content-type": "text/xml" }),
          ...headers,
        },
        body: body as Uint8Array<ArrayBuffer>,
        signal: this.#over,
      });
      status = response.status;
      text = await response.text();
    } catch {
      // The service has ended, or the time is up.
    }
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
    // A seller that is told to retry later waits a little.
    if (status === 429 || status === 503) await this.rest(20);
    return text;
  }

  upload(
    document: string | Uint8Array,
    key = this.keys[0],
    headers: Record<string, string> = {},
  ): Promise<string> {
    const body = typeof document === "string"
      ? new TextEncoder().encode(document)
      : document;
    const path = "/seller_api/bulk_products";
    return this.send("POST", path, { key, body, headers });
  }

  /** Sends a request, or a part of one, and never reads. */
  async sendAndHold(bytes: Uint8Array): Promise<void> {
    const { hostname, port } = new URL(this.url);
    try {
      const connection = await Deno.connect({ hostname, port: Number(port) });
      this.#over.addEventListener("abort", () => connection.close());
      this.bytesSent += bytes.length;
      await connection.write(bytes);
    } catch {
      // The service accepts no more connections.
      await this.rest(100);
    }
  }

  request(method: string, path: string, key = this.keys[0]): Uint8Array {
    return requestBytes(method, path, { "X-Service-Auth": key });
  }

  /** Waits this long, or until the attack ends. */
  async rest(ms = 3_600_000): Promise<void> {
    if (this.over) return;
    const rested = Promise.withResolvers<void>();
    const timer = setTimeout(rested.resolve, ms);
    const wake = () => rested.resolve();
    this.#over.addEventListener("abort", wake, { once: true });
    await rested.promise;
    clearTimeout(timer);
    this.#over.removeEventListener("abort", wake);
  }
}

/**
 * A document of products; the n-th has these elements in addition to the
 * required ones.
 */
export function products(
  prefix: string,
  count: number,
  more: (n: number) => string = () => "",
): string {
  const rows = Array.from(
    { length: count },
    (_, n) =>
      `<product><sku>${prefix}-${n}</sku><title>t</title>` +
      `<price currency="SEK">1</price><quantity>1</quantity>${more(n)}` +
      "</product>",
  );
  return `<products>${rows.join("")}</products>`;
}

/** Products with this many images each. */
export function withImages(
  prefix: string,
  count: number,
  each: number,
  url: () => string,
): string {
  return products(prefix, count, () => {
    const images = Array.from(
      { length: each },
      () => `<image>${url()}</image>`,
    );
    return `<images>${images.join("")}</images>`;
  });
}
