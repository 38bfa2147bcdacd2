/** Sends requests all at once, in a separate thread. */

export interface Order {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

/** For how long a stream of events is read. */
const STREAM_MS = 1_000;

/** Counts of answers by status; 0 if there was no answer. */
export type Statuses = Record<number, number>;

async function send({ url, ...order }: Order): Promise<number> {
  const isStream = order.headers.Accept === "text/event-stream";
  const signal = isStream ? AbortSignal.timeout(STREAM_MS) : undefined;
  try {
    const answer = await fetch(url, { ...order, signal });
    try {
      for await (const _ of answer.body ?? []) continue;
    } catch {
      return isStream ? answer.status : 0;
    }
    return answer.status;
  } catch {
    return 0;
  }
}

self.onmessage = async ({ data }: MessageEvent<Order[]>) => {
  const statuses: Statuses = {};
  for (const status of await Promise.all(data.map(send))) {
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  self.postMessage(statuses);
};
