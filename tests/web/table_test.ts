/**
 * A merchant's table on the page: the stored values are those that the file
 * means.
 */
import {
  assert,
  assertEquals,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { read, utils } from "../../src/web/import/read/workbook/xlsx.ts";
import { boot, type BootOptions, product } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { ImageHost } from "../support/image_host.ts";
import { browserTest, type OpenTab } from "./browser.ts";
import { pageTests } from "./opened_page.ts";
import { choose, signIn } from "./page.ts";

function test(name: string, fn: (openTab: OpenTab) => Promise<void>): void {
  browserTest(`a table: ${name}`, fn);
}

const bootPage = () => boot(OPTIONS);
const OPTIONS: BootOptions = { config: { roles: ["api"] } };
const pageTest = pageTests("a table", OPTIONS);

const HEADER = "SKU;Title;Price (SEK);Stock;EAN";
const MUG = "M-5;Mug;149,00;3;4006381333931";
/** Mistakenly, it has the SKU of the mug. */
const BOWL = "M-5;Bowl;99,00;7;4006381333948";

function csv(...rows: string[]): string {
  return `${[HEADER, ...rows].join("\r\n")}\r\n`;
}

function grid(page: Page) {
  return page.getByRole("grid", { name: "Rows with problems" });
}

function click(page: Page, name: string | RegExp): Promise<void> {
  return page.getByRole("button", { name }).click();
}

pageTest(
  "a row with the SKU of another one replaces nothing until confirmed",
  async ({ app, page, signIn, tab }) => {
    const stored = async () =>
      (await app.call("/seller_api/products/M-5")).text;
    await signIn();
    await choose(page, csv(MUG, BOWL), "stock.csv");
    await click(page, "Check 2 products");
    await page.getByText("1 problem in 1 row.").waitFor();
    await click(page, "Store 1, leave out 1");

    // It keeps its problem, whatever else is changed in it.
    await click(page, "Correct them here");
    await page.getByText("is already used by product 1").first().waitFor();
    await click(page, "Check again");
    await page.getByText('sku "M-5" is the SKU of row 2, which is stored')
      .waitFor();
    const cell = grid(page).getByRole("gridcell", { name: "Bowl" });
    await cell.click();
    await page.keyboard.type("Big bowl");
    await page.keyboard.press("Enter");
    await click(page, "Check again");
    await page.getByText("1 problem in 1 row.").waitFor();
    assertEquals(
      await page.getByRole("button", { name: /^Store|^Upload/ }).count(),
      0,
    );
    assertStringIncludes(await stored(), "<title>Mug</title>");

    // So does it where the history offers what was refused.
    await page.getByRole("link", { name: "History" }).click();
    await page.getByRole("link", { name: "stock.csv" }).click();
    await click(page, "Correct them here");
    await page.getByText('M-5" is the SKU of product 1 of the same import')
      .first()
      .waitFor();
    await grid(page).getByRole("gridcell", { name: "M-5" }).click();
    await page.keyboard.type("M-6");
    await page.keyboard.press("Enter");
    await click(page, "Check again");
    await click(page, "Upload 1 product");
    await page.getByText("complete", { exact: true }).waitFor();
    assertStringIncludes(await stored(), "<title>Mug</title>");
    const bowl = await app.call("/seller_api/products/M-6");
    assertStringIncludes(bowl.text, "<title>Bowl</title>");
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "an SKU typed here that another product has is confirmed first",
  async ({ app, page, signIn, tab }) => {
    await app.upload(product("OLD", "<brand>Kockums</brand>"));
    await signIn();
    await choose(page, csv(MUG, BOWL), "stock.csv");
    await click(page, "Check 2 products");
    await grid(page).getByRole("gridcell", { name: "M-5" }).click();
    await page.keyboard.type("OLD");
    await page.keyboard.press("Enter");
    await click(page, "Check again");
    await page.getByText("this would change it").first().waitFor();
    await click(page, "It is correct: change OLD");
    const figure = page.locator(".figure", { hasText: "changed" }).first();
    await figure.getByText("1").waitFor();
    await click(page, "Upload 2 products");
    await page.getByText("complete", { exact: true }).waitFor();
    const { text } = await app.call("/seller_api/products/OLD");
    assertStringIncludes(text, "<title>Bowl</title>");
    assertEquals(tab.faults, []);
  },
);

test("a price beyond the seller's limit is stored only if confirmed", async (openTab) => {
  await using app = await boot({
    config: { roles: ["api"], operatorKey: "op" },
  });
  await using tab = await openTab();
  const { page } = tab;
  await app.upload(product("M-5") + product("M-6"));
  const limit = "/operator_api/sellers/acme/attribute/price_jump/50";
  await app.call(limit, { method: "PUT", key: "op" });
  const stored = async (sku: string) =>
    (await app.client().products.get({ sku_or_id: sku })).product.price!.amount;
  await signIn(tab, app.url, app.key);
  const rows = ["M-5;Mug;900,00;3;", "M-6;Bowl;950,00;7;"];
  const retitled = product("M-5").replace(
    /<title>.*<\/title>/,
    "<title>Mug</title>",
  );
  await app.upload(
    retitled + retitled.replace("M-5", "M-6").replace("Mug", "Bowl"),
  );
  await choose(page, csv(...rows), "stock.csv");
  await click(page, "Check 2 products");
  await page.getByText("would rise from 199 to 900 SEK").first().waitFor();
  await click(page, "It is correct: change M-5");
  await page.getByText("1 problem in 1 row.").waitFor();
  await click(page, "Store 1, leave out 1");
  await until(async () => await stored("M-5") === "900");
  assertEquals(await stored("M-6"), "199");

  // In the form, too.
  await page.getByRole("link", { name: "Products", exact: true }).click();
  await page.getByRole("link", { name: "M-6", exact: true }).click();
  await page.locator("#field-price").fill("900");
  await click(page, "Save");
  await page.getByText("more than your limit for one change").waitFor();
  assertEquals(await stored("M-6"), "199");
  await click(page, "Save");
  await page.getByText("The product is saved.").waitFor();
  assertEquals(await stored("M-6"), "900");
  assertEquals(tab.faults, []);
});

pageTest(
  "a row's confirmation is asked again once one of its cells changes",
  async ({ app, page, signIn, tab }) => {
    await app.upload(product("OLD", "<brand>Kockums</brand>"));
    await signIn();
    await choose(page, csv("M-5;Title of OLD;99,00;many;"), "stock.csv");
    await click(page, "Check 1 product");
    const type = async (cell: string, text: string) => {
      await grid(page).getByText(cell, { exact: true }).click();
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
    };
    await type("M-5", "OLD");
    await click(page, "Check again");
    await click(page, "It is correct: change OLD");
    await page.getByText("1 problem in 1 row.").waitFor();
    await type("many", "7");
    await type("Title of OLD", "Ladle");
    await click(page, "Check again");
    await grid(page).getByText("SKU is taken by another product").waitFor();
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a row that would turn a stored product into another one is confirmed first",
  async ({ app, page, signIn, tab }) => {
    const titled = (sku: string, title: string) =>
      product(sku).replace(`Title of ${sku}`, title);
    await app.upload(
      titled("M-5", "Teapot, black") + titled("M-6", "Spoon") +
        titled("M-7", "Mug, small"),
    );
    await signIn();
    const rows = [
      "M-6;Fork;99,00;1;",
      "M-7;Small mug;99,00;1;",
      "M-8;Cup;9,00;1;",
    ];
    await choose(page, csv(MUG, ...rows), "stock.csv");
    await click(page, "Check 4 products");
    await page.getByText("2 problems in 2 rows.").waitFor();
    await page.getByText('"Teapot, black": this would turn it into another')
      .first()
      .waitFor();
    await click(page, "It is correct: change M-5");
    await page.getByText("1 problem in 1 row.").waitFor();
    await click(page, "Store 3, leave out 1");
    await page.getByText("complete", { exact: true }).waitFor();
    const titles = async () =>
      (await app.client().products.list()).products.map(({ title }) => title);
    assertEquals(await titles(), ["Mug", "Spoon", "Small mug", "Cup"]);

    // All at once if there are many.
    await page.getByRole("link", { name: "Upload", exact: true }).click();
    await click(page, "Another file");
    await choose(
      page,
      csv("M-5;Plate;59,00;1;", "M-6;Pan;59,00;1;"),
      "other.csv",
    );
    await click(page, "Check 2 products");
    await click(page, "All are correct: change 2 products");
    await click(page, "Upload 2 products");
    await page.getByText("complete", { exact: true }).waitFor();
    assertEquals((await titles()).slice(0, 2), ["Plate", "Pan"]);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "an SKU that differs from a stored one only in capital letters is confirmed first",
  async ({ app, page, signIn, tab }) => {
    await app.upload(product("mug-1") + product("MUG-2"));
    await signIn();
    const rows = ["MUG-1;Mug;9,00;1;", "MUG-2;Title of MUG-2;99,00;1;"];
    await choose(page, csv(...rows), "stock.csv");
    await click(page, "Check 2 products");
    await page.getByText(
      'sku "MUG-1" differs only in capital letters from "mug-1"',
    )
      .first().waitFor();
    await click(page, "It is correct: add MUG-1");
    await click(page, "Upload 2 products");
    await page.getByText("complete", { exact: true }).waitFor();
    assertEquals((await app.client().products.list()).products.length, 3);

    // The same for more than are looked up one by one.
    await page.getByRole("link", { name: "Upload", exact: true }).click();
    const many = Array.from({ length: 60 }, (_, i) => `N-${i};Mug;9,50;${i};`);
    await choose(page, csv(...many, "Mug-2;Mug;9,00;1;"), "more.csv");
    await click(page, "Check 61 products");
    await page.getByText(
      'sku "Mug-2" differs only in capital letters from "MUG-2"',
    )
      .first().waitFor();
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a check of 60 rows takes few requests among many products",
  async ({ app, page, signIn, tab }) => {
    for (let batch = 0; batch < 4; batch++) {
      const skus = Array.from({ length: 250 }, (_, n) => `P-${batch}-${n}`);
      await app.upload(skus.map((sku) => product(sku)).join(""));
    }
    await signIn();
    const rows = Array.from(
      { length: 60 },
      (_, n) => n < 30 ? `P-0-${n};Bowl;9,00;1;` : `N-${n};Mug;9,00;1;`,
    );
    await choose(page, csv(...rows), "stock.csv");
    await page.getByRole("button", { name: "Check 60 products" }).waitFor();
    const requests: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      const path = pathname.replace(/[0-9a-f-]{36}/, ":id");
      if (path.startsWith("/seller_api")) {
        requests.push(`${request.method()} ${path}`);
      }
    });
    await click(page, "Check 60 products");
    await page.getByText("30 problems in 30 rows.").waitFor();
    const ofChecks = requests.filter((one) => !one.includes("/mappings"));
    const check = [
      "POST /seller_api/imports",
      "GET /seller_api/imports/:id",
      "GET /seller_api/imports/:id",
    ];
    // Of all rows; of those that may be stored.
    assertEquals(ofChecks, [
      ...check,
      "GET /seller_api/imports/:id/results",
      "DELETE /seller_api/imports/:id",
      ...check,
    ]);
    requests.length = 0;
    await click(page, "Store 30, leave out 30");
    await page.getByText("complete", { exact: true }).waitFor();
    assertEquals(requests[0], "POST /seller_api/imports/:id/store");
    assert(!requests.includes("POST /seller_api/imports"), "it is sent once");
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "for a price that became a date, the page shows the current price",
  async ({ app, page, signIn, tab }) => {
    await app.upload(product("A"));
    await signIn();
    const file = "SKU;Price;Currency;Stock\nA;12. Sep;SEK;\n";
    await choose(page, file, "prices.csv");
    await page.getByText("1 row has no quantity: stored products keep")
      .waitFor();
    await click(page, "Check 1 product");
    await page.getByText(
      'price is "12. Sep", a date that a spreadsheet program made;',
    ).first().waitFor();
    await page.getByText("The price is SEK 199.00 now.").waitFor();
    assertEquals(await page.getByRole("button", { name: /^Write/ }).count(), 0);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "an SKU that lost its zeros or has an invisible character, and a price many times as high, are confirmed first",
  async ({ app, page, signIn, tab }) => {
    await app.upload(
      product("0012") + product("A") + product("B") + product("C") +
        product("D", '<weight unit="g">1200</weight>'),
    );
    await signIn();
    const prices = [
      "SKU;Price;Currency;Weight (kg)",
      "A;19900;SEK;",
      "B;209,00;SEK;",
      "C;199,00;EUR;",
      "D;209,00;SEK;12",
    ];
    await choose(page, `${prices.join("\n")}\n`, "prices.csv");
    await click(page, "Check 4 products");
    await page.getByText("3 problems in 3 rows.").waitFor();
    await page.getByText("price 19900 SEK is 199 SEK now. Is that correct?")
      .first()
      .waitFor();
    await page.getByText("Correct the number where it is wrong.").first()
      .waitFor();
    await page.getByLabel("Show the problems")
      .selectOption("Weight is too small or too large");
    await page.getByText("weight 12000 g is 1200 g now. Is that correct?")
      .first()
      .waitFor();
    await click(page, "Store 1, leave out 3");
    await page.getByText("complete", { exact: true }).waitFor();
    const priceOf = async (sku: string) =>
      (await app.client().products.get({ sku_or_id: sku })).product.price;
    assertEquals((await priceOf("A"))?.amount, "199");
    assertEquals((await priceOf("B"))?.amount, "209");
    assertEquals((await priceOf("C"))?.currency, "SEK");

    await page.getByRole("link", { name: "Upload", exact: true }).click();
    await click(page, "Another file");
    const alike = [
      "12;Title of 0012;199,00;1;",
      "A\u200b;Title of A;199,00;1;",
    ];
    await choose(page, csv(...alike), "stock.csv");
    await click(page, "Check 2 products");
    await page.getByText("2 problems in 2 rows.").waitFor();
    await page.getByText('sku "12" differs only in leading zeros').first()
      .waitFor();
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "whether a value is rows or one text is answered before anything is sent",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const file = csv(
      'A;"TV;5,00;1;',
      "B;Cup;6,00;2;",
      'C;TV 24";7,00;3;',
      'D;"19"" TV";8,00;4;',
    );
    await choose(page, file, "tv.csv");
    await page.getByText("A text in row 2 may continue in the next lines")
      .waitFor();
    await click(page, "It is one text");
    await page.getByRole("button", { name: "Check 2 products" }).waitFor();
    assertEquals(await page.getByText("may go on").count(), 0);
    await click(page, "Another file");

    await choose(page, `Prices 2026\r\n${file}`, "tv.csv");
    await page.getByText("The text “Prices 2026” above the columns is left out")
      .waitFor();
    const check = page.getByRole("button", { name: "Check 4 products" });
    assert(await check.isDisabled());
    await click(page, "Each line is a row");
    await check.click();
    await click(page, "Upload 4 products");
    await page.getByText("complete", { exact: true }).waitFor();
    const { products } = await app.client().products.list();
    assertEquals(
      products.map(({ title }) => title),
      ['"TV', "Cup", 'TV 24"', '19" TV'],
    );
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "the page asks for the encoding of a file, and it can be chosen",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const take = (bytes: string) =>
      page.getByLabel("File with products").setInputFiles({
        name: "ceny.csv",
        mimeType: "text/csv",
        buffer: Buffer.from(bytes, "latin1"),
      });
    const header = "SKU;Nazwa;Cena (PLN);Ilosc";
    const store = async () => {
      await click(page, "Check 1 product");
      await click(page, "Upload 1 product");
      await page.getByText("complete", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Upload", exact: true }).click();
      const { products } = await app.client().products.list();
      return products.at(-1)!.title;
    };
    // "Łyżka żółta" in Windows-1250.
    await take(`${header}\r\nA;\xa3y\xbfka \xbf\xf3\xb3ta;5,00;1\r\n`);
    await page.getByText("is uncertain").waitFor();
    const check = page.getByRole("button", { name: "Check 1 product" });
    assert(await check.isDisabled());
    await click(page, "Łyżka · żółta (Central European (Windows-1250))");
    assertEquals(await store(), "Łyżka żółta");

    // "Blå kopp" in CP850, which the user chooses.
    await take(`${header}\r\nB;Bl\x86 kopp;5,00;1\r\n`);
    await page.getByLabel("Encoding").selectOption("cp850");
    assertEquals(await store(), "Blå kopp");
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "the same SKU far apart in a long table is reported before anything is stored",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const rows = Array.from({ length: 251 }, (_, i) => `S-${i};Mug;9,50;${i};`);
    await choose(page, csv(...rows, "S-0;Cup;5,00;1;"), "stock.csv");
    await click(page, "Check 252 products");
    await page.getByText(/sku "S-0" is already used by product 1/).first()
      .waitFor();
    await click(page, "Store 251, leave out 1");
    await page.getByText("complete, 1 refused").waitFor();
    await page.getByText(/^row 253: sku "S-0"/).waitFor();
    const { text } = await app.call("/seller_api/products/S-0");
    assertStringIncludes(text, "<title>Mug</title>");
    assertEquals((await app.call("/seller_api/products/S-250")).status, 200);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a long table continues without the page, and has one row and one undo",
  async ({ app, page, signIn, tab }) => {
    const total = async () =>
      (await Array.fromAsync(app.client().products.list())).length;
    await signIn();
    const rows = Array.from(
      { length: 1_200 },
      (_, i) => `S-${i};Mug;9,50;${i};`,
    );
    await choose(page, csv(...rows), "stock.csv");
    await click(page, "Check 1,200 products");
    await click(page, "Upload 1,200 products");
    await page.getByRole("heading", { name: "stock.csv" }).waitFor();
    await page.reload();
    await page.getByText("complete", { exact: true }).waitFor();
    assertEquals(await total(), 1_200);

    await page.getByRole("link", { name: "History" }).click();
    await page.getByRole("cell", { name: "1,200" }).first().waitFor();
    assertEquals(await page.getByRole("table").getByRole("row").count(), 2);
    await page.getByRole("link", { name: "stock.csv" }).click();
    await click(page, "Undo this import");
    await page.getByText("1,200 products would be deleted.").waitFor();
    assertEquals(await total(), 1_200);
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByText("This is the undo of").waitFor();
    await page.getByText("complete", { exact: true }).waitFor();
    assertEquals(await total(), 0);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "after a reload while a table is sent, the page shows its outcome",
  async ({ app, page, signIn, tab }) => {
    page.on("dialog", (dialog) => dialog.accept());
    await signIn();
    /** Reloads while the request, or its answer, is on its way. */
    const interrupt = async (arrives: boolean) => {
      await choose(page, csv(MUG), "stock.csv");
      await click(page, "Check 1 product");
      const upload = page.getByRole("button", { name: "Upload 1 product" });
      await upload.waitFor();
      const { promise: isSent, resolve } = Promise.withResolvers<void>();
      await page.route("**/seller_api/imports/*/store", async (route) => {
        if (arrives) await route.fetch();
        resolve();
      });
      await upload.click();
      await isSent;
      await page.reload();
      await page.getByText("stock.csv was being sent").waitFor();
      await page.unrouteAll({ behavior: "ignoreErrors" });
    };
    await interrupt(false);
    await page.getByText("so nothing was stored").waitFor();
    assertEquals((await app.client().products.list()).products, []);

    await interrupt(true);
    await page.getByRole("link", { name: "open it" }).click();
    await page.getByText("complete", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Upload", exact: true }).click();
    await click(page, "Close");
    await page.reload();
    await page.getByText("Drop a file").waitFor();
    assertEquals(await page.getByText("was being sent").count(), 0);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "the unit of a weight comes from its header, or the page asks for it",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const take = (weight: string, sku: string, cell: string) =>
      choose(
        page,
        `SKU;Title;Price (SEK);Stock;${weight}\n${sku};Mug;149,00;3;${cell}\n`,
        "stock.csv",
      );
    const weightOf = async (sku: string) =>
      /<weight unit="g">(\d+)</
        .exec((await app.call(`/seller_api/products/${sku}`)).text)?.[1];
    const store = async (name: string) => {
      await click(page, "Check 1 product");
      await click(page, "Upload 1 product");
      await page.getByText("complete", { exact: true }).waitFor();
      await page.getByRole("link", { name: "Upload", exact: true }).click();
      return await weightOf(name);
    };
    await take("Weight (kg)", "A", "2");
    const unit = page.getByLabel(/^Unit of Weight/);
    assertEquals(await unit.inputValue(), "kg");
    await page.getByRole("region", { name: "Preview" }).getByText("2000")
      .waitFor();
    assertEquals(await store("A"), "2000");

    await take("Weight", "B", "0,5");
    await page.getByText("Choose the unit").waitFor();
    const check = page.getByRole("button", { name: "Check 1 product" });
    assert(await check.isDisabled());
    await unit.selectOption("kg");
    assertEquals(await store("B"), "500");
    // The choice is remembered, but not used for another file.
    await take("Weight", "C", "250");
    await page.getByText("Weight were kg in an earlier file").waitFor();
    assert(await check.isDisabled());
    await page.getByRole("button", { name: "g", exact: true }).click();
    assertEquals(await store("C"), "250");
    assertEquals(tab.faults, []);
  },
);

test("a seller's choice of columns is stored, and all rows may have one value", async (openTab) => {
  await using app = await bootPage();
  const take = async (page: Page, sku: string) => {
    await choose(page, `No.;Txt;Kr;Saldo\n${sku};Mug;149,00;3\n`, "price.csv");
    await page.getByRole("button", { name: "Check 1 product" }).waitFor();
  };
  const store = async (page: Page) => {
    await click(page, "Check 1 product");
    await click(page, "Upload 1 product");
    await page.getByText("complete", { exact: true }).waitFor();
  };
  {
    await using tab = await openTab();
    const { page } = tab;
    await signIn(tab, app.url, app.key);
    await take(page, "A");
    await page.getByLabel("Field of No.").selectOption("sku");
    await page.getByLabel("Field of Txt").selectOption("title");
    await page.getByLabel("Field of Kr").selectOption("price");
    await page.getByLabel("Currency of all prices").fill("sek");
    await page.getByLabel("One value for all products")
      .selectOption("vat_rate");
    await page.getByLabel("VAT rate of all products").fill("25");
    await page.getByLabel("One value for all products")
      .selectOption("condition");
    await page.getByLabel("Condition of all products").selectOption("used");
    await store(page);
    assertEquals(tab.faults, []);
  }
  const of = async (sku: string) =>
    (await app.call(`/seller_api/products/${sku}`)).text;
  for (const sku of ["A", "B"]) {
    if (sku === "B") {
      // Elsewhere: nothing is left in the browser.
      await using tab = await openTab();
      await signIn(tab, app.url, app.key);
      await take(tab.page, "B");
      await store(tab.page);
      assertEquals(tab.faults, []);
    }
    const text = await of(sku);
    assertStringIncludes(text, '<price currency="SEK">149</price>');
    assertStringIncludes(text, "<vat_rate>25</vat_rate>");
    assertStringIncludes(text, "<condition>used</condition>");
  }
  const { mappings } = await app.client().mappings.list();
  assertEquals(mappings.length, 1);
});

pageTest(
  "products are saved as a file, and nothing changes when it is uploaded",
  async ({ app, page, signIn, tab }) => {
    await using host = new ImageHost();
    const image = (name: string, alt = "") =>
      `<image${alt}>${host.url}/good/${name}.png</image>`;
    const mug = product(
      "A",
      "<description>Holds\n0.3 l</description>" +
        "<compare_at_price>299</compare_at_price><vat_rate>25</vat_rate>" +
        "<gtin>4006381333931</gtin><brand>Kockums</brand>" +
        '<weight unit="g">1250</weight><status>paused</status>' +
        "<categories><category>Home &gt; Kitchen</category>" +
        "<category>Gifts</category></categories>" +
        '<attributes><attribute name="color">Blue; red</attribute></attributes>' +
        `<images>${image("a")}${image("b")}</images>`,
    );
    await app.upload(
      mug + product("0012", `<images>${image("c", ' alt="c"')}</images>`)
        .replace("Title of 0012", "=1+1"),
    );
    const { products: before } = await app.client().products.list();
    await signIn();
    for (const kind of ["csv", "xlsx", "xml"]) {
      await page.getByRole("link", { name: "Products", exact: true }).click();
      const download = page.waitForEvent("download");
      await page.getByLabel("Save the products as a file").selectOption(kind);
      const saved = await download;
      assertEquals(saved.suggestedFilename(), `products.${kind}`);
      if (kind === "xlsx") {
        const { Sheets: { Products } } = read(
          await Deno.readFile(await saved.path()),
        );
        const [header, ...rows] = utils
          .sheet_to_json<unknown[]>(Products, { header: 1 });
        const valuesOf = (name: string) =>
          rows.map((row) => row[header.indexOf(name)]);
        assertEquals(valuesOf("SKU"), ["A", "0012"]);
        assertEquals(valuesOf("Price"), [199, 199]);
        assertEquals(valuesOf("Quantity"), [5, 5]);
        assertEquals(valuesOf("GTIN"), ["4006381333931", undefined]);
      }
      await page.getByRole("link", { name: "Upload", exact: true }).click();
      await page.getByLabel("File with products").setInputFiles({
        name: saved.suggestedFilename(),
        mimeType: "text/plain",
        buffer: Buffer.from(await Deno.readFile(await saved.path())),
      });
      if (kind !== "xml") await click(page, "Check 2 products");
      await page.locator(".figure", { hasText: "unchanged" }).getByText("2")
        .waitFor();
      await page.getByRole("button", { name: "Another file" }).click();
    }
    const { products: after } = await app.client().products.list();
    assertEquals(after, before);
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "missing values are typed into their cells, and the corrected file is saved",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const rows = Array.from({ length: 16 }, (_, i) => `S-${i};Mug;;${i};`);
    await choose(page, csv(...rows, "=OK;Mug;5,00;many;"), "stock.csv");
    await click(page, "Check 17 products");
    await page.getByText("17 problems in 17 rows.").waitFor();
    // XML cannot be damaged.
    assertEquals(await page.getByLabel("Source of the file").count(), 0);
    await page.getByLabel("Show the problems").selectOption("Price is missing");

    // With the keyboard alone: enters a price, and the same into the rows below.
    await grid(page).focus();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.type("cheap");
    await page.keyboard.press("Enter");
    await grid(page).getByText(/^Price .*"cheap"/).waitFor();
    await click(page, "Undo (1)");
    await grid(page).focus();
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.type("149,50");
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowUp");
    await click(page, "Fill down into 15 rows");
    const download = page.waitForEvent("download");
    await click(page, "Download the corrected file");
    const saved = await download;
    assertEquals(saved.suggestedFilename(), "stock-corrected.csv");
    const lines = (await Deno.readTextFile(await saved.path())).trim()
      .split("\r\n");
    assertEquals(lines[0], `\ufeff${HEADER};Problems`.replace("\ufeff", ""));
    assertEquals(lines[16], "S-15;Mug;149,50;15;;");
    assert(lines[17].startsWith("=OK;Mug;5,00;many;;"), lines[17]);
    assertStringIncludes(lines[17], "many");

    await click(page, "Check again");
    await page.getByText("1 problem in 1 row.").waitFor();
    // The focus is where the work continues.
    await until(async () =>
      await page.evaluate("document.activeElement.className") === "sheet"
    );
    await click(page, "Store 16, leave out 1");
    await page.getByText("complete, 1 refused").waitFor();
    await click(page, "Correct them here");
    await page.getByText("1 problem in 1 row.").waitFor();
    const { text } = await app.call("/seller_api/products/S-15");
    assertStringIncludes(text, '<price currency="SEK">149.5</price>');
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "cells of several columns are copied and pasted, and undone as one step",
  async ({ page, signIn, tab }) => {
    await signIn();
    const rows = ["A", "B", "C"].map((sku) => `${sku};Mug;cheap;many;`);
    await choose(page, csv(...rows), "stock.csv");
    await click(page, "Check 3 products");
    await page.getByText("6 problems in 3 rows.").waitFor();
    const paste = (text: string) =>
      page.evaluate((text: string) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", text);
        const event = new ClipboardEvent("paste", {
          clipboardData,
          bubbles: true,
        });
        document.querySelector(".sheet")!.dispatchEvent(event);
      }, text);
    const copy = () =>
      page.evaluate(() => {
        const clipboardData = new DataTransfer();
        const event = new ClipboardEvent("copy", {
          clipboardData,
          bubbles: true,
        });
        document.querySelector(".sheet")!.dispatchEvent(event);
        return clipboardData.getData("text/plain");
      });
    const cells = () =>
      grid(page).locator(".sheet-cell > .cut:first-child").allInnerTexts();
    const press = async (...keys: string[]) => {
      await grid(page).focus();
      for (const key of keys) await page.keyboard.press(key);
    };
    const before = await cells();

    // From the price in the second row on; cells beyond the table are left out.
    await press("Control+Home", "ArrowDown", "ArrowRight", "ArrowRight");
    await paste("1,50\t7\t4006381333931\tmore\r\n2,50\t8\r\n3,50\t9\r\n");
    await page.getByRole("button", { name: "Undo (1)" }).waitFor();
    assertEquals(await cells(), [
      ...["A", "Mug", "cheap", "many", ""],
      ...["B", "Mug", "1,50", "7", "4006381333931"],
      ...["C", "Mug", "2,50", "8", ""],
    ]);
    await press("Shift+ArrowDown", "Shift+ArrowRight");
    assertEquals(await copy(), "1,50\t7\n2,50\t8");

    // One text is entered into all selected cells, and so is an empty one.
    await paste("5");
    assertEquals((await cells()).slice(5, 15), [
      ...["B", "Mug", "5", "5", "4006381333931"],
      ...["C", "Mug", "5", "5", ""],
    ]);
    await press("Delete");
    assertEquals((await cells()).slice(12, 14), ["", ""]);
    for (const left of [2, 1, 0]) {
      await click(page, `Undo (${left + 1})`);
      await page.getByRole("button", {
        name: left === 0 ? "Undo" : `Undo (${left})`,
        exact: true,
      }).waitFor();
    }
    assertEquals(await cells(), before);
    assertEquals(tab.faults, []);
  },
);

test("a double click edits the cell of its first click", async (openTab) => {
  await using app = await bootPage();
  await using tab = await openTab({ width: 680 });
  const { page } = tab;
  await signIn(tab, app.url, app.key);
  // The help for a cell is higher or lower, alternating.
  const rows = Array.from(
    { length: 6 },
    (_, i) => i % 2 ? `S-${i};Mug;5,00;many;` : `S-${i};Mug;;${i};`,
  );
  await choose(page, csv(...rows), "stock.csv");
  await click(page, "Check 6 products");
  await page.getByText("6 problems in 6 rows.").waitFor();
  const editor = page.getByLabel("Text of the cell");
  const cell = (row: number, column: number) =>
    page.locator(`#cell-${row}-${column}`);
  const edit = async (row: number, column: number) => {
    const { x, y } = (await cell(row, column).boundingBox())!;
    await page.mouse.dblclick(x + 40, y + 6);
    await editor.fill(`1${row}`);
    await cell(row, column).locator("textarea").waitFor();
  };
  // Here, a double click elsewhere ends an edit: there is another line at the
  // top.
  const top = () => page.evaluate("document.querySelector('.sheet').offsetTop");
  const before = await top();
  await edit(0, 1);
  await edit(1, 1);
  const after = await top();
  assertNotEquals(after, before, "this tests nothing at this width");
  for (const row of [3, 0, 4, 2, 1]) {
    await page.keyboard.press("Enter");
    await edit(row, 2);
  }
  await page.keyboard.press("Enter");
  assertEquals(await top(), after);
  await page.getByRole("button", { name: "Undo (7)" }).waitFor();
  // A double click in the editor selects a word.
  await cell(0, 1).dblclick();
  await editor.fill("Mugs");
  await editor.dblclick();
  assertEquals(await editor.inputValue(), "Mugs");
  assertEquals(tab.faults, []);
});

pageTest(
  "in a list of prices an unknown SKU is the problem",
  async ({ app, page, signIn, tab }) => {
    await app.upload(product("A") + product("B") + product("C"));
    await signIn();
    const skus = ["A", "HK-118", "B", "HK-119", "HK-120"];
    await choose(
      page,
      `SKU;Price (SEK);Stock\n${
        skus.map((sku) => `${sku};150,00;1\n`).join("")
      }`,
      "prices.csv",
    );
    await click(page, "Check 5 products");
    await page.getByText("3 problems in 3 rows.").waitFor();
    await page.getByText(
      "No product has the SKU HK-118. Correct the SKU, or add a title for a new product.",
    ).waitFor();
    assertEquals(
      await grid(page).getByText("SKU belongs to no product").count(),
      3,
    );
    const correct = async () => {
      await grid(page).getByText("HK-118").click();
      await page.keyboard.type("C");
      await page.keyboard.press("Enter");
      // The others are new; those with a title need no other one.
      await grid(page).getByText("HK-120").click();
      await page.keyboard.press("End");
      await page.getByLabel("Where it is missing").fill("Mug");
      await click(page, "Fill 2 rows");
    };
    await correct();
    await click(page, "Undo (2)");
    await click(page, "Undo (1)");
    // A value that is unchanged is neither marked as changed nor as wrong.
    await grid(page).getByText("HK-118").waitFor();
    assertEquals(
      await grid(page).getByText(/changed|Title is missing/).count(),
      0,
    );
    await correct();
    await click(page, "Check again");
    await click(page, "It is correct: change C");
    await click(page, "Upload 5 products");
    await page.getByText("complete", { exact: true }).waitFor();
    const { products } = await app.client().products.list({});
    assertEquals(
      products.map(({ sku, title }) => [sku, title]).sort(),
      [
        ["A", "Title of A"],
        ["B", "Title of B"],
        ["C", "Title of C"],
        ["HK-119", "Mug"],
        ["HK-120", "Mug"],
      ],
    );
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a value that is wrong in many rows is replaced in all of them",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    const rows = Array.from(
      { length: 37 },
      (_, i) => `S-${i};Mug;5,00;1;used-ish`,
    );
    await choose(
      page,
      `SKU;Title;Price (SEK);Stock;Condition\n${rows.join("\n")}\n` +
        "T-1;Mug;5,00;1;brand-new\nT-2;Mug;5,00;1;used\n",
      "stock.csv",
    );
    await click(page, "Check 39 products");
    await page.getByText("38 problems in 38 rows.").waitFor();
    await page.getByLabel(/^Instead of/).fill("used");
    await click(page, "Replace in 37 rows");
    await grid(page).focus();
    await page.keyboard.press("Control+End");
    await click(page, "New");
    await click(page, "Check again");
    await click(page, "Upload 39 products");
    await page.getByText("complete", { exact: true }).waitFor();
    const of = async (sku: string) =>
      (await app.call(`/seller_api/products/${sku}`)).text;
    assertStringIncludes(await of("S-36"), "<condition>used</condition>");
    assertStringIncludes(await of("T-1"), "<condition>new</condition>");
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "rounded bar codes are left out in one step, and not replaced by one value",
  async ({ page, signIn, tab }) => {
    await signIn();
    const rows = ["A", "B"].map((sku) => `${sku};Mug;5,00;1;7,3123E+12`);
    await choose(page, csv(...rows), "stock.csv");
    await click(page, "Check 2 products");
    await page.getByText("Write all digits of the number below the bar code")
      .waitFor();
    assertEquals(await page.getByLabel(/^Instead of/).count(), 0);
    await click(page, "Leave it out in 2 rows");
    await click(page, "Check again");
    await click(page, "Upload 2 products");
    await page.getByText("complete", { exact: true }).waitFor();
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "shop exports are stored as the shop shows them, in three clicks",
  async ({ app, page, signIn, tab }) => {
    await using host = new ImageHost();
    const images = ["a", "b"].map((name) => `${host.url}/good/${name}.png`);
    const read = async (sku: string) =>
      (await app.call(`/seller_api/products/${sku}`)).text;
    const store = async (rows: readonly Record<string, string>[]) => {
      const [first] = rows;
      const names = Object.keys(first);
      const text = [names, ...rows.map((row) => names.map((name) => row[name]))]
        .map((cells) => cells.map((cell) => `"${cell ?? ""}"`).join(","))
        .join("\n");
      await choose(page, `${text}\n`, "export.csv");
      const currency = page.getByLabel("Currency of all prices");
      if (await currency.inputValue() === "") await currency.fill("SEK");
      await click(page, /^Check \d+ product/);
      await click(page, /^Upload \d+ product/);
      await page.getByRole("heading", { name: "export.csv" }).waitFor();
      await page.getByRole("link", { name: "Upload", exact: true }).click();
    };
    await signIn();
    await store([{
      ID: "7",
      Type: "simple",
      SKU: "WOO",
      Name: "T-Shirt",
      "Is featured?": "0",
      "In stock?": "1",
      "Weight (kg)": "0.2",
      "Sale price": "18",
      "Regular price": "25",
      Categories: "Clothing > Tshirts, Summer",
      Images: images.join(", "),
    }]);
    const woo = await read("WOO");
    assertStringIncludes(woo, '<price currency="SEK">18</price>');
    assertStringIncludes(woo, "<compare_at_price>25</compare_at_price>");
    assertStringIncludes(woo, '<weight unit="g">200</weight>');
    assertStringIncludes(woo, "<category>Clothing &gt; Tshirts</category>");
    assertStringIncludes(woo, "<category>Summer</category>");
    for (const image of images) assertStringIncludes(woo, `>${image}</image>`);

    await store([
      {
        Handle: "mug",
        Title: "Mug",
        "Option1 Name": "Colour",
        "Option1 Value": "Blue",
        "Variant SKU": "MUG-B",
        "Variant Grams": "350.0",
        "Variant Inventory Qty": "3",
        "Variant Price": "149.00",
        "Variant Barcode": "'4006381333931",
        "Image Src": images[0],
        Status: "draft",
      },
      {
        Handle: "mug",
        "Option1 Value": "Red",
        "Variant SKU": "MUG-R",
        "Variant Grams": "350.0",
        "Variant Inventory Qty": "0",
        "Variant Price": "159.00",
        "Image Src": images[1],
      },
    ]);
    const mug = await read("MUG-R");
    assertStringIncludes(mug, "<title>Mug – Red</title>");
    assertStringIncludes(mug, '<price currency="SEK">159</price>');
    assertStringIncludes(mug, '<weight unit="g">350</weight>');
    assertStringIncludes(mug, "<parent_sku>mug</parent_sku>");
    assertStringIncludes(mug, "<status>paused</status>");
    assertStringIncludes(mug, '<attribute name="Colour">Red</attribute>');
    for (const image of images) assertStringIncludes(mug, `>${image}</image>`);
    assertStringIncludes(await read("MUG-B"), "<gtin>4006381333931</gtin>");
    assertEquals(tab.faults, []);
  },
);

pageTest(
  "a tax as a fraction and the residue of formulas are not stored as they are",
  async ({ app, page, signIn, tab }) => {
    await signIn();
    await choose(
      page,
      "SKU;Titel;Preis (EUR);Bestand;Marke;MwSt\r\n" +
        "A;Becher;12,90;3;#NV;0,19\r\nB;Tasse;9,90;4;NULL;19\r\n",
      "preise.csv",
    );
    await page.getByText("2 cells without a value, such as #N/A, are read as")
      .waitFor();
    await page.getByText("is 0,19 in some rows and 19 in others").waitFor();
    await click(page, "Percent");
    await click(page, "Check 2 products");
    await page.getByText("1 problem in 1 row.").waitFor();
    await page.getByText("0,19 % or 19 %?").first().waitFor();
    await grid(page).getByRole("gridcell", { name: "0,19" }).click();
    await page.keyboard.type("19");
    await page.keyboard.press("Enter");
    await click(page, "Check again");
    await click(page, "Upload 2 products");
    await page.getByText("complete", { exact: true }).waitFor();
    const { products } = await app.client().products.list();
    assertEquals(
      products.map(({ sku, brand, vat_rate }) => [sku, brand, vat_rate]),
      [["A", undefined, "19"], ["B", undefined, "19"]],
    );
    assertEquals(tab.faults, []);
  },
);
