/** The pictures on their way: at most two at once, with pauses, until all are. */
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import {
  applyEvent,
  CONCURRENT_PICTURES,
  countByState,
  isQueueFinished,
  newQueue,
  nextInQueue,
  type Queue,
  type QueueEvent,
} from "../../src/web/pictures/queue.ts";
import { ApiError, ConnectionError } from "../../src/client/mod.ts";
import { eventOfFailure } from "../../src/web/pictures/sending.ts";
import { Random } from "../support/random.ts";

function after(queue: Queue, ...events: QueueEvent[]): Queue {
  return events.reduce(applyEvent, queue);
}

const started = { name: "started" } as const;
const begun = (key: string) => ({ name: "begun", key }) as const;
const sent = (key: string) => ({ name: "sent", key, url: `u${key}` }) as const;
const failed = (key: string, wait: number, now: number) =>
  ({ name: "failed", key, error: new Error("503"), wait, now }) as const;

Deno.test("nothing begins before the start and after a stop", () => {
  const queue = newQueue(["a", "b", "c"]);
  assertEquals(nextInQueue(queue, 0).keys, []);
  const running = after(queue, started);
  assertEquals(nextInQueue(running, 0).keys, ["a", "b"]);
  const one = after(running, begun("a"));
  assertEquals(nextInQueue(one, 0).keys, ["b"]);
  const two = after(one, begun("b"));
  assertEquals(nextInQueue(two, 0).keys, []);
  const next = after(two, sent("a"));
  assertEquals(nextInQueue(next, 0).keys, ["c"]);
  assertEquals(nextInQueue(after(next, { name: "stopped" }), 0).keys, []);
});

Deno.test("sent pictures are not sent again after a stop", () => {
  const queue = newQueue(["a", "b"], new Map([["a", "ua"]]));
  assertEquals(nextInQueue(after(queue, started), 0).keys, ["b"]);
  assertEquals(countByState(queue), { sent: 1, refused: 0, left: 1 });
});

Deno.test("a failure waits as long as the service says, or longer each time", () => {
  const running = after(newQueue(["a"]), started, begun("a"));
  const asked = after(running, failed("a", 20_000, 1_000));
  assertEquals(nextInQueue(asked, 1_000), { keys: [], wakeAt: 21_000 });
  assertEquals(nextInQueue(asked, 21_000), { keys: ["a"], wakeAt: null });
  const pauses = [];
  let queue = running;
  for (let now = 0; queue.isRunning;) {
    queue = after(queue, failed("a", 0, now));
    pauses.push(queue.notBefore - now);
    now = queue.notBefore;
    queue = after(queue, begun("a"));
  }
  assertEquals(pauses.slice(0, 6), [
    1_000,
    2_000,
    4_000,
    8_000,
    16_000,
    30_000,
  ]);
  assertEquals(pauses.length, 12);
  assertEquals(queue.failure?.message, "503");
  // A person can start it again at once.
  const again = after(queue, { name: "put back", key: "a" }, started);
  assertEquals(nextInQueue(again, 0).keys, ["a"]);
  assertEquals(again.failure, null);
});

Deno.test("a sent picture ends the count of failures", () => {
  const queue = after(
    newQueue(["a", "b", "c"]),
    started,
    begun("a"),
    begun("b"),
    failed("a", 0, 0),
    sent("b"),
  );
  assertEquals([queue.failures, queue.failure], [0, null]);
  assertEquals(nextInQueue(queue, 999).wakeAt, 1_000);
});

Deno.test("a refused picture does not stop the others; a lost key does", () => {
  const queue = after(newQueue(["a", "b", "c"]), started, begun("a"), {
    name: "refused",
    key: "a",
    why: "no image",
    isTooLarge: false,
  });
  assertEquals(nextInQueue(queue, 0).keys, ["b", "c"]);
  const error = new Error("revoked");
  const ended = after(queue, begun("b"), { name: "ended", key: "b", error });
  assertEquals([ended.isRunning, ended.failure], [false, error]);
  assertEquals(countByState(ended), { sent: 0, refused: 1, left: 2 });
});

