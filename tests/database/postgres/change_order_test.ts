/** The order of changes if transactions end in any order. */
import { assert, assertEquals } from "@std/assert";
import { changedProducts } from "../../../src/catalogue/product_lists.ts";
import { copyDatabase } from "../../../src/database/copy.ts";
import type { Db } from "../../../src/database/db.ts";
import { openPostgres } from "../../../src/database/postgres/engine.ts";
import { openSqlite } from "../../../src/database/sqlite/engine.ts";
import { systemClock } from "../../../src/deps.ts";
import { fastParent } from "../../support/data_dir.ts";
import { allShown, boot, product } from "../../support/app.ts";
import { until } from "../../support/clock.ts";
import { ownServer } from "../../support/postgres.ts";
import { Random } from "../../support/random.ts";
import { bootReplicas } from "../../support/replicas.ts";
import {
  type ChangeCursor,
  FIRST_CHANGE,
} from "../../../src/database/change_feed.ts";

const server = await ownServer();

const API = { roles: ["api"] as const };

/** A reader of the feed, which keeps its cursor. */
class Follower {
  readonly #db: Db;
  place: ChangeCursor;

  constructor(db: Db, place = FIRST_CHANGE) {
    this.#db = db;
    this.place = place;
  }

  /** Like `news`, once all changes can be read. */
  async allNews(): Promise<string[]> {
    await until(() => allShown(this.#db));
    return await this.news();
  }

  /** SKUs of new changes, including deletions. */
  async news(): Promise<string[]> {
    const changes = await this.#db.read((sql) =>
      changedProducts(sql, this.place, 1_000)
    );
    this.place = changes.at(-1)?.cursor ?? this.place;
    return changes.map((change) =>
      "product" in change ? change.product.sku : change.tombstone.sku
    );
  }
}

function times<T>(count: number, fn: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => fn(i));
}

