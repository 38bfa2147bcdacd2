/**
 * Marks a database that was copied to another one and must not be used any
 * more, by a table that no migration creates and no copy contains.
 */
import { type Db, DbError } from "./db.ts";

/** Marks a database; `place` says where it is now, without a password. */
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
      "SELLER_DATABASE_URL or SELLER_DATA_DIR to that one. To use this one " +
      `again, without what the other one received since: \`reopen-database ${argument}\`.`,
  );
}
