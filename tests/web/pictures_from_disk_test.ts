/** Pictures from a disk on the page: the products have them, in their order. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { picture } from "../../src/sandbox/pictures.ts";
import { boot, product, type TestApp } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { temporaryFolder } from "../support/process.ts";
import { browserTest, type OpenTab, type Tab } from "./browser.ts";
import { choose, pictured, signIn } from "./page.ts";

function test(name: string, fn: (openTab: OpenTab) => Promise<void>): void {
  browserTest(`pictures: ${name}`, fn);
}

function click(page: Page, name: string | RegExp): Promise<void> {
  return page.getByRole("button", { name }).click();
}

/** The bytes of a picture; each name has its own colour. */
function bytesOf(name: string): Uint8Array<ArrayBuffer> {
  return picture(`${name}.png`)!;
}

/** Chooses pictures with these names. */
function choosePictures(page: Page, ...names: string[]): Promise<void> {
  return page.getByLabel("Picture files").setInputFiles(
    names.map((name) => ({
      name,
      mimeType: "image/png",
      buffer: Buffer.from(bytesOf(name)),
    })),
  );
}

/** Writes files to a folder, by their paths. */
async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const parent = `${folder}/${path}`.replace(/\/[^/]*$/, "");
    await Deno.mkdir(parent, { recursive: true });
    const bytes = typeof content === "string"
      ? new TextEncoder().encode(content)
      : content;
    await Deno.writeFile(`${folder}/${path}`, bytes);
  }
}

/** Drops files and folders of this machine on the page. */
async function drop(page: Page, ...files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"] as const) {
    await session.send("Input.dispatchDragEvent", { type, x: 9, y: 300, data });
  }
  await session.detach();
}

/** The SHA-256 of a picture in hexadecimal, which is in its URL. */
async function hashOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(hash).toHex();
}

/** The names of the pictures that a product shows, in their order. */
async function shownBy(
  app: TestApp,
  sku: string,
  ...names: string[]
): Promise<string[]> {
  const hashes = new Map<string, string>();
  for (const name of names) hashes.set(await hashOf(bytesOf(name)), name);
  const { product } = await app.client().products.get({ sku_or_id: sku });
  return (product.images ?? []).map(({ url }) => {
    const [hash] = /[\da-f]{64}/.exec(url) ?? [url];
    return hashes.get(hash) ?? url;
  });
}

/** Counts the pictures that the page sends. */
function countSent(page: Page): { pictures: number } {
  const sent = { pictures: 0 };
  page.on("request", (request) => {
    if (request.url().endsWith("/seller_api/images")) sent.pictures++;
  });
  return sent;
}

async function openPage(openTab: OpenTab, app: TestApp): Promise<Tab> {
  const tab = await openTab();
  await signIn(tab, app.url, app.key);
  return tab;
}

const DONE = "see or undo the change";

test("a folder goes to stored products, and the rest is named", async (openTab) => {
  await using app = await boot();
  await using folder = await temporaryFolder();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  await app.upload(
    ["MUG-1", "MUG-11", "TÜR/5", "BOWL"].map((sku) => product(sku)).join(""),
  );
  const names = [
    "MUG-1-back.png",
    "MUG-1.png",
    "MUG-1_2.PNG",
    "MUG-11.png",
    "Tür-5 Rückseite.png".normalize("NFD"),
    "Tür_5.png".normalize("NFD"),
    "BOWL/IMG_10.png",
    "BOWL/IMG_9.png",
    "IMG_1234.png",
  ];
  await writeFiles(folder.path, {
    ...Object.fromEntries(
      names.map((name) => [`shop/${name}`, bytesOf(name)]),
    ),
    "shop/Thumbs.db": "x",
    "shop/.DS_Store": "x",
    "shop/MUG-1-detail.heic": "\0\0\0\x18ftypheic",
    "shop/MUG-1.pdf": "%PDF-1.4",
  });
  await drop(page, `${folder.path}/shop`);
  await page.getByText("8 pictures of 4 products").waitFor();
  await page.getByText("1 picture without a product").waitFor();
  await page.getByText("shop/IMG_1234.png").waitFor();
  await page.getByText("2 files will not be sent").waitFor();
  await page.getByText("It is a HEIF or HEIC image").waitFor();
  await page.getByText("Thumbs.db").waitFor();
  // Nothing is sent before the person says so.
  assertEquals((await app.client().account.get()).account.image_bytes, 0);
  await page.getByRole("img", { name: "shop/MUG-1.png" })
    .locator("canvas").waitFor();
  await click(page, "Send 8 pictures to 4 products");
  await page.getByText(DONE).click();
  await page.getByText("complete", { exact: true }).waitFor();
  assertEquals(await shownBy(app, "MUG-1", ...names), [
    "MUG-1.png",
    "MUG-1_2.PNG",
    "MUG-1-back.png",
  ]);
  assertEquals(await shownBy(app, "MUG-11", ...names), ["MUG-11.png"]);
  assertEquals(await shownBy(app, "BOWL", ...names), [
    "BOWL/IMG_9.png",
    "BOWL/IMG_10.png",
  ]);
  const client = app.client();
  const door = await client.products.get({ sku_or_id: "TÜR/5" });
  assertEquals(door.product.images?.length, 2);
  // The change can be undone as a whole.
  await click(page, "Undo this import…");
  await click(page, /^Undo/);
  await until(async () => {
    const { product } = await client.products.get({ sku_or_id: "BOWL" });
    return (product.images ?? []).length === 0;
  });
  assertEquals(tab.faults, []);
});

