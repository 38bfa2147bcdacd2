/**
 * Upgrades of the schema, as an append-only list. A new database runs only the
 * first migration, which creates the tables of the present schema
 * (`schema.ts`). An existing database runs each later migration once, in order,
 * in a transaction. A migration is never changed after its release.
 */
import type { Deps } from "../deps.ts";
import { DbError, type Query } from "./db.ts";
import { SCHEMA } from "./schema.ts";
import {
  addTableColumn,
  createTables,
  type Engine,
  type EngineSql,
} from "./table.ts";

export interface Migration {
  name: string;
  sql: Query;
}

const CONTACT_TABLES = createTables([
  {
    name: "contacts",
    columns: {
      seller_no: "integer",
      id: "id",
      name: "text",
      change_no: "integer",
      updated_at: "integer",
      deleted_at: "integer?",
      unneeded_since: "integer?",
      content: "text",
    },
    key: "seller_no, id",
    refersTo: { sellers: "seller_no" },
    indexes: {
      contacts_name: "UNIQUE (seller_no, name) WHERE deleted_at IS NULL",
      contacts_changes: "(change_no, id) WHERE deleted_at IS NULL",
      contacts_deleted: "(seller_no, id) WHERE deleted_at IS NOT NULL",
    },
  },
  {
    name: "deleted_contacts",
    columns: {
      seller_no: "integer",
      id: "id",
      seller_id: "text",
      seller_name: "text",
      name: "text",
      deleted_at: "integer",
      change_no: "integer",
    },
    key: "seller_no, id",
    indexes: { deleted_contacts_changes: "(change_no, id)" },
  },
]);

const CONTACT_INDEXES = [
  "manufacturer",
  "responsible_person",
].map((column) =>
  `CREATE INDEX products_${column} ON products (seller_no, ${column}) ` +
  `WHERE ${column} IS NOT NULL;\n`
).join("");

const CONTACT_COLUMNS = ["manufacturer", "responsible_person", "safety_text"]
  .map((column) => addTableColumn("products", column, "text?"));

function contactsSql(engine: Engine): string {
  const columns = CONTACT_COLUMNS.map((sql) => sql[engine]);
  return [...columns, CONTACT_INDEXES, CONTACT_TABLES[engine]].join("\n");
}

const CONTACTS: EngineSql = {
  sqlite: contactsSql("sqlite"),
  postgres: contactsSql("postgres"),
};

const SALES_INDEX = "CREATE INDEX products_sales ON products " +
  "(seller_no, sale_at, id) WHERE sale_at IS NOT NULL;";

export const MIGRATIONS: readonly Migration[] = [
  { name: "the schema", sql: createTables(SCHEMA) },
  {
    name: "sales",
    sql: {
      sqlite: `ALTER TABLE products ADD COLUMN sale_at INTEGER;
        ALTER TABLE products ADD COLUMN sale TEXT;
        ${SALES_INDEX}`,
      postgres: `ALTER TABLE products ADD COLUMN sale_at BIGINT;
        ALTER TABLE products ADD COLUMN sale TEXT COLLATE "C";
        ${SALES_INDEX}`,
    },
  },
  {
    name: "price_jump of sellers",
    sql: addTableColumn("sellers", "price_jump", "integer?"),
  },
  { name: "contacts", sql: CONTACTS },
  {
    name: "uploaded images that no product has named",
    sql: "CREATE INDEX images_unnamed ON images (stored_at) WHERE " +
      "stored_at IS NOT NULL AND state IN ('arriving', 'uploaded');",
  },
];

/** Statements that fail where a table or column of the schema is missing. */
export const COLUMN_CHECKS = SCHEMA.map(({ name, columns }) => {
  const named = Object.keys(columns).map((column) => `${name}.${column}`);
  return `SELECT ${named.join(", ")} FROM ${name} LIMIT 0`;
});

/** Advice for data that no release can upgrade. */
const CARRY_OVER = "Begin with a new database, and carry products, sellers " +
  'and keys over by the API, as the chapter "Changes" of the handbook says.';

/** The error to throw when a check fails; its message begins with `name`. */
export function columnError(error: unknown, name: string): unknown {
  if (!(error instanceof DbError) || error.kind !== "other") return error;
  return new DbError(
    "older",
    `${name} has the version of this program, but other tables ` +
      `(${error.message}): an unreleased program made it. ${CARRY_OVER}`,
    error,
  );
}

/**
 * The version stored in a database is this plus the number of migrations.
 * Versions up to 250 belonged to databases before the first release.
 */
const BEFORE_FIRST = 250;

/** The version of a database with these migrations. */
export function versionAfter(migrations: readonly Migration[]): number {
  return BEFORE_FIRST + migrations.length;
}

/**
 * The migrations that a database of this version lacks; an empty database has
 * version 0. Messages begin with `name`. Throws a `DbError`: `newer`, `older`.
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
      `${name} was made by a version before 1.0.0, which no release can ` +
        `upgrade. ${CARRY_OVER}`,
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
 * returned function logs its end. Logs nothing for a new database, or for a
 * database with the present schema.
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
