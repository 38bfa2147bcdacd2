/** The audit log. */
import { listChanges } from "../../monitoring/audit.ts";
import { isoTime } from "../../xml/encode.ts";
import { readPage } from "../server/list.ts";
import {
  AFTER,
  AUDIT_SELLER_FILTER,
  ENTRIES_SINCE,
  ENTRIES_UNTIL,
  PAGE_SIZE,
  WHO_FILTER,
} from "../server/parameters.ts";
import { QueryReader } from "../server/query.ts";
import { endpoint } from "../server/route.ts";

export const listAudit = endpoint({
  operation: "listAudit",
  title: "Read the audit log",
  about:
    "The changes by operators, and those of sellers to their keys, newest " +
    "first, and who made them.",
  parameters: [
    WHO_FILTER,
    AUDIT_SELLER_FILTER,
    ENTRIES_SINCE,
    ENTRIES_UNTIL,
    AFTER,
    PAGE_SIZE,
  ],
  answers: ["audit"],
}, async (exchange) => {
  const reader = new QueryReader(exchange.query);
  const filter = {
    who: reader.read(WHO_FILTER),
    seller: reader.read(AUDIT_SELLER_FILTER),
    since: reader.read(ENTRIES_SINCE),
    until: reader.read(ENTRIES_UNTIL),
  };
  const place = reader.idPlace();
  const { list, next } = await readPage(
    exchange,
    "entry",
    place,
    async (sql, after, limit) => {
      const { found, ...step } = await listChanges(sql, filter, {
        after,
        limit,
      });
      const entries = found.map(({ at, ...entry }) => ({
        node: {
          id: entry.id,
          at: isoTime(at),
          who: entry.who,
          action: entry.action,
          seller: entry.seller,
          detail: entry.detail,
        },
        cursor: entry.id,
      }));
      return { entries, ...step };
    },
    null,
  );
  return { xml: { audit: { entry: list }, next } };
});