test("existing images are kept or replaced, as the person says", async (openTab) => {
  await using app = await boot();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  const first = new Blob([bytesOf("first")]);
  const { image } = await app.client().images.upload({ image: first });
  await app.upload(pictured("MUG-1", image.url) + product("MUG-2"));
  await choosePictures(page, "MUG-1.png", "MUG-2.png");
  await page.getByText("1 product has pictures already").waitFor();
  assert(await page.getByRole("button", { name: /^Send/ }).isDisabled());
  await page.getByLabel("Keep them, and add the new ones").check();
  await click(page, "Send 2 pictures to 2 products");
  await page.getByText(DONE).waitFor();
  await until(async () =>
    (await shownBy(app, "MUG-1", "first", "MUG-1.png")).join() ===
      "first,MUG-1.png"
  );
  await click(page, "Close");
  await choosePictures(page, "MUG-1-new.png");
  await page.getByLabel("Replace them").check();
  await click(page, "Send 1 picture to 1 product");
  await page.getByText(DONE).waitFor();
  await until(async () =>
    (await shownBy(app, "MUG-1", "MUG-1-new.png")).join() === "MUG-1-new.png"
  );
  assertEquals(tab.faults, []);
});

const TABLE = "SKU;Title;Price (SEK);Stock;Image\n" +
  "MUG-1;Mug;149,00;3;MUG-1.png\nMUG-2;Mug, tall;199,00;4;\n";

test("pictures beside a table go into its rows", async (openTab) => {
  await using app = await boot();
  await using folder = await temporaryFolder();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  await app.upload(product("BOWL"));
  const names = ["MUG-1.png", "MUG-1-2.png", "MUG-2.png", "BOWL.png"];
  await writeFiles(folder.path, {
    "stock.csv": TABLE,
    "old.csv": "SKU;Title\nX;x\n",
    ...Object.fromEntries(names.map((name) => [name, bytesOf(name)])),
  });
  const paths = ["stock.csv", "old.csv", ...names]
    .map((name) => `${folder.path}/${name}`);
  await drop(page, ...paths);
  await page.getByText("4 pictures of 3 products").waitFor();
  await page.getByText("One file with products is opened at once").waitFor();
  await page.getByText("row 2").waitFor();
  await click(page, "Send 4 pictures to 3 products");
  await page.getByText("The pictures are in 2 rows of the table").waitFor();
  await page.getByText(DONE).waitFor();
  await click(page, "Check 2 products");
  await click(page, "Upload 2 products");
  await page.getByText("complete", { exact: true }).waitFor();
  assertEquals(await shownBy(app, "MUG-1", ...names), [
    "MUG-1.png",
    "MUG-1-2.png",
  ]);
  assertEquals(await shownBy(app, "MUG-2", ...names), ["MUG-2.png"]);
  assertEquals(await shownBy(app, "BOWL", ...names), ["BOWL.png"]);
  assertEquals(tab.faults, []);
});

