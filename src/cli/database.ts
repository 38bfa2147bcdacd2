/** Opens the database for a command, while a service may be running. */
import type { Config } from "../config.ts";
import type { Db } from "../database/db.ts";
import { openDatabase } from "../database/open.ts";
import type { ListPage } from "../database/scan.ts";
import type { Contents } from "../database/sqlite/schema.ts";
import type { Command, CommandContext } from "./command.ts";
import { dataFlag } from "./flags.ts";

/**
 * Runs `fn` on the database. Only a command with `create` creates a missing
 * database; others throw a `missing` DbError.
 */
export async function withDatabase<T>(
  config: Config,
  fn: (db: Db) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  const db = await openDatabase(config, { create });
  try {
    return await fn(db);
  } finally {
    await db.close();
  }
}

/** The line that lists the contents of a backup. */
export function contentsLine(contents: Contents): string {
  const rows = contents.map(({ table, rows }) => `${rows} of ${table}`);
  return `rows: ${rows.join(", ")}`;
}

/** All rows of a log, read page by page. */
export async function* allRows<T>(
  readPage: (after: string | null) => Promise<ListPage<T>>,
): AsyncGenerator<T, void> {
  let after: string | null = null;
  do {
    const { found, next }: ListPage<T> = await readPage(after);
    yield* found;
    after = next;
  } while (after !== null);
}

interface DatabaseCommand
  extends
    Pick<Command, "name" | "summary">,
    Partial<Pick<Command, "arguments" | "flags">> {
  run(context: CommandContext & { db: Db }): Promise<void>;
}

/** A command that needs only the database, with the flag `--data`. */
export function databaseCommand(
  { run, arguments: words = [], flags = [], ...named }: DatabaseCommand,
): Command {
  return {
    ...named,
    arguments: words,
    flags: [...flags, dataFlag],
    run: (context) =>
      withDatabase(context.config, (db) => run({ ...context, db })),
  };
}

/** Whether a file or folder with that name exists. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    // NotADirectory: the path continues below a file.
    const { NotFound, NotADirectory } = Deno.errors;
    if (error instanceof NotFound || error instanceof NotADirectory) {
      return false;
    }
    throw error;
  }
}

/** Resolves when the data of a file is on disk. */
export async function sync(file: string): Promise<void> {
  using opened = await Deno.open(file, { read: true, write: true });
  await opened.sync();
}
