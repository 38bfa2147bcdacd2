/**
 * The queue of pictures to send, as a state machine. The states of a picture are
 * waiting, sending, and sent or refused. After a temporary failure the picture
 * waits again, and the next picture begins after a pause. Any other failure
 * stops the queue.
 */

/** The number of pictures that are sent at the same time. */
export const CONCURRENT_PICTURES = 2;
/** Pauses in milliseconds after failures in a row; the last one repeats. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000];
/** The number of failures in a row after which the queue stops. */
const FAILURE_LIMIT = 12;

export type SendingState =
  | { name: "waiting" }
  | { name: "sending" }
  | { name: "sent"; url: string }
  /** The service never accepts this picture, or never in this size. */
  | { name: "refused"; why: string; isTooLarge: boolean };

export interface Queue {
  /** The pictures by their keys, in the order of sending. */
  pictures: ReadonlyMap<string, SendingState>;
  isRunning: boolean;
  /** When the next picture may begin, in Unix milliseconds. */
  notBefore: number;
  /** The number of failures since the last picture was sent. */
  failures: number;
  /** Why the queue pauses or has stopped; null if nothing has failed. */
  failure: Error | null;
}

export type QueueEvent =
  | { name: "started" }
  | { name: "stopped" }
  | { name: "begun"; key: string }
  | { name: "sent"; key: string; url: string }
  | { name: "refused"; key: string; why: string; isTooLarge: boolean }
  /** The request may succeed after the service's `wait` in milliseconds. */
  | { name: "failed"; key: string; error: Error; wait: number; now: number }
  /** No picture can be sent, for example because the key is revoked. */
  | { name: "ended"; key: string; error: Error }
  /** The request was aborted. */
  | { name: "put back"; key: string }
  /** The service asks to wait before a request is repeated. */
  | { name: "delayed"; error: Error };

/** A queue of these pictures; `known` has the URLs of the sent ones. */
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

/** The queue after an event. It stops after the last picture. */
export function applyEvent(queue: Queue, event: QueueEvent): Queue {
  const next = afterEvent(queue, event);
  return { ...next, isRunning: next.isRunning && !isQueueFinished(next) };
}

function afterEvent(queue: Queue, event: QueueEvent): Queue {
  switch (event.name) {
    case "started":
      return { ...queue, ...NO_FAILURE, isRunning: true, notBefore: 0 };
    case "stopped":
      return { ...queue, isRunning: false };
    case "begun":
      return withState(queue, event.key, { name: "sending" });
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
        isRunning: queue.isRunning && failures < FAILURE_LIMIT,
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
 * The pictures to send now. If none may begin before a pause ends, `wakeAt` is
 * the end of the pause.
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
  const free = CONCURRENT_PICTURES - keysIn("sending").length;
  return { keys: waiting.slice(0, Math.max(0, free)), wakeAt: null };
}

/** The numbers of sent, refused and remaining pictures. */
export function countByState(
  { pictures }: Queue,
): Record<"sent" | "refused" | "left", number> {
  const counts = { sent: 0, refused: 0, left: 0 };
  for (const { name } of pictures.values()) {
    counts[name === "sent" || name === "refused" ? name : "left"]++;
  }
  return counts;
}

/** Whether every picture is sent or refused. */
export function isQueueFinished(queue: Queue): boolean {
  return countByState(queue).left === 0;
}
