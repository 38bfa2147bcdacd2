/** The audit log. */
import { listChanges } from "../../operations/audit.ts";
import { isoTime } from "../../xml/encode.ts";
import { readRows } from "../server/list.ts";
import { AFTER, LIMIT } from "../server/parameters.ts";
import { endpoint } from "../server/route.ts";

export const listAudit = endpoint({
  operation: "listAudit",
  title: "The audit log",
  about: "What operators changed and who did, the newest first.",
  parameters: [AFTER, LIMIT],
  answers: ["audit"],
}, async (context) => {
  const { page, next } = await readRows(context, listChanges, null);
  return {
    xml: {
      audit: {
        entry: page.map(({ at, ...entry }) => ({
          id: entry.id,
          at: isoTime(at),
          who: entry.who,
          action: entry.action,
          seller: entry.seller,
          detail: entry.detail,
        })),
      },
      next,
    },
  };
});
