/**
 * Keys that sellers create, rotate and revoke themselves. A key cannot create a
 * key with more rights than its own. Each change and its audit entry are one
 * write.
 */
import type { Services } from "../services.ts";
import type { Tx } from "../database/db.ts";
import { notFound, recordInvalid, ServiceError } from "../lib/errors.ts";
import { DAY_MS } from "../lib/durations.ts";
import { isoTime } from "../xml/encode.ts";
import { SELLER, withAudit } from "../monitoring/audit.ts";
import { lockForCounting, requireActive } from "./access.ts";
import { rightsWithin } from "./key_rights.ts";
import {
  addKey,
  describeKey,
  endKey,
  forgetKeys,
  type ListedKey,
  listKeys,
  type NewKey,
  revokeKey,
} from "./key_rows.ts";
import type { Caller } from "./seller.ts";
import type { WantedKey } from "./wanted_key.ts";

/**
 * Limits the keys of a seller that are valid or were created in the last day
 * and, separately, how many other keys are kept.
 */
export const KEYS_LIMIT = 100;
/** How long a rotated key stays valid. */
const ROTATED_MS = DAY_MS;

type WriteServices = Pick<Services, "db" | "deps">;

/** All keys of the seller, and the key of the request. */
interface Keys {
  tx: Tx;
  all: readonly ListedKey[];
  own: ListedKey;
}

/**
 * Changes keys of a seller, one write after the other, if the key of the
 * request is still valid.
 */
function changeKeys<T>(
  services: WriteServices,
  caller: Caller,
  action: string,
  change: (keys: Keys) => Promise<readonly [T, detail: string | null]>,
): Promise<T> {
  return withAudit(services, SELLER, action, async (tx) => {
    await lockForCounting(tx, caller.no);
    await requireActive(tx, caller);
    const all = await listKeys(tx, caller.no);
    const own = all.find(({ id }) => id === caller.keyId)!;
    const [result, detail] = await change({ tx, all, own });
    return [
      result,
      detail === null
        ? null
        : { seller: caller.name, detail: `${detail}, by ${own.id}` },
    ];
  });
}

/**
 * Creates a key. A right that is not given is taken from the request's key.
 * Throws 403 for rights that exceed the rights of the request's key, 422 for
 * one key too many.
 */
export function makeOwnKey(
  services: WriteServices,
  caller: Caller,
  { label, rights: wanted }: WantedKey,
): Promise<NewKey> {
  return changeKeys(services, caller, "key add", async (keys) => {
    const rights = rightsWithin(keys.own.rights, wanted);
    const key = await addKeyTo(services, caller, keys, { label, rights });
    return [key, describeKey(key)];
  });
}

/**
 * Creates a key with the label and rights of an existing key of the seller. The
 * existing key expires in a day. Throws 404 for an unknown key, 409 for a key
 * that is not valid, 403 for a key with more rights than the key of the request.
 */
export function rotateOwnKey(
  services: WriteServices,
  caller: Caller,
  keyId: string,
): Promise<NewKey> {
  const now = services.deps.clock.now();
  return changeKeys(services, caller, "key rotate", async (keys) => {
    const former = requireKey(keys, keyId);
    if (!isValidAt(former, now)) {
      throw new ServiceError(
        "conflict",
        "This key is not valid any more; create a new one.",
      );
    }
    const { label } = former;
    const rights = { ...former.rights };
    rightsWithin(keys.own.rights, rights);
    const key = await addKeyTo(services, caller, keys, { label, rights });
    const end = Math.min(rights.expiresAt ?? Infinity, now + ROTATED_MS);
    await endKey(keys.tx, keyId, end);
    return [key, `key ${keyId} until ${isoTime(end)}, now ${describeKey(key)}`];
  });
}

/**
 * Revokes a key of the seller, unless it is revoked already. Throws 404 for an
 * unknown key. Throws 409 for a key with the scope `keys`, unless another key with
 * this scope stays valid for a day, or for as long as the revoked key would have
 * been valid.
 */
export function revokeOwnKey(
  services: WriteServices,
  caller: Caller,
  keyId: string,
): Promise<void> {
  const { deps } = services;
  return changeKeys(services, caller, "key revoke", async (keys) => {
    const key = requireKey(keys, keyId);
    if (key.revokedAt !== null) return [undefined, null];
    const now = deps.clock.now();
    // A key that expires sooner would leave little time to create another.
    const until = Math.min(expiryOf(key), now + DAY_MS);
    const hasOther = keys.all.some((one) =>
      one !== key && managesKeys(one) && isValidAt(one, now) &&
      expiryOf(one) >= until
    );
    if (managesKeys(key) && !hasOther) {
      throw new ServiceError(
        "conflict",
        'This is your last key with the scope "keys"; keys that expire within ' +
          "24 hours do not count. Create another key first.",
      );
    }
    await revokeKey(keys.tx, deps, keyId);
    return [undefined, `key ${keyId}`];
  });
}

function requireKey({ all }: Keys, keyId: string): ListedKey {
  const key = all.find(({ id }) => id === keyId);
  if (key === undefined) throw notFound("key");
  return key;
}

function managesKeys({ rights }: ListedKey): boolean {
  return rights.scopes.includes("keys");
}

function isValidAt({ revokedAt, rights }: ListedKey, now: number): boolean {
  return revokedAt === null && expiryOf({ rights }) > now;
}

function expiryOf({ rights }: Pick<ListedKey, "rights">): number {
  return rights.expiresAt ?? Infinity;
}

async function addKeyTo(
  { deps }: WriteServices,
  { no }: Caller,
  { tx, all }: Keys,
  key: { label: string | null; rights: NewKey["rights"] },
): Promise<NewKey> {
  const now = deps.clock.now();
  const counted = all.filter((one) =>
    isValidAt(one, now) || one.createdAt > now - DAY_MS
  );
  if (counted.length >= KEYS_LIMIT) {
    throw recordInvalid([{
      field: "key",
      code: "quota_exceeded",
      message:
        `You have ${KEYS_LIMIT} keys that are valid or were created in ` +
        "the last 24 hours: revoke some, or wait a day.",
    }]);
  }
  const former = all.filter((one) => !counted.includes(one));
  await forgetKeys(tx, no, former.slice(0, -KEYS_LIMIT).map(({ id }) => id));
  const { label, rights } = key;
  return await addKey(tx, deps, no, { label: label || null, rights });
}
