/** Many products are changed, deleted and exported at once. */
import { assertEquals } from "@std/assert";
import {
  type BulkChange,
  bulkChangeProblem,
  productEffects,
  withPriceQuestions,
} from "../../../src/web/products/bulk.ts";
import type { Product } from "../../../src/client/mod.ts";
import { DAY_MS } from "../../../src/lib/durations.ts";
import { boot, product } from "../../support/app.ts";
import { ImageHost } from "../../support/image_host.ts";
import { browserTest } from "../browser.ts";
import { catalogue, pictured, signIn } from "../page.ts";

Deno.test("prices change exactly, rounded to their currency", () => {
  const priced = (amount: string, currency: string) => ({
    id: "1",
    sku: "A",
    price: { amount, currency },
    images: [],
  });
  const products = [
    priced("159.50", "SEK"),
    priced("0.1", "SEK"),
    priced("1999", "JPY"),
    { id: "2", sku: "B", images: [] },
  ];
  const to = (change: BulkChange) =>
    productEffects(products, change).map(({ to }) => to);
  assertEquals(to({ field: "price", operation: "percent", text: "−12,5 %" }), [
    "139.56 SEK",
    "0.09 SEK",
    "1749.00 JPY",
  ]);
  assertEquals(to({ field: "price", operation: "add", text: "-0.1" }), [
    "159.40 SEK",
    "0.00 SEK",
    "1998.90 JPY",
  ]);
  assertEquals(to({ field: "quantity", operation: "set", text: "7" }), [
    ..."7777",
  ]);
  assertEquals(to({ field: "quantity", operation: "add", text: "7" }), []);
  const invalid: BulkChange[] = [
    { field: "price", operation: "add", text: "ten" },
    { field: "price", operation: "percent", text: "0" },
    { field: "quantity", operation: "add", text: "1.5" },
  ];
  assertEquals(invalid.map((one) => bulkChangeProblem(one) === null), [
    false,
    false,
    false,
  ]);
});

Deno.test("an ambiguous number is refused; a very different price needs a confirmation", () => {
  const problem = (field: "price" | "quantity", text: string) =>
    bulkChangeProblem({ field, operation: "set", text });
  assertEquals(
    problem("price", "1.399"),
    "Does 1.399 mean 1399, or 1.399? Write 1399 or 1.3990.",
  );
  assertEquals(
    problem("quantity", "1.000"),
    "Does 1.000 mean 1000, or 1? Write 1000 or 1.",
  );
  for (const text of ["1399", "1.3990", "1.399,00", "0.125", "13.99"]) {
    assertEquals(problem("price", text), null, text);
  }
  const price = { amount: "1299", currency: "EUR" };
  const to = (text: string) =>
    productEffects([{ id: "1", sku: "A", price, images: [] }], {
      field: "price",
      operation: "set",
      text,
    }).map(({ from, to, question }) => [from, to, question]);
  assertEquals(to("1.3990"), [[
    "1299.00 EUR",
    "1.3990 EUR",
    "price 1.3990 EUR is 1299.00 EUR now. Is that correct?",
  ]]);
  assertEquals(to("1399"), [["1299.00 EUR", "1399.00 EUR", null]]);
});

Deno.test("a price change beyond the seller's limit is questioned and sent with the stored price", () => {
  const price = { amount: "100", currency: "EUR" };
  const products = ["A", "B"].map((sku) => ({
    id: sku,
    sku,
    price,
    images: [],
  }));
  for (
    const change of [
      { field: "price", operation: "set", text: "150" },
      { field: "price", operation: "percent", text: "50" },
    ] as const
  ) {
    const [a, b] = withPriceQuestions(productEffects(products, change), ["B"]);
    assertEquals([a.question, b.question], [
      null,
      "price 150.00 EUR is 100.00 EUR now. Is that correct?",
    ]);
    assertEquals(b.sent.price, {
      amount: "150.00",
      currency: "EUR",
      expected: "100",
    });
  }
});

