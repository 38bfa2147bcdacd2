/** Tables, described once, and written as SQL for each engine. */

export type Engine = "sqlite" | "postgres";

/** SQL that differs between the engines. */
export type EngineSql = Readonly<Record<Engine, string>>;

/**
 * A type, `?` for a column that may be null, then further SQL, as in
 * `integer? CHECK (n > 0)`.
 *
 * - `text` is ordered by its bytes on both engines: places in lists are cursors.
 * - `id` holds a UUID. PostgreSQL stores it in 16 bytes; a text that is no UUID
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
  /** Columns of further unique keys. */
  unique?: readonly string[];
  /** Tables whose primary keys columns of this one refer to. */
  refersTo?: Readonly<Record<string, string>>;
  /** The same, and rows are deleted with the row that they refer to. */
  belongsTo?: Readonly<Record<string, string>>;
  /**
   * By name, the text that follows `ON table`; a leading `UNIQUE` makes the
   * index unique.
   */
  indexes?: Readonly<Record<string, string | Partial<EngineSql>>>;
  /**
   * The rows are short, and stored in the order of the key: SQLite then keeps
   * no second tree.
   */
  inKeyOrder?: true;
  /** Inserts the rows that it begins with. */
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

/** The columns of a list such as that of a key. */
export function columnList(list: string): string[] {
  return list.split(", ");
}
