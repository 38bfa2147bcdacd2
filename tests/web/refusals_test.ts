/** The operator's page answers "Why was acme refused yesterday at 14:00?" */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { browserTest } from "./browser.ts";
import { signIn } from "./page.ts";

browserTest(
  "the page: the operator finds a refusal by seller, time, code and SKU",
  async (openTab) => {
    await using app = await boot({
      config: { roles: ["api"], operatorKey: "operator" },
    });
    await app.upload(product("B-1", "<gtin>1</gtin>"));
    await app.call("/seller_api/products?limit=x");
    const other = await app.addSeller("globex");
    await app.call("/seller_api/products?limit=x", { key: other });
    await using tab = await openTab();
    const { page } = tab;
    const rows = (count: number) =>
      until(async () => await page.getByRole("row").count() === count + 1);
    const find = async (label: string, text: string) => {
      await page.getByLabel(label, { exact: true }).fill(text);
      await page.getByRole("button", { name: "Find" }).click();
    };
    await signIn(tab, app.url, "operator", "operator");
    await page.getByRole("link", { name: "Refusals" }).click();
    await rows(3);
    await page.getByRole("link", { name: "Sellers" }).click();
    await page.getByRole("link", { name: "acme", exact: true }).click();
    await page.getByRole("link", { name: "Find refusals by time, code or SKU" })
      .click();
    await rows(2);
    assertEquals(
      await page.getByLabel("Seller", { exact: true }).inputValue(),
      "acme",
    );
    await find("SKU or request id", "B-1");
    await rows(1);
    await page.getByRole("cell", { name: "record_invalid" }).waitFor();
    assertStringIncludes(page.url(), "?seller=acme&q=B-1");
    await page.reload();
    await rows(1);
    await find("Since", "2999-01-01T14:00");
    await page.getByText("(5xx) are only in its log").waitFor();
    await find("Since", "");
    await rows(1);
    await find("Until", "2020-01-01T14:00");
    await page.getByText("No request was refused.").waitFor();
    await page.goBack();
    await rows(1);
    await find("SKU or request id", "");
    await rows(2);
    await find("Request", "GET /seller_api/products");
    await rows(1);
    await find("Code", "not_found");
    await page.getByText("No request was refused.").waitFor();
    await app.upload(product("B-2"));
    await page.getByRole("link", { name: "Sellers" }).click();
    await page.getByRole("link", { name: "View as acme" }).click();
    await page.getByRole("cell", { name: "Refused at once" }).waitFor();
    await page.getByRole("cell", { name: "complete" }).waitFor();
    await page.getByRole("row").getByRole("link").click();
    await page.getByRole("link", { name: "B-2" }).click();
    assertEquals(await page.locator("#field-price").isDisabled(), true);
    assertEquals(await page.locator("main button:enabled").count(), 0);
    const { audit: [{ who, action, seller }] } = await app
      .operator().audit.list();
    assertEquals([who, action, seller], ["environment", "seller view", "acme"]);
    assertEquals(tab.faults, []);
  },
);
