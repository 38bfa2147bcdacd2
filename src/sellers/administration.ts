/**
 * Changes that operators make to sellers, over HTTP and on the command line.
 * Each change and its audit entry are one write.
 */
import { RATE_LIMIT_MAX } from "../config.ts";
import type { Deps } from "../deps.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../database/db.ts";
import { fieldDetail, recordInvalid, ServiceError } from "../lib/errors.ts";
import {
  integerReader,
  ok,
  quote,
  type Read,
  wordReader,
} from "../lib/values.ts";
import { isoTime } from "../xml/encode.ts";
import { recorded } from "../operations/audit.ts";
import { setEmail } from "./email.ts";
import { REVIEW_POLICIES } from "../reviews/review.ts";
import { setPolicy } from "../reviews/policy.ts";
import { type Seller, SELLER_STATUSES } from "./seller.ts";
import { ALL_RIGHTS, rightsWords } from "./key_rights.ts";
import { addKey, findKey, type NewKey, revokeKey } from "./key_rows.ts";
import {
  addSeller,
  markRemoved,
  type NewSeller,
  renameSeller,
  sellerByName,
} from "./seller_rows.ts";
import type { WantedKey } from "./wanted_key.ts";
import {
  type RotatedSecret,
  rotateWebhookSecret,
} from "../webhooks/secrets.ts";

/** A service has signals; a command has none. */
type Changing = Pick<Services, "db" | "deps"> & Partial<Services>;

export interface ByOperator {
  /** As in the audit log. */
  who: string;
}

/** Creates a seller with its first key. Throws 422 for an invalid name. */
export function createSeller(
  services: Changing,
  { who, name }: ByOperator & { name: string },
): Promise<NewSeller> {
  return recorded(services, who, "seller add", async (tx) => {
    const added = await addSeller(tx, services.deps, name);
    return [added, { seller: name, detail: `key ${added.keyId}` }];
  });
}

/** An attribute that is a column, and the reader of its value. */
interface Column {
  column: "status" | "rate_limit" | "product_limit" | "image_quota";
  read: (text: string) => Read<string | number | null>;
  /** What its number counts. */
  unit?: string;
}

const readPolicy = wordReader(REVIEW_POLICIES);
const COLUMNS: Readonly<Record<string, Column>> = {
  status: { column: "status", read: wordReader(SELLER_STATUSES) },
  rate_limit: limit("rate_limit", "requests a minute", RATE_LIMIT_MAX),
  product_limit: limit("product_limit", "products"),
  image_quota: limit("image_quota", "bytes"),
};

/** Attributes of a seller that can be changed. */
export const SELLER_ATTRIBUTES: readonly string[] = [
  "name",
  ...Object.keys(COLUMNS),
  "email",
  "review",
];

/** The same with the units of numbers. */
export const SELLER_ATTRIBUTE_WORDS: readonly string[] = SELLER_ATTRIBUTES.map(
  (name) => {
    const unit = COLUMNS[name]?.unit;
    return unit === undefined ? name : `${name} (${unit})`;
  },
);

/** A limit; empty for the default of the settings. */
function limit(
  column: Column["column"],
  unit: string,
  max = Number.MAX_SAFE_INTEGER,
): Column {
  const read = integerReader(max, 0, unit);
  return { column, unit, read: (text) => text === "" ? ok(null) : read(text) };
}

export interface SellerChange extends ByOperator {
  /** A name or an id. */
  seller: string;
  attribute: string;
  /** Empty: the default. */
  value: string;
}

/**
 * Sets an attribute of a seller. Throws 404 for an unknown seller, 422 for an
 * unknown attribute or an invalid value.
 */
export function changeSeller(
  services: Changing,
  { who, seller: nameOrId, attribute, value }: SellerChange,
): Promise<void> {
  const { signals } = services;
  return recorded(services, who, "seller set", async (tx) => {
    const seller = await sellerByName(tx, nameOrId);
    await setAttribute(tx, services.deps, seller, { attribute, value });
    if (attribute === "status") {
      tx.onCommit(() => {
        signals?.deliveries.announce();
        signals?.images.announce();
      });
    }
    const shown = attribute === "email" ? "set" : value;
    const detail = `${attribute} = ${value === "" ? "default" : shown}`;
    return [undefined, { seller: seller.name, detail }];
  });
}

