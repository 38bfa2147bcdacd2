/** A seller of a world, as its clients and the operator know it. */
import type { Keyring } from "./caller.ts";
import type { Register } from "./register.ts";

export interface SellerPlan {
  name: string;
  /** Attacks; nobody keeps a model of what it stores. */
  hostile: boolean;
  /** Clients with products of their own. */
  clients: number;
  /** Products that it may have; null for the default. */
  productLimit: number | null;
  /** Requests a minute; null for the default. */
  rateLimit: number | null;
}

/** A webhook that was registered, or null for none. */
export type Registration = { url: string; format: string } | null;

/** A secret of one webhook. */
export interface HookSecret {
  trigger: string;
  secret: string;
  madeAt: number;
  /** The webhook is deleted, and its secret with it; Infinity: it is not. */
  endedAt: number;
}

/** An event that the operator was told is recorded. */
export interface KnownEvent {
  id: string;
  trigger: string;
  reference: string;
  data: string;
  /** The answer said that it is delivered. */
  delivered: boolean;
  /** When it had been handed in; virtual milliseconds. */
  at: number;
}

export class Seller implements Keyring {
  readonly plan: SellerPlan;
  readonly id: string;
  name: string;
  key: string;
  keyId: string;
  /** It is removed, or may be. */
  removed = false;
  /** Secrets that may sign its deliveries. */
  readonly secrets = new Set<string>();
  /** Those of all its webhooks, with the virtual time of each. */
  readonly ownSecrets: { secret: string; madeAt: number }[] = [];
  /** Secrets of single webhooks; virtual times. */
  readonly hookSecrets: HookSecret[] = [];
  /** Triggers with a secret of their own, or perhaps. */
  readonly rotated = new Set<string>();
  /** While it was suspended for certain; Unix milliseconds. */
  readonly suspensions: { from: number; to: number }[] = [];
  /** By trigger. */
  readonly webhooks = new Map<string, Register<Registration>>();
  /** Triggers of which deliveries were cancelled, or may have been. */
  readonly cancelled = new Set<string>();
  /** Triggers of which an endpoint failed, or may have. */
  readonly unreliable = new Set<string>();
  /** Events that were sent again because somebody asked. */
  readonly replayed = new Set<string>();
  /** When those of a trigger that had not arrived were asked for; virtual. */
  readonly recoveries: { trigger: string; at: number }[] = [];
  /** In the order in which they were handed in. */
  readonly events: KnownEvent[] = [];
  /** What its rate limit is may have changed. */
  limited: boolean;

  constructor(
    plan: SellerPlan,
    made: { id: string; name: string; key: string; keyId: string },
    limited: boolean,
  ) {
    this.plan = plan;
    this.id = made.id;
    this.name = made.name;
    this.key = made.key;
    this.keyId = made.keyId;
    this.limited = limited;
  }

  /** Whether all endpoints of a trigger took everything at once. */
  isReliable(trigger: string): boolean {
    return !this.unreliable.has(trigger);
  }
}
