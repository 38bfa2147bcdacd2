/**
 * Mixed traffic of several sellers and an operator. The writers are those of
 * the crash test, which remember what was acknowledged.
 */
import {
  Emitter,
  Setter,
  Uploader,
  type Writer,
} from "../processes/writers.ts";
import { runProgram } from "../support/process.ts";
import type { Random } from "../support/random.ts";
import { OPERATOR, type Service } from "../support/service.ts";
import type { Lag } from "../support/starvation.ts";
import { Tally } from "./tally.ts";

/** Mean milliseconds between two requests of one kind from one seller. */
const PAUSE_MS = {
  write: 1_000,
  read: 800,
  stream: 3_000,
  backup: 60_000,
  event: 500,
};

/**
 * A request that is given up after this time is a violation. A stream lasts as
 * long as its images, which may have five attempts.
 */
const LONGEST_MS = 300_000;

/**
 * If this process lost this much of its 5 s, its image host did not answer for
 * lack of a processor.
 */
const HOST_LOST_MS = 2_500;

export interface TrafficOptions {
  service: Service;
  /** The URL of the image host. */
  images: string;
  random: Random;
  /** Of this process, which also runs the image host. */
  lag: Lag;
}

export class Traffic {
  readonly tally = new Tally();
  readonly uploaders: Uploader[] = [];
  readonly setters: Setter[] = [];
  readonly emitters: Emitter[] = [];
  /** Backups that were made. */
  backups = 0;
  readonly #options: TrafficOptions;
  readonly #running: Promise<void>[] = [];
  #stopped = false;

  constructor(options: TrafficOptions) {
    this.#options = options;
    for (const seller of options.service.keys.keys()) {
      this.uploaders.push(new Uploader(`up-${seller}`, options.images));
      this.setters.push(new Setter(`set-${seller}`));
      this.emitters.push(new Emitter(`order-${seller}`, OPERATOR, seller));
    }
  }

  start(): void {
    const { keys } = this.#options.service;
    [...keys.values()].forEach((key, n) => this.#startSeller(key, n));
    const operator = (path: string) => () => this.#read("operator", path);
    this.#repeat(PAUSE_MS.read, operator("/operator_api/products?limit=100"));
    this.#repeat(PAUSE_MS.read, operator("/operator_api/sellers"));
    this.#repeat(PAUSE_MS.read, operator("/operator_api/status"));
    this.#repeat(PAUSE_MS.backup, () => this.#backUp());
  }

  /** Resolves when no request is in progress; no other one follows. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }

  /** Repeats requests with an unknown outcome until they are answered. */
  async resolveDoubts(): Promise<void> {
    const keys = [...this.#options.service.keys.values()];
    const { url } = this.#options.service;
    for (const writers of [this.uploaders, this.setters, this.emitters]) {
      for (const [n, writer] of writers.entries()) {
        while (writer.inDoubt !== null) {
          if (!await writer.writeOnce(url, keys[n], 503)) await pause(200);
        }
      }
    }
  }

  #startSeller(key: string, n: number): void {
    const [uploader, setter] = [this.uploaders[n], this.setters[n]];
    const write = (kind: string, writer: Writer) => () =>
      this.#write(kind, writer, key);
    this.#repeat(PAUSE_MS.write, write("upload", uploader));
    this.#repeat(PAUSE_MS.write, write("attribute", setter));
    this.#repeat(PAUSE_MS.event, write("event", this.emitters[n]));
    this.#repeat(PAUSE_MS.read, () => this.#uploadUnchanged(key, n));
    const last = () => [...uploader.transactions.values()].at(-1);
    const status = (kind: string, query = "", accept = "*/*") => async () => {
      const id = last();
      if (id === undefined) return;
      const path = `/seller_api/bulk_products/${id}${query}`;
      await this.#read(kind, path, key, accept);
    };
    this.#repeat(PAUSE_MS.read, status("status"));
    this.#repeat(PAUSE_MS.stream, status("wait", "?wait=5"));
    this.#repeat(PAUSE_MS.stream, status("stream", "", "text/event-stream"));
    const lists = [
      "products?limit=250",
      "products?q=up&limit=20",
      "bulk_products?limit=20",
      "webhooks",
      "webhooks/order_created/deliveries?limit=50",
    ];
    for (const list of lists) {
      this.#repeat(
        PAUSE_MS.read * 2,
        () => this.#read("list", `/seller_api/${list}`, key),
      );
    }
  }

