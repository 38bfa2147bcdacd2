/** The audit log. */
import { listChanges } from "../../monitoring/audit.ts";
import { isoTime } from "../../xml/encode.ts";
import { readPage } from "../server/list.ts";
import {
  AFTER,
  AUDIT_SELLER,
  FROM_TIME,
  LIMIT,
  TO_TIME,
  WHO,
} from "../server/parameters.ts";
import { QueryReader } from "../server/query.ts";
import { endpoint } from "../server/route.ts";

export const listAudit = endpoint({
  operation: "listAudit",
  title: "Read the audit log",
  about:
    "The changes by operators, and those of sellers to their keys, newest " +
    "first, and who made them.",
  parameters: [WHO, AUDIT_SELLER, FROM_TIME, TO_TIME, AFTER, LIMIT],
  answers: ["audit"],
}, async (exchange) => {
  const reader = new QueryReader(exchange.query);
  const filter = {
    who: reader.read(WHO),
    seller: reader.read(AUDIT_SELLER),
    since: reader.read(FROM_TIME),
    until: reader.read(TO_TIME),
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
