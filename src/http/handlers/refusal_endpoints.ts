/** Refused requests, for the seller who sent them and for operators. */
import type { RefusalNode } from "../../contracts/answers.ts";
import {
  KEPT_REFUSAL_DAYS,
  KEPT_REFUSALS,
  type ListedRefusal,
  listRefusals as refusalsOf,
} from "../../sellers/refusals.ts";
import { sellerByName } from "../../sellers/seller_rows.ts";
import { isoTime } from "../../xml/encode.ts";
import type { Exchange } from "../server/exchange.ts";
import { endpoint, type Reply } from "../server/route.ts";
import { detailNode } from "../server/error_answers.ts";
import { readPage } from "../server/list.ts";
import {
  AFTER,
  ENTRIES_SINCE,
  ENTRIES_UNTIL,
  PAGE_SIZE,
  REFUSAL_CODE_FILTER,
  ROUTE_FILTER,
  SELLER_FILTER,
  SKU_OR_REQUEST_FILTER,
} from "../server/parameters.ts";
import { QueryReader } from "../server/query.ts";

const ABOUT_RETENTION = `The last ${KEPT_REFUSALS} refusals of each seller ` +
  `are kept for ${KEPT_REFUSAL_DAYS} days. They are listed newest first`;
const FILTERS = [
  ENTRIES_SINCE,
  ENTRIES_UNTIL,
  REFUSAL_CODE_FILTER,
  ROUTE_FILTER,
  SKU_OR_REQUEST_FILTER,
  AFTER,
  PAGE_SIZE,
];

export const listRefusals = endpoint({
  operation: "listRefusals",
  title: "List refused requests",
  about: "Requests that were refused with a 4xx, with the reasons. " +
    `${ABOUT_RETENTION}. Equal refusals within a minute are one entry; at ` +
    "most half of the entries have the same code.",
  parameters: FILTERS,
  answers: ["refusals"],
}, (exchange) => pageOfRefusals(exchange, exchange.seller.no));

export const listAllRefusals = endpoint({
  operation: "listAllRefusals",
  title: "List refused requests of sellers",
  about: "Requests of sellers that were refused with a 4xx. " +
    `${ABOUT_RETENTION}.`,
  parameters: [SELLER_FILTER, ...FILTERS],
  answers: ["refusals"],
  errors: ["not_found"],
}, async (exchange) => {
  const name = exchange.query.get(SELLER_FILTER.name);
  const seller = name === null
    ? null
    : await exchange.services.db.read((sql) => sellerByName(sql, name));
  return await pageOfRefusals(exchange, seller?.no ?? null);
});

async function pageOfRefusals(
  exchange: Exchange,
  sellerNo: number | null,
): Promise<Reply<"refusals">> {
  const reader = new QueryReader(exchange.query);
  const filter = {
    sellerNo,
    since: reader.read(ENTRIES_SINCE),
    until: reader.read(ENTRIES_UNTIL),
    code: reader.read(REFUSAL_CODE_FILTER),
    route: reader.read(ROUTE_FILTER),
    q: reader.read(SKU_OR_REQUEST_FILTER),
  };
  const place = reader.idPlace();
  await exchange.services.refusals.flush();
  const { list, next, partial } = await readPage(
    exchange,
    "refusal",
    place,
    async (sql, after, limit) => {
      const { found, ...step } = await refusalsOf(sql, filter, {
        after,
        limit,
      });
      const entries = found.map((refusal) => ({
        node: refusalNode(refusal),
        cursor: refusal.id,
      }));
      return { entries, ...step };
    },
    sellerNo,
  );
  return { xml: { refusals: { refusal: list }, next, partial } };
}

function refusalNode(refusal: ListedRefusal): RefusalNode {
  const { details, more } = refusal;
  return {
    at: isoTime(refusal.at),
    request_id: refusal.id,
    times: refusal.times,
    seller: refusal.seller,
    key_id: refusal.keyId,
    client_address: refusal.client,
    route: refusal.route,
    dry_run: refusal.dryRun || undefined,
    name: refusal.name ?? undefined,
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
