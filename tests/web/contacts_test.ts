/** Contacts on the page: stored, changed, chosen for a product, deleted. */
import { assertEquals } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { browserTest } from "./browser.ts";
import { signIn } from "./page.ts";

browserTest(
  "the page: a contact is added, changed, chosen for a product, and deleted",
  async (openTab) => {
    await using app = await boot({ config: { roles: ["api"] } });
    await app.upload(product("A"));
    await using tab = await openTab();
    const { page } = tab;
    await signIn(tab, app.url, app.key);
    await page.getByRole("link", { name: "Contacts", exact: true }).click();
    await page.getByText("There is no contact yet.").waitFor();
    const fill = async (texts: Record<string, string>) => {
      for (const [label, text] of Object.entries(texts)) {
        await page.getByLabel(label).fill(text);
      }
    };
    await fill({
      "Name for your products": "kockums",
      "Company": "Kockums Jernverk AB",
      "Street and number": "Bruksgatan 3",
      "Postal code": "372 38",
      "City": "Ronneby",
      "Country": "se",
    });
    await page.getByRole("button", { name: "Add the contact" }).click();
    await page.getByText("a contact needs").waitFor();
    await fill({ "Email": "safety@kockums.example" });
    await page.getByRole("button", { name: "Add the contact" }).click();
    const row = page.getByRole("row", { name: "kockums" });
    await row.getByText("Bruksgatan 3, 372 38 Ronneby, SE").waitFor();

    await page.getByRole("button", { name: "Edit kockums" }).click();
    await fill({ "City": "Lund" });
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await row.getByText("372 38 Lund, SE").waitFor();

    const [stored] = (await app.client().products.list()).products;
    await page.goto(`${app.url}/#/products/${stored.id}`);
    await page.getByLabel("Manufacturer contact").selectOption("kockums");
    await page.getByLabel("Safety text").fill("Keep away from fire.");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await until(async () => {
      const { product } = await app.client().products.get({ sku_or_id: "A" });
      return product.manufacturer === "kockums" &&
        product.safety_text === "Keep away from fire.";
    }, "the saved product");

    await page.getByRole("link", { name: "Contacts", exact: true }).click();
    await row.getByRole("button", { name: "Delete" }).click();
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByText("There is no contact yet.").waitFor();
    await page.goto(`${app.url}/#/products/${stored.id}`);
    await page.getByText("kockums (deleted)").waitFor({ state: "attached" });
    assertEquals(tab.faults.filter((fault) => !fault.includes("422")), []);
  },
);
