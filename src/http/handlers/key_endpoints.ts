/** A seller's own keys, and the nodes of keys for sellers and operators. */
import type { Answer, KeyNode } from "../../contracts/answers.ts";
import { KEY_EXAMPLE } from "../../contracts/examples.ts";
import { checkScope, type KeyRights } from "../../sellers/key_rights.ts";
import {
  type ListedKey,
  listKeys,
  type NewKey,
} from "../../sellers/key_rows.ts";
import {
  makeOwnKey,
  revokeOwnKey as revoke,
  rotateOwnKey as rotate,
} from "../../sellers/own_keys.ts";
import { readKey } from "../../sellers/wanted_key.ts";
import { isoTime, isoTimeOrNone } from "../../xml/encode.ts";
import { SMALL_DOCUMENT_BYTES } from "../../xml/small_document.ts";
import { endpoint } from "../server/route.ts";

export const listOwnKeys = endpoint({
  operation: "listOwnKeys",
  title: "List your keys",
  about: "Your keys, oldest first, including expired and revoked keys. " +
    "`<current>` marks the key of this request.",
  answers: ["keys"],
}, async ({ services, seller: { no, keyId } }) => {
  const keys = await services.db.of(no).read((sql) => listKeys(sql, no));
  const nodes = keys.map((key) => ({
    ...keyNode(key),
    ...(key.id === keyId && { current: true }),
  }));
  return { xml: { keys: { key: nodes } } };
});

export const addOwnKey = endpoint({
  operation: "addOwnKey",
  title: "Create a key",
  about:
    "The key is shown once. Rights that the document leaves out are copied " +
    "from the key of this request. The new key cannot have more rights than " +
    "that key.",
  sends: { root: "key", example: KEY_EXAMPLE },
  answers: ["new_key"],
}, async ({ services, seller, document }) => {
  const root = await document(SMALL_DOCUMENT_BYTES);
  const key = readKey(root, services.deps.clock.now());
  return newKeyXml(await makeOwnKey(services, seller, key));
});

export const rotateOwnKey = endpoint(
  {
    operation: "rotateOwnKey",
    title: "Rotate a key",
    about: "Creates a key with the same rights. The new key is shown once; " +
      "the former key expires after 24 h. Every key may rotate itself; " +
      "rotating another key requires the scope `keys`. A body is ignored.",
    answers: ["new_key"],
    errors: ["conflict", "record_invalid"],
  },
  async ({ services, seller, owner, params, request }) => {
    if (params.key_id !== seller.keyId) {
      checkScope(owner!, "keys", request.method);
    }
    return newKeyXml(await rotate(services, seller, params.key_id));
  },
);

export const revokeOwnKey = endpoint({
  operation: "revokeOwnKey",
  title: "Revoke one of your keys",
  about:
    "Every process refuses the key within a second. Your last key with the " +
    "scope `keys` cannot be revoked.",
  answers: ["success"],
  errors: ["conflict"],
}, async ({ services, seller, params }) => {
  await revoke(services, seller, params.key_id);
  return { xml: { success: true } };
});

export function keyNode(key: ListedKey): KeyNode {
  return {
    key_id: key.id,
    label: key.label,
    prefix: key.prefix,
    created_at: isoTime(key.createdAt),
    last_used_at: isoTimeOrNone(key.lastUsedAt),
    revoked_at: isoTimeOrNone(key.revokedAt),
    ...rightsNode(key.rights),
  };
}

export function newKeyXml(
  { keyId, label, apiKey, rights }: NewKey,
): { xml: Answer<"new_key"> } {
  const key = { key_id: keyId, label, api_key: apiKey, ...rightsNode(rights) };
  return { xml: { key } };
}

function rightsNode({ scopes, networks, expiresAt }: KeyRights) {
  return {
    scopes: { scope: [...scopes] },
    networks: { network: [...networks] },
    expires_at: isoTimeOrNone(expiresAt),
  };
}
