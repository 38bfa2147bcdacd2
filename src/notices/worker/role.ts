/**
 * Sends notices: to sellers by mail, to the operator by signed requests. Each
 * process claims due notices under a lease in a short write, sends them, and
 * records the outcome. While a mail server or endpoint is unreachable, nothing
 * is sent to it for some time, which delays nothing else.
 */
import type { ReadWrite, Tx } from "../../database/db.ts";
import {
  type ClaimResult,
  LeasedRole,
  LONGEST_IDLE_MS,
} from "../../jobs/leased_role.ts";
import { OngoingFailure } from "../../jobs/ongoing_failure.ts";
import { PeriodicJobs } from "../../jobs/periodic_jobs.ts";
import { SECOND_MS } from "../../lib/durations.ts";
import { retryAfter } from "../../lib/retry_after.ts";
import { Outbound, OutboundError } from "../../net/outbound.ts";
import type { Services } from "../../services.ts";
import { USER_AGENT } from "../../version.ts";
import { webhookSignature } from "../../webhooks/webhook.ts";
import { NoticeSearch } from "../search.ts";
import { type Notice, NOTICES, type Recipient } from "../notice.ts";
import {
  addresseeOf,
  type Claimed,
  claimForOperator,
  claimForSeller,
  noteMailed,
  type Outcome,
  sellersWithDueNotices,
  settleNotices,
} from "../rows.ts";
import { digest, operatorPayload, payloadId } from "../text.ts";
import { ObservedConditions } from "./observed_conditions.ts";
import { sectionsOf } from "../../database/sections.ts";

/** How often one process searches for new notices. */
const SEARCH_MS = 5 * SECOND_MS;
const OBSERVE_MS = 4 * SECOND_MS;
/** The most mails, or requests, of one process in flight. */
const AT_ONCE = 4;
/** How long mails and requests in flight may take to end after a stop. */
const GRACE_MS = 2_000;
const ANSWER_MS = 15_000;
const ANSWER_BYTES = 16 * 1_024;
/** Pauses for an unreachable mail server or endpoint. */
const FIRST_PAUSE_MS = 2 * SECOND_MS;
const LONGEST_PAUSE_MS = 8 * SECOND_MS;
const LONGEST_RETRY_AFTER_MS = 60 * SECOND_MS;
const ALL_ADDRESSES = ["0.0.0.0/0", "::/0"];

export interface NoticeRoleOptions {
  /** Whether this process searches for new notices. */
  isSearching: () => boolean;
}

/** Whether notices were sent, and if not, why. */
interface Result {
  outcome: Outcome;
  /**
   * The least time before anything is sent on this channel again; undefined if
   * no pause is needed.
   */
  leastPauseMs?: number;
  /** For the log; contains no address. */
  reason?: string;
}

/** One way to send notices, and its state. */
interface Channel {
  recipient: Recipient;
  /**
   * Sends in flight, without those whose outcome cannot be recorded because a
   * section of the database is unreachable.
   */
  inFlight: Set<Claimed>;
  /** Failures in a row. */
  failures: number;
  trouble: OngoingFailure;
  /** Monotonic milliseconds. */
  pausedUntil: number;
  claim: (
    tx: Tx,
    sellerNo: number,
    lease: string,
  ) => Promise<Claimed | "postponed" | null>;
  send: (claimed: Claimed) => Promise<Result>;
}

export class NoticeRole extends LeasedRole {
  readonly #services: Services;
  readonly #searches: PeriodicJobs;
  readonly #observed: ObservedConditions;
  readonly #outbound: Outbound;
  readonly #channels: Channel[];
  /** Monotonic milliseconds. */
  #observeAt = 0;