Deno.test("a sale of many products lowers each by a percentage, or ends", () => {
  const until = "2026-12-24T22:59:00.000Z";
  const products: Product[] = [
    { id: "1", sku: "A", price: { amount: "159.50", currency: "SEK" } },
    {
      ...{ id: "2", sku: "B", price: { amount: "100", currency: "EUR" } },
      sale: { state: "on", price: "9", from: until, until },
    },
    { id: "3", sku: "C" },
  ];
  const change = {
    field: "sale",
    operation: "percent",
    text: "−10 %",
  } as const;
  const [a, b] = productEffects(products, { ...change, from: "", until });
  assertEquals(a, {
    sku: "A",
    from: "159.50 SEK",
    to: "sale at 143.55 SEK",
    sent: {
      id: "1",
      price: { amount: "159.50", currency: "SEK", expected: "159.50" },
      sale: { price: "143.55", until },
    },
    question: null,
  });
  assertEquals(b.from, "100.00 EUR, sale at 9 EUR");
  assertEquals(b.sent.sale, { price: "90.00", until });
  const from = "2026-12-01T08:00:00.000Z";
  const [at] = productEffects(products, {
    ...{ field: "sale", operation: "set", text: "99,90" },
    ...{ from, until },
  });
  assertEquals(at.sent.sale, { price: "99.90", from, until });
  assertEquals(
    productEffects(products, { field: "sale", operation: "end", text: "" })
      .map(({ sku, from, to, sent }) => [sku, from, to, sent]),
    [["B", "sale at 9 EUR", "no sale", { id: "2", sale: null }]],
  );
  const problem = (text: string, until: string) =>
    bulkChangeProblem({
      field: "sale",
      operation: "percent",
      text,
      from: "",
      until,
    });
  assertEquals(problem("ten", until), "Write a number, such as 159.50 or −10.");
  assertEquals(problem("-10", ""), "The sale needs an end.");
  assertEquals(problem("-10", until), null);
});

browserTest(
  "the page: a sale is planned for all selected products, and ended",
  async (openTab) => {
    await using app = await boot();
    await using tab = await openTab();
    const { page } = tab;
    await app.upload(product("A") + product("B"));
    const sales = async () =>
      (await app.client().products.list()).products
        .map(({ sale }) => sale && [sale.state, sale.price].join(" "));
    const click = (name: string) =>
      page.getByRole("button", { name, exact: true }).click();
    const inDays = (days: number) =>
      new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 16);
    const change = async (name: string) => {
      await page.getByLabel("Select these 2").check();
      await page.getByLabel("Change", { exact: true }).selectOption(name);
    };
    await signIn(tab, app.url, app.key);
    await page.getByRole("link", { name: "Products", exact: true }).click();
    await change("Sale by percent");
    await page.getByLabel("Value").fill("-10");
    await click("Preview for 2 products");
    await page.getByText("The sale needs an end.").waitFor();
    await page.getByLabel("Begins").fill(inDays(2));
    await page.getByLabel("Ends").fill(inDays(9));
    await click("Preview for 2 products");
    await page.getByText("A: 199.00 SEK → sale at 179.10 SEK").waitFor();
    await click("Change 2 products");
    await page.getByText("2 products changed.").waitFor();
    assertEquals(await sales(), ["planned 179.1", "planned 179.1"]);
    await change("No sale");
    await click("Preview for 2 products");
    await page.getByText("A: sale at 179.1 SEK → no sale").waitFor();
    await click("Change 2 products");
    await page.getByText("2 products changed.").waitFor();
    assertEquals(await sales(), [undefined, undefined]);
    assertEquals(tab.faults, []);
  },
);

