/** Keys on the page: created with fewer rights, rotated, revoked. */
import { assertEquals } from "@std/assert";
import { boot } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { browserTest } from "./browser.ts";
import { signIn, signInByHand } from "./page.ts";

const OPERATOR = {
  config: { roles: ["api"] as const, operatorKey: "operator" },
};

browserTest(
  "the page: a seller makes a key with scopes, and rotates its own",
  async (openTab) => {
    await using app = await boot(OPERATOR);
    await using tab = await openTab();
    const { page } = tab;
    const answerTo = async (path: string, key: string, method = "GET") =>
      (await app.call(`/seller_api/${path}`, { key, method })).status;
    const newKey = page.getByRole("status").locator("dd code");
    await signIn(tab, app.url, app.key);
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    const own = page.getByRole("row", { name: "this session" });
    await own.getByText("read, products, webhooks, keys").waitFor();

    await page.getByLabel("Label of a new key").fill("PIM");
    await page.getByLabel("Only from these networks").fill("10.0.0.0");
    await page.getByLabel("webhooks").check();
    await page.getByRole("button", { name: "Add a key" }).click();
    await page.getByText("write a network as in").first().waitFor();
    await page.getByLabel("Only from these networks").fill(
      "127.0.0.0/8, ::1/128",
    );
    await page.getByLabel("Until").fill("2999-01-01T12:00");
    await page.getByRole("button", { name: "Add a key" }).click();
    const key = await newKey.innerText();
    assertEquals(await answerTo("webhooks", key), 200);
    assertEquals(await answerTo("products", key), 403);
    const row = page.getByRole("row", { name: "PIM" });
    await row.getByText("127.0.0.0/8, ::1/128").waitFor();
    await page.getByRole("button", { name: "I have stored it" }).click();

    await own.getByRole("button", { name: "Rotate" }).click();
    await own.getByRole("button", { name: "Rotate" }).click();
    const next = await newKey.innerText();
    assertEquals(await answerTo("account", app.key), 200, "it lives a day");
    await until(async () =>
      await page.getByRole("table").getByRole("row").count() === 4
    );
    assertEquals(await own.count(), 1);
    await page.reload();
    await own.waitFor();
    await row.getByRole("button", { name: "Revoke" }).click();
    await row.getByRole("button", { name: "Revoke" }).click();
    await row.getByText("revoked").waitFor();
    await until(async () => await answerTo("webhooks", key) === 401);
    const kept = await page.evaluate<string>("sessionStorage.getItem('key')");
    assertEquals(kept.includes(next), true);
    assertEquals(tab.faults.filter((fault) => !fault.includes("422")), []);
  },
);

browserTest(
  "the page: a key that lacks scopes can sign in",
  async (openTab) => {
    await using app = await boot(OPERATOR);
    const { key } = await app.client().keys.create({
      key: { scopes: ["products"] },
    });
    await using tab = await openTab();
    const { page } = tab;
    await signInByHand(tab, app.url, key.api_key);
    await page.getByRole("link", { name: "Products", exact: true }).click();
    await page.getByText("There are no products yet.").waitFor();
    await page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await page.getByText("lacks the scope read or webhooks").first().waitFor();
  },
);

browserTest(
  "the page: the operator creates a key with an expiry",
  async (openTab) => {
    await using app = await boot(OPERATOR);
    await using tab = await openTab();
    const { page } = tab;
    await signIn(tab, app.url, "operator", "operator");
    await page.goto(`${app.url}/#/sellers/${app.sellerId}`);
    await page.getByLabel("Label of a new key").fill("ERP");
    await page.getByLabel("products", { exact: true }).check();
    await page.getByLabel("Until").fill("2999-01-01T12:00");
    await page.getByRole("button", { name: "Add a key" }).click();
    const row = page.getByRole("row", { name: "ERP" });
    await row.getByRole("cell", { name: "products", exact: true }).waitFor();
    assertEquals(await row.getByRole("button", { name: "Rotate" }).count(), 0);
    assertEquals(tab.faults, []);
  },
);
