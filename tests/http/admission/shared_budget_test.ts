/** What sellers share, however they take it and give it back. */
import { assert, assertEquals } from "@std/assert";
import { SharedBudget } from "../../../src/http/admission/shared_budget.ts";
import { Random } from "../../support/random.ts";

Deno.test("a budget is never exceeded, leaves room to newcomers, and is whole in the end", () => {
  for (let seed = 0; seed < 500; seed++) {
    const random = new Random(seed);
    const total = 1 + random.below(100);
    const perSeller = 1 + random.below(total);
    const budget = new SharedBudget({ total, perSeller });
    const taken: { seller: string; amount: number }[] = [];
    const of = (seller: string) =>
      taken.filter((one) => one.seller === seller)
        .reduce((sum, { amount }) => sum + amount, 0);
    for (let n = 0; n < 60; n++) {
      const seller = "abcd"[random.below(4)];
      if (random.next() < 0.6) {
        const amount = 1 + random.below(10);
        const all = taken.reduce((sum, one) => sum + one.amount, 0);
        const wanted = of(seller) + amount;
        const refusal = budget.take(seller, amount);
        const fits = wanted <= perSeller && wanted <= total - all - amount;
        assertEquals(refusal === null, fits, `seed ${seed}`);
        if (refusal === null) taken.push({ seller, amount });
      } else if (taken.length > 0) {
        const [one] = taken.splice(random.below(taken.length), 1);
        budget.giveBack(one.seller, one.amount);
      }
      assert(budget.taken <= total);
    }
    for (const { seller, amount } of taken) budget.giveBack(seller, amount);
    assertEquals(budget.held(), { taken: 0, sellers: 0 });
  }
});
