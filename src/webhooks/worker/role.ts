/**
 * Sends due deliveries to webhooks: claims them under a lease in a short write,
 * sends them outside any transaction, and records the outcome while the lease
 * is held.
 */
import { Outbound } from "../../net/outbound.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../database/db.ts";
import type { Permit } from "../../lib/usage.ts";
import {
  type Claim,
  claimDeliveries,
  loadPayloads,
  type Payload,
  type QueueHead,
  queueHeads,
} from "../rows/queue.ts";
import {
  type ClaimResult,
  LeasedRole,
  LONGEST_IDLE_MS,
} from "../../jobs/leased_role.ts";
import { forEachSeller, type Leased } from "../../jobs/lease_queue.ts";
import { DELIVERIES } from "../webhook.ts";
import {
  INTERRUPTED,
  isAccepted,
  type Outcome,
  type Settled,
  settleDelivery,
} from "../rows/outcomes.ts";
import { type ClaimShare, InFlight } from "./in_flight.ts";
import { USER_AGENT } from "../../version.ts";
import { inSpan } from "../../lib/tracing.ts";
import { pause } from "../../lib/waits.ts";
import { sendPayload } from "./attempt.ts";
import { isReachable } from "../../database/sections.ts";

/** How long attempts in flight may take to end after a stop. */
const GRACE_MS = 2_000;
/** A failing webhook keeps its permit this long for each failure in a row. */
const REST_MS = 10;
const REST_MAX_MS = 1_000;

type RoleServices = Pick<
  Services,
  "config" | "deps" | "db" | "signals" | "metrics" | "network"
>;

export interface WebhookRoleOptions {
  /**
   * Whether other processes send from this database, so that their leases are
   * kept.
   */
  shared: boolean;
}

export class WebhookRole extends LeasedRole<Claim> {
  readonly #services: RoleServices;
  readonly #outbound: Outbound;
  readonly #inFlight: InFlight;

  constructor(services: RoleServices, { shared }: WebhookRoleOptions) {
    const { config, deps, network } = services;
    const outbound = new Outbound({
      allowPrivate: config.allowPrivate,
      userAgent: USER_AGENT,
      clock: deps.clock,
      ...network,
    });
    super(services, {
      queue: DELIVERIES,
      shared,
      graceMs: GRACE_MS,
      outbound,
    });
    this.#services = services;
    this.#outbound = outbound;
    this.#inFlight = new InFlight(deps.clock);
  }

  protected async claimAndLaunch(now: number): Promise<ClaimResult> {
    const { db, deps } = this.#services;
    const heads = await db.read(
      (sql) => queueHeads(sql, now + LONGEST_IDLE_MS),
      { single: true },
    );
    await deps.maybe?.("deliveries looked at");
    const due = heads.filter(({ dueAt }) => dueAt <= now);
    const shares = this.#inFlight.shares(due);
    const slots = shares.reduce((sum, { limit }) => sum + limit, 0);
    const claimed = slots > 0 ? await this.#claim(shares) : 0;
    const found = { due: due.length, changed: claimed };
    // Another webhook may use the slots that one webhook did not need.
    const hasFreeSlots = claimed < slots && shares.length < due.length;
    if (hasFreeSlots) return { ...found, againInMs: 0 };
    const next = heads.find(({ dueAt }) => dueAt > now);
    const againInMs = next === undefined ? LONGEST_IDLE_MS : next.dueAt - now;
    return { ...found, againInMs };
  }

  protected override async endDeadLeases(
    tx: Tx,
    own: readonly Leased[],
  ): Promise<void> {
    const { clock } = this.#services.deps;
    const settlement = { now: clock.now(), fraction: 0 };
    for (const leased of own) {
      await settleDelivery(tx, leased, INTERRUPTED, settlement);
    }
  }

  /** Claims deliveries and sends them; returns how many. */
  async #claim(shares: readonly ClaimShare[]): Promise<number> {
    const counts = await forEachSeller(
      shares.map((share) => ({ sellerNo: share.head.sellerNo, share })),
      (sellerNo, own) => this.#claimOf(sellerNo, own.map(({ share }) => share)),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async #claimOf(
    sellerNo: number,
    shares: readonly ClaimShare[],
  ): Promise<number> {
    const flights = await this.claim(
      { db: this.#services.db.of(sellerNo) },
      (tx, terms) => claimShares(tx, shares, terms),
      (flights) => flights.map(({ claim }) => claim),
    );
    for (const flight of flights) {
      this.launch([flight.claim], () => this.#deliver(flight));
    }
    return flights.length;
  }

  async #deliver(flight: Flight): Promise<void> {
    using permit = this.#inFlight.acquire(flight.head);
    const { outcome, failures, endedAt } = await inSpan(
      "delivery.attempt",
      () => this.#attempt(flight, permit),
      {
        root: true,
        attributes: ({ outcome }) => ({
          outcome: metricsOutcomeOf(outcome),
          attempt: flight.claim.attempt,
          status: outcome.status ?? undefined,
        }),
      },
    );
    if (failures === null) return;
    const interrupted = outcome.error === INTERRUPTED.error;
    await this.#pauseAfterFailure(
      interrupted ? REST_MAX_MS : REST_MS * failures,
      endedAt,
    );
  }

