/** Judges of the scenarios about products: 1 to 3 and 6 to 8. */
import type { Client, Product, SentProduct } from "../../src/client/mod.ts";
import { picture } from "../../src/sandbox/pictures.ts";
import { Findings } from "./findings.ts";
import type { Fault } from "./proxy.ts";
import type { World } from "./world.ts";

/** Runs the program in a prepared world; returns what is missing. */
export type Judge = () => Promise<string[]>;

/** Gives a new world what the scenario needs. */
export type Scenario = (world: World) => Promise<Judge>;

const UPLOADS = /^\/seller_api\/(bulk_products|imports)(\?|$)/;
const DAY_MS = 86_400_000;

function sek(amount: string): { amount: string; currency: string } {
  return { amount, currency: "SEK" };
}

function mug(sku: string, price = "149", quantity = 20): SentProduct {
  return { sku, title: `Title of ${sku}`, price: sek(price), quantity };
}

async function productsOf(client: Client): Promise<Map<string, Product>> {
  const products = new Map<string, Product>();
  for await (const product of client.products.list({ limit: 250 })) {
    products.set(product.sku!, product);
  }
  return products;
}

/** Waits until an upload of the judge is final. */
async function stored(
  client: Client,
  products: SentProduct[],
): Promise<void> {
  await client.uploads.waitFor(await client.uploads.create({ products }));
}

