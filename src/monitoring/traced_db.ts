/** A database whose writes are spans of traces. */
import type { Db } from "../database/db.ts";
import { ofSeller } from "../database/of_seller.ts";
import { boundToSpan, inSpan } from "../lib/tracing.ts";

/**
 * Wraps a database. A write's span includes its function, although the engine
 * calls it later and together with others.
 */
export function tracedDb(db: Db): Db {
  return {
    read: (fn, options) => db.read(fn, options),
    write: (fn, options) =>
      inSpan("db.write", () => db.write(boundToSpan(fn), options)),
    of(sellerNo) {
      return ofSeller(this, sellerNo);
    },
    wakeUps: db.wakeUps,
    spread: db.spread,
    sizes: () => db.sizes(),
    backup: (file) => db.backup(file),
    shortenLockWaits: () => db.shortenLockWaits(),
    inUse: () => db.inUse(),
    close: () => db.close(),
  };
}
