/** Sellers and their keys, for operators, and the account of a seller. */
import {
  changeSeller,
  createKey,
  createSeller,
  removeSeller as remove,
  revokeSellerKey,
  rotateSellerSecret as rotateSecret,
} from "../../administration/sellers.ts";
import { listKeys } from "../../sellers/key_rows.ts";
import { limitsOf } from "../../sellers/limits.ts";
import { readSellerName } from "../../sellers/names.ts";
import { readKey } from "../../sellers/wanted_key.ts";
import {
  pageOfSellers,
  readSellerRow,
  sellerByName,
  type SellerRow,
} from "../../sellers/seller_rows.ts";
import { SMALL_DOCUMENT_BYTES } from "../../xml/small_document.ts";
import { notFound } from "../../lib/errors.ts";
import { isoTime, isoTimeOrNone } from "../../xml/encode.ts";
import { keyNode, newKeyXml } from "./key_endpoints.ts";
import { readRows } from "../server/list.ts";
import type { SellerNode } from "../../contracts/answers.ts";
import { AFTER, PAGE_SIZE, SELLER_FILTER } from "../server/parameters.ts";
import { KEY_EXAMPLE, SELLER_EXAMPLE } from "../../contracts/examples.ts";
import { endpoint } from "../server/route.ts";

export const addSeller = endpoint({
  operation: "addSeller",
  title: "Create a seller",
  about: "The answer has the first key and a webhook secret, which are shown " +
    "once.",
  sends: { root: "seller", example: SELLER_EXAMPLE },
  answers: ["new_seller"],
}, async ({ services, who, document }) => {
  const root = await document(SMALL_DOCUMENT_BYTES);
  const name = readSellerName(root);
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
});

export const putSellerAttribute = endpoint({
  operation: "putSellerAttribute",
  title: "Change a seller",
  about: "A limit is a whole number; an empty value means the default of the " +
    "settings. `email` is the address for notices to the seller; with an " +
    "empty value, nobody gets them. A body is ignored.",
  answers: null,
  errors: ["record_invalid"],
}, async ({ services, who, params }) => {
  const { seller, seller_attribute: attribute, value } = params;
  await changeSeller(services, { who, seller, attribute, value });
  return { status: 204 };
});

export const removeSeller = endpoint({
  operation: "removeSeller",
  title: "Remove a seller",
  about:
    "Removes the seller with its products, uploads, webhooks, events and " +
    "keys. Its name can be used again at once; its data are deleted within " +
    "seconds. This cannot be undone.",
  answers: ["success"],
}, async ({ services, who, params }) => {
  await remove(services, { who, seller: params.seller });
  return { xml: { success: true } };
});

export const listSellerKeys = endpoint({
  operation: "listSellerKeys",
  title: "List a seller's keys",
  about: "The seller's keys, oldest first, including expired and revoked keys.",
  answers: ["keys"],
}, async ({ services, params }) => {
  const keys = await services.db.read(async (sql) =>
    listKeys(sql, (await sellerByName(sql, params.seller)).no)
  );
  return {
    xml: {
      keys: {
        key: keys.map(keyNode),
      },
    },
  };
});

export const addSellerKey = endpoint({
  operation: "addSellerKey",
  title: "Create a key for a seller",
  about:
    "The key is shown once. Unless the document says otherwise, the key has " +
    "all scopes, does not expire, and may be used from any address.",
  sends: { root: "key", example: KEY_EXAMPLE },
  answers: ["new_key"],
}, async ({ services, who, params, document }) => {
  const root = await document(SMALL_DOCUMENT_BYTES);
  const key = readKey(root, services.deps.clock.now());
  const { seller } = params;
  return newKeyXml(await createKey(services, { who, seller, key }));
});

export const revokeKey = endpoint({
  operation: "revokeKey",
  title: "Revoke a key",
  about: "Every process refuses the key within a second.",
  answers: ["success"],
}, async ({ services, who, params }) => {
  await revokeSellerKey(services, { who, keyId: params.key_id });
  return { xml: { success: true } };
});

export const rotateSellerSecret = endpoint({
  operation: "rotateSellerSecret",
  title: "Rotate a seller's webhook secret",
  about: "For 24 h, deliveries are also signed with the former secret. A " +
    "webhook with its own secret keeps that secret.",
  answers: ["webhook_secret"],
  errors: ["rate_limited"],
}, async ({ services, who, params }) => {
  const { seller } = params;
  const { secret } = await rotateSecret(services, { who, seller });
  return { xml: { webhook_secret: secret } };
});

export const listSellers = endpoint({
  operation: "listSellers",
  title: "List sellers",
  about: "All sellers in the order of creation, with their limits and usage.",
  parameters: [AFTER, PAGE_SIZE, SELLER_FILTER],
  answers: ["sellers"],
  errors: ["not_found"],
}, async (exchange) => {
  const { query, services: { db, deps } } = exchange;
  const name = query.get(SELLER_FILTER.name);
  if (name !== null) {
    const row = await db.read(async (sql) => {
      const { no } = await sellerByName(sql, name);
      return await readSellerRow(sql, deps.clock.now(), no);
    });
    if (row === undefined) throw notFound("seller");
    return { xml: { sellers: { seller: [sellerNode(row)] } } };
  }
  const { page, next, partial } = await readRows(
    exchange,
    (sql, after, limit) =>
      pageOfSellers(sql, deps.clock.now(), after ?? "", limit),
    null,
  );
  const sellers = { seller: page.map(sellerNode) };
  return { xml: { sellers, next, partial } };
});

export const getAccount = endpoint({
  operation: "getAccount",
  title: "Read your account",
  about:
    "Your name, your limits and usage, the id of the key of this request, " +
    "and the networks of the service's outgoing requests. Every key may " +
    "read it.",
  answers: ["account"],
}, async ({ services, seller, owner }) => {
  const { db, deps: { clock } } = services;
  const row = await db.of(seller.no).read(
    (sql) => readSellerRow(sql, clock.now(), seller.no),
  );
  if (row === undefined) throw notFound("seller");
  const { sourceAddresses } = services.config;
  const source_addresses = { source_address: [...sourceAddresses] };
  // An operator who views the account uses no key of the seller.
  const key_id = owner?.keyId;
  const account = { ...sellerNode(row), key_id, source_addresses };
  return { xml: { account } };
});

function sellerNode(seller: SellerRow): SellerNode {
  return {
    id: seller.id,
    name: seller.name,
    status: seller.status,
    created_at: isoTime(seller.createdAt),
    ...limitsOf(seller),
    email: seller.email,
    unsubscribed_at: isoTimeOrNone(seller.unsubscribedAt),
    review: seller.review,
    products: seller.products,
    image_bytes: seller.imageBytes,
    import_bytes: seller.importBytes,
    keys: seller.keys,
    webhooks: seller.webhooks,
    failing_webhooks: seller.failing,
    last_upload_at: isoTimeOrNone(seller.lastUploadAt),
    last_used_at: isoTimeOrNone(seller.lastUsedAt),
  };
}
