/**
 * Lets operators view a seller's data. The audit log records who did so, and
 * when.
 */
import { withAudit } from "../monitoring/audit.ts";
import type { Services } from "../services.ts";
import { RecentValues } from "../lib/recent_values.ts";
import type { Caller } from "./seller.ts";
import { sellerByName } from "./seller_rows.ts";

/** How long one entry in the audit log stands for all requests of a view. */
export const VIEW_ENTRY_MS = 15 * 60_000;
/** How many views are remembered; a forgotten view gets a new entry. */
const VIEWS_REMEMBERED = 1_000;

interface RecordedView {
  /** When the view needs another entry. */
  until: number;
  /** Resolves when the entry is stored. */
  recorded: Promise<void>;
}

export class SellerViews {
  /** The views, by seller and operator. */
  readonly #recordedViews = new RecentValues<RecordedView>(VIEWS_REMEMBERED);

  /**
   * Records the view in the audit log, and returns the seller. Throws 404 for an
   * unknown seller. Many requests at once make one entry.
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
      view = { until: now + VIEW_ENTRY_MS, recorded: write };
      this.#recordedViews.set(key, view);
      write.catch(() => this.#recordedViews.delete(key));
    }
    await view.recorded;
    return { ...seller, keyId: "" };
  }
}
