/** Conditions of this process that the operator must know about. */
import { outageOf } from "../../database/db.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../lib/durations.ts";
import type { Services } from "../../services.ts";
import { FIRST_REVIEW, listReviews } from "../../reviews/queue.ts";
import { lastBackup } from "../backup_time.ts";
import { OBSERVED_KINDS, type ObservedKind } from "../kinds.ts";
import type { Detail, Notice } from "../notice.ts";
import { endUnobserved, type ObservedNotice, recordObserved } from "../rows.ts";

/** A condition that no process has observed for this long has ended. */
const OVER_MS = 30 * SECOND_MS;
/** Writes with the same `order` run one after the other, over all processes. */
const ORDER = { order: "notices" };

/** Requests that several processes send within this time get the same id. */
const SAME_ID_MS = 5 * MINUTE_MS;

type ObserverServices = Pick<
  Services,
  "config" | "db" | "deps" | "disks" | "health" | "signals"
>;

interface LastingCondition {
  /**
   * The notice that is sent directly, the same in each attempt; null if the
   * notice is stored.
   */
  notice: Notice | null;
  isSent: boolean;
  /** Monotonic milliseconds. */
  seenAt: number;
}

export class ObservedConditions {
  readonly #services: ObserverServices;
  /** Sends a notice that could not be stored. */
  readonly #sendNow: (notice: Notice) => Promise<boolean>;
  /** Checks that failed at the last observation. */
  #failed: ReadonlySet<string> = new Set();
  /**
   * Lasting conditions, with the notices that were sent without being stored.
   */
  readonly #known = new Map<string, LastingCondition>();

  constructor(
    services: ObserverServices,
    sendNow: (notice: Notice) => Promise<boolean>,
  ) {
    this.#services = services;
    this.#sendNow = sendNow;
  }

  /**
   * Observes the conditions and stores them as notices; sends them directly if
   * the database fails.
   */
  async observe(): Promise<void> {
    const { db, deps, signals } = this.#services;
    const seen = [
      ...await this.#notReady(),
      ...await this.#disks(),
      ...await this.#backup(),
      ...await this.#reviews(),
    ];
    const now = deps.clock.monotonic();
    for (const { id } of seen) {
      const known = this.#known.get(id);
      if (known !== undefined) known.seenAt = now;
    }
    for (const [id, { seenAt }] of this.#known) {
      if (seenAt < now - OVER_MS) this.#known.delete(id);
    }
    const rows = seen.map((one) => {
      const { notice = null, isSent = false } = this.#known.get(one.id) ?? {};
      const detail = notice?.detail ?? one.detail;
      return { ...one, detail, isSent: isSent && notice !== null };
    });
    try {
      await db.write(async (tx) => {
        await recordObserved(tx, rows);
        await endUnobserved(tx, tx.now() - OVER_MS);
        tx.onCommit(() => signals.notices.announce());
      }, ORDER);
      for (const { id } of seen) {
        this.#known.set(id, { notice: null, isSent: true, seenAt: now });
      }
    } catch (error) {
      if (outageOf(error) === null) throw error;
      const unsent = seen.filter(({ id }) => !this.#known.get(id)?.isSent);
      for (const one of unsent) await this.#send(one, now);
    }
  }

  async #send(
    { id, kind, detail }: ObservedNotice,
    seenAt: number,
  ): Promise<void> {
    // Rounded down, so that other processes that send the same notice probably
    // use the same id.
    const now = this.#services.deps.clock.now();
    const createdAt = now - now % SAME_ID_MS;
    const notice = this.#known.get(id)?.notice ??
      { sellerNo: 0, id, kind, detail, createdAt, failures: 0 };
    this.#known.set(id, { notice, isSent: false, seenAt });
    const isSent = await this.#sendNow(notice);
    this.#known.set(id, { notice, isSent, seenAt });
  }

  /**
   * Checks that failed in two observations in a row: a short failure causes no
   * notice.
   */
  async #notReady(): Promise<ObservedNotice[]> {
    const checks = await this.#services.health.check();
    const failed = new Map(
      [...checks].filter(([, trouble]) => trouble !== null),
    );
    const before = this.#failed;
    this.#failed = new Set(failed.keys());
    return [...failed].filter(([part]) => before.has(part))
      .map(([part, trouble]) =>
        observedNotice("not_ready", part, { part, trouble: trouble ?? "" })
      );
  }

  async #disks(): Promise<ObservedNotice[]> {
    const disks = await this.#services.disks.update();
    return disks.filter(({ isLow }) => isLow)
      .map(({ holds, freePercent }) =>
        observedNotice("disk_low", holds, {
          folder: holds,
          percent: freePercent,
        })
      );
  }

  /**
   * A notice if reviews wait, except reviews of sellers in unreachable
   * sections.
   */
  async #reviews(): Promise<ObservedNotice[]> {
    const pending = { state: "pending", sellerNo: null } as const;
    const [first] = await this.#services.db
      .read((sql) => listReviews(sql, pending, FIRST_REVIEW, 1), {
        single: true,
      })
      .catch(() => []);
    if (first === undefined) return [];
    const { owner, product } = first;
    const detail = { seller: owner.name, sku: product.sku };
    return [observedNotice("reviews_waiting", "", detail)];
  }

  /**
   * A notice if the last backup is old; none if the command never made a
   * backup.
   */
  async #backup(): Promise<ObservedNotice[]> {
    const { db, deps } = this.#services;
    const at = await db.read(lastBackup, { single: true }).catch(() => null);
    if (at === null || deps.clock.now() - at <= DAY_MS) return [];
    return [observedNotice("backup_old", "", { at })];
  }
}

function observedNotice(
  kind: ObservedKind,
  about: string,
  detail: Detail,
): ObservedNotice {
  return { id: `${OBSERVED_KINDS[kind].name} ${about}`, kind, detail };
}
