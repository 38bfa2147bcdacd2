/** Periodic statements cost the same for any catalogue. */
import { DatabaseSync } from "node:sqlite";
import { assertEquals, assertNotEquals } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { until } from "../support/clock.ts";
import { ImageBench } from "../support/image_bench.ts";
import { ImageHost } from "../support/image_host.ts";

/** Statements on tables that do not grow with catalogue, uploads and events. */
const SMALL =
  /^SCAN (sqlite_schema|sellers|webhooks|seller_usage|seller_counters|key_uses|health|operator_keys|api_keys|maintenance_positions|hourly_counts|change_counter)\b/;

/** Collects the prepared statements until it is disposed of. */
class Statements implements Disposable {
  readonly seen = new Set<string>();
  readonly #prepare = DatabaseSync.prototype.prepare;

  constructor() {
    const { seen } = this;
    const prepare = this.#prepare;
    DatabaseSync.prototype.prepare = function (sql: string) {
      seen.add(sql);
      return prepare.call(this, sql);
    };
  }

  /** The steps of unbounded statements, each with its statement. */
  steps(
    dataDir: string,
    // A statement with a bound reads no more rows than the bound.
    which = (sql: string) => !/ LIMIT /.test(sql),
  ): [detail: string, sql: string][] {
    using db = new DatabaseSync(`${dataDir}/seller.db`);
    return [...this.seen]
      .filter((sql) => /^\s*(SELECT|UPDATE|DELETE)/.test(sql))
      .filter(which)
      .flatMap((sql) =>
        this.#prepare.call(db, `EXPLAIN QUERY PLAN ${sql}`).all()
          .map(({ detail }): [string, string] => [
            String(detail),
            sql.replace(/\s+/g, " ").trim(),
          ])
      );
  }

  [Symbol.dispose](): void {
    DatabaseSync.prototype.prepare = this.#prepare;
  }
}

Deno.test("no statement of a start or of a job scans a table", async () => {
  using statements = new Statements();
  await using app = await boot({
    config: {
      databaseUrl: null,
      keepImagesDays: 1,
      roles: ["api", "images", "webhooks"],
      noticesUrl: "http://127.0.0.1:9000/",
      noticesSecret: `whsec_${btoa("thirty-two bytes of no entropy..")}`,
      smtpUrl: { host: "127.0.0.1", port: 9001, secure: false, login: null },
      mailFrom: { name: "", address: "notices@shop.example" },
    },
  });
  assertEquals((await app.upload(product("A-1"))).status, 200);
  // The last job of the table has begun, and a snapshot was taken.
  await until(() => {
    const seen = [...statements.seen].join("\n");
    return [
      "FROM images WHERE (seller_no, id) > (?, ?)",
      "FROM webhooks WHERE seller_no > 0",
      // The last search for notices.
      "WHERE state = 'exhausted' AND settled_at IS NOT NULL AND settled_at > ?",
    ]
      .every((part) => seen.includes(part));
  }, "the jobs");
  const scans = statements.steps(app.config.dataDir)
    .filter(([detail]) => /^SCAN [a-z_]+( AS| USING|$)/.test(detail))
    .filter(([detail]) => !SMALL.test(detail));
  assertEquals(scans, []);
});

Deno.test("no statement of an image's job reads all images of its seller", async () => {
  using statements = new Statements();
  await using host = new ImageHost();
  await using bench = new ImageBench({ config: { databaseUrl: null } });
  bench.startRole();
  const urls = [..."abcdefgh"].map((name) => `${host.url}/good/${name}.png`);
  await bench.finished(await bench.upload(urls));
  await bench.stopRoles();
  const steps = statements.steps(bench.dataDir)
    .filter(([detail]) => detail.startsWith("SEARCH images "));
  assertNotEquals(steps, []);
  const reads = steps.filter(([detail]) => detail.endsWith(" (seller_no=?)"));
  assertEquals(reads, []);
});

Deno.test("reviews are found by their state, place or id", async () => {
  using statements = new Statements();
  await using app = await boot({
    config: { databaseUrl: null, operatorKey: "op" },
  });
  const operator = app.operator({ key: "op" });
  await operator.reviews.list();
  await operator.reviews.list({ seller: "acme" });
  await app.client().products.rejected();
  await operator.reviews.decide({
    reviews: [{ product: app.sellerId, decision: "approved" }],
  }).catch(() => {});
  const set = { seller: "acme", seller_attribute: "review" } as const;
  await operator.sellers.setAttribute({ ...set, value: "new" });
  await operator.sellers.setAttribute({ ...set, value: "none" });
  // Counts of the backlog end at a limit; another test has them.
  const isSought = (sql: string) =>
    /\bWHERE\b.*\breview_state\b/s.test(sql) && !/AS counted$/.test(sql);
  await until(() => [...statements.seen].filter(isSought).length >= 4);
  const steps = statements.steps(app.config.dataDir, isSought)
    .flatMap(([detail]) => detail.match(/ INDEX (products_.*)$/)?.[1] ?? []);
  const behind = "review_state=? AND (review_at,id)>(?,?)";
  assertEquals(steps, [
    `products_review_queue (${behind})`,
    `products_reviewed (seller_no=? AND ${behind})`,
    "products_review_ids (id=?)",
    "products_reviewed (seller_no=? AND review_state>?)",
  ]);
});
