/** The page in a real browser, against the real service. */
import {
  assert,
  assertEquals,
  assertLess,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import type { Page } from "playwright-core";
import { DAY_MS } from "../../src/lib/durations.ts";
import { systemClock, systemIds } from "../../src/deps.ts";
import { addKey, listKeys, revokeKey } from "../../src/sellers/key_rows.ts";
import {
  boot,
  type BootOptions,
  product,
  type TestApp,
} from "../support/app.ts";
import { until } from "../support/clock.ts";
import type { Config } from "../../src/config.ts";
import { ImageHost } from "../support/image_host.ts";
import { WebhookSink } from "../support/webhook_sink.ts";
import { browserTest, type OpenTab } from "./browser.ts";
import { pageTests } from "./opened_page.ts";
import { TcpProxy } from "./tcp_proxy.ts";
import { catalogue, choose, pictured, signIn } from "./page.ts";

function test(name: string, fn: (openTab: OpenTab) => Promise<void>): void {
  browserTest(`the page: ${name}`, fn);
}

/**
 * Without the image role, whose worker takes as long to start as all others.
 */
const CONFIG: Partial<Config> = {
  roles: ["api", "webhooks"],
  operatorKey: "operator",
};
const pageTest = pageTests("the page", { config: CONFIG });

function bootPage({ config, ...options }: BootOptions = {}): Promise<TestApp> {
  return boot({ ...options, config: { ...CONFIG, ...config } });
}

function bootWithImages(
  { config, ...options }: BootOptions = {},
): Promise<TestApp> {
  const roles = ["api", "images", "webhooks"] as const;
  return bootPage({ ...options, config: { roles, ...config } });
}

/** How far content of the page moved by itself; good pages stay below 0.1. */
function watchJumps(page: Page): Promise<() => Promise<number>> {
  return page.addInitScript(`
    globalThis.jumped = 0;
    new PerformanceObserver((list) => {
      for (const { hadRecentInput, value } of list.getEntries()) {
        if (!hadRecentInput) globalThis.jumped += value;
      }
    }).observe({ type: "layout-shift", buffered: true });
  `).then(() => () => page.evaluate<number>("globalThis.jumped"));
}

test("a file is checked, uploaded and followed to its end", async (openTab) => {
  await using host = new ImageHost();
  await using app = await bootWithImages();
  await using tab = await openTab();
  const { page } = tab;
  const jumped = await watchJumps(page);
  await signIn(tab, app.url, app.key);
  await choose(
    page,
    catalogue(
      pictured("A-1", `${host.url}/good/a.png`, `${host.url}/hang/b.png`),
      pictured("A-2", `${host.url}/gone/c.png`),
      product("A-3"),
    ),
  );
  await page.getByText("No problems.").waitFor();
  await page.getByRole("button", { name: "Upload 3 products" }).click();

  await page.getByText("downloading images").waitFor();
  const bar = page.getByRole("progressbar", { name: "Progress" });
  await until(async () => await bar.getAttribute("value") === "93");
  host.release();
  await page.getByText("complete, images missing").waitFor();
  assertEquals(await bar.getAttribute("value"), "100");
  const loaded = `[...document.querySelectorAll("td img")]
    .filter((image) => image.complete && image.naturalWidth > 0).length`;
  await until(async () => await page.evaluate(loaded) === 2);
  const failure = page.locator(".failure");
  assertStringIncludes(await failure.innerText(), "/gone/c.png");
  assertStringIncludes(await failure.innerText(), "410");

  host.answers.set("/gone/c.png", () => fetch(`${host.url}/good/c.png`));
  await page.getByRole("button", { name: "Retry 1 failed image" }).click();
  await page.getByText("complete", { exact: true }).waitFor();
  await until(async () => await page.evaluate(loaded) === 3);

  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("cell", { name: "complete" }).waitFor();
  assertLess(await jumped(), 0.1);
  assertEquals(tab.faults, []);
});

pageTest(
  "a refused file is repaired where its problems are shown",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const filler = Array.from({ length: 200 }, (_, i) => product(`F-${i}`));
    await choose(
      page,
      catalogue(
        ...filler,
        product("A-1", "<gtin>4006381333932</gtin>"),
        product("A-2", "<colour>red</colour>"),
      ),
    );
    await page.getByText("2 problems in 2 products.").waitFor();
    // There are too many lines before it to draw them until somebody scrolls
    // there.
    assertEquals(await page.locator("[data-line='202']").count(), 0);
    await page.getByRole("button", { name: "A-1" }).click();
    await page.locator("[data-line='202'].marked.current").waitFor();
    assertEquals(await selected(page), "4006381333932");
    await page.keyboard.insertText("4006381333931");
    await page.getByText("edited", { exact: true }).waitFor();
    await page.getByRole("button", { name: "A-2" }).click();
    assertEquals(await selected(page), "colour");
    await page.keyboard.insertText("brand");
    const source = page.getByLabel("Source of the file");
    await source.fill(
      (await source.inputValue()).replace("</colour>", "</brand>"),
    );
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByRole("button", { name: "Upload 202 products" }).waitFor();
    const stored = await app.call("/seller_api/products");
    assertStringIncludes(stored.text, "<products/>");

    // A document that is not XML shows where it is malformed.
    await page.getByRole("button", { name: "Another file" }).click();
    await choose(page, "<products>\n <product><title>Cups & saucers</title>");
    await page.getByRole("button", { name: /line 2/ }).click();
    assertEquals(await selected(page), "&");
    await page.getByRole("link", { name: "History" }).click();
    await page.getByRole("cell", { name: "Check of catalogue.xml" }).waitFor();
    await page.getByRole("link", { name: "Upload", exact: true }).click();
    await page.getByText("For a problem report").click();
    const facts = await page.getByRole("alert").innerText();
    assertMatch(facts, /malformed_xml · 400 · request [0-9a-f-]{36}/);

    // One long line is formatted, and sent as it is shown.
    await page.getByRole("button", { name: "Another file" }).click();
    const flawed = product(
      "L-2",
      "<vat_rate>x</vat_rate><brand>A brand</brand>",
    );
    await choose(
      page,
      `<products>${product("L-0")}${product("L-1")}${flawed}</products>`,
    );
    await page.getByText("line breaks added").waitFor();
    await page.getByRole("button", { name: "line 19" }).click();
    assertEquals(await selected(page), "x");
    assertEquals(app.log.filter(({ status }) => status === 500), []);
    assertEquals(tab.faults, []);
  },
);

