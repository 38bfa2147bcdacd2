/** Resources that sellers share, acquired and released in every order. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { BODY_COST } from "../../../src/config.ts";
import {
  BodyBudget,
  ConcurrencyLimit,
} from "../../../src/http/admission/concurrency_limit.ts";
import { ServiceError } from "../../../src/lib/errors.ts";
import type { Permit } from "../../../src/lib/wait_list.ts";
import { TestClock } from "../../support/clock.ts";
import { Random } from "../../support/random.ts";

const NOTHING = { used: 0, pausing: 0, waiting: 0 };

/** A budget of this many bytes of bodies. */
function budgetOf(bytes: number) {
  const quota = new BodyBudget(new TestClock(), BODY_COST * bytes);
  /** The share of one request. */
  const open = (seller: string) => {
    const slots = new DisposableStack();
    return {
      take: (bytes: number) => quota.takeFor(slots, seller, bytes),
      [Symbol.dispose]: () => slots.dispose(),
    };
  };
  return { quota, open };
}

Deno.test("a limit is never exceeded, leaves room for other sellers, is named in errors, and is free again at the end", () => {
  for (let seed = 0; seed < 500; seed++) {
    const random = new Random(seed);
    const total = 1 + random.below(100);
    const perSeller = 1 + random.below(total);
    const options = { total, perSeller, what: "things" };
    const quota = new ConcurrencyLimit(new TestClock(), options);
    const taken: { seller: string; amount: number; permit: Permit }[] = [];
    const of = (seller: string) =>
      taken.filter((one) => one.seller === seller)
        .reduce((sum, { amount }) => sum + amount, 0);
    for (let n = 0; n < 60; n++) {
      const seller = "abcd"[random.below(4)];
      if (random.next() < 0.6) {
        const amount = 1 + random.below(10);
        const all = taken.reduce((sum, one) => sum + one.amount, 0);
        const wanted = of(seller) + amount;
        const code = wanted > perSeller
          ? "rate_limited"
          : wanted > total - all - amount
          ? "unavailable"
          : null;
        try {
          const permit = quota.acquire(seller, amount);
          taken.push({ seller, amount, permit });
          assertEquals(code, null, `seed ${seed}`);
        } catch (error) {
          assert(error instanceof ServiceError);
          assertEquals(error.code, code, `seed ${seed}`);
        }
      } else if (taken.length > 0) {
        const [{ permit }] = taken.splice(random.below(taken.length), 1);
        permit[Symbol.dispose]();
      }
      assert(quota.acquired <= total);
    }
    for (const { permit } of taken) permit[Symbol.dispose]();
    assertEquals(quota.inUse(), NOTHING);
  }
});

Deno.test("a seller may use a quarter of the budget and releases it", () => {
  const budget = budgetOf(400);
  {
    using share = budget.open("a");
    share.take(60);
    using second = budget.open("a");
    second.take(40);
    const refused = assertThrows(() => share.take(1), ServiceError);
    assertEquals(refused.code, "unavailable");
    assertEquals(refused.headers, { "Retry-After": "2" });
    using other = budget.open("b");
    other.take(100);
  }
  using again = budget.open("a");
  again.take(100);
});

Deno.test("an owner has as much room as any number of greedy others", () => {
  const total = 200;
  for (let sellers = 1; sellers < 20; sellers++) {
    const budget = budgetOf(total);
    const taken = Array.from({ length: sellers }, () => 0);
    for (let round = 0; round < total; round++) {
      taken.forEach((_, seller) => {
        try {
          budget.open(String(seller)).take(1);
          taken[seller]++;
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
        }
      });
    }
    let room = 0;
    try {
      for (; room < total; room++) budget.open("stranger").take(1);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
    const left = total - taken.reduce((sum, one) => sum + one, 0);
    assertEquals(room >= Math.min(50, Math.floor(left / 2)), true);
    assertEquals(left >= Math.floor(total / (sellers + 1)), true);
  }
});

Deno.test("in any order of acquiring and releasing, no amount is lost", () => {
  const random = new Random(1);
  const { quota, open } = budgetOf(1_000);
  const shares = Array.from({ length: 50 }, (_, n) => open(`${n % 7}`));
  for (let step = 0; step < 5_000; step++) {
    const which = random.below(shares.length);
    try {
      if (random.below(2) === 0) shares[which].take(random.below(40));
      else {
        shares[which][Symbol.dispose]();
        shares[which] = open(`${which % 7}`);
      }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
  }
  for (const share of shares) share[Symbol.dispose]();
  assertEquals(quota.inUse(), NOTHING);
});
