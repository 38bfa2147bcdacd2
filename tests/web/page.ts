/** Actions of a person on the page, and documents for them. */
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { product } from "../support/app.ts";
import type { AccountKind } from "../../src/web/state/session.ts";
import type { Tab } from "./browser.ts";

/**
 * Opens the page as after a reload, with a key that the tab has stored: typing
 * it takes a third of the processor time of a short test.
 */
export async function signIn(
  { page }: Tab,
  url: string,
  key: string,
  role: AccountKind = "seller",
): Promise<void> {
  const script = await page.addInitScript((kept: Record<string, string>) => {
    for (const [name, text] of Object.entries(kept)) {
      sessionStorage.setItem(name, text);
    }
  }, { key, role });
  await page.goto(url);
  await script.dispose();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

/** Opens the page and types a key; a wrong one is not accepted. */
export async function signInByHand(
  { page }: Tab,
  url: string,
  key: string,
): Promise<void> {
  await page.goto(url);
  await page.getByLabel("API key").fill(key);
  await page.getByLabel("API key").press("Enter");
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

/** Chooses a file to upload. */
export function choose(
  page: Page,
  text: string,
  name = "catalogue.xml",
): Promise<void> {
  return page.getByLabel("File with products").setInputFiles({
    name,
    mimeType: "text/plain",
    buffer: Buffer.from(text),
  });
}

/** A document of products, one on each line from the second on. */
export function catalogue(...products: string[]): string {
  return `<products>\n${products.join("\n")}\n</products>\n`;
}

/** A product with images. */
export function pictured(sku: string, ...urls: string[]): string {
  const images = urls.map((url) => `<image>${url}</image>`).join("");
  return product(sku, `<images>${images}</images>`);
}
