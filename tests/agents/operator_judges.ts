/** Judges of the scenarios for operators: 9 and 10. */
import { DatabaseSync } from "node:sqlite";
import type { Client, SentProduct } from "../../src/client/mod.ts";
import { Findings } from "./findings.ts";
import type { Judge } from "./seller_judges.ts";
import { linesOf, type World } from "./world.ts";

function products(prefix: string, count: number): SentProduct[] {
  return Array.from({ length: count }, (_, i) => ({
    sku: `${prefix}-${i + 1}`,
    title: `Title ${i + 1} of ${prefix}`,
    price: { amount: `${i + 10}.50`, currency: "SEK" },
    quantity: i,
  }));
}

type Row = [
  id: string,
  seller: string,
  sku: string,
  title: string,
  price: number,
  quantity: number | null,
];

/** Every product of these sellers, as a row of scenario 9. */
async function rowsOf(
  clients: readonly Client[],
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const client of clients) {
    const { account } = await client.account.get();
    for await (const one of client.products.list({ limit: 250 })) {
      rows.push([
        one.id,
        account.id,
        one.sku!,
        one.title!,
        Number(one.price!.amount),
        one.quantity ?? null,
      ]);
    }
  }
  return rows.sort(([a], [b]) => a < b ? -1 : 1);
}

function rowsOfTable(path: string): Row[] {
  using db = new DatabaseSync(path, { readOnly: true });
  const rows = db.prepare(
    "SELECT id, seller_id, sku, title, price, quantity FROM products ORDER BY id",
  ).all();
  return rows.map((row) => [
    `${row.id}`,
    `${row.seller_id}`,
    `${row.sku}`,
    `${row.title}`,
    Number(row.price),
    row.quantity === null ? null : Number(row.quantity),
  ]);
}

export async function copyOfAllProducts(world: World): Promise<Judge> {
  const north = await world.addSeller("north");
  const south = await world.addSeller("south");
  await north.uploads.create({ products: products("NORTH", 250) });
  await north.uploads.create({ products: products("NORTHERN", 60) });
  await south.uploads.create({ products: products("SOUTH", 40) });
  await south.products.delete({ sku_or_id: "SOUTH-40" });
  return async () => {
    const found = new Findings();
    const compare = async (sellers: Client[], when: string) => {
      try {
        const [actual, expected] = [
          rowsOfTable(`${world.folder}/copy.db`),
          await rowsOf(sellers),
        ].map((rows) => rows.map((row) => JSON.stringify(row)));
        const wrong = actual.filter((row) => !expected.includes(row));
        const absent = expected.filter((row) => !actual.includes(row));
        found.equal(wrong.slice(0, 3), [], `wrong rows of copy.db ${when}`);
        found.equal(absent.slice(0, 3), [], `missing in copy.db ${when}`);
        found.equal(actual.length, expected.length, `rows ${when}`);
      } catch (error) {
        found.missing.push(`copy.db ${when}: ${(error as Error).message}`);
      }
    };
    await world.allShown();
    found.ended(await world.run());
    await compare([north, south], "after the first run");
    const [key = ""] = linesOf(await world.read("harbour.key"));
    const harbour = world.client(key);
    try {
      const { account } = await harbour.account.get();
      found.equal(account.name, "harbour", "the seller of harbour.key");
    } catch (error) {
      return [...found.missing, `harbour.key: ${(error as Error).message}`];
    }
    await harbour.uploads.create({ products: products("BOAT", 2) });
    await north.products.setAttribute({
      sku_or_id: "NORTH-7",
      attribute: "price",
      value: "5",
    });
    await north.products.delete({ sku_or_id: "NORTH-8" });
    await south.products.delete({ sku_or_id: "SOUTH-1" });
    await south.uploads.create({ products: products("SOUTH", 1) });
    await world.operator.sellers.setAttribute({
      seller: "south",
      seller_attribute: "name",
      value: "south coast",
    });
    await world.allShown();
    const FEED = /^\/operator_api\/products/;
    const before = world.proxy.sent("GET", FEED).length;
    found.ended(await world.run());
    await compare([north, south, harbour], "after the second run");
    const requests = world.proxy.sent("GET", FEED).slice(before);
    found.expect(
      requests.length > 0 && requests.length <= 3 &&
        requests.every(({ path }) => /[?&]after=\w/.test(path)),
      `the second run read from the beginning: ${
        requests.map(({ path }) => path).slice(0, 4).join(" ")
      }`,
    );
    return found.missing;
  };
}

export async function decisionsAndOrders(world: World): Promise<Judge> {
  const sellers = {
    smithy: await world.addSeller("smithy"),
    weaver: await world.addSeller("weaver"),
  };
  const isLink = (title = "") => /https?:\/\//.test(title);
  const titled = products("NAIL", 70).map((product, i) => ({
    ...product,
    title: i % 9 === 4 ? `See https://nails.example/${i}` : product.title,
  }));
  await world.operator.sellers.setAttribute({
    seller: "smithy",
    seller_attribute: "review",
    value: "changes",
  });
  await sellers.smithy.uploads.create({ products: titled });
  const orders = [
    { seller: "smithy", number: "A-1", total: "149.00" },
    { seller: "weaver", number: "A-2", total: "20.00" },
    { seller: "smithy", number: "A-3", total: "9.50" },
    { seller: "weaver", number: "A-4", total: "75.00" },
  ];
  await world.write("orders.json", JSON.stringify(orders, null, 2));
  return async () => {
    const found = new Findings();
    let events = 0;
    let isChanged = false;
    world.proxy.before = async ({ method, path, body }) => {
      if (method === "POST" && path.startsWith("/operator_api/events")) {
        return ++events === 2 ? "lost" : null;
      }
      if (method !== "POST" || isChanged) return null;
      for await (const { id, title } of sellers.smithy.products.list()) {
        if (!body.includes(id) || isLink(title)) continue;
        isChanged = true;
        await sellers.smithy.products.setAttribute({
          sku_or_id: id,
          attribute: "title",
          value: "Now at http://nails.example",
        });
        break;
      }
      return null;
    };
    found.ended(await world.run());
    found.ended(await world.run());
    found.expect(isChanged, "a product was approved");
    for await (const one of sellers.smithy.products.list({ limit: 250 })) {
      const { state, code, field, message = "" } = one.review!;
      const expected = isLink(one.title)
        ? ["rejected", "link_in_title", "title", true]
        : ["approved", null, null, false];
      found.equal(
        [state, code ?? null, field ?? null, message !== ""],
        expected,
        `the review of "${one.title}"`,
      );
    }
    for (const [name, client] of Object.entries(sellers)) {
      const { events } = await client.events.list({ trigger: "order_created" });
      const numbers = orders.filter(({ seller }) => seller === name)
        .map(({ number }) => number);
      found.equal(events.length, numbers.length, `orders of ${name}`);
      for (const reference of numbers) {
        const { events } = await client.events.list({ reference });
        found.equal(events.length, 1, `events with reference ${reference}`);
      }
    }
    return found.missing;
  };
}