/** The text that is selected in the source. */
function selected(page: Page): Promise<string> {
  return page.getByLabel("Source of the file").evaluate((area) => {
    const { value, selectionStart, selectionEnd } = area as unknown as {
      value: string;
      selectionStart: number;
      selectionEnd: number;
    };
    return value.slice(selectionStart, selectionEnd);
  });
}

pageTest(
  "problems are grouped by code and field, filtered and saved",
  async ({ page, signIn, tab }) => {
    await signIn();
    const flawed = Array.from(
      { length: 15 },
      (_, i) => product(`F-${i}`, "<gtin>1</gtin>"),
    );
    await choose(
      page,
      catalogue(...flawed, product("A", "<colour>red</colour>")),
    );
    await page.getByText("16 problems in 16 products.").waitFor();
    const groups = page.locator("details.group");
    assertEquals(await groups.count(), 2);
    assertStringIncludes(await groups.first().innerText(), "GTIN is");
    await groups.last().locator("summary").click();
    await page.getByText("The element <colour> is not known here").waitFor();

    await page.getByLabel("Instead of 1").fill("4006381333931");
    await page.getByRole("button", { name: "Replace" }).click();
    await page.getByText("Replaced in 15 products.").waitFor();
    const source = await page.getByLabel("Source of the file").inputValue();
    assertEquals(source.split("<gtin>4006381333931</gtin>").length, 16);

    await page.getByLabel("Filter the problems").fill("f-7");
    await page.getByText("1 of 16").waitFor();
    assertEquals(await page.locator(".problem").count(), 1);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save the list" }).click();
    const saved = await download;
    assertEquals(saved.suggestedFilename(), "catalogue-problems.csv");
    const list = await Deno.readTextFile(await saved.path());
    assertEquals(list.trim().split("\r\n").length, 17);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a spreadsheet gets its columns mapped and is one import",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    await choose(page, "PK\x03\x04 word/document.xml", "stock.docx");
    await page.getByText("stock.docx is a Word document.").waitFor();

    await choose(page, "sku,title,price\nA-1,Mug,149,00\n", "stock.csv");
    await page.getByRole("alert").getByText("Row 2 has more values").waitFor();
    const check = page.getByRole("button", { name: "Check 1 product" });
    assert(await check.isDisabled());
    await page.getByRole("button", { name: "Another file" }).click();

    await choose(page, "sku,title,price\nA-1,Mug,1.299\n", "stock.csv");
    await page.getByText("price: does 1.299 mean 1299, or 1.299?").waitFor();
    await page.getByRole("button", { name: "Another file" }).click();

    const rows = Array.from({ length: 251 }, (_, i) => `S-${i};Mug;9,50;${i}`);
    const header = "SKU;What;Price;Stock";
    const all = page.getByRole("button", { name: "Check 252 products" });
    const flawed = "S-251;Mug;cheap;1";
    await choose(
      page,
      [`${header};Stock`, ...rows, flawed].join("\n"),
      "stock.csv",
    );
    await page.getByText("No column holds: Title, Currency.").waitFor();
    await page.getByLabel("Field of What").selectOption("title");
    await page.getByLabel("Currency of all prices").fill("sek");
    await page.getByText("Every field that a new product needs").waitFor();
    await page.getByRole("cell", { name: "9.50" }).first().waitFor();
    await all.click();
    await page.getByText("1 problem in 1 row.").waitFor();
    await page.getByText("Row 253, Price").waitFor();
    await page.getByRole("button", { name: "Store 251, leave out 1" }).click();
    await page.getByRole("heading", { name: "stock.csv" }).waitFor();
    await page.getByText("complete, 1 refused").waitFor();
    const last = await app.call("/seller_api/products/S-250");
    assertStringIncludes(last.text, '<price currency="SEK">9.5</price>');

    // The columns are remembered; rows can be pasted.
    await page.getByRole("link", { name: "Upload", exact: true }).click();
    await page.getByRole("link", { name: "The rest" }).waitFor();
    await page.getByRole("button", { name: "Another file" }).click();
    await page.getByRole("button", { name: "Paste rows" }).click();
    await page.getByLabel("Rows copied from a spreadsheet")
      .fill("SKU\tWhat\tPrice\tStock\nT-1\tCup\t5\t1");
    await page.getByRole("button", { name: "Use these rows" }).click();
    await page.getByRole("button", { name: "Check 1 product" }).click();
    await page.getByRole("button", { name: "Upload 1 product" }).waitFor();
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a document in JSON is checked, corrected, saved and stored",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const price = { amount: "5.00", currency: "SEK" };
    const products = [
      { sku: "J-1", title: "Mug", price, quantity: 1 },
      { sku: "J-2", title: "Bowl", price, quantity: "many" },
    ];
    const text = JSON.stringify({ products }, null, 1);
    await choose(page, `\ufeff${text}`, "products.json");
    await page.getByText("1 problem in 1 product.").waitFor();
    await page.getByText('quantity is "many"').click();
    const source = page.getByLabel("Source of the file");
    assertEquals(await source.inputValue(), text);
    await source.fill(text.replace('"many"', "3"));
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as a file" }).click();
    assertEquals((await download).suggestedFilename(), "products.json");
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByRole("button", { name: "Upload 2 products" }).click();
    await page.getByText("complete", { exact: true }).waitFor();
    const { product } = await app.client().products.get({ sku_or_id: "J-2" });
    assertEquals(product.quantity, 3);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "the handbook opens beside a file whose columns are being mapped",
  async ({ page, signIn, tab }) => {
    await signIn();
    await choose(page, "SKU,Name,Cost\nA-1,Mug,5\n", "stock.csv");
    const check = page.getByRole("button", { name: "Check 1 product" });
    await check.waitFor();
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByText("What order_created sends").click();
    const [handbook] = await Promise.all([
      page.waitForEvent("popup"),
      page.getByRole("link", { name: "How to verify and answer a delivery" })
        .click(),
    ]);
    await handbook.waitForURL("**/docs/webhooks");
    await handbook.close();
    await page.getByRole("link", { name: "Upload", exact: true }).click();
    await check.waitFor();
    assertEquals(tab.faults, []);
  },
);

Deno.test("every link to the handbook opens it beside the page", async () => {
  const web = new URL("../../src/web/", import.meta.url);
  const named: string[] = [];
  const look = async (folder: URL) => {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) await look(new URL(`${name}/`, folder));
      else if (name.endsWith(".tsx")) {
        const text = await Deno.readTextFile(new URL(name, folder));
        if (text.includes('"/docs')) named.push(name);
      }
    }
  };
  await look(web);
  assertEquals(named, ["components.tsx"]);
});

