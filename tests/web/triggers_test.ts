/** The page shows what a trigger sends, in the marketplace's words. */
import { assertEquals } from "@std/assert";
import { boot } from "../support/app.ts";
import { browserTest } from "./browser.ts";
import { signIn } from "./page.ts";

browserTest(
  "the page: a trigger's data are the operator's, in XML and JSON",
  async (openTab) => {
    await using app = await boot({ config: { operatorKey: "operator" } });
    const put = async (trigger: string, meaning: string) => {
      const { status, text } = await app.call(
        `/operator_api/triggers/${trigger}`,
        { method: "PUT", key: "operator", body: meaning },
      );
      assertEquals(status, 200, text);
    };
    await put(
      "order_created",
      "<trigger><about>Sent once the customer &amp; we agreed.</about>" +
        '<example><sale no="7"><piece>MUG-1</piece></sale></example></trigger>',
    );
    await using tab = await openTab();
    const { page } = tab;
    await signIn(tab, app.url, app.key);
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByText("What order_created sends").click();
    await page.getByText("Sent once the customer & we agreed.").waitFor();
    const source = page.locator("details pre.source");
    await page.getByText('<sale no="7">').waitFor();
    await page.getByLabel("Format").selectOption("json");
    await page.getByText('"@no": "7"').waitFor();
    assertEquals(JSON.parse(await source.innerText()).data, {
      sale: { "@no": "7", piece: "MUG-1" },
    });
    // The service's own text, if the operator gives none.
    await page.getByLabel("Trigger").selectOption("order_paid");
    await page.getByText("the order is paid: it can be sent").waitFor();
    assertEquals(JSON.parse(await source.innerText()).trigger, "order_paid");
    assertEquals(tab.faults, []);
  },
);