browserTest(
  "the page: a price ten times the stored one needs a confirmation",
  async (openTab) => {
    await using app = await boot();
    await using tab = await openTab();
    const { page } = tab;
    await app.upload(product("A"));
    const stored = async () =>
      (await app.client().products.get({ sku_or_id: "A" })).product.price!
        .amount;
    const click = (name: string) =>
      page.getByRole("button", { name, exact: true }).click();
    await signIn(tab, app.url, app.key);
    await page.getByRole("link", { name: "Products", exact: true }).click();
    await page.getByRole("link", { name: "A", exact: true }).click();
    const price = page.locator("#field-price");
    await price.fill("1.990");
    await page.getByText("Does 1.990 mean 1990, or 1.990?").waitFor();
    await price.fill("1990");
    await click("Save");
    await page.getByText("Price 1990 SEK is 199 SEK now. Is that correct?")
      .waitFor();
    assertEquals(await stored(), "199");
    await click("Save");
    await page.getByText("The product is saved.").waitFor();
    assertEquals(await stored(), "1990");

    // The view of the upload shows the change, and a preview of its undo.
    const changes = page.getByRole("link", { name: "See or undo the change" });
    await changes.click();
    await page.getByRole("heading", {
      name: "Edit of A: Price 199 SEK → 1990 SEK",
    }).waitFor();
    await page.getByRole("region", { name: "Results" })
      .getByText("Price SEK 199.00 → SEK 1,990.00").waitFor();
    await click("Undo this upload…");
    const undo = page.getByRole("region", { name: "Undo" });
    await undo.getByText("A: price SEK 1,990.00 → SEK 199.00").waitFor();

    await page.getByRole("link", { name: "Products", exact: true }).click();
    await page.getByLabel("Select A").check();
    await page.getByLabel("Change", { exact: true })
      .selectOption("Price to a value");
    await page.getByLabel("Value").fill("1.990");
    await click("Preview for 1 product");
    await page.getByText("Does 1.990 mean 1990, or 1.990?").waitFor();
    await page.getByLabel("Value").fill("19,90");
    await click("Preview for 1 product");
    await page.getByText("A: 1990.00 SEK → 19.90 SEK").waitFor();
    await page.getByText("A: price 19.90 SEK is 1990.00 SEK now").waitFor();
    await click("It is correct: change 1 product");
    await page.getByText("1 product changed.").waitFor();
    assertEquals(await stored(), "19.9");
    await changes.click();
    await app.client()
      .products.setAttribute({
        sku_or_id: "A",
        attribute: "price",
        value: "2",
      });
    await click("Undo this upload…");
    await undo.waitFor();
    assertEquals(await undo.locator("p, li").allInnerTexts(), [
      "Nothing would change.",
      "These have changed since, so they stay as they are:",
      "A: price was changed since.",
      "Cancel",
    ]);

    // For other fields the view has no former values.
    await page.getByRole("link", { name: "Products", exact: true }).click();
    await page.getByLabel("Select A").check();
    await page.getByLabel("Change", { exact: true })
      .selectOption("Quantity to a value");
    await page.getByLabel("Value").fill("1");
    await click("Preview for 1 product");
    await page.getByText("A: 5 → 1").waitFor();
    await click("Change 1 product");
    await page.getByRole("link", { name: "Undo the change…" }).click();
    await page.getByRole("heading", { name: "quantity = 1" }).waitFor();
    assertEquals(tab.faults, []);
  },
);

browserTest(
  "the page: a preview ends with an ellipsis only if more products change",
  async (openTab) => {
    await using app = await boot();
    await using tab = await openTab();
    const { page } = tab;
    const skus = ["A", "B", "C", "D", "E", "F", "G"];
    await app.upload(skus.map((sku) => product(sku)).join(""));
    for (const sku of skus.slice(2)) {
      await app.client()
        .products.setAttribute({
          sku_or_id: sku,
          attribute: "quantity",
          value: "9",
        });
    }
    await signIn(tab, app.url, app.key);
    await page.getByRole("link", { name: "Products", exact: true }).click();
    await page.getByLabel("Select these 7").check();
    await page.getByLabel("Change", { exact: true })
      .selectOption("Quantity to a value");
    const changes = page.locator("section[aria-label=Preview] li");
    const preview = async (quantity: string, sentence: string) => {
      await page.getByLabel("Value").fill(quantity);
      await page.getByRole("button", { name: "Preview for 7 products" })
        .click();
      await page.getByText(sentence).waitFor();
      return await changes.allInnerTexts();
    };
    assertEquals(
      await preview("9", "2 products would change, 5 would stay the same."),
      ["A: 5 → 9", "B: 5 → 9"],
    );
    const all = await preview("8", "7 products would change.");
    assertEquals([all.length, all.at(-1)], [6, "…"]);
    assertEquals(tab.faults, []);
  },
);

