/** Sales begin and end by themselves. */
import { assertEquals } from "@std/assert";
import { SaleRole } from "../../src/catalogue/sale_role.ts";
import {
  recordDueSteps,
  STEPS_AT_ONCE,
} from "../../src/catalogue/sale_rows.ts";
import type { Db } from "../../src/database/db.ts";
import type { Deps } from "../../src/deps.ts";
import { systemClock, systemDeps } from "../../src/deps.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { newSignals } from "../../src/jobs/signals.ts";
import { isoTime } from "../../src/xml/encode.ts";
import { boot, child, product, type TestApp, textAt } from "../support/app.ts";
import { TestClock, until } from "../support/clock.ts";
import { makeDataDir } from "../support/data_dir.ts";
import { bothEngines, openStore } from "../support/engine.ts";
import { copyFirstSeller } from "../support/many_sellers.ts";
import { nextOf, readAll } from "../support/read_out.ts";

const START = Date.UTC(2026, 10, 30, 12);
const FROM = START + DAY_MS;
const UNTIL = FROM + 10 * DAY_MS;
const SALE = `<sale><price>99</price><from>${isoTime(FROM)}</from><until>${
  isoTime(UNTIL)
}</until></sale>`;

function depsAt(
  time: { now: number },
  maybe: Deps["maybe"] = undefined,
): Partial<Deps> {
  return { clock: { ...systemClock, now: () => time.now }, maybe };
}

/** A reader of the operator's feed. */
class Feed {
  #after: string | null = null;

  /** `SKU state` of each change since the last call. */
  async news(app: TestApp): Promise<string[]> {
    const after = this.#after === null ? "" : `?after=${this.#after}`;
    const path = `/operator_api/products${after}`;
    const { xml } = await app.call(path, { key: "operator" });
    this.#after = nextOf(xml) ?? this.#after;
    return child(xml, "products").children.map((entry) =>
      `${textAt(entry, "sku")} ${child(entry, "sale").attributes.state}`
    );
  }
}

/** Resolves when no step is due that is not recorded. */
async function allRecorded({ app: { db } }: TestApp, now: number) {
  await until(async () => {
    const due = await db.read((sql) =>
      sql.all("SELECT id FROM products WHERE sale_at <= ?", [now])
    );
    return due.length === 0;
  }, "the record of all steps");
}

const config = { operatorKey: "operator" };

bothEngines.test("a sale that begins or ends is a change in the feed, and changes updated_at", async () => {
  const time = { now: START };
  await using app = await boot({ deps: depsAt(time), config });
  await app.upload(product("A", SALE));
  const feed = new Feed();
  assertEquals(await feed.news(app), ["A planned"]);
  for (const [at, state] of [[FROM, "on"], [UNTIL, "over"]] as const) {
    time.now = at;
    await allRecorded(app, at);
    assertEquals(await feed.news(app), [`A ${state}`]);
    const path = `/seller_api/products?updated_since=${isoTime(at)}`;
    const { entries } = await readAll(app, path, "products");
    assertEquals(entries.map((entry) => textAt(entry, "sku")), ["A"]);
    assertEquals(await feed.news(app), []);
  }
});

bothEngines.test("the sales of all sellers begin, however many sellers there are", async () => {
  const time = { now: START };
  await using app = await boot({ deps: depsAt(time), config });
  const { db } = app.app;
  await app.upload(product("A", SALE));
  const tables = ["sellers", "seller_counters", "products"] as const;
  await db.write((tx) => copyFirstSeller(tx, tables, 301));
  time.now = FROM;
  await allRecorded(app, FROM);
});

bothEngines.test("each step is recorded once, however many processes record it", async () => {
  const time = { now: START };
  await using app = await boot({ deps: depsAt(time), config });
  const { app: { db }, sellerNo } = app;
  for (let n = 0; n < 2; n++) {
    const skus = Array.from({ length: 240 }, (_, i) => `P-${n}-${i}`);
    await app.upload(skus.map((sku) => product(sku, SALE)).join(""));
  }
  const record = () =>
    db.of(sellerNo).write((tx) => recordDueSteps(tx, sellerNo), {
      changes: true,
    });
  for (time.now of [FROM, UNTIL]) {
    const counts = await Promise.all([record(), record(), record(), record()]);
    assertEquals(counts.filter((n) => n > STEPS_AT_ONCE), []);
    await allRecorded(app, time.now);
  }
  const rows = await db.read((sql) =>
    sql.all<{ n: number; changes: string }>(
      `SELECT COUNT(*) AS n, recent_prices AS changes FROM products
       GROUP BY recent_prices`,
    )
  );
  const changes = `199 SEK\n${FROM} 99 SEK sale\n${UNTIL} 199 SEK sale\n`;
  assertEquals(rows, [{ n: 480, changes }]);
});