/** How many transactions of this database have written products. */
const WRITERS = `SELECT COUNT(DISTINCT pid) AS n FROM pg_locks
  WHERE relation = 'products'::regclass AND mode = 'RowExclusiveLock' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

Deno.test("a change that commits late is not skipped", async () => {
  const commit = Promise.withResolvers<void>();
  let isHeld = false;
  await using service = await bootReplicas(server, [API]);
  const [app] = service.apps;
  await using slow = await boot({
    config: { ...app.config },
    seller: { id: app.sellerId, key: app.key },
    deps: { beforeCommit: () => isHeld ? commit.promise : undefined },
  });
  await app.upload(["A", "B", "C"].map((sku) => product(sku)).join(""));
  const other = await app.addSeller("other");
  const follower = new Follower(app.app.db);
  assertEquals(await follower.allNews(), ["A", "B", "C"]);

  isHeld = true;
  const early = slow.call("/seller_api/products/A/attribute/brand/x", {
    method: "PUT",
  });
  await until(() =>
    service.row<{ n: number }>(WRITERS).then(({ n }) => n === 1)
  );
  const late = await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    key: other,
    body: `<products>${product("late")}</products>`,
  });
  assertEquals(late.status, 200, late.text);
  const before = await follower.news();
  commit.resolve();
  assertEquals((await early).status, 204);
  const after = await follower.allNews();
  assertEquals([...before, ...after], ["A", "late"]);
});

Deno.test("a follower misses no change and no tombstone while many write", async () => {
  const random = new Random(1);
  const pause = () =>
    new Promise<void>((resolve) => setTimeout(resolve, random.below(5)));
  await using service = await bootReplicas(server, [API, API], {
    deps: { beforeCommit: pause },
  });
  const [first, second] = service.apps;
  const keys = await Promise.all(times(8, (i) => first.addSeller(`s${i}`)));
  const follower = new Follower(first.app.db);
  const seen: string[] = [];
  let hasEnded = false;
  const following = (async () => {
    while (!hasEnded) seen.push(...await follower.news());
  })();
  const call = (i: number, path: string, method: string, body?: string) =>
    (i % 2 === 0 ? first : second).call(`/seller_api/${path}`, {
      method,
      key: keys[i % 8],
      body,
    });
  const answers = await Promise.all(times(40, async (i) => {
    const put = await call(
      i,
      "bulk_products?v=1.1",
      "POST",
      `<products>${product(`A-${i}`)}</products>`,
    );
    if (i % 4 > 0) return put.status;
    return (await call(i, `products/A-${i}`, "DELETE")).status;
  }));
  hasEnded = true;
  await following;
  seen.push(...await follower.allNews());
  assertEquals(answers, Array(40).fill(200));
  const missed = times(40, (i) => `A-${i}`).filter((sku) =>
    !seen.includes(sku)
  );
  assertEquals(missed, []);
  const deleted = seen.filter((sku, i) => seen.indexOf(sku) !== i);
  assert(deleted.every((sku) => Number(sku.slice(2)) % 4 === 0), `${deleted}`);
  const last = new Set(seen.slice(-20));
  assert(times(10, (i) => `A-${4 * i}`).some((sku) => last.has(sku)));
});

Deno.test("cursors stay valid when the server's transaction ids restart", async () => {
  const url = await server.database();
  const folder = await Deno.makeTempDir({ dir: fastParent });
  const config = { roles: ["api"] as const, databaseUrl: url };
  let place: ChangeCursor;
  // As after a restore on a new server: the stored numbers are far ahead of the
  // server's.
  const ahead = 4_000_000_000;
  {
    await using app = await boot({ config });
    await app.upload(product("A") + product("B") + product("C"));
    await app.call("/seller_api/products/B", { method: "DELETE" });
    await app.app.db.write(async (tx) => {
      for (
        const table of [
          "products",
          "deleted_products",
          "contacts",
          "deleted_contacts",
        ]
      ) {
        await tx.run(
          `UPDATE ${table} SET change_no = change_no + ?`,
          [ahead],
          "any",
        );
      }
    });
    const all = new Follower(app.app.db, {
      ...FIRST_CHANGE,
      change: ahead,
    });
    // Not yet, because the horizon is behind the stored numbers.
    assertEquals(await all.news(), []);
  }
  {
    const db = await openPostgres({ url });
    const follower = new Follower(db);
    assertEquals(await follower.allNews(), ["A", "C", "B"]);
    place = follower.place;
    await db.write(async (tx) => {
      const { number } = await tx.takeChanges(1, 1);
      await tx.run("UPDATE products SET change_no = ? WHERE sku = 'A'", [
        number,
      ], "any");
    });
    assertEquals(await follower.allNews(), ["A"]);

    // To the other engine, and from there to a server whose numbers are behind.
    const file = await openSqlite(`${folder}/seller.db`);
    await copyDatabase(db, file, () => {});
    await file.close();
    await db.close();
  }
  const file = await openSqlite(`${folder}/seller.db`);
  assertEquals(await new Follower(file, place).news(), ["A"]);
  await changeC(file);
  const again = await server.database();
  const target = await openPostgres({ url: again });
  await copyDatabase(file, target, () => {});
  await target.close();
  assertEquals(await new Follower(file, place).news(), ["A", "C"]);
  await file.close();
  const back = await openPostgres({ url: again });
  const follower = new Follower(back, place);
  assertEquals(await follower.allNews(), ["A", "C"]);
  await changeC(back);
  assertEquals(await follower.allNews(), ["C"]);
  await back.close();
  await Deno.remove(folder, { recursive: true });
});

async function changeC(db: Db): Promise<void> {
  await db.write(async (tx) => {
    const { number } = await tx.takeChanges(1, 1);
    await tx.run(
      "UPDATE products SET change_no = ? WHERE sku = 'C'",
      [number],
      "any",
    );
  });
}

Deno.test("a process whose clock is behind gives no earlier times", async () => {
  const url = await server.database();
  const [fast, slow] = await Promise.all(
    [5_000, -5_000].map((offset) =>
      openPostgres({
        url,
        connections: 2,
        deps: {
          clock: { ...systemClock, now: () => systemClock.now() + offset },
        },
      })
    ),
  );
  try {
    const { at } = await fast.write((tx) => tx.takeChanges(1, 1));
    let later = 0;
    await until(async () => {
      later = (await slow.write((tx) => tx.takeChanges(1, 1))).at;
      return later >= at;
    }, "what other processes know of the time");
    assertEquals(later, at);
  } finally {
    await fast.close();
    await slow.close();
  }
});
