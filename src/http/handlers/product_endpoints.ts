/** Products: a seller's own for the seller, all products for operators. */
import type { Services } from "../../services.ts";
import { notFound } from "../../lib/errors.ts";
import {
  changedProducts,
  type DeletionPlace,
  type IndexOrder,
  listDeletions,
  listProducts as productPage,
  type ProductFilter,
  productsInOrder,
  shownImages,
} from "../../catalogue/product_lists.ts";
import {
  placeOfValues,
  placeValues,
  type Rank,
  RANKED_PRODUCTS,
  type RankedPlace,
  Ranking,
} from "../../catalogue/ranked_products.ts";
import { contactsOf } from "../../catalogue/contact.ts";
import { contactContents } from "../../catalogue/contact_rows.ts";
import type { Product } from "../../catalogue/product.ts";
import { SCALAR_RULES, type Status } from "../../catalogue/fields.ts";
import { findBySkuOrId } from "../../catalogue/product_rows.ts";
import {
  productNode,
  type Shown,
  tombstoneNode,
} from "../../catalogue/product_xml.ts";
import type { Sql } from "../../database/db.ts";
import {
  cursor,
  ID_CURSOR,
  ID_FIELD,
  jsonCursor,
  numberField,
} from "../server/cursor.ts";
import { readPage } from "../server/list.ts";
import {
  AFTER,
  DIFFERENCE,
  EXPECTED_VALUE,
  GTIN_FILTER,
  IDEMPOTENCY_KEY,
  IMAGES_FILTER,
  ORDER,
  PAGE_SIZE,
  PRODUCT_SEARCH,
  REVIEW_FILTER,
  SORT,
  STATUS_FILTER,
  UPDATED_SINCE,
  waitUntil,
} from "../server/parameters.ts";
import { Signal } from "../../jobs/signals.ts";
import { pollUntil, waitInSlot } from "./waiting.ts";
import { QueryReader, readOption } from "../server/query.ts";
import { readIdempotencyKey, replayHeaders } from "./upload_endpoints.ts";
import { updateAttribute } from "../../catalogue/attribute.ts";
import { deleteProduct as deleteOne } from "../../catalogue/deletion.ts";
import type { Exchange } from "../server/exchange.ts";
import { endpoint, type Reply } from "../server/route.ts";
import { type ChangeCursor, FIRST_CHANGE } from "../../database/change_feed.ts";
import { CHANGE_CURSOR } from "./change_cursor.ts";

export const getProduct = endpoint(
  {
    operation: "getProduct",
    title: "Read a product",
    about: "The fields of the product, its times, and the state of its images.",
    answers: ["product"],
  },
  ({ services, seller, params }) =>
    services.db.of(seller.no).read(async (sql) => {
      const product = await findBySkuOrId(sql, seller.no, params.sku_or_id);
      if (product === null) throw notFound("product");
      const url = services.publicUrl();
      const images = await shownImages(sql, seller.no, [product], url);
      const now = services.deps.clock.now();
      return { xml: { product: productNode(product, { images, now }) } };
    }),
);

export const listProducts = endpoint({
  operation: "listProducts",
  title: "List products",
  about: "Your products, by default in the order of creation: paging then " +
    "neither repeats nor misses a product while others are written. In " +
    "another order, a product that changes meanwhile may be repeated or " +
    `missed. Up to ${RANKED_PRODUCTS} products can be sorted by title, ` +
    "price, quantity or updated_at. The content of <products> can be " +
    "uploaded unchanged. With a filter, a page may be short or empty before " +
    "the end: continue while there is a <next>.",
  parameters: [
    AFTER,
    PAGE_SIZE,
    UPDATED_SINCE,
    STATUS_FILTER,
    REVIEW_FILTER,
    IMAGES_FILTER,
    GTIN_FILTER,
    PRODUCT_SEARCH,
    SORT,
    ORDER,
  ],
  answers: ["products"],
}, async (exchange) => {
  const reader = new QueryReader(exchange.query);
  if (exchange.query.get(STATUS_FILTER.name) === "deleted") {
    return await listDeleted(exchange, reader);
  }
  const sort = reader.read(SORT) ?? "created_at";
  const descending = reader.read(ORDER) === "desc";
  switch (sort) {
    case "created_at":
      return await listByIndex(exchange, reader, { column: "id", descending });
    case "sku":
      return await listByIndex(exchange, reader, { column: "sku", descending });
    default:
      return await listByRank(exchange, reader, { column: sort, descending });
  }
});