bothEngines.test("steps that came while no process ran are made up for at the next start", async () => {
  const time = { now: START };
  const feed = new Feed();
  await using app = await boot({ deps: depsAt(time), config });
  await app.upload(product("A", SALE));
  assertEquals(await feed.news(app), ["A planned"]);
  await app.app.close();
  time.now = UNTIL + DAY_MS;
  await using later = await boot({
    deps: depsAt(time),
    config: { ...config, dataDir: app.config.dataDir },
    seller: { id: app.sellerId, key: app.key },
  });
  await allRecorded(later, time.now);
  assertEquals(await feed.news(later), ["A over"]);
  const path = "/seller_api/products/A/history?attribute=price";
  const { entries } = await readAll(later, path, "changes");
  assertEquals(entries.map((change) => textAt(change, "at")), [
    isoTime(UNTIL),
    isoTime(FROM),
  ]);
});

bothEngines.test("many sales of one seller do not delay those of another", async () => {
  const time = { now: START };
  /** How many sales of each seller have not begun, after each portion. */
  const left: string[] = [];
  const count = async () => {
    const rows = await app.app.db.read((sql) =>
      sql.all<{ n: number }>(
        `SELECT COUNT(*) AS n FROM products WHERE sale_at <= ?
         GROUP BY seller_no ORDER BY seller_no`,
        [FROM],
      )
    );
    left.push(rows.map(({ n }) => n).join(" and "));
  };
  const deps = depsAt(time, async (name) => {
    if (name === "sale steps recorded") await count();
  });
  await using app = await boot({ deps, config });
  for (let n = 0; n < 4; n++) {
    const skus = Array.from({ length: 250 }, (_, i) => `P-${n}-${i}`);
    await app.upload(skus.map((sku) => product(sku, SALE)).join(""));
  }
  await app.call("/seller_api/bulk_products?v=1.1", {
    method: "POST",
    key: await app.addSeller("other"),
    body: `<products>${product("B", SALE)}</products>`,
  });
  time.now = FROM;
  await allRecorded(app, FROM);
  const first = 1_000 - STEPS_AT_ONCE;
  assertEquals(left.slice(0, 3), [
    `${first} and 1`,
    `${first}`,
    `${first - STEPS_AT_ONCE}`,
  ]);
});

Deno.test("after each portion the role pauses half as long as the portion took", async () => {
  const time = { now: START };
  let late = 0;
  const pauses: number[] = [];
  const deps = depsAt(time, (name) => {
    if (name === "sale steps recorded") late += 50_000;
    return Promise.resolve();
  });
  const clock = {
    ...deps.clock!,
    monotonic: () => systemClock.monotonic() + late,
    after: (ms: number, fn: () => void) => {
      if (ms < 25_000 || ms >= 29_000) return systemClock.after(ms, fn);
      pauses.push(ms);
      return systemClock.after(0, fn);
    },
  };
  await using app = await boot({ deps: { ...deps, clock }, config });
  await app.upload(product("A", SALE));
  time.now = FROM;
  await allRecorded(app, FROM);
  await until(() => Promise.resolve(pauses.length > 0), "the pause");
  assertEquals(pauses.length, 1);
});

Deno.test("the role searches for sellers with due steps once a second", async () => {
  const clock = new TestClock(START);
  const db = openStore(makeDataDir());
  await using _ = { [Symbol.asyncDispose]: () => db.close() };
  let searches = 0;
  const read: Db["read"] = (fn, options) => {
    searches++;
    return db.read(fn, options);
  };
  const deps = { ...systemDeps("error"), clock };
  const services = { db: Object.assign(Object.create(db), { read }), deps };
  const role = new SaleRole({ ...services, signals: newSignals() });
  role.start();
  for (let second = 1; second <= 5; second++) {
    await until(() => role.progress >= second, `search ${second}`);
    assertEquals(searches, second);
    clock.advance(1_000);
  }
  await role.stop();
});
