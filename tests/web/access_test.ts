/**
 * Every view is accessible: axe reports no violation, and nothing is cut off.
 */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import axe from "axe-core";
import { REFERENCE_PAGES } from "../../src/contracts/docs.ts";
import { CHAPTER_GROUPS } from "../../src/docs/chapters.ts";
import { picture } from "../../src/sandbox/pictures.ts";
import { boot, product, type TestApp } from "../support/app.ts";
import { ImageHost } from "../support/image_host.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { browserTest, type Tab } from "./browser.ts";
import { catalogue, choose, pictured, signIn } from "./page.ts";

interface Place {
  name: string;
  /** Opens the view from the one before. */
  come(tab: Tab): Promise<void>;
}

const SELLER_VIEWS = (urls: { host: string; sink: string }): Place[] => [
  {
    name: "upload",
    come: ({ page }) => page.getByText("Drop a file").waitFor(),
  },
  {
    name: "pictures",
    async come({ page }) {
      const files = ["MUG-1.png", "MUG-1-back.png", "IMG_1.png", "a.heic"];
      await page.getByLabel("Picture files").setInputFiles(
        files.map((name) => ({
          name,
          mimeType: "image/png",
          buffer: Buffer.from(picture(name) ?? "?"),
        })),
      );
      await page.getByText("without a product").first().waitFor();
    },
  },
  {
    name: "columns",
    async come({ page }) {
      await page.getByRole("button", { name: "Leave the pictures out" })
        .click();
      // In CP850.
      const text = "sku;brand;price\n1;Bl\x86sippsl\x86da;2\n2;H\x86l;1.299";
      await page.getByLabel("File with products").setInputFiles({
        name: "stock.csv",
        mimeType: "text/csv",
        buffer: Buffer.from(text, "latin1"),
      });
      await page.getByText("does 1.299 mean 1299").waitFor();
    },
  },
  {
    name: "repair",
    async come({ page }) {
      await page.getByRole("button", { name: /^Blåsippslåda · Hål/ }).click();
      await page.getByRole("button", { name: "1299", exact: true }).click();
      await page.getByLabel("Currency of all prices").fill("SEK");
      await page.getByRole("button", { name: "Check 2 products" }).click();
      await page.getByRole("grid").focus();
      await page.keyboard.type("x");
    },
  },
  {
    name: "problems",
    async come({ page }) {
      await page.getByRole("button", { name: "Another file" }).click();
      await choose(page, catalogue(product("A-1", "<colour>red</colour>")));
      await page.getByRole("button", { name: "A-1 colour" }).click();
    },
  },
  {
    name: "ready",
    async come({ page }) {
      await page.getByRole("button", { name: "Another file" }).click();
      const images = [`${urls.host}/good/a.png`, `${urls.host}/gone/b.png`];
      await choose(page, catalogue(pictured("A-1", ...images)));
      await page.getByText("No problems.").waitFor();
    },
  },
  {
    name: "result",
    async come({ page }) {
      await page.getByRole("button", { name: "Upload 1 product" }).click();
      await page.getByText("complete, images missing").waitFor();
      await page.locator("td img").waitFor();
    },
  },
  {
    name: "history",
    async come({ page }) {
      await page.getByRole("link", { name: "History" }).click();
      await page.getByRole("cell", { name: "complete" }).waitFor();
    },
  },
  {
    name: "products",
    async come({ page }) {
      await page.getByRole("link", { name: "Products" }).click();
      await page.getByRole("link", { name: "A-1" }).waitFor();
    },
  },
  {
    name: "product",
    async come({ page }) {
      await page.getByRole("link", { name: "A-1" }).click();
      await page.locator("#field-price").fill("x");
      await page.getByRole("button", { name: "Add an image" }).click();
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "contacts",
    async come({ page }) {
      await page.getByRole("link", { name: "Contacts" }).click();
      const fill = (label: string, text: string) =>
        page.getByLabel(label, { exact: true }).fill(text);
      await fill("Name for your products", "acme");
      await fill("Company", "Acme AB");
      await fill("Street and number", "Gatan 1");
      await fill("City", "Lund");
      await fill("Country (two capital letters)", "SE");
      await fill("Email", "safety@acme.example");
      await page.getByRole("button", { name: "Add the contact" }).click();
      await page.getByRole("button", { name: "Edit acme" }).click();
      await page.getByRole("button", { name: "Delete" }).click();
    },
  },
  {
    name: "webhooks",
    async come({ page }) {
      await page.getByRole("link", { name: "Webhooks" }).click();
      await page.getByLabel("Address", { exact: true }).fill(urls.sink);
      await page.getByRole("button", { name: "Register" }).click();
      await page.getByRole("button", { name: "Remove" }).click();
    },
  },
  {
    name: "deliveries",
    async come({ page }) {
      await page.getByRole("button", { name: "Test order_created" }).click();
      await page.getByText("delivered").waitFor();
    },
  },
  {
    name: "sign-in",
    async come({ page }) {
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("API key").fill("wrong");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("This key is not valid").waitFor();
    },
  },
  {
    name: "operator",
    async come({ page }) {
      await page.getByLabel("API key").fill("operator");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
    },
  },
  {
    name: "sellers",
    async come({ page }) {
      await page.getByRole("link", { name: "Sellers" }).click();
      await page.getByLabel("Name").fill("globex");
      await page.getByRole("button", { name: "Add" }).click();
      await page.getByText("I have stored it").waitFor();
    },
  },
  {
    name: "viewed product",
    async come({ page }) {
      await page.getByRole("link", { name: "View as acme" }).click();
      await page.getByText("the views of the seller acme").waitFor();
      await page.getByRole("link", { name: "Products" }).click();
      await page.getByRole("link", { name: "A-1" }).click();
      await page.locator("#field-price").waitFor();
    },
  },
  {
    name: "viewed webhooks",
    async come({ page }) {
      await page.getByRole("link", { name: "Webhooks" }).click();
      await page.getByRole("link", { name: "order_created" }).click();
      await page.getByText("delivered").waitFor();
      await page.getByRole("link", { name: "Back to the sellers" }).click();
    },
  },
  {
    name: "seller",
    async come({ page }) {
      await page.getByRole("link", { name: "acme", exact: true }).click();
      await page.getByLabel("Label of a new key").fill("ERP");
      await page.getByRole("button", { name: "Add a key" }).click();
      await page.getByRole("cell", { name: "ERP" }).waitFor();
      await page.getByText("200, attempt 1").click();
    },
  },
  {
    name: "reviews",
    async come({ page }) {
      await page.getByRole("link", { name: "Review", exact: true }).click();
      await page.getByRole("article", { name: "NEW" }).waitFor();
      await page.keyboard.press("r");
      await page.getByLabel("Message to the seller").waitFor();
    },
  },
  {
    name: "refusals",
    async come({ page }) {
      await page.getByRole("link", { name: "Refusals" }).click();
      await page.getByText("1 problem").first().click();
    },
  },
  {
    name: "audit",
    async come({ page }) {
      await page.getByRole("link", { name: "Audit" }).click();
      await page.getByRole("cell", { name: "seller add" }).waitFor();
    },
  },
];

const LOOKS = [
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 360 },
] as const;

