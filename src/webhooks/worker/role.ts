/**
 * Sends due deliveries to webhooks: claims them under a lease in a short write,
 * sends them outside any transaction, and records the outcome while the lease
 * is held.
 */
import { Outbound } from "../../net/outbound.ts";
import type { Services } from "../../services.ts";
import { type Tx, wholeOutageOf } from "../../database/db.ts";
import { Calls } from "../../lib/calls.ts";
import type { Held } from "../../lib/holders.ts";
import type { Permit } from "../../lib/usage.ts";
import type { BackgroundRole } from "../../jobs/role_keeper.ts";
import {
  type Claim,
  claimDeliveries,
  loadPayloads,
  type Payload,
  type QueueHead,
  queueHeads,
} from "../rows/queue.ts";
import { HeldLeases, writeEnd } from "../../jobs/held_leases.ts";
import { eachSeller, type Leased } from "../../jobs/lease_queue.ts";
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
import { Loop } from "../../jobs/loop.ts";
import { pause } from "../../lib/waits.ts";
import { sendPayload } from "./attempt.ts";

/** How often it looks for rows that other processes wrote. */
const LOOK_MS = 1_000;
/** How long attempts in flight may take to end after a stop. */
const STOP_MS = 2_000;
/** A failing webhook keeps its slot this long for each failure in a row. */
const REST_MS = 10;
const REST_MAX_MS = 1_000;

type RoleServices = Pick<
  Services,
  "config" | "deps" | "db" | "signals" | "metrics" | "network"
>;

export interface WebhookRoleOptions {
  /** Other processes send from this database, too; their leases are kept. */
  shared: boolean;
}

export class WebhookRole implements BackgroundRole {
  readonly #services: RoleServices;
  readonly #outbound: Outbound;
  readonly #loop: Loop;
  readonly #inFlight: InFlight;
  readonly #leases: HeldLeases<Claim>;
  readonly #sending = new Calls();
  readonly #aborting = new AbortController();
  #progress = 0;

