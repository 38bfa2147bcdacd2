/** Single products, read and changed by sellers and operators. */
import { notFound } from "../../lib/errors.ts";
import {
  type ChangeCursor,
  changedProducts,
  FIRST_CHANGE,
  listProducts as productPage,
  type ProductFilter,
  shownImages,
} from "../../catalogue/product_lists.ts";
import { findBySkuOrId } from "../../catalogue/product_rows.ts";
import { productNode, tombstoneNode } from "../../catalogue/product_xml.ts";
import type { Sql } from "../../database/db.ts";
import type { Handler, Reply, RequestContext } from "../server/context.ts";
import { readPage } from "../server/list.ts";
import { SEARCH, STATUS, UPDATED_SINCE } from "../server/parameters.ts";
import { QueryReader } from "../server/query.ts";
import { updateAttribute } from "../../catalogue/attribute.ts";
import { BEFORE_ALL_IDS, readId } from "../../lib/ids.ts";
import { deleteProduct as deleteOne } from "../../catalogue/deletion.ts";

/** `GET /seller_api/products/:sku_or_id` */
export const getProduct: Handler<"product"> = ({ services, seller, params }) =>
  services.db.read(async (sql) => {
    const product = await findBySkuOrId(sql, seller.no, params.sku_or_id);
    if (product === null) throw notFound("product");
    const images = await shownImages(sql, [product]);
    return { xml: { product: productNode(product, images) } };
  });

/** `GET /seller_api/products` */
export const listProducts: Handler<"products"> = async (context) => {
  const reader = new QueryReader(context.query);
  const place = {
    after: reader.idCursor() ?? BEFORE_ALL_IDS,
    limit: reader.limit(),
  };
  const filter = readFilter(reader);
  reader.finish();
  const { list, after, more } = await readPage(
    context,
    "product",
    place,
    (sql, after, limit) =>
      readProducts(sql, context.seller.no, filter, { after, limit }),
  );
  return {
    xml: { products: { product: list }, next: more ? after : undefined },
  };
};

async function readProducts(
  sql: Sql,
  sellerNo: number,
  filter: ProductFilter,
  place: { after: string; limit: number },
) {
  const { products, next, scanned } = await productPage(
    sql,
    sellerNo,
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
    status: reader.read(STATUS),
    updatedSince: reader.read(UPDATED_SINCE),
    text: reader.read(SEARCH) || null,
  };
}

/** `PUT /seller_api/products/:sku_or_id/attribute/:attribute/:value` */
export async function putAttribute(context: RequestContext): Promise<Reply> {
  const { params, seller, services } = context;
  await updateAttribute(services, {
    seller,
    skuOrId: params.sku_or_id,
    attribute: params.attribute,
    value: params.value,
  });
  return { status: 204 };
}

/** `DELETE /seller_api/products/:sku_or_id` */
export async function deleteProduct(
  context: RequestContext,
): Promise<Reply<"success">> {
  const { params, seller, services } = context;
  await deleteOne(services, { seller, skuOrId: params.sku_or_id });
  return { xml: { success: true } };
}

/**
 * `GET /operator_api/products`: the latest state of each changed product, or
 * its tombstone, in the order of change. Every page except an empty one has a
 * `<next>`.
 */
export const followProducts: Handler<"products"> = async (context) => {
  const reader = new QueryReader(context.query);
  const place = {
    after: reader.cursor(parseCursor) ?? FIRST_CHANGE,
    limit: reader.limit(),
  };
  reader.finish();
  const { list, after } = await readPage(
    context,
    "product",
    place,
    readChanges,
  );
  return {
    xml: {
      products: { product: list },
      next: list.count === 0 ? undefined : `${after.change}-${after.productId}`,
    },
  };
};

async function readChanges(sql: Sql, after: ChangeCursor, count: number) {
  const changes = await changedProducts(sql, after, count);
  const products = changes.flatMap((change) =>
    "product" in change ? [change.product] : []
  );
  const images = await shownImages(sql, products);
  const entries = changes.map((change) => ({
    node: "product" in change
      ? productNode(change.product, images, change.owner)
      : tombstoneNode(change.tombstone),
    cursor: change.cursor,
  }));
  const full = changes.length === count;
  return { entries, next: full ? entries[count - 1].cursor : null };
}

function parseCursor(text: string): ChangeCursor | null {
  const match = /^(\d{1,16})-([0-9a-f-]{36})$/.exec(text);
  const productId = match === null ? null : readId(match[2]);
  if (productId === null) return null;
  return { change: Number(match![1]), productId };
}