async function setAttribute(
  tx: Tx,
  deps: Pick<Deps, "clock" | "ids">,
  seller: Seller,
  { attribute, value }: Pick<SellerChange, "attribute" | "value">,
): Promise<void> {
  const { id } = seller;
  if (attribute === "name") return await renameSeller(tx, id, value);
  if (attribute === "email") return await setEmail(tx, deps, seller, value);
  if (attribute === "review") {
    // An empty value is the default.
    const policy = readValue(attribute, value || "none", readPolicy);
    return await setPolicy(tx, seller.no, policy);
  }
  if (!Object.hasOwn(COLUMNS, attribute)) throw unknownAttribute(attribute);
  const { column, read } = COLUMNS[attribute];
  await tx.run(`UPDATE sellers SET ${column} = ? WHERE id = ?`, [
    readValue(attribute, value, read),
    id,
  ]);
}

function readValue<T>(
  attribute: string,
  value: string,
  read: (text: string) => Read<T>,
): T {
  const result = read(value);
  if ("value" in result) return result.value;
  const problem = { field: attribute, ...result.problem };
  throw recordInvalid([fieldDetail(problem, {})]);
}

function unknownAttribute(attribute: string) {
  const field = attribute.slice(0, 100);
  return recordInvalid([{
    field,
    code: "unknown_attribute",
    message:
      `${field} is no attribute of a seller that can be changed; those ` +
      `are ${SELLER_ATTRIBUTES.join(", ")}.`,
  }]);
}

/**
 * Removes a seller: it is unknown and its name is free from the commit on. The
 * service then deletes its rows. Throws 404 for an unknown seller.
 */
export function removeSeller(
  services: Changing,
  { who, seller: nameOrId }: ByOperator & { seller: string },
): Promise<void> {
  return recorded(services, who, "seller remove", async (tx) => {
    const seller = await sellerByName(tx, nameOrId);
    const isNew = await markRemoved(tx, seller);
    const change = { seller: seller.name, detail: `id ${seller.id}` };
    return [undefined, isNew ? change : null];
  });
}

/** Creates another key of a seller. Throws 404 for an unknown seller. */
export function createKey(
  services: Changing,
  { who, seller: nameOrId, key: { label, rights: wanted } }: ByOperator & {
    seller: string;
    key: WantedKey;
  },
): Promise<NewKey> {
  return recorded(services, who, "key add", async (tx) => {
    const { no, name } = await sellerByName(tx, nameOrId);
    const rights = { ...ALL_RIGHTS, ...wanted };
    const options = { label: label || null, rights };
    const key = await addKey(tx, services.deps, no, options);
    return [key, { seller: name, detail: keyWords(key) }];
  });
}

/** A new key in the audit log. */
export function keyWords({ keyId, label, rights }: NewKey): string {
  return [`key ${keyId}`, label, rightsWords(rights)].filter(Boolean)
    .join(", ");
}

/**
 * Revokes a key, unless it is revoked already. Throws 404 for an unknown key.
 */
export function revokeSellerKey(
  services: Changing,
  { who, keyId }: ByOperator & { keyId: string },
): Promise<void> {
  return recorded(services, who, "key revoke", async (tx) => {
    const key = await findKey(tx, keyId);
    if (key === null) throw unknownKey(keyId);
    if (key.revoked) return [undefined, null];
    await revokeKey(tx, services.deps, keyId);
    return [undefined, { seller: key.seller, detail: `key ${keyId}` }];
  });
}

function unknownKey(keyId: string): ServiceError {
  return new ServiceError("not_found", `There is no key ${quote(keyId)}.`);
}

/**
 * Creates a new webhook secret of a seller; the former one also signs for a
 * day. Throws 404 for an unknown seller, 429 if too many former secrets still
 * sign.
 */
export function rotateSellerSecret(
  services: Changing,
  { who, seller: nameOrId }: ByOperator & { seller: string },
): Promise<RotatedSecret> {
  return recorded(services, who, "key rotate-secret", async (tx) => {
    const { id, name } = await sellerByName(tx, nameOrId);
    const rotated = await rotateWebhookSecret(tx, services.deps, id);
    const until = isoTime(rotated.oldUntil);
    const detail = `the former secret signs until ${until}`;
    return [rotated, { seller: name, detail }];
  });
}
