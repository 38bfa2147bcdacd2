/** What a product cost before. */
import { notFound } from "../../lib/errors.ts";
import {
  listPriceChanges,
  pricesShownSince,
  type ShownPriceChange,
} from "../../catalogue/price_changes.ts";
import { findBySkuOrId } from "../../catalogue/product_rows.ts";
import { isoTime } from "../../xml/encode.ts";
import { readPage } from "../server/list.ts";
import { AFTER, HISTORY_ATTRIBUTE } from "../server/parameters.ts";
import { QueryReader } from "../server/query.ts";
import { endpoint } from "../server/route.ts";

/** Changes of a page at most. */
const PAGE = 1_000;

export const getHistory = endpoint({
  operation: "getHistory",
  title: "Read former prices",
  about:
    "The changes of the price of a product, the newest first, as long as " +
    "SELLER_KEEP_PRICES_DAYS says. A product that was never changed has none; " +
    "one that is created again begins anew.",
  parameters: [HISTORY_ATTRIBUTE, AFTER],
  answers: ["changes"],
}, async (context) => {
  const { query, params, seller, services } = context;
  const reader = new QueryReader(query);
  reader.require(HISTORY_ATTRIBUTE);
  reader.read(HISTORY_ATTRIBUTE);
  const after = reader.cursor(parseTime);
  reader.finish();
  const product = await services.db.read(
    (sql) => findBySkuOrId(sql, seller.no, params.sku_or_id),
    { seller: seller.no },
  );
  if (product === null) throw notFound("product");
  const of = { sellerNo: seller.no, productId: product.id };
  const since = pricesShownSince(services.deps.clock.now(), services.config);
  const place = { after: after ?? product.price_since, limit: PAGE };
  const { list, next } = await readPage(
    context,
    "change",
    place,
    async (sql, latest, limit) => {
      const changes = latest === null
        ? []
        : await listPriceChanges(sql, of, { latest, since, limit });
      const former = changes.at(-1)?.former_at ?? null;
      return {
        entries: changes.map((change) => ({
          node: changeNode(change),
          cursor: change.former_at,
        })),
        next: former !== null && former > since ? former : null,
      };
    },
    seller.no,
  );
  return { xml: { changes: { change: list }, next } };
});

function changeNode(change: ShownPriceChange) {
  const { changed_at, from_price, from_currency, price, currency, changed_by } =
    change;
  return {
    at: isoTime(changed_at),
    from: from_price,
    ...(from_currency !== currency && { from_currency }),
    to: price,
    currency,
    by: changed_by,
  };
}

/** A place is the time of a change. */
function parseTime(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}
