/** A seller with ordinary requests, and how long they take. */
import { quantile } from "../bench/table.ts";
import { products, withImages } from "./attacker.ts";
import { pause } from "../support/clock.ts";

/** The pause between two small requests. */
const PAUSE_MS = 80;
/** The pause between two uploads. */
const UPLOAD_PAUSE_MS = 500;
const STOCK = 50;
const LONGEST_MS = 40_000;

export interface Fare {
  /** Milliseconds of the small requests: reads and attribute updates. */
  p50: number;
  p99: number;
  /** Milliseconds of the slower uploads, and until their images were stored. */
  uploadMs: number;
  imagesMs: number;
  uploads: number;
  /** Requests that were not answered as expected, and how they were. */
  failures: string[];
}

export class Honest {
  readonly #url: string;
  readonly #key: string;
  readonly #images: string;
  #requests: number[] = [];
  #uploads: number[] = [];
  #imageTimes: number[] = [];
  #failures: string[] = [];
  #next = 0;

  /** `images`: the URL of an image host that works. */
  constructor(url: string, key: string, images: string) {
    this.#url = url;
    this.#key = key;
    this.#images = images;
  }

  async prepare(): Promise<void> {
    await this.#upload(products("stock", STOCK));
  }

  /** Sends requests for this long; returns how long they took. */
  async work(ms: number): Promise<Fare> {
    [this.#requests, this.#uploads] = [[], []];
    [this.#imageTimes, this.#failures] = [[], []];
    const end = performance.now() + ms;
    const until = async (step: () => Promise<void>, pauseMs: number) => {
      while (performance.now() < end) {
        await step();
        await pause(pauseMs);
      }
    };
    await Promise.all([
      until(() => this.#small(), PAUSE_MS),
      until(() => this.#catalogue(), UPLOAD_PAUSE_MS),
    ]);
    return {
      p50: timeAt(this.#requests, 0.5),
      p99: timeAt(this.#requests, 0.99),
      uploadMs: timeAt(this.#uploads, 0.75),
      imagesMs: timeAt(this.#imageTimes, 0.75),
      uploads: this.#uploads.length,
      failures: this.#failures,
    };
  }

  async #small(): Promise<void> {
    const n = this.#next++;
    const sku = `stock-${n % STOCK}`;
    const requests: [string, string, number][] = [
      ["PUT", `products/${sku}/attribute/quantity/${n}`, 204],
      ["GET", `products/${sku}`, 200],
      ["GET", "products?limit=20", 200],
      ["GET", "webhooks", 200],
    ];
    const [method, path, expected] = requests[n % requests.length];
    const began = performance.now();
    const { status, text } = await this.#send(method, path);
    this.#requests.push(performance.now() - began);
    if (status !== expected) this.#fail(`${method} ${path}`, status, text);
  }

  async #catalogue(): Promise<void> {
    const first = this.#next;
    const image = () => `${this.#images}/honest-${this.#next++}.png`;
    const began = performance.now();
    const id = await this.#upload(withImages(`c-${first}`, 10, 3, image));
    if (id === null) return;
    this.#uploads.push(performance.now() - began);
    const late = began + LONGEST_MS;
    for (;;) {
      const path = `bulk_products/${id}?wait=30`;
      const { status, text } = await this.#send("GET", path);
      if (text.includes("<status>completed</status>")) break;
      if (status !== 200 || text.includes("completed_with_errors")) {
        return this.#fail("images", status, text);
      }
      if (performance.now() > late) return this.#fail("images late", 0, "");
    }
    this.#imageTimes.push(performance.now() - began);
  }

  /** The transaction's id; null if the upload was refused. */
  async #upload(document: string): Promise<string | null> {
    const { status, text } = await this.#send(
      "POST",
      "bulk_products",
      document,
    );
    if (status === 200) {
      return /<transaction_id>(.*?)</.exec(text)![1];
    }
    this.#fail("upload", status, text);
    return null;
  }

  async #send(
    method: string,
    path: string,
    body?: string,
  ): Promise<{ status: number; text: string }> {
    try {
      const response = await fetch(`${this.#url}/seller_api/${path}`, {
        method,
        headers: {
          "x-service-auth": this.#key,
          ...(body !== undefined && { "content-type": "text/xml" }),
        },
        body,
        signal: AbortSignal.timeout(LONGEST_MS),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      return { status: 0, text: String(error) };
    }
  }

  #fail(what: string, status: number, text: string): void {
    const message = /<message>(.*?)</.exec(text)?.[1] ?? text.slice(0, 100);
    this.#failures.push(`${what}: ${status} ${message}`);
  }
}

/** Infinity if nothing was completed. */
function timeAt(times: readonly number[], share: number): number {
  return times.length === 0 ? Infinity : quantile(times, share);
}
