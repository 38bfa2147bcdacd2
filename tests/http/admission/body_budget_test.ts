import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../../../src/lib/errors.ts";
import { BODY_COST } from "../../../src/config.ts";
import { BodyBudget } from "../../../src/http/admission/body_budget.ts";
import { Random } from "../../support/random.ts";

Deno.test("a seller has a quarter of the budget, and it comes back", () => {
  const budget = new BodyBudget(BODY_COST * 400);
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

Deno.test("an owner has as much room as any number of others that take all they can", () => {
  const total = 200;
  for (let sellers = 1; sellers < 20; sellers++) {
    const budget = new BodyBudget(BODY_COST * total);
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

Deno.test("whatever is taken and given back, nothing is lost", () => {
  const random = new Random(1);
  const budget = new BodyBudget(BODY_COST * 1_000);
  const shares = Array.from({ length: 50 }, (_, n) => budget.open(`${n % 7}`));
  for (let step = 0; step < 5_000; step++) {
    const share = shares[random.below(shares.length)];
    try {
      if (random.below(2) === 0) share.take(random.below(40));
      else share[Symbol.dispose]();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
  }
  for (const share of shares) share[Symbol.dispose]();
  using last = budget.open("x");
  last.take(250);
});
