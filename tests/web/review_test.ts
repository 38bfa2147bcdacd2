/** The review of products in a real browser. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { boot, product, type TestApp } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { browserTest } from "./browser.ts";
import { pictured, signIn } from "./page.ts";

/** More than one page of the queue. */
const PRODUCTS = 60;

const KEY = "operator";

async function start(): Promise<TestApp> {
  const app = await boot({
    config: { roles: ["api", "images", "webhooks"], operatorKey: KEY },
  });
  await app.operator({ key: KEY }).sellers.setAttribute({
    seller: "acme",
    seller_attribute: "review",
    value: "changes",
  });
  return app;
}

/** SKUs of products in a state. */
async function skusIn(
  app: TestApp,
  state: "approved" | "rejected" | "pending",
): Promise<string[]> {
  const skus: string[] = [];
  for await (
    const { sku } of app.client().products.list({ review: state })
  ) {
    skus.push(sku!);
  }
  return skus;
}

browserTest(
  "the page: an operator reviews with J, K, A and R, and sees changes side by side",
  async (openTab) => {
    await using host = new ImageHost();
    await using app = await start();
    const operator = app.operator({ key: KEY });
    const uploaded = await app.upload(
      pictured("A", `${host.url}/good/a.png`) + product("B") + product("C"),
    );
    await app.status(uploaded, "?wait=10");
    const { reviews: [first] } = await operator.reviews.list();
    await operator.reviews.decide({
      reviews: [{ product: first.id, decision: "approved" }],
    });
    await app.call("/seller_api/products/A/attribute/title/Other", {
      method: "PUT",
    });
    await using tab = await openTab();
    const { page } = tab;
    await signIn(tab, app.url, KEY, "operator");
    await page.getByRole("link", { name: "Review", exact: true }).click();
    const card = page.getByRole("article");
    await page.getByText("List of reasons").click();
    await page.getByLabel("One per line").fill(
      "logo | images | A logo | or a name\n\n title | title\nother",
    );
    await page.getByRole("button", { name: "Save reasons" }).click();
    const kept = async () => (await operator.reasons.list()).reasons;
    await until(async () => (await kept()).length === 3);
    assertEquals(await kept(), [
      { code: "logo", field: "images", message: "A logo | or a name" },
      { code: "title", field: "title" },
      { code: "other" },
    ]);
    await page.getByText("List of reasons").click();
    await page.getByRole("article", { name: "B" }).waitFor();
    await page.keyboard.press("j");
    await page.getByRole("article", { name: "C" }).waitFor();
    await page.keyboard.press("j");
    const changed = page.getByRole("article", { name: "A" })
      .getByRole("region", { name: "Title, changed" });
    assertMatch(await changed.innerText(), /before\s+Title of A\s+now\s+Other/);
    await card.locator('img[src^="/images/"]').waitFor();
    await page.keyboard.press("k");
    await page.getByRole("article", { name: "C" }).waitFor();
    await page.keyboard.press("r");
    await page.getByLabel("Reason").press("Escape");
    await page.keyboard.press("r");
    await page.getByLabel("Reason").selectOption("title");
    await page.getByLabel("Message to the seller").fill("Say what it is");
    await page.getByLabel("Message to the seller").press("Enter");
    await page.getByRole("article", { name: "A" }).waitFor();
    await page.keyboard.press("a");
    await page.getByText("2 decided of 3.").waitFor();
    await until(async () => (await skusIn(app, "rejected")).length === 1);
    await until(async () => (await skusIn(app, "approved")).length === 1);
    assertEquals(await skusIn(app, "rejected"), ["C"]);
    assertEquals(await skusIn(app, "approved"), ["A"]);

    // A decision about a former version is refused, with a message.
    await page.keyboard.press("k");
    await page.keyboard.press("k");
    await page.getByRole("article", { name: "B" }).waitFor();
    await app.call("/seller_api/products/B/attribute/title/Changed", {
      method: "PUT",
    });
    await page.keyboard.press("a");
    await page.getByText("1 decision was not stored: B.").waitFor();
    assertEquals(await skusIn(app, "pending"), ["B"]);
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("heading", { name: "Changed", exact: true }).waitFor();
    await page.keyboard.press("r");
    await page.getByLabel("Reason").press("Enter");
    await until(async () => (await skusIn(app, "pending")).length === 0);

    // The seller finds the rejected product and the reason.
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn(tab, app.url, app.key);
    await page.getByRole("link", { name: "Products" }).click();
    await page.getByLabel("Review").selectOption("rejected");
    await page.getByRole("link", { name: "B", exact: true }).waitFor();
    await page.getByRole("link", { name: "C", exact: true }).click();
    await page.getByText("Say what it is, Title, title").waitFor();
    // The browser logs the refused decision.
    assertEquals(tab.faults.filter((fault) => !fault.includes("422")), []);
  },
);

browserTest(
  "the page: an operator works through a long queue without a reload",
  async (openTab) => {
    await using app = await start();
    await app.upload(
      Array.from({ length: PRODUCTS }, (_, n) => product(`P-${n}`)).join(""),
    );
    await using tab = await openTab({ width: 360 });
    const { page } = tab;
    await signIn(tab, app.url, KEY, "operator");
    // The title contains the number on every view.
    const title = async (start: string) =>
      await until(async () => (await page.title()).startsWith(start), start);
    await title("(60) Overview");
    await page.goto(`${app.url}/#/sellers`);
    await title("(60) Sellers");
    await page.goto(`${app.url}/#/reviews`);
    await page.getByRole("article").waitFor();
    await title("(50+) Review");
    const loads = await page.evaluate<number>("performance.timeOrigin");
    for (let n = 0; n < PRODUCTS; n++) {
      await page.getByRole("article", { name: `P-${n}`, exact: true })
        .waitFor();
      await page.keyboard.press("a");
    }
    await page.getByText(`${PRODUCTS} decided of ${PRODUCTS}.`).waitFor();
    await until(async () => (await skusIn(app, "pending")).length === 0);
    assertEquals((await skusIn(app, "approved")).length, PRODUCTS);
    assert(loads === await page.evaluate<number>("performance.timeOrigin"));
    assertEquals(tab.faults, []);
  },
);
