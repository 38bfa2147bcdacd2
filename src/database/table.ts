/** Table declarations, and the SQL that creates them on each engine. */

export type Engine = "sqlite" | "postgres";

/** SQL that differs between the engines. */
export type EngineSql = Readonly<Record<Engine, string>>;

/**
 * A type, `?` for a column that may be null, then further SQL, as in `integer?
 * CHECK (n > 0)`.
 * - `text` is ordered by its bytes on both engines: cursors of lists depend on
 *   it.
 * - `id` contains a UUID. PostgreSQL stores it in 16 bytes; a text that is no UUID
 *   must not be compared with one (`readId`). SQLite has no type for it, and
 *   bytes would be no faster there than text.
 */
export type Column = `${"integer" | "text" | "id" | "bytes"}${"" | "?"}${
  | ""
  | ` ${string}`}`;

export interface Table {
  name: string;
  columns: Readonly<Record<string, Column>>;
  /** Columns of the primary key. */
  key: string;
  /** Columns of other unique keys. */
  unique?: readonly string[];
  /** By table: the columns that refer to its primary key. */
  refersTo?: Readonly<Record<string, string>>;
  /** Like `refersTo`, and a row is deleted with the row that it refers to. */
  belongsTo?: Readonly<Record<string, string>>;
  /**
   * By name, the text that follows `ON table`; a leading `UNIQUE` makes the
   * index unique.
   */
  indexes?: Readonly<Record<string, string | Partial<EngineSql>>>;
  /**
   * The rows are short and stored in the order of the key, so that SQLite keeps
   * no second tree.
   */
  inKeyOrder?: true;
  /** SQL that inserts the table's initial rows. */
  first?: string;
}

const TYPES: Readonly<Record<string, EngineSql>> = {
  integer: { sqlite: "INTEGER", postgres: "BIGINT" },
  text: { sqlite: "TEXT", postgres: 'TEXT COLLATE "C"' },
  id: { sqlite: "TEXT", postgres: "UUID" },
  bytes: { sqlite: "BLOB", postgres: "BYTEA" },
};

/** Creates tables; each must follow those that it refers to. */
export function createTables(tables: readonly Table[]): EngineSql {
  const write = (engine: Engine) =>
    tables.map((table) => createTable(table, engine)).join("\n");
  return { sqlite: write("sqlite"), postgres: write("postgres") };
}

function createTable(table: Table, engine: Engine): string {
  const { name, columns, key, unique = [], indexes = {}, first } = table;
  const { refersTo = {}, belongsTo = {}, inKeyOrder } = table;
  const lines = [
    ...Object.entries(columns).map(([column, type]) =>
      `${column} ${columnType(type, engine)}`
    ),
    `PRIMARY KEY (${key})`,
    ...unique.map((columns) => `UNIQUE (${columns})`),
    ...foreignKeys(refersTo, ""),
    ...foreignKeys(belongsTo, " ON DELETE CASCADE"),
  ];
  const rowids = inKeyOrder === undefined ? "" : ", WITHOUT ROWID";
  const end = engine === "sqlite" ? ` STRICT${rowids}` : "";
  return [
    `CREATE TABLE ${name} (\n  ${lines.join(",\n  ")}\n)${end};`,
    ...Object.entries(indexes).flatMap(([index, on]) =>
      createIndex(name, index, typeof on === "string" ? on : on[engine])
    ),
    ...(first === undefined ? [] : [`${first};`]),
  ].join("\n");
}

/** SQL that adds a column, which is null or has a default, to a table. */
export function addTableColumn(
  table: string,
  column: string,
  type: Column,
): EngineSql {
  const write = (engine: Engine) =>
    `ALTER TABLE ${table} ADD COLUMN ${column} ${columnType(type, engine)};`;
  return { sqlite: write("sqlite"), postgres: write("postgres") };
}

function columnType(column: Column, engine: Engine): string {
  const [, type, nullable, more] = /^(\w+)(\??)([^]*)$/.exec(column)!;
  const notNull = nullable === "?" ? "" : " NOT NULL";
  return `${TYPES[type][engine]}${notNull}${more}`;
}

function foreignKeys(
  keys: Readonly<Record<string, string>>,
  more: string,
): string[] {
  return Object.entries(keys).map(([table, columns]) =>
    `FOREIGN KEY (${columns}) REFERENCES ${table}${more}`
  );
}

function createIndex(
  table: string,
  name: string,
  on: string | undefined,
): string[] {
  if (on === undefined) return [];
  const [, unique, columns] = /^(UNIQUE )?(.*)$/s.exec(on)!;
  return [`CREATE ${unique ?? ""}INDEX ${name} ON ${table} ${columns};`];
}

/** The column names of a list such as `key`. */
export function columnList(list: string): string[] {
  return list.split(", ");
}
