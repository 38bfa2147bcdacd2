/**
 * Changes that operators make to sellers, over HTTP and on the command line.
 * Each change and its audit entry are one write.
 */
import { RATE_LIMIT_MAX } from "../config.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../database/db.ts";
import { fieldDetail, recordInvalid, ServiceError } from "../lib/errors.ts";
import {
  integerReader,
  lineReader,
  ok,
  quote,
  type Read,
  wordReader,
} from "../lib/values.ts";
import { isoTime } from "../xml/encode.ts";
import { recordChange } from "../operations/audit.ts";
import { type Seller, SELLER_STATUSES } from "./seller.ts";
import {
  addKey,
  addSeller,
  findKey,
  markRemoved,
  type NewKey,
  type NewSeller,
  renameSeller,
  revokeKey,
  sellerByName,
} from "./seller_rows.ts";
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
  { db, deps }: Changing,
  { who, name }: ByOperator & { name: string },
): Promise<NewSeller> {
  return db.write(async (tx) => {
    const added = await addSeller(tx, deps, name);
    await recordChange(tx, deps, {
      who,
      action: "seller add",
      seller: name,
      detail: `key ${added.keyId}`,
    });
    return added;
  });
}

/** An attribute that is a column, and the reader of its value. */
interface Column {
  column: "status" | "rate_limit" | "product_limit" | "image_quota";
  read: (text: string) => Read<string | number | null>;
}

const COLUMNS: Readonly<Record<string, Column>> = {
  status: { column: "status", read: wordReader(SELLER_STATUSES) },
  rate_limit: { column: "rate_limit", read: limitReader(RATE_LIMIT_MAX) },
  product_limit: {
    column: "product_limit",
    read: limitReader(Number.MAX_SAFE_INTEGER),
  },
  image_quota: {
    column: "image_quota",
    read: limitReader(Number.MAX_SAFE_INTEGER),
  },
};

/** Attributes of a seller that can be changed. */
export const SELLER_ATTRIBUTES: readonly string[] = [
  "name",
  ...Object.keys(COLUMNS),
];

/** A limit; empty for the default of the settings. */
function limitReader(max: number): Column["read"] {
  const read = integerReader(max);
  return (text) => text === "" ? ok(null) : read(text);
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
export async function changeSeller(
  { db, deps, signals }: Changing,
  { who, seller: nameOrId, attribute, value }: SellerChange,
): Promise<void> {
  await db.write(async (tx) => {
    const seller = await sellerByName(tx, nameOrId);
    await setAttribute(tx, seller, attribute, value);
    await recordChange(tx, deps, {
      who,
      action: "seller set",
      seller: seller.name,
      detail: `${attribute} = ${value === "" ? "default" : value}`,
    });
    if (attribute !== "status") return;
    tx.onCommit(() => {
      signals?.deliveries.announce();
      signals?.images.announce();
    });
  });
}

async function setAttribute(
  tx: Tx,
  { id }: Seller,
  attribute: string,
  value: string,
): Promise<void> {
  if (attribute === "name") return await renameSeller(tx, id, value);
  if (!Object.hasOwn(COLUMNS, attribute)) throw unknownAttribute(attribute);
  const { column, read } = COLUMNS[attribute];
  const result = read(value);
  if ("problem" in result) {
    const problem = { field: attribute, ...result.problem };
    throw recordInvalid([fieldDetail(problem, {})]);
  }
  await tx.run(`UPDATE sellers SET ${column} = ? WHERE id = ?`, [
    result.value,
    id,
  ]);
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
export async function removeSeller(
  { db, deps }: Changing,
  { who, seller: nameOrId }: ByOperator & { seller: string },
): Promise<void> {
  await db.write(async (tx) => {
    const seller = await sellerByName(tx, nameOrId);
    const { id, name } = seller;
    if (!await markRemoved(tx, seller)) return;
    await recordChange(tx, deps, {
      who,
      action: "seller remove",
      seller: name,
      detail: `id ${id}`,
    });
  });
}

export const LABEL_LENGTH = 64;
const readLabel = lineReader(LABEL_LENGTH);

/**
 * Creates another key of a seller; the label may be empty. Throws 404 for an
 * unknown seller, 422 for an invalid label.
 */
export function createKey(
  { db, deps }: Changing,
  { who, seller: nameOrId, label }: ByOperator & {
    seller: string;
    label: string;
  },
): Promise<NewKey> {
  const read = readLabel(label);
  if ("problem" in read) {
    const problem = { field: "label", ...read.problem };
    throw recordInvalid([fieldDetail(problem, {})]);
  }
  return db.write(async (tx) => {
    const { no, name } = await sellerByName(tx, nameOrId);
    const key = await addKey(tx, deps, no, { label: label || null });
    await recordChange(tx, deps, {
      who,
      action: "key add",
      seller: name,
      detail: [`key ${key.keyId}`, label].filter(Boolean).join(", "),
    });
    return key;
  });
}

/**
 * Revokes a key, unless it is revoked already. Throws 404 for an unknown key.
 */
export async function revokeSellerKey(
  { db, deps }: Changing,
  { who, keyId }: ByOperator & { keyId: string },
): Promise<void> {
  await db.write(async (tx) => {
    const key = await findKey(tx, keyId);
    if (key === null) throw unknownKey(keyId);
    if (key.revoked) return;
    await revokeKey(tx, deps, keyId);
    await recordChange(tx, deps, {
      who,
      action: "key revoke",
      seller: key.seller,
      detail: `key ${keyId}`,
    });
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
  { db, deps }: Changing,
  { who, seller: nameOrId }: ByOperator & { seller: string },
): Promise<RotatedSecret> {
  return db.write(async (tx) => {
    const { id, name } = await sellerByName(tx, nameOrId);
    const rotated = await rotateWebhookSecret(tx, deps, id);
    await recordChange(tx, deps, {
      who,
      action: "key rotate-secret",
      seller: name,
      detail: `the former secret signs until ${isoTime(rotated.oldUntil)}`,
    });
    return rotated;
  });
}
