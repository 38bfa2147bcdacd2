/**
 * The pictures that are being sent, as a state machine: waiting → on its way →
 * sent or refused. After a temporary failure the picture waits again, and the
 * next one begins after a pause. Any other failure stops the queue.
 */

/** The most pictures on their way at once. */
export const AT_ONCE = 2;
/** Pauses in milliseconds after failures in a row; the last one repeats. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000];
/** The number of failures in a row after which the queue stops. */
const MOST_FAILURES = 12;

export type SendingState =
  | { name: "waiting" }
  | { name: "on its way" }
  | { name: "sent"; url: string }
  /** The service never accepts this picture, or not in this size. */
  | { name: "refused"; why: string; isTooLarge: boolean };

export interface Queue {
  /** The pictures by their keys, in the order of sending. */
  pictures: ReadonlyMap<string, SendingState>;
  isRunning: boolean;
  /** When the next picture may begin, in Unix milliseconds. */
  notBefore: number;
  /** The number of failures since a picture was last sent. */
  failures: number;
  /** The last failure: why the queue pauses or has stopped; null: none. */
  failure: Error | null;
}

export type QueueEvent =
  | { name: "started" }
  | { name: "stopped" }
  | { name: "begun"; key: string }
  | { name: "sent"; key: string; url: string }
  | { name: "refused"; key: string; why: string; isTooLarge: boolean }
  /** The same request may succeed later; `wait`: what the service asks for. */
  | { name: "failed"; key: string; error: Error; wait: number; now: number }
  /** No picture can be sent: the key is revoked, the quota is used up. */
  | { name: "ended"; key: string; error: Error }
  /** It was aborted. */
  | { name: "put back"; key: string }
  /** The service asks to wait before a request is repeated. */
  | { name: "delayed"; error: Error };

/** A queue of these pictures; `known`: the URLs of those that were sent. */
export function newQueue(
  keys: readonly string[],
  known: ReadonlyMap<string, string> = new Map(),
): Queue {
  return {
    pictures: new Map(keys.map((key) => {
      const url = known.get(key);
      return [key, url === undefined ? WAITING : { name: "sent", url }];
    })),
    isRunning: false,
    notBefore: 0,
    failures: 0,
    failure: null,
  };
}

const WAITING = { name: "waiting" } as const;

/** The queue after an event; it stops when every picture is settled. */
export function applyEvent(queue: Queue, event: QueueEvent): Queue {
  const next = afterEvent(queue, event);
  return { ...next, isRunning: next.isRunning && !isQueueSettled(next) };
}

function afterEvent(queue: Queue, event: QueueEvent): Queue {
  switch (event.name) {
    case "started":
      return { ...queue, ...NO_FAILURE, isRunning: true, notBefore: 0 };
    case "stopped":
      return { ...queue, isRunning: false };
    case "begun":
      return withState(queue, event.key, { name: "on its way" });
    case "sent": {
      const { url } = event;
      const sent = withState(queue, event.key, { name: "sent", url });
      return { ...sent, ...NO_FAILURE };
    }
    case "refused": {
      const { why, isTooLarge } = event;
      return withState(queue, event.key, { name: "refused", why, isTooLarge });
    }
    case "failed": {
      const { error, wait, now } = event;
      const failures = queue.failures + 1;
      const pause = PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1];
      return {
        ...withState(queue, event.key, WAITING),
        isRunning: queue.isRunning && failures < MOST_FAILURES,
        notBefore: Math.max(queue.notBefore, now + Math.max(wait, pause)),
        failures,
        failure: error,
      };
    }
    case "ended":
      return {
        ...withState(queue, event.key, WAITING),
        isRunning: false,
        failure: event.error,
      };
    case "put back":
      return withState(queue, event.key, WAITING);
    case "delayed":
      return { ...queue, failure: event.error };
  }
}

const NO_FAILURE = { failures: 0, failure: null };

function withState(queue: Queue, key: string, state: SendingState): Queue {
  if (!queue.pictures.has(key)) return queue;
  return { ...queue, pictures: new Map(queue.pictures).set(key, state) };
}

/**
 * The pictures to begin now; `wakeAt`: when to look again although nothing
 * happens.
 */
export function nextInQueue(
  { pictures, isRunning, notBefore }: Queue,
  now: number,
): { keys: string[]; wakeAt: number | null } {
  const keysIn = (state: SendingState["name"]) =>
    [...pictures].filter(([, { name }]) => name === state).map(([key]) => key);
  const waiting = keysIn("waiting");
  if (!isRunning || waiting.length === 0) return { keys: [], wakeAt: null };
  if (now < notBefore) return { keys: [], wakeAt: notBefore };
  const free = AT_ONCE - keysIn("on its way").length;
  return { keys: waiting.slice(0, Math.max(0, free)), wakeAt: null };
}

/** How many pictures are in each state. */
export function countsOf(
  { pictures }: Queue,
): Record<"sent" | "refused" | "left", number> {
  const counts = { sent: 0, refused: 0, left: 0 };
  for (const { name } of pictures.values()) {
    counts[name === "sent" || name === "refused" ? name : "left"]++;
  }
  return counts;
}

/** Whether every picture is sent or refused. */
export function isQueueSettled(queue: Queue): boolean {
  return countsOf(queue).left === 0;
}
