/**
 * Lets operators see a seller's data; the audit log records who did and when.
 */
import { withAudit } from "../monitoring/audit.ts";
import type { Services } from "../services.ts";
import { RecentValues } from "../lib/recent_values.ts";
import type { Caller } from "./seller.ts";
import { sellerByName } from "./seller_rows.ts";

/** A view that lasts longer than this gets another entry. */
export const ENTRY_MS = 15 * 60_000;
/** The most views remembered; a forgotten view gets one entry too many. */
const VIEWS_REMEMBERED = 1_000;

interface RecordedView {
  until: number;
  recorded: Promise<void>;
}

export class SellerViews {
  /** The views, by seller and operator. */
  readonly #recordedViews = new RecentValues<RecordedView>(VIEWS_REMEMBERED);

  /**
   * Returns the seller once the view is in the audit log; throws 404 for an
   * unknown one. A page that sends many requests at once makes one entry.
   */
  async open(
    services: Pick<Services, "db" | "deps">,
    { who, seller: nameOrId }: { who: string; seller: string },
  ): Promise<Caller> {
    const seller = await services.db.read((sql) => sellerByName(sql, nameOrId));
    const now = services.deps.clock.now();
    const key = `${seller.id} ${who}`;
    let view = this.#recordedViews.get(key);
    if (view === undefined || view.until <= now) {
      const entry = { seller: seller.name, detail: "read only" };
      const write = withAudit(
        services,
        who,
        "seller view",
        () => Promise.resolve([undefined, entry] as const),
      );
      view = { until: now + ENTRY_MS, recorded: write };
      this.#recordedViews.set(key, view);
      write.catch(() => this.#recordedViews.delete(key));
    }
    await view.recorded;
    return { ...seller, keyId: "" };
  }
}
