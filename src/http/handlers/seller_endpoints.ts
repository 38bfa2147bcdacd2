/** Sellers and their keys, as operators see and change them and sellers see themselves. */
import {
  changeSeller,
  createKey,
  createSeller,
  removeSeller,
  revokeSellerKey,
  rotateSellerSecret,
} from "../../sellers/administration.ts";
import {
  listKeys,
  pageOfSellers,
  readSellerRow,
  sellerByName,
  type SellerRow,
} from "../../sellers/seller_rows.ts";
import {
  readFields,
  readText,
  SMALL_DOCUMENT_BYTES,
} from "../../xml/small_document.ts";
import { parseTree } from "../../xml/decode.ts";
import { notFound, recordInvalid } from "../../lib/errors.ts";
import { isoTime, isoTimeOrNone } from "../../xml/encode.ts";
import type { Handler } from "../server/context.ts";
import { pageOf } from "../server/list.ts";
import { QueryReader } from "../server/query.ts";
import type { SellerNode } from "../../contracts/answers.ts";

/** `POST /operator_api/sellers` */
export const addSeller: Handler<"new_seller"> = async (
  { services, who, body },
) => {
  const document = parseTree(await body(SMALL_DOCUMENT_BYTES));
  const name = readText(document, "seller", "name");
  const added = await createSeller(services, { who, name });
  return {
    xml: {
      seller: {
        id: added.seller.id,
        name: added.seller.name,
        key_id: added.keyId,
        api_key: added.apiKey,
        webhook_secret: added.webhookSecret,
      },
    },
  };
};

/** `PUT /operator_api/sellers/:seller/attribute/:seller_attribute/:value` */
export const putSellerAttribute: Handler = async (
  { services, who, params },
) => {
  const { seller, seller_attribute: attribute, value } = params;
  await changeSeller(services, { who, seller, attribute, value });
  return { status: 204 };
};

/** `DELETE /operator_api/sellers/:seller` */
export const deleteSeller: Handler<"success"> = async (
  { services, who, params },
) => {
  await removeSeller(services, { who, seller: params.seller });
  return { xml: { success: true } };
};

/** `GET /operator_api/sellers/:seller/keys` */
export const listSellerKeys: Handler<"keys"> = async ({ services, params }) => {
  const keys = await services.db.read(async (sql) =>
    listKeys(sql, (await sellerByName(sql, params.seller)).no)
  );
  return {
    xml: {
      keys: {
        key: keys.map((key) => ({
          key_id: key.id,
          label: key.label,
          prefix: key.prefix,
          created_at: isoTime(key.createdAt),
          last_used_at: isoTimeOrNone(key.lastUsedAt),
          revoked_at: isoTimeOrNone(key.revokedAt),
        })),
      },
    },
  };
};

/** `POST /operator_api/sellers/:seller/keys` */
export const addSellerKey: Handler<"new_key"> = async (
  { services, who, params, body },
) => {
  const document = parseTree(await body(SMALL_DOCUMENT_BYTES));
  const { fields, details } = readFields(document, {
    root: "key",
    texts: ["label"],
  });
  if (details.length > 0) throw recordInvalid(details);
  const label = fields.get("label")?.text.trim() ?? "";
  const { seller } = params;
  const key = await createKey(services, { who, seller, label });
  return {
    xml: { key: { key_id: key.keyId, label, api_key: key.apiKey } },
  };
};

/** `DELETE /operator_api/keys/:key_id` */
export const deleteKey: Handler<"success"> = async (
  { services, who, params },
) => {
  await revokeSellerKey(services, { who, keyId: params.key_id });
  return { xml: { success: true } };
};

/** `POST /operator_api/sellers/:seller/rotate_secret` */
export const rotateSellerSecrets: Handler<"webhook_secret"> = async (
  { services, who, params },
) => {
  const { seller } = params;
  const { secret } = await rotateSellerSecret(services, { who, seller });
  return { xml: { webhook_secret: secret } };
};

/** `GET /operator_api/sellers` */
export const listSellers: Handler<"sellers"> = async ({ services, query }) => {
  const { after, limit } = new QueryReader(query).idPlace();
  const found = await services.db.read((sql) =>
    pageOfSellers(sql, after ?? "", limit + 1)
  );
  const { page, next } = pageOf(found, limit);
  return {
    xml: {
      sellers: { seller: page.map(sellerNode) },
      next,
    },
  };
};

/** `GET /seller_api/account` */
export const getAccount: Handler<"account"> = async ({ services, seller }) => {
  const row = await services.db.read((sql) => readSellerRow(sql, seller.id));
  if (row === undefined) throw notFound("seller");
  return { xml: { account: sellerNode(row) } };
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