  constructor(services: RoleServices, { shared }: WebhookRoleOptions) {
    const { config, deps, signals, network } = services;
    this.#services = services;
    this.#leases = new HeldLeases({ ...services, queue: DELIVERIES, shared });
    this.#inFlight = new InFlight(deps.clock);
    this.#outbound = new Outbound({
      allowPrivate: config.allowPrivate,
      userAgent: USER_AGENT,
      clock: deps.clock,
      ...network,
    });
    this.#loop = new Loop({
      name: "webhooks",
      deps,
      signal: signals.deliveries,
      idleMs: LOOK_MS,
      step: () => this.#step(),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /**
   * Stops claiming, waits two seconds for attempts in flight, and releases the
   * rest.
   */
  async stop(): Promise<void> {
    await this.#loop.stop();
    const cancel = this.#services.deps.clock.after(
      STOP_MS,
      () => this.#aborting.abort(),
    );
    await this.#sending.ended();
    cancel();
    this.#outbound.close();
  }

  /** Its claimed deliveries are sent again when their leases have ended. */
  abandon(): Promise<void> {
    this.#aborting.abort();
    void this.#loop.stop();
    this.#outbound.close();
    return Promise.resolve();
  }

  trouble(): string | null {
    return wholeOutageOf(this.#services.db, this.#loop.failure);
  }

  get progress(): number {
    return this.#progress;
  }

  held(): Held & { in_flight: number } {
    return {
      in_flight: this.#leases.size,
      sending: this.#sending.size,
      ...this.#outbound.held(),
    };
  }

  oldestWaitMs(): number {
    return this.#outbound.oldestWaitMs();
  }

  async #step(): Promise<number> {
    const { clock } = this.#services.deps;
    const now = clock.now();
    await this.#leases.renew();
    const interrupt = (tx: Tx, own: readonly Leased[]) =>
      this.#interrupt(tx, own);
    if (await this.#leases.releaseDead(interrupt) > 0) {
      this.#progress++;
      return 0;
    }
    const heads = await this.#services.db.read(
      (sql) => queueHeads(sql, now + LOOK_MS),
      { single: true },
    );
    await this.#services.deps.maybe?.("deliveries looked at");
    const due = heads.filter(({ dueAt }) => dueAt <= now);
    const shares = this.#inFlight.shares(due);
    const given = shares.reduce((sum, { limit }) => sum + limit, 0);
    const claimed = given > 0 ? await this.#claim(shares) : 0;
    const isIdle = due.length === 0 && this.#leases.inReach().length === 0;
    if (isIdle || claimed > 0) this.#progress++;
    // Another webhook may use the slots that one webhook did not need.
    if (claimed < given && shares.length < due.length) return 0;
    const next = heads.find(({ dueAt }) => dueAt > now);
    return next === undefined ? LOOK_MS : next.dueAt - now;
  }

  async #interrupt(tx: Tx, own: readonly Leased[]): Promise<void> {
    const { clock } = this.#services.deps;
    const settlement = { now: clock.now(), fraction: 0 };
    for (const leased of own) {
      await settleDelivery(tx, leased, INTERRUPTED, settlement);
    }
  }

  /** Claims and sends; returns how many deliveries. */
  async #claim(shares: readonly ClaimShare[]): Promise<number> {
    const counts = await eachSeller(
      shares.map((share) => ({ sellerNo: share.head.sellerNo, share })),
      (sellerNo, own) => this.#claimOf(sellerNo, own.map(({ share }) => share)),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async #claimOf(
    sellerNo: number,
    shares: readonly ClaimShare[],
  ): Promise<number> {
    const { db, deps } = this.#services;
    const lease = deps.ids.uuid();
    let claimedAt = 0;
    const flights = await db.write((tx) => {
      // The write may have waited long.
      claimedAt = tx.now();
      return claimShares(tx, shares, { lease, now: claimedAt });
    }, { seller: sellerNo });
    await deps.maybe?.("deliveries claimed");
    this.#leases.add(flights.map(({ claim }) => claim), claimedAt);
    for (const flight of flights) this.#launch(flight);
    return flights.length;
  }

  #launch(flight: Flight): void {
    const { claim } = flight;
    const sending = this.#deliver(flight)
      .catch((error) =>
        // Its lease expires by itself; it is sent again then.
        this.#services.deps.log.error("delivery_not_recorded", {
          delivery: claim.id,
          error: String(error),
        })
      )
      .finally(() => {
        this.#leases.delete(claim);
        this.#services.signals.deliveries.notify();
      });
    this.#sending.add(sending);
  }

  async #deliver(flight: Flight): Promise<void> {
    using place = this.#inFlight.take(flight.head);
    const { outcome, failures, endedAt } = await inSpan(
      "delivery.attempt",
      () => this.#attempt(flight, place),
      {
        root: true,
        attributes: ({ outcome }) => ({
          outcome: nameOf(outcome),
          attempt: flight.claim.attempt,
          status: outcome.status ?? undefined,
        }),
      },
    );
    if (failures === null) return;
    const interrupted = outcome.error === INTERRUPTED.error;
    await this.#rest(interrupted ? REST_MAX_MS : REST_MS * failures, endedAt);
  }

  /** Sends a delivery once and records the outcome. */
  async #attempt(
    flight: Flight,
    place: Permit,
  ): Promise<Attempted> {
    const { deps } = this.#services;
    const { head, payload } = flight;
    const outcome = await sendPayload({
      payload,
      url: head.url,
      owner: head.sellerId,
      outbound: this.#outbound,
      clock: deps.clock,
      signal: this.#aborting.signal,
    });
    const endedAt = deps.clock.monotonic();
    // The seller does not pay for the time after the answer.
    place.stopTime();
    await deps.maybe?.("delivery answered");
    const settled = await this.#record(flight, outcome, place);
    await deps.maybe?.("delivery recorded");
    this.#progress++;
    this.#count(outcome, deps.clock.now() - payload.createdAt);
    if (settled !== null) this.#log(flight, outcome, settled);
    return { outcome, failures: settled?.webhookFailures ?? null, endedAt };
  }

  /** `latencyMs`: since the event was posted. */
  #count(outcome: Outcome, latencyMs: number): void {
    const { deliveries, deliveryLatency } = this.#services.metrics;
    deliveries.add(1, nameOf(outcome));
    if (isAccepted(outcome)) deliveryLatency.observe(latencyMs / 1_000);
  }

  /**
   * Records an outcome, with retries until the database accepts it. Until then
   * the delivery stays in flight, so that its lease is renewed and it is not
   * sent twice; if the server of its seller alone is away, without a place.
   */
  async #record(
    flight: Flight,
    outcome: Outcome,
    place: Permit,
  ): Promise<Settled | null> {
    const { db, deps } = this.#services;
    const { sellerNo, webhookId } = flight.head;
    return await writeEnd(
      this.#services,
      (tx) =>
        settleDelivery(tx, flight.claim, outcome, {
          now: deps.clock.now(),
          fraction: randomFraction(deps.ids.random(4)),
        }),
      {
        seller: sellerNo,
        shared: { kind: "outcomes", key: webhookId },
        abort: this.#aborting.signal,
        onFailure: () => {
          if (db.spread?.isAway(sellerNo)) place[Symbol.dispose]();
        },
      },
    );
  }

  /**
   * Pauses after a failure, so that neither a backlog nor a delivery that this
   * process aborted is tried again at once.
   */
  async #rest(restMs: number, since: number): Promise<void> {
    const { clock } = this.#services.deps;
    const until = since + Math.min(REST_MAX_MS, restMs);
    const ms = until - clock.monotonic();
    if (ms > 0) await pause(clock, ms, this.#aborting.signal);
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

/** For metrics and traces. */
function nameOf(outcome: Outcome): string {
  return isAccepted(outcome) ? "delivered" : outcome.error ?? "rejected";
}

/** Claims deliveries of one seller, with what they send. */
async function claimShares(
  tx: Tx,
  shares: readonly ClaimShare[],
  lease: { lease: string; now: number },
): Promise<Flight[]> {
  // Sent all at once, which costs one round trip to a server.
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