pageTest(
  "a webhook is registered, tested, sent again and removed",
  async ({ app, page, signIn }) => {
    await using sink = new WebhookSink();
    await signIn();
    await page.getByRole("link", { name: "Webhooks" }).click();
    const address = page.getByLabel("Address");
    await address.fill("http://127.0.0.1:1/hook");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("must be 80, 443, or 1024").waitFor();

    await address.fill(sink.url());
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByRole("button", { name: "Test order_created" }).click();
    await page.getByText("delivered").waitFor();
    assertStringIncludes(sink.received[0].text, 'test="true"');
    await page.getByRole("button", { name: /^Send again event/ }).click();
    await until(() => sink.received.length === 2);
    assertEquals(
      sink.received[1].headers.get("webhook-id"),
      sink.received[0].headers.get("webhook-id"),
    );
    await page.getByRole("cell", { name: "2", exact: true }).waitFor();
    await page.getByText("Payload and signature").click();
    const body = sink.received[0].text;
    await page.getByText(body, { exact: true }).waitFor();
    await page.getByText("it is a test").waitFor();

    // Without a mouse: `?` lists the shortcuts, `g` and a letter open a view.
    await page.keyboard.press("Escape");
    await page.locator("h1").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("History").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("w");
    await page.getByRole("button", { name: "Remove" }).click();
    const sure = page.getByRole("group", { name: "Remove order_created?" });
    await sure.getByRole("button", { name: "Remove" }).click();
    await page.getByText("There are no webhooks yet.").waitFor();
    const left = await app.call("/seller_api/webhooks");
    assert(!left.text.includes("order_created"));
  },
);

