/** Plans of uploads, which need no database. */
import { NO_FORMER_PRICE } from "../../src/catalogue/price_changes.ts";
import { assertEquals } from "@std/assert";
import { decodeProducts } from "../../src/catalogue/document.ts";
import type { PlanData } from "../../src/catalogue/load.ts";
import { INITIAL, type Product } from "../../src/catalogue/product.ts";
import { inSteps, withoutYielding } from "../../src/lib/steps.ts";
import { planUpload } from "../../src/catalogue/upload_plan.ts";
import { NO_REVIEW } from "../../src/catalogue/review.ts";
import { product } from "../support/app.ts";

const ID = "018f0000-0000-7000-8000-00000000000";

function loaded(limit: number, ...skus: string[]): PlanData {
  const products = skus.map((sku, n): Product => ({
    ...INITIAL,
    ...NO_REVIEW,
    id: `${ID}${n}`,
    sku,
    title: sku,
    price: "1",
    currency: "SEK",
    created_at: 1,
    updated_at: 1,
    ...NO_FORMER_PRICE,
  }));
  return {
    inactiveError: null,
    review: "none",
    categories: null,
    contacts: null,
    categoriesVersion: null,
    now: 1,
    priceJump: null,
    quota: { limit, used: skus.length },
    byId: new Map(products.map((product) => [product.id, product])),
    bySku: new Map(products.map((product) => [product.sku, product])),
  };
}

/** `sku result` of each product, and the codes of all problems. */
async function plan(xml: string, acceptValid: boolean, stored: PlanData) {
  const bytes = new TextEncoder().encode(`<products>${xml}</products>`);
  const document = decodeProducts([bytes]);
  const documentProblems = document.problems;
  const { problems, products } = await inSteps(
    planUpload({ document, documentProblems, acceptValid }, stored),
    withoutYielding,
  );
  return {
    codes: problems.map(({ code }) => code),
    results: products.map((planned) =>
      planned.result === "refused"
        ? `${planned.sku} refused`
        : `${planned.after.sku} ${planned.result}`
    ),
  };
}

const swap = `<product><id>${ID}0</id><sku>B</sku></product>` +
  `<product><id>${ID}1</id><sku>A</sku></product>`;

Deno.test("products may exchange their SKUs in one upload", async () => {
  assertEquals(await plan(swap, false, loaded(10, "A", "B")), {
    codes: [],
    results: ["B updated", "A updated"],
  });
});

Deno.test("an SKU kept by a refused product stays taken", async () => {
  const refused = swap.replace(
    "<sku>B</sku>",
    "<sku>B</sku><weight>x</weight>",
  );
  const { codes, results } = await plan(refused, true, loaded(10, "A", "B"));
  assertEquals(results, ["B refused", "A refused"]);
  assertEquals(codes.at(-1), "sku_taken");
});

Deno.test("accept=valid stores new products until the limit is reached", async () => {
  const xml = product("N") + product("A") + product("O");
  const stored = loaded(2, "A");
  assertEquals(await plan(xml, true, stored), {
    codes: ["quota_exceeded"],
    results: ["N created", "A updated", "O refused"],
  });
  assertEquals(await plan(xml, false, stored), {
    codes: ["quota_exceeded", "quota_exceeded"],
    results: ["N refused", "A updated", "O refused"],
  });
});