  /** Sends a delivery once and records the outcome. */
  async #attempt(
    flight: Flight,
    permit: Permit,
  ): Promise<Attempted> {
    const { deps } = this.#services;
    const { head, payload } = flight;
    const outcome = await sendPayload({
      payload,
      url: head.url,
      owner: head.sellerId,
      outbound: this.#outbound,
      clock: deps.clock,
      signal: this.aborting,
    });
    const endedAt = deps.clock.monotonic();
    // Time after the answer does not count against the seller.
    permit.stopTime();
    await deps.maybe?.("delivery answered");
    const settled = await this.#record(flight, outcome, permit);
    await deps.maybe?.("delivery recorded");
    this.noteProgress();
    this.#count(outcome, deps.clock.now() - payload.createdAt);
    if (settled !== null) this.#log(flight, outcome, settled);
    return { outcome, failures: settled?.webhookFailures ?? null, endedAt };
  }

  /** `latencyMs`: since the event was posted. */
  #count(outcome: Outcome, latencyMs: number): void {
    const { deliveries, deliveryLatency } = this.#services.metrics;
    deliveries.add(1, metricsOutcomeOf(outcome));
    if (isAccepted(outcome)) deliveryLatency.observe(latencyMs / 1_000);
  }

  /**
   * Records an outcome; retries until the database accepts it. Until then the
   * delivery counts as in flight, so that its lease is renewed and it is not
   * sent twice. It keeps its permit, unless only the seller's section is
   * unreachable.
   */
  async #record(
    flight: Flight,
    outcome: Outcome,
    permit: Permit,
  ): Promise<Settled | null> {
    const { db, deps } = this.#services;
    const { sellerNo, webhookId } = flight.head;
    return await this.settle(
      {
        db: db.of(sellerNo),
        shared: { kind: "outcomes", key: webhookId },
        onFailure: () => {
          if (!isReachable(db, sellerNo)) permit[Symbol.dispose]();
        },
      },
      (tx) =>
        settleDelivery(tx, flight.claim, outcome, {
          now: deps.clock.now(),
          fraction: randomFraction(deps.ids.random(4)),
        }),
    );
  }

  /**
   * Pauses after a failure, so that neither a backlog nor a delivery that this
   * process aborted is tried again at once.
   */
  async #pauseAfterFailure(restMs: number, since: number): Promise<void> {
    const { clock } = this.#services.deps;
    const until = since + Math.min(REST_MAX_MS, restMs);
    const ms = until - clock.monotonic();
    if (ms > 0) await pause(clock, ms, this.aborting);
  }

  #log({ claim, head }: Flight, outcome: Outcome, settled: Settled): void {
    const { log } = this.#services.deps;
    const level = settled.state === "delivered" ? "debug" : "info";
    log[level]("delivery_tried", {
      delivery: claim.id,
      attempt: claim.attempt,
      state: settled.state,
      status: outcome.status ?? undefined,
      error: outcome.error ?? undefined,
      ms: outcome.durationMs,
    });
    if (settled.webhookDisabled) {
      const { webhookId: webhook, sellerId: seller_id } = head;
      log.warn("webhook_disabled", { webhook, seller_id });
    }
  }
}

/** A claimed delivery. */
interface Flight {
  claim: Claim;
  /** Its webhook, as it was when it was claimed. */
  head: QueueHead;
  payload: Payload;
}

interface Attempted {
  outcome: Outcome;
  /** Failures of the webhook in a row; null if the lease was lost. */
  failures: number | null;
  /** Monotonic milliseconds. */
  endedAt: number;
}

/** The outcome in metrics and traces. */
function metricsOutcomeOf(outcome: Outcome): string {
  return isAccepted(outcome) ? "delivered" : outcome.error ?? "rejected";
}

/** Claims deliveries of one seller, with their payloads. */
async function claimShares(
  tx: Tx,
  shares: readonly ClaimShare[],
  lease: { lease: string; now: number },
): Promise<Flight[]> {
  // All statements are sent at once, which costs one round trip.
  const claimed = await Promise.all(shares.map(async ({ head, limit }) => {
    const claims = await claimDeliveries(tx, { ...head, ...lease, limit });
    return claims.map((claim) => ({ head, claim }));
  }));
  const flights = claimed.flat();
  const ids = flights.map(({ claim }) => claim.id);
  const payloads = await loadPayloads(tx, shares[0].head.sellerNo, ids);
  return flights.map((flight) => (
    { ...flight, payload: payloads.get(flight.claim.id)! }
  ));
}

/** Four random bytes as a number in 0…1. */
function randomFraction(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) / 2 ** 32;
}
