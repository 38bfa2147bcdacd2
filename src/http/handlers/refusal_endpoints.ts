/** Refused requests, for the seller who sent them and for operators. */
import type { RefusalNode } from "../../contracts/answers.ts";
import {
  type ListedRefusal,
  listRefusals as refusalsOf,
} from "../../sellers/refusals.ts";
import { sellerByName } from "../../sellers/seller_rows.ts";
import { isoTime } from "../../xml/encode.ts";
import type { Reply, RequestContext } from "../server/context.ts";
import { detailNode } from "../server/error_answers.ts";
import { pageOf, readPage } from "../server/list.ts";
import { AFTER, LIMIT, SELLER } from "../server/parameters.ts";
import { QueryReader } from "../server/query.ts";
import { endpoint } from "../server/route.ts";

export const listRefusals = endpoint({
  operation: "listRefusals",
  title: "Refused requests",
  about: "The last 100, the newest first: what was refused with a 4xx, and " +
    "why.",
  parameters: [AFTER, LIMIT],
  answers: ["refusals"],
}, (context) => pageOfRefusals(context, context.seller.no));

export const listAllRefusals = endpoint({
  operation: "listAllRefusals",
  title: "Refused requests of sellers",
  about: "The last 100 of each seller, the newest first.",
  parameters: [SELLER, AFTER, LIMIT],
  answers: ["refusals"],
  errors: ["not_found"],
}, async (context) => {
  const name = context.query.get(SELLER.name);
  const seller = name === null
    ? null
    : await context.services.db.read((sql) => sellerByName(sql, name));
  return await pageOfRefusals(context, seller?.no ?? null);
});

async function pageOfRefusals(
  context: RequestContext,
  sellerNo: number | null,
): Promise<Reply<"refusals">> {
  const place = new QueryReader(context.query).idPlace();
  await context.services.refusals.flush();
  const { list, after, more } = await readPage(
    context,
    "refusal",
    place,
    async (sql, after, count) => {
      const found = await refusalsOf(sql, {
        sellerNo,
        after,
        limit: count + 1,
      });
      const { page, next = null } = pageOf(found, count);
      return {
        entries: page.map((refusal) => ({
          node: refusalNode(refusal),
          cursor: refusal.id,
        })),
        next,
      };
    },
  );
  return {
    xml: {
      refusals: { refusal: list },
      next: more ? after ?? undefined : undefined,
    },
  };
}

function refusalNode(refusal: ListedRefusal): RefusalNode {
  const { details, more } = refusal;
  return {
    at: isoTime(refusal.at),
    request_id: refusal.id,
    seller: refusal.seller,
    route: refusal.route,
    status: refusal.status,
    code: refusal.code,
    message: refusal.message,
    size: refusal.size,
    details: details.length + more === 0 ? undefined : {
      detail: details.map(detailNode),
      more: more === 0 ? undefined : more,
    },
  };
}
