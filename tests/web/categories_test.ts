/** The marketplace's categories in a real browser. */
import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { CATEGORIES_EXAMPLE } from "../../src/contracts/examples.ts";
import { boot } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { browserTest } from "./browser.ts";
import { signIn } from "./page.ts";

const KEY = "operator";

browserTest(
  "the page: an operator stores the list of categories, and a seller's form follows it",
  async (openTab) => {
    await using app = await boot({
      config: { roles: ["api"], operatorKey: KEY },
    });
    await using tab = await openTab();
    const { page } = tab;
    await signIn(tab, app.url, KEY, "operator");
    await page.getByRole("link", { name: "Categories" }).click();
    await page.getByText("There is no list").waitFor();
    const put = async (text: string) => {
      await page.getByLabel("A list of categories").setInputFiles({
        name: "list.xml",
        mimeType: "text/xml",
        buffer: Buffer.from(text),
      });
      await page.getByRole("button", { name: "Check" }).click();
    };
    const replace = page.getByRole("button", { name: "Replace the list" });
    await put(CATEGORIES_EXAMPLE.replace("2027-01-01", "tomorrow"));
    await page.getByText("1 problem.").waitFor();
    await page.getByText(/line 3: .* must be a date that exists/).waitFor();
    assertEquals(await replace.isDisabled(), true);
    await put(CATEGORIES_EXAMPLE);
    await page.getByText("The list has no problems").waitFor();
    await replace.click();
    await page.getByText("The list is stored").waitFor();
    const rule = page.getByText("material: required; one of steel, porcelain");
    await rule.waitFor();
    await page.getByLabel("Find").fill("cups");
    await page.getByText("No category’s name contains this").waitFor();
    await page.getByLabel("Find").fill("MUG");
    await rule.waitFor();

    await using other = await openTab();
    await signIn(other, app.url, app.key);
    await other.page.goto(`${app.url}/#/new`);
    const form = other.page;
    await form.getByRole("button", { name: "Add a category" }).click();
    await form.getByLabel("Category of category 1").fill("Home/Mugs");
    await form.getByText("GTIN: required; from 2027-01-01 on").waitFor();
    await form.getByRole("button", { name: "Add material" }).click();
    const note = form.getByLabel("Name of attribute 1");
    assertEquals(await note.inputValue(), "material");
    await form.getByLabel("Value of attribute 1").fill("steel");
    for (
      const [label, value] of [
        ["SKU (required)", "A"],
        ["Title (required)", "Mug"],
        ["Price (required)", "9"],
        ["Currency", "SEK"],
        ["Quantity", "1"],
      ]
    ) {
      await form.getByLabel(label, { exact: true }).fill(value);
    }
    await form.getByRole("button", { name: "Create the product" }).click();
    await until(async () =>
      (await app.client().products.list()).products.length > 0
    );
    const { transactions: [{ transaction_id }] } = await app.client()
      .uploads.list();
    await form.goto(`${app.url}/#/uploads/${transaction_id}`);
    await form.getByText("1 warning: these products are stored").waitFor();
    await form.getByLabel("Results").waitFor();
    const reads = await form.evaluate(
      (id) =>
        performance.getEntriesByType("resource")
          .filter(({ name }) => name.endsWith(id)).length,
      transaction_id,
    );
    // Its progress as a stream, and its record once.
    assertEquals(reads, 2);
  },
);
