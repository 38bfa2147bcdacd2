/** Reads the rights of a new key from a document or a command. */
import { isMapped, parseCidr, wholeRange } from "../lib/cidr.ts";
import { type Detail, fieldDetail, recordInvalid } from "../lib/errors.ts";
import {
  invalid,
  lineReader,
  ok,
  parseTime,
  quote,
  type ReadResult,
  timeProblem,
  trimSpace,
} from "../lib/values.ts";
import type { XmlElement } from "../xml/decode.ts";
import { isoTime } from "../xml/encode.ts";
import {
  elements,
  inAnyOrder,
  many,
  maybe,
  STRING,
  TIME_OR_EMPTY,
  word,
} from "../xml/shapes.ts";
import { listOf, readFields } from "../xml/small_document.ts";
import type { WantedRights } from "./key_rights.ts";
import { type Scope, SCOPES } from "./scopes.ts";

const LABEL_LENGTH = 64;
/** The most networks of a key. */
const NETWORKS_LIMIT = 32;

const SENT_SCOPES = elements(many("scope", word(SCOPES), { min: 1 }));
const SENT_NETWORKS = elements(
  many("network", STRING, {
    min: 1,
    max: NETWORKS_LIMIT,
    about: "a CIDR such as 192.0.2.0/28",
  }),
);

export const KEY_DOCUMENT = {
  name: "key",
  shape: inAnyOrder(
    maybe(
      "label",
      STRING,
      `a name for the key; up to ${LABEL_LENGTH} characters`,
    ),
    maybe(
      "scopes",
      SENT_SCOPES,
      "if left out, all scopes that the key of the request may give",
    ),
    maybe(
      "networks",
      SENT_NETWORKS,
      "if left out, all networks that the key of the request may give",
    ),
    maybe(
      "expires_at",
      TIME_OR_EMPTY,
      "if left out, the latest expiry that the key of the request may give",
    ),
  ),
};

export interface WantedKey {
  /** "" if there is none. */
  label: string;
  rights: WantedRights;
}

/** The label and rights of a key before validation. */
export interface KeyTexts {
  label?: string;
  scopes?: readonly string[];
  expiresAt?: string;
  networks?: readonly string[];
}

const readLabel = lineReader(LABEL_LENGTH);

/**
 * Validates the label and rights of a key. Throws 422 with every problem,
 * including `details`. `lineOf` returns the line of a field in the document, or
 * of one of its entries, which are counted from 1.
 */
export function readKeyTexts(
  { label = "", scopes, expiresAt, networks }: KeyTexts,
  now: number,
  details: Detail[] = [],
  lineOf: (field: string, entry?: number) => number | undefined = () =>
    undefined,
): WantedKey {
  const read = <T>(
    path: string,
    result: ReadResult<T>,
    entry?: number,
  ): T | undefined => {
    if ("value" in result) return result.value;
    const field = entry === undefined ? path : `${path}[${entry}]`;
    const line = lineOf(path.split("/")[0], entry);
    details.push(fieldDetail({ field, ...result.problem }, { line }));
  };
  const each = <T>(
    field: string,
    texts: readonly string[],
    readOne: (text: string) => ReadResult<T>,
  ): T[] =>
    texts.flatMap((text, i) => {
      const result = texts.indexOf(text) < i
        ? invalid<T>("repeated_value", `repeats ${quote(text)}; write it once.`)
        : readOne(text);
      return read(field, result, i + 1) ?? [];
    });
  const key: WantedKey = { label, rights: {} };
  read("label", readLabel(label));
  if (scopes !== undefined) {
    const valid = each("scopes/scope", scopes, readScope);
    if (scopes.length === 0) read("scopes", NO_SCOPE);
    key.rights.scopes = SCOPES.filter((scope) => valid.includes(scope));
  }
  if (networks !== undefined && networks.length > NETWORKS_LIMIT) {
    const message = `has ${networks.length} entries; at most ` +
      `${NETWORKS_LIMIT} are allowed.`;
    read("networks", invalid("too_many", message));
  } else if (networks !== undefined) {
    key.rights.networks = each("networks/network", networks, readNetwork);
    if (networks.length === 0) read("networks", NO_NETWORK);
  }
  if (expiresAt) {
    key.rights.expiresAt = read("expires_at", readExpiry(expiresAt, now));
  }
  if (details.length > 0) throw recordInvalid(details);
  return key;
}

const ALL_SCOPES = SCOPES.join(", ");
const NO_SCOPE = invalid<never>(
  "required",
  `is empty; list at least one of ${ALL_SCOPES}, or leave it out.`,
);
// Without this rule, a list that is empty by mistake would allow the key from
// any address.
const NO_NETWORK = invalid<never>(
  "required",
  "is empty; list at least one network, or leave it out.",
);

function readScope(text: string): ReadResult<Scope> {
  const found = SCOPES.find((scope) => scope === text);
  if (found !== undefined) return ok(found);
  return invalid("not_in_list", `is ${quote(text)}; scopes are ${ALL_SCOPES}.`);
}

function readNetwork(text: string): ReadResult<string> {
  const cidr = parseCidr(text);
  // A mapped network would match no client, because the addresses of clients are
  // compared as IPv4.
  if (cidr !== null && isMapped(cidr)) {
    const message = `is ${quote(text)}; write mapped addresses as IPv4, as ` +
      "in 192.0.2.0/28.";
    return invalid("not_allowed", message);
  }
  const whole = cidr && wholeRange(cidr);
  if (cidr !== null && whole === null) return ok(text);
  if (whole !== null) {
    const { address } = cidr!;
    const message =
      `is ${quote(text)}; write ${whole} for the whole network, ` +
      `or ${address}/${address.includes(":") ? 128 : 32} for this address.`;
    return invalid("not_allowed", message);
  }
  return invalid(
    "not_allowed",
    `is ${quote(text)}; write a network as in 192.0.2.0/28, 192.0.2.7/32 or ` +
      "2001:db8::/32.",
  );
}

function readExpiry(text: string, now: number): ReadResult<number> {
  const time = parseTime(text);
  if (time === null) {
    return invalid("not_a_date", timeProblem(text));
  }
  if (time > now) return ok(time);
  return invalid(
    "out_of_range",
    `is ${quote(text)}, which has passed; it must be later than ${
      isoTime(now)
    }.`,
  );
}

/** Reads `<key>`. Throws 422 with every problem. */
export function readKey(root: XmlElement, now: number): WantedKey {
  const { fields, details } = readFields(root, KEY_DOCUMENT);
  const textOf = (name: "label" | "expires_at") => {
    const field = fields.get(name);
    return field && trimSpace(field.text);
  };
  const texts = {
    label: textOf("label"),
    scopes: listOf(fields.get("scopes"), SENT_SCOPES, details),
    expiresAt: textOf("expires_at"),
    networks: listOf(fields.get("networks"), SENT_NETWORKS, details),
  };
  const byName: ReadonlyMap<string, XmlElement> = fields;
  return readKeyTexts(texts, now, details, (field, entry) => {
    const sent = byName.get(field);
    return (sent?.children[(entry ?? 0) - 1] ?? sent)?.line;
  });
}