  constructor(services: Services, { isSearching }: NoticeRoleOptions) {
    const { config, deps, network, mailer } = services;
    const outbound = new Outbound({
      // The operator chose the address.
      allowPrivate: ALL_ADDRESSES,
      userAgent: USER_AGENT,
      clock: deps.clock,
      ...network,
    });
    super(services, {
      queue: NOTICES,
      shared: true,
      graceMs: GRACE_MS,
      outbound,
    });
    this.#services = services;
    this.#outbound = outbound;
    const channel = (
      recipient: Recipient,
      functions: Pick<Channel, "claim" | "send">,
    ): Channel => ({
      recipient,
      inFlight: new Set(),
      failures: 0,
      trouble: new OngoingFailure(deps.clock),
      pausedUntil: 0,
      ...functions,
    });
    this.#channels = [
      ...(config.noticesUrl === null ? [] : [channel("operator", {
        claim: claimForOperator,
        send: ({ notices: [notice] }) => this.#postToOperator(notice),
      })]),
      ...(mailer === null ? [] : [channel("seller", {
        claim: (tx, no, lease) =>
          claimForSeller(tx, no, lease, deps.ids.uuid()),
        send: (claimed) => this.#mailToSeller(claimed),
      })]),
    ];
    this.#observed = new ObservedConditions(
      services,
      (notice) => this.#sendNow(notice),
    );
    const search = new NoticeSearch(services);
    this.#searches = new PeriodicJobs("notice_search", [{
      name: "notice_search",
      everyMs: SEARCH_MS,
      isOurs: isSearching,
      run: () => search.run(),
    }], deps);
  }

  override start(): void {
    super.start();
    this.#searches.start();
  }

  override async stop(): Promise<void> {
    await Promise.all([this.#searches.stop(), super.stop()]);
  }

  override abandon(): Promise<void> {
    void this.#searches.stop();
    return super.abandon();
  }

  /**
   * Observes this process, also while the database is unreachable, because the
   * operator gets a notice about that as well.
   */
  protected override async beforeStep(): Promise<void> {
    const { config, deps: { clock } } = this.#services;
    if (config.noticesUrl === null || clock.monotonic() < this.#observeAt) {
      return;
    }
    this.#observeAt = clock.monotonic() + OBSERVE_MS;
    await this.#observed.observe();
  }

  protected async claimAndLaunch(now: number): Promise<ClaimResult> {
    const found = { due: 0, changed: 0 };
    for (const channel of this.#channels) {
      const { due, changed } = await this.#sendDue(channel, now);
      found.due += due;
      found.changed += changed;
    }
    return { ...found, againInMs: LONGEST_IDLE_MS };
  }

  /**
   * Begins to send due notices, as many as there is room for. During a pause,
   * nothing is sent.
   */
  async #sendDue(
    channel: Channel,
    now: number,
  ): Promise<Omit<ClaimResult, "againInMs">> {
    const { db, deps: { clock } } = this.#services;
    const found = { due: 0, changed: 0 };
    if (clock.monotonic() < channel.pausedUntil) return found;
    // After a failure, try with a single send.
    const most = channel.failures > 0 ? 1 : AT_ONCE;
    for (const section of sectionsOf(db)) {
      const room = most - channel.inFlight.size;
      if (room <= 0) return found;
      const due = await section.read(
        (sql) => sellersWithDueNotices(sql, channel.recipient, now, room),
        { single: true },
      );
      found.due += due.length;
      for (const sellerNo of due) {
        if (await this.#claim(section, channel, sellerNo)) found.changed++;
      }
    }
    return found;
  }

  /**
   * Claims notices about a seller and begins to send them. Returns whether it
   * claimed or postponed any.
   */
  async #claim(
    section: ReadWrite,
    channel: Channel,
    sellerNo: number,
  ): Promise<boolean> {
    const claimed = await this.claim(
      { db: section },
      (tx, { lease }) => channel.claim(tx, sellerNo, lease),
      (claimed) =>
        claimed === null || claimed === "postponed" ? [] : claimed.leased,
    );
    if (claimed === null || claimed === "postponed") return claimed !== null;
    channel.inFlight.add(claimed);
    this.launch(claimed.leased, () => this.#send(section, channel, claimed));
    return true;
  }

  async #send(
    section: ReadWrite,
    channel: Channel,
    claimed: Claimed,
  ): Promise<void> {
    try {
      const result = await channel.send(claimed);
      this.#note(channel, result);
      await this.#services.deps.maybe?.("notices sent");
      await this.#record(section, channel, claimed, result);
    } finally {
      channel.inFlight.delete(claimed);
    }
  }

  async #record(
    section: ReadWrite,
    channel: Channel,
    claimed: Claimed,
    { outcome }: Result,
  ): Promise<void> {
    const { db, metrics } = this.#services;
    const { recipient } = channel;
    metrics.notices.add(1, recipient, outcome);
    const isMailed = recipient === "seller" &&
      ["sent", "unsure"].includes(outcome);
    const onFailure = () => {
      if (!sectionsOf(db).includes(section)) {
        channel.inFlight.delete(claimed);
      }
    };
    await this.settle({ db: section, onFailure }, async (tx) => {
      if (isMailed) await noteMailed(tx, claimed.notices[0].sellerNo);
      await settleNotices(tx, claimed, outcome);
    });
    this.noteProgress();
  }

  /** Records whether the other side accepts what is sent. */
  #note(channel: Channel, { outcome, leastPauseMs, reason }: Result): void {
    const { clock, log } = this.#services.deps;
    const { recipient } = channel;
    const isLogged = leastPauseMs === undefined ||
      channel.trouble.shouldLog(reason ?? "");
    if (leastPauseMs === undefined) {
      channel.failures = 0;
      channel.trouble.ended();
    } else {
      const pause = FIRST_PAUSE_MS * 2 ** channel.failures++;
      channel.pausedUntil = clock.monotonic() +
        Math.max(leastPauseMs, Math.min(pause, LONGEST_PAUSE_MS));
    }
    if (outcome === "sent") log.debug("notice_sent", { recipient });
    else if (isLogged) {
      log.warn("notice_not_sent", { recipient, outcome, reason });
    }
  }

  /**
   * Sends a notice without a row to the operator; returns whether that
   * succeeded.
   */
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
          signal: this.aborting,
        },
      );
      if (status >= 200 && status < 300) return { outcome: "sent" };
      const wanted = retryAfter(headers("retry-after"), clock.now());
      const leastPauseMs = Math.min(wanted, LONGEST_RETRY_AFTER_MS);
      return { outcome: "released", leastPauseMs, reason: `${status}` };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return { outcome: "released", leastPauseMs: 0, reason: error.kind };
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
    const { outcome, reason } = await mailer!.send(mail, this.aborting);
    switch (outcome) {
      case "sent":
        return { outcome: "sent" };
      case "refused":
        return { outcome: "refused", reason };
      case "later":
        return { outcome: "failed", reason };
      case "unsure":
        return { outcome: "unsure", leastPauseMs: 0, reason };
      case "away":
        return { outcome: "released", leastPauseMs: 0, reason };
    }
  }
}
