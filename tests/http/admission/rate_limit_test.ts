import { assert, assertEquals } from "@std/assert";
import {
  rateFor,
  RateLimiter,
  rateLimitHeaders,
} from "../../../src/http/admission/rate_limit.ts";
import { TestClock } from "../../support/clock.ts";

/** Monotonic clocks do not show whole milliseconds. */
const STARTS = [0, 0.1 + 0.2, 86_400_000.123];
/**
 * How many requests one request counts as; an undo of 250 products counts as
 * eleven.
 */
const COSTS = [1, 2, 3, 10, 11];

Deno.test("at every limit a request is allowed after exactly Retry-After", () => {
  for (let perMinute = 1; perMinute <= 1_300; perMinute++) {
    const rate = rateFor(perMinute);
    for (const start of STARTS) {
      for (const wanted of COSTS) {
        const cost = Math.min(wanted, rate.burst);
        const clock = new TestClock(start);
        const limiter = new RateLimiter(clock);
        for (let n = 0; n < rate.burst; n++) limiter.take("a", 1, rate);
        const what = `${cost} of ${perMinute} a minute, from ${start}`;
        const refused = limiter.take("a", cost, rate);
        assert(!refused.allowed, what);
        clock.advance((refused.retryAfter - 1) * 1_000);
        assert(!limiter.take("a", cost, rate).allowed, `${what}, too early`);
        clock.advance(1_000);
        const taken = limiter.take("a", cost, rate);
        assert(taken.allowed, what);
        assert(taken.remaining >= 0, what);
      }
    }
  }
});

Deno.test("at every limit the request after an expensive one is allowed after exactly Retry-After", () => {
  for (let perMinute = 1; perMinute <= 1_300; perMinute++) {
    const rate = rateFor(perMinute);
    const more = Math.min(10, rate.burst - 1);
    const clock = new TestClock();
    const limiter = new RateLimiter(clock);
    for (let times = 0; times < 5; times++) {
      assert(limiter.take("a", 1, rate).allowed, `${perMinute}`);
      const charged = limiter.charge("a", more, rate);
      assert(charged.allowed && charged.remaining >= 0, `${perMinute}`);
      // Sends until nothing is left, like a client that ignores the headers.
      let refused = limiter.take("a", 1, rate);
      while (refused.allowed) refused = limiter.take("a", 1, rate);
      assertEquals(limiter.take("a", 1, rate), refused, "refused again");
      clock.advance(refused.retryAfter * 1_000);
    }
  }
});

Deno.test("a client that obeys Retry-After is never refused, however long it runs", () => {
  for (let perMinute = 1; perMinute <= 60; perMinute++) {
    const rate = rateFor(perMinute);
    const clock = new TestClock(perMinute * 0.1);
    const limiter = new RateLimiter(clock);
    for (let sent = 0; sent < 400; sent++) {
      const { allowed, retryAfter } = limiter.take("a", 1, rate);
      if (allowed) continue;
      clock.advance(retryAfter * 1_000);
      const what = `request ${sent} at ${perMinute} a minute`;
      assert(limiter.take("a", 1, rate).allowed, what);
    }
  }
});

Deno.test("expensive requests stay within the rate", () => {
  const clock = new TestClock();
  const limiter = new RateLimiter(clock);
  const rate = rateFor(60);
  let taken = 0;
  for (let second = 0; second < 600; second++, clock.advance(1_000)) {
    if (!limiter.take("a", 1, rate).allowed) continue;
    limiter.charge("a", 5, rate);
    taken += 6;
  }
  assertEquals(taken, 6 + 600);
});

Deno.test("the headers have both limits and what remains of each", () => {
  const limiter = new RateLimiter(new TestClock());
  const rate = rateFor(1_200);
  limiter.take("a", 20, rate);
  const headers = rateLimitHeaders(limiter.take("a", 0, rate));
  assertEquals(headers, {
    "RateLimit-Limit": "1200",
    "RateLimit-Remaining": "100",
    "RateLimit-Reset": "1",
    "RateLimit-Policy": '"minute";q=1200;w=60, "burst";q=120',
    "RateLimit": '"minute";r=1180;t=1, "burst";r=100;t=1',
  });
  limiter.charge("a", 220, rate);
  const owing = rateLimitHeaders(limiter.take("a", 1, rate));
  assertEquals(
    owing["RateLimit"],
    '"minute";r=960;t=12, "burst";r=0;t=12',
    "never below zero",
  );
  assertEquals(owing["Retry-After"], "7");
});
