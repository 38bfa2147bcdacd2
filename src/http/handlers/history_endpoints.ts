/** The price history of a product. */
import { notFound } from "../../lib/errors.ts";
import {
  listPriceChanges,
  NEWEST_PRICE,
  type PricePlace,
  pricesShownSince,
  type ShownPriceChange,
} from "../../catalogue/price_changes.ts";
import { afterSaleSteps } from "../../catalogue/current_price.ts";
import { findBySkuOrId } from "../../catalogue/product_rows.ts";
import { isoTime } from "../../xml/encode.ts";
import { type Cursor, cursor, numberField } from "../server/cursor.ts";
import { readPage } from "../server/list.ts";
import { AFTER, HISTORY_ATTRIBUTE } from "../server/parameters.ts";
import { QueryReader } from "../server/query.ts";
import { endpoint } from "../server/route.ts";

/** How many changes a page has at most. */
const PAGE_CHANGES = 1_000;

export const getHistory = endpoint({
  operation: "getHistory",
  title: "Read the price history",
  about: "The changes of the current price, newest first. Changes are kept " +
    "for SELLER_KEEP_PRICES_DAYS. If the price never changed, the list is " +
    "empty. A product that is created again starts a new history.",
  parameters: [HISTORY_ATTRIBUTE, AFTER],
  answers: ["changes"],
}, async (exchange) => {
  const { query, params, seller, services } = exchange;
  const reader = new QueryReader(query);
  reader.require(HISTORY_ATTRIBUTE);
  reader.read(HISTORY_ATTRIBUTE);
  const after = reader.cursor(PRICE_CURSOR) ?? NEWEST_PRICE;
  reader.finish();
  const product = await services.db.of(seller.no).read(
    (sql) => findBySkuOrId(sql, seller.no, params.sku_or_id),
  );
  if (product === null) throw notFound("product");
  const now = services.deps.clock.now();
  const { kept } = afterSaleSteps(product, now, { inRow: true });
  const of = { sellerNo: seller.no, product: { ...kept, id: product.id } };
  const since = pricesShownSince(now, services.config);
  const { list, next } = await readPage(
    exchange,
    "change",
    { after, limit: PAGE_CHANGES },
    async (sql, place, limit) => {
      const { changes, next } = await listPriceChanges(sql, of, {
        place,
        since,
        limit,
      });
      return {
        entries: changes.map((change) => ({
          node: changeNode(change),
          cursor: change.place,
        })),
        next,
      };
    },
    seller.no,
  );
  return {
    xml: { changes: { change: list }, next: next && PRICE_CURSOR.write(next) },
  };
});

function changeNode({ at, from, to, by }: ShownPriceChange) {
  return {
    at: isoTime(at),
    from: from.price,
    ...(from.currency !== to.currency && { from_currency: from.currency }),
    to: to.price,
    currency: to.currency,
    by: by.what,
    key_id: by.keyId ?? undefined,
  };
}

/** Row 0 stands for the changes in the product's own row. */
const PLACE = cursor<{ row: number; before: number }>({
  row: numberField(/\d{1,15}/y),
  before: numberField(/\d{1,15}/y),
});

const PRICE_CURSOR: Cursor<PricePlace> = {
  write: ({ row, before }) => PLACE.write({ row: row ?? 0, before }),
  parse: (text) => {
    const place = PLACE.parse(text);
    return place && { ...place, row: place.row || null };
  },
};
