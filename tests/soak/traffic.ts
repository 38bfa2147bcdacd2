/**
 * Mixed traffic of several sellers and an operator: the writers of
 * `processes/traffic.ts`, which remember what was acknowledged, and readers.
 */
import type { Processes } from "../processes/processes.ts";
import { OPERATOR } from "../processes/service.ts";
import { type SellerTraffic, Traffic } from "../processes/traffic.ts";
import { Emitter, Uploader, type Writer } from "../processes/writers.ts";
import { runProgram } from "../support/process.ts";
import type { Random } from "../support/random.ts";
import type { Lag } from "../support/starvation.ts";
import { Tally } from "./tally.ts";
import { pause } from "../support/clock.ts";

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

/** A writer that cannot finish after this time fails the run. */
const DOUBT_MS = 120_000;

export class MixedTraffic implements AsyncDisposable {
  readonly tally = new Tally();
  readonly writers: Traffic;
  /** Backups that were made. */
  backups = 0;
  readonly #processes: Processes;
  readonly #random: Random;
  /** Of this process, which also runs the image host. */
  readonly #lag: Lag;
  #over = Infinity;

  constructor(processes: Processes, random: Random, lag: Lag) {
    this.#processes = processes;
    this.#random = random;
    this.#lag = lag;
    this.writers = new Traffic(processes, {
      uploaders: 1,
      skus: 1,
      emitters: 1,
      kinds: ["good", "flaky", "good"],
      restMs: (writer) =>
        this.#rest(writer instanceof Emitter ? PAUSE_MS.event : PAUSE_MS.write),
      send: (writer, url, key) => this.#write(writer, url, key),
    });
  }

  /** Writes and reads while `doing` runs, and then until no request is left. */
  async during(doing: () => Promise<void>): Promise<void> {
    let reading: Promise<unknown> = Promise.resolve();
    await this.writers.writing(async () => {
      reading = this.#read();
      try {
        await doing();
      } finally {
        this.#over = performance.now();
      }
    });
    await reading;
  }

  async #read(): Promise<void> {
    const operator = ["products?limit=100", "sellers", "status"];
    await Promise.all([
      ...this.writers.sellers.map((seller, n) => this.#readAs(seller, n)),
      ...operator.map((list) =>
        this.#repeat(
          PAUSE_MS.read,
          () => this.#ask("operator", `/operator_api/${list}`),
        )
      ),
      this.#repeat(PAUSE_MS.backup, () => this.#backUp()),
    ]);
  }

  async #readAs(
    { key, uploaders: [uploader] }: SellerTraffic,
    n: number,
  ): Promise<void> {
    const status = (kind: string, query = "", accept = "*/*") => async () => {
      const id = [...uploader.transactions.values()].at(-1);
      if (id === undefined) return;
      const path = `/seller_api/bulk_products/${id}${query}`;
      await this.#ask(kind, path, key, { accept });
    };
    const lists = [
      "products?limit=250",
      "products?q=up&limit=20",
      "bulk_products?limit=20",
      "webhooks",
      "webhooks/order_created/deliveries?limit=50",
    ];
    await Promise.all([
      this.#repeat(PAUSE_MS.read, () => this.#uploadUnchanged(key, n)),
      this.#repeat(PAUSE_MS.read, status("status")),
      this.#repeat(PAUSE_MS.stream, status("wait", "?wait=5")),
      this.#repeat(PAUSE_MS.stream, status("stream", "", "text/event-stream")),
      ...lists.map((list) =>
        this.#repeat(
          PAUSE_MS.read * 2,
          () => this.#ask("list", `/seller_api/${list}`, key),
        )
      ),
    ]);
  }

  #rest(meanMs: number): number {
    return 2 * meanMs * this.#random.next();
  }

  async #repeat(meanMs: number, step: () => Promise<void>): Promise<void> {
    while (this.#over === Infinity) {
      await pause(this.#rest(meanMs));
      if (this.#over === Infinity) await step();
    }
  }

  async #write(writer: Writer, url: string, key: string): Promise<boolean> {
    const kind = writer instanceof Uploader
      ? "upload"
      : writer instanceof Emitter
      ? "event"
      : "attribute";
    const { refused, unanswered } = writer;
    const began = performance.now();
    const lagged = this.#lag.ms;
    try {
      const done = await writer.writeOnce(url, key, 503);
      if (done) this.tally.note(kind, performance.now() - began);
      return done;
    } catch (error) {
      if (performance.now() > this.#over + DOUBT_MS) throw error;
      const { message } = error as Error;
      const lost = this.#lag.ms - lagged;
      const byLoad = message.includes("did not") && lost > HOST_LOST_MS;
      this.tally.violate(`${kind}: ${gist(message)}`, byLoad);
      return false;
    } finally {
      this.tally.refused += writer.refused - refused;
      this.tally.unanswered += writer.unanswered - unanswered;
    }
  }

  /** The same products each time. */
  async #uploadUnchanged(key: string, n: number): Promise<void> {
    const products = Array.from(
      { length: 50 },
      (_, i) =>
        `<product><sku>same-${n}-${i}</sku><title>t</title>` +
        '<price currency="SEK">1</price><quantity>1</quantity></product>',
    );
    await this.#ask("unchanged upload", "/seller_api/bulk_products", key, {
      body: `<products>${products.join("")}</products>`,
    });
  }

  /** A body makes it a POST. */
  async #ask(
    kind: string,
    path: string,
    key = OPERATOR,
    { accept = "*/*", body }: { accept?: string; body?: string } = {},
  ): Promise<void> {
    const url = this.#processes.nextUrl();
    if (url === null) return;
    const began = performance.now();
    const late = AbortSignal.timeout(LONGEST_MS);
    try {
      const response = await fetch(url + path, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          "x-service-auth": key,
          accept,
          ...(body !== undefined && { "content-type": "text/xml" }),
        },
        body,
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
    const [{ folder, running }] = this.#processes.services;
    if (running === null) return;
    const file = `${folder}/../backup.db`;
    await Deno.remove(file).catch(() => {});
    const { code, stderr } = await runProgram([
      "backup",
      file,
      `--data=${folder}`,
    ]);
    if (code === 0) this.backups++;
    else this.tally.violate(`backup: ${stderr.slice(0, 300)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.writers[Symbol.asyncDispose]();
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
