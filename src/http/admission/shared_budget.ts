/** What sellers share, such as bytes of bodies or slots for uploads. */

export interface SharedBudgetOptions {
  total: number;
  /** The most for one seller. */
  perSeller: number;
}

/**
 * A seller may have at most its own limit, and at most as much as is left for
 * all others (a dynamic threshold, as for shared switch buffers): however many
 * sellers take all they can, the next one finds as much room as each of them
 * has.
 */
export class SharedBudget {
  readonly #options: SharedBudgetOptions;
  readonly #bySeller = new Map<string, number>();
  #taken = 0;

  constructor(options: SharedBudgetOptions) {
    this.#options = options;
  }

  /** What it holds; all zero when nothing is taken. */
  held(): { taken: number; sellers: number } {
    return { taken: this.#taken, sellers: this.#bySeller.size };
  }

  /** What all sellers have. */
  get taken(): number {
    return this.#taken;
  }

  /** What a seller has. */
  of(seller: string): number {
    return this.#bySeller.get(seller) ?? 0;
  }

  /**
   * Takes `amount` and returns null, or takes nothing and returns whose limit
   * was reached.
   */
  take(seller: string, amount: number): "seller" | "all" | null {
    const refusal = this.refusal(seller, amount);
    if (refusal !== null) return refusal;
    this.#bySeller.set(seller, this.of(seller) + amount);
    this.#taken += amount;
    return null;
  }

  /** Whose limit leaves no room for so much more; null if there is room. */
  refusal(seller: string, amount: number): "seller" | "all" | null {
    const { total, perSeller } = this.#options;
    const wanted = this.of(seller) + amount;
    if (wanted > perSeller) return "seller";
    return wanted > total - this.#taken - amount ? "all" : null;
  }

  giveBack(seller: string, amount: number): void {
    this.#taken -= amount;
    const left = this.of(seller) - amount;
    if (left > 0) this.#bySeller.set(seller, left);
    else this.#bySeller.delete(seller);
  }
}
