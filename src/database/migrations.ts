/**
 * Upgrades of the schema, as an append-only list. A new database runs the first
 * one alone, which creates the tables as they are now (`schema.ts`). An existing
 * database runs each of the others once, in order, in a transaction; none of them
 * is changed after its release.
 */
import type { Deps } from "../deps.ts";
import { DbError, type Query } from "./db.ts";
import { SCHEMA } from "./schema.ts";
import { createTables, type EngineSql } from "./table.ts";

export interface Migration {
  name: string;
  sql: Query;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: "the schema", sql: createTables(SCHEMA) },
  { name: "image counts of imports", sql: importImages() },
  {
    name: "counted refusals, handling days, lists by GTIN and of deletions",
    sql: {
      sqlite: columnsAdded("TEXT", "INTEGER"),
      postgres: columnsAdded('TEXT COLLATE "C"', "BIGINT"),
    },
  },
  {
    name: "keys of uploads and imports",
    sql: { sqlite: keysAdded("TEXT"), postgres: keysAdded('TEXT COLLATE "C"') },
  },
  {
    name: "documents of dry runs, and what products were before",
    sql: {
      sqlite: dryRunColumns("TEXT", "INTEGER"),
      postgres: dryRunColumns('TEXT COLLATE "C"', "BIGINT"),
    },
  },
  {
    name: "no index of GTINs, which slowed uploads down",
    sql: "DROP INDEX products_gtin;",
  },
  {
    name: "copies of what imports refused",
    sql: {
      sqlite: refusedCopied("INTEGER", "BLOB"),
      postgres: refusedCopied("BIGINT", "BYTEA"),
    },
  },
  { name: "categories, warnings, meanings of triggers", sql: categories() },
  {
    name: "ends and networks of operator keys",
    sql: {
      sqlite: operatorKeyRights("TEXT", "INTEGER"),
      postgres: operatorKeyRights('TEXT COLLATE "C"', "BIGINT"),
    },
  },
  {
    name: "names of uploads and refusals",
    sql: {
      sqlite: namesAdded("TEXT"),
      postgres: namesAdded('TEXT COLLATE "C"'),
    },
  },
  {
    name: "imports that are over with their last image",
    sql: {
      sqlite: importEndAdded("INTEGER"),
      postgres: importEndAdded("BIGINT"),
    },
  },
  {
    name: "imports by the end of images that failed",
    sql: `CREATE INDEX import_images_failed ON import_images (settled_at)
      WHERE failed > 0 AND pending = 0;`,
  },
  {
    name: "days on which rules of categories begin",
    sql: {
      sqlite: daysOfRules("TEXT"),
      postgres: daysOfRules('TEXT COLLATE "C"'),
    },
  },
];

/** The days of a list that was stored before this migration are not known. */
function daysOfRules(text: string): string {
  return `ALTER TABLE category_list ADD COLUMN begins ${text} NOT NULL DEFAULT '';
ALTER TABLE category_list ADD COLUMN announced ${text};`;
}

function namesAdded(text: string): string {
  return ["transactions", "refusals"]
    .map((table) => `ALTER TABLE ${table} ADD COLUMN name ${text};`)
    .join("\n");
}

/** Imports that had ended before emit no event. */
function importEndAdded(integer: string): string {
  return `ALTER TABLE import_images
  ADD COLUMN ends_with_images ${integer} NOT NULL DEFAULT 0;`;
}

function categories(): EngineSql {
  const { sqlite, postgres } = createTables([
    {
      name: "category_list",
      columns: {
        id: "integer",
        version: "text",
        closed: "integer",
        names: "text",
      },
      key: "id",
    },
    {
      name: "categories",
      columns: {
        version: "text",
        place: "integer",
        name: "text",
        written_at: "integer",
        rules: "text",
      },
      key: "version, place",
      unique: ["version, name"],
      indexes: { categories_age: "(written_at)" },
    },
    {
      name: "trigger_meanings",
      columns: {
        trigger_name: "text",
        about: "text?",
        form: "text?",
        example: "text?",
      },
      key: "trigger_name",
    },
  ]);
  const columns = (text: string, integer: string) => `
ALTER TABLE imports ADD COLUMN warnings ${integer} NOT NULL DEFAULT 0;
ALTER TABLE import_parts ADD COLUMN warnings ${text};
ALTER TABLE transactions ADD COLUMN warnings ${text};`;
  return {
    sqlite: sqlite + columns("TEXT", "INTEGER"),
    postgres: postgres + columns('TEXT COLLATE "C"', "BIGINT"),
  };
}