export async function firstUpload(world: World): Promise<Judge> {
  const seller = await world.addSeller("teahouse");
  const rows = [
    ["MUG-1", "Cup & saucer", "149.00", "12", "good/mug.png"],
    ["MUG-2", "Vase <tall>, blue", "89.50", "0", "good/vase.png"],
    ["SKÅL-1", "Skål av trä", "1299.00", "3", "flaky/bowl.png"],
    ["JUG-1", 'Jug "Ö"', "59", "7", "vanishing/jug.png"],
    ["CUP-1", "Cup", "19.90", "250", "good/cup.jpg"],
  ];
  const table = rows.map(([sku, title, price, stock, image]) => [
    sku,
    /[",]/.test(title) ? `"${title.replaceAll('"', '""')}"` : title,
    price,
    stock,
    `${world.images}/${image}`,
  ]);
  const header = ["sku", "title", "price", "stock", "image"];
  const lines = [header, ...table].map((cells) => `${cells.join(",")}\n`);
  await world.write("catalogue.csv", lines.join(""));
  return async () => {
    const found = new Findings();
    const run = await world.run();
    found.ended(run);
    const products = await productsOf(seller);
    for (const [sku, title, price, stock, image] of rows) {
      const product = products.get(sku);
      found.equal(
        [
          product?.title,
          Number(product?.price?.amount),
          product?.price?.currency,
          product?.quantity,
          product?.images?.map(({ url }) => url),
        ],
        [title, Number(price), "SEK", Number(stock), [
          `${world.images}/${image}`,
        ]],
        `the product ${sku}`,
      );
    }
    const uploads = world.proxy.sent("POST", UPLOADS).filter((sent) =>
      sent.status === 200 && !sent.path.includes("dry_run=true")
    );
    found.equal(uploads.length, 1, "uploads");
    const types = uploads.map(({ contentType }) => contentType.split(";")[0]);
    found.expect(
      types.every((type) => ["text/xml", "application/xml"].includes(type)),
      `the upload is XML, not ${types}`,
    );
    found.printed(run, `JUG-1 ${world.images}/vanishing/jug.png`);
    found.equal(
      run.lines.at(-1),
      "done: 5 products, 1 failed images",
      "the last line",
    );
    return found.missing;
  };
}

export async function partlyWrong(world: World): Promise<Judge> {
  const seller = await world.addSeller("glassworks");
  const skus = Array.from({ length: 8 }, (_, i) => `GLASS-${i + 1}`);
  const products = skus.map((sku, i) => mug(sku, `${i + 10}.00`, i));
  products[2].price = sek("12,00");
  products[4].gtin = "4006381333932";
  delete products[6].title;
  products[6].gtin = "7350053850019";
  await world.write("products.json", JSON.stringify({ products }, null, 2));
  return async () => {
    const found = new Findings();
    const run = await world.run();
    found.ended(run);
    const lines = [
      "GLASS-3 price not_a_number",
      "GLASS-5 gtin bad_check_digit",
      "GLASS-7 title required",
    ];
    for (const line of lines) found.printed(run, line);
    const { transactions } = await seller.uploads.list();
    found.equal(
      transactions.reverse().map(({ products }) => products.created),
      [5, 3],
      "products that each upload stored",
    );
    found.equal(
      transactions.at(-1)?.products.total,
      3,
      "products of the last upload",
    );
    const now = await productsOf(seller);
    found.equal(
      skus.map((sku) => [
        now.get(sku)?.title,
        Number(now.get(sku)?.price?.amount),
        now.get(sku)?.gtin ?? null,
      ]),
      skus.map((sku, i) => [
        i === 6 ? sku : `Title of ${sku}`,
        i + 10,
        i === 6 ? "7350053850019" : null,
      ]),
      "stored titles, prices and GTINs",
    );
    return found.missing;
  };
}

export async function salesOfATill(world: World): Promise<Judge> {
  const seller = await world.addSeller("kiosk");
  await stored(seller, [
    mug("MUG-1", "149", 20),
    mug("CUP-1", "49", 10),
    mug("JUG-1", "99", 3),
  ]);
  const sales = ["MUG-1 2", "CUP-1 1", "MUG-1 5", "CUP-1 40", "JUG-1 1"];
  sales.push("MUG-1 1", "JUG-1 2", "CUP-1 9");
  const lines = sales.map((sale, i) => `S-${i + 1} ${sale}\n`);
  await world.write("sales.txt", lines.join(""));
  return async () => {
    const found = new Findings();
    const faults: Record<number, Fault> = { 2: "lost", 6: "busy", 9: "lost" };
    let writes = 0;
    world.proxy.before = async ({ method }) => {
      if (method === "GET") return null;
      writes++;
      if (writes === 4) {
        await seller.products.setAttribute({
          sku_or_id: "MUG-1",
          attribute: "quantity",
          value: "-1",
          change: true,
        });
      }
      return faults[writes] ?? null;
    };
    const run = await world.run();
    found.ended(run);
    const products = await productsOf(seller);
    found.equal(
      ["MUG-1", "CUP-1", "JUG-1"].map((sku) => products.get(sku)?.quantity),
      [11, 0, 0],
      "the stock of MUG-1, CUP-1, JUG-1",
    );
    found.equal(
      run.lines.filter((line) => line.startsWith("refused ")),
      ["refused S-4"],
      "refused sales",
    );
    return found.missing;
  };
}

export async function largeImport(world: World): Promise<Judge> {
  const seller = await world.addSeller("warehouse");
  const skus = Array.from({ length: 5_000 }, (_, i) => `PART-${i + 1}`);
  await stored(seller, skus.slice(0, 100).map((sku) => mug(sku, "99")));
  const wrong: Readonly<Record<string, string>> = {
    "PART-1200": "12,50",
    "PART-2500": "0",
    "PART-4999": "free",
  };
  const products = skus.map((sku) =>
    `  <product><sku>${sku}</sku><title>Title of ${sku}</title>` +
    `<price currency="SEK">${wrong[sku] ?? "12.50"}</price>` +
    "<quantity>20</quantity></product>\n"
  );
  await world.write(
    "catalogue.xml",
    `<products>\n${products.join("")}</products>\n`,
  );
  return async () => {
    const found = new Findings();
    const run = await world.run();
    found.ended(run);
    found.printed(run, "check: 4897 new, 100 changed, 3 refused");
    found.printed(run, "stored: 4997");
    const sent = world.proxy.sent("POST", UPLOADS);
    found.equal(sent.length, 1, "times that the document was sent");
    found.expect(
      sent[0]?.path.includes("dry_run=true") ?? false,
      "the document was checked first",
    );
    const { account } = await seller.account.get();
    found.equal(account.products, 4_997, "stored products");
    const { product } = await seller.products.get({ sku_or_id: "PART-100" });
    found.equal(product.price?.amount, "12.5", "the price of PART-100");
    const refused = await world.read("refused.xml");
    const named = [...refused.matchAll(/<sku>([^<]*)<\/sku>/g)];
    found.equal(
      named.map(([, sku]) => sku),
      Object.keys(wrong),
      "products in refused.xml",
    );
    return found.missing;
  };
}

export async function picturesFromDisk(world: World): Promise<Judge> {
  const seller = await world.addSeller("pottery");
  await stored(seller, ["MUG-1", "CUP-1", "JUG-1"].map((sku) => mug(sku)));
  const accepted = ["MUG-1_1.png", "MUG-1_2.png", "MUG-1_10.png"];
  accepted.push("CUP-1_1.jpg", "CUP-1_3.png");
  for (const name of accepted) {
    await world.write(`pictures/${name}`, picture(name)!);
  }
  await world.write("pictures/CUP-1_2.png", "<html>not a picture</html>");
  return async () => {
    const found = new Findings();
    const run = await world.run();
    found.ended(run);
    const products = await productsOf(seller);
    for (const sku of ["MUG-1", "CUP-1", "JUG-1"]) {
      const names = accepted.filter((name) => name.startsWith(`${sku}_`));
      const sums = await Promise.all(
        names.map((name) => sha256(picture(name)!)),
      );
      const product = products.get(sku);
      const shown = (product?.images ?? []).map(({ status, href }) =>
        `${status} ${/([0-9a-f]{64})\.\w+$/.exec(href ?? "")?.[1]}`
      );
      found.equal(
        shown,
        sums.map((sum) => `stored ${sum}`),
        `the pictures of ${sku}, by the SHA-256 of ${names}`,
      );
      found.equal(product?.price?.amount, "149", `the price of ${sku}`);
    }
    found.printed(run, "refused CUP-1_2.png image_not_an_image");
    const sent = world.proxy.sent("POST", /^\/seller_api\/images/);
    found.equal(sent.length, 6, "files that were sent");
    return found.missing;
  };
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const sum = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(sum).toHex();
}

export async function saleAndItsEnd(world: World): Promise<Judge> {
  const seller = await world.addSeller("outlet");
  const day = (days: number) =>
    new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  const planned = { price: "120", from: day(60), until: day(70) };
  await stored(seller, [
    mug("MUG-1"),
    mug("CUP 2/3", "49.90"),
    { ...mug("VASE-1"), sale: planned },
    mug("JUG-1"),
  ]);
  const prices = { "MUG-1": "99.00", "CUP 2/3": "29.50", "VASE-1": "100" };
  const rows = Object.entries(prices).map((row) => `${row.join(",")}\n`);
  await world.write("sale.csv", `sku,price\n${rows.join("")}`);
  return async () => {
    const found = new Findings();
    const before = await productsOf(seller);
    const run = await world.run(["begin", day(20)]);
    found.ended(run);
    const during = await productsOf(seller);
    for (const [sku, price] of Object.entries(prices)) {
      const { sale, price: normal } = during.get(sku)!;
      found.equal(
        [sale?.state, Number(sale?.price), sale?.until.slice(0, 19), normal],
        [
          "on",
          Number(price),
          `${day(20)}T23:59:59`,
          before.get(sku)!.price,
        ],
        `the sale of ${sku} after begin`,
      );
      found.expect(
        run.lines.some((line) => {
          const at = line.lastIndexOf(" ");
          return line.slice(0, at) === sku &&
            Number(line.slice(at + 1)) === Number(price);
        }),
        `"${sku} ${price}" was not printed, but ${run.lines.join(" | ")}`,
      );
    }
    found.equal(during.get("JUG-1")!.sale ?? null, null, "the sale of JUG-1");
    await seller.products.setAttribute({
      sku_or_id: "MUG-1",
      attribute: "quantity",
      value: "7",
    });
    await seller.products.setAttribute({
      sku_or_id: "VASE-1",
      attribute: "title",
      value: "Vase",
    });
    found.ended(await world.run(["undo"]));
    const after = await productsOf(seller);
    for (const [sku, { sale, price }] of before) {
      found.equal(
        [after.get(sku)?.sale ?? null, after.get(sku)?.price],
        [sale ?? null, price],
        `the sale and price of ${sku} after undo`,
      );
    }
    found.equal(
      [after.get("MUG-1")?.quantity, after.get("VASE-1")?.title],
      [7, "Vase"],
      "the quantity of MUG-1 and title of VASE-1, which changed after begin",
    );
    return found.missing;
  };
}