  #repeat(pauseMs: number, step: () => Promise<void>): void {
    const { random } = this.#options;
    this.#running.push((async () => {
      while (!this.#stopped) {
        await pause(2 * pauseMs * random.next());
        if (!this.#stopped) await step();
      }
    })());
  }

  async #write(kind: string, writer: Writer, key: string): Promise<void> {
    const program = this.#options.service.running;
    if (program === null) return;
    const { refused, unanswered } = writer;
    const began = performance.now();
    const lagged = this.#options.lag.ms;
    try {
      if (await writer.writeOnce(program.url, key, 503)) {
        this.tally.note(kind, performance.now() - began);
      }
    } catch (error) {
      const { message } = error as Error;
      const lost = this.#options.lag.ms - lagged;
      const byLoad = message.includes("did not") && lost > HOST_LOST_MS;
      this.tally.violate(`${kind}: ${gist(message)}`, byLoad);
    }
    this.tally.refused += writer.refused - refused;
    this.tally.unanswered += writer.unanswered - unanswered;
  }

  /** The same products each time. */
  async #uploadUnchanged(key: string, n: number): Promise<void> {
    const products = Array.from(
      { length: 50 },
      (_, i) =>
        `<product><sku>same-${n}-${i}</sku><title>t</title>` +
        '<price currency="SEK">1</price><quantity>1</quantity></product>',
    );
    await this.#ask("unchanged upload", "/seller_api/bulk_products", {
      method: "POST",
      headers: { "content-type": "text/xml", "x-service-auth": key },
      body: `<products>${products.join("")}</products>`,
    });
  }

  #read(
    kind: string,
    path: string,
    key = OPERATOR,
    accept = "*/*",
  ): Promise<void> {
    return this.#ask(kind, path, {
      headers: { "x-service-auth": key, accept },
    });
  }

  async #ask(kind: string, path: string, init: RequestInit): Promise<void> {
    const program = this.#options.service.running;
    if (program === null) return;
    const began = performance.now();
    const late = AbortSignal.timeout(LONGEST_MS);
    try {
      const response = await fetch(program.url + path, {
        ...init,
        signal: late,
      });
      const text = await response.text();
      if (response.ok) this.tally.note(kind, performance.now() - began);
      else if (isRefusal(response)) this.tally.refused++;
      else {
        const { status } = response;
        this.tally.violate(`${kind}: ${status} ${path} ${gist(text)}`);
      }
    } catch {
      if (late.aborted) this.tally.violate(`${kind}: no end of ${path}`);
      else this.tally.unanswered++;
    }
  }

  async #backUp(): Promise<void> {
    const { service } = this.#options;
    if (service.running === null) return;
    const file = `${service.folder}/../backup.db`;
    await Deno.remove(file).catch(() => {});
    const { code, stderr } = await runProgram([
      "backup",
      file,
      `--data=${service.folder}`,
    ]);
    if (code === 0) this.backups++;
    else this.tally.violate(`backup: ${stderr.slice(0, 300)}`);
  }
}

/** The messages of an answer, without parts that differ each time. */
function gist(text: string): string {
  const messages = [...text.matchAll(/<message>(.*?)<\/message>/g)];
  if (messages.length === 0) return text.slice(0, 300);
  return messages.slice(0, 2).map(([, message]) => message).join(" ")
    .replaceAll(/\S*\d\S*/g, "…");
}

/** An answer that asks the client to retry later. */
function isRefusal({ status, headers }: Response): boolean {
  return (status === 503 || status === 429) && headers.has("retry-after");
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
