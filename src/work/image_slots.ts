/**
 * How many downloads may run at once, so that nobody delays anybody else: at
 * most 16 in flight to one origin and 64 in all, and of these
 *
 * - at most 48 for one seller: another one's images find a free slot;
 * - at most 32 for origins that have not answered lately, four each: a good
 *   host is not kept waiting by those that hang.
 *
 * To an origin that answers, as many again are handed out ahead of their turn,
 * so that it need not wait for the database in between; these cost no slot.
 */

const PER_ORIGIN = 16;
const TOTAL = 64;
const PER_SELLER = 48;
const SILENT = 32;
const PER_SILENT_ORIGIN = 4;
/** In flight and handed out ahead. */
const PER_ANSWERING_ORIGIN = 2 * PER_ORIGIN;
/** Beyond this many origins, the one that answered first is forgotten. */
const REMEMBERED = 10_000;

/** Whose download it is, and to where. */
export interface Lane {
  sellerId: string;
  origin: string;
}

/** The limits of one process; see the head of this file. */
export class ImageSlots {
  /** Downloads by origin, then by seller. */
  readonly #held = new Map<string, Map<string, number>>();
  readonly #answering = new Set<string>();

  /** How many more downloads of this lane may be handed out now. */
  room({ sellerId, origin }: Lane): number {
    const answering = this.#answering.has(origin);
    const held = heldBy(this.#held.get(origin));
    const most = answering ? PER_ANSWERING_ORIGIN : PER_SILENT_ORIGIN;
    const slots = Math.min(
      TOTAL - this.#slots(() => true),
      PER_SELLER - this.#slots(() => true, sellerId),
      answering
        ? TOTAL
        : SILENT - this.#slots((of) => !this.#answering.has(of)),
    );
    const unused = Math.max(0, PER_ORIGIN - held);
    // Whatever goes beyond an origin's last slot waits for its turn there.
    const room = slots >= unused ? most - held : slots;
    return Math.max(0, Math.min(room, most - held));
  }

  /** Whether no lane whatever has room. */
  get full(): boolean {
    return this.#slots(() => true) >= TOTAL &&
      [...this.#held].every(([origin, sellers]) =>
        heldBy(sellers) >= PER_ANSWERING_ORIGIN ||
        !this.#answering.has(origin)
      );
  }

  take({ sellerId, origin }: Lane): void {
    const sellers = this.#held.get(origin) ?? new Map<string, number>();
    sellers.set(sellerId, (sellers.get(sellerId) ?? 0) + 1);
    this.#held.set(origin, sellers);
  }

  free({ sellerId, origin }: Lane): void {
    const sellers = this.#held.get(origin);
    const left = (sellers?.get(sellerId) ?? 0) - 1;
    if (left > 0) sellers?.set(sellerId, left);
    else sellers?.delete(sellerId);
    if (sellers?.size === 0) this.#held.delete(origin);
  }

  /** Notes whether the origin answered its latest request, in whatever way. */
  note(origin: string, answered: boolean): void {
    this.#answering.delete(origin);
    if (!answered) return;
    this.#answering.add(origin);
    if (this.#answering.size <= REMEMBERED) return;
    for (const oldest of this.#answering) {
      this.#answering.delete(oldest);
      return;
    }
  }

  #slots(counts: (origin: string) => boolean, sellerId?: string): number {
    let slots = 0;
    for (const [origin, sellers] of this.#held) {
      if (!counts(origin)) continue;
      const held = sellerId === undefined
        ? heldBy(sellers)
        : sellers.get(sellerId) ?? 0;
      slots += Math.min(held, PER_ORIGIN);
    }
    return slots;
  }
}

function heldBy(sellers: ReadonlyMap<string, number> | undefined): number {
  let held = 0;
  for (const count of sellers?.values() ?? []) held += count;
  return held;
}
