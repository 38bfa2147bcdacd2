/** A database on several servers of which one can be reached, on SQLite. */
import {
  type Db,
  IN_REACH,
  type Query,
  type ReadWrite,
  type Sql,
} from "../../src/database/db.ts";

/** As `db` while only the server of this seller can be reached. */
export function withOneServer(db: Db, sellerNo: number): Db {
  const completed = (query: Query) =>
    typeof query === "string"
      ? query.replace(IN_REACH, `AND $1 = ${sellerNo}`)
      : query;
  const own = <T extends Sql>(sql: T): T =>
    new Proxy(sql, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        const method = value.bind(target);
        const takesQuery = ["all", "get", "run", "returning", "runMany"]
          .includes(String(name));
        if (!takesQuery) return method;
        return (query: Query, ...rest: unknown[]) =>
          method(completed(query), ...rest);
      },
    });
  const server: ReadWrite = {
    read: (fn, options) => db.read((sql) => fn(own(sql)), options),
    write: (fn, options) => db.write((tx) => fn(own(tx)), options),
  };
  const spread = { reachable: () => [server] };
  return { ...server, spread } as unknown as Db;
}
