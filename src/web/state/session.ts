/** The session: one key, stored for this tab only. */
import {
  ApiError,
  type Client,
  type ClientOptions,
  createClient,
  createOperatorClient,
  type OperatorClient,
} from "../../client/mod.ts";
import { storedInTab } from "../lib/browser.ts";
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

const storedKey = storedInTab("key");
const storedRole = storedInTab("role");

export const session = new Store<Session | SignedOut>(restoredSession());

/** A request of each kind of account that the other kind may not make. */
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
      return beginSession(role, key);
    } catch (error) {
      // With a 403 the kind of account is right, but the key lacks a scope.
      if (error instanceof ApiError && error.code === "forbidden") {
        return beginSession(role, key);
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
  if (role !== null) beginSession(role, key);
}

/** Ends the session and deletes the stored key. */
export function signOut(notice: string | null = null): void {
  storedKey.set(null);
  storedRole.set(null);
  session.set({ role: null, notice });
}

function beginSession(role: AccountKind, key: string): void {
  storedKey.set(key);
  storedRole.set(role);
  session.set(sessionOf(role, key));
}

function restoredSession(): Session | SignedOut {
  const key = storedKey.get();
  const role = storedRole.get();
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
    if (response.status === 401) endSession(key);
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
function endSession(key: string): void {
  // A late refusal of a key that has been replaced is ignored.
  if (storedKey.get() !== key && storedKey.get() !== null) return;
  signOut(
    "Your key is no longer valid: it was revoked or replaced. Sign in with the current key to continue.",
  );
}