test("kept images of a row's stored product keep their descriptions", async (openTab) => {
  await using app = await boot();
  await using folder = await temporaryFolder();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  const client = app.client();
  const first = new Blob([bytesOf("first")]);
  const { image } = await client.images.upload({ image: first });
  await app.upload(product(
    "MUG-2",
    `<images><image alt="handle">${image.url}</image></images>`,
  ));
  const table = "SKU;Title;Price (SEK);Stock\nMUG-2;Mug, tall;199,00;4\n";
  await writeFiles(folder.path, {
    "a.csv": table,
    "MUG-2-b.png": bytesOf("MUG-2-b.png"),
  });
  await drop(page, `${folder.path}/a.csv`, `${folder.path}/MUG-2-b.png`);
  await page.getByLabel("Keep them, and add the new ones").check();
  await click(page, "Send 1 picture to 1 product");
  await page.getByText(DONE).waitFor();
  await click(page, "Check 1 product");
  await click(page, "Upload 1 product");
  await page.getByText("complete", { exact: true }).waitFor();
  assertEquals(await shownBy(app, "MUG-2", "first", "MUG-2-b.png"), [
    "first",
    "MUG-2-b.png",
  ]);
  const stored = await client.products.get({ sku_or_id: "MUG-2" });
  assertEquals(stored.product.images?.map(({ alt }) => alt ?? ""), [
    "handle",
    "",
  ]);
  assertEquals(stored.product.title, "Mug, tall");
  assertEquals(tab.faults, []);
});

test("pictures of a checked table are checked again with it", async (openTab) => {
  await using app = await boot();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  await choose(
    page,
    "SKU;Title;Price (SEK);Stock\nMUG-1;Mug;149,00;3\n",
    "a.csv",
  );
  await click(page, "Check 1 product");
  await page.getByText("No problems.").waitFor();
  await using folder = await temporaryFolder();
  await writeFiles(folder.path, { "MUG-1.png": bytesOf("MUG-1.png") });
  await drop(page, `${folder.path}/MUG-1.png`);
  await click(page, "Send 1 picture to 1 product");
  await page.getByText("The pictures are in 1 row of the table").waitFor();
  await click(page, "Check again");
  await click(page, "Upload 1 product");
  await page.getByText("complete", { exact: true }).waitFor();
  assertEquals(await shownBy(app, "MUG-1", "MUG-1.png"), ["MUG-1.png"]);
  assertEquals(tab.faults, []);
});

test("what was sent is not sent again after a stop and a reload", async (openTab) => {
  await using app = await boot();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  const sent = countSent(page);
  const names = Array.from({ length: 8 }, (_, i) => `MUG-${i + 1}.png`);
  await app.upload(names.map((name) => product(name.slice(0, -4))).join(""));
  // Holds the answers from the third picture on.
  let held = 0;
  let open = () => {};
  const gate = new Promise<void>((resolve) => open = resolve);
  await page.route("**/seller_api/images", async (route) => {
    if (++held > 2) await gate;
    await route.continue().catch(() => {});
  });
  await choosePictures(page, ...names);
  await click(page, "Send 8 pictures to 8 products");
  await page.getByText("2 of 8").waitFor();
  await until(() => sent.pictures === 4);
  await click(page, "Stop");
  await page.getByText("What was sent is not sent again").waitFor();
  open();
  await page.unroute("**/seller_api/images");
  sent.pictures = 0;
  await click(page, "Send the other 6 pictures");
  await page.getByText(DONE).waitFor();
  assertEquals(sent.pictures, 6);
  // The tab knows the pictures after a reload, too.
  sent.pictures = 0;
  await page.reload();
  await choosePictures(page, ...names);
  await page.getByLabel("Replace them").check();
  await click(page, "Send 8 pictures to 8 products");
  await page.getByText(DONE).waitFor();
  assertEquals(sent.pictures, 0);
  assertEquals(tab.faults, []);
});

