/** What the operator reads out: the catalogue, sellers, how things stand. */
import type { SellerNode } from "../contracts/answers.ts";
import { countBacklog, failingWebhooks } from "../operations/backlog.ts";
import {
  type ChangeCursor,
  changedProducts,
  FIRST_CHANGE,
  shownImages,
} from "../catalogue/product_lists.ts";
import type { Sql } from "../database/db.ts";
import { lastHours } from "../operations/hourly_counts.ts";
import { pageOfSellers, type SellerRow } from "../sellers/seller_rows.ts";
import { isoTime, isoTimeOrNone } from "../xml/encode.ts";
import { productNode, tombstoneNode } from "../catalogue/product_xml.ts";
import type { Handler } from "./context.ts";
import { readPage } from "./list.ts";
import { QueryReader } from "./paging.ts";

/** Hours of the status' counts. */
const HOURS = 24;
/** Failing webhooks that the status lists at most. */
const FAILING_LIMIT = 100;

/**
 * `GET /operator_api/products`: the latest state of each changed product, or
 * its tombstone, in the order of change. Every page but an empty one has a
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
      ? productNode(change.product, images, change.seller)
      : tombstoneNode(change.tombstone),
    cursor: change.cursor,
  }));
  const full = changes.length === count;
  return { entries, next: full ? entries[count - 1].cursor : null };
}

function parseCursor(text: string): ChangeCursor | null {
  const match = /^(\d{1,15})-([0-9a-f-]{36})$/.exec(text);
  return match && { change: Number(match[1]), productId: match[2] };
}

/** `GET /operator_api/sellers` */
export const listSellers: Handler<"sellers"> = async ({ services, query }) => {
  const reader = new QueryReader(query);
  const after = reader.idCursor() ?? "";
  const limit = reader.limit();
  reader.finish();
  const found = await services.db.read((sql) =>
    pageOfSellers(sql, after, limit + 1)
  );
  const page = found.slice(0, limit);
  return {
    xml: {
      sellers: { seller: page.map(sellerNode) },
      next: found.length > limit ? page[limit - 1].id : undefined,
    },
  };
};

function sellerNode(seller: SellerRow): SellerNode {
  return {
    id: seller.id,
    name: seller.name,
    status: seller.status,
    created_at: isoTime(seller.createdAt),
    rate_limit: seller.rateLimit,
    product_limit: seller.productLimit,
    image_quota: seller.imageQuota,
    products: seller.products,
    image_bytes: seller.imageBytes,
    keys: seller.keys,
    webhooks: seller.webhooks,
    failing_webhooks: seller.failing,
    last_upload_at: isoTimeOrNone(seller.lastUploadAt),
    last_used_at: isoTimeOrNone(seller.lastUsedAt),
  };
}

/** `GET /operator_api/status`: what waits, what fails, the last day. */
export const getStatus: Handler<"status"> = ({ services }) =>
  services.db.read(async (sql) => {
    const { images, deliveries, held, exhausted } = await countBacklog(sql);
    const failing = await failingWebhooks(sql, FAILING_LIMIT);
    const hours = await lastHours(sql, services.deps.clock.now(), HOURS);
    return {
      xml: {
        backlog: {
          images,
          deliveries,
          held_deliveries: held,
          exhausted_deliveries: exhausted,
        },
        failing_webhooks: {
          webhook: failing.map((webhook) => ({
            seller: webhook.seller,
            trigger: webhook.trigger,
            url: webhook.url,
            failures: webhook.failures,
            failing_since: isoTime(webhook.failingSince),
            disabled_at: webhook.disabledAt === null
              ? undefined
              : isoTime(webhook.disabledAt),
          })),
        },
        hours: {
          hour: hours.map(({ at, counts }) => ({
            "@from": isoTime(at),
            ...counts,
          })),
        },
      },
    };
  });
