/** The session: one key, stored for this tab only. */
import {
  ApiError,
  type Client,
  type ClientOptions,
  createClient,
  createOperatorClient,
  type OperatorClient,
} from "../../client/mod.ts";
import { inTab } from "../lib/browser.ts";
import { Store } from "../lib/store.ts";

export type AccountKind = "seller" | "operator";

export type Session =
  | { role: "seller"; client: Client }
  | { role: "operator"; client: OperatorClient };

export interface SignedOut {
  role: null;
  /** Why the session ended, unless the user signed out. */
  notice: string | null;
}

const keptKey = inTab("key");
const keptRole = inTab("role");

export const session = new Store<Session | SignedOut>(restored());

/** For each kind of account, a request that no other kind may make. */
const PROBES: Readonly<
  Record<AccountKind, (options: ClientOptions) => PromiseLike<unknown>>
> = {
  seller: (options) => createClient(options).webhooks.list(),
  operator: (options) =>
    createOperatorClient(options).sellers.list({ limit: 1 }),
};
const KINDS = ["seller", "operator"] as const;

/**
 * Finds the account of a key and signs in. Throws `ApiError` (401: invalid key)
 * or `ConnectionError`.
 */
export async function signIn(key: string): Promise<void> {
  let refusal: unknown;
  for (const role of KINDS) {
    try {
      await PROBES[role]({ key, retryFor: 0 });
      return begin(role, key);
    } catch (error) {
      // A 403 for a missing scope: the kind is right, the key lacks the scope.
      if (error instanceof ApiError && error.code === "forbidden") {
        return begin(role, key);
      }
      const notThisRole = error instanceof ApiError &&
        (error.status === 401 || error.status === 404);
      if (!notThisRole) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/** Continues the session with another key of the same account. */
export function replaceKey(key: string): void {
  const { role } = session.value;
  if (role !== null) begin(role, key);
}

/** Forgets the key. */
export function signOut(notice: string | null = null): void {
  keptKey.set(null);
  keptRole.set(null);
  session.set({ role: null, notice });
}

function begin(role: AccountKind, key: string): void {
  keptKey.set(key);
  keptRole.set(role);
  session.set(sessionOf(role, key));
}

function restored(): Session | SignedOut {
  const key = keptKey.get();
  const role = keptRole.get();
  if (key === null || (role !== "seller" && role !== "operator")) {
    return { role: null, notice: null };
  }
  return sessionOf(role, key);
}

function sessionOf(role: AccountKind, key: string): Session {
  const options = optionsOf(key);
  return role === "seller"
    ? { role, client: createClient(options) }
    : { role, client: createOperatorClient(options) };
}

function optionsOf(key: string): ClientOptions {
  const fetchOrEnd = async (url: string, init: RequestInit) => {
    const response = await fetch(url, init);
    if (response.status === 401) end(key);
    return response;
  };
  return {
    key,
    retryFor: 0,
    fetch: fetchOrEnd,
    // A view follows its upload for as long as images are pending.
    limits: { followFor: Infinity },
  };
}

/** Signs out, because the service refuses this key. */
function end(key: string): void {
  // Ignore a late refusal of a key that has been replaced.
  if (keptKey.get() !== key && keptKey.get() !== null) return;
  signOut(
    "Your key is no longer valid: it was revoked or replaced. Sign in with the current key to continue.",
  );
}
