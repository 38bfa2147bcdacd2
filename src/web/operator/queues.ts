/** The queues of background jobs, which only the metrics tell. */

/** Jobs of one queue by state, and how long the oldest is due, in seconds. */
export interface Queue {
  name: string;
  states: Readonly<Record<string, number>>;
  oldestSeconds: number;
}

/** The queues in the text of `/metrics`. */
export function readQueues(metrics: string): Queue[] {
  const queues = new Map<string, { -readonly [K in keyof Queue]: Queue[K] }>();
  for (const line of metrics.split("\n")) {
    const [metric, labels = ""] = line.split("{", 2);
    if (!metric.startsWith("seller_queue")) continue;
    const label = (name: string) => labels.split(`${name}="`)[1]?.split('"')[0];
    const name = label("queue");
    if (name === undefined) continue;
    const value = Number(line.slice(line.lastIndexOf(" ") + 1));
    const queue = queues.get(name) ?? { name, states: {}, oldestSeconds: 0 };
    const state = label("state");
    if (metric === "seller_queue" && state !== undefined) {
      queue.states = { ...queue.states, [state]: value };
    }
    if (metric === "seller_queue_oldest_due_seconds") {
      queue.oldestSeconds = value;
    }
    queues.set(name, queue);
  }
  return [...queues.values()];
}
