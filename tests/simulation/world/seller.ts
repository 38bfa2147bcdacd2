/** A seller of a world, as its clients and the operator know it. */
import type { Keyring } from "./caller.ts";
import type { Register } from "./register.ts";

export interface SellerPlan {
  name: string;
  /** Whether it attacks; there is no model of its products. */
  hostile: boolean;
  /** How many clients with their own products it has. */
  clients: number;
  /** Its product limit; null for the default. */
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

/** An event that is recorded, according to the answer to the operator. */
export interface KnownEvent {
  id: string;
  trigger: string;
  reference: string;
  data: string;
  /** Whether the answer said that it is delivered. */
  delivered: boolean;
  /** Virtual milliseconds at which it had been recorded. */
  at: number;
}

export class Seller implements Keyring {
  readonly plan: SellerPlan;
  readonly id: string;
  name: string;
  key: string;
  keyId: string;
  /** Whether it is removed, or may be. */
  removed = false;
  /** Images that are deleted with it, at least. */
  removedImages = 0;
  /** Secrets that may sign its deliveries. */
  readonly secrets = new Set<string>();
  /** The secrets of its webhooks, with the virtual time of each. */
  readonly ownSecrets: { secret: string; madeAt: number }[] = [];
  /** Secrets of single webhooks; virtual times. */
  readonly hookSecrets: HookSecret[] = [];
  /** Triggers that have, or may have, their own secret. */
  readonly rotated = new Set<string>();
  /** Unix milliseconds between which it was certainly suspended. */
  readonly suspensions: { from: number; to: number }[] = [];
  /** Webhooks by trigger. */
  readonly webhooks = new Map<string, Register<Registration>>();
  /** Triggers whose deliveries were, or may have been, cancelled. */
  readonly cancelled = new Set<string>();
  /** Triggers whose endpoint failed, or may have. */
  readonly unreliable = new Set<string>();
  /** Events that were replayed on request. */
  readonly replayed = new Set<string>();
  /** When recovery was requested for a trigger; virtual milliseconds. */
  readonly recoveries: { trigger: string; at: number }[] = [];
  /** In the order in which they were recorded. */
  readonly events: KnownEvent[] = [];
  /** Whether its rate limit may have changed. */
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

  /** Whether all endpoints of a trigger accepted everything at once. */
  isReliable(trigger: string): boolean {
    return !this.unreliable.has(trigger);
  }
}