async function listByIndex(
  exchange: Exchange,
  reader: QueryReader,
  order: IndexOrder,
): Promise<Reply<"products">> {
  const cursor = order.column === "id" ? ID_CURSOR : SKU_CURSOR;
  const place = { after: reader.cursor(cursor), limit: reader.limit() };
  const filter = readFilter(reader);
  reader.finish();
  const { no } = exchange.seller;
  const { list, next } = await readPage(
    exchange,
    "product",
    place,
    async (sql, after, limit) => {
      const { found, ...step } = await productPage(sql, no, filter, order, {
        after,
        limit,
      });
      const nodes = await productNodes(exchange, sql, found);
      const entries = nodes.map((node, i) => ({
        node,
        cursor: found[i][order.column],
      }));
      return { entries, ...step };
    },
    no,
  );
  return {
    xml: { products: { product: list }, next: next && cursor.write(next) },
  };
}

const SKU_CURSOR = jsonCursor<string>({
  toJson: (sku) => sku,
  fromJson: (value) => {
    const read = typeof value === "string" && SCALAR_RULES.sku.read(value);
    return read && "value" in read ? `${read.value}` : null;
  },
});

async function listByRank(
  exchange: Exchange,
  reader: QueryReader,
  rank: Rank,
): Promise<Reply<"products">> {
  const cursor = jsonCursor<RankedPlace>({
    toJson: (place) => placeValues(rank, place),
    fromJson: (values) => placeOfValues(rank, values),
  });
  const after = reader.cursor(cursor);
  const limit = reader.limit();
  const filter = readFilter(reader);
  reader.finish();
  const { no } = exchange.seller;
  // One product more than the page has shows whether the list continues.
  const ranking = new Ranking(no, filter, rank, { after, limit: limit + 1 });
  const { list, next } = await readPage(
    exchange,
    "product",
    { after: 0, limit },
    async (sql, from, count) => {
      if (!ranking.isComplete) {
        await ranking.examine(sql);
        return { entries: [], next: from };
      }
      const to = from + count;
      const places = ranking.places.slice(from, to);
      const found = await productsInOrder(sql, no, places);
      const nodes = await productNodes(exchange, sql, found);
      const entries = nodes.map((node, i) => ({
        node,
        cursor: from + 1 + places.findIndex(({ id }) => id === found[i].id),
      }));
      return { entries, next: to < ranking.places.length ? to : null };
    },
    no,
  );
  return {
    xml: {
      products: { product: list },
      next: next && cursor.write(ranking.places[next - 1]),
    },
  };
}

/**
 * The list of deletions, where `updated_since` refers to the time of deletion.
 */
async function listDeleted(
  exchange: Exchange,
  reader: QueryReader,
): Promise<Reply<"products">> {
  const place = {
    after: reader.cursor(DELETION_CURSOR),
    limit: reader.limit(),
  };
  const filter = {
    since: reader.read(UPDATED_SINCE),
    text: reader.read(PRODUCT_SEARCH) || null,
  };
  for (
    const { name } of [REVIEW_FILTER, IMAGES_FILTER, GTIN_FILTER, SORT, ORDER]
  ) {
    if (!exchange.query.has(name)) continue;
    reader.addProblem(
      name,
      "not_allowed",
      "cannot be combined with status=deleted; leave it out.",
    );
  }
  reader.finish();
  const { seller } = exchange;
  const { list, next } = await readPage(
    exchange,
    "product",
    place,
    async (sql, after, limit) => {
      const { found, ...step } = await listDeletions(sql, seller.no, filter, {
        after,
        limit,
      });
      const entries = found.map((deletion) => ({
        node: tombstoneNode(deletion),
        cursor: deletion,
      }));
      return { entries, ...step };
    },
    seller.no,
  );
  return {
    xml: {
      products: { product: list },
      next: next && DELETION_CURSOR.write(next),
    },
  };
}

const DELETION_CURSOR = cursor<DeletionPlace>({
  deletedAt: numberField(/\d{1,16}/y),
  id: ID_FIELD,
});

async function productNodes(
  { services, seller }: Exchange,
  sql: Sql,
  products: readonly Product[],
) {
  const url = services.publicUrl();
  const images = await shownImages(sql, seller.no, products, url);
  const now = services.deps.clock.now();
  return products.map((product) => productNode(product, { images, now }));
}

function readFilter(reader: QueryReader): ProductFilter {
  return {
    status: reader.read(STATUS_FILTER) as Status | null,
    review: reader.read(REVIEW_FILTER),
    updatedSince: reader.read(UPDATED_SINCE),
    text: reader.read(PRODUCT_SEARCH) || null,
    images: reader.read(IMAGES_FILTER),
    gtin: reader.read(GTIN_FILTER),
  };
}