const TAGS = [
  "wcag2a",
  "wcag2aa",
  "wcag21a",
  "wcag21aa",
  "wcag22aa",
  "best-practice",
];

/** A product waits that was changed after it was rejected. */
async function reviewOne(app: TestApp): Promise<void> {
  const operator = app.operator();
  const place = { seller: "acme", seller_attribute: "review" } as const;
  await operator.sellers.setAttribute({ ...place, value: "changes" });
  await app.upload(product("NEW", `<brand>${"long".repeat(20)}</brand>`));
  const { reviews: [{ id }] } = await operator.reviews.list();
  const approved = { product: id, decision: "approved" } as const;
  await operator.reviews.decide({ reviews: [approved] });
  const rejected = { product: id, decision: "rejected", code: "c" } as const;
  await operator.reviews.decide({ reviews: [rejected] });
  await app.call("/seller_api/products/NEW/attribute/title/Other", {
    method: "PUT",
  });
}

/** By how many pixels the page is too wide. */
function cutOff({ page }: Pick<Tab, "page">): Promise<number> {
  return page.evaluate<number>(
    "document.documentElement.scrollWidth - innerWidth",
  );
}

/**
 * Violations that axe reports, and content that does not fit, as lines with
 * their place.
 */
async function complaints({ page }: Tab): Promise<string[]> {
  if (!await page.evaluate("'axe' in globalThis")) {
    await page.evaluate(axe.source);
  }
  const cut = await cutOff({ page });
  const complained = await page.evaluate<string[]>(
    `axe.run({ runOnly: ${JSON.stringify(TAGS)}, resultTypes: ["violations"] })
      .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) =>
          [id, html, failureSummary].join(" "))))`,
  );
  return cut > 0 ? [...complained, `${cut} pixels cut off`] : complained;
}

