/** Follows an upload while its images are fetched, by server-sent events. */
import { monotonic, sleep } from "./browser.ts";
import { ApiError, type Client, Unreachable } from "./client.ts";
import { readTransaction, type Transaction } from "./resources.ts";
import { parseXml } from "./xml.ts";

const RECONNECT_MS = [500, 1_000, 2_000, 5_000];

export interface Follower {
  onProgress(transaction: Transaction): void;
  /** Whether the stream is open, or broke and is being reopened. */
  onLine(connected: boolean): void;
}

/**
 * Calls `follower` at each event until the transaction is final or `signal`
 * fires. Reopens a stream that breaks (for example when the service restarts);
 * throws a permanent `ApiError`.
 */
export async function followTransaction(
  client: Client,
  id: string,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    try {
      const events = await openEvents(client, id, signal);
      follower.onLine(true);
      for await (const { name, data } of events) {
        failures = 0;
        const element = parseXml(data);
        if (element !== null) follower.onProgress(readTransaction(element));
        if (name === "final") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && !error.passes) throw error;
    }
    if (signal.aborted) return;
    follower.onLine(false);
    const last = RECONNECT_MS.length - 1;
    await sleep(RECONNECT_MS[Math.min(failures++, last)], signal);
  }
}

interface ServerEvent {
  name: string;
  data: string;
}

async function openEvents(
  client: Client,
  id: string,
  signal: AbortSignal,
): Promise<AsyncIterable<ServerEvent>> {
  const response = await client.send(
    `/seller_api/bulk_products/${encodeURIComponent(id)}`,
    { headers: { Accept: "text/event-stream" }, signal },
  );
  if (response.body === null) throw new Unreachable();
  return serverEvents(response.body);
}

/** `EventSource` cannot send a key, so the stream is read with `fetch`. */
async function* serverEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield eventOf(block);
  }
}

function eventOf(block: string): ServerEvent {
  const field = (name: string) =>
    block.split("\n").filter((line) => line.startsWith(`${name}: `))
      .map((line) => line.slice(name.length + 2)).join("\n");
  return { name: field("event"), data: field("data") };
}

/** The period over which the speed is measured. */
const WINDOW_MS = 10_000;

/** The speed of a growing counter over the last seconds. */
export class Speed {
  #samples: { at: number; count: number }[] = [];

  add(count: number): void {
    const at = monotonic();
    this.#samples.push({ at, count });
    while (this.#samples.length > 2 && this.#samples[0].at < at - WINDOW_MS) {
      this.#samples.shift();
    }
  }

  /** Per second; null while there is too little data. */
  get perSecond(): number | null {
    const first = this.#samples[0];
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined) return null;
    const seconds = (last.at - first.at) / 1_000;
    const counted = last.count - first.count;
    return seconds < 0.3 || counted <= 0 ? null : counted / seconds;
  }
}