export const putAttribute = endpoint({
  operation: "putAttribute",
  title: "Change one attribute",
  about: "The rules of uploads apply. A body is ignored. With an " +
    "Idempotency-Key, a repeated request is executed only once.",
  parameters: [EXPECTED_VALUE, DIFFERENCE, IDEMPOTENCY_KEY],
  answers: null,
  errors: ["record_invalid", "changed_since"],
}, async (exchange) => {
  const { owner, params, query, request, seller, services } = exchange;
  const { repeated } = await updateAttribute(services, {
    seller,
    priceJump: owner?.priceJump ?? null,
    skuOrId: params.sku_or_id,
    attribute: params.attribute,
    value: params.value,
    expected: query.get(EXPECTED_VALUE.name),
    isDifference: readOption(query, DIFFERENCE) ?? false,
    idempotency: readIdempotencyKey(request),
  });
  return { status: 204, headers: replayHeaders(repeated) };
});

export const deleteProduct = endpoint({
  operation: "deleteProduct",
  title: "Delete a product",
  about:
    "The SKU can be used again at once. Variants of the product stay, and so " +
    "do images that other products have.",
  answers: ["success"],
}, async (exchange) => {
  const { params, seller, services } = exchange;
  await deleteOne(services, { seller, skuOrId: params.sku_or_id });
  return { xml: { success: true } };
});

const CHANGE_WAIT = waitUntil("a product changes");

export const followProducts = endpoint({
  operation: "followProducts",
  title: "Follow the catalogue",
  about:
    "The latest state of each changed product of all sellers, in the order " +
    "of change. A product also changes when one of its images is stored or " +
    "fails. A deleted product has deleted_at, and only its id and SKU. " +
    "Products contain whole contacts. seller_id never changes, even if the " +
    "seller is renamed. Every page that is not empty has a <next>, which " +
    "never expires: store it, and send it as after in the next request. With " +
    "wait, an empty page has a <next>, too: the cursor of the request.",
  parameters: [AFTER, PAGE_SIZE, CHANGE_WAIT],
  answers: ["followed_products"],
  waits: true,
}, async (exchange) => {
  const waitMs = readOption(exchange.query, CHANGE_WAIT) ?? 0;
  const reader = new QueryReader(exchange.query);
  const place = {
    after: reader.cursor(CHANGE_CURSOR) ?? FIRST_CHANGE,
    limit: reader.limit(),
  };
  reader.finish();
  if (waitMs > 0) await waitForChange(exchange, place.after, waitMs);
  const { list, after } = await readPage(
    exchange,
    "product",
    place,
    (sql, after, count) => readChanges(exchange.services, sql, after, count),
    null,
  );
  return {
    xml: {
      products: { product: list },
      next: list.count === 0 && waitMs === 0
        ? undefined
        : CHANGE_CURSOR.write(after),
    },
  };
});

/**
 * Waits for a change after a place. No signal announces all changes, so this
 * function reads twice a second.
 */
async function waitForChange(
  exchange: Exchange,
  after: ChangeCursor,
  ms: number,
): Promise<void> {
  const { db } = exchange.services;
  const readNext = async () => {
    const changes = await db.read((sql) => changedProducts(sql, after, 1));
    return changes.length > 0 ? true : null;
  };
  const awaited = { signal: new Signal(), key: "" };
  await waitInSlot(
    exchange,
    ms,
    (abort) => pollUntil(exchange, awaited, abort, readNext),
  );
}

async function readChanges(
  services: Services,
  sql: Sql,
  after: ChangeCursor,
  count: number,
) {
  const changes = await changedProducts(sql, after, count);
  const shown = changes.flatMap((change) => "product" in change ? change : []);
  const shownBy = new Map(
    await Promise.all(
      Array.from(
        Map.groupBy(shown, ({ owner }) => owner.no),
        async ([no, ofSeller]) => {
          const products = ofSeller.map(({ product }) => product);
          return [no, await readShown(services, sql, no, products)] as const;
        },
      ),
    ),
  );
  const entries = changes.map((change) => ({
    node: "product" in change
      ? productNode(change.product, shownBy.get(change.owner.no)!, change.owner)
      : tombstoneNode(change.tombstone),
    cursor: change.cursor,
  }));
  const isFull = changes.length === count;
  return { entries, next: isFull ? entries[count - 1].cursor : null };
}

/** Reads the images and contacts that products of a seller refer to. */
async function readShown(
  { deps, publicUrl }: Services,
  sql: Sql,
  sellerNo: number,
  products: readonly Product[],
): Promise<Shown> {
  const ids = products.flatMap(contactsOf).map(({ id }) => id);
  return {
    images: await shownImages(sql, sellerNo, products, publicUrl()),
    contacts: await contactContents(sql, sellerNo, ids),
    now: deps.clock.now(),
  };
}