Deno.test("any history ends with every picture sent or refused, two at once", () => {
  for (let seed = 0; seed < 1_000; seed++) {
    const random = new Random(seed);
    const keys = Array.from({ length: 1 + random.below(8) }, (_, i) => `${i}`);
    let queue = newQueue(keys);
    let now = 0;
    const onTheirWay = new Set<string>();
    const urls = new Map<string, number>();
    const apply = (event: QueueEvent) => {
      queue = applyEvent(queue, event);
      if ("key" in event && event.name !== "begun") {
        onTheirWay.delete(event.key);
      }
    };
    for (let step = 0; !isQueueFinished(queue); step++) {
      assert(step < 2_000, `seed ${seed} does not end`);
      if (!queue.isRunning && onTheirWay.size === 0) apply(started);
      const { keys, wakeAt } = nextInQueue(queue, now);
      for (const key of keys) {
        onTheirWay.add(key);
        apply(begun(key));
      }
      assertLessOrEqual(onTheirWay.size, CONCURRENT_PICTURES);
      const [key] = [...onTheirWay].slice(random.below(onTheirWay.size || 1));
      if (key === undefined) {
        if (wakeAt !== null) now = wakeAt;
        continue;
      }
      now += random.below(500);
      const drawn = random.next();
      if (drawn < 0.4) {
        urls.set(key, (urls.get(key) ?? 0) + 1);
        apply(sent(key));
      } else if (drawn < 0.7) apply(failed(key, random.below(9_000), now));
      else if (drawn < 0.8) {
        apply({ name: "refused", key, why: "no", isTooLarge: false });
      } else if (drawn < 0.9) {
        apply({ name: "ended", key, error: new Error("quota") });
      } else {
        apply({ name: "stopped" });
        for (const one of [...onTheirWay]) {
          apply({ name: "put back", key: one });
        }
      }
    }
    assertEquals(queue.isRunning, false);
    assert([...urls.values()].every((times) => times === 1), `seed ${seed}`);
    const { sent: done, refused, left } = countByState(queue);
    assertEquals([done + refused, left], [keys.length, 0]);
  }
});

/** A refusal by the service. */
function refusal(status: number, code: string, detail?: string): ApiError {
  const details = detail === undefined
    ? []
    : [{ code: detail, message: detail }];
  const body = { error: { code, message: code, details } };
  const headers = { "Retry-After": "5" };
  return new ApiError(
    new Response(null, { status, headers }),
    JSON.stringify(body),
    0,
  );
}

for (
  const [error, name, more] of [
    [refusal(422, "invalid", "image_corrupt"), "refused", false],
    [refusal(422, "invalid", "image_too_many_pixels"), "refused", true],
    [refusal(413, "body_too_large"), "refused", true],
    [refusal(422, "invalid", "image_quota_exceeded"), "ended", undefined],
    [refusal(401, "unauthorized"), "ended", undefined],
    [refusal(403, "forbidden"), "ended", undefined],
    [refusal(429, "rate_limited"), "failed", 5_000],
    [refusal(503, "unavailable"), "failed", 5_000],
    [new ConnectionError("gone"), "failed", 0],
    [new TypeError("a mistake"), "ended", undefined],
  ] as const
) {
  const code = error instanceof ApiError
    ? error.details[0]?.code ?? error.code
    : error.name;
  Deno.test(`a picture that ends with ${code} is ${name}`, () => {
    const event = eventOfFailure("a", error, new AbortController().signal);
    assertEquals(event.name, name);
    if (event.name === "refused") assertEquals<unknown>(event.isTooLarge, more);
    if (event.name === "failed") assertEquals<unknown>(event.wait, more);
  });
}

Deno.test("an aborted picture is put back, whatever its error is", () => {
  const signal = AbortSignal.abort();
  for (const error of [new ConnectionError("gone"), refusal(422, "invalid")]) {
    assertEquals(eventOfFailure("a", error, signal), {
      name: "put back",
      key: "a",
    });
  }
});
