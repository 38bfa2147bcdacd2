/**
 * Clients that write without a pause and remember what was acknowledged. Each
 * writes in versions, one after the other. If the service dies during a
 * request, the version is in doubt until the same request is answered later.
 */

import { sometimes } from "../support/sometimes.ts";

const LATE_MS = 1_000;

/** A request as its client sees it. */
export interface WriterRequest {
  /** Monotonic time of the answer, or of the failure. */
  at: number;
  ms: number;
  /** Whether it succeeded. */
  ok: boolean;
}

/** A client and what it knows about its rows. */
export abstract class Writer {
  /** The last version that was acknowledged; 0 is the state at the start. */
  acknowledged = 0;
  /** The version that was sent and not answered. */
  inDoubt: number | null = null;
  /** Answers that ask to come back later. */
  refused = 0;
  /** Requests without any answer. */
  unanswered = 0;
  /**
   * The longest time until an answer, in milliseconds, since it was reset to 0.
   */
  slowestMs = 0;
  /** How many answers took more than a second, since it was reset to 0. */
  late = 0;
  /** Called after each request. */
  onRequest: (request: WriterRequest) => void = () => {};
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** The versions that the service may have now. */
  get possible(): number[] {
    return this.inDoubt === null
      ? [this.acknowledged]
      : [this.acknowledged, this.inDoubt];
  }

  /** Writes until the service is unreachable. */
  async writeAll(url: string, key: string): Promise<void> {
    while (await this.writeOnce(url, key));
  }

  /**
   * Writes the version in doubt, otherwise the next one. Returns false if the
   * service died, or answered 503 and such answers are `awaited`. Throws at any
   * other answer except success.
   */
  async writeOnce(
    url: string,
    key: string,
    awaited: 503 | null = null,
  ): Promise<boolean> {
    const version = this.inDoubt ??= this.acknowledged + 1;
    let status: number | null = null;
    let text: string;
    let again: string | null;
    const began = performance.now();
    try {
      const response = await this.write(url, key, version);
      status = response.status;
      again = response.headers.get("retry-after");
      text = await response.text();
    } catch {
      this.unanswered++;
      sometimes("a request was not answered");
      return false;
    } finally {
      const at = performance.now();
      const ms = at - began;
      this.slowestMs = Math.max(this.slowestMs, ms);
      if (ms > LATE_MS) this.late++;
      this.onRequest({ at, ms, ok: status === 200 || status === 204 });
    }
    if (status === awaited && again !== null) {
      this.refused++;
      sometimes("503 answered");
      return false;
    }
    if (status !== 200 && status !== 204) {
      throw new Error(`${this.name} was answered ${status}: ${text}`);
    }
    this.note(version, text);
    this.acknowledged = version;
    this.inDoubt = null;
    return true;
  }

  protected abstract write(
    url: string,
    key: string,
    version: number,
  ): Promise<Response>;

  protected note(_version: number, _answer: string): void {}
}

/** Products of one upload. */
export const UPLOAD_SIZE = 8;

/** Posts the same products with a new title, quantity and images each time. */
export class Uploader extends Writer {
  /** Transaction ids by version. */
  readonly transactions = new Map<number, string>();
  readonly #images: string | null;
  readonly #kinds: readonly string[];

  /**
   * @param images the URL of an image host; null for no images. Each of the
   * first products has an image of one of the `kinds` of the host.
   */
  constructor(
    name: string,
    images: string | null,
    kinds: readonly string[] = ["good", "flaky", "good"],
  ) {
    super(name);
    this.#images = images;
    this.#kinds = kinds;
  }

  sku(n: number): string {
    return `${this.name}-${n}`;
  }

  protected override write(url: string, key: string, version: number) {
    const products = Array.from({ length: UPLOAD_SIZE }, (_, n) => {
      return `<product><sku>${this.sku(n)}</sku><title>v${version}</title>` +
        `<price currency="SEK">1</price><quantity>${version}</quantity>` +
        `${this.#imagesOf(n, version)}</product>`;
    });
    return fetch(`${url}/seller_api/bulk_products?v=1.1`, {
      method: "POST",
      headers: {
        "content-type": "text/xml",
        "x-service-auth": key,
        "idempotency-key": `${this.name} ${version}`,
      },
      body: `<products>${products.join("")}</products>`,
    });
  }

  #imagesOf(n: number, version: number): string {
    const kind = this.#kinds[n];
    if (this.#images === null || kind === undefined) return "";
    const path = `${kind}/${this.sku(n)}-${version}.png`;
    return `<images><image>${this.#images}/${path}</image></images>`;
  }

  protected override note(version: number, answer: string): void {
    const id = /<transaction_id>(.*)<\/transaction_id>/.exec(answer)![1];
    this.transactions.set(version, id);
  }
}

/** Sets one attribute of a product to a higher number each time. */
export class Setter extends Writer {
  readonly sku: string;
  readonly attribute: "quantity" | "mpn";

  constructor(sku: string, attribute: Setter["attribute"] = "quantity") {
    super(`${sku} ${attribute}`);
    this.sku = sku;
    this.attribute = attribute;
  }

  protected override write(url: string, key: string, version: number) {
    const path = `${this.sku}/attribute/${this.attribute}/${version}`;
    return fetch(`${url}/seller_api/products/${path}`, {
      method: "PUT",
      headers: { "x-service-auth": key },
    });
  }
}

/** Sends one event after the other. */
export class Emitter extends Writer {
  /** Event ids by reference. */
  readonly events = new Map<string, string>();
  readonly #operatorKey: string;
  readonly #seller: string;

  constructor(name: string, operatorKey: string, seller = "acme") {
    super(name);
    this.#operatorKey = operatorKey;
    this.#seller = seller;
  }

  protected override write(url: string, _key: string, version: number) {
    const reference = `${this.name}-${version}`;
    return fetch(`${url}/operator_api/events`, {
      method: "POST",
      headers: {
        "content-type": "text/xml",
        "x-service-auth": this.#operatorKey,
      },
      body: `<event><seller>${this.#seller}</seller>` +
        "<trigger>order_created</trigger>" +
        `<reference>${reference}</reference>` +
        `<data><order>${reference}</order></data></event>`,
    });
  }

  protected override note(version: number, answer: string): void {
    const id = /<event_id>(.*)<\/event_id>/.exec(answer)![1];
    this.events.set(`${this.name}-${version}`, id);
  }
}
