/**
 * Upgrades of the schema, as an append-only list: a migration that was released
 * is never changed. Each runs once, in a transaction, in order. The first one
 * creates the schema of the first release.
 */
import type { Deps } from "../deps.ts";
import { DbError } from "./db.ts";
import {
  NOTICES_TABLE,
  PRICE_CHANGES,
  REVIEW_REASONS,
  SCHEMA,
} from "./schema.ts";
import {
  addColumns,
  createTables,
  type Engine,
  type EngineSql,
} from "./table.ts";

export interface Migration {
  name: string;
  sql: string | EngineSql;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: "the schema of the first release", sql: createTables(SCHEMA) },
  { name: "notices", sql: createTables([NOTICES_TABLE]) },
  {
    name: "where notices are sent",
    sql: addColumns("sellers", {
      email: "text?",
      // Since when notices go there: none is about what was before.
      email_since: "integer?",
      // Signs links in mails.
      email_key: "text?",
      // Since when the seller wants no mail there.
      email_off_at: "integer?",
    }),
  },
  {
    name: "when a seller was last sent a mail",
    sql: addColumns("seller_counters", { mailed_at: "integer DEFAULT 0" }),
  },
  {
    name: "an index of uploads with images that failed",
    sql:
      "CREATE INDEX transactions_images_failed ON transactions (finished_at) " +
      "WHERE images_failed > 0 AND finished_at IS NOT NULL;",
  },
  {
    name: "a seller's policy of review",
    // none, new, changes, or ending while the reviews of its products go
    sql: addColumns("sellers", { review: "text DEFAULT 'none'" }),
  },
  {
    name: "the review of a product",
    sql: addColumns("products", {
      // null: it is not reviewed
      review_state: "text?",
      // since when
      review_at: "integer?",
      // JSON; see reviews/review.ts
      review: "text?",
    }),
  },
  {
    name: "indexes of reviews",
    sql: `
CREATE INDEX products_review_queue ON products (review_state, review_at, id)
  WHERE review_state IS NOT NULL;
CREATE INDEX products_reviewed ON products
  (seller_no, review_state, review_at, id) WHERE review_state IS NOT NULL;
CREATE INDEX products_review_ids ON products (id)
  WHERE review_state IS NOT NULL;
CREATE INDEX sellers_review_ending ON sellers (id) WHERE review = 'ending';`,
  },
  {
    name: "the operator's reasons of rejections",
    sql: createTables([REVIEW_REASONS]),
  },
  {
    name: "keys of sellers have scopes, an end and networks",
    sql: addColumns("api_keys", {
      // Words separated by spaces; keys of before may do everything.
      scopes: "text DEFAULT 'read products webhooks keys'",
      // null: none
      expires_at: "integer?",
      // CIDRs separated by spaces; "" is everywhere.
      networks: "text DEFAULT ''",
    }),
  },
  { name: "changes of prices", sql: createTables([PRICE_CHANGES]) },
  {
    name: "the lowest price before the present one",
    sql: addColumns("products", {
      // when the last change was; null: there was none
      price_since: "integer?",
      lowest_price: "text?",
      // when it ended
      lowest_price_until: "integer?",
    }),
  },
  {
    name: "webhooks that are sent JSON",
    sql: addColumns("webhooks", { format: "text DEFAULT 'xml'" }),
  },
  {
    name: "the former prices that may become the lowest",
    // a line each; see catalogue/price_changes.ts
    sql: addColumns("products", { former_prices: "text?" }),
  },
  {
    name: "the lowest price is one of the former ones",
    // Several servers take no function that depends on a setting, as that does
    // which joins a text with a number.
    sql: `
UPDATE products SET former_prices = currency || ' ' ||
  CAST(lowest_price AS text) || ' ' || CAST(lowest_price_until AS text) || '
' WHERE lowest_price IS NOT NULL;
ALTER TABLE products DROP COLUMN lowest_price;
ALTER TABLE products DROP COLUMN lowest_price_until;`,
  },
  {
    name: "whether what was refused was a check",
    sql: addColumns("refusals", { dry_run: "integer DEFAULT 0" }),
  },
];

/** The SQL of a migration for an engine. */
export function sqlOf({ sql }: Migration, engine: Engine): string {
  return typeof sql === "string" ? sql : sql[engine];
}

/**
 * Added to the number of migrations, it is the version that a database stores.
 * Those up to 100 were of databases before the first release.
 */
const BEFORE_FIRST = 100;

/** The version of a database with these migrations. */
export function versionAfter(migrations: readonly Migration[]): number {
  return BEFORE_FIRST + migrations.length;
}

/**
 * The migrations that a database with this version lacks; 0 is that of an empty
 * one. `name` begins messages. Throws a `DbError`: `newer`, `older`.
 */
export function missingMigrations(
  migrations: readonly Migration[],
  version: number,
  name: string,
): readonly Migration[] {
  const known = versionAfter(migrations);
  if (version > known) {
    throw new DbError(
      "newer",
      `${name} has schema version ${version}, this program knows ${known}; ` +
        "start the newer program, or restore a backup that is as old as this one.",
    );
  }
  if (version > 0 && version <= BEFORE_FIRST) {
    throw new DbError(
      "older",
      `${name} was made by a version before the first release, and this ` +
        "program does not read it; begin with a new database, or start the " +
        "program that made it.",
    );
  }
  return migrations.slice(Math.max(0, version - BEFORE_FIRST));
}

/** What logs upgrades. */
export type MigrationDeps = Pick<Deps, "clock" | "log">;

/**
 * Logs that the upgrade of a database begins, as it may take minutes where there
 * are many rows; the result logs its end. Silent where there is nothing to
 * upgrade: in a new database, or in one with the present schema.
 */
export function logUpgrade(
  { clock, log }: MigrationDeps,
  from: number,
  to: number,
): () => void {
  if (from === 0 || from === to) return () => {};
  const begun = clock.monotonic();
  log.info("schema_upgrade", { from, to });
  return () => {
    const ms = Math.round(clock.monotonic() - begun);
    log.info("schema_upgraded", { from, to, ms });
  };
}
