/**
 * Sends notices: to sellers by mail, to the operator by signed requests. Every
 * process does: it claims what is due under a lease in a short write,
 * sends it, and records the outcome. A mail server or an endpoint that is away is
 * left alone for a while, and costs nothing else.
 */
import {
  type Part,
  partsOf,
  type Tx,
  wholeOutageOf,
} from "../../database/db.ts";
import { HeldLeases, writeEnd } from "../../jobs/held_leases.ts";
import { Loop } from "../../jobs/loop.ts";
import { OngoingFailure } from "../../jobs/ongoing_failure.ts";
import { PeriodicJobs } from "../../jobs/periodic_jobs.ts";
import type { BackgroundRole } from "../../jobs/role_keeper.ts";
import { Calls } from "../../lib/calls.ts";
import { SECOND_MS } from "../../lib/durations.ts";
import type { Held } from "../../lib/holders.ts";
import { retryAfter } from "../../lib/retry_after.ts";
import { within } from "../../lib/waits.ts";
import { Outbound, OutboundError } from "../../net/outbound.ts";
import type { Services } from "../../services.ts";
import { USER_AGENT } from "../../version.ts";
import { webhookSignature } from "../../webhooks/webhook.ts";
import { NoticeLooks } from "../look.ts";
import { type Notice, NOTICES, type Recipient } from "../notice.ts";
import {
  addresseeOf,
  type Claimed,
  claimForOperator,
  claimForSeller,
  dueFor,
  noteMailed,
  type Outcome,
  settleNotices,
} from "../rows.ts";
import { digest, operatorPayload, payloadId } from "../text.ts";
import { Seen } from "./seen.ts";

/** How often it looks for rows that other processes wrote. */
const STEP_MS = SECOND_MS;
/** How often it looks for new notices. */
const LOOK_MS = 5 * SECOND_MS;
const SEE_MS = 4 * SECOND_MS;
/** Mails, or requests, in flight of one process. */
const AT_ONCE = 4;
/** How long those in flight may take to end after a stop. */
const STOP_MS = 2_000;
const ANSWER_MS = 15_000;
const ANSWER_BYTES = 16 * 1_024;
/** Pauses of a mail server or an endpoint that is away. */
const FIRST_PAUSE_MS = 2 * SECOND_MS;
const LONGEST_PAUSE_MS = 8 * SECOND_MS;
const LONGEST_RETRY_AFTER_MS = 60 * SECOND_MS;
/** The operator chose the address. */
const EVERYWHERE = ["0.0.0.0/0", "::/0"];

export interface NoticeRoleOptions {
  /** Whether this process looks for new notices. */
  isLooking: () => boolean;
}

/** Whether notices were sent, or why not. */
interface Result {
  outcome: Outcome;
  /** The other side takes nothing for now; for how long at least. */
  awayMs?: number;
  /** For the log; without an address. */
  reason?: string;
}

/** One way to send notices, and its state. */
interface Channel {
  recipient: Recipient;
  /** Without what cannot be recorded while a server is away. */
  inFlight: Set<Claimed>;
  /** Failures in a row of the other side. */
  failures: number;
  trouble: OngoingFailure;
  /** Monotonic milliseconds. */
  pausedUntil: number;
  claim: (tx: Tx, sellerNo: number) => Promise<Claimed | "put_off" | null>;
  send: (claimed: Claimed) => Promise<Result>;
}

export class NoticeRole implements BackgroundRole {
  readonly #services: Services;
  readonly #loop: Loop;
  readonly #looks: PeriodicJobs;
  readonly #seen: Seen;
  readonly #outbound: Outbound;
  readonly #channels: Channel[];
  readonly #leases: HeldLeases;
  readonly #sending = new Calls();
  readonly #aborting = new AbortController();
  /** Monotonic milliseconds. */
  #seeAt = 0;
  #progress = 0;