/** Violations that axe reports in each colour scheme. */
async function complaintsByLook(tab: Tab): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { colorScheme, width } of LOOKS) {
    await tab.page.emulateMedia({ colorScheme });
    await tab.page.setViewportSize({ width, height: 800 });
    const printed = await complaints(tab);
    if (printed.length > 0) found[colorScheme] = printed;
  }
  return found;
}

browserTest(
  "axe finds no problem in any view, light and dark, and every view fits",
  async (openTab) => {
    await using host = new ImageHost();
    await using sink = new WebhookSink();
    await using app = await boot({
      config: { roles: ["api", "images", "webhooks"], operatorKey: "operator" },
    });
    await app.upload(product("B-1", "<gtin>1</gtin>"));
    await using tab = await openTab({ width: 360 });
    await signIn(tab, app.url, app.key);
    const found: Record<string, unknown> = {};
    const views = SELLER_VIEWS({ host: host.url, sink: sink.url() });
    for (const { name, come } of views) {
      if (name === "reviews") await reviewOne(app);
      await come(tab);
      const said = await complaintsByLook(tab);
      if (Object.keys(said).length > 0) found[name] = said;
    }
    assertEquals(found, {});
    assertEquals(tab.faults, []);
  },
);

browserTest(
  "axe finds no problem in the handbook, light and dark, and every page fits",
  async (openTab) => {
    await using app = await boot();
    await using tab = await openTab({ width: 360 });
    const found: Record<string, unknown> = {};
    // The contents, prose with tables and code, and what is generated.
    for (const name of ["", "/deployment", "/api", "/api-reviews"]) {
      await tab.page.goto(`${app.url}/docs${name}`);
      const said = await complaintsByLook(tab);
      if (Object.keys(said).length > 0) found[name] = said;
    }
    await tab.page.setViewportSize({ width: 360, height: 800 });
    const chapters = CHAPTER_GROUPS.flatMap(({ chapters }) => chapters);
    for (
      const { name } of [...chapters, ...REFERENCE_PAGES]
    ) {
      await tab.page.goto(`${app.url}/docs/${name}`);
      const cut = await cutOff(tab);
      if (cut > 0) found[name] = `${cut} pixels cut off`;
    }
    assertEquals(found, {});
    assertEquals(tab.faults, []);
  },
);

browserTest("the handbook is searched in the browser", async (openTab) => {
  await using app = await boot();
  await using tab = await openTab({ width: 360 });
  const { page } = tab;
  await page.goto(`${app.url}/docs/quick-start`);
  const field = page.getByRole("searchbox", { name: "Search" });
  await field.fill("repeat SAFELY");
  const link = page.getByRole("link", {
    name: "Upload products: Repeat a request safely",
  });
  await link.waitFor();
  assertEquals(await cutOff(tab), 0);
  await field.fill("xyzzy");
  await page.getByText("0 found", { exact: true }).waitFor();
  const finds: [string, string][] = [
    ["image localhost", "Images: Download from a host"],
    ["changed since yesterday", "Read and change products: List products"],
    ["duplicates", "Errors: Detail codes"],
    ["price csv", "Prices and stock all day"],
  ];
  for (const [words, name] of finds) {
    await field.fill(words);
    await page.getByRole("search").getByRole("link", { name, exact: true })
      .waitFor();
  }
  await field.fill("undo xyzzy");
  await page.getByText(/^\d+ found with 1 of 2 words$/).waitFor();
  await field.fill("undo");
  await page.getByRole("link", { name: "API reference: Undo an upload" })
    .first().click();
  await page.waitForURL("**/docs/api-uploads#undo-an-upload");
  assertEquals(tab.faults, []);
});
