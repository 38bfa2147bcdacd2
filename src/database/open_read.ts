/** The queries of a read, which fail after its end. */
import {
  DbError,
  ended,
  type Param,
  type Query,
  type ReadOptions,
  type Sql,
} from "./db.ts";

/** Calls `fn` with queries that can be used until it has ended. */
export async function readBy<T>(
  sql: Sql,
  fn: (sql: Sql) => Promise<T>,
  { single = false }: ReadOptions,
): Promise<T> {
  let hasRead = false;
  let hasEnded = false;
  const next = () => {
    if (hasEnded) throw ended();
    // It has no transaction.
    if (single && hasRead) {
      throw new DbError("other", "A read of one statement made a second one.");
    }
    hasRead = true;
    return sql;
  };
  try {
    return await fn({
      all: async <T>(query: Query, params?: readonly Param[]) =>
        await next().all<T>(query, params),
      get: async <T>(query: Query, params?: readonly Param[]) =>
        await next().get<T>(query, params),
      ofPart: (column) => sql.ofPart(column),
      changeHorizon: async () => await next().changeHorizon(),
    });
  } finally {
    hasEnded = true;
  }
}
