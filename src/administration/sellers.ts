/**
 * Changes that operators make to sellers, over HTTP and on the command line.
 * Each change and its audit entry are one write.
 */
import type { Services } from "../services.ts";
import type { Tx } from "../database/db.ts";
import { fieldDetail, recordInvalid, ServiceError } from "../lib/errors.ts";
import {
  integerReader,
  ok,
  quote,
  type ReadResult,
  wordReader,
} from "../lib/values.ts";
import { isoTime } from "../xml/encode.ts";
import { withAudit } from "../monitoring/audit.ts";
import { setEmail } from "../sellers/email.ts";
import { REVIEW_POLICIES } from "../sellers/review_policy.ts";
import { setPolicy } from "../reviews/policy.ts";
import {
  LIMIT_NAMES,
  type LimitName,
  SELLER_LIMITS,
  type SellerLimit,
} from "../sellers/limits.ts";
import { type Seller, SELLER_STATUSES } from "../sellers/seller.ts";
import { ALL_RIGHTS } from "../sellers/key_rights.ts";
import {
  addKey,
  describeKey,
  findKey,
  type NewKey,
  revokeKey,
} from "../sellers/key_rows.ts";
import {
  addSeller,
  markRemoved,
  type NewSeller,
  renameSeller,
  sellerByName,
} from "../sellers/seller_rows.ts";
import type { WantedKey } from "../sellers/wanted_key.ts";
import {
  type RotatedSecret,
  rotateWebhookSecret,
} from "../webhooks/secrets.ts";

/** A command has no signals. */
type Changing = Pick<Services, "db" | "deps"> & Partial<Services>;

export interface ByOperator {
  /** `who` of the audit log entry. */
  who: string;
}

/** Creates a seller with its first key. Throws 422 for an invalid name. */
export function createSeller(
  services: Changing,
  { who, name }: ByOperator & { name: string },
): Promise<NewSeller> {
  return withAudit(services, who, "seller add", async (tx) => {
    const added = await addSeller(tx, services.deps, name);
    return [added, { seller: name, detail: `key ${added.keyId}` }];
  });
}

/** An attribute that operators can change. */
interface SellerAttribute {
  /** Valid values, for the handbook. */
  meaning: string;
  /** The unit of a number. */
  unit?: string;
  /** Whether the value is left out of the audit log. */
  isPrivate?: true;
  /** Throws 422 for an invalid value; an empty value sets the default. */
  set(change: AttributeChange): Promise<unknown>;
}

interface AttributeChange {
  tx: Tx;
  services: Changing;
  seller: Seller;
  attribute: string;
  value: string;
}

/** Sets the column of this name to the value as `read` returns it. */
function setColumn(read: (text: string) => ReadResult<string | number | null>) {
  return ({ tx, seller, attribute, value }: AttributeChange) =>
    tx.run(`UPDATE sellers SET ${attribute} = ? WHERE id = ?`, [
      readValue(attribute, value, read),
      seller.id,
    ], 1);
}

const setStatus = setColumn(wordReader(SELLER_STATUSES));
const readPolicy = wordReader(REVIEW_POLICIES);

/** The attributes that operators can change, by name. */
export const SELLER_ATTRIBUTES: Readonly<Record<string, SellerAttribute>> = {
  name: {
    meaning: "a name that no other seller has",
    set: ({ tx, seller, value }) => renameSeller(tx, seller.id, value),
  },
  status: {
    meaning: "`active` or `suspended`",
    set: (change) => {
      const { signals } = change.services;
      change.tx.onCommit(() => {
        signals?.deliveries.announce();
        signals?.images.announce();
      });
      return setStatus(change);
    },
  },
  ...Object.fromEntries(
    LIMIT_NAMES.map((name) => [name, limitAttribute(name)]),
  ),
  email: {
    meaning: "address for [notices](notices.md) to the seller",
    isPrivate: true,
    set: ({ tx, services, seller, value }) =>
      setEmail(tx, services.deps, seller, value),
  },
  review: {
    meaning: "`none`, `new` or `changes`: what is [reviewed](review.md)",
    set: ({ tx, seller, attribute, value }) =>
      setPolicy(
        tx,
        seller.no,
        readValue(attribute, value || "none", readPolicy),
      ),
  },
};

export const SELLER_ATTRIBUTE_NAMES = Object.keys(SELLER_ATTRIBUTES);

/** The names of the attributes; a number also has its unit. */
export const SELLER_ATTRIBUTE_WORDS: readonly string[] = Object.entries(
  SELLER_ATTRIBUTES,
).map(([name, { unit }]) => unit === undefined ? name : `${name} (${unit})`);

function limitAttribute(name: LimitName): SellerAttribute {
  const { unit, meaning, max = Number.MAX_SAFE_INTEGER }: SellerLimit =
    SELLER_LIMITS[name];
  const read = integerReader(max, 0, unit);
  const set = setColumn((text) => text === "" ? ok(null) : read(text));
  return { unit, meaning, set };
}

export interface SellerChange extends ByOperator {
  /** A name or an id. */
  seller: string;
  attribute: string;
  /** An empty value stands for the default. */
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
  return withAudit(services, who, "seller set", async (tx) => {
    const seller = await sellerByName(tx, nameOrId);
    if (!Object.hasOwn(SELLER_ATTRIBUTES, attribute)) {
      throw unknownAttribute(attribute);
    }
    const { set, isPrivate } = SELLER_ATTRIBUTES[attribute];
    await set({ tx, services, seller, attribute, value });
    const shown = isPrivate ? "set" : value;
    const detail = `${attribute} = ${value === "" ? "default" : shown}`;
    return [undefined, { seller: seller.name, detail }];
  });
}

function readValue<T>(
  attribute: string,
  value: string,
  read: (text: string) => ReadResult<T>,
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
      `${field} is not an attribute of a seller that can be changed; these ` +
      `are ${SELLER_ATTRIBUTE_NAMES.join(", ")}.`,
  }]);
}

/**
 * Removes a seller: from the commit on, the seller is unknown and its name is
 * free. A job then deletes its rows. Throws 404 for an unknown seller.
 */
export function removeSeller(
  services: Changing,
  { who, seller: nameOrId }: ByOperator & { seller: string },
): Promise<void> {
  return withAudit(services, who, "seller remove", async (tx) => {
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
  return withAudit(services, who, "key add", async (tx) => {
    const { no, name } = await sellerByName(tx, nameOrId);
    const rights = { ...ALL_RIGHTS, ...wanted };
    const options = { label: label || null, rights };
    const key = await addKey(tx, services.deps, no, options);
    return [key, { seller: name, detail: describeKey(key) }];
  });
}

/**
 * Revokes a key, unless it is revoked already. Throws 404 for an unknown key.
 */
export function revokeSellerKey(
  services: Changing,
  { who, keyId }: ByOperator & { keyId: string },
): Promise<void> {
  return withAudit(services, who, "key revoke", async (tx) => {
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
  return withAudit(services, who, "key rotate-secret", async (tx) => {
    const { id, name } = await sellerByName(tx, nameOrId);
    const rotated = await rotateWebhookSecret(tx, services.deps, id);
    const until = isoTime(rotated.oldUntil);
    const detail = `the former secret signs until ${until}`;
    return [rotated, { seller: name, detail }];
  });
}