test("the sending goes on after an outage, as late as the service asks", async (openTab) => {
  await using app = await boot();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  await app.upload(product("MUG-1") + product("MUG-2"));
  let failures = 0;
  await page.route("**/seller_api/images", async (route) => {
    if (++failures > 2) return await route.continue();
    if (failures === 2) return await route.abort("connectionreset");
    await route.fulfill({ status: 503, headers: { "Retry-After": "1" } });
  });
  await choosePictures(page, "MUG-1.png", "MUG-2.png");
  await click(page, "Send 2 pictures to 2 products");
  await page.getByText("continues by itself").waitFor();
  await page.getByText(DONE).waitFor();
  assertEquals(tab.faults, []);
});

test("a refused picture is named, and the others are used", async (openTab) => {
  await using app = await boot({ config: { imageLimit: 200_000 } });
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  await app.upload(product("MUG-1") + product("MUG-2"));
  const large = await page.evaluate(() => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 2_400;
    const context = canvas.getContext("2d")!;
    const noise = context.createImageData(300, 300);
    let state = 1;
    for (let i = 0; i < noise.data.length; i++) {
      state = (state * 48_271) % 2_147_483_647;
      noise.data[i] = i % 4 === 3 ? 255 : state % 256;
    }
    context.putImageData(noise, 0, 0);
    return canvas.toDataURL("image/png").split(",")[1];
  });
  await page.getByLabel("Picture files").setInputFiles([
    {
      name: "MUG-1.png",
      mimeType: "image/png",
      buffer: Buffer.from(bytesOf("MUG-1.png")),
    },
    {
      name: "MUG-1-cut.png",
      mimeType: "image/png",
      buffer: Buffer.from(bytesOf("MUG-1-cut.png").slice(0, -20)),
    },
    {
      name: "MUG-2.png",
      mimeType: "image/png",
      buffer: Buffer.from(large, "base64"),
    },
  ]);
  await page.getByText("The service accepts 200.0 kB at most").waitFor();
  await click(page, "Send 3 pictures to 2 products");
  await page.getByText("The service refuses 2 pictures").waitFor();
  await click(page, "Make 1 picture smaller and send again");
  await page.getByText("The service refuses 1 picture").waitFor();
  await click(page, "Put the others into the products");
  await page.getByText("The pictures of 2 products are being stored").waitFor();
  await page.getByText("MUG-1-cut.png").waitFor();
  await until(async () => {
    const { product } = await app.client().products.get({ sku_or_id: "MUG-2" });
    return product.images?.length === 1;
  });
  assertEquals(await shownBy(app, "MUG-1", "MUG-1.png"), ["MUG-1.png"]);
  assertEquals(tab.faults, []);
});

test("a person says which product a picture shows", async (openTab) => {
  await using app = await boot();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  await app.upload(
    ["MUG", "MUG-1", "BOWL"].map((sku) => product(sku)).join(""),
  );
  await choosePictures(page, "MUG_1.png", "IMG_1.png", "IMG_2.png");
  await page.getByText("Its name fits 2 products").waitFor();
  await page.getByRole("button", { name: "MUG-1", exact: true }).click();
  await page.getByLabel("SKU of IMG_1.png").fill("BOWLS");
  await page.getByLabel("SKU of IMG_1.png").press("Enter");
  await page.getByText("No row and no product has this SKU").waitFor();
  await page.getByLabel("SKU of IMG_1.png").fill("BOWL");
  await page.getByLabel("SKU of IMG_1.png").press("Enter");
  await page.getByText("2 pictures of 2 products").waitFor();
  await click(page, "Leave out");
  await page.getByText("1 picture left out").waitFor();
  await click(page, "Send 2 pictures to 2 products");
  await page.getByText(DONE).waitFor();
  await until(async () =>
    (await shownBy(app, "BOWL", "IMG_1.png")).join() === "IMG_1.png"
  );
  assertEquals(await shownBy(app, "MUG-1", "MUG_1.png"), ["MUG_1.png"]);
  assertEquals(tab.faults, []);
});

