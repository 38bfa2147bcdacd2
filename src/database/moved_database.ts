/**
 * Marks a database that was copied to another one and must not be used any
 * more, with a table that no migration creates and no copy contains.
 */
import { type Db, DbError } from "./db.ts";

/** Marks a database; `place` is the place of the copy, without a password. */
export async function markDatabaseMoved(db: Db, place: string): Promise<void> {
  await db.write(async (tx) => {
    await tx.run("CREATE TABLE moved_to (place TEXT NOT NULL)", [], "any");
    await tx.run("INSERT INTO moved_to (place) VALUES (?)", [place], 1);
  }, { order: "moved" });
}

/**
 * The error of opening a marked database; `argument` names it on the command
 * line.
 */
export function databaseMovedError(
  name: string,
  place: string,
  argument: string,
): DbError {
  return new DbError(
    "moved",
    `${name} was copied to ${place}, which the service uses now: set ` +
      "SELLER_DATABASE_URL or SELLER_DATA_DIR to the copy. To use this database " +
      `again, without the changes of the copy since then: \`reopen-database ${argument}\`.`,
  );
}