  constructor(services: Services, { isLooking }: NoticeRoleOptions) {
    const { config, deps, signals, network, mailer } = services;
    this.#services = services;
    this.#leases = new HeldLeases({
      ...services,
      queue: NOTICES,
      shared: true,
    });
    this.#outbound = new Outbound({
      allowPrivate: EVERYWHERE,
      userAgent: USER_AGENT,
      clock: deps.clock,
      ...network,
    });
    const channel = (
      recipient: Recipient,
      ways: Pick<Channel, "claim" | "send">,
    ): Channel => ({
      recipient,
      inFlight: new Set(),
      failures: 0,
      trouble: new OngoingFailure(deps.clock),
      pausedUntil: 0,
      ...ways,
    });
    this.#channels = [
      ...(config.noticesUrl === null ? [] : [channel("operator", {
        claim: (tx, no) => claimForOperator(tx, no, deps.ids.uuid()),
        send: ({ notices: [notice] }) => this.#postToOperator(notice),
      })]),
      ...(mailer === null ? [] : [channel("seller", {
        claim: (tx, no) =>
          claimForSeller(tx, no, deps.ids.uuid(), deps.ids.uuid()),
        send: (claimed) => this.#mailToSeller(claimed),
      })]),
    ];
    this.#seen = new Seen(services, (notice) => this.#sendNow(notice));
    const looks = new NoticeLooks(services);
    this.#looks = new PeriodicJobs("notice_looks", [{
      name: "notice_looks",
      everyMs: LOOK_MS,
      isOurs: isLooking,
      run: () => looks.run(),
    }], deps);
    this.#loop = new Loop({
      name: "notices",
      deps,
      signal: signals.notices,
      idleMs: STEP_MS,
      step: () => this.#step(),
    });
  }

  start(): void {
    this.#loop.start();
    this.#looks.start();
  }

  /** Waits a while for what is in flight; the rest is sent again. */
  async stop(): Promise<void> {
    const { clock } = this.#services.deps;
    await Promise.all([this.#loop.stop(), this.#looks.stop()]);
    await within(clock, STOP_MS, this.#sending.ended());
    this.#aborting.abort();
    await within(clock, STOP_MS, this.#sending.ended());
    this.#outbound.close();
  }

  /** What it holds is sent again when its leases have ended. */
  abandon(): Promise<void> {
    this.#aborting.abort();
    void this.#loop.stop();
    void this.#looks.stop();
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
    const { config, deps: { clock } } = this.#services;
    if (config.noticesUrl !== null && clock.monotonic() >= this.#seeAt) {
      this.#seeAt = clock.monotonic() + SEE_MS;
      await this.#seen.look();
    }
    await this.#leases.renew();
    if (await this.#leases.releaseDead() > 0) this.#progress++;
    let due = 0;
    for (const channel of this.#channels) due += await this.#sendDue(channel);
    if (due === 0 && this.#leases.inReach().length === 0) this.#progress++;
    return STEP_MS;
  }

  /**
   * Begins to send what is due, as far as there is room; returns to how many
   * sellers, or about how many, something is due. Nothing is during a pause.
   */
  async #sendDue(channel: Channel): Promise<number> {
    const { db, deps: { clock } } = this.#services;
    if (clock.monotonic() < channel.pausedUntil) return 0;
    let found = 0;
    // One that was away is tried with one.
    const most = channel.failures > 0 ? 1 : AT_ONCE;
    for (const part of partsOf(db)) {
      const room = most - channel.inFlight.size;
      if (room <= 0) return found;
      const due = await part.read(
        (sql) => dueFor(sql, channel.recipient, clock.now(), room),
        { single: true },
      );
      found += due.length;
      for (const sellerNo of due) {
        const { claimed, now } = await part.write(async (tx) => {
          const now = tx.now();
          return { claimed: await channel.claim(tx, sellerNo), now };
        });
        if (claimed === null) continue;
        this.#progress++;
        if (claimed === "put_off") continue;
        this.#leases.add(claimed.leased, now);
        this.#launch(part, channel, claimed);
      }
    }
    return found;
  }

  #launch(part: Part, channel: Channel, claimed: Claimed): void {
    const { deps, signals } = this.#services;
    channel.inFlight.add(claimed);
    const sending = this.#send(part, channel, claimed)
      .catch((error) =>
        // The lease expires by itself; it is sent again then.
        deps.log.error("notice_not_recorded", { error: String(error) })
      )
      .finally(() => {
        channel.inFlight.delete(claimed);
        for (const leased of claimed.leased) this.#leases.delete(leased);
        signals.notices.notify();
      });
    this.#sending.add(sending);
  }

  async #send(part: Part, channel: Channel, claimed: Claimed): Promise<void> {
    const { db, deps, metrics } = this.#services;
    await deps.maybe?.("notices claimed");
    const result = await channel.send(claimed);
    this.#note(channel, result);
    await deps.maybe?.("notices sent");
    const { recipient } = channel;
    metrics.notices.add(1, recipient, result.outcome);
    const isMailed = recipient === "seller" &&
      ["sent", "unsure"].includes(result.outcome);
    await writeEnd({ db: part, deps }, async (tx) => {
      if (isMailed) await noteMailed(tx, claimed.notices[0].sellerNo);
      await settleNotices(tx, claimed, result.outcome);
    }, {
      abort: this.#aborting.signal,
      onFailure: () => {
        if (!partsOf(db).includes(part)) channel.inFlight.delete(claimed);
      },
    });
    this.#progress++;
  }

  /** Notes whether the other side takes what it is sent. */
  #note(channel: Channel, { outcome, awayMs, reason }: Result): void {
    const { clock, log } = this.#services.deps;
    const { recipient } = channel;
    const isNews = awayMs === undefined ||
      channel.trouble.isNews(reason ?? "");
    if (awayMs === undefined) {
      channel.failures = 0;
      channel.trouble.ended();
    } else {
      const pause = FIRST_PAUSE_MS * 2 ** channel.failures++;
      channel.pausedUntil = clock.monotonic() +
        Math.max(awayMs, Math.min(pause, LONGEST_PAUSE_MS));
    }
    if (outcome === "sent") log.debug("notice_sent", { recipient });
    else if (isNews) {
      log.warn("notice_not_sent", { recipient, outcome, reason });
    }
  }

  /** Sends what has no row to the operator; whether that succeeded. */
  async #sendNow(notice: Notice): Promise<boolean> {
    const [channel] = this.#channels;
    const { clock } = this.#services.deps;
    if (clock.monotonic() < channel.pausedUntil) return false;
    const result = await this.#postToOperator(notice);
    this.#note(channel, result);
    return result.outcome === "sent";
  }

  async #postToOperator(notice: Notice): Promise<Result> {
    const { config, deps: { clock }, publicUrl } = this.#services;
    const payload = operatorPayload(notice, publicUrl());
    if (payload === null) return { outcome: "refused", reason: "unknown" };
    const body = new TextEncoder().encode(payload);
    const id = payloadId(payload);
    const timestamp = Math.floor(clock.now() / 1_000);
    const secrets = [config.noticesSecret!];
    try {
      const { status, headers } = await this.#outbound.post(
        config.noticesUrl!,
        {
          headers: {
            "content-type": "application/json",
            "webhook-id": id,
            "webhook-timestamp": `${timestamp}`,
            "webhook-signature": webhookSignature(secrets, id, timestamp, body),
          },
          body,
          timeoutMs: ANSWER_MS,
          maxAnswerBytes: ANSWER_BYTES,
          signal: this.#aborting.signal,
        },
      );
      if (status >= 200 && status < 300) return { outcome: "sent" };
      const wanted = retryAfter(headers("retry-after"), clock.now());
      const awayMs = Math.min(wanted, LONGEST_RETRY_AFTER_MS);
      return { outcome: "released", awayMs, reason: `${status}` };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return { outcome: "released", awayMs: 0, reason: error.kind };
    }
  }

  async #mailToSeller({ notices, messageId: id }: Claimed): Promise<Result> {
    const { db, mailer, publicUrl } = this.#services;
    const [{ sellerNo }] = notices;
    const to = await db.read((sql) => addresseeOf(sql, sellerNo), {
      single: true,
    });
    if (to === null) return { outcome: "refused", reason: "unsubscribed" };
    const mail = digest(notices, to, { id, publicUrl: publicUrl() });
    const { signal } = this.#aborting;
    const { outcome, reason } = await mailer!.send(mail, signal);
    switch (outcome) {
      case "sent":
        return { outcome: "sent" };
      case "refused":
        return { outcome: "refused", reason };
      case "later":
        return { outcome: "failed", reason };
      case "unsure":
        return { outcome: "unsure", awayMs: 0, reason };
      case "away":
        return { outcome: "released", awayMs: 0, reason };
    }
  }
}
