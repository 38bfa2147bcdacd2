/** Change numbers on SQLite, for which no row is a counter. */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { type Clock, systemClock, systemIds } from "../../../src/deps.ts";
import { updateAttribute } from "../../../src/catalogue/attribute.ts";
import { INITIAL } from "../../../src/catalogue/product.ts";
import { changedProducts } from "../../../src/catalogue/product_lists.ts";
import {
  rowChange,
  writeProducts,
} from "../../../src/catalogue/product_rows.ts";
import type { Db } from "../../../src/database/db.ts";
import { openSqlite } from "../../../src/database/sqlite/engine.ts";
import type { Seller } from "../../../src/sellers/seller.ts";
import { addSeller } from "../../../src/sellers/seller_rows.ts";
import type { Services } from "../../../src/services.ts";
import { makeDataDir } from "../../support/data_dir.ts";
import { FIRST_CHANGE } from "../../../src/database/change_feed.ts";

/** A page of SQLite's WAL, with its header. */
const PAGE = 4_120;
const NOON = Date.UTC(2026, 10, 20, 12);

class Catalogue implements AsyncDisposable {
  readonly time = { now: NOON };
  readonly folder = makeDataDir();
  readonly file = join(this.folder, "seller.db");
  readonly seller: Seller = { id: systemIds.uuid(), no: 1, name: "acme" };

  open(): Promise<Db> {
    const clock: Clock = { ...systemClock, now: () => this.time.now };
    return openSqlite(this.file, { deps: { clock } });
  }

  /** Adds the seller and these products. */
  async fill(db: Db, skus: readonly string[]): Promise<void> {
    const deps = { clock: systemClock, ids: systemIds };
    await db.write(async (tx) => {
      const { seller } = await addSeller(tx, deps, "acme");
      const created = skus.map((sku) => ({
        before: null,
        after: {
          ...INITIAL,
          id: systemIds.uuid(),
          sku,
          price: "1",
          currency: "SEK",
        },
      }));
      await writeProducts(tx, seller, created.map(rowChange), null);
      Object.assign(this.seller, seller);
    });
  }

  async set(db: Db, skuOrId: string, quantity: number): Promise<void> {
    await updateAttribute({ db } as Services, {
      seller: { ...this.seller, keyId: "" },
      skuOrId,
      priceJump: null,
      attribute: "quantity",
      value: `${quantity}`,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** SKU, number and time of each product, in the order of changes. */
function order(db: Db): Promise<[string, number, number][]> {
  return db.read(async (sql) => {
    const events = await changedProducts(sql, FIRST_CHANGE, 100);
    return events.flatMap((event) =>
      "product" in event
        ? [[
          event.product.sku,
          event.cursor.change,
          event.product.updated_at,
        ] as [string, number, number]]
        : []
    );
  });
}

Deno.test("numbers and times increase across processes, starts and a clock set back", async () => {
  await using catalogue = new Catalogue();
  const { time } = catalogue;
  const one = await catalogue.open();
  await catalogue.fill(one, ["A", "B", "C"]);
  const other = await catalogue.open();
  time.now += 5_000;
  await catalogue.set(other, "B", 2);
  time.now -= 3_600_000;
  await catalogue.set(one, "A", 2);
  await one.close();
  await other.close();
  const again = await catalogue.open();
  await catalogue.set(again, "C", 2);
  const found = await order(again);
  await again.close();
  const first = (NOON + 5_000) * 1_000;
  assertEquals(found, [
    ["B", first, NOON + 5_000],
    ["A", first + 1, NOON + 5_000],
    ["C", first + 2, NOON + 5_000],
  ]);
});

Deno.test("times never fall below one stored by another engine or version", async () => {
  await using catalogue = new Catalogue();
  const db = await catalogue.open();
  await catalogue.fill(db, ["A", "B"]);
  const later = NOON + 60_000;
  await db.write(async (tx) => {
    await tx.run(
      "UPDATE products SET change_no = 7, updated_at = ?",
      [later],
      "any",
    );
    await tx.run("UPDATE change_counter SET n = 7", [], "any");
  });
  await db.close();
  const again = await catalogue.open();
  await catalogue.set(again, "A", 2);
  const [, [sku, number, at]] = await order(again);
  await again.close();
  assertEquals([sku, number, at], ["A", later * 1_000 + 1, later]);
});

Deno.test("an attribute update writes two database pages: its product's and one more", async () => {
  await using catalogue = new Catalogue();
  const db = await catalogue.open();
  await catalogue.fill(db, Array.from({ length: 30 }, (_, n) => `P-${n}`));
  const { wal } = await db.sizes();
  for (let n = 0; n < 60; n++) {
    catalogue.time.now++;
    await catalogue.set(db, `P-${n % 30}`, n + 2);
  }
  const pages = ((await db.sizes()).wal - wal) / PAGE / 60;
  await db.close();
  assert(pages < 2.1, `${pages} pages an update`);
});