function operatorKeyRights(text: string, integer: string): string {
  return `
ALTER TABLE operator_keys ADD COLUMN expires_at ${integer};
ALTER TABLE operator_keys ADD COLUMN networks ${text} NOT NULL DEFAULT '';`;
}

/**
 * Imports whose documents were already deleted had kept the pieces with refused
 * products.
 */
function refusedCopied(integer: string, bytes: string): string {
  return `
ALTER TABLE imports ADD COLUMN copied_to ${integer} NOT NULL DEFAULT 0;
ALTER TABLE imports ADD COLUMN root ${bytes};
ALTER TABLE import_problems ADD COLUMN sent ${bytes};`;
}

function dryRunColumns(text: string, integer: string): string {
  return `
ALTER TABLE imports ADD COLUMN document ${text} NOT NULL DEFAULT 'whole';
ALTER TABLE imports ADD COLUMN shows_former ${integer} NOT NULL DEFAULT 0;
ALTER TABLE import_parts ADD COLUMN former ${text};
CREATE INDEX imports_documents ON imports (over_at)
  WHERE document <> 'refused';`;
}

/** Keys of earlier transactions are not known. */
function keysAdded(text: string): string {
  return ["transactions", "imports"]
    .map((table) => `ALTER TABLE ${table} ADD COLUMN key_id ${text};`)
    .join("\n");
}

/** Keys and clients of earlier refusals are not known. */
function columnsAdded(text: string, integer: string): string {
  return `
ALTER TABLE refusals ADD COLUMN times ${integer} NOT NULL DEFAULT 1;
ALTER TABLE refusals ADD COLUMN key_id ${text} NOT NULL DEFAULT '';
ALTER TABLE refusals ADD COLUMN client ${text} NOT NULL DEFAULT '';
ALTER TABLE products ADD COLUMN handling_days ${integer};
CREATE INDEX products_gtin ON products (seller_no, gtin, id)
  WHERE gtin IS NOT NULL;
CREATE INDEX deleted_products_of_seller
  ON deleted_products (seller_no, deleted_at, id);`;
}

function importImages(): EngineSql {
  const { sqlite, postgres } = createTables([{
    name: "import_images",
    columns: {
      seller_no: "integer",
      import_id: "id",
      pending: "integer DEFAULT 0",
      stored: "integer DEFAULT 0",
      reused: "integer DEFAULT 0",
      failed: "integer DEFAULT 0",
      settled_at: "integer?",
    },
    key: "seller_no, import_id",
    inKeyOrder: true,
    refersTo: { imports: "seller_no, import_id" },
  }]);
  const fill = `
INSERT INTO import_images
  (seller_no, import_id, pending, stored, reused, failed, settled_at)
SELECT imports.seller_no, imports.id,
  COALESCE(SUM(images_pending), 0), COALESCE(SUM(images_stored), 0),
  COALESCE(SUM(images_reused), 0), COALESCE(SUM(images_failed), 0),
  MAX(finished_at)
FROM imports LEFT JOIN transactions
  ON transactions.seller_no = imports.seller_no
    AND transactions.import_id = imports.id
GROUP BY imports.seller_no, imports.id;`;
  return { sqlite: sqlite + fill, postgres: postgres + fill };
}

/** Statements that fail where a table or column of the schema is missing. */
export const COLUMN_CHECKS = SCHEMA.map(({ name, columns }) => {
  const named = Object.keys(columns).map((column) => `${name}.${column}`);
  return `SELECT ${named.join(", ")} FROM ${name} LIMIT 0`;
});

/** The error to throw when a check fails; its message begins with `name`. */
export function columnError(error: unknown, name: string): unknown {
  if (!(error instanceof DbError) || error.kind !== "other") return error;
  return new DbError(
    "older",
    `${name} differs from src/database/schema.ts (${error.message}): add what ` +
      "it lacks by a migration in src/database/migrations.ts, or begin with a " +
      "new database.",
    error,
  );
}

/**
 * The version stored in a database is this plus the number of migrations.
 * Versions up to 200 belonged to databases before the first release.
 */
const BEFORE_FIRST = 200;

/** The version of a database with these migrations. */
export function versionAfter(migrations: readonly Migration[]): number {
  return BEFORE_FIRST + migrations.length;
}

/**
 * The migrations that a database of this version lacks; an empty database has
 * version 0. `name` begins messages. Throws a `DbError`: `newer`, `older`.
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
  return version === 0
    ? migrations.slice(0, 1)
    : migrations.slice(version - BEFORE_FIRST);
}

/** The clock and log for `logUpgrade`. */
export type MigrationDeps = Pick<Deps, "clock" | "log">;

/**
 * Logs the beginning of an upgrade, which may take minutes on many rows; the
 * returned function logs its end. Logs nothing for a new database or one with
 * the present schema.
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
