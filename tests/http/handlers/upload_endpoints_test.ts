/** What an undo costs of the seller's rate limit. */
import { assertEquals } from "@std/assert";
import { type Answer, boot, product, textAt } from "../../support/app.ts";
import { TestClock } from "../../support/clock.ts";
import { contract } from "../../support/forms.ts";

contract.test("an undo or its dry run counts as one more request for each 25 products", async () => {
  for (const [products, more] of [[25, 1], [26, 2], [250, 10]]) {
    // Stands still, so no request becomes free again.
    await using app = await boot({
      config: { rateLimit: 1_200 },
      deps: { clock: new TestClock() },
    });
    let left = 0;
    const costOf = ({ headers }: Answer) => {
      const before = left;
      left = Number(headers.get("RateLimit-Remaining"));
      return before - left;
    };
    const skus = Array.from({ length: products }, (_, n) => product(`${n}`));
    const uploaded = await app.upload(skus.join(""));
    assertEquals(uploaded.status, 200, uploaded.text);
    costOf(uploaded);
    const id = textAt(uploaded.xml, "transaction_id");
    for (const query of ["?dry_run=true", ""]) {
      const undone = await app.call(
        `/seller_api/bulk_products/${id}/undo${query}`,
        { method: "POST" },
      );
      assertEquals(undone.status, 200, undone.text);
      assertEquals(costOf(undone), 1 + more, `${products} products${query}`);
    }
  }
});
