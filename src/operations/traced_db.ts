/** A database whose writes are spans of traces. */
import type { Db, Part } from "../database/db.ts";
import { boundToSpan, inSpan } from "../lib/tracing.ts";

/** A part whose writes are spans. */
function tracedPart(part: Part): Part {
  return {
    read: (fn, options) => part.read(fn, options),
    write: (fn, options) =>
      inSpan("db.write", () => part.write(boundToSpan(fn), options)),
  };
}

/**
 * Wraps a database. A write's span includes its function, although the engine
 * calls it later and together with others.
 */
export function tracedDb(db: Db): Db {
  return {
    wakeUps: db.wakeUps,
    ...tracedPart(db),
    parts: () => db.parts().map(tracedPart),
    partOf: (sellerNo) => db.partOf(sellerNo),
    spread: db.spread,
    sizes: () => db.sizes(),
    backup: (file) => db.backup(file),
    hurry: () => db.hurry(),
    held: () => db.held(),
    close: () => db.close(),
  };
}