browserTest(
  "the page: many products are changed, deleted and saved as a file",
  async (openTab) => {
    await using host = new ImageHost();
    await using app = await boot({ config: { roles: ["api", "images"] } });
    await using tab = await openTab();
    const { page } = tab;
    const skus = Array.from({ length: 55 }, (_, i) => `P-${i + 10}`);
    await app.client().uploads.waitFor(
      await app.client().uploads.create({
        products: catalogue(
          ...skus.map((sku) => product(sku)),
          pictured("G", `${host.url}/gone/g.png`),
        ),
      }),
    );
    await signIn(tab, app.url, app.key);
    await page.getByRole("link", { name: "Products", exact: true }).click();
    const click = (name: string | RegExp) =>
      page.getByRole("button", { name }).click();

    await page.getByLabel("Select P-11").check();
    await page.getByLabel("Select these 50").check();
    await page.getByText("50 products selected").waitFor();
    await click("Select all results");
    await page.getByText("56 products selected").waitFor();
    await page.getByLabel("Select P-40").uncheck();
    await page.getByLabel("Value").fill("-10,5 %");
    await click("Preview for 55 products");
    await page.getByText("P-10: 199.00 SEK → 178.11 SEK").waitFor();
    await app.client().products.setAttribute({
      sku_or_id: "P-12",
      attribute: "price",
      value: "1",
    });
    await page.getByRole("button", { name: "Change 55 products" }).click();
    await page.getByText("54 products changed. 1 refused").waitFor();
    const prices = async () =>
      (await app.client().products.list({ limit: 4 })).products
        .map(({ price }) => price!.amount);
    assertEquals(await prices(), ["178.11", "178.11", "1", "178.11"]);
    await page.getByRole("link", { name: "See or undo the change" }).click();
    await page.getByRole("heading", { name: "price by -10,5 %" }).waitFor();
    await click("Undo this upload…");
    await click("Undo");
    await page.getByText("This is the undo of").waitFor();
    assertEquals(await prices(), ["199", "199", "1", "199"]);

    await page.getByRole("link", { name: "Products", exact: true }).click();
    await page.getByLabel("SKU or title").fill("P-1");
    await page.getByLabel("SKU or title").press("Enter");
    await page.getByLabel("Select these 10").check();
    await click("Delete 10 products");
    await page.getByText("Delete P-10, P-11, P-12 and 7 more for good?")
      .waitFor();
    const client = app.client();
    const stored = await client.products.list({ limit: 250 });
    const { id } = stored.products.find(({ sku }) => sku === "P-13")!;
    await page.route(
      `**/products/${id}`,
      (route) => route.fulfill({ status: 502, body: "" }),
    );
    const { resolve: continueDeletion, promise: progressChecked } = Promise
      .withResolvers<void>();
    const last = stored.products.find(({ sku }) => sku === "P-19")!;
    await page.route(`**/products/${last.id}`, async (route) => {
      await progressChecked;
      await route.continue();
    });
    await click("Delete 10 products");
    // Failed deletions are not reported as deleted.
    await page.getByText("Deleted 8 of 10, 1 failed").waitFor();
    continueDeletion();
    await page.getByText("9 products deleted. 1 could not be deleted.")
      .waitFor();
    await page.getByRole("status").getByText("P-13").waitFor();
    const { products: remaining } = await client.products.list({ limit: 250 });
    assertEquals(remaining.length, 47);

    // The focus is on the note, so Tab reaches its button.
    await page.keyboard.press("Tab");
    assertEquals(
      await page.evaluate("document.activeElement.textContent"),
      "Save 9 deleted products as a file",
    );
    const saved = page.waitForEvent("download");
    await click("Save 9 deleted products as a file");
    const file = await Deno.readTextFile(await (await saved).path());
    await client.uploads.create({ products: file });
    const { products: created } = await client.products.list({ limit: 250 });
    // Ids, times and price history differ; all other values are equal.
    const sentFields = (all: readonly Product[]) =>
      all.map((
        {
          id: _,
          created_at: _at,
          updated_at: _to,
          lowest_price: _low,
          ...rest
        },
      ) => rest).toSorted((a, b) => a.sku! < b.sku! ? -1 : 1);
    assertEquals(sentFields(created), sentFields(stored.products));

    await page.getByRole("link", { name: "Products", exact: true }).click();
    await page.getByLabel("Select P-63").waitFor();
    await page.getByLabel("Images").selectOption("failed");
    await page.getByText("/gone/g.png").waitFor();
    host.answers.set("/gone/g.png", () => fetch(`${host.url}/good/g.png`));
    await page.getByLabel("Select these 1").check();
    await click("Retry 1 failed image");
    await page.getByText("complete", { exact: true }).waitFor();
    const { product: fetched } = await app.client()
      .products.get({ sku_or_id: "G" });
    assertEquals(fetched.images?.map(({ status }) => status), ["stored"]);
    assertEquals(tab.faults, []);
  },
);