pageTest(
  "a failing webhook is shown as failing, recovers, and gets its own secret",
  async ({ app, page, signIn }) => {
    await using sink = new WebhookSink();
    const trigger = "order_created";
    await app.operator()
      .events.create({ event: { seller: "acme", trigger, reference: "1" } });
    await app.client().webhooks.create({
      webhook: { trigger, url: sink.url() },
    });
    sink.answering = () => new Response(null, { status: 500 });
    await signIn();
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByRole("link", { name: "order_created" }).click();
    await page.getByLabel("Events since").fill("2026-01-01T00:00");
    await page.getByRole("button", { name: "Recover" }).click();
    await page.getByText("1 delivery queued.").waitFor();
    await until(() => sink.received.length === 1);
    await until(async () =>
      (await app.call("/seller_api/webhooks")).text.includes("failing_since")
    );

    await page.getByRole("link", { name: "All webhooks" }).click();
    await page.getByText("The answer was 500; only 2xx is a success.")
      .waitFor();
    await page.getByText("failing", { exact: true }).waitFor();
    await page.getByRole("button", { name: "New secret" }).click();
    const sure = page.getByRole("group", {
      name: "Give order_created a new secret?",
    });
    await sure.getByRole("button", { name: "New secret" }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole("button", { name: "I have stored it" }).click();
    assertEquals(await page.getByText(/^whsec_/).count(), 0);

    sink.answering = () => new Response(null, { status: 410 });
    await page.getByRole("link", { name: "order_created" }).click();
    await page.getByLabel("Events since").fill("2026-01-01T00:00");
    const recover = page.getByRole("button", { name: "Recover" });
    await recover.click();
    await until(async () =>
      (await app.call("/seller_api/webhooks")).text.includes("disabled_at")
    );
    await recover.click();
    await page.getByText("1 delivery on hold until you register").waitFor();
  },
);

const HOSTILE = `"><img src=x onerror="pwned=1"><script>pwned=1</script>`;

pageTest(
  "a seller's text is shown, never executed",
  async ({ app, page, signIn, tab }) => {
    const sku = `<b>/..\\?#%"'`;
    const text = (raw: string) =>
      raw.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const uploaded = await app.upload(
      `<product><sku>${text(sku)}</sku><title>${text(HOSTILE)}</title>` +
        `<description>${text(HOSTILE)}</description>` +
        `<price currency="SEK">1</price><quantity>1</quantity>` +
        `<brand>${text(HOSTILE)}</brand>` +
        `<categories><category>${text(HOSTILE)}</category></categories>` +
        `<attributes><attribute name="${
          text(HOSTILE).replaceAll('"', "&quot;")
            .slice(0, 40)
        }">${text(HOSTILE)}</attribute></attributes></product>`,
    );
    assertEquals(uploaded.status, 200, uploaded.text);
    await signIn();
    await page.getByRole("link", { name: "Products" }).click();
    await page.getByRole("cell", { name: HOSTILE }).waitFor();
    await page.getByRole("link", { name: sku }).click();
    await page.getByRole("heading", { name: HOSTILE }).waitFor();
    assertEquals(await page.getByLabel("Brand").inputValue(), HOSTILE);
    await page.getByRole("link", { name: "History" }).click();
    await page.getByRole("cell", { name: "complete" }).waitFor();
    await page.getByRole("table").getByRole("link").first().click();
    await page.getByRole("link", { name: sku }).waitFor();
    assertEquals(await page.evaluate("typeof pwned"), "undefined");
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "an upload that does not exist is an error, and the page does not wait",
  async ({ app, page, signIn }) => {
    await signIn();
    await page.goto(`${app.url}#/uploads/x`);
    await page.getByRole("alert").first().waitFor();
    assertEquals(await page.getByText("Loading…").count(), 0);
  },
);

pageTest(
  "another user's change is replaced only after confirmation",
  async ({ app, page, signIn }) => {
    const upload = (fields: string) =>
      app.upload(`<product><sku>A</sku>${fields}</product>`);
    const categories = (...names: string[]) =>
      `<categories>${
        names.map((name) => `<category>${name}</category>`).join("")
      }</categories>`;
    const stored = async () => (await app.call("/seller_api/products/A")).text;
    await app.upload(product("A", categories("one")));
    await signIn();
    await page.getByRole("link", { name: "Products" }).click();
    await page.getByRole("link", { name: "A", exact: true }).click();
    const category = page.getByLabel("Category of category 1");
    const save = page.getByRole("button", { name: "Save" });
    /** Without the product that is read again after the last change. */
    const openAnew = async () => {
      await page.getByText("Changed:").waitFor({ state: "detached" });
      await page.reload();
      await save.waitFor();
    };
    const warning = page.getByText("Somebody else has changed these fields");

    // If the fields differ, both changes are kept.
    await upload("<brand>Theirs</brand>");
    await category.fill("mine");
    await save.click();
    await page.getByText("See or undo the change").waitFor();
    assertEquals(await page.getByLabel("Brand").inputValue(), "Theirs");
    assertStringIncludes(await stored(), "<brand>Theirs</brand>");
    assertStringIncludes(await stored(), categories("mine"));

    // If the field is the same, the person decides.
    await openAnew();
    await upload(categories("mine", "theirs"));
    await category.fill("again");
    await save.click();
    await warning.waitFor();
    assertStringIncludes(await stored(), categories("mine", "theirs"));
    await save.click();
    await until(async () => (await stored()).includes(categories("again")));
    await warning.waitFor({ state: "detached" });

    await openAnew();
    await upload(categories("theirs"));
    await category.fill("mine");
    await save.click();
    await warning.waitFor();
    await page.getByRole("button", { name: "Discard the changes" }).click();
    assertEquals(await category.inputValue(), "theirs");
    assertEquals(await warning.count(), 0);
  },
);

test("all fields of a product are changed in one form, and one is written", async (openTab) => {
  await using host = new ImageHost();
  await using app = await bootWithImages();
  await using tab = await openTab();
  const { page } = tab;
  await app.upload(product("A/1"));
  await signIn(tab, app.url, app.key);
  await page.getByRole("link", { name: "Products" }).click();
  await page.getByLabel("SKU or title").fill("a/1");
  await page.getByLabel("SKU or title").press("Enter");
  await page.waitForURL(/q=a/);
  await page.getByRole("link", { name: "A/1" }).click();

  const price = page.locator("#field-price");
  await price.fill("1,299");
  await page.locator("#field-price-problem").waitFor();
  const save = page.getByRole("button", { name: "Save" });
  assert(await save.isDisabled());
  await price.fill("1 159,50");
  await page.getByLabel("Availability").selectOption("out_of_stock");
  await page.getByLabel("Description").fill("two\nlines & <more>");
  await page.getByRole("button", { name: "Add an attribute" }).click();
  await page.getByLabel("Name of attribute 1").fill("color");
  await page.getByLabel("Value of attribute 1").fill("Blue");
  await page.getByRole("button", { name: "Add an image" }).click();
  await page.getByLabel("Address of image 1").fill(`${host.url}/gone/a.png`);
  await page.getByText("Changed: Description, Price, Availability").waitFor();
  await save.click();
  await page.getByText("See or undo the change").waitFor();
  const read = await app.call("/seller_api/products/A%2F1");
  assertStringIncludes(read.text, ">1159.5</price>");
  assertStringIncludes(read.text, "<availability>out_of_stock</availability>");
  assertStringIncludes(read.text, "two\nlines &amp; &lt;more&gt;");
  assertStringIncludes(read.text, '<attribute name="color">Blue</attribute>');
  assertStringIncludes(read.text, "/gone/a.png");
  assertStringIncludes(read.text, "<quantity>5</quantity>");

  // Consequences of a change are shown as they are stored.
  const availability = page.getByLabel("Availability");
  await availability.selectOption("in_stock");
  await save.click();
  await until(async () => await save.isDisabled());
  await page.getByLabel("Quantity").fill("0");
  await save.click();
  await until(async () => await availability.inputValue() === "out_of_stock");
  await page.getByLabel("Quantity").fill(" 5 ");
  await save.click();
  await until(async () => await availability.inputValue() === "in_stock");
  assertEquals(await page.getByLabel("Quantity").inputValue(), "5");

  // A refusal is shown at its field.
  const saved = page.getByText("See or undo the change");
  assertEquals(await saved.count(), 1);
  await page.getByLabel("Compare-at price").fill("1");
  assertEquals(await saved.count(), 0);
  await save.click();
  await page.locator("#field-compare_at_price-problem").waitFor();

  // Back returns to the search; a new product begins empty.
  await page.goBack();
  assertEquals(await page.getByLabel("SKU or title").inputValue(), "a/1");
  await page.getByRole("link", { name: "New product" }).click();
  // The disappearing search has a label of that name, too.
  await page.getByRole("heading", { name: "New product" }).waitFor();
  await page.getByLabel("SKU").first().fill("A/1");
  await page.getByLabel("Title").fill("New");
  await price.fill("5");
  await page.getByLabel("Currency").fill("sek");
  await page.getByLabel("Quantity").fill("1");
  // Another product is not replaced.
  const create = page.getByRole("button", { name: "Create the product" });
  await create.click();
  await page.getByText("Another of your products has this SKU.").waitFor();
  await page.getByLabel("SKU").first().fill("N-1");
  await create.click();
  await page.getByRole("heading", { name: "New N-1" }).waitFor();
  assertStringIncludes(
    (await app.call("/seller_api/products/A%2F1")).text,
    ">1159.5</price>",
  );
  assertEquals((await app.call("/seller_api/products/N-1")).status, 200);
  assertEquals(tab.faults, []);
});

pageTest(
  "products are paged in both directions, sorted, and found by their address",
  async ({ app, page, signIn, tab }) => {
    const skus = Array.from({ length: 60 }, (_, i) => `S-${(i * 7) % 60}`);
    await app.upload(skus.map((sku) => product(sku)).join(""));
    await signIn();
    await page.getByRole("link", { name: "Products" }).click();
    const cells = page.locator("td.sku a");
    await cells.first().waitFor();
    assertEquals(await cells.allInnerTexts(), skus.slice(0, 50));
    await page.getByRole("link", { name: "Next page" }).click();
    await page.getByRole("link", { name: skus[59], exact: true }).waitFor();
    assertEquals(await cells.allInnerTexts(), skus.slice(50));
    await page.getByRole("link", { name: "Previous page" }).click();
    await page.getByRole("link", { name: skus[0], exact: true }).waitFor();

    const sorted = skus.toSorted();
    await page.getByLabel("Order").selectOption("sku");
    await page.getByRole("link", { name: sorted[49], exact: true }).waitFor();
    assertEquals(await cells.allInnerTexts(), sorted.slice(0, 50));
    await page.reload();
    await page.getByRole("link", { name: sorted[49], exact: true }).waitFor();
    await page.getByRole("link", { name: "Next page" }).click();
    await page.getByRole("link", { name: sorted[59], exact: true }).waitFor();
    assertEquals(await cells.allInnerTexts(), sorted.slice(50));
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a product is deleted after confirmation",
  async ({ app, page, signIn, tab }) => {
    await app.upload(product("A/1") + product("B"));
    await signIn();
    await page.getByRole("link", { name: "Products" }).click();
    await page.getByRole("link", { name: "A/1" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Keep" }).click();
    // The keyboard continues where the question was.
    await until(async () =>
      await page.evaluate("document.activeElement.textContent") === "Delete"
    );
    await page.keyboard.press("Enter");
    await page.getByRole("group", { name: "Delete A/1 for good?" })
      .getByRole("button", { name: "Delete" }).click();
    await page.getByRole("link", { name: "B", exact: true }).waitFor();
    assertEquals(await page.getByRole("link", { name: "A/1" }).count(), 0);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "products changed since a file was checked are shown, and nothing is stored",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    await choose(page, catalogue(product("A-1"), product("A-2")));
    const send = page.getByRole("button", { name: "Upload 2 products" });
    await send.waitFor();
    await app.upload(product("A-2", "<brand>Theirs</brand>"));
    await send.click();
    await page.getByText(
      "Products of this document were changed after its check",
    )
      .waitFor();
    await page.getByText("1 problem in 1 product.").waitFor();
    await page.getByText("that was created after the check").first().waitFor();
    await page.getByRole("button", { name: "Check again" }).click();
    await send.waitFor();
    const counts = (await page.locator(".figure").allInnerTexts())
      .map((text) => text.replace(/\s+/, " "));
    assertEquals(counts, [
      "products 2",
      "new 1",
      "changed 0",
      "unchanged 1",
    ]);
    const { products } = await app.client().products.list();
    assertEquals(products.map(({ sku }) => sku), ["A-2"]);
    // A change without effect blocks nothing.
    await app.upload(product("Z"));
    await send.click();
    await page.getByText("complete", { exact: true }).waitFor();
    assertEquals((await app.client().products.list()).products.length, 3);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "an import is undone after a preview",
  async ({ app, page, signIn, tab }) => {
    await app.upload(product("A"));
    await signIn();
    await choose(
      page,
      catalogue(product("A", "<brand>x</brand>"), product("B")),
    );
    await page.getByRole("button", { name: "Upload 2 products" }).click();
    await page.getByRole("button", { name: "Undo this import" }).click();
    await page.getByText(
      "1 product would be restored, 1 product would be deleted.",
    )
      .waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();

    const change = "/seller_api/products/A/attribute/brand/y";
    await app.call(change, { method: "PUT" });
    await page.getByRole("button", { name: "Undo this import" }).click();
    await page.getByText("1 product would be deleted.").waitFor();
    await page.getByText('brand was changed since; it is "y" now.').waitFor();
    await page.getByRole("button", { name: "Undo the rest" }).click();

    await page.getByText("This is the undo of").waitFor();
    await page.getByRole("cell", { name: "deleted" }).waitFor();
    assertEquals((await app.call("/seller_api/products/B")).status, 404);
    await page.getByRole("link", { name: "an import" }).click();
    await page.getByText("This import was undone.").waitFor();
    assertEquals(
      await page.getByRole("button", { name: "Undo this import" }).count(),
      0,
    );
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "after a refusal the valid products are uploaded, and the others downloaded",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const flawed = product("B", "<colour>red</colour>");
    await choose(page, catalogue(product("A"), flawed));
    await page.getByRole("button", { name: "Store 1, leave out 1" }).click();

    await page.getByRole("cell", { name: "refused" }).waitFor();
    const row = await page.getByRole("row", { name: "refused" }).innerText();
    assertStringIncludes(row, "line 3: The element <colour> is not known here");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the refused" }).click();
    const document = await Deno.readTextFile(await (await download).path());
    assertStringIncludes(document, `-->\n${flawed}\n</products>`);
    assertEquals((await app.call("/seller_api/products/A")).status, 200);
    assertEquals(tab.faults, []);

    // Or correct it here.
    await page.getByRole("button", { name: "Correct them here" }).click();
    await page.getByText("refused-catalogue.xml", { exact: true }).waitFor();
    const source = page.getByLabel("Source of the file");
    await source.fill(
      (await source.inputValue()).replaceAll(/<(.?)colour>/g, "<$1brand>"),
    );
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByRole("button", { name: "Upload 1 product" }).waitFor();
    // With the SKU of a stored product, it would replace that product.
    await source.fill((await source.inputValue()).replace(">B<", ">A<"));
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByText("is the SKU of product 1 of the same import")
      .waitFor();
    assertEquals(
      await page.getByRole("button", { name: /^(Store|Upload) / }).count(),
      0,
    );
    await page.getByRole("button", { name: "It is correct: change A" }).click();
    await page.getByRole("button", { name: "Upload 1 product" }).waitFor();
    await page.getByRole("button", { name: "Another file" }).click();

    // A mistake outside of any product leaves nothing to upload.
    await choose(page, catalogue(product("C"), "<produkt/>"));
    await page.getByText("1 problem.").waitFor();
    const button = page.getByRole("button", { name: /^Store/ });
    assertEquals(await button.count(), 0);
  },
);

pageTest(
  "a product shows its former prices as a chart and as a table",
  async ({ app, page, signIn, tab }) => {
    await app.upload(product("A-1"));
    await signIn();
    await page.getByRole("link", { name: "Products" }).click();
    await page.getByRole("link", { name: "A-1" }).click();
    await page.getByText("No price change is stored.").waitFor();
    for (const price of ["149", "179.5"]) {
      const path = `/seller_api/products/A-1/attribute/price/${price}`;
      await app.call(path, { method: "PUT" });
    }
    await page.reload();
    const line = page.getByRole("img", { name: "The price in SEK" });
    assertStringIncludes(
      (await line.getAttribute("aria-label"))!.replaceAll("\u00a0", " "),
      "from SEK 149.00 to SEK 199.00 in 2 changes",
    );
    const path = await line.locator("path").getAttribute("d");
    assertEquals(path?.match(/[MHV]/g)?.join(""), "MHVHVH");
    const card = page.getByRole("region", { name: "Price", exact: true });
    assertStringIncludes(await card.innerText(), "30 days before");
    const rows = page.getByRole("region", { name: "Price changes" })
      .getByRole("row");
    assertEquals(await rows.count(), 3);
    const newest = (await rows.nth(1).innerText()).replaceAll("\u00a0", " ");
    assertMatch(newest, /SEK 149.00\s+SEK 179.50\s+attribute/);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a sale is set in the form, shown in list and chart, and ended",
  async ({ app, page, signIn, tab }) => {
    await app.upload(product("A-1"));
    await signIn();
    await page.getByRole("link", { name: "Products" }).click();
    await page.getByRole("link", { name: "A-1" }).click();
    const price = page.getByLabel("Sale price");
    await price.fill("99,50");
    await page.getByText("The sale needs an end.").waitFor();
    const save = page.getByRole("button", { name: "Save" });
    assert(await save.isDisabled());
    const inDays = (days: number) =>
      new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 16);
    await page.getByLabel("Ends").fill(inDays(-2));
    await page.getByText("Changed: Sale").waitFor();
    await save.click();
    await page.getByText("which is past").first().waitFor();
    await page.getByLabel("Ends").fill(inDays(2));
    await save.click();
    await page.getByText("A sale is on:").waitFor();
    assertEquals(await price.inputValue(), "99.5");
    assertEquals(await page.getByLabel("Ends").inputValue(), inDays(2));
    const rows = page.getByRole("region", { name: "Price changes" })
      .getByRole("row");
    const newest = (await rows.nth(1).innerText()).replaceAll("\u00a0", " ");
    assertMatch(newest, /SEK 199.00\s+SEK 99.50\s+upload/);
    await page.getByRole("link", { name: "Products" }).first().click();
    const row = page.getByRole("row").filter({ hasText: "A-1" });
    assertMatch(
      (await row.innerText()).replaceAll("\u00a0", " "),
      /SEK 199.00 SEK 99.50/,
    );
    await page.getByRole("link", { name: "A-1" }).click();
    await page.getByRole("button", { name: "No sale" }).click();
    await save.click();
    await page.getByText("See or undo the change").waitFor();
    const read = await app.call("/seller_api/products/A-1");
    assertEquals(read.text.includes("<sale"), false);
    assertEquals(tab.faults, []);
  },
);

/**
 * Revokes the seller's keys and waits until they are refused; returns a new
 * one.
 */
async function replaceKeys(app: TestApp): Promise<string> {
  const deps = { clock: systemClock, ids: systemIds };
  const { apiKey } = await app.app.db.write(async (tx) => {
    for (const { id } of await listKeys(tx, app.sellerNo)) {
      await revokeKey(tx, deps, id);
    }
    return addKey(tx, deps, app.sellerNo);
  });
  await until(async () =>
    (await app.call("/seller_api/webhooks")).status === 401
  );
  return apiKey;
}

pageTest(
  "revoking the key in the middle loses no file",
  async ({ app, page, signIn }) => {
    await signIn();
    await choose(page, catalogue(product("A-1")));
    const send = page.getByRole("button", { name: "Upload 1 product" });
    await send.waitFor();

    const apiKey = await replaceKeys(app);
    await send.click();
    assertStringIncludes(
      await page.getByRole("alert").innerText(),
      "revoked or replaced",
    );
    await page.getByText("catalogue.xml").waitFor();
    assertEquals(await page.evaluate("sessionStorage.length"), 0);

    await page.getByLabel("API key").fill(apiKey);
    await page.getByRole("button", { name: "Sign in" }).click();
    await send.click();
    await page.getByText("complete", { exact: true }).waitFor();
  },
);

pageTest(
  "text in a product's form is kept until saved or discarded",
  async ({ app, page, signIn, tab }) => {
    await app.upload(product("A"));
    await signIn();
    const title = page.locator("#field-title");
    const list = page.getByRole("link", { name: "Products", exact: true });
    const open = async () => {
      await list.click();
      await page.getByRole("link", { name: "A", exact: true }).click();
      await title.waitFor();
    };
    await open();
    await title.fill("Typed");
    await list.click();
    await page.getByRole("link", { name: "New product" }).click();
    await title.fill("Another");
    await app.call("/seller_api/products/A/attribute/brand/y", {
      method: "PUT",
    });
    await open();
    assertEquals(await title.inputValue(), "Typed");
    assertEquals(await page.locator("#field-brand").inputValue(), "y");
    let asked = 0;
    page.on("dialog", async (dialog) => {
      asked++;
      await dialog.dismiss();
    });
    const reload = "location.reload()";
    await page.evaluate(reload);
    await until(() => asked === 1, "that the browser asks");

    await page.getByRole("button", { name: "Discard the changes" }).click();
    assert(await title.inputValue() !== "Typed");
    const apiKey = await replaceKeys(app);
    await list.click();
    await page.getByLabel("API key").fill(apiKey);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "New product" }).click();
    assertEquals(await title.inputValue(), "Another");
    await page.getByRole("button", { name: "Discard the changes" }).click();
    await page.evaluate(reload);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    assertEquals(asked, 1);
    page.removeAllListeners("dialog");
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "the browser asks before corrections are lost",
  async ({ app, page, signIn }) => {
    await signIn();
    await choose(page, catalogue(product("A-1", "<gtin>1</gtin>")));
    await page.getByText("1 problem in 1 product.").waitFor();
    let asked = 0;
    page.on("dialog", async (dialog) => {
      asked++;
      await dialog.accept();
    });
    const follow = async () => {
      await page.goto(`${app.url}/docs`);
      await page.goBack();
    };
    await follow();
    assertEquals(asked, 0, "the file is still on the disk");
    // The handbook opens next to the file.
    await choose(page, catalogue(product("A-1", "<gtin>1</gtin>")));
    await page.getByText("1 problem in 1 product.").waitFor();
    const opened = page.waitForEvent("popup");
    await page.getByRole("link", { name: "Docs" }).click();
    await (await opened).close();
    await page.getByText("1 problem in 1 product.").waitFor();
    await page.getByRole("button", { name: "Another file" }).click();
    await choose(page, catalogue(product("A-1", "<gtin>1</gtin>")));
    await page.getByRole("button", { name: "A-1" }).click();
    await page.keyboard.insertText("4006381333931");
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByText("No problems.").waitFor();
    await follow();
    assertEquals(asked, 1);
    page.removeAllListeners("dialog");
  },
);

pageTest(
  "signing out leaves nothing to the next user",
  async ({ app, page, signIn }) => {
    const other = await app.addSeller("other");
    await signIn();
    await choose(page, catalogue(product("A-1")));
    await page.getByText("No problems.").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").fill(other);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Drop a file with products").waitFor();
    assertEquals(await page.getByText("catalogue.xml").count(), 0);
  },
);

pageTest(
  "a checked file is checked again after the key has expired",
  async ({ app, page, signIn }) => {
    const other = await app.addSeller("other");
    await app.upload(product("A-1"));
    await signIn();
    await choose(page, catalogue(product("A-1")));
    const figure = page.locator(".figure", { hasText: "unchanged" });
    await figure.getByText("1").waitFor();
    await replaceKeys(app);
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByLabel("API key").fill(other);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "Upload" }).click();
    await figure.getByText("0").waitFor();
  },
);

test("an upload whose answer is lost is not repeated", async (openTab) => {
  await using host = new ImageHost();
  await using first = await bootWithImages();
  await using proxy = new TcpProxy(first.url);
  await using tab = await openTab();
  const { page } = tab;
  await signIn(tab, proxy.url, first.key);
  await choose(page, catalogue(pictured("A-1", `${host.url}/hang/a.png`)));
  const send = page.getByRole("button", { name: "Upload 1 product" });
  await send.waitFor();

  // The first answer is lost.
  const answered = Promise.withResolvers<void>();
  await page.route("**/seller_api/imports/*/store", async (route) => {
    await route.fetch();
    await route.abort();
    answered.resolve();
  }, { times: 1 });
  await send.click();
  await answered.promise;
  await page.getByRole("heading", { name: "catalogue.xml" }).waitFor();
  await page.getByText("downloading images").waitFor();
  const { imports } = await first.client().imports.list();
  assertEquals(imports.length, 1);
  await first.app.close();

  await using second = await bootWithImages({
    config: { dataDir: first.config.dataDir },
    seller: { id: first.sellerId, key: first.key },
  });
  proxy.lead(second.url);
  await page.getByText("downloading images").waitFor();

  // The stream of the progress breaks, too.
  proxy.shut();
  await page.getByText("connection lost").waitFor();
  host.release();
  proxy.lead(second.url);
  await page.getByText("complete", { exact: true }).waitFor();
});

pageTest(
  "the operator sees sellers, backlog and the last day",
  async ({ app, page, signIn, tab }) => {
    await app.addSeller("<i>globex</i>");
    await app.upload(product("A-1"));
    await signIn("operator");
    await page.getByRole("img", { name: /^Uploads of the last 24 hours: 1 / })
      .waitFor();
    await page.getByRole("table", { name: "Queues" }).or(
      page.getByRole("region", { name: "Queues" }),
    ).first().waitFor();
    await page.getByRole("link", { name: "Sellers" }).click();
    await page.getByRole("cell", { name: "<i>globex</i>", exact: true })
      .waitFor();
    const row = page.getByRole("row", { name: "<i>globex</i>" });
    await row.getByRole("button", { name: "Suspend" }).click();
    await row.getByRole("button", { name: "Suspend" }).click();
    await row.getByRole("cell", { name: "suspended", exact: true }).waitFor();
    await row.getByRole("button", { name: "Activate" }).click();
    await row.getByRole("cell", { name: "active", exact: true }).waitFor();

    // After a failure the button is still there, to try again.
    await app.call("/operator_api/sellers/%3Ci%3Eglobex%3C%2Fi%3E", {
      method: "DELETE",
      key: "operator",
    });
    await row.getByRole("button", { name: "Suspend" }).click();
    await row.getByRole("button", { name: "Suspend" }).click();
    await row.getByText("There is no seller").waitFor();
    await row.getByRole("button", { name: "Suspend" }).waitFor();
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a reloaded list keeps its opened pages",
  async ({ app, page, signIn }) => {
    await using host = new ImageHost();
    for (let i = 0; i < 51; i++) await app.upload(product(`A-${i}`));
    // It stays in progress, because no process fetches images here.
    await app.upload(pictured("B", `${host.url}/good/b.png`));
    await signIn();
    await page.getByRole("link", { name: "History" }).click();
    const rows = page.getByRole("table").getByRole("row");
    await page.getByRole("button", { name: "Show more" }).click();
    await until(async () => await rows.count() === 53);
    const answered = page.waitForResponse(/bulk_products\?after=/);
    await page.getByRole("button", { name: "Refresh" }).click();
    await answered;
    await page.getByRole("button", { name: "Refresh", disabled: false })
      .waitFor();
    assertEquals(await rows.count(), 53);
  },
);

pageTest(
  "the operator creates a seller, limits it, and creates and revokes keys",
  async ({ app, page, signIn, tab }) => {
    await signIn("operator");
    await page.getByRole("link", { name: "Sellers" }).click();
    await page.getByLabel("Name").fill("initech");
    await page.getByRole("button", { name: "Add" }).click();
    const note = page.getByRole("status").filter({ hasText: "initech" });
    const shown = await note.locator("dd code").first().innerText();
    const list = (key: string) => app.call("/seller_api/products", { key });
    assertEquals((await list(shown)).status, 200);
    await page.getByRole("link", { name: "initech", exact: true }).click();

    await page.getByRole("heading", { name: "initech" }).waitFor();
    await page.getByLabel("Products", { exact: true }).fill("3");
    await page.getByLabel("Mail address for notices").fill(
      "orders@initech.example",
    );
    await page.getByLabel("Review").selectOption("new");
    await page.getByRole("button", { name: "Save" }).click();
    await until(async () => {
      const { text } = await app.call("/operator_api/sellers", {
        key: "operator",
      });
      return text.includes(
        "<product_limit>3</product_limit><image_quota/><price_jump/>" +
          "<email>orders@initech.example</email><unsubscribed_at/>" +
          "<review>new</review>",
      );
    });

    await page.getByLabel("Label of a new key").fill("ERP");
    await page.getByRole("button", { name: "Add a key" }).click();
    const key = await page.getByRole("status").locator("dd code").innerText();
    assertEquals((await list(key)).status, 200);
    const row = page.getByRole("row", { name: "ERP" });
    await row.getByRole("button", { name: "Revoke" }).click();
    await row.getByRole("button", { name: "Revoke" }).click();
    await row.getByRole("cell", { name: "revoked", exact: true }).waitFor();
    await until(async () => (await list(key)).status === 401);

    const confirm = page.getByLabel("To confirm, type the seller’s name");
    const remove = page.getByRole("button", { name: "Remove", exact: true });
    await confirm.fill("acme");
    await remove.click();
    await page.getByText("This seller's name is initech.").waitFor();
    assertEquals((await list(shown)).status, 200);
    await confirm.fill("initech");
    await remove.click();
    await page.getByRole("heading", { name: "Sellers" }).waitFor();
    await until(async () => (await list(shown)).status === 401);

    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("cell", { name: "seller remove" }).waitFor();
    assertEquals(await page.getByRole("row", { name: "initech" }).count(), 7);
    assertEquals(tab.faults, []);
  },
);

test("the operator sees a seller's deliveries, and the failed ones by their address", async (openTab) => {
  await using sink = new WebhookSink(() => new Response(null, { status: 410 }));
  await using app = await bootPage();
  await using tab = await openTab();
  const { page } = tab;
  const address = `${app.url}/#/sellers/${app.sellerId}`;
  await signIn(tab, app.url, "operator", "operator");
  await page.goto(address);
  await page.getByText("This seller has no webhook").waitFor();
  const client = app.client();
  const trigger = "order_paid";
  await client.webhooks.create({ webhook: { trigger, url: sink.url() } });
  await app.operator().events.create({
    event: { seller: "acme", trigger, reference: "1001" },
  });
  await until(async () => {
    const { deliveries } = await client.deliveries.list({ trigger });
    return deliveries[0].state === "held";
  });
  await page.getByRole("button", { name: "Refresh" }).click();
  const row = page.getByRole("row", { name: "1001" });
  await row.getByText("on hold").waitFor();
  await row.getByText("410, attempt 1").click();
  await row.getByRole("cell", { name: sink.url() }).waitFor();

  const states = page.getByLabel("State of the deliveries");
  await states.selectOption("Given up");
  await page.getByText("No delivery is in this state.").waitFor();
  assertEquals(page.url(), `${address}?state=exhausted`);
  await page.goBack();
  await row.waitFor();
  await page.goto(`${address}?state=held`);
  await page.reload();
  await row.waitFor();
  assertEquals(await states.inputValue(), "held");
  await states.selectOption("Cancelled");
  await page.getByRole("link", { name: "Show all deliveries" }).click();
  await row.waitFor();
  assertEquals(tab.faults, []);
});

pageTest(
  "a refused upload is in the seller's history, and the operator sees it",
  async ({ app, page, signIn, tab }) => {
    const wrong = product("B-1", "<gtin>1</gtin>");
    await app.call("/seller_api/bulk_products?accept=valid", {
      method: "POST",
      body: catalogue(product("A-1"), wrong),
    });
    const body = catalogue(wrong);
    for (const dryRun of [true, false]) {
      const path = `/seller_api/bulk_products?dry_run=${dryRun}`;
      await app.call(path, { method: "POST", body });
    }
    await app.call("/seller_api/products?limit=x");
    await signIn();
    await page.getByRole("link", { name: "History" }).click();
    const rows = page.getByRole("table").getByRole("row");
    await page.getByText("1 problem").first().click();
    await page.getByText(/^B-1, line 2: gtin/).first().waitFor();
    const shown = (await rows.allInnerTexts())
      .map((text) => /^(Upload|Check|Refused at once)\t/.exec(text)?.[1])
      .slice(1);
    assertEquals(
      shown,
      ["Refused at once", "Check", "Upload"],
      "the newest first, and no refused list",
    );
    assertStringIncludes(await rows.nth(2).innerText(), "check refused");
    assertStringIncludes(await rows.nth(3).innerText(), "complete, 1 refused");
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn("operator");
    await page.getByRole("link", { name: "Refusals" }).click();
    await page.getByRole("cell", {
      name: "POST /seller_api/bulk_products (dry run)",
    }).waitFor();
    assertEquals(await rows.count(), 4);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a module of the page that fails to load is named, and a reload loads it",
  async ({ page, signIn, tab }) => {
    await signIn();
    const lacking = page.getByText("Part of this page could not be loaded");
    for (const part of ["seller_views", "files"]) {
      await page.route(`**/${part}.js`, (route) => route.abort());
    }
    await choose(page, "sku;price\n1;2\n", "stock.csv");
    await page.getByText("stock.csv is not read").waitFor();
    await lacking.waitFor();
    await page.getByRole("link", { name: "History" }).click();
    await page.getByText("Drop a file").waitFor({ state: "detached" });
    await lacking.waitFor();
    await page.unrouteAll();
    await page.reload();
    await page.getByText("Nothing was uploaded yet.").waitFor();
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a wrong key is refused with details for a report",
  async ({ app, page }) => {
    await page.goto(app.url);
    await page.getByLabel("API key").fill("nobody's-key");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("For a problem report").click();
    assertMatch(
      await page.getByRole("alert").innerText(),
      /unauthorized · 401 · request [0-9a-f-]{36}/,
    );
  },
);

test("a view beyond the rate limit waits", async (openTab) => {
  // Two requests at once, then one every two seconds.
  await using app = await bootPage({ config: { rateLimit: 29 } });
  await using tab = await openTab();
  const { page } = tab;
  await signIn(tab, app.url, app.key);
  await page.getByRole("link", { name: "History" }).click();
  await page.getByText("Nothing was uploaded yet.").waitFor();
  await page.getByRole("link", { name: "Products" }).click();
  await page.getByText("There are no products yet.").waitFor();
  assert(app.log.some(({ code }) => code === "rate_limited"));
  assertEquals(await page.getByRole("alert").count(), 0);
});
