/** The rights of a seller's key: its scopes, expiry and networks. */
import { parseCidr, Ranges } from "../lib/cidr.ts";
import { type Detail, ServiceError } from "../lib/errors.ts";
import { isoTime } from "../xml/encode.ts";
import { type NeededScope, type Scope, SCOPES, scopesOf } from "./scopes.ts";

export interface KeyRights {
  /** At least one, in the order of `SCOPES`. */
  scopes: readonly Scope[];
  /** Unix milliseconds; null: the key does not expire. */
  expiresAt: number | null;
  /** CIDRs; if empty, the key may be used from any address. */
  networks: readonly string[];
}

/** Rights that a document or a command names. */
export type WantedRights = Partial<KeyRights>;

export const ALL_RIGHTS: KeyRights = {
  scopes: SCOPES,
  expiresAt: null,
  networks: [],
};

/** The columns with the rights of a key. */
export interface RightsRow {
  scopes: string;
  expiresAt: number | null;
  networks: string;
}

export function rightsOf(
  { scopes, expiresAt, networks }: RightsRow,
): KeyRights {
  return {
    scopes: scopes.split(" ") as Scope[],
    expiresAt,
    networks: networks === "" ? [] : networks.split(" "),
  };
}

/** The values of the columns scopes, expires_at and networks. */
export function rightsColumns({ scopes, expiresAt, networks }: KeyRights) {
  return [scopes.join(" "), expiresAt, networks.join(" ")];
}

/** Describes the restrictions of a key for the audit log; empty if none. */
export function describeRights(
  { scopes, expiresAt, networks }: KeyRights,
): string {
  return [
    ...(scopes.length === SCOPES.length ? [] : [`scopes ${scopes.join(" ")}`]),
    ...(expiresAt === null ? [] : [`until ${isoTime(expiresAt)}`]),
    ...(networks.length === 0 ? [] : [`from ${networks.join(" ")}`]),
  ].join(", ");
}

/** Throws 403 unless the key has a scope that allows the request. */
export function checkScope(
  { scopes }: Pick<KeyRights, "scopes">,
  scope: NeededScope,
  method: string,
): void {
  const wanted = scopesOf(scope, method);
  if (wanted.some((one) => scopes.includes(one))) return;
  throw new ServiceError(
    "forbidden",
    `Your key lacks the scope ${wanted.join(" or ")}; it has ` +
      `${scopes.join(", ")}. Use another key, or create one.`,
  );
}

/** The networks of a key as ranges; null: any address is allowed. */
export function rangesOf({ networks }: KeyRights): Ranges | null {
  return networks.length === 0 ? null : new Ranges(networks);
}

/**
 * The rights of a key that is created with another key, whose rights are `own`.
 * A right that is not given is taken from `own`. Throws 403 with a detail for
 * each right that exceeds `own`.
 */
export function rightsWithin(own: KeyRights, wanted: WantedRights): KeyRights {
  const { scopes, expiresAt, networks } = wanted;
  const rights: KeyRights = {
    scopes: scopes ?? own.scopes,
    // null means that the key never expires, which exceeds any expiry.
    expiresAt: expiresAt === undefined ? own.expiresAt : expiresAt,
    networks: networks ?? own.networks,
  };
  const details = excessRights(own, rights);
  if (details.length === 0) return rights;
  throw new ServiceError(
    "forbidden",
    "A key cannot create a key with more rights than its own: " +
      details.map(({ message }) => message).join(" "),
    { details },
  );
}

/** A problem for each right that exceeds `own`. */
function excessRights(own: KeyRights, rights: KeyRights): Detail[] {
  const scopes = rights.scopes.filter((scope) => !own.scopes.includes(scope));
  const isLonger = own.expiresAt !== null &&
    (rights.expiresAt === null || rights.expiresAt > own.expiresAt);
  const networks = own.networks.length === 0
    ? []
    : rights.networks.filter((network) => !isWithin(network, own.networks));
  return [
    ...scopes.map((scope) =>
      tooMuchProblem("scopes/scope", `Your key lacks the scope "${scope}".`)
    ),
    ...(isLonger
      ? [tooMuchProblem(
        "expires_at",
        `Your key expires at ${
          isoTime(own.expiresAt!)
        }; choose an earlier expiry.`,
      )]
      : []),
    ...(own.networks.length > 0 && rights.networks.length === 0
      ? [
        tooMuchProblem(
          "networks",
          `Your key is limited to ${own.networks.join(", ")}.`,
        ),
      ]
      : []),
    ...networks.map((network) =>
      tooMuchProblem(
        "networks/network",
        `${network} is not within the networks of your key, ` +
          `${own.networks.join(", ")}.`,
      )
    ),
  ];
}

function tooMuchProblem(field: string, message: string): Detail {
  return { field, code: "not_allowed", message };
}

function isWithin(network: string, outer: readonly string[]): boolean {
  const { address, prefix } = parseCidr(network)!;
  return outer.some((one) =>
    parseCidr(one)!.prefix <= prefix && new Ranges([one]).has(address)
  );
}
