/** What runs unasked costs the same beside any catalogue. */
import { DatabaseSync } from "node:sqlite";
import { assertEquals } from "@std/assert";
import { boot, product } from "../support/app.ts";
import { until } from "../support/clock.ts";

/** Of tables that do not grow with catalogue, uploads and events. */
const SMALL =
  /^SCAN (sqlite_schema|sellers|webhooks|seller_usage|health|operator_keys|api_keys|maintenance_positions|hourly_counts|change_counter)\b/;

Deno.test("no statement of a start or of a job reads a whole table", async () => {
  const statements = new Set<string>();
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function (sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  };
  try {
    await using app = await boot({
      config: {
        databaseUrl: null,
        keepImagesDays: 1,
        roles: ["api", "images", "webhooks"],
      },
    });
    assertEquals((await app.upload(product("A-1"))).status, 200);
    // The last job of the table has begun, and a snapshot was taken.
    await until(() => {
      const seen = [...statements].join("\n");
      return [
        "FROM images WHERE (seller_no, id) > (?, ?)",
        "FROM webhooks GROUP BY",
      ]
        .every((part) => seen.includes(part));
    }, "the jobs");
    using db = new DatabaseSync(`${app.config.dataDir}/seller.db`);
    const scans = [...statements]
      .filter((sql) => /^\s*(SELECT|UPDATE|DELETE)/.test(sql))
      // What has a bound reads no more rows than that.
      .filter((sql) => !/ LIMIT /.test(sql))
      .flatMap((sql) =>
        prepare.call(db, `EXPLAIN QUERY PLAN ${sql}`).all()
          .map(({ detail }) => String(detail))
          .filter((detail) => /^SCAN [a-z_]+( AS| USING|$)/.test(detail))
          .filter((detail) => !SMALL.test(detail))
          .map((detail) => `${detail}: ${sql.replace(/\s+/g, " ").trim()}`)
      );
    assertEquals(scans, []);
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
});
