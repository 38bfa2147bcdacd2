/** What a seller reads out: products and recent transactions (extensions). */
import { notFound } from "../lib/errors.ts";
import { type Status, STATUSES } from "../catalogue/fields.ts";
import {
  listProducts as productPage,
  type ProductFilter,
  shownImages,
} from "../catalogue/product_lists.ts";
import { fits } from "../lib/values.ts";
import { findBySkuOrId } from "../catalogue/product_rows.ts";
import { listTransactions as transactionsOf } from "../catalogue/transaction_rows.ts";
import { productNode } from "../catalogue/product_xml.ts";
import type { Sql } from "../database/db.ts";
import type { Handler } from "./context.ts";
import { readPage } from "./list.ts";
import { QueryReader } from "./paging.ts";
import { progressRecord } from "./transaction_xml.ts";

/** Characters of a search at most. */
const SEARCH_MAX = 150;

/** `GET /seller_api/products/:sku_or_id` */
export const getProduct: Handler<"product"> = ({ services, seller, params }) =>
  services.db.read(async (sql) => {
    const product = await findBySkuOrId(sql, seller.id, params.sku_or_id);
    if (product === null) throw notFound("product");
    const images = await shownImages(sql, [product]);
    return { xml: { product: productNode(product, images) } };
  });

/** `GET /seller_api/products` */
export const listProducts: Handler<"products"> = async (context) => {
  const reader = new QueryReader(context.query);
  const place = { after: reader.idCursor() ?? "", limit: reader.limit() };
  const filter = readFilter(reader);
  reader.finish();
  const { list, after, more } = await readPage(
    context,
    "product",
    place,
    (sql, after, limit) =>
      readProducts(sql, context.seller.id, filter, { after, limit }),
  );
  return {
    xml: { products: { product: list }, next: more ? after : undefined },
  };
};

async function readProducts(
  sql: Sql,
  sellerId: string,
  filter: ProductFilter,
  place: { after: string; limit: number },
) {
  const { products, next, scanned } = await productPage(
    sql,
    sellerId,
    filter,
    place,
  );
  const images = await shownImages(sql, products);
  const entries = products.map((product) => ({
    node: productNode(product, images),
    cursor: product.id,
  }));
  return { entries, next, scanned };
}

function readFilter(reader: QueryReader): ProductFilter {
  return {
    status: reader.read(
      "status",
      (text) => STATUSES.includes(text as Status) ? text as Status : null,
      "not_in_list",
      `one of ${STATUSES.join(", ")}`,
    ),
    updatedSince: reader.time("updated_since"),
    text: reader.read(
      "q",
      (text) => fits(text, SEARCH_MAX) ? text.trim() : null,
      "too_long",
      `a text of at most ${SEARCH_MAX} characters`,
    ) || null,
  };
}

/** `GET /seller_api/bulk_products`: the newest first. */
export const listTransactions: Handler<"transactions"> = async (
  { services, seller, query },
) => {
  const reader = new QueryReader(query);
  const before = reader.idCursor();
  const limit = reader.limit();
  reader.finish();
  const found = await services.db.read((sql) =>
    transactionsOf(sql, seller.id, { before, limit: limit + 1 })
  );
  const page = found.slice(0, limit);
  return {
    xml: {
      transactions: { transaction: page.map(progressRecord) },
      next: found.length > limit ? page[limit - 1].id : undefined,
    },
  };
};