test("pictures dropped on the form of a product are saved with it", async (openTab) => {
  await using app = await boot();
  await using folder = await temporaryFolder();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  await app.upload(product("MUG-1"));
  const names = ["IMG_2.png", "IMG_1.png", "front.png"];
  await writeFiles(
    folder.path,
    Object.fromEntries(names.map((name) => [name, bytesOf(name)])),
  );
  const { product: { id } } = await app.client()
    .products.get({ sku_or_id: "MUG-1" });
  await page.goto(`${app.url}/#/products/${id}`);
  await page.getByText("or drop them on this page").waitFor();
  await drop(page, ...names.map((name) => `${folder.path}/${name}`));
  await click(page, "Send 3 pictures");
  await page.getByText("The pictures are in the form").waitFor();
  await click(page, "Save");
  await page.getByText("Saved. See or undo the change").waitFor();
  assertEquals(await shownBy(app, "MUG-1", ...names), [
    "front.png",
    "IMG_1.png",
    "IMG_2.png",
  ]);
  assertEquals(tab.faults, []);
});

test("several files without pictures: one is opened, the others are named", async (openTab) => {
  await using app = await boot();
  await using folder = await temporaryFolder();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  const names = ["a.csv", "b.csv", "notes.txt"];
  await writeFiles(
    folder.path,
    Object.fromEntries(names.map((name) => [name, TABLE])),
  );
  await drop(page, ...names.map((name) => `${folder.path}/${name}`));
  await page.getByRole("button", { name: "Check 2 products" }).waitFor();
  await page.getByText("a.csv", { exact: true }).first().waitFor();
  await page.getByText("b.csv: One file with products is opened at once")
    .waitFor();
  await page.getByText("notes.txt: It is not a picture").waitFor();
  assertEquals(tab.faults, []);
});

test("pictures sent in the background wait for their view", async (openTab) => {
  await using app = await boot();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  await app.upload(product("MUG-1"));
  let open = () => {};
  const gate = new Promise<void>((resolve) => open = resolve);
  await page.route("**/seller_api/images", async (route) => {
    await gate;
    await route.continue();
  });
  await choosePictures(page, "MUG-1.png");
  await click(page, "Send 1 picture to 1 product");
  await page.getByText("0 of 1").waitFor();
  await page.getByRole("link", { name: "Products" }).click();
  await page.getByText("Title of MUG-1").waitFor();
  open();
  await page.getByRole("link", { name: "Open Upload" }).click();
  await page.getByText(DONE).waitFor();
  await until(async () =>
    (await shownBy(app, "MUG-1", "MUG-1.png")).join() === "MUG-1.png"
  );
  assertEquals(tab.faults, []);
});

test("a folder that is dropped before the sign-in is kept", async (openTab) => {
  await using app = await boot();
  await using folder = await temporaryFolder();
  await using tab = await openTab();
  const { page } = tab;
  await app.upload(product("MUG-1"));
  await writeFiles(folder.path, { "MUG-1/1.png": bytesOf("1.png") });
  await page.goto(app.url);
  await page.getByLabel("API key").waitFor();
  await drop(page, `${folder.path}/MUG-1`);
  await page.getByLabel("API key").fill(app.key);
  await page.getByLabel("API key").press("Enter");
  await page.getByText("1 picture of 1 product").waitFor();
  assertEquals(tab.faults, []);
});

test("a revoked key loses no picture: the sending continues after the sign-in", async (openTab) => {
  await using app = await boot();
  await using tab = await openPage(openTab, app);
  const { page } = tab;
  const names = ["MUG-1.png", "MUG-2.png", "MUG-3.png"];
  await app.upload(names.map((name) => product(name.slice(0, -4))).join(""));
  let calls = 0;
  let oneSent: Promise<void> | null = null;
  await page.route("**/seller_api/images", async (route) => {
    if (++calls === 1) return await route.continue();
    // One wait for both requests: the text is gone after the first 401.
    await (oneSent ??= page.getByText("1 of 3").waitFor());
    await route.fulfill({ status: 401, body: "{}" }).catch(() => {});
  });
  await choosePictures(page, ...names);
  await click(page, "Send 3 pictures to 3 products");
  await page.getByText("Your key is no longer valid").waitFor();
  await page.unrouteAll();
  const sent = countSent(page);
  await page.getByLabel("API key").fill(app.key);
  await page.getByLabel("API key").press("Enter");
  await click(page, /^Send the other/);
  await page.getByText(DONE).waitFor();
  await until(async () =>
    (await shownBy(app, "MUG-3", ...names)).join() === "MUG-3.png"
  );
  assertEquals(sent.pictures, 2);
  assertEquals(tab.faults, []);
});
